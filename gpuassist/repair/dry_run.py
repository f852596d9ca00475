"""What the programs of a step do to an environment, and the same programs made to look only."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from pathlib import PurePosixPath

from gpuassist.formats.installed import normalised
from gpuassist.model.plan import Tool

_PYTHON = re.compile(r"python[\d.]*t?")
_CONDAS = frozenset({"conda", "mamba", "micromamba"})
_CONDA_ACTS = frozenset({"create", "install", "update", "upgrade", "remove", "uninstall"})
_PIP_LOOKS = ("--dry-run", "--report")
_UV_LOOKS = ("--dry-run", "--color", "never", "--no-progress")
_CONDA_LOOKS = ("--dry-run", "--json")


class Does(str, Enum):
    """What a program does to an environment."""

    INSTALLS = "installs"
    REMOVES = "removes"
    CREATES = "creates"  # an empty one
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Act:
    """A program of a step, understood: `head` is what starts its tool, `words` what comes after the tool's own subcommand."""

    does: Does
    tool: Tool | None = None
    head: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The packages that it names, without options."""
        return tuple(normalised(word) for word in self.words if not word.startswith("-"))


def read_act(program: tuple[str, ...]) -> Act:
    """What a program does."""
    name, rest = PurePosixPath(program[0]).name if program else "", program[1:]
    if _PYTHON.fullmatch(name) and rest[:2] == ("-m", "venv"):
        return Act(Does.CREATES, Tool.PIP, program[:3], program[3:])
    if _PYTHON.fullmatch(name) and rest[:2] == ("-m", "pip"):
        return _of(Tool.PIP, program, 3)
    if re.fullmatch(r"pip[\d.]*", name):
        return _of(Tool.PIP, program, 1)
    if name == "uv" and rest[:1] == ("pip",):
        return _of(Tool.UV, program, 2)
    if name == "uv" and rest[:1] == ("venv",):
        return Act(Does.CREATES, Tool.UV, program[:2], program[2:])
    if name in _CONDAS and rest[:1] and rest[0] in _CONDA_ACTS:
        return Act(Does.INSTALLS, Tool.CONDA, program[:2], program[2:])
    return Act(Does.OTHER)


def looking(act: Act, report: str) -> tuple[str, ...]:
    """The program that only looks; pip writes its report to that file."""
    if act.tool is Tool.PIP:
        return (*act.head, *_PIP_LOOKS, report, "--no-input", "--disable-pip-version-check", "--no-color", *act.words)
    return (*act.head, *(_UV_LOOKS if act.tool is Tool.UV else _CONDA_LOOKS), *act.words)


def _of(tool: Tool, program: tuple[str, ...], place: int) -> Act:
    does = {"install": Does.INSTALLS, "uninstall": Does.REMOVES}.get(program[place] if len(program) > place else "", Does.OTHER)
    return Act(does, tool, program[: place + 1], program[place + 1 :])
