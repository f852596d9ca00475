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
    "g++": "g++",
    "Xvfb": "xvfb",
    "dbus-daemon": "dbus-daemon",
    "shellcheck": "shellcheck",
    "promtool": "prometheus",
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


# Where nobody may write beside the sources (PYTHONDONTWRITEBYTECODE), every process of a run would compile the tests anew: half of
# what it takes to collect them.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode = False
    sys.pycache_prefix = str(Path(__file__).parent.parent / ".cache" / "bytecode")


@pytest.hookimpl(optionalhook=True)  # without pytest-xdist nobody asks
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: a quarter of a run is waiting (4:40 with three on two, 5:06 with two)."""
    return len(os.sched_getaffinity(0)) + 1


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


class _Homes:
    """Directories that nobody has used. pytest's own way to make one looks at all that it ever made: minutes for 30,000 tests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = count()
        self._untouched: list[Path] = []

    def take(self) -> Path:
        """The home of the last test where that left it empty, else a new one."""
        directory = self._untouched.pop() if self._untouched else self._folder / str(next(self._numbers))
        directory.mkdir(mode=0o700, exist_ok=True)
        return directory

    def give_back(self, directory: Path) -> None:
        """For the next test, where it is as it was."""
        if _is_untouched(directory):
            self._untouched.append(directory)


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> _Homes:
    """Where the tests' homes are from."""
    return _Homes(tmp_path_factory.mktemp("homes"))


# One fixture for all that every test is held to: each further one is a tenth of what most tests cost.
@pytest.fixture(autouse=True)
def home(homes: _Homes, caplog: pytest.LogCaptureFixture) -> Iterator[Path]:
    """A home directory of the test's own: no test can touch the real one. And nothing else may be left of a test: another working
    directory, which a later one would read relative paths from, a thread, or a WARNING in the log that it did not clear.
    """
    outside, directory, threads = os.environ.get("HOME"), homes.take(), set(threading.enumerate())
    working_directory = os.getcwd()
    os.environ["HOME"] = str(directory)
    try:
        yield directory
    finally:
        moved = _moved_from(working_directory)
        if outside is None:
            del os.environ["HOME"]
        else:
            os.environ["HOME"] = outside
        homes.give_back(directory)
    loud = [record.getMessage() for record in caplog.get_records("call") if record.levelno >= logging.WARNING]
    running = _left_running(threads)
    assert not moved, f"left in {moved}"
    assert not loud, f"unexpected log: {loud}"
    assert not running, f"threads left: {running}"


def _moved_from(working_directory: str) -> str:
    """Where the test has left the process, which is taken back; empty where it is where it was."""
    try:
        now = os.getcwd()
    except FileNotFoundError:
        now = "a directory that is gone"
    if now == working_directory:
        return ""
    os.chdir(working_directory)
    return now


def _left_running(before: set[threading.Thread]) -> list[str]:
    left = [thread for thread in threading.enumerate() if thread not in before and thread.is_alive() and not _shared(thread)]
    for thread in left:
        thread.join(_PATIENCE_SECONDS)
    return [thread.name for thread in left if thread.is_alive()]


def _is_untouched(directory: Path) -> bool:
    try:
        return stat.S_IMODE(directory.lstat().st_mode) == 0o700 and not any(directory.iterdir())
    except OSError:
        return False


def _shared(thread: threading.Thread) -> bool:
    return thread.name.startswith(("pytest", "Dummy"))
