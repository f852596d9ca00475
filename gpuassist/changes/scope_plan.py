"""The plan that chooses a toolkit or GPUs for an environment, a project, a kernel or the desktop alone; changes nothing."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.changes.choice import (
    LdLibraryPath,
    choose_loader_path,
    choose_toolkit,
    library_directory,
    require_executable,
    version_of,
)
from gpuassist.changes.devices import choose_devices
from gpuassist.changes.line_plan import new_id, parsed
from gpuassist.changes.plan import Aim, ChangePlan, ScopeChoice
from gpuassist.changes.scope_find import Scope, find_scope
from gpuassist.changes.scope_notes import AFTERWARDS, BY_HAND, notes_on_devices, notes_on_lines, notes_on_scope, strangers_prefix
from gpuassist.changes.scopes import jupyter
from gpuassist.changes.scopes.kinds import TITLES, Kind
from gpuassist.changes.scopes.values import ScopeValues, Wanted
from gpuassist.changes.target import FileTarget, examine
from gpuassist.model.machine import Machine
from gpuassist.model.plan import FileEdit, Plan, Step, StepKind
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.block import RepairError, find
from gpuassist.shellfiles.diff import unified
from gpuassist.shellfiles.edit import LineChanges, write
from gpuassist.system.world import World


class _File(Struct, frozen=True):
    """A file of the scope as it is, its bytes when the plan is made, and our lines in it for writing them by hand."""

    target: FileTarget
    dialect: str
    after: bytes
    block: str


class _Found(Struct, frozen=True):
    """The files of a scope, the id of the change, and what it will hold."""

    files: tuple[_File, ...]
    change: str
    held: ScopeValues


class _Told(Struct, frozen=True):
    """What the plan is for, what the history calls it, and what is said of the choice itself."""

    goal: Text
    command: str
    notes: tuple[Text, ...] = ()


def plan_cuda_in(
    world: World, machine: Machine, version: str, *, scope: str, ld_library_path: LdLibraryPath = LdLibraryPath.AUTO
) -> ChangePlan:
    """Plans that an installed toolkit is used there; raises `RepairError`, and `WishError` for words that mean nothing."""
    found = find_scope(world, scope)
    toolkit = choose_toolkit(machine.toolkits, version)
    files = world.files
    require_executable(files, toolkit)
    loader = choose_loader_path(files, toolkit, ld_library_path)
    wanted = Wanted(toolkit.root, library_directory(files, toolkit) if loader.on else "")
    told = _Told(
        text("Use CUDA {version} in {root} for {scope}", version=version_of(toolkit), root=toolkit.root, scope=TITLES[found.kind]),
        f"use cuda {version.strip()} --scope {scope}",
    )
    plan, held = _planned(world, found, wanted, told)
    return replace(plan, aim=Aim.TOOLKIT, scope=ScopeChoice(found, held, toolkit=toolkit))


def plan_devices_in(world: World, machine: Machine, words: str, *, scope: str) -> ChangePlan:
    """Plans that programs see some of the GPUs alone there, or all of them again; raises as `plan_cuda_in` does."""
    found = find_scope(world, scope)
    devices = choose_devices(machine.gpus, words)
    value = ",".join(devices.values)
    if value:
        devices_goal = text("Show the GPUs {devices} alone, for {scope}", devices=value, scope=TITLES[found.kind])
    else:
        devices_goal = text("Choose no GPUs any more for {scope}", scope=TITLES[found.kind])
    told = _Told(devices_goal, f"use devices {words.strip()} --scope {scope}", tuple(notes_on_devices(devices)))
    plan, held = _planned(world, found, Wanted(devices=devices.values), told)
    return replace(plan, scope=ScopeChoice(found, held, devices=devices))


def held_in(world: World, scope: Scope) -> ScopeValues:
    """What our lines choose there now; raises `RepairError` for a file that cannot be read as what it is."""
    if scope.kind is Kind.JUPYTER:
        return jupyter.held(_known(examine(world, scope.place)).content)
    return _held(_known(examine(world, scope.files[0].path)), scope)


def _planned(world: World, scope: Scope, wanted: Wanted, told: _Told) -> tuple[ChangePlan, ScopeValues]:
    found = _kernel(world, scope, wanted) if scope.kind is Kind.JUPYTER else _blocks(world, scope, wanted)
    edits = tuple(_edit(file) for file in found.files if file.target.exists or file.after)
    afterwards = AFTERWARDS[scope.kind](scope)
    steps = (*(_step(edit) for edit in edits), Step(StepKind.NEW_SHELL, afterwards))
    obstacles = (strangers_prefix(world, scope), *(file.target.obstacle for file in found.files))
    obstacle = next((one for one in obstacles if one is not None), None)
    plan = ChangePlan(
        Aim.DEVICES,
        Plan(
            found.change,
            told.goal,
            steps,
            tuple(dict.fromkeys((*told.notes, *notes_on_scope(scope, wanted), *_notes(found.files, edits, wanted)))),
        ),
        told.command,
        block=_by_hand(found.files),
        obstacle=parsed(world, edits)[1] if obstacle is None and edits else obstacle,
        by_hand=BY_HAND[scope.kind],
        afterwards=afterwards,
    )
    return plan, found.held


def _notes(files: tuple[_File, ...], edits: tuple[FileEdit, ...], wanted: Wanted) -> Iterator[Text]:
    changed = {edit.path for edit in edits if edit.after != edit.before}
    for file in files:
        yield from file.target.notes if file.target.path in changed else ()
        yield from notes_on_lines(file.target.path, file.target.content, wanted)


def _by_hand(files: tuple[_File, ...]) -> str:
    return "\n\n".join(f"# {file.target.path}\n{file.block}" if len(files) > 1 else file.block for file in files)


def _blocks(world: World, scope: Scope, wanted: Wanted) -> _Found:
    targets = tuple(examine(world, file.path) for file in scope.files)
    held = wanted.over(_held(targets[0], scope))
    lines = tuple(file.lines(held) for file in scope.files)
    change = new_id(world, (*(target.content for target in targets), *(b"\n".join(one) for one in lines), scope.words.encode()))
    files = (
        _File(target, file.dialect, write(target.content, one, LineChanges(), change), b"\n".join(one).decode("utf-8", "replace"))
        for target, file, one in zip(targets, scope.files, lines, strict=True)
    )
    return _Found(tuple(files), change, held)


def _kernel(world: World, scope: Scope, wanted: Wanted) -> _Found:
    target = examine(world, scope.place)
    try:
        after = b"" if target.obstacle is not None and not target.content else jupyter.rewritten(target.content, wanted)
    except RepairError as error:
        raise RepairError(text("{path} cannot be changed: {reason}", path=scope.place, reason=error.reason)) from error
    change = new_id(world, (target.content, after, scope.place.encode("utf-8", "surrogateescape")))
    held = jupyter.held(after) if after else wanted.over(ScopeValues())
    return _Found((_File(target, "json", after, jupyter.by_hand(wanted)),), change, held)


def _known(target: FileTarget) -> FileTarget:
    if target.obstacle is not None and not target.content:
        raise RepairError(target.obstacle)
    return target


def _held(target: FileTarget, scope: Scope) -> ScopeValues:
    try:
        block = find(target.content)
    except RepairError as error:
        raise RepairError(text("{path} cannot be changed: {reason}", path=target.path, reason=error.reason)) from error
    return scope.files[0].read(block.lines) if block is not None else ScopeValues()


def _edit(file: _File) -> FileEdit:
    target = file.target
    return FileEdit(target.path, target.path_written, target.content, file.after, target.exists, file.dialect)


def _step(edit: FileEdit) -> Step:
    words = text("Write it in {path}", path=edit.path) if edit.existed else text("Make {path}", path=edit.path)
    return Step(StepKind.EDIT, words, diff=unified(edit.path, edit.before, edit.after), edit=edit)
