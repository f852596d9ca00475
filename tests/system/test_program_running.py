"""Programs on a terminal of their own, and whatever they leave behind."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpuassist.system import child
from gpuassist.system.groups import under_way
from gpuassist.system.stop_process import carries, end_marked, marked
from gpuassist.system.streams import NotStarted, Program, ProgramEnd, Quiet
from gpuassist.system.world import RealPrograms


@pytest.fixture
def mark() -> Iterator[str]:
    made = f"test-{uuid.uuid4()}"
    yield made
    assert marked(made) == ()


def start(mark: str, source: str, directory: str = "/") -> Program:
    environment = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    program = RealPrograms().start((sys.executable, "-c", source), environment=environment, directory=directory, mark=mark)
    assert not isinstance(program, NotStarted)
    return program


def printed(program: Program) -> bytes:
    """All that it prints."""
    found = b""
    while (piece := program.read(seconds=1.0)) is not Quiet.CLOSED:
        found += piece if isinstance(piece, bytes) else b""
    return found


def test_bytes_come_as_they_were_printed(mark: str) -> None:
    program = start(mark, "import sys; sys.stdout.buffer.write(b'a\\nb\\r\\n\\xff\\x1b[1m')")
    assert printed(program) == b"a\nb\r\n\xff\x1b[1m"
    assert program.end() == ProgramEnd(0)


def test_what_is_printed_at_the_very_end_is_not_lost(mark: str) -> None:
    program = start(mark, "import os, sys; sys.stdout.write('x' * 200_000); sys.stdout.flush(); os._exit(5)")
    assert len(printed(program)) == 200_000
    assert program.end().status == 5


def test_silence_is_told(mark: str) -> None:
    program = start(mark, "import time; time.sleep(60)")
    assert program.read(seconds=0.01) is Quiet.SILENT
    assert program.end().signal == "SIGKILL"


def test_the_end_can_be_asked_for_again(mark: str) -> None:
    program = start(mark, "raise SystemExit(3)")
    printed(program)
    assert program.end() == program.end() == ProgramEnd(3)
    assert under_way == set()


def test_an_interrupt_is_as_ctrl_c(mark: str) -> None:
    program = start(
        mark, "try:\n  import time; print('ready', flush=True); time.sleep(60)\nexcept KeyboardInterrupt: raise SystemExit(9)"
    )
    assert program.read(seconds=30.0) == b"ready\n"
    program.interrupt()
    printed(program)
    assert program.end().status == 9


def test_after_the_end_no_signal_is_sent(mark: str) -> None:
    program = start(mark, "pass")
    printed(program)
    program.interrupt()
    program.terminate()
    assert program.end() == ProgramEnd(0)


@pytest.mark.parametrize(
    ("command", "missing"), [(("no-such-program",), True), (("/etc/passwd",), False), (("a\0b",), False), (("/",), False)]
)
def test_what_cannot_be_started_is_a_value(mark: str, command: tuple[str, ...], missing: bool) -> None:
    found = RealPrograms().start(command, environment={"PATH": "/usr/bin"}, directory="/", mark=mark)
    assert isinstance(found, NotStarted)
    assert found.missing is missing
    assert under_way == set()


def test_no_descriptor_is_left_open(mark: str) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for source in ("pass", "print('x')"):
        program = start(mark, source)
        printed(program)
        program.end()
    RealPrograms().start(("no-such-program",), environment={}, directory="/", mark=mark)
    assert len(os.listdir("/proc/self/fd")) == before


def test_without_terminals_to_give_a_pipe_serves(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> tuple[int, int]:
        raise OSError("out of pty devices")

    monkeypatch.setattr(os, "openpty", none)
    program = start(mark, "import sys; print(sys.stdout.isatty())")
    assert printed(program) == b"False\n"
    program.end()


def test_its_children_elsewhere_are_found_by_the_mark(mark: str) -> None:
    program = start(mark, "import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True); print('done')")
    printed(program)
    assert len(RealPrograms().marked(mark)) == 1
    assert program.end().left == 1


def test_only_those_with_the_very_mark_are_ended(mark: str) -> None:
    other = subprocess.Popen(["sleep", "60"], env={"GPUASSIST_RUN": f"{mark}-2", "PATH": "/usr/bin:/bin"})
    mine = subprocess.Popen(["sleep", "60"], env={"GPUASSIST_RUN": mark, "PATH": "/usr/bin:/bin"})
    try:
        assert end_marked(mark) == 1
        assert other.poll() is None
        assert mine.wait(timeout=100) != 0
    finally:
        other.kill()
        other.wait()


def test_one_that_ignores_a_request_is_killed(mark: str) -> None:
    ignoring = "import signal, time; signal.signal(15, signal.SIG_IGN); print('x', flush=True); time.sleep(60)"
    child = subprocess.Popen([sys.executable, "-c", ignoring], env={"GPUASSIST_RUN": mark}, stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    assert end_marked(mark) == 1
    assert child.wait(timeout=100) == -9
    child.stdout.close()


def test_a_process_that_is_gone_carries_nothing(mark: str) -> None:
    assert not carries(2**22 + 1, mark)


def test_we_are_never_among_them(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert os.getpid() not in marked(mark)


def test_one_that_cannot_be_ended_is_said(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "_LAST_WAIT_SECONDS", 0.01)
    monkeypatch.setattr(child, "end_group", lambda pid: None)
    monkeypatch.setattr(child, "end_marked", lambda mark: 0)
    program = start(mark, "import time; time.sleep(60)")
    assert program.end().stuck
    monkeypatch.undo()
    end_marked(mark)


def test_it_runs_in_its_directory(mark: str, tmp_path: Path) -> None:
    program = start(mark, "import os; print(os.getcwd())", str(tmp_path))
    assert printed(program).decode().strip() == str(tmp_path)
    program.end()
