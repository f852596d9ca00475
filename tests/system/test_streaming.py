"""A program that reports: what is told twice, where it runs, and that nobody forgets it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuassist.system.groups import under_way
from gpuassist.system.streaming import signal_name, start
from gpuassist.system.streams import DESCRIPTOR, NotStarted, Quiet, Stream

PATH = {"PATH": "/usr/bin:/bin"}


def _shell(line: str, directory: str = "/") -> Stream:
    """A shell whose descriptor 9 is the report."""
    stream = start(["/bin/sh", "-c", f"exec 9>/proc/self/fd/$0; {line}", DESCRIPTOR], PATH, directory)
    assert not isinstance(stream, NotStarted), stream.words
    return stream


def test_end_is_the_same_when_asked_again() -> None:
    stream = _shell("echo hello; exit 3")
    assert stream.end(patience=100) is stream.end()


def test_program_runs_in_the_directory_that_is_given(tmp_path: Path) -> None:
    stream = _shell("pwd -P >&9", str(tmp_path))
    line = stream.line(seconds=100)
    stream.end()
    assert line == os.fsencode(tmp_path.resolve())


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
    refusal = start(["/bin/sh", "-c", "true"], PATH, str(tmp_path / "nowhere"))
    assert isinstance(refusal, NotStarted)
    assert str(tmp_path / "nowhere") in refusal.words


@pytest.mark.parametrize(("number", "name"), [(9, "SIGKILL"), (15, "SIGTERM"), (7, "SIGBUS"), (0, "signal 0"), (200, "signal 200")])
def test_signal_goes_by_its_name(number: int, name: str) -> None:
    assert signal_name(number) == name
