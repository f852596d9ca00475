"""Children of our own: real processes that answer, keep silent, crash, and outlive nobody."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuassist.system.piped_child import command, start_piped
from gpuassist.system.streams import Ended, Quiet
from gpuassist.system.worker import Worker

ROOT = str(Path(__file__).resolve().parents[2])
HEAD = f"import os, signal, sys, time; sys.path.insert(0, {ROOT!r})\nfrom gpuassist.system import frames\n"
ECHO = "while (asked := frames.read(0)) is not None: frames.write(3, asked)\n"
MUTE = "frames.read(0); time.sleep(600)\n"
Begin = Callable[[str], Worker]


@pytest.fixture
def begin() -> Iterator[Begin]:
    begun: list[Worker] = []

    def start(program: str) -> Worker:
        begun.append(Worker(start_piped((sys.executable, "-I", "-c", HEAD + program), dict(os.environ))))
        return begun[-1]

    yield start
    assert not [worker.pid for worker in begun if worker.is_there]


def gone(pid: int, seconds: float = 20.0) -> bool:
    """Whether the process ends within so long; told by the kernel."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def test_it_answers_what_it_is_asked(begin: Begin) -> None:
    worker = begin(ECHO)
    for number in range(3):
        assert worker.send({"number": number})
        assert worker.receive(20) == {"number": number}
    assert worker.end(patience=20) == Ended(0, "", "", ended_by_us=False)


def test_one_that_is_silent_is_waited_for_no_longer_than_wanted(begin: Begin) -> None:
    worker = begin(MUTE)
    worker.send(1)
    assert worker.receive(0.05) is Quiet.SILENT
    ended = worker.end()
    assert ended is not None
    assert (ended.signal, ended.ended_by_us) == ("SIGKILL", True)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGKILL])
def test_a_crash_is_told_by_its_signal(begin: Begin, number: signal.Signals) -> None:
    worker = begin(f"frames.read(0); os.kill(os.getpid(), {int(number)})")
    worker.send(1)
    assert worker.receive(20) is Quiet.CLOSED
    assert worker.end(patience=20) == Ended(0, number.name, "", ended_by_us=False)


def test_one_that_ends_by_itself_is_told_by_its_status(begin: Begin) -> None:
    worker = begin("sys.exit(7)")
    assert worker.receive(20) is Quiet.CLOSED
    assert worker.end(patience=20) == Ended(7, "", "", ended_by_us=False)


def test_asking_one_that_is_gone_fails_without_an_error(begin: Begin) -> None:
    worker = begin("sys.exit(0)")
    assert gone(worker.pid)
    assert not worker.send(1)
    worker.end(patience=20)


def test_whoever_waits_hears_that_it_was_killed(begin: Begin) -> None:
    worker = begin(MUTE)
    worker.send(1)
    worker.kill()
    assert worker.receive(20) is Quiet.CLOSED
    worker.end(patience=20)
    worker.kill()  # one that is gone already, whose number somebody else may have


def test_what_a_library_prints_disturbs_nobody(begin: Begin, capfd: pytest.CaptureFixture[str]) -> None:
    worker = begin("os.write(1, b'noise'); os.write(2, b'noise')\n" + ECHO)
    worker.send([1])
    assert worker.receive(20) == [1]
    worker.end(patience=20)
    assert capfd.readouterr() == ("", "")


def test_a_program_that_is_not_there_is_an_error() -> None:
    before = sorted(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        start_piped(("/no/such/program",), {})
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_none_of_its_pipes_stays_open(begin: Begin) -> None:
    before = sorted(os.listdir("/proc/self/fd"))
    begin(ECHO).end(patience=20)
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_a_frozen_program_starts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert command("gpuassist.monitor.sampling_child", "--sample-gpus") == (sys.executable, "--sample-gpus", str(os.getpid()))


PARENT = f"""
import os, sys, time
sys.path.insert(0, {ROOT!r})
from gpuassist.system.piped_child import start_piped
from gpuassist.system.worker import Worker
program = {HEAD!r} + "from gpuassist.system.parent_end import die_with_parent; die_with_parent(int(sys.argv[1]));"
program += "frames.write(3, 1); time.sleep(600)"
worker = Worker(start_piped((sys.executable, "-I", "-c", program, str(os.getpid())), dict(os.environ)))
assert worker.receive(60) == 1
print(worker.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_child_outlives_a_parent_that_is_ended(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        began = time.monotonic()
        parent.send_signal(number)
        parent.wait(20)
        assert gone(child)
        assert time.monotonic() - began < 20
