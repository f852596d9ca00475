"""A home with a toolkit, an environment and a directory that is not there, where every wish is planned and carried out."""

from __future__ import annotations

from pathlib import Path

from gpuassist.changes.wishes import ChangeWish, CleanShell, UseCuda, UseDevices
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.shell import Shell
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Version
from gpuassist.system.terminal import ask_terminal
from gpuassist.system.world import World
from tests.changes.homes import make_toolkit, world_at

MISSING = "/not/there/cuda-9.0/bin"


def furnished(home: Path) -> World:
    """The home furnished, and the world of its user."""
    make_toolkit(home / "cuda-12.4", "12.4.131")
    (home / "envs" / "train" / "conda-meta").mkdir(parents=True)
    (home / ".bashrc").write_text(f"export PATH={MISSING}:$PATH\n")
    (home / ".profile").write_text('. "$HOME/.bashrc"\n')
    return world_at(home)


def machine_of(world: World) -> Machine:
    """As much of the machine as wishes are planned by; a real new terminal is asked."""
    gpus = tuple(Gpu(name=Known("RTX 4090", "x"), index=Known(index, "x")) for index in (0, 1))
    toolkit = Toolkit(f"{world.surroundings.home}/cuda-12.4", version=Known(Version.parse("12.4.131"), "x"))
    return Machine(
        "2026",
        gpus=Known(gpus, "x"),
        toolkits=Known((toolkit,), "x"),
        environments=Known((), "x"),
        shell=Shell(new_terminal=ask_terminal(world)),
    )


def wish(kind: type[ChangeWish], home: Path, scope: str = "shell") -> ChangeWish:
    """CUDA 12.4, the second GPU, or what is suggested for cleaning; for new shells or the environment."""
    where = scope if scope == "shell" else f"{scope}:{home}/envs/train"
    if kind is CleanShell:
        return CleanShell()
    return UseCuda("12.4", scope=where) if kind is UseCuda else UseDevices("1", scope=where)
