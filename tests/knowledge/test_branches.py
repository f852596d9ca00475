"""What a driver branch serves, with which kernel module, and where a forward-compatibility package helps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.knowledge.compatibility import KernelFlavour, kernel_module, serves
from gpuassist.knowledge.records import ModuleFlavour
from tests.knowledge.shipped import KNOWLEDGE, version

ARCHITECTURES = KNOWLEDGE.architectures()


def served(branch: int) -> dict[str, str]:
    return {architecture.name: module.value for architecture, module in serves(branch, ARCHITECTURES)}


@pytest.mark.parametrize(
    ("branch", "names"),
    [
        (390, ["Fermi", "Kepler", "Maxwell", "Pascal", "Volta"]),
        (396, ["Kepler", "Maxwell", "Pascal", "Volta"]),
        (418, ["Kepler", "Maxwell", "Pascal", "Volta", "Turing"]),
        (470, ["Kepler", "Maxwell", "Pascal", "Volta", "Turing", "Ampere"]),
        (510, ["Maxwell", "Pascal", "Volta", "Turing", "Ampere"]),
        (550, ["Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Ada Lovelace", "Hopper"]),
        (580, ["Maxwell", "Pascal", "Volta", "Turing", "Ampere", "Ada Lovelace", "Hopper", "Blackwell"]),
        (595, ["Turing", "Ampere", "Ada Lovelace", "Hopper", "Blackwell"]),
        (620, ["Turing", "Ampere", "Ada Lovelace", "Hopper", "Blackwell", "Rubin"]),
    ],
)
def test_branch_serves_its_architectures(branch: int, names: list[str]) -> None:
    assert list(served(branch)) == names


@pytest.mark.parametrize(
    ("branch", "architecture", "module"),
    [
        (470, "Turing", "proprietary"),
        (515, "Turing", "either"),
        (580, "Maxwell", "proprietary"),
        (580, "Ada Lovelace", "either"),
        (580, "Blackwell", "open"),
        (615, "Hopper", "either"),
        (620, "Turing", "open"),
        (620, "Rubin", "open"),
    ],
)
def test_branch_knows_the_kernel_module(branch: int, architecture: str, module: str) -> None:
    assert served(branch)[architecture] == module


def test_every_known_branch_serves_something() -> None:
    assert [branch.branch for branch in KNOWLEDGE.branches() if not KNOWLEDGE.branch_serves(branch)] == []


def test_every_architecture_is_served_by_a_run_of_branches() -> None:
    numbers = [branch.branch for branch in KNOWLEDGE.branches()]
    for architecture in ARCHITECTURES:
        serving = [number for number in numbers if architecture.name in served(number)]
        assert serving == [number for number in numbers if serving[0] <= number <= serving[-1]]
        assert (serving[-1] == numbers[-1]) == (architecture.last_branch is None)


def test_first_driver_is_not_after_the_last_branch() -> None:
    for architecture in ARCHITECTURES:
        firsts = [chip.first_driver.major for chip in architecture.chips if chip.first_driver]
        assert architecture.last_branch is None or all(first <= architecture.last_branch for first in firsts)


@given(st.integers(300, 999), st.sampled_from(ModuleFlavour))
def test_module_follows_the_flavour(branch: int, flavour: ModuleFlavour) -> None:
    module = kernel_module(branch, flavour)
    if flavour is ModuleFlavour.OPEN_IMPOSSIBLE:
        assert module in {KernelFlavour.PROPRIETARY, None}
    if flavour is ModuleFlavour.OPEN_REQUIRED:
        assert module in {KernelFlavour.OPEN, None}
    assert module is not KernelFlavour.EITHER or 515 <= branch < 620


@pytest.mark.parametrize(
    ("number", "cuda", "end"),
    [
        (396, "9.2", ""),
        (410, "10.0", ""),
        (418, "10.1", "2022-03"),
        (435, "10.1", ""),
        (440, "10.2", "2020-11"),
        (450, "11.0", "2023-07"),
        (470, "11.4", "2024-07"),
        (565, "12.7", ""),
        (570, "12.8", "2026-02"),
        (580, "13.0", "2028-06"),
    ],
)
def test_branch_is_known(number: int, cuda: str, end: str) -> None:
    branch = KNOWLEDGE.branch(number)
    assert branch is not None
    assert (str(branch.cuda), branch.end_of_life) == (cuda, end)


def test_every_branch_of_linux_is_known() -> None:
    old = {390, 396, 410, 415, 418, 430, 435, 440, 450, 455, 460, 465, 470, 495, 510}
    new = {515, 520, 525, 530, 535, 545, 550, 555, 560, 565, 570, 575, 580, 590, 595, 610, 615, 620}
    assert {branch.branch for branch in KNOWLEDGE.branches()} == old | new


def test_branch_whose_end_is_past_has_ended() -> None:
    assert [
        one.branch
        for one in KNOWLEDGE.branches()
        if one.end_of_life and one.end_of_life < "2026-11" and not one.has_ended("2026-11-21")
    ] == []


@pytest.mark.parametrize(
    ("release", "branch", "works"),
    [
        ("12.8", 535, True),
        ("12.8", 570, False),
        ("13.0", 570, True),
        ("13.0", 580, False),
        ("13.4", 595, True),
        ("12.4", 550, False),
    ],
)
def test_package_works_on_older_drivers_alone(release: str, branch: int, works: bool) -> None:
    (package,) = (one for one in KNOWLEDGE.compat_packages() if one.cuda == version(release))
    assert (branch in package.branches) is works


def test_package_is_named_as_package_managers_do() -> None:
    assert [package.name for package in KNOWLEDGE.compat_packages()][-1] == "cuda-compat-13-4"


def test_no_package_is_known_for_a_release_without_one() -> None:
    assert version("12.7") not in {package.cuda for package in KNOWLEDGE.compat_packages()}


def test_packages_are_consistent_with_the_branches() -> None:
    for package in KNOWLEDGE.compat_packages():
        built_from = KNOWLEDGE.branch(package.built_from)
        assert built_from is not None
        assert built_from.cuda == package.cuda
        assert all(branch < package.built_from and KNOWLEDGE.branch(branch) for branch in package.branches)
