"""Whole windows as processes: what is left when one is told to end or killed, and what a second start does."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

_WINDOW = """
import sys
from gpuassist import app
from gpuassist.ui import application

made = application.WindowRun.__init__

def observed(self, *args, **others):
    made(self, *args, **others)
    self.furnished.connect(lambda: told(self))
    self._show_wanted.connect(lambda wanted, answer: print("shown", wanted.place, wanted.token, flush=True))

def told(run):
    {then}
    print("ready", flush=True)

application.WindowRun.__init__ = observed
sys.exit(app.main(sys.argv[1:]))
"""
_MARK = f"gpuassist-window-test-{os.getpid()}"
_CHILD = f"""
    from gpuassist.system import child, groups
    run.jobs.start(lambda control: child.run(["/bin/sh", "-c", "kill -STOP $$; sleep 100 # {_MARK}"], seconds=100,
        environment={{}}, directory="/", stdin=b"", cancelled=control.cancelled.is_set), run)
    while not groups.under_way: pass
"""


class Windows:
    """Starts some, each under its own name for a display, and ends them."""

    def __init__(self, home: Path) -> None:
        self.home, self.runtime = home, home / "runtime"
        self.runtime.mkdir(mode=0o700)
        self._all: list[subprocess.Popen[str]] = []

    def variables(self, **others: str) -> dict[str, str]:
        around = {
            "HOME": str(self.home),
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "QT_QPA_PLATFORM": "offscreen",
            "SHELL": "/bin/sh",
        }
        return {**around, "XDG_RUNTIME_DIR": str(self.runtime), "PYTHONPATH": str(Path(__file__).parents[2]), **others}

    def __call__(self, *arguments: str, then: str = "pass", **others: str) -> subprocess.Popen[str]:
        code = _WINDOW.replace("{then}", then.strip())
        command = [sys.executable, "-c", code, *arguments]
        one = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=self.variables(**others))
        self._all.append(one)
        return one

    def ready(self, *arguments: str, then: str = "pass", **others: str) -> subprocess.Popen[str]:
        one = self(*arguments, then=then, **others)
        assert line(one) == "ready"
        return one

    def end(self) -> None:
        for one in self._all:
            one.kill()
            one.communicate()


def line(one: subprocess.Popen[str]) -> str:
    assert one.stdout is not None
    return one.stdout.readline().strip()


@pytest.fixture
def windows(home: Path) -> Iterator[Windows]:
    made = Windows(home)
    yield made
    made.end()


def _kept(home: Path) -> Mapping[str, str]:
    found = json.loads((home / ".config/gpuassist/window.json").read_text())
    assert isinstance(found, dict)
    return found


def _second(windows: Windows, *arguments: str, **others: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gpuassist", *arguments]
    return subprocess.run(command, env=windows.variables(**others), capture_output=True, text=True, timeout=60)


def test_a_second_start_shows_the_first_which_ends_in_order_with_all_its_children(windows: Windows) -> None:
    first = windows.ready(then=_CHILD)
    second = _second(windows, "monitor", "--window", XDG_ACTIVATION_TOKEN="token-7")
    assert second.returncode == 0
    assert line(first) == "shown live token-7"
    sockets = [one for one in windows.runtime.iterdir() if one.is_socket()]
    assert [stat.S_IMODE(one.stat().st_mode) for one in sockets] == [0o600]
    first.send_signal(signal.SIGTERM)
    first.wait(60)
    assert first.returncode == 0
    assert not [one for one in windows.runtime.iterdir() if one.is_socket()]
    assert _kept(windows.home)["place"] == "live"
    assert not [pid for pid in os.listdir("/proc") if pid.isdecimal() and _MARK.encode() in _words(pid)]


def _words(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
