"""CUDA releases, torch releases and drivers: any spelling of a version finds its record, what lies outside is told by rule."""

from __future__ import annotations

from typing import Any

import pytest

from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.words import ENGLISH
from gpuassist.session.lookup import drivers as know_drivers
from gpuassist.session.lookup import toolkits
from gpuassist.session.lookup import torch as know_torch
from gpuassist.session.lookup.answer import LookupAnswer, LookupStatus
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each


def cuda(words: str) -> LookupAnswer:
    return toolkits.answer(KNOWLEDGE, words)


def torch(words: str) -> LookupAnswer:
    return know_torch.answer(KNOWLEDGE, words)


def driver(words: str) -> LookupAnswer:
    return know_drivers.answer(KNOWLEDGE, words)


def variants(answered: LookupAnswer) -> list[Any]:
    found = answered.record["variants"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    ("words", "version"),
    [("12.4", "12.4"), ("12.4.1", "12.4"), ("V12.4.131", "12.4"), ("cu118", "11.8"), ("12", "12.9"), ("9", "9.2")],
)
def test_cuda_is_found_by_any_version(words: str, version: str) -> None:
    answered = cuda(words)
    assert (answered.standing, answered.record["version"]) == (LookupStatus.KNOWN, version)


def test_cuda_major_names_its_releases() -> None:
    assert "12.0, 12.1" in ENGLISH(cuda("12").notes[0])


def test_cuda_record_has_its_fields() -> None:
    record = cuda("12.8").record
    names = record["architectures"]
    assert isinstance(names, list)
    assert {"sm_50", "sm_90a", "sm_120"} <= set(map(str, names))
    assert (record["driver_min_linux"], record["driver_floor_linux"], record["gcc_max"]) == ("570.26", "525.60.13", 14)


def test_cuda_that_never_was_is_told_with_its_branch() -> None:
    answered = cuda("12.7")
    assert answered.standing is LookupStatus.UNKNOWN
    assert ENGLISH(answered.title) == "CUDA 12.7 never was a toolkit"
    assert "565" in ENGLISH(answered.notes[0])
    assert answered.nearest[:2] == ("12.6", "12.8")


@pytest.mark.parametrize("words", ["14", "14.2", "99.9.1"])
def test_newer_cuda_is_answered_by_rule(words: str) -> None:
    answered = cuda(words)
    assert answered.standing is LookupStatus.NEWER
    assert "newer than what I know" in ENGLISH(answered.title)
    assert (answered.record["architectures"], answered.record["driver_floor_linux"]) == (None, None)
    assert "how new is not known" in ENGLISH(answered.notes[0])


def test_newer_minor_has_the_floor_of_its_major() -> None:
    answered = cuda("13.9")
    assert (answered.standing, answered.record["driver_floor_linux"]) == (LookupStatus.NEWER, "580.65.06")


@pytest.mark.parametrize("words", ["8.0", "7.5", "1.0"])
def test_older_cuda_is_told_so(words: str) -> None:
    answered = cuda(words)
    assert answered.standing is LookupStatus.OLDER
    assert answered.record["architectures"] is None


@for_each("ask", [cuda, torch, driver])
@for_each("words", ["latest", "..", "x", "12,4", "9" * 200])
def test_what_is_no_version_is_answered_with_versions(ask: Any, words: str) -> None:
    answered = ask(words)
    assert answered.standing is LookupStatus.UNKNOWN
    assert answered.nearest


@pytest.mark.parametrize(
    ("words", "version"),
    [("2.6", "2.6"), ("2.6.0", "2.6.0"), ("torch==2.6.0", "2.6.0"), ("2.6.0a0+git123", "2.6"), ("2.8.0rc1", "2.8.0")],
)
def test_torch_is_found_by_any_version(words: str, version: str) -> None:
    answered = torch(words)
    assert (answered.standing, answered.record["version"]) == (LookupStatus.KNOWN, version)


def test_torch_build_is_told_alone() -> None:
    found = variants(torch("2.1.0+cu121"))
    assert {one["tag"] for one in found} == {"cu121"}


def test_torch_build_that_never_was_names_those_that_are() -> None:
    answered = torch("2.1.0+cu130")
    assert answered.standing is LookupStatus.UNKNOWN
    assert "2.1.0+cu121" in answered.nearest


def test_torch_variants_have_their_fields() -> None:
    (default,) = (one for one in variants(torch("2.6")) if one["default_index"] and one["platform"] == "x86_64")
    assert (default["tag"], default["cuda"], default["ptx"]) == ("cu124", "12.4", [])
    assert "sm_90" in default["architectures"]
    assert default["pins"]["nvidia-cudnn-cu12"]


def test_pins_of_another_patch_are_not_told() -> None:
    newest = variants(torch("2.1"))
    older = variants(torch("2.1.0"))
    assert any(one["pins"] for one in newest)
    assert all(one["pins"] is None for one in older)


def test_companions_belong_to_the_patch() -> None:
    assert torch("2.1.0").record["companions"] != torch("2.1.2").record["companions"]
    companions = torch("2.6").record["companions"]
    assert isinstance(companions, dict)
    assert {"torchvision", "torchaudio", "triton", "xformers"} <= set(companions)


def test_patch_that_never_was_names_those_that_are() -> None:
    answered = torch("2.6.9")
    assert (answered.standing, answered.nearest) == (LookupStatus.UNKNOWN, ("2.6.0",))


@pytest.mark.parametrize("words", ["2.99", "3", "3.1.0+cu140"])
def test_newer_torch_is_answered_by_rule(words: str) -> None:
    answered = torch(words)
    assert answered.standing is LookupStatus.NEWER
    assert "newer than what I know" in ENGLISH(answered.title)
    assert answered.record["variants"] is None


@pytest.mark.parametrize("words", ["1.4", "1.0.1", "0.4", "0.3.1", "0.1.12"])
def test_ancient_torch_is_older_than_known_in_detail(words: str) -> None:
    answered = torch(words)
    assert answered.standing is LookupStatus.OLDER
    assert "older than what I know in detail" in ENGLISH(answered.title)
    assert (answered.record["variants"], answered.record["companions"]) == (None, None)


def test_own_build_is_told_to_be_one() -> None:
    assert "built from source or nightly" in ENGLISH(torch("2.6.0a0+git123").notes[0])
    assert "pytorch:25.01-py3" in ENGLISH(torch("2.6.0a0+ecf3bae40a.nv25.01").notes[0])


@pytest.mark.parametrize("words", ["550", "550.54.14", "550.54.14-0ubuntu1", "550.163.01-1", "R550", "nvidia-driver-550-open"])
def test_driver_is_found_by_any_version(words: str) -> None:
    answered = driver(words)
    assert (answered.standing, answered.record["branch"]) == (LookupStatus.KNOWN, 550)


def test_driver_tells_the_module_for_each_architecture() -> None:
    record = driver("580").record
    modules = record["kernel_module"]
    assert isinstance(modules, dict)
    assert (modules["Pascal"], modules["Ada Lovelace"], modules["Blackwell"]) == ("proprietary", "either", "open")
    assert list(modules) == record["architectures"]


def test_driver_before_the_open_modules_has_none() -> None:
    modules = driver("470").record["kernel_module"]
    assert isinstance(modules, dict)
    assert set(modules.values()) == {"proprietary"}


def test_driver_says_what_its_figure_does_not_forbid() -> None:
    assert "any CUDA 12" in ENGLISH(driver("535").notes[0])
    assert driver("390").notes == ()


@pytest.mark.parametrize(
    ("words", "branch"),
    [("581.80", 580), ("582.28", 580), ("591.86", 590), ("566.36", 565), ("538.95", 535), ("540.4.0", 535), ("35.4.1", 470)],
)
def test_number_of_another_system_is_of_its_branch(words: str, branch: int) -> None:
    answered = driver(words)
    assert (answered.standing, answered.record["branch"]) == (LookupStatus.KNOWN, branch)
    assert words in ENGLISH(answered.notes[0])


@pytest.mark.parametrize("words", ["570", "535", "580"])
def test_compatibility_package_is_said_to_be_for_some_alone(words: str) -> None:
    assert "data-centre GPUs only" in ENGLISH(driver(words).notes[-1])


def test_newer_driver_is_answered_by_rule() -> None:
    answered = driver("999.10")
    assert answered.standing is LookupStatus.NEWER
    names = answered.record["architectures"]
    assert isinstance(names, list)
    assert "Blackwell" in names
    assert "Pascal" not in names


def test_older_driver_is_told_so() -> None:
    answered = driver("340.108")
    assert (answered.standing, answered.record["architectures"]) == (LookupStatus.OLDER, None)


def test_branch_that_never_was_gets_its_neighbours() -> None:
    answered = driver("558.23")
    assert answered.standing is LookupStatus.UNKNOWN
    assert answered.nearest[0] == "560"


@pytest.mark.parametrize("kind", [toolkits, know_torch, know_drivers])
def test_every_name_finds_a_record(kind: Any) -> None:
    for name in kind.SHELF.names(KNOWLEDGE):
        assert kind.answer(KNOWLEDGE, name).standing in {LookupStatus.KNOWN, LookupStatus.OLDER}


@for_each("kind", [toolkits, know_torch, know_drivers])
@for_each("words", ["12", "12.4", "2.6.0+cu124", "550", "x"])
def test_empty_base_is_survived(kind: Any, words: str) -> None:
    assert kind.answer(Knowledge(lambda name: b"[]"), words).standing is LookupStatus.UNKNOWN
