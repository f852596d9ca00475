"""Ctrl-C while gpuassist still imports its own modules, and as it leaves: 130 and not a word, whatever the command and the moment.

The signal is a real one. It comes at the nth call of a function since the program began, so a moment is the same on every machine.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpuassist.cli.main import COMMANDS
from tests.e2e.command import SECONDS, environment

# What Python imports before all else: it counts calls from the first one of `main` in `__main__.py`.
HOOK = """
import os, sys
at, number, counted = int(os.environ["SIGNAL_AT_CALL"]), int(os.environ["SIGNAL_NUMBER"]), 0

def count(frame, event, argument):
    global counted
    code = frame.f_code
    if counted or (code.co_name == "main" and code.co_filename.endswith("gpuassist/__main__.py")):
        counted += 1
        if counted == at:
            sys.setprofile(None)
            os.kill(os.getpid(), number)

sys.setprofile(count)
"""
MODULE = ("-m", "gpuassist")
SCRIPT = ("-c", "import sys; from gpuassist.__main__ import main; sys.exit(main())")  # as the installed command does
ARGUMENTS = {"explain": ("--topic",), "know": ("gpu", "RTX 4090"), "plan": ("driver",), "use": ("--scopes",), "undo": ("--list",)}
ALL = (*COMMANDS, "--help")


def run(
    home: Path, start: tuple[str, ...], *arguments: str, at: int, number: int = signal.SIGINT, **variables: str
) -> tuple[int, bytes]:
    """How it ended, and what it said of that."""
    (home / "hook").mkdir(exist_ok=True)
    (home / "hook" / "sitecustomize.py").write_text(HOOK)
    root = Path(__file__).parents[2]
    given = {"PYTHONPATH": f"{home}/hook:{root}", "SIGNAL_AT_CALL": str(at), "SIGNAL_NUMBER": str(int(number)), **variables}
    done = subprocess.run(
        [sys.executable, *start, *arguments],
        capture_output=True,
        timeout=SECONDS,
        env=environment(home, given),
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("at", [200, 12_000])
@pytest.mark.parametrize("command", ALL)
def test_it_ends_without_a_word(home: Path, command: str, at: int) -> None:
    assert run(home, MODULE, command, *ARGUMENTS.get(command, ()), at=at) == (130, b"")


@pytest.mark.parametrize("at", [2, 20, 2000, 40_000])
def test_so_does_the_installed_command(home: Path, at: int) -> None:
    assert run(home, SCRIPT, "doctor", at=at) == (130, b"")


@pytest.mark.parametrize("at", [30_000, 60_000, 90_000])
def test_so_does_the_window(home: Path, at: int) -> None:
    status, said = run(home, MODULE, at=at, QT_QPA_PLATFORM="offscreen")
    assert (status, b"Traceback" in said) == (130, False)


@pytest.mark.parametrize("at", [200, 12_000])
def test_a_shutdown_is_as_quiet(home: Path, at: int) -> None:
    assert run(home, MODULE, "doctor", at=at, number=signal.SIGTERM) == (-signal.SIGTERM, b"")


def test_where_it_is_ignored_it_stays_ignored(home: Path) -> None:
    ignoring = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); os.execv(sys.executable, sys.argv[1:])"
    start = ("-c", ignoring, sys.executable, *MODULE)
    status, said = run(home, start, "know", "gpu", "RTX 4090", at=2000)
    assert (status, said) == (0, b"")
