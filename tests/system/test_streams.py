"""Real programs that report line by line on a descriptor of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpuassist.system.child import signal_name
from gpuassist.system.streams import DESCRIPTOR, LINE_AT_MOST_BYTES, OUTPUT_AT_MOST_BYTES, NotStarted, Quiet, Stream
from gpuassist.system.world import RealStreams

PATH = {"PATH": "/usr/bin:/bin"}
HEAD = "import os, subprocess, sys, time\nfd = int(sys.argv[1])\ndef say(line): os.write(fd, line)\n"


@contextmanager
def running(code: str) -> Iterator[Stream]:
    stream = RealStreams().start([sys.executable, "-I", "-c", HEAD + code, DESCRIPTOR], environment=PATH)
    assert not isinstance(stream, NotStarted)
    try:
        yield stream
    finally:
        stream.end()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_lines_come_one_by_one() -> None:
    with running("say(b'one\\ntwo\\n')") as stream:
        assert [stream.line(seconds=100), stream.line(seconds=100)] == [b"one", b"two"]


def test_a_line_in_pieces_is_put_together() -> None:
    with running("say(b'on'); time.sleep(0.1); say(b'e\\n')") as stream:
        assert stream.line(seconds=100) == b"one"


def test_the_end_of_the_report_is_said() -> None:
    with running("say(b'one\\n'); os.close(fd); time.sleep(60)") as stream:
        assert stream.line(seconds=100) == b"one"
        assert stream.line(seconds=100) is Quiet.CLOSED


def test_a_report_without_its_last_newline_is_no_line() -> None:
    with running("say(b'half')") as stream:
        assert stream.line(seconds=100) is Quiet.CLOSED


def test_silence_is_said_in_time() -> None:
    with running("time.sleep(60)") as stream:
        assert stream.line(seconds=0.2) is Quiet.SILENT


def test_a_line_without_end_is_cut() -> None:
    with running(f"say(b'x' * 60000) or [say(b'x' * 60000) for _ in range({LINE_AT_MOST_BYTES // 60000 + 2})]") as stream:
        line = stream.line(seconds=100)
        assert isinstance(line, bytes)
        assert len(line) == LINE_AT_MOST_BYTES


def test_what_is_printed_is_no_line() -> None:
    with running("print('hello', flush=True); print('oh', file=sys.stderr, flush=True); say(b'one\\n')") as stream:
        assert stream.line(seconds=100) == b"one"
        ended = stream.end(patience=100)
    assert "hello" in ended.output
    assert "oh" in ended.output


def test_of_much_output_the_end_is_kept() -> None:
    with running("[print('x' * 1000) for _ in range(5000)]; print('the end', flush=True); say(b'one\\n')") as stream:
        assert stream.line(seconds=100) == b"one"
        ended = stream.end(patience=100)
    assert len(ended.output) <= OUTPUT_AT_MOST_BYTES
    assert ended.output.endswith("the end\n")


def test_much_output_at_the_end_does_not_hold() -> None:
    with running("os.close(fd); [print('x' * 1000) for _ in range(5000)]; sys.exit(4)") as stream:
        assert stream.line(seconds=100) is Quiet.CLOSED
        assert stream.end(patience=100).status == 4


def test_a_status_comes_back() -> None:
    with running("sys.exit(3)") as stream:
        stream.line(seconds=100)
        ended = stream.end(patience=100)
    assert (ended.status, ended.signal, ended.ended_by_us) == (3, "", False)


def test_a_signal_comes_back_by_name() -> None:
    with running("os.abort()") as stream:
        stream.line(seconds=100)
        ended = stream.end(patience=100)
    assert (ended.status, ended.signal, ended.ended_by_us) == (0, "SIGABRT", False)


def test_a_program_that_goes_on_is_ended() -> None:
    with running("say(b'%d\\n' % os.getpid()); time.sleep(60)") as stream:
        line = stream.line(seconds=100)
        ended = stream.end()
    assert isinstance(line, bytes)
    assert ended.ended_by_us
    assert not alive(int(line))


def test_its_children_are_ended_too() -> None:
    code = (
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); say(b'%d\\n' % child.pid); time.sleep(60)"
    )
    with running(code) as stream:
        line = stream.line(seconds=100)
        stream.end()
    assert isinstance(line, bytes)
    while alive(int(line)):  # which it is no more as soon as the signal has reached it
        os.sched_yield()


def test_standard_input_is_closed() -> None:
    with running("say(b'%d\\n' % len(sys.stdin.read()))") as stream:
        assert stream.line(seconds=100) == b"0"


def test_a_missing_program_is_said() -> None:
    refusal = RealStreams().start(["/nowhere/python"], environment=PATH)
    assert isinstance(refusal, NotStarted)
    assert refusal.missing


@pytest.mark.parametrize("command", [["/"], ["a\0b"]])
def test_what_is_no_program_is_said(command: list[str]) -> None:
    refusal = RealStreams().start(command, environment=PATH)
    assert isinstance(refusal, NotStarted)
    assert not refusal.missing
    assert refusal.words


def test_no_descriptor_is_left_open() -> None:
    before = len(os.listdir("/proc/self/fd"))
    with running("say(b'one\\n')") as stream:
        stream.line(seconds=100)
    RealStreams().start(["/nowhere/python"], environment=PATH)
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_number_that_is_no_signal_is_named() -> None:
    assert signal_name(11) == "SIGSEGV"
    assert signal_name(62) == "signal 62"


def test_no_process_is_left_behind() -> None:
    with running("say(b'%d\\n' % os.getpid())") as stream:
        line = stream.line(seconds=100)
    assert isinstance(line, bytes)
    assert subprocess.run(["ps", "-p", line.decode()], capture_output=True, check=False).returncode != 0
