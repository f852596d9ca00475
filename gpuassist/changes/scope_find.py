"""A scope that the user names, found on this machine: what it is, and which files hold what is chosen for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from msgspec import Struct

from gpuassist.changes.choice import WishError
from gpuassist.changes.scopes import conda, desktop, dotenv, envrc, venv
from gpuassist.changes.scopes.kinds import Kind
from gpuassist.changes.scopes.values import ScopeValues, read_settings
from gpuassist.detect import prefixes
from gpuassist.detect.kernelspecs import KernelSpec, kernelspecs
from gpuassist.detect.prefixes import Prefix
from gpuassist.model.environment import Manager
from gpuassist.model.fact import value_or
from gpuassist.model.text import text
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.terminal import usable_shell
from gpuassist.system.world import World

_NAMED = frozenset((Kind.CONDA, Kind.VENV, Kind.ENVRC, Kind.DOTENV, Kind.JUPYTER))
KERNEL_JSON = "kernel.json"


class ScopeFile(Struct, frozen=True):
    """A file of a scope, the syntax it has, the lines of our block in it for what is held, and what such lines hold."""

    path: str
    dialect: str
    lines: Callable[[ScopeValues], tuple[bytes, ...]]
    read: Callable[[tuple[bytes, ...]], ScopeValues] = read_settings


class Scope(Struct, frozen=True):
    """A scope as it was found: `words` name it on the command line, `place` is its directory, prefix or kernel.json.

    `files` hold a block each, the first of them says what is held; a kernel has none, because its file is changed as JSON.
    """

    kind: Kind
    words: str
    place: str
    files: tuple[ScopeFile, ...] = ()


def find_scope(world: World, words: str) -> Scope:
    """The scope of these words; raises `WishError` for words that name none, `RepairError` where it is not on this machine."""
    name, colon, rest = words.partition(":")
    kind = next((one for one in Kind if one.value == name), None)
    if kind is None or bool(rest) is not (kind in _NAMED) or (colon and not rest):
        raise WishError(
            text(
                "{words} names no scope; shell, conda:NAME, conda:PREFIX, venv:PREFIX, envrc:DIR, dotenv:DIR, jupyter:KERNEL and "
                "desktop do",
                words=words or "''",
            )
        )
    finders = {Kind.CONDA: _conda, Kind.VENV: _venv, Kind.ENVRC: _project, Kind.DOTENV: _project, Kind.JUPYTER: _jupyter}
    place = finders[kind](world, rest) if kind in finders else world.surroundings.home
    return scope_at(world, kind, place, words)


def scope_at(world: World, kind: Kind, place: str, words: str = "") -> Scope:
    """The scope of a kind at its place, with the files that it has there."""
    return Scope(kind, words or f"{kind.value}:{place}", place, tuple(_files(world, kind, place)))


def environments(world: World) -> tuple[Prefix, ...]:
    """The environments of this user and the system's own."""
    return value_or(prefixes.scan(world), ())


def kernels(world: World) -> tuple[KernelSpec, ...]:
    """The kernels that Jupyter finds in this user's directories, in the environments and in the system's."""
    return kernelspecs(world, (prefix.path for prefix in environments(world)))


def name_of(world: World, prefix: Prefix) -> str:
    """What conda calls the environment."""
    return "base" if world.files.is_directory(f"{prefix.path}/condabin") else PurePosixPath(prefix.path).name


def _files(world: World, kind: Kind, place: str) -> Iterator[ScopeFile]:
    fish = PurePosixPath(usable_shell(world)).name == "fish"
    if kind is Kind.CONDA:
        yield ScopeFile(f"{place}/{conda.ACTIVATE}.sh", "bash", lambda held: conda.activate_lines(place, held))
        yield ScopeFile(f"{place}/{conda.DEACTIVATE}.sh", "bash", lambda held: conda.deactivate_lines(place, held))
        if fish or world.files.exists(f"{place}/{conda.ACTIVATE}.fish"):
            yield ScopeFile(f"{place}/{conda.ACTIVATE}.fish", "fish", lambda held: conda.activate_fish(place, held))
            yield ScopeFile(f"{place}/{conda.DEACTIVATE}.fish", "fish", lambda held: conda.deactivate_fish(place, held))
    elif kind is Kind.VENV:
        yield ScopeFile(f"{place}/bin/activate", "bash", venv.activate_lines)
        if world.files.exists(f"{place}/bin/activate.fish"):
            yield ScopeFile(f"{place}/bin/activate.fish", "fish", venv.activate_fish)
    elif kind is Kind.ENVRC:
        yield ScopeFile(f"{place}/.envrc", "bash", envrc.lines, envrc.read)
    elif kind is Kind.DOTENV:
        yield ScopeFile(f"{place}/.env", "env", dotenv.lines)
    elif kind is Kind.DESKTOP:
        yield ScopeFile(f"{place}/{desktop.PLACE}", "environment", desktop.lines)


def _conda(world: World, rest: str) -> str:
    if _is_path(rest):
        place = _absolute(world, rest)
        if not world.files.is_directory(f"{place}/conda-meta"):
            raise RepairError(text("{place} is no conda environment: it holds no conda-meta", place=place))
        return place
    found = [one for one in environments(world) if one.manager is Manager.CONDA]
    fitting = [one.path for one in found if name_of(world, one) == rest]
    if len(fitting) > 1:
        raise RepairError(text("several conda environments are called {name}: {paths}", name=rest, paths=", ".join(fitting)))
    if not fitting:
        known = ", ".join(name_of(world, one) for one in found)
        raise RepairError(text("there is no conda environment {name}. Found: {known}", name=rest, known=known or "–"))
    return fitting[0]


def _venv(world: World, rest: str) -> str:
    place = _absolute(world, rest)
    if not world.files.exists(f"{place}/bin/activate"):
        raise RepairError(text("{place} is no virtual environment: it holds no bin/activate", place=place))
    if world.files.is_directory(f"{place}/conda-meta"):  # conda puts a script of that name in its base environment
        raise RepairError(text("{place} is a conda environment: conda:{place} names it", place=place))
    return place


def _project(world: World, rest: str) -> str:
    place = _absolute(world, rest)
    if not world.files.is_directory(place):
        raise RepairError(text("{place} is not a directory", place=place))
    return place


def _jupyter(world: World, rest: str) -> str:
    if _is_path(rest):
        place = _absolute(world, rest)
        place = place if PurePosixPath(place).name == KERNEL_JSON else f"{place}/{KERNEL_JSON}"
        if not world.files.exists(place):
            raise RepairError(text("{place} does not exist", place=place))
        return place
    found = kernels(world)
    fitting = [one.path for one in found if one.name.lower() == rest.lower()]
    if len(fitting) > 1:
        raise RepairError(
            text("several kernels are called {name}; please name one by its file: {paths}", name=rest, paths=", ".join(fitting))
        )
    if not fitting:
        known = ", ".join(one.name for one in found)
        raise RepairError(text("Jupyter has no kernel {name}. Found: {known}", name=rest, known=known or "–"))
    return fitting[0]


def _is_path(rest: str) -> bool:
    return "/" in rest or rest.startswith(("~", "."))


def _absolute(world: World, rest: str) -> str:
    home = world.surroundings.home
    if rest == "~" or rest.startswith("~/"):
        rest = home + rest[1:]
    return os.path.abspath(rest)
