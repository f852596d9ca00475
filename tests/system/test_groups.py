"""No program that was started is forgotten, not even one that is just being started."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gpuassist.system import groups


def _sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "60"], start_new_session=True)


def _pid(child: subprocess.Popen[bytes]) -> int:
    return child.pid


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "under_way", set())


def test_what_was_begun_is_ended() -> None:
    child = groups.begin(_sleeper, _pid)
    groups.end_all()
    assert child.wait(10) == -9


def test_what_is_being_started_is_waited_for() -> None:
    starting, children = threading.Event(), list[subprocess.Popen[bytes]]()

    def slowly() -> subprocess.Popen[bytes]:
        starting.set()
        threading.Event().wait(0.1)
        return _sleeper()

    thread = threading.Thread(target=lambda: children.append(groups.begin(slowly, _pid)))
    thread.start()
    starting.wait(10)
    groups.end_all()
    thread.join(10)
    assert children[0].wait(10) == -9


def test_start_that_hangs_does_not_hold() -> None:
    go = threading.Event()

    def refuse() -> subprocess.Popen[bytes]:
        go.wait(10)
        raise FileNotFoundError

    def try_it() -> None:
        with pytest.raises(FileNotFoundError):
            groups.begin(refuse, _pid)

    thread = threading.Thread(target=try_it)
    thread.start()
    groups.end_all()
    assert thread.is_alive()
    go.set()
    thread.join(10)


def test_start_that_fails_leaves_nothing() -> None:
    with pytest.raises(FileNotFoundError):
        groups.begin(lambda: subprocess.Popen(["/nonexistent/program"]), _pid)
    assert groups.under_way == set()
    groups.end_all()


def test_group_that_is_gone_already_is_no_fault() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""], start_new_session=True)
    child.wait(10)
    groups.end_group(child.pid)


def test_grandchildren_go_too(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "said")
    line = f"sleep 60 & echo $! > {tmp_path}/said; wait"
    child = groups.begin(lambda: subprocess.Popen(["sh", "-c", line], start_new_session=True), _pid)
    grandchild = Path(f"/proc/{int((tmp_path / 'said').read_text())}/stat")
    groups.end_all()
    child.wait(10)
    assert not grandchild.exists() or " Z " in grandchild.read_text()  # a container may have nobody who collects the dead
