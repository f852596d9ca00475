"""The scopes of this machine: found by the words that name one, listed, the files of each, and what is chosen there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from msgspec import Struct

from gpuassist.changes.scopes import conda, jupyter, venv
from gpuassist.changes.scopes.block_files import DESKTOP_FILE, desktop_lines, dotenv_lines, envrc_lines, read_envrc
from gpuassist.changes.scopes.kinds import PROGRAMS, SEEN, TITLES, Kind
from gpuassist.changes.scopes.values import ScopeValues, read_settings
from gpuassist.changes.shell_files import shell_files
from gpuassist.changes.target import FileTarget, examine
from gpuassist.changes.wishes import WishError
from gpuassist.context import Session
from gpuassist.detect import prefixes
from gpuassist.detect.kernelspecs import KernelSpec, kernelspecs
from gpuassist.detect.prefixes import Prefix
from gpuassist.model.codec import Json
from gpuassist.model.environment import Manager
from gpuassist.model.fact import value_or
from gpuassist.model.text import Text, listed, text
from gpuassist.model.words import Words
from gpuassist.shellfiles.block import RepairError, find
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
    return value_or(prefixes.scan(world), ())


def kernels(world: World) -> tuple[KernelSpec, ...]:
    """The kernels that Jupyter finds in this user's directories, in the environments and in the system's."""
    return kernelspecs(world, (prefix.path for prefix in environments(world)))


def name_of(world: World, prefix: Prefix) -> str:
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
        yield ScopeFile(f"{place}/.envrc", "bash", envrc_lines, read_envrc)
    elif kind is Kind.DOTENV:
        yield ScopeFile(f"{place}/.env", "env", dotenv_lines)
    elif kind is Kind.DESKTOP:
        yield ScopeFile(f"{place}/{DESKTOP_FILE}", "environment", desktop_lines)


def _conda(world: World, rest: str) -> str:
    if _is_path(rest):
        place = _absolute(world, rest)
        if not world.files.is_directory(f"{place}/conda-meta"):
            raise RepairError(text("{place} is no conda environment: it holds no conda-meta", place=place))
        return place
    found = [one for one in environments(world) if one.manager is Manager.CONDA]
    fitting = [one.path for one in found if name_of(world, one) == rest]
    if len(fitting) > 1:
        raise RepairError(text("several conda environments are called {name}: {paths}", name=rest, paths=listed(fitting)))
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
            text("several kernels are called {name}; please name one by its file: {paths}", name=rest, paths=listed(fitting))
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


def strangers_prefix(world: World, scope: Scope) -> Text | None:
    """Why nothing may be changed in an environment: it is another user's."""
    if scope.kind not in {Kind.CONDA, Kind.VENV}:
        return None
    try:
        owner = world.files.status(scope.place).st_uid
    except OSError:
        return None
    if owner == world.surroundings.uid:
        return None
    return text(
        "the environment {place} belongs to another user (uid {owner}; you are uid {uid}), and what is written in it is run by "
        "everyone who activates it",
        place=scope.place,
        owner=owner,
        uid=world.surroundings.uid,
    )


def held_in(world: World, scope: Scope) -> ScopeValues:
    """What our lines choose there now; raises `RepairError` for a file that cannot be read as what it is."""
    target = examine(world, scope.place if scope.kind is Kind.JUPYTER else scope.files[0].path)
    if target.obstacle is not None and not target.content:
        raise RepairError(target.obstacle)
    return jupyter.held(target.content) if scope.kind is Kind.JUPYTER else held_by(target, scope)


def held_by(target: FileTarget, scope: Scope) -> ScopeValues:
    try:
        block = find(target.content)
    except RepairError as error:
        raise RepairError(text("{path} cannot be changed: {reason}", path=target.path, reason=error.reason)) from error
    return scope.files[0].read(block.lines) if block is not None else ScopeValues()


class ListedScope(Struct, frozen=True):
    """A scope with its files, what gpuassist's lines choose there, and why it may not be changed (none where it may)."""

    kind: Kind
    words: str
    files: tuple[str, ...]
    held: ScopeValues
    obstacle: Text | None = None


def list_scopes(session: Session, project: str) -> tuple[ListedScope, ...]:
    """The shell's, the environments', the project's in this directory, the kernels', and the desktop's."""
    world = session.world
    return (_shell(world), *(_listed(world, scope) for scope in _scopes(world, project)))


def scopes_json(scopes: tuple[ListedScope, ...], words: Words) -> Json:
    """The list for programs, and which programs see what is chosen in each kind."""
    return {
        "schema": 1,
        "scopes": [
            {
                "scope": one.words,
                "kind": one.kind.value,
                "files": list(one.files),
                "toolkit": one.held.toolkit or None,
                "devices": list(one.held.devices) or None,
                "changeable": one.obstacle is None,
                "why_not": words(one.obstacle) if one.obstacle is not None else None,
            }
            for one in scopes
        ],
        "kinds": [
            {
                "kind": kind.value,
                "title": words(TITLES[kind]),
                "seen_by": [
                    {
                        "program": program.value,
                        "name": words(PROGRAMS[program]),
                        "sees": sight.sees.value,
                        "when": words(sight.when) if sight.when is not None else None,
                    }
                    for program, sight in SEEN[kind].items()
                ],
            }
            for kind in Kind
        ],
    }


def _scopes(world: World, project: str) -> Iterator[Scope]:
    found = environments(world)
    names = [name_of(world, one) for one in found if one.manager is Manager.CONDA]
    for one in found:
        if one.manager is Manager.CONDA:
            name = name_of(world, one)
            yield scope_at(world, Kind.CONDA, one.path, f"conda:{name if names.count(name) == 1 else one.path}")
        elif world.files.exists(f"{one.path}/bin/activate"):
            yield scope_at(world, Kind.VENV, one.path)
    if project:
        yield scope_at(world, Kind.ENVRC, project)
        yield scope_at(world, Kind.DOTENV, project)
    specs = kernels(world)
    for spec in specs:
        alone = [other.name.lower() for other in specs].count(spec.name.lower()) == 1
        yield scope_at(world, Kind.JUPYTER, spec.path, f"jupyter:{spec.name if alone else spec.path}")
    yield scope_at(world, Kind.DESKTOP, world.surroundings.home, Kind.DESKTOP.value)


def _listed(world: World, scope: Scope) -> ListedScope:
    files = tuple(file.path for file in scope.files) or (scope.place,)
    targets = (examine(world, path).obstacle for path in files)
    obstacle = strangers_prefix(world, scope) or next((one for one in targets if one is not None), None)
    try:
        return ListedScope(scope.kind, scope.words, files, held_in(world, scope), obstacle)
    except RepairError as error:
        return ListedScope(scope.kind, scope.words, files, ScopeValues(), obstacle or error.reason)


def _shell(world: World) -> ListedScope:
    try:
        main = shell_files(world).main
    except RepairError as error:
        return ListedScope(Kind.SHELL, Kind.SHELL.value, (), ScopeValues(), error.reason)
    held = read_envrc(main.block.lines) if main.block is not None else ScopeValues()
    return ListedScope(Kind.SHELL, Kind.SHELL.value, (main.path,), held, main.obstacle)
