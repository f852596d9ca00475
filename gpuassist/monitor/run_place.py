"""The directory of one run: what its programs load, and what they then tell. It is gone when the run has ended."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.monitor.inside import gpuassist_memory as inside
from gpuassist.system.surroundings import Surroundings

RUN_PREFIX = "run-"
WISH, TOLD = ".wish", ".told"
"""The endings of what is asked of a program while it runs, and of what came of it: see `inside/gpuassist_wish.py`."""
PROGRAM_FILES = ("sitecustomize.py", "gpuassist_memory.py", "gpuassist_wish.py", "gpuassist_snapshot.py")
SNAPSHOTS = "GPUASSIST_SNAPSHOTS"
"""The environment variable that names the directory for torch's snapshots of its memory."""
_SOURCES = os.path.dirname(os.path.abspath(inside.__file__))


class RunPlace:
    """A private directory in the user's runtime directory, named by this very process."""

    def __init__(self, path: str) -> None:
        self.path = path

    def variables(self, variables: Mapping[str, str]) -> dict[str, str]:
        """What the command is started with: first on the path of every Python below it lies what begins to tell."""
        before = variables.get("PYTHONPATH", "")
        first = f"{self.path}/python"
        return {**variables, inside.RUN: self.path, "PYTHONPATH": f"{first}:{before}" if before else first}

    def remove(self) -> None:
        """Takes it away, unless a program that the command left behind still tells there; `Rings` does it after that one.

        Whatever has become of it meanwhile: the runtime directory is gone once its user has logged out, and programs put things
        wherever they like.
        """
        names = _names(self.path) if is_own(self.path) else []
        for name in names:
            pid, started = process_of(name.removesuffix(inside.SUFFIX))
            if started and inside.started_ticks(pid) == started:
                return
        for name in names:
            if name.endswith((inside.SUFFIX, WISH, TOLD)):
                _take_away(os.path.join(self.path, name))
        take_away_run(self.path)
        leave(os.path.dirname(self.path))


def make_run_place(around: Surroundings) -> Fact[RunPlace]:
    """Makes one; unknown where this user has no directory of his own for such things."""
    bases = inside.base_directories(around.variables, around.uid)
    for base in (bases[0], *bases):  # twice: another run that ends takes an empty one away
        if not inside.own_directory(base):
            continue
        path = f"{base}/{RUN_PREFIX}{os.getpid()}-{inside.started_ticks('self')}"
        try:
            for directory in (path, f"{path}/python"):
                os.mkdir(directory, 0o700)
            for name in PROGRAM_FILES:
                with open(os.path.join(_SOURCES, name), "rb") as source, open(f"{path}/python/{name}", "wb") as copy:
                    copy.write(source.read())
        except OSError:  # a full disk
            take_away_run(path)
            continue
        return Known(RunPlace(path), base)
    return Unknown(text("no directory of your own could be made for them, neither in XDG_RUNTIME_DIR nor in /tmp"))


def process_of(words: str) -> tuple[int, int]:
    """The process number and start that a name tells; zeros where it tells none."""
    pid, _, started = words.partition("-")
    return (int(pid), int(started)) if pid.isdecimal() and started.isdecimal() and len(words) < 64 else (0, 0)


def take_away_run(directory: str) -> None:
    """What a run laid there, and the directory where nothing else is in it; nothing that is not this user's own."""
    for folder in (f"{directory}/python/__pycache__", f"{directory}/python", directory):
        if is_own(folder):
            _empty(folder)


def is_own(directory: str) -> bool:
    """Whether it is this user's directory itself, and no link that leads to one."""
    try:
        status = os.lstat(directory)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()


def _empty(folder: str) -> None:
    for name in _names(folder):
        if name.endswith((".py", ".pyc")):
            _take_away(os.path.join(folder, name))
    leave(folder)


def leave(directory: str) -> None:
    """Takes the directory away where nobody's files are in it any more."""
    try:
        os.rmdir(directory)
    except OSError:
        pass


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _take_away(file: str) -> None:
    try:
        os.unlink(file)
    except OSError:  # a directory, or gone already
        pass
