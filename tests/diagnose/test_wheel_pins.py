"""Which of the nvidia packages that a text lists is not the one that torch asks for."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.diagnose.torch_companions import other_wheel, wanted_wheel
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from tests.values import knowledge

SET_OF_2_8 = {
    "nvidia-cublas-cu12": "12.8.4.1",
    "nvidia-cuda-nvrtc-cu12": "12.8.93",
    "nvidia-cuda-runtime-cu12": "12.8.90",
    "nvidia-cudnn-cu12": "9.10.2.21",
    "nvidia-cusparse-cu12": "12.5.8.93",
    "nvidia-nccl-cu12": "2.27.3",
    "nvidia-nvjitlink-cu12": "12.8.93",
}


def _listed(torch: str = "2.8.0", sign: str = " ", **changed: str) -> SignatureInput:
    versions = {**SET_OF_2_8, **{name.replace("_", "-"): version for name, version in changed.items()}}
    lines = [f"{name}{sign}{version}" for name, version in versions.items()]
    return SignatureInput(Paste("\n".join([*lines, f"torch{sign}{torch}" if torch else ""])), RuleInput(Machine(), knowledge()))


@pytest.mark.parametrize("sign", [" ", "==", "       "])
def test_set_that_belongs_together_shows_none(sign: str) -> None:
    assert other_wheel(_listed(sign=sign), "libnvJitLink") is None


@pytest.mark.parametrize(
    ("package", "installed", "library", "wanted"),
    [
        ("nvidia-nvjitlink-cu12", "12.1.105", "libnvJitLink", "12.8.93"),
        ("nvidia-cudnn-cu12", "8.9.2.26", "libcudnn", "9.10.2.21"),
        ("nvidia-nccl-cu12", "2.18.1", "libnccl", "2.27.3"),
        ("nvidia-cublas-cu12", "12.1.3.1", "libcusparse", "12.8.4.1"),
    ],
)
def test_package_that_does_not_fit_is_told(package: str, installed: str, library: str, wanted: str) -> None:
    told = other_wheel(_listed(**{package: installed}), library)
    assert told == {"package": package, "installed": installed, "wanted": wanted, "torch": "2.8.0"}


def test_of_several_the_one_with_the_library_is_told() -> None:
    setting = _listed(**{"nvidia-cublas-cu12": "12.1.3.1", "nvidia-nvjitlink-cu12": "12.1.105"})
    told = other_wheel(setting, "libnvJitLink")
    assert told is not None
    assert told["package"] == "nvidia-nvjitlink-cu12"


def test_without_torch_the_release_of_most_counts() -> None:
    told = other_wheel(_listed("", **{"nvidia-nvjitlink-cu12": "12.1.105"}), "libnvJitLink")
    assert told == {"package": "nvidia-nvjitlink-cu12", "installed": "12.1.105", "wanted": "", "torch": ""}


def test_build_of_another_index_has_a_set_of_its_own() -> None:
    told = other_wheel(_listed("2.8.0+cu126"), "libnvJitLink")
    assert told is not None
    assert str(told["wanted"]).startswith("12.6")


def test_unknown_torch_judges_none_of_one_release() -> None:
    assert other_wheel(_listed("99.0.0"), "libnvJitLink") is None


def test_wanted_package_is_found_by_how_it_begins() -> None:
    assert wanted_wheel(_listed(), "nvidia-nccl")["wanted"] == "2.27.3"
    assert wanted_wheel(_listed(""), "nvidia-nccl") == {}
