"""What decides how a driver comes onto a machine is read from its facts, and what is not known stays so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.install.configuration import system_of
from gpuassist.install.place import System
from gpuassist.model.environment import Manager
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.model.version import Version
from tests.values import GTX_1080_TI, RTX_5090, Env, Recipe, knowledge, machine


def system(**changes: object) -> System:
    return system_of(RuleInput(machine(Recipe(), **changes), knowledge()))


def host(**facts: Any) -> Mapping[str, Fact[Any]]:
    return {name: Known(value, "test") for name, value in facts.items()}


def test_distribution_and_kernel_are_those_of_the_host() -> None:
    found = system()
    assert (found.distribution, found.release, found.kernel) == ("ubuntu", "22.04", "6.8.0-60-generic")


@pytest.mark.parametrize(
    ("fact", "secure"),
    [
        (Known(value=True, source=""), True),
        (Known(value=False, source=""), False),
        (Unknown(text("hidden")), None),
        (NOT_ASKED, None),
    ],
)
def test_secure_boot_that_is_not_known_stays_so(fact: Fact[bool], secure: bool | None) -> None:
    assert system(host_facts={"secure_boot": fact}).secure_boot is secure


def test_driver_is_the_installed_one() -> None:
    found = system(on_disk="580.95.05", open_module=True)
    assert (found.driver, found.open_module) == (Version.parse("580.95.05"), True)


def test_driver_without_a_module_is_told_by_its_libraries() -> None:
    found = system(driver="", on_disk="", libcuda="550.54.14")
    assert (found.driver, found.open_module) == (Version.parse("550.54.14"), None)


def test_no_driver_is_none() -> None:
    assert system(driver="").driver is None


@pytest.mark.parametrize(("gpus", "needs"), [((GTX_1080_TI,), False), ((RTX_5090,), True), ((GTX_1080_TI, RTX_5090), True)])
def test_one_gpu_that_needs_the_open_modules_is_enough(gpus: tuple[str, ...], needs: bool) -> None:
    assert system(gpus=gpus).needs_open is needs


@pytest.mark.parametrize(("bound", "nouveau"), [("nouveau", True), ("nova_core", True), ("vfio-pci", False), ("", False)])
def test_nouveau_is_who_has_the_gpu(bound: str, nouveau: bool) -> None:
    assert system(driver="", bound=bound).nouveau is nouveau


@pytest.mark.parametrize(
    ("fact", "may"), [(Known(value=False, source=""), False), (Known(value=True, source=""), True), (NOT_ASKED, True)]
)
def test_user_is_taken_for_an_administrator_unless_he_is_known_not_to_be(fact: Fact[bool], may: bool) -> None:
    assert system(host_facts={"administrator": fact}).administrator is may


@pytest.mark.parametrize(
    ("gpu", "provider", "product", "part"),
    [
        ("10de:2236", "azure", "Virtual Machine", True),
        ("10de:2236", "oci", "Standard PC", False),
        ("10de:1eb8", "azure", "Virtual Machine", False),
        ("10de:27b8", "aws", "g6f.large", True),
        ("10de:27b8", "aws", "gr6f.4xlarge", True),
        ("10de:27b8", "aws", "g6.xlarge", False),
        ("10de:27b8", "", "g6f.large", False),
    ],
)
def test_part_of_a_gpu_is_known_by_provider_and_type(gpu: str, provider: str, product: str, part: bool) -> None:
    assert system(gpus=(gpu,), driver="", host_facts=host(provider=provider, product=product)).part is part


@pytest.mark.parametrize(("manager", "conda"), [(Manager.CONDA, True), (Manager.VENV, False)])
def test_conda_is_there_where_one_of_its_environments_is(manager: Manager, conda: bool) -> None:
    assert system(environments=(Env("train", manager=manager),)).conda is conda


def test_home_is_where_the_start_up_files_lie() -> None:
    assert system().home == "/home/you"


def test_machine_of_which_nothing_is_known_is_empty() -> None:
    made = machine()
    blank = replace(made, host=type(made.host)(), driver=type(made.driver)(), gpus=NOT_ASKED)
    found = system_of(RuleInput(blank, knowledge()))
    assert (found.distribution, found.kernel, found.secure_boot, found.driver) == ("", "", None, None)
