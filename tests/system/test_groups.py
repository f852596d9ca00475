"""No program that was started is forgotten, not even one that is just being started."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from gpuassist.system import groups


def _sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "60"], start_new_session=True)


def _pid(child: subprocess.Popen[bytes]) -> int:
    return child.pid


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "under_way", set())
    monkeypatch.setattr(groups, "_LAST_WAIT_SECONDS", 100.0)


def test_what_was_begun_is_ended() -> None:
    child = groups.begin(_sleeper, _pid)
    groups.end_all()
    assert child.wait() == -9


def test_what_is_being_started_is_waited_for() -> None:
    starting, children = threading.Event(), list[subprocess.Popen[bytes]]()

    def slowly() -> subprocess.Popen[bytes]:
        starting.set()
        threading.Event().wait(0.1)
        return _sleeper()

    thread = threading.Thread(target=lambda: children.append(groups.begin(slowly, _pid)))
    thread.start()
    starting.wait()
    groups.end_all()
    thread.join()
    assert children[0].wait() == -9


def test_what_is_there_only_later_is_ended_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "_LAST_WAIT_SECONDS", 0.0)
    starting, go, children = threading.Event(), threading.Event(), list[subprocess.Popen[bytes]]()

    def late() -> subprocess.Popen[bytes]:
        starting.set()
        go.wait()
        return _sleeper()

    thread = threading.Thread(target=lambda: children.append(groups.begin(late, _pid)))
    thread.start()
    starting.wait()
    groups.end_all()
    go.set()
    thread.join()
    assert children[0].wait() == -9


def test_start_that_hangs_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "_LAST_WAIT_SECONDS", 0.0)
    go = threading.Event()

    def refuse() -> subprocess.Popen[bytes]:
        go.wait()
        raise FileNotFoundError

    def try_it() -> None:
        with pytest.raises(FileNotFoundError):
            groups.begin(refuse, _pid)

    thread = threading.Thread(target=try_it)
    thread.start()
    groups.end_all()
    assert thread.is_alive()
    go.set()
    thread.join()


def test_start_that_fails_leaves_nothing() -> None:
    with pytest.raises(FileNotFoundError):
        groups.begin(lambda: subprocess.Popen(["/nonexistent/program"]), _pid)
    assert groups.under_way == set()
    groups.end_all()


def test_group_that_is_gone_already_is_no_fault() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
    child.wait()
    groups.end_group(child.pid)


def test_grandchildren_go_too() -> None:
    line = ["sh", "-c", "sleep 600 & echo started; wait"]
    with groups.begin(lambda: subprocess.Popen(line, start_new_session=True, stdout=subprocess.PIPE), _pid) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"started\n"
        groups.end_all()
        assert child.stdout.read() == b""  # only when the last of them has gone
    assert child.returncode == -9
