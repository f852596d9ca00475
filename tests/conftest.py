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
from hypothesis import settings

from tests.nvml_fixture import fake_nvml, fake_nvml_libraries, load_nvml, on_a_gpu

__all__ = ["fake_nvml", "fake_nvml_libraries", "load_nvml", "on_a_gpu"]  # fixtures for every test

PACKAGES = {
    "zsh": "zsh",
    "fish": "fish",
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

# A quarter of the usual examples keeps 280 properties within two minutes; a busy machine is no fault of what is tested.
settings.register_profile("suite", settings(), max_examples=25, deadline=None)
settings.load_profile("suite")


def pytest_configure() -> None:
    # A shell that starts us in the background has Ctrl-C ignored, which programs that tests interrupt would inherit.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    os.environ["PYQTGRAPH_QT_LIB"] = "PySide6"


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


@pytest.fixture(autouse=True)
def home(homes: Iterator[Path], untouched: list[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home directory of the test's own: no test can touch the real one."""
    directory = untouched.pop() if untouched else next(homes)
    directory.mkdir(mode=0o700, exist_ok=True)
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "LD_LIBRARY_PATH", "CUDA_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(directory))
    monkeypatch.setenv("LANG", "C.UTF-8")
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
        thread.join(2)
    assert not [thread.name for thread in left if thread.is_alive()]


def _is_untouched(directory: Path) -> bool:
    try:
        return stat.S_IMODE(directory.lstat().st_mode) == 0o700 and not any(directory.iterdir())
    except OSError:
        return False


def _shared(thread: threading.Thread) -> bool:
    return thread.name.startswith(("pytest", "Dummy"))
