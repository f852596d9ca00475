"""Real processes that end when asked, that do not, and that are gone already."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from gpuassist.system import stop_process
from gpuassist.system.stop_process import Stopped, stop

OBEDIENT = "import sys, time; print('ready', flush=True); time.sleep(600)"
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"
PATIENT = 60.0


@pytest.fixture(params=["pidfd", "number"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "number":
        monkeypatch.delattr(os, "pidfd_open")


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stop_process, "_KILLED_WITHIN_SECONDS", 100.0)


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    children: list[subprocess.Popen[bytes]] = []
    yield children
    for child in children:
        child.kill()
        child.wait()
        if child.stdout is not None:
            child.stdout.close()


def start(children: list[subprocess.Popen[bytes]], program: str) -> int:
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    children.append(child)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    return child.pid


@pytest.mark.usefixtures("_way")
def test_process_that_obeys_is_not_killed(started: list[subprocess.Popen[bytes]]) -> None:
    pid = start(started, OBEDIENT)
    assert stop(pid, lambda: True, seconds=PATIENT) is Stopped.ENDED
    assert started[0].wait() == -15


@pytest.mark.usefixtures("_way")
def test_process_that_does_not_obey_is_killed(started: list[subprocess.Popen[bytes]]) -> None:
    pid = start(started, STUBBORN)
    assert stop(pid, lambda: True, seconds=0.05) is Stopped.KILLED
    assert started[0].wait() == -9


@pytest.mark.usefixtures("_way")
def test_another_process_of_that_number_is_left_alone(started: list[subprocess.Popen[bytes]]) -> None:
    pid = start(started, OBEDIENT)
    assert stop(pid, lambda: False, seconds=PATIENT) is Stopped.GONE
    assert started[0].poll() is None


@pytest.mark.usefixtures("_way")
def test_process_that_is_gone_is_said_to_be(started: list[subprocess.Popen[bytes]]) -> None:
    pid = start(started, OBEDIENT)
    started[0].kill()
    started[0].wait()
    assert stop(pid, lambda: True, seconds=PATIENT) is Stopped.GONE


def test_process_that_may_not_be_signalled_is_forbidden(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError

    monkeypatch.setattr(signal, "pidfd_send_signal", refuse)  # as the kernel does to everyone but root
    assert stop(start(started, OBEDIENT), lambda: True, seconds=PATIENT) is Stopped.FORBIDDEN


@pytest.mark.usefixtures("_way")
def test_process_that_was_asked_is_spared_when_that_is_called_off(started: list[subprocess.Popen[bytes]]) -> None:
    pid = start(started, STUBBORN)
    assert stop(pid, lambda: True, seconds=PATIENT, called_off=lambda: True) is Stopped.SPARED
    assert started[0].poll() is None


@pytest.mark.usefixtures("_way")
def test_process_that_obeys_has_ended_though_that_was_called_off(started: list[subprocess.Popen[bytes]]) -> None:
    pid = start(started, OBEDIENT)
    assert stop(pid, lambda: True, seconds=PATIENT, called_off=lambda: started[0].poll() is not None) is Stopped.ENDED
