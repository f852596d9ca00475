"""The plan that chooses a toolkit or GPUs for an environment, a project, a kernel or the desktop alone; changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.changes.choice import Devices, choose_devices, choose_toolkit, require_executable, version_of
from gpuassist.changes.library_path import choose_loader_path, library_directory
from gpuassist.changes.line_plan import new_id, parsed, step_of
from gpuassist.changes.plan import ChangePlan, ScopeChoice
from gpuassist.changes.scope_find import Scope, find_scope, held_by, strangers_prefix
from gpuassist.changes.scopes import jupyter
from gpuassist.changes.scopes.kinds import TITLES, Kind
from gpuassist.changes.scopes.values import ScopeValues, Wanted
from gpuassist.changes.target import FileTarget, examine
from gpuassist.changes.wishes import UseCuda, UseDevices
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Plan, Step, StepKind
from gpuassist.model.text import Text, counted, text
from gpuassist.shellfiles.block import RepairError, find
from gpuassist.shellfiles.edit import LineChanges, write
from gpuassist.system.world import World


class _File(Struct, frozen=True):
    """A file of the scope as it is, its bytes when the plan is made, and our lines in it for writing them by hand."""

    target: FileTarget
    dialect: str
    after: bytes
    block: str


class _Draft(Struct, frozen=True):
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
            goal = counted(
                "Show the GPU {devices} alone, for {scope}",
                "Show the GPUs {devices} alone, for {scope}",
                len(devices.values),
                devices=devices.value,
                scope=title,
            )
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


def _drafted(world: World, scope: Scope, wanted: Wanted) -> _Draft:
    if scope.kind is Kind.JUPYTER:
        return _kernel(world, scope, wanted)
    targets = tuple(examine(world, file.path) for file in scope.files)
    held = wanted.over(held_by(targets[0], scope))
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


def _planned(world: World, draft: _Draft, plan: ChangePlan) -> ChangePlan:
    """The plan with its files: the steps, what else is to be known, and what forbids them."""
    scope, files = draft.scope, draft.files
    edits = tuple(file.target.edit(file.after, file.dialect) for file in files if file.target.exists or file.after)
    afterwards = AFTERWARDS[scope.kind](scope)
    steps = (
        step_of(edit, text("Write it in {path}", path=edit.path) if edit.existed else text("Make {path}", path=edit.path))
        for edit in edits
    )
    obstacles = (strangers_prefix(world, scope), *(file.target.obstacle for file in files))
    obstacle = next((one for one in obstacles if one is not None), None)
    changed = {edit.path for edit in edits if edit.after != edit.before}
    notes = [*plan.plan.notes, *notes_on_scope(scope, draft.wanted)]
    for file in files:
        notes += file.target.notes if file.target.path in changed else ()
        notes += notes_on_lines(file.target.path, file.target.content, draft.wanted)
    return replace(
        plan,
        plan=replace(plan.plan, steps=(*steps, Step(StepKind.NEW_SHELL, afterwards)), notes=tuple(dict.fromkeys(notes))),
        block="\n\n".join(f"# {file.target.path}\n{file.block}" if len(files) > 1 else file.block for file in files),
        obstacle=parsed(world, edits)[1] if obstacle is None and edits else obstacle,
        by_hand=BY_HAND[scope.kind],
        afterwards=afterwards,
    )


_SETS = lazy_regex(rb"^[ \t]*(?:export[ \t]+|set[ \t]+-gx[ \t]+)?(CUDA_HOME|CUDA_VISIBLE_DEVICES|CUDA_DEVICE_ORDER)[= \t]")

BY_HAND: Mapping[Kind, Text] = {
    Kind.SHELL: text("Put these lines at the end of one of your start-up files by hand:"),
    Kind.CONDA: text("These are the files, for somebody who may change the environment:"),
    Kind.VENV: text("These are the lines for the end of the scripts, for whoever may change the environment:"),
    Kind.ENVRC: text("These are the lines, to put at the end of .envrc by hand:"),
    Kind.DOTENV: text("These are the lines, to put at the end of .env by hand:"),
    Kind.JUPYTER: text("This is what `env` in kernel.json should hold, for whoever may change it:"),
    Kind.DESKTOP: text("These are the lines for a file in ~/.config/environment.d:"),
}

AFTERWARDS: Mapping[Kind, Callable[[Scope], Text]] = {
    Kind.SHELL: lambda scope: text("Open a new terminal."),
    Kind.CONDA: lambda scope: text(
        "Where the environment is active now, leave it and enter it again: `conda deactivate`, then `conda activate {name}`.",
        name=scope.words.partition(":")[2],
    ),
    Kind.VENV: lambda scope: text(
        "Where the environment is active now, leave it and enter it again: `deactivate`, then `source {place}/bin/activate`.",
        place=scope.place,
    ),
    Kind.ENVRC: lambda scope: text(
        "direnv does not read a changed file until you allow it: `direnv allow {place}`. gpuassist does not do that for you.",
        place=scope.place,
    ),
    Kind.DOTENV: lambda scope: text("Programs that read {path} find it when they are started anew.", path=f"{scope.place}/.env"),
    Kind.JUPYTER: lambda scope: text(
        "Where the kernel runs, shut it down and start it: a mere restart keeps what the file said before."
    ),
    Kind.DESKTOP: lambda scope: text("Log out and in again: systemd reads the file when your session starts."),
}


def notes_on_scope(scope: Scope, wanted: Wanted) -> Iterator[Text]:
    """What the scope cannot do, as far as it matters for what is wanted."""
    name = PurePosixPath(scope.place).name
    if scope.kind is Kind.CONDA and wanted.toolkit:
        yield text(
            "`conda activate OTHER` straight from {name} keeps the toolkit's directory on PATH there, unless gpuassist's hook is "
            "in OTHER too: conda writes PATH as it was before the hook took it out. Back in {name} that is put right.",
            name=name,
        )
    if scope.kind is Kind.VENV:
        yield text(
            "`deactivate` puts everything back in bash, zsh and fish. Activating another environment without it keeps all but PATH "
            "in bash and zsh, unless gpuassist's lines are in that one too; other shells keep it after `deactivate` as well."
        )
        yield text("making the environment anew (`python -m venv`, `uv venv`) writes its scripts anew, without these lines")
    if scope.kind is Kind.DOTENV and wanted.toolkit:
        yield text(
            "a .env cannot put a directory in front of PATH, because not every program that reads it knows $PATH: it says "
            "CUDA_HOME, and nvcc is still the one that PATH finds"
        )
        if wanted.libraries:
            yield text("LD_LIBRARY_PATH is a list like PATH: it is not written in a .env")
    if scope.kind is Kind.JUPYTER and wanted.toolkit:
        yield text(
            "{expression} in kernel.json stands for what the Jupyter server has; an IDE that starts kernels itself may not know it",
            expression="${PATH}",
        )


def notes_on_devices(devices: Devices) -> Iterator[Text]:
    if devices.values:
        if devices.hidden:
            yield text("programs find no other GPU there: {hidden} is hidden from them", hidden="; ".join(devices.hidden))
        yield from devices.notes


def notes_on_lines(path: str, content: bytes, wanted: Wanted) -> Iterator[Text]:
    """The user's own lines that set the same variables."""
    watched = {b"CUDA_HOME": wanted.toolkit, b"CUDA_VISIBLE_DEVICES": wanted.devices, b"CUDA_DEVICE_ORDER": wanted.devices}
    try:
        block = find(content)
    except RepairError:
        return
    place = 0
    for number, line in enumerate(content.split(b"\n"), 1):
        found = _SETS.match(line)
        ours = block is not None and block.first_byte <= place < block.end_byte
        if found is not None and not ours and watched[found[1]] is not None:
            yield text(
                "line {line} of {file} sets {name} too; what gpuassist writes stands below it and wins where the last one counts",
                line=number,
                file=path,
                name=found[1].decode(),
            )
        place += len(line) + 1
