"""The live table on a real terminal, and the screen that is printed."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from gpuassist.cli import monitor
from gpuassist.monitor import remote
from gpuassist.present.marks import Exit
from gpuassist.system.process_tree import shows_colours
from tests.cli.made_session import live_session, run_live
from tests.nvml_fixture import FakeNvml
from tests.rows import for_each

Load = Callable[..., FakeNvml]
TWO = "[gpu]\nname = NVIDIA GeForce RTX 4090\nused = 900\nprocess = self c 512\n[gpu]\nname = NVIDIA A100\n"
COMMAND = (sys.executable, "-m", "gpuassist", "monitor")
ENTERED, LEFT = b"\x1b[?1049h", b"\x1b[?1049l"
PATIENCE_SECONDS = 60


class Terminal:
    """A terminal of our own with a program on it."""

    def __init__(self, ours: int, its: int, program: subprocess.Popen[bytes]) -> None:
        self._ours, self.its, self.program = ours, its, program
        self.printed = b""

    def until(self, words: bytes, since: int = 0) -> int:
        """Reads until these words come; returns where they end."""
        while (place := self.printed.find(words, since)) < 0:
            assert select.select([self._ours], [], [], PATIENCE_SECONDS)[0], self.printed[-2000:]
            self.printed += os.read(self._ours, 1 << 16)
        return place + len(words)

    def type(self, keys: bytes) -> int:
        """Types; returns how much was printed before."""
        before = len(self.printed)
        os.write(self._ours, keys)
        return before

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def end_job(self) -> None:
        """Asks what is in the foreground to end."""
        os.killpg(os.tcgetpgrp(self._ours), signal.SIGTERM)

    def ended(self) -> int:
        """Its status, once it has ended and all is read."""
        while select.select([self._ours], [], [], 0)[0] or self.program.poll() is None:
            if select.select([self._ours], [], [], 0.05)[0]:
                self.printed += os.read(self._ours, 1 << 16)
        return self.program.wait(PATIENCE_SECONDS)


@contextmanager
def on_terminal(fake_nvml: FakeNvml, scenario: str, *command: str, term: str = "xterm-256color") -> Iterator[Terminal]:
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    variables = {
        name: value for name, value in os.environ.items() if name not in {"NO_COLOR", "COLUMNS", "LINES", "LC_ALL", "LC_CTYPE"}
    }
    variables |= {**fake_nvml(scenario), "TERM": term, "LANG": "C.UTF-8"}

    def take_terminal() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    program = subprocess.Popen(
        command or COMMAND, stdin=its, stdout=its, stderr=its, env=variables, start_new_session=True, preexec_fn=take_terminal
    )
    try:
        yield Terminal(ours, its, program)
    finally:
        program.kill()
        program.wait()
        for descriptor in (ours, its):
            os.close(descriptor)


def test_it_draws_hears_keys_and_gives_the_terminal_back(fake_nvml: FakeNvml) -> None:
    with on_terminal(fake_nvml, TWO) as terminal:
        before = termios.tcgetattr(terminal.its)
        terminal.until(b"RTX 4090")
        terminal.until(b"A100")
        terminal.until(b"sampling continues", terminal.type(b"?"))
        drawn = len(terminal.printed)
        terminal.resize(140, 30)
        terminal.until(b"\x1b[30;", drawn)  # a row that was not there
        terminal.type(b"q")
        assert terminal.ended() == Exit.HEALTHY
        assert terminal.printed.count(ENTERED) == terminal.printed.count(LEFT) == 1
        assert termios.tcgetattr(terminal.its) == before


def test_it_is_stopped_goes_on_and_is_ended_by_a_signal(fake_nvml: FakeNvml) -> None:
    job = 'set -m; "$@"; echo stopped; fg >/dev/null; echo ended $?'
    with on_terminal(fake_nvml, TWO, "/bin/sh", "-c", job, "sh", *COMMAND) as terminal:
        terminal.until(b"RTX 4090")
        stopped = terminal.until(b"stopped\r\n", terminal.type(b"\x1a"))
        assert terminal.printed.count(LEFT) == 1
        terminal.until(b"RTX 4090", stopped)  # drawn anew, the whole of it
        assert terminal.printed.count(ENTERED) == 2
        terminal.end_job()
        terminal.until(b"ended 143", stopped)
        assert terminal.printed.count(LEFT) == 2
        assert b"Traceback" not in terminal.printed


def test_no_driver_is_a_sentence_and_three_and_no_screen(load_nvml: Load) -> None:
    load_nvml("fault = nvmlInit* 9\n")
    found = run_live(monitor, screen=True)
    assert (found.exit, found.out) == (Exit.UNDETERMINED, "")
    assert found.err == "NVIDIA's driver is not loaded, so there is nothing to watch\n"


def test_a_terminal_without_a_cursor_gets_one_screen_below_the_other(fake_nvml: FakeNvml) -> None:
    with on_terminal(fake_nvml, TWO, *COMMAND, "--hz", "20", term="dumb") as terminal:
        terminal.until(b"RTX 4090", terminal.until(b"RTX 4090"))
        terminal.type(b"\x03")
        assert terminal.ended() == Exit.INTERRUPTED
        assert b"\x1b" not in terminal.printed


def test_one_screen_is_printed_in_the_colours_that_are_asked_for(load_nvml: Load) -> None:
    load_nvml(TWO)
    plain = run_live(monitor, "--count", "1")
    assert plain.exit is Exit.HEALTHY
    assert "RTX 4090" in plain.out
    assert "\x1b" not in plain.out
    assert plain.out.count("RTX 4090") == 1
    coloured = run_live(monitor, "--count", "2", "--hz", "20", "--color")
    assert "\x1b[1m" in coloured.out
    assert coloured.out.count("RTX 4090") == 2
    assert "\x1b" not in run_live(monitor, "--count", "1", "--color=never", screen=True).out


def test_a_screen_is_as_wide_as_watch_says(load_nvml: Load) -> None:
    load_nvml(TWO)
    session = live_session({**os.environ, "COLUMNS": "44"})
    found = run_live(monitor, "--count", "1", session=session)
    assert max(map(len, found.out.splitlines())) <= 44


@pytest.mark.parametrize("scenario", ["fault = nvmlInit* 9\n", "fault = nvmlDevice* 0 hangs=1\n[gpu]\n", "driver = 580.95.05\n"])
def test_a_screen_of_nothing_is_a_sentence_and_three(load_nvml: Load, monkeypatch: pytest.MonkeyPatch, scenario: str) -> None:
    monkeypatch.setattr(remote, "FIRST_ANSWER_SECONDS", 0.2)
    load_nvml(scenario)
    found = run_live(monitor, "--count", "1")
    assert (found.exit, found.out, found.err.count("\n")) == (Exit.UNDETERMINED, "", 1)


@for_each(
    ("line", "expected"),
    (
        ("watch --color gpuassist monitor --count 1", True),
        ("watch -c -n 2 gpuassist", True),
        ("watch -tc -n2 gpuassist", True),
        ("watch -n 2 --col gpuassist", True),
        ("watch -ctn1 gpuassist", True),
        ("watch -n 1 gpuassist --color", False),
        ("watch gpuassist -c", False),
        ("watch -n 1 -d gpuassist", False),
        ("watch", False),
    ),
)
def test_whether_watch_shows_colours_stands_before_its_command(line: str, expected: bool) -> None:
    assert shows_colours(line.split()) is expected


def test_an_alert_stands_on_the_screen(load_nvml: Load) -> None:
    load_nvml("[gpu]\nused = 900\nmemory = 1000\n")

    def screen(alert: str) -> str:
        return " ".join(run_live(monitor, "--count", "1", "--alert", alert).out.split())  # wherever lines are broken

    assert "from 80 % on" in screen("memory 80%")
    assert "from 80 % on" not in screen("gpu1: memory 80%")
