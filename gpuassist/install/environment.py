"""Which environment a torch comes to, and how a new one is made."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.install.place import Place, step, use
from gpuassist.knowledge.change import TorchMove
from gpuassist.knowledge.commands import Commands
from gpuassist.model.plan import Proves, Run, Step, StepProof, Tool
from gpuassist.model.text import text


@dataclass(frozen=True, slots=True)
class Target:
    """An environment to install into: its prefix (empty where only its interpreter is known), and the tool that does it."""

    python: str
    tool: Tool
    prefix: str = ""

    @property
    def run(self) -> Run | None:
        """How gpuassist itself takes a step of it; not where its place depends on where the terminal stands."""
        return Run((), self.tool, self.prefix, self.python) if self.python.startswith("/") else None


def here(place: Place) -> Target:
    """The environment that is there."""
    tool = _wished(place) or (Tool.UV if place.tool == "uv" else Tool.PIP)
    return Target(place.python, tool, place.around.prefix)


def new(place: Place, move: TorchMove | None) -> Target:
    """One that is to be made beside it."""
    directory = place.around.new
    default = Tool.UV if place.tool == "uv" or (move is not None and not _python(place, move)) else Tool.PIP
    return Target(f"{directory}/bin/python", _wished(place) or default, directory)


def create(target: Target, place: Place, commands: Commands, move: TorchMove | None = None) -> Step:
    """Making it, with a Python that the build has a wheel for."""
    does = text("Make a new environment, and leave those that are there as they are")
    if move is not None and move.python is not None:
        does = text(
            "Make a new environment with Python {python}, because torch {version} has no wheel for the one that is there",
            python=str(move.python),
            version=str(move.build.newest),
        )
    absolute = target.prefix.startswith("/")
    run = Run((), target.tool, target.prefix, target.python, target.prefix) if absolute else None
    proof = StepProof(Proves.ENVIRONMENT, target.prefix) if absolute else None
    python = _python(place, move) if move is not None else place.python
    if target.tool is Tool.UV:
        version = python if python.startswith("/") else str(move.python) if move and move.python else python
        creating = use("environment-create-uv", version=version, directory=target.prefix)
    elif python:
        creating = use("environment-create", python=python, directory=target.prefix)
    else:
        creating = use("environment-create-uv-seed", version=str(move.python if move else ""), directory=target.prefix)
    return step((creating,), place, commands, (does, None), run=run, proof=proof)


def _wished(place: Place) -> Tool | None:
    """The tool that the user asked for, where it installs wheels."""
    return place.around.wished if place.around.wished in {Tool.PIP, Tool.UV} else None


def _python(place: Place, move: TorchMove | None) -> str:
    """An interpreter that is there and that the build has a wheel for; empty where none is."""
    if move is None or move.python is None:
        return place.python
    fitting = [(version, path) for version, path in place.around.pythons if version.release in move.build.pythons]
    return max(fitting, default=(None, ""))[1] if fitting else ""
