"""What every test gets: a home of its own, no display, no leftover threads, and system programs named where they are missing."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import stat
import sys
import threading
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.isolation import isolate, use_known_fonts
from tests.nvml_fixture import fake_nvml, fake_nvml_libraries, load_nvml, on_a_gpu
from tests.skips import hold_to_the_list

__all__ = ["fake_nvml", "fake_nvml_libraries", "load_nvml", "on_a_gpu"]  # fixtures for every test

PACKAGES = {
    "zsh": "zsh",
    "fish": "fish",
    "tmux": "tmux",
    "less": "less",
    "ssh-agent": "openssh-client",
    "ssh-add": "openssh-client",
    "ssh-keygen": "openssh-client",
    "ssh": "openssh-client",
    "gcc": "gcc",
    "Xvfb": "xvfb",
    "shellcheck": "shellcheck",
    "nvcc": "a CUDA toolkit",
    "strace": "strace",
    "uv": "uv, with pip",
    "desktop-file-validate": "desktop-file-utils",
}


# What is installed beside this Python (uv) counts too, though nobody put its directory on PATH.
_PROGRAMS = os.pathsep.join((os.environ.get("PATH", os.defpath), os.path.dirname(sys.executable)))

_PATIENCE_SECONDS = 30  # for a thread that has been told to end, on a busy machine

# A quarter of the usual examples keeps 280 properties within two minutes; a busy machine is no fault of what is tested.
settings.register_profile("suite", max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    _hear_every_signal()
    if not hasattr(config, "workerinput"):  # a worker of pytest-xdist inherits what the first process made of it
        isolate(os.environ)
        use_known_fonts(config)
    hold_to_the_list(config)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["PYQTGRAPH_QT_LIB"] = "PySide6"


def _hear_every_signal() -> None:
    """A shell that starts us in the background has Ctrl-C ignored, nohup a closed terminal, which programs of tests inherit."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        for program in marker.args:
            if shutil.which(program, path=_PROGRAMS) is None:
                pytest.skip(f"NOT RUN: needs {program}, install the package {PACKAGES.get(program, program)}")


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Directories that nobody has used. pytest's own way to make one looks at all that it ever made: minutes for 30,000 tests."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


@pytest.fixture(scope="session")
def untouched() -> list[Path]:
    """The home of the last test, where that left it empty: the next one takes it."""
    return []


@pytest.fixture
def same_directory() -> Iterator[None]:
    """A test that leaves the process in another directory fails, and not a later one that reads by a relative path."""
    before = os.getcwd()
    yield
    try:
        after = os.getcwd()
    except FileNotFoundError:
        after = ""
    if after != before:
        os.chdir(before)
    assert after == before


@pytest.fixture(autouse=True)
def home(homes: Iterator[Path], untouched: list[Path], same_directory: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home directory of the test's own: no test can touch the real one."""
    directory = untouched.pop() if untouched else next(homes)
    directory.mkdir(mode=0o700, exist_ok=True)
    monkeypatch.setenv("HOME", str(directory))
    yield directory
    if _is_untouched(directory):
        untouched.append(directory)


@pytest.fixture(autouse=True)
def no_unexpected_warnings(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A WARNING in the log fails the test unless it asked for the log itself and cleared it."""
    yield
    loud = [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
    assert not loud, f"unexpected log: {loud}"


@pytest.fixture(autouse=True)
def no_leftover_threads() -> Iterator[None]:
    """A thread that outlives its test fails it."""
    before = set(threading.enumerate())
    yield
    left = [thread for thread in threading.enumerate() if thread not in before and thread.is_alive() and not _shared(thread)]
    for thread in left:
        thread.join(_PATIENCE_SECONDS)
    assert not [thread.name for thread in left if thread.is_alive()]


def _is_untouched(directory: Path) -> bool:
    try:
        return stat.S_IMODE(directory.lstat().st_mode) == 0o700 and not any(directory.iterdir())
    except OSError:
        return False


def _shared(thread: threading.Thread) -> bool:
    return thread.name.startswith(("pytest", "Dummy"))
