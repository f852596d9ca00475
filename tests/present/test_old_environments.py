"""What is said of programs that still have the environment of before."""

from __future__ import annotations

import json

from gpuassist.model.old_environment import OldEnvironments, OldProgram, ProgramFamily
from gpuassist.model.shell import Variable
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.old_environments import about, headline, here, how, label, limits, old_json
from tests.rows import for_each

Family = ProgramFamily
OLD = Variable("CUDA_HOME", "/usr/local/cuda-11.7")


def made(family: ProgramFamily = Family.MULTIPLEXER, name: str = "tmux", **more: object) -> OldProgram:
    given = {"key": name, "pids": (4711,), "itself": True, "holds": (OLD,), **more}
    return OldProgram(family, name=name, **given)  # type: ignore[arg-type]


STARTED = "was started with CUDA_HOME=/usr/local/cuda-11.7"
SAID = [
    (made(shells=14, programs=2), f"{STARTED} · in it 14 open shells and 2 other programs"),
    (made(shells=1, kernels=3, programs=1), f"{STARTED} · in it 1 open shell, 3 kernels and 1 other program"),
    (made(itself=False, holds=(), shells=2, shells_before=2), "in it 2 open shells · opened before the change"),
    (made(itself=False, programs=1), "in it 1 other program · started with CUDA_HOME=/usr/local/cuda-11.7"),
    (made(Family.SHELL, "bash", key="shell", itself=False, holds=(), shells=1, shells_before=1), "opened before the change"),
    (made(shells=2, here=True), f"{STARTED} · in it 2 open shells · this terminal is one of them"),
    (made(Family.NOTEBOOK, holds=(Variable("CUDA_VISIBLE_DEVICES", ""),)), "was started with CUDA_VISIBLE_DEVICES not set"),
    (made(), STARTED),
]


@for_each("one, said", SAID)
def test_a_row_says_what_is_held_and_by_whom(one: OldProgram, said: str) -> None:
    assert ENGLISH(about(one)) == said


@for_each("family", list(ProgramFamily))
def test_every_family_has_its_name_and_its_way(family: ProgramFamily) -> None:
    for itself in (True, False):
        one = made(family, itself=itself, shells=1)
        if family is not Family.BACKGROUND:
            assert ENGLISH(how(one))
        assert "4711" in ENGLISH(label(one))


def test_what_a_record_says_goes_before() -> None:
    assert how(made(how=text("x"))) == text("x")


def test_many_processes_are_cut() -> None:
    assert ENGLISH(label(made(pids=tuple(range(1, 9))))).endswith("1, 2, 3, 4, …")


def test_the_headline_counts_and_the_limits_are_told_as_they_matter() -> None:
    none, two = OldEnvironments(()), OldEnvironments((made(), made(shells_before=1, here=True)))
    assert ENGLISH(headline(two)).startswith("2 programs still have")
    assert ENGLISH(headline(OldEnvironments((made(),)), at_any_time=True)).startswith("1 program was started with another toolkit")
    assert ENGLISH(headline(none)).startswith("No program")
    assert ENGLISH(limits(two)).endswith("told by their start.")
    assert not ENGLISH(limits(none)).endswith("told by their start.")
    assert (here(none), here(two) is not None) == (None, True)


def test_the_document_is_json_and_null_where_nobody_looked() -> None:
    assert old_json(None, ENGLISH) is None
    found = old_json(OldEnvironments((made(commands=("x",)),), (text("y"),)), ENGLISH)
    assert json.loads(json.dumps(found)) == found
    assert isinstance(found, dict)
    assert found["notes"] == ["y"]
