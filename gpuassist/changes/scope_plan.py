"""The plan that chooses a toolkit or GPUs for an environment, a project, a kernel or the desktop alone; changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpuassist.changes.choice import choose_loader_path, choose_toolkit, library_directory, require_executable, version_of
from gpuassist.changes.devices import choose_devices
from gpuassist.changes.line_plan import new_id, parsed
from gpuassist.changes.plan import ChangePlan, ScopeChoice
from gpuassist.changes.scope_find import Scope, find_scope
from gpuassist.changes.scope_notes import AFTERWARDS, BY_HAND, notes_on_devices, notes_on_lines, notes_on_scope, strangers_prefix
from gpuassist.changes.scopes import jupyter
from gpuassist.changes.scopes.kinds import TITLES, Kind
from gpuassist.changes.scopes.values import ScopeValues, Wanted
from gpuassist.changes.target import FileTarget, examine
from gpuassist.changes.wishes import UseCuda, UseDevices
from gpuassist.model.machine import Machine
from gpuassist.model.plan import FileEdit, Plan, Step, StepKind
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.block import RepairError, find
from gpuassist.shellfiles.diff import unified
from gpuassist.shellfiles.edit import LineChanges, write
from gpuassist.system.world import World


@dataclass(frozen=True, slots=True)
class _File:
    """A file of the scope as it is, its bytes when the plan is made, and our lines in it for writing them by hand."""

    target: FileTarget
    dialect: str
    after: bytes
    block: str


@dataclass(frozen=True, slots=True)
class _Draft:
    """What is wanted of a scope: its files, the id of the change, and what it will hold."""

    scope: Scope
    wanted: Wanted
    files: tuple[_File, ...]
    change: str
    held: ScopeValues


def plan_in_scope(world: World, machine: Machine, wish: UseCuda | UseDevices) -> ChangePlan:
    """Plans that a toolkit is used there, or that programs see some or all of the GPUs; raises `RepairError`, and `WishError` for
    words that mean nothing.
    """
    scope = find_scope(world, wish.scope)
    title = TITLES[scope.kind]
    if isinstance(wish, UseDevices):
        devices = choose_devices(machine.gpus, wish.devices)
        draft = _drafted(world, scope, Wanted(devices=devices.values))
        goal = text("Choose no GPUs any more for {scope}", scope=title)
        if devices.values:
            goal = text("Show the GPUs {devices} alone, for {scope}", devices=devices.value, scope=title)
        command = f"use devices {wish.devices.strip()} --scope {wish.scope}"
        choice = ScopeChoice(scope, draft.held, devices=devices)
        return _planned(
            world, draft, ChangePlan(wish, Plan(draft.change, goal, (), tuple(notes_on_devices(devices))), command, scope=choice)
        )
    toolkit = choose_toolkit(machine.toolkits, wish.version)
    require_executable(world.files, toolkit)
    loader = choose_loader_path(world.files, toolkit, wish.ld_library_path)
    draft = _drafted(world, scope, Wanted(toolkit.root, library_directory(world.files, toolkit) if loader.on else ""))
    goal = text("Use CUDA {version} in {root} for {scope}", version=version_of(toolkit), root=toolkit.root, scope=title)
    command = f"use cuda {wish.version.strip()} --scope {wish.scope}"
    choice = ScopeChoice(scope, draft.held, toolkit=toolkit)
    return _planned(world, draft, ChangePlan(wish, Plan(draft.change, goal, ()), command, scope=choice))


def held_in(world: World, scope: Scope) -> ScopeValues:
    """What our lines choose there now; raises `RepairError` for a file that cannot be read as what it is."""
    target = examine(world, scope.place if scope.kind is Kind.JUPYTER else scope.files[0].path)
    if target.obstacle is not None and not target.content:
        raise RepairError(target.obstacle)
    return jupyter.held(target.content) if scope.kind is Kind.JUPYTER else _held(target, scope)


def _drafted(world: World, scope: Scope, wanted: Wanted) -> _Draft:
    if scope.kind is Kind.JUPYTER:
        return _kernel(world, scope, wanted)
    targets = tuple(examine(world, file.path) for file in scope.files)
    held = wanted.over(_held(targets[0], scope))
    lines = tuple(file.lines(held) for file in scope.files)
    change = new_id(world, (*(target.content for target in targets), *(b"\n".join(one) for one in lines), scope.words.encode()))
    files = tuple(
        _File(target, file.dialect, write(target.content, one, LineChanges(), change), b"\n".join(one).decode("utf-8", "replace"))
        for target, file, one in zip(targets, scope.files, lines, strict=True)
    )
    return _Draft(scope, wanted, files, change, held)


def _kernel(world: World, scope: Scope, wanted: Wanted) -> _Draft:
    target = examine(world, scope.place)
    try:
        after = b"" if target.obstacle is not None and not target.content else jupyter.rewritten(target.content, wanted)
    except RepairError as error:
        raise RepairError(text("{path} cannot be changed: {reason}", path=scope.place, reason=error.reason)) from error
    change = new_id(world, (target.content, after, scope.place.encode("utf-8", "surrogateescape")))
    held = jupyter.held(after) if after else wanted.over(ScopeValues())
    return _Draft(scope, wanted, (_File(target, "json", after, jupyter.by_hand(wanted)),), change, held)


def _held(target: FileTarget, scope: Scope) -> ScopeValues:
    try:
        block = find(target.content)
    except RepairError as error:
        raise RepairError(text("{path} cannot be changed: {reason}", path=target.path, reason=error.reason)) from error
    return scope.files[0].read(block.lines) if block is not None else ScopeValues()


def _planned(world: World, draft: _Draft, plan: ChangePlan) -> ChangePlan:
    """The plan with its files: the steps, what else is to be known, and what forbids them."""
    scope, files = draft.scope, draft.files
    edits = tuple(
        FileEdit(file.target.path, file.target.path_written, file.target.content, file.after, file.target.exists, file.dialect)
        for file in files
        if file.target.exists or file.after
    )
    afterwards = AFTERWARDS[scope.kind](scope)
    steps = tuple(
        Step(
            StepKind.EDIT,
            text("Write it in {path}", path=edit.path) if edit.existed else text("Make {path}", path=edit.path),
            diff=unified(edit.path, edit.before, edit.after),
            edit=edit,
        )
        for edit in edits
    )
    obstacles = (strangers_prefix(world, scope), *(file.target.obstacle for file in files))
    obstacle = next((one for one in obstacles if one is not None), None)
    notes = tuple(dict.fromkeys((*plan.plan.notes, *notes_on_scope(scope, draft.wanted), *_notes(draft, edits))))
    return replace(
        plan,
        plan=replace(plan.plan, steps=(*steps, Step(StepKind.NEW_SHELL, afterwards)), notes=notes),
        block="\n\n".join(f"# {file.target.path}\n{file.block}" if len(files) > 1 else file.block for file in files),
        obstacle=parsed(world, edits)[1] if obstacle is None and edits else obstacle,
        by_hand=BY_HAND[scope.kind],
        afterwards=afterwards,
    )


def _notes(draft: _Draft, edits: tuple[FileEdit, ...]) -> Iterator[Text]:
    changed = {edit.path for edit in edits if edit.after != edit.before}
    for file in draft.files:
        yield from file.target.notes if file.target.path in changed else ()
        yield from notes_on_lines(file.target.path, file.target.content, draft.wanted)
