"""What belongs to torch moves along with it, and what will not work with another one is named."""

from __future__ import annotations

import pytest

from gpuassist.knowledge.companions import Company, built_for_it, company_of, of_torch, requirement
from gpuassist.knowledge.records import Companion, TorchBuild
from gpuassist.knowledge.specifier import admits
from gpuassist.model.environment import Package
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.knowledge.shipped import KNOWLEDGE

WHEELS = tuple(one.distribution for one in KNOWLEDGE.wheels())


def build(release: str, tag: str) -> TorchBuild:
    every = KNOWLEDGE.torch_builds(Version.parse(release))
    return next(one for one in every if one.tag == tag and one.machine == "x86_64")


def packages(*named: str) -> tuple[Package, ...]:
    return tuple(Package(name, version) for name, _, version in (words.partition(" ") for words in named))


def company(release: str, tag: str, *named: str) -> Company:
    made = build(release, tag)
    return company_of(
        made, packages(*named), KNOWLEDGE.torch_release(made.newest), KNOWLEDGE.bad_pairs(), releases=KNOWLEDGE.torch_releases()
    )


def left(release: str, tag: str, *named: str) -> list[str]:
    return [ENGLISH(one) for one in company(release, tag, *named).left]


def test_torch_and_torchvision_come_always() -> None:
    assert company("2.13", "cu126").requirements == ("torch==2.13.0", "torchvision")


@pytest.mark.parametrize(
    ("release", "tag", "there", "wanted"),
    [
        ("2.7", "cu128", "torchaudio 2.6.0", "torchaudio==2.7.1"),
        ("2.7", "cu128", "xformers 0.0.29", "xformers==0.0.31.post1"),
        ("2.1", "cu121", "xformers 0.0.22", "xformers==0.0.23.post1"),
        ("2.11", "cu128", "torchaudio 2.7.1", "torchaudio==2.11.0"),
        ("2.13", "cu130", "xformers 0.0.31", "xformers>=0.0.35"),
        ("2.2", "cu121", "torchtext 0.16.0", "torchtext==0.17.2"),
        ("2.0", "cu118", "torchdata 0.5.0", "torchdata==0.6.1"),
    ],
)
def test_companions_move_along(release: str, tag: str, there: str, wanted: str) -> None:
    assert wanted in company(release, tag, there).requirements


def test_what_is_not_there_does_not_come() -> None:
    assert not any("audio" in one or "xformers" in one for one in company("2.7", "cu128", "torch 2.6.0").requirements)


@pytest.mark.parametrize(("release", "tag"), [("1.13", "cu117"), ("2.0", "cu118"), ("2.2", "cu121")])
def test_torch_before_numpy_2_is_kept_from_it(release: str, tag: str) -> None:
    assert "numpy<2" in company(release, tag).requirements


@pytest.mark.parametrize(("release", "tag"), [("2.3", "cu121"), ("2.9", "cu128"), ("2.15", "cu132")])
def test_torch_that_knows_numpy_2_is_not(release: str, tag: str) -> None:
    assert not any("numpy" in one for one in company(release, tag, "numpy 1.26.4").requirements)


def test_setuptools_is_limited_only_where_it_is_there() -> None:
    assert "setuptools<82" in company("2.11", "cu128", "setuptools 82.0.0").requirements
    assert "setuptools<82" not in company("2.11", "cu128").requirements


@pytest.mark.parametrize(("name", "last"), [("torchaudio", "2.11"), ("torchtext", "2.3")])
def test_what_ended_before_a_release_is_named_with_its_end(name: str, last: str) -> None:
    (told,) = company("2.14", "cu126", f"{name} 0.9.0").left
    words = dict(told.parameters)
    assert (words["name"], words["last"], words["torch"]) == (name, last, "2.14.1")
    assert not any(name in one for one in company("2.14", "cu126", f"{name} 0.9.0").requirements)


def test_what_no_release_is_known_of_is_said_so() -> None:
    made = build("2.14", "cu126")
    (told,) = company_of(made, packages("torchaudio 2.9.1"), KNOWLEDGE.torch_release(made.newest), ()).left
    assert "last" not in dict(told.parameters)


def test_xformers_is_not_asked_of_an_index_that_may_have_none() -> None:
    found = company("2.15", "cu132", "xformers 0.0.31")
    assert not any("xformers" in one for one in found.requirements)
    assert "no build of it for cu132" in ENGLISH(found.left[0])


def test_flash_attn_is_built_for_one_torch() -> None:
    (told,) = left("2.14", "cu126", "flash-attn 2.8.0")
    assert "its wheel for torch 2.14 and CUDA 12" in told
    assert "--no-build-isolation" in told


def test_bitsandbytes_comes_from_elsewhere_and_new_enough() -> None:
    assert company("2.6", "cu124", "bitsandbytes 0.44.0").others == ("bitsandbytes>=0.45.1",)
    assert company("2.5", "cu124", "bitsandbytes 0.44.0").others == ("bitsandbytes",)
    assert company("2.6", "cu124").others == ()


def test_everything_of_torch_is_what_it_brought_too() -> None:
    there = packages(
        "numpy 2.1",
        "torch 2.7.1",
        "torchaudio 2.7.1",
        "triton 3.3.1",
        "nvidia-cublas-cu12 12.8.4.1",
        "nvidia-ml-py 13.0",
        "flash-attn 2.8",
    )
    assert of_torch(there, WHEELS) == ("torch", "torchaudio", "triton", "nvidia-cublas-cu12", "flash-attn")


@pytest.mark.parametrize("other", ["jax 0.5", "tensorflow 2.18"])
def test_libraries_that_another_framework_uses_stay(other: str) -> None:
    assert of_torch(packages("torch 2.7.1", "nvidia-cublas-cu12 12.8.4.1", other), WHEELS) == ("torch",)


def test_unknown_packages_are_the_usual_three() -> None:
    assert built_for_it(()) == ("torch", "torchvision", "torchaudio")
    assert of_torch((), WHEELS) == (*built_for_it(()), "triton")


def test_in_place_the_libraries_stay() -> None:
    there = packages("torch 2.7.1", "torchvision 0.22.1", "xformers 0.0.31", "triton 3.3.1", "nvidia-nccl-cu12 2.26")
    assert built_for_it(there) == ("torch", "torchvision", "xformers")


def test_every_known_companion_is_named_as_pip_takes_it() -> None:
    for release in KNOWLEDGE.torch_releases():
        for one in release.companions:
            assert _admits_itself(one), one


def _admits_itself(one: Companion) -> bool:
    words = requirement(one).removeprefix(one.name)
    return admits(words, Version.parse(words.lstrip("<>=~!").partition(".post")[0]))
