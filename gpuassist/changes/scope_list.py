"""The scopes of this machine: what there is to choose for, what is chosen there, and which programs see it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gpuassist.changes.scope_find import Scope, environments, kernels, name_of, scope_at
from gpuassist.changes.scope_notes import strangers_prefix
from gpuassist.changes.scope_plan import held_in
from gpuassist.changes.scopes import envrc
from gpuassist.changes.scopes.kinds import PROGRAMS, SEEN, TITLES, Kind
from gpuassist.changes.scopes.values import ScopeValues
from gpuassist.changes.shell_files import shell_files
from gpuassist.changes.target import examine
from gpuassist.context import Session
from gpuassist.model.codec import Json
from gpuassist.model.environment import Manager
from gpuassist.model.text import Text
from gpuassist.model.words import Words
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.world import World


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
    held = envrc.read(main.block.lines) if main.block is not None else ScopeValues()
    return ListedScope(Kind.SHELL, Kind.SHELL.value, (main.path,), held, main.obstacle)
