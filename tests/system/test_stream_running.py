"""A program that reports: what is told twice, where it runs, and that nobody forgets it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gpuassist.system.child import signal_name, stream
from gpuassist.system.groups import under_way
from gpuassist.system.streams import DESCRIPTOR, NotStarted, Quiet, Stream

PATH = {"PATH": "/usr/bin:/bin"}


def _shell(line: str, directory: str = "/") -> Stream:
    """A shell whose descriptor 9 is the report."""
    started = stream(["/bin/sh", "-c", f"exec 9>/proc/self/fd/$0; {line}", DESCRIPTOR], PATH, directory)
    assert not isinstance(started, NotStarted), started.words
    return started


def test_end_is_the_same_when_asked_again() -> None:
    stream = _shell("echo hello; exit 3")
    assert stream.end(patience=100) is stream.end()


def test_program_runs_in_the_directory_that_is_given(tmp_path: Path) -> None:
    stream = _shell("pwd -P >&9", str(tmp_path))
    line = stream.line(seconds=100)
    stream.end()
    assert line == os.fsencode(tmp_path.resolve())


def test_report_that_another_holds_is_closed_when_the_program_has_ended() -> None:
    stream = _shell("sleep 300 & echo one >&9; echo half >&9; printf rest >&9; exit 3")
    lines = [stream.line(seconds=20) for _ in range(3)]
    ended = stream.end()
    assert lines == [b"one", b"half", Quiet.CLOSED]
    assert (ended.status, ended.signal, ended.ended_by_us) == (3, "", False)


def test_all_that_was_said_is_heard_however_late() -> None:
    stream = _shell("exec 2>/dev/null; sleep 300 & seq 1 5000 >&9; exit 0")
    assert [stream.line(seconds=20) for _ in range(5001)] == [*(b"%d" % number for number in range(1, 5001)), Quiet.CLOSED]
    stream.end()


def test_endless_words_of_what_was_left_behind_end() -> None:
    stream = _shell("(while :; do echo more >&9 || exit; done) & exit 0")
    deadline = time.monotonic() + 20
    while stream.line(seconds=1) is not Quiet.CLOSED:
        assert time.monotonic() < deadline
    assert stream.end().ended_by_us is False


def test_empty_lines_are_lines() -> None:
    stream = _shell("printf '\\n\\nx\\n' >&9")
    lines = [stream.line(seconds=100) for _ in range(4)]
    stream.end()
    assert lines == [b"", b"", b"x", Quiet.CLOSED]


def test_bytes_that_are_no_utf8_are_shown_as_such() -> None:
    stream = _shell("printf 'a\\377b'")
    assert stream.end(patience=100).output == "a\ufffdb"


def test_program_is_under_way_until_it_is_ended() -> None:
    before = set(under_way)
    stream = _shell("sleep 60")
    during = under_way - before
    ended = stream.end()
    assert (len(during), under_way & during, ended.ended_by_us) == (1, set(), True)


def test_directory_that_does_not_exist_is_said(tmp_path: Path) -> None:
    refusal = stream(["/bin/sh", "-c", "true"], PATH, str(tmp_path / "nowhere"))
    assert isinstance(refusal, NotStarted)
    assert str(tmp_path / "nowhere") in refusal.words


@pytest.mark.parametrize(("number", "name"), [(9, "SIGKILL"), (15, "SIGTERM"), (7, "SIGBUS"), (0, "signal 0"), (200, "signal 200")])
def test_signal_goes_by_its_name(number: int, name: str) -> None:
    assert signal_name(number) == name
