"""Too new or dropped: what decides, in which order."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.architectures import added_since, judge_architecture, known_since
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste, Weight
from gpuassist.model.version import Target, Version
from tests.rows import for_each
from tests.values import RTX_5090, Recipe, knowledge, machine

NEWER, DROPPED = "nvcc-arch-too-new", "nvcc-arch-dropped"


def _judged(words: str, name: str, here: Machine | None = None) -> list[tuple[str, Weight]]:
    setting = SignatureInput(Paste(words), RuleInput(here or Machine(), knowledge()))
    return [(one.problem, one.weight) for one in judge_architecture(setting, Target.parse(name))]


@for_each(
    ("words", "name", "expected"),
    [
        ("compute_75\ncompute_80\n# cuda 8.0", "compute_70", DROPPED),
        ("compute_50\ncompute_60\n# cuda 13.0", "compute_70", NEWER),
        ("# cuda 8.0\nUbuntu 24.04", "compute_70", NEWER),
        ("# cuda 13.0\nUbuntu 16.04", "compute_70", DROPPED),
        ("-gencode arch=compute_60,code=sm_60 -gencode arch=compute_70,code=sm_70", "compute_70", NEWER),
        ("Ubuntu 18.04", "compute_70", NEWER),
        ("# cuda 11.4", "compute_30", DROPPED),
        ("# cuda 12.4", "compute_35", DROPPED),
        ("# cuda 11.8", "compute_120", NEWER),
        ("# cuda 12.9", "compute_110", NEWER),
        ("# cuda 11.8", "compute_90a", NEWER),
        ("# cuda 12.8", "compute_120f", NEWER),
        ("# cuda 13.0", "sm_101", DROPPED),
        ("# cuda 6.5", "compute_52", ""),
        ("# cuda 9.1", "compute_61", NEWER),
        ("# cuda 12.4", "compute_89", NEWER),
    ],
)
def test_surest_hint_decides(words: str, name: str, expected: str) -> None:
    found = _judged(words, name)
    assert found[0] == (expected or found[0][0], Weight.CAUSE)
    assert len(found) == 1


@pytest.mark.parametrize("name", ["compute_30", "compute_37", "compute_50", "compute_61", "compute_70", "sm_72"])
def test_without_a_hint_both_are_named(name: str) -> None:
    assert _judged("", name) == [(DROPPED, Weight.CAUSE), (NEWER, Weight.STATE)]


def test_release_that_is_nearer_to_those_that_dropped_it_leaves_both() -> None:
    assert _judged("# cuda 12.4", "compute_61") == [(DROPPED, Weight.CAUSE), (NEWER, Weight.STATE)]


@pytest.mark.parametrize("name", ["compute_75", "compute_86", "compute_90", "sm_120", "sm_121a", "compute_100f"])
def test_what_the_newest_release_knows_is_too_new(name: str) -> None:
    assert _judged("", name) == [(NEWER, Weight.CAUSE)]


@pytest.mark.parametrize("name", ["compute_10", "compute_13", "compute_20", "compute_21", "compute_51"])
def test_what_no_release_knows_any_more_was_dropped(name: str) -> None:
    assert _judged("", name)[0] == (DROPPED, Weight.CAUSE)


def test_number_above_all_that_is_known_is_too_new() -> None:
    assert _judged("", "compute_199") == [(NEWER, Weight.CAUSE)]


def test_gpu_of_the_machine_is_named() -> None:
    setting = SignatureInput(Paste(""), RuleInput(machine(Recipe(gpus=(RTX_5090,))), knowledge()))
    assert known_since(setting, Target.parse("sm_120")) == {
        "capability": "12.0",
        "architecture": "120",
        "gpu": "RTX 5090",
        "edge": "12.8",
        "last": "",
        "firsts": "",
    }


def test_architecture_that_was_dropped_again_has_a_last_release_too() -> None:
    told = known_since(SignatureInput(Paste(""), RuleInput(Machine(), knowledge())), Target.parse("compute_70"))
    assert (told["edge"], told["last"]) == ("9.0", "12.9")


@pytest.mark.parametrize(
    ("nvcc", "first"), [(None, "CUDA 9.1: 7.2; 10.0: 7.5; 11.0: 8.0; "), ("11.2", "CUDA 11.4: 8.7; 11.8: 8.9, 9.0; ")]
)
def test_what_newer_releases_added_comes_from_the_knowledge(nvcc: str | None, first: str) -> None:
    setting = SignatureInput(Paste(""), RuleInput(Machine(), knowledge()))
    assert added_since(setting, Version.parse(nvcc) if nvcc else None).startswith(first)


def test_nothing_came_after_a_release_that_is_newer_than_all() -> None:
    assert added_since(SignatureInput(Paste(""), RuleInput(Machine(), knowledge())), Version.parse("99.0")) == ""
