"""A home with two toolkits, in which one is chosen with real shells: planned, carried out, and asked again without code of ours."""

from __future__ import annotations

import os
import pty
import subprocess
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from gpuassist.changes.carry_out import carry_out
from gpuassist.changes.plan import ChangeOutcome, ChangePlan
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.changes.wishes import LdLibraryPath, UseCuda
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Shell
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.system.terminal import ask_terminal
from gpuassist.system.world import World
from tests.changes.homes import make_toolkit, world_at

VERSIONS = {"11.7": "11.7.99", "12.4": "12.4.131"}


def world_of_two(home: Path, shell: str = "/bin/bash") -> World:
    """The user of a home with CUDA 11.7 and 12.4."""
    for version, full in VERSIONS.items():
        if not (home / f"cuda-{version}").exists():
            make_toolkit(home / f"cuda-{version}", full)
    world = world_at(home)
    return replace(world, surroundings=replace(world.surroundings, login_shell=shell))


def planned(world: World, version: str = "12.4", *, libraries: LdLibraryPath = LdLibraryPath.AUTO) -> ChangePlan:
    """The plan for a version, by what a real new terminal holds."""
    home = world.surroundings.home
    toolkits = tuple(Toolkit(f"{home}/cuda-{one}", version=Known(Version.parse(full), "x")) for one, full in VERSIONS.items())
    shell = Shell(login_shell=Known(world.surroundings.login_shell, "x"), new_terminal=ask_terminal(world))
    machine = Machine(toolkits=Known(toolkits, "x"), environments=Known((), "x"), shell=shell)
    return plan_use_cuda(world, machine, UseCuda(version, ld_library_path=libraries))


def used(world: World, version: str = "12.4") -> ChangeOutcome:
    """What came of choosing a version."""
    return carry_out(world, planned(world, version))


def holds(outcome: ChangeOutcome) -> bool:
    """Whether it is proved; fails where that is not known."""
    assert outcome.proof is not None
    assert isinstance(outcome.proof.holds, Known), ENGLISH(outcome.proof.words)
    return outcome.proof.holds.value


def answers(home: Path, *command: str, ask: str = "command -v nvcc") -> str:
    """What a shell of this home says, without a terminal."""
    given = {"HOME": str(home), "PATH": "/usr/bin:/bin", "TERM": "dumb"}
    done = subprocess.run([*command, "-c", f"{ask}; :"], capture_output=True, timeout=100, env=given, start_new_session=True)
    return done.stdout.decode().strip()


def typed(home: Path, ask: str) -> str:
    """What is read on a terminal where this is typed into a new interactive bash, up to its end."""
    child, terminal = pty.fork()
    if child == 0:
        os.execve("/bin/bash", ["bash", "-i"], {"HOME": str(home), "PATH": "/usr/bin:/bin", "TERM": "xterm-256color"})
    os.write(terminal, f" {ask}; exit\n".encode())
    said = b""
    with suppress(OSError):  # the terminal is gone with the last process on it
        while read := os.read(terminal, 4096):
            said += read
    os.close(terminal)
    os.waitpid(child, 0)
    return said.decode("utf-8", "replace")
