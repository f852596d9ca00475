"""What belongs to an installed torch, and what its wheel asks for."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.case import InstalledTorch, RuleInput
from gpuassist.diagnose.torch_companions import belongs, exact_pins, wanted
from gpuassist.model.environment import Package
from gpuassist.model.fact import Known
from gpuassist.model.version import Version
from tests.rows import for_each
from tests.values import Env, knowledge, machine


def _installed(torch: str, *, architecture: str = "x86_64") -> tuple[RuleInput, InstalledTorch]:
    one = machine(environments=(Env("train", torch, active=True),))
    one = replace(one, host=replace(one.host, architecture=Known(architecture, "uname -m")))
    case = RuleInput(one, knowledge())
    return case, case.torches[0]


@pytest.mark.parametrize(
    ("torch", "package", "pin"),
    [
        ("2.5.1+cu124", "nvidia-cublas-cu12", "12.4.5.8"),
        ("2.5.1+cu118", "nvidia-cublas-cu11", "11.11.3.6"),
        ("2.9.1+cu130", "nvidia-cublas", "13.0.0.19"),
        ("2.12.1+cu130", "nvidia-cudnn-cu13", "9.20.0.48"),
        ("2.3.0+cu118", "nvidia-cudnn-cu11", "8.7.0.84"),  # patches of a release ask for the same
        ("2.5.0", "nvidia-cublas-cu12", "12.4.5.8"),  # of PyPI, whose version has no tag
    ],
)
def test_pins_are_those_of_the_very_build(torch: str, package: str, pin: str) -> None:
    assert exact_pins(*_installed(torch))[package] == pin


@pytest.mark.parametrize("torch", ["2.5.1+cpu", "2.5.1+cu121"], ids=["CPU", "pins not known"])
def test_build_without_known_pins_has_none(torch: str) -> None:
    assert exact_pins(*_installed(torch)) == {}


def test_ranges_and_other_packages_are_no_exact_pins() -> None:
    pins = exact_pins(*_installed("2.12.1+cu130"))
    assert not {"cuda-toolkit", "cuda-bindings", "triton", "nvidia-cublas"} & set(pins)


def test_pins_of_another_processor_are_not_asked() -> None:
    assert exact_pins(*_installed("2.5.1+cu124", architecture="ppc64le")) == {}


@for_each(
    ("torch", "name", "version", "fits"),
    [
        ("2.5.1+cu124", "torchvision", "0.20.1", True),
        ("2.5.1+cu124", "torchvision", "0.20.0+cu124", True),
        ("2.5.1+cu124", "torchvision", "0.21.0", False),
        ("2.15.0+cu132", "torchvision", "0.29.1", True),
        ("2.15.0+cu132", "torchvision", "0.30.0", True),
        ("2.15.0+cu132", "torchvision", "0.28.0", False),
        ("2.15.0+cu132", "triton", "3.9.2", True),
        ("2.15.0+cu132", "triton", "3.8.0", False),
        ("2.11.0+cu130", "torchaudio", "2.11.0", True),
        ("2.13.0+cu130", "torchaudio", "2.11.0", False),
        ("2.5.1+cu124", "torchaudio", "dev", True),
        ("2.5.1+cu124", "numpy", "1.26.4", True),
        ("99.0.0+cu124", "torchvision", "0.20.1", True),
    ],
)
def test_companion_fits_by_release_or_range(torch: str, name: str, version: str, *, fits: bool) -> None:
    assert belongs(*_installed(torch), Package(name, version)) is fits


@pytest.mark.parametrize(
    ("torch", "name", "version"),
    [
        ("2.5.1+cu124", "torchvision", "0.20.1"),
        ("2.9.0+cu128", "triton", "3.5.0"),
        ("2.15.0+cu132", "triton", ""),
        ("2.13.0+cu130", "torchaudio", ""),
        ("99.0.0+cu124", "torchvision", ""),
    ],
)
def test_exact_companion_is_named_where_there_is_one(torch: str, name: str, version: str) -> None:
    assert wanted(*_installed(torch), name) == version


def test_versions_that_are_compared_are_whole() -> None:
    case, one = _installed("2.9.1+cu128")
    release = case.knowledge.torch_release(Version.parse(one.version))
    assert release is not None
    assert all(belongs(case, one, Package(each.name, each.version)) for each in release.companions if each.version[0].isdigit())
