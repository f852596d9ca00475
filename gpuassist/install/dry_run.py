"""What the programs of a step do to an environment of packages, and the same programs made to look only."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import PurePosixPath

from msgspec import Struct

from gpuassist.formats.packages import normalised
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.plan import Tool

_PYTHON = lazy_regex(r"(?:python|pypy)[\d.]*t?")
_CONDAS = frozenset({"conda", "mamba", "micromamba"})
_CONDA_ACTS = frozenset({"create", "install", "update", "upgrade", "remove", "uninstall"})
_PIP_LOOKS = ("--no-input", "--disable-pip-version-check", "--no-color", "--progress-bar", "off")
_UV_LOOKS = ("--dry-run", "--color", "never", "--no-progress")
_WITH_VALUE = frozenset({"-r", "--requirement", "--python", "-p", "--root-user-action"})


class Does(str, Enum):
    """What a program does to an environment."""

    INSTALLS = "installs"
    REMOVES = "removes"
    CREATES = "creates"  # an empty one
    OTHER = "other"


class Act(Struct, frozen=True):
    """A program of a step, understood: `head` is what starts its tool, `words` what comes after the tool's own subcommand."""

    does: Does
    tool: Tool | None = None
    head: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The packages that a removal names, without options and their values."""
        names: list[str] = []
        rest = iter(self.words)
        for word in rest:
            if word in _WITH_VALUE:
                next(rest, "")
            elif not word.startswith("-"):
                names.append(normalised(word))
        return tuple(names)

    def value(self, *options: str) -> str:
        """The value of an option; empty where it is not given."""
        pairs = zip(self.words, self.words[1:], strict=False)
        joined = (word.partition("=")[2] for word in self.words if word.partition("=")[0] in options and "=" in word)
        return next((value for option, value in pairs if option in options), next(joined, ""))


def read_act(program: tuple[str, ...]) -> Act:
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


def pip_looks(act: Act, report: str) -> tuple[str, ...]:
    """pip's program that only looks, and writes its report to that file."""
    return (*act.head, "--dry-run", "--report", report, *_PIP_LOOKS, *act.words)


def pip_looks_anew(act: Act, report: str, python: str) -> tuple[str, ...]:
    """The same for an environment that is not there yet, of the interpreter that will make it."""
    looks = ("--dry-run", "--report", report, "--ignore-installed", *_PIP_LOOKS)
    return (python, "-m", "pip", "install", *looks, *act.words)


def uv_looks(act: Act, removed: tuple[str, ...]) -> tuple[str, ...]:
    """uv's program that only looks, as if what an earlier program takes out were gone."""
    anew = (word for name in removed for word in ("--reinstall-package", name))
    return (*act.head, *_UV_LOOKS, *anew, *act.words)


def uv_looks_anew(act: Act, empty: str, python: str) -> tuple[str, ...]:
    """The same for an environment that is not there yet: `python` is an interpreter or a version, `empty` an empty directory."""
    version = ("--python-version", python) if re.fullmatch(r"[\d.]+", python) else ("--python", python)
    words = iter(act.words)
    kept = tuple(word for word in words if not (word in {"--python", "-p"} and next(words, "")))
    return ("uv", "pip", "install", *_UV_LOOKS, "--target", empty, *version, *kept)


def conda_looks(act: Act) -> tuple[str, ...]:
    """conda's program that only looks; mamba's and micromamba's, too."""
    return (*act.head, "--dry-run", "--json", *act.words)


def _of(tool: Tool, program: tuple[str, ...], place: int) -> Act:
    does = {"install": Does.INSTALLS, "uninstall": Does.REMOVES}.get(program[place] if len(program) > place else "", Does.OTHER)
    return Act(does, tool, program[: place + 1], program[place + 1 :])
