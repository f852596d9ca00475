"""Programs run to their end: where they run, what they may leave behind, and what is kept of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuassist.system.child import run
from gpuassist.system.groups import under_way
from gpuassist.system.processes import Ending, ProcessResult

PATH = {"PATH": "/usr/bin:/bin"}


def _shell(
    line: str, *, seconds: float = 100, directory: str = "/", stdin: bytes = b"", cancelled: Callable[[], bool] | None = None
) -> ProcessResult:
    command = ["/bin/sh", "-c", line]
    return run(command, seconds=seconds, environment=PATH, directory=directory, stdin=stdin, cancelled=cancelled)


def test_program_runs_in_the_directory_that_is_given(tmp_path: Path) -> None:
    assert _shell("pwd -P", directory=str(tmp_path)).stdout.decode().strip() == str(tmp_path.resolve())


def test_directory_that_does_not_exist_is_a_value(tmp_path: Path) -> None:
    outcome = _shell("true", directory=str(tmp_path / "nowhere"))
    assert outcome.ending in {Ending.NOT_FOUND, Ending.NOT_STARTED}
    assert str(tmp_path / "nowhere") in outcome.words


@pytest.mark.parametrize("status", [0, 1, 127, 255])
def test_status_comes_back_as_it_was(status: int) -> None:
    outcome = _shell(f"exit {status}")
    assert (outcome.ending, outcome.status, outcome.succeeded) == (Ending.EXITED, status, status == 0)


@pytest.mark.parametrize(("name", "number"), [("TERM", 15), ("KILL", 9), ("SEGV", 11)])
def test_signal_that_ended_it_is_told(name: str, number: int) -> None:
    outcome = _shell(f"kill -{name} $$")
    assert (outcome.ending, outcome.status) == (Ending.KILLED, number)


@pytest.mark.parametrize("given", [b"", b"one line\n", b"\x00\xff\n", b"x" * 70_000])
def test_input_arrives_byte_by_byte(given: bytes) -> None:
    assert _shell("cat", stdin=given).stdout == given


def test_without_input_a_reader_is_at_the_end() -> None:
    assert _shell("wc -c", seconds=100).stdout.strip() == b"0"


def test_streams_are_kept_apart() -> None:
    outcome = _shell("echo out; echo err >&2; echo more")
    assert (outcome.stdout, outcome.stderr) == (b"out\nmore\n", b"err\n")


def test_time_that_it_took_is_told() -> None:
    assert 0.2 <= _shell("sleep 0.2").seconds < 10


def test_what_was_printed_before_a_signal_is_kept() -> None:
    assert _shell("echo last words; kill -9 $$").stdout == b"last words\n"


@pytest.mark.parametrize("line", ["true", "exit 3", "kill -9 $$", "sleep 60 & echo done"])
def test_nothing_is_under_way_afterwards(line: str) -> None:
    before, programs = len(os.listdir("/proc/self/fd")), set(under_way)
    _shell(line)
    assert (len(os.listdir("/proc/self/fd")), under_way - programs) == (before, set())


def test_refusal_leaves_nothing_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    run(["/nowhere/nvcc"], seconds=1, environment=PATH, directory="/", stdin=b"")
    assert len(os.listdir("/proc/self/fd")) == before


def test_program_has_no_terminal_to_ask_on() -> None:
    code = "import os; os.open('/dev/tty', os.O_RDWR)"
    outcome = run([sys.executable, "-I", "-c", code], seconds=100, environment=PATH, directory="/", stdin=b"")
    assert outcome.status == 1
    assert b"OSError" in outcome.stderr


@pytest.mark.parametrize("line", ["sleep 300", "exec >&- 2>&-; sleep 300", "while :; do echo y; done", "sleep 300 & wait"])
def test_program_that_is_wanted_no_more_is_ended_with_its_children(line: str) -> None:
    asked = iter([False, False])
    outcome = _shell(line, seconds=100, cancelled=lambda: next(asked, True))
    assert outcome.ending is Ending.CANCELLED
    assert not under_way


def test_program_that_nobody_cancels_ends_by_itself() -> None:
    assert _shell("echo done", cancelled=lambda: False).stdout == b"done\n"
