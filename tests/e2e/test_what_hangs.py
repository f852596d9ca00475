"""What never answers: a start-up file, an nvcc, both. The doctor says so, and in no more time than its own limits.

All of them are waited for at once, because each costs its whole limit.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.changes.homes import make_toolkit
from tests.e2e.command import COMMAND, bashrc, environment, program
from tests.e2e.contract import check_diagnosis, check_facts
from tests.rows import for_each

pytestmark = pytest.mark.slow

LONGEST_SECONDS = 90  # of a shell and then an nvcc, with what a slow machine adds; the program in question sleeps for ten minutes


def _shell_sleeps(home: Path) -> None:
    bashrc(home, "sleep 600")


def _shell_spins(home: Path) -> None:
    bashrc(home, "while :; do :; done")


def _shell_leaves_the_terminal(home: Path) -> None:
    bashrc(home, "setsid sleep 300")  # in a session of its own nothing reaches it


def _nvcc_sleeps(home: Path) -> None:
    nvcc = make_toolkit(home / "cuda-12.4", "12.4.131") / "bin/nvcc"
    program(nvcc, "sleep 600")
    bashrc(home, f"export PATH={nvcc.parent}:$PATH")


def _nvcc_ignores_signals(home: Path) -> None:
    _nvcc_sleeps(home)
    program(home / "cuda-12.4/bin/nvcc", "trap '' TERM INT HUP", "sleep 600 & wait; sleep 600")


MAKERS: tuple[Callable[[Path], None], ...] = (
    _shell_sleeps,
    _shell_spins,
    _shell_leaves_the_terminal,
    _nvcc_sleeps,
    _nvcc_ignores_signals,
)


@dataclass(frozen=True)
class Answer:
    """What came of both commands, and how long the slower one took."""

    facts: Any
    diagnosis: Any
    seconds: float


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    began = time.monotonic()
    under_way = {}
    for make in MAKERS:
        home = tmp_path_factory.mktemp(make.__name__)
        make(home)
        under_way[make.__name__] = [_start(home, verb) for verb in ("detect", "doctor")]
    found = {}
    for name, children in under_way.items():
        facts, diagnosis = (json.loads(child.communicate(timeout=100)[0]) for child in children)
        found[name] = Answer(facts, diagnosis, time.monotonic() - began)
    return found


def _start(home: Path, verb: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*COMMAND, verb, "--json"], env=environment(home), stdout=subprocess.PIPE)


every = for_each("name", [make.__name__ for make in MAKERS])


@every
def test_both_commands_answer_as_ever(answers: dict[str, Answer], name: str) -> None:
    check_facts(answers[name].facts)
    check_diagnosis(answers[name].diagnosis)


@every
def test_answer_comes_in_time(answers: dict[str, Answer], name: str) -> None:
    assert answers[name].seconds < LONGEST_SECONDS


@for_each("name", ["_shell_sleeps", "_shell_spins", "_shell_leaves_the_terminal"])
def test_start_up_file_is_named_as_the_reason(answers: dict[str, Answer], name: str) -> None:
    terminal = answers[name].facts["shell"]["new_terminal"]
    assert terminal["value"] is None
    assert "start-up files of /bin/bash were not done after" in terminal["reason"]
    assert "nvcc-not-on-path" in [one["id"] for one in answers[name].diagnosis["undetermined"]]


@for_each("name", ["_nvcc_sleeps", "_nvcc_ignores_signals"])
def test_nvcc_is_named_as_the_reason(answers: dict[str, Answer], name: str) -> None:
    (toolkit,) = (one for one in answers[name].facts["toolkits"]["value"] if name in one["root"])
    for fact in ("nvcc_version", "targets"):
        assert "bin/nvcc did not answer within" in toolkit[fact]["reason"]
