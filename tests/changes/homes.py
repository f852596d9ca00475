"""A home directory on the real disk with real programs, and disks that fail or lose power at a chosen step."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from gpuassist.changes import use_toolkit
from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.wishes import UseCuda
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import FileEdit, Outcome, Result
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.system.disk import Disk
from gpuassist.system.files import Files
from gpuassist.system.processes import Processes
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import RealProcesses, World
from tests.fakes import FixedClock

NVCC = """#!/bin/sh
case "$*" in *kernel.cu) printf '#!/bin/sh\\necho 42\\n' > kernel; chmod +x kernel; exit ;; esac
[ "$1" = --version ] || exit 1
cat <<EOF
nvcc: NVIDIA (R) Cuda compiler driver
Cuda compilation tools, release {release}, V{version}
EOF
"""


class TickingClock(FixedClock):
    """A clock that is a second later each time it is asked."""

    def now(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


def world_at(home: Path, *, disk: Disk | None = None, processes: Processes | None = None, uid: int = -1) -> World:
    """The real machine for a user whose home is `home`."""
    around = Surroundings(
        str(home), "you", os.geteuid() if uid < 0 else uid, {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}, str(home), "/bin/bash"
    )
    return World(around, Files(), processes or RealProcesses(), TickingClock(), Resources(), disk or Disk())


def make_toolkit(root: Path, version: str) -> Path:
    """A toolkit with an nvcc that says its version, and for a kernel makes a program that prints what the kernel would."""
    (root / "bin").mkdir(parents=True)
    (root / "lib64").mkdir()
    (root / "include").mkdir()
    nvcc = root / "bin" / "nvcc"
    nvcc.write_text(NVCC.format(release=".".join(version.split(".")[:2]), version=version))
    nvcc.chmod(0o755)
    return root


def made(world: World, plan: ChangePlan) -> Outcome:
    """What is planned, written without the proof, which starts shells."""
    if plan.obstacle is not None:
        return Outcome(Result.REFUSED, plan.obstacle)
    if not plan.diff:
        return Outcome(Result.UNCHANGED, plan.plan.goal)
    return apply(world, FileChange(plan.plan.id, plan.command, plan.edits)).outcome


def choose(world: World, *versions: str) -> None:
    """Makes one toolkit after the other and chooses it, without the proof, and without any shell asked."""
    toolkits: tuple[Toolkit, ...] = ()
    for version in versions:
        root = make_toolkit(Path(world.surroundings.home, f"cuda-{version[:4]}"), version)
        toolkits += (Toolkit(str(root), version=Known(Version.parse(version), "made")),)
        machine = Machine(toolkits=Known(toolkits, "made"), environments=Known((), "made"))
        with patch.object(use_toolkit, "ask_ways", lambda _, openings: {}):
            plan = use_toolkit.plan_use_cuda(world, machine, UseCuda(version[:4]))
        assert made(world, plan).result is Result.MODIFIED


def change_of(path: Path, after: bytes, change: str = "20261121-090000-abcdef") -> FileChange:
    """An edit of a file as it is now."""
    return FileChange(change, "use cuda 12.4", (edit_of(path, after),))


def edit_of(path: Path, after: bytes, *, dialect: str = "bash", mode: int | None = None) -> FileEdit:
    """An edit of a file as it is now."""
    existed = path.exists()
    before = path.read_bytes() if existed else b""
    return FileEdit(str(path), os.path.realpath(path), before, after, existed, dialect, mode)


class PowerCut(BaseException):
    """The machine is gone: nothing after it happens, not even cleaning up."""


def no_space(path: str) -> OSError:
    """What the kernel says when a disk is full."""
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)


STEPS = (
    "create",
    "write",
    "flush",
    "copy_attributes",
    "set_mode",
    "replace",
    "place_new",
    "remove",
    "make_directory",
    "add_directory",
    "remove_directory",
)


@dataclass
class FaultyDisk(Disk):
    """The real disk until its step number `fails_at`, counted from 1; 0 never fails.

    `failure` makes what is raised there; with `half` a failing write leaves half of its bytes, and `after` lets the step happen
    before it fails. Once the power is cut every later step is lost too.
    """

    fails_at: int = 0
    failure: Callable[[str], BaseException] = no_space
    half: bool = False
    after: bool = False
    only: str = ""
    steps: list[str] = field(default_factory=list)
    dead: bool = False

    def create(self, path: str, mode: int = 0o600) -> None:
        self._step("create", path, lambda: super(FaultyDisk, self).create(path, mode))

    def write(self, path: str, content: bytes) -> None:
        if self.half and self._next_fails("write"):
            super().write(path, content[: len(content) // 2])
        self._step("write", path, lambda: super(FaultyDisk, self).write(path, content))

    def flush(self, path: str) -> None:
        self._step("flush", path, lambda: super(FaultyDisk, self).flush(path))

    def copy_attributes(self, source: str, path: str) -> None:
        self._step("copy_attributes", path, lambda: super(FaultyDisk, self).copy_attributes(source, path))

    def set_mode(self, path: str, mode: int) -> None:
        self._step("set_mode", path, lambda: super(FaultyDisk, self).set_mode(path, mode))

    def replace(self, path: str, target: str) -> None:
        self._step("replace", path, lambda: super(FaultyDisk, self).replace(path, target))

    def place_new(self, path: str, target: str) -> None:
        self._step("place_new", path, lambda: super(FaultyDisk, self).place_new(path, target))

    def remove(self, path: str) -> None:
        self._step("remove", path, lambda: super(FaultyDisk, self).remove(path))

    def make_directory(self, path: str) -> None:
        self._step("make_directory", path, lambda: super(FaultyDisk, self).make_directory(path))

    def add_directory(self, path: str, mode: int) -> None:
        self._step("add_directory", path, lambda: super(FaultyDisk, self).add_directory(path, mode))

    def remove_directory(self, path: str) -> bool:
        gone: list[bool] = []
        self._step("remove_directory", path, lambda: gone.append(super(FaultyDisk, self).remove_directory(path)))
        return gone[0]

    def _next_fails(self, name: str) -> bool:
        return len(self.steps) + 1 == self.fails_at or (bool(self.only) and name == self.only)

    def _step(self, name: str, path: str, act: Callable[[], None]) -> None:
        if self.dead:
            raise PowerCut(name)
        fails = self._next_fails(name)
        self.steps.append(f"{name} {path}")
        if fails and not self.after:
            self._fail(path)
        act()
        if fails:
            self._fail(path)

    def _fail(self, path: str) -> None:
        failure = self.failure(path)
        self.dead = isinstance(failure, PowerCut)
        raise failure
