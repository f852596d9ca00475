"""The plan that makes an installed toolkit the one that new shells use, with everything that its page shows; changes nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from gpuassist.formats.shell import Place, Reading, read
from gpuassist.model.fact import Fact, Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.plan import FileEdit, Plan, Step, StepKind
from gpuassist.model.shell import StartupFile, Terminal
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Toolkit
from gpuassist.repair.block import cuda_lines, find, quoted
from gpuassist.repair.choice import (
    LdLibraryPath,
    LoaderChoice,
    choose_loader_path,
    choose_toolkit,
    library_directory,
    require_executable,
    version_of,
)
from gpuassist.repair.diff import unified
from gpuassist.repair.edit import Lines, write
from gpuassist.repair.journal import Journal, digest
from gpuassist.repair.lines import Installed, ShellLine, choose, judge
from gpuassist.repair.notes import notes_on, notes_on_shell, notes_on_syntax
from gpuassist.repair.syntax import Syntax, breaks, check
from gpuassist.repair.target import Target, examine
from gpuassist.session.context import Session
from gpuassist.system.files import Files
from gpuassist.system.world import World


@dataclass(frozen=True, slots=True)
class UseCuda:
    """What the user wishes: a CUDA version, the start-up file (empty: .bashrc in HOME), and which lines to retire.

    `retire` holds line numbers; none means the lines that are ticked by themselves, an empty tuple no line at all.
    """

    version: str
    rc: str = ""
    ld_library_path: LdLibraryPath = LdLibraryPath.AUTO
    retire: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Expected:
    """What a new terminal should hold once the plan is applied."""

    nvcc: str
    cuda_home: str
    ld_library_path: str


@dataclass(frozen=True, slots=True)
class CudaPlan:
    """The plan with all that its page shows.

    `now` is what a new terminal holds before, `paste` are lines for a terminal that is already open, `block` is what would be
    written, for pasting by hand where `obstacle` says why gpuassist may not write it.
    """

    wish: UseCuda
    plan: Plan
    toolkit: Toolkit
    lines: tuple[ShellLine, ...]
    loader: LoaderChoice
    now: Fact[Terminal]
    expected: Expected
    paste: tuple[str, ...]
    block: str
    obstacle: Text | None = None
    recorded: bool = False

    @property
    def edit(self) -> FileEdit:
        """The edit of the start-up file."""
        return next(step.edit for step in self.plan.steps if step.edit is not None)

    @property
    def diff(self) -> str:
        """Its unified diff; empty where the file already says so."""
        return next(step.diff for step in self.plan.steps if step.kind is StepKind.EDIT)


def plan_use_cuda(session: Session, machine: Machine, wish: UseCuda, *, recorded: bool = False) -> CudaPlan:
    """Plans it without changing anything; raises `RepairError` with what to say where there is nothing to plan.

    A recorded machine is planned for from what its recording holds of the start-up file, and can not be applied.
    """
    toolkit = choose_toolkit(machine.toolkits, wish.version)
    seen = _recorded(machine, wish) if recorded or _is_recorded(session.world, machine) else _live(session.world, wish)
    if seen.files is not None:
        require_executable(seen.files, toolkit)
    loader = choose_loader_path(seen.files, toolkit, wish.ld_library_path)
    block = cuda_lines(toolkit.root, library_directory(seen.files, toolkit) if loader.on else "")
    reading = read(seen.target.content, {"HOME": seen.home})
    lines = choose(judge(reading, _installed(machine, toolkit, seen.files), find(seen.target.content)), wish.retire)
    change = _change_id(session.world, seen.target, block)
    after = write(seen.target.content, block, _retired(reading, lines), change)
    before_syntax, obstacle = _syntax(session.world, seen, after)
    notes = (
        *seen.target.notes,
        *notes_on(seen.target.content, reading, lines),
        *notes_on_shell(value_or(machine.shell.login_shell, ""), seen.target.path),
        *(notes_on_syntax(before_syntax) if before_syntax else ()),
    )
    return CudaPlan(
        wish,
        Plan(change, _goal(toolkit), _steps(seen.target, after, toolkit), notes),
        toolkit,
        lines,
        loader,
        machine.shell.new_terminal,
        Expected(f"{toolkit.root}/bin/nvcc", toolkit.root, library_directory(seen.files, toolkit) if loader.on else ""),
        _paste(toolkit),
        b"\n".join(block).decode("utf-8", "replace"),
        obstacle,
        seen.files is None,
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is planned for: the start-up file, whose home it lies in, and the machine's files, none for a recorded machine."""

    target: Target
    home: str
    files: Files | None


def _live(world: World, wish: UseCuda) -> _Seen:
    home = world.surroundings.home
    return _Seen(examine(world, wish.rc or f"{home}/.bashrc"), home, world.files)


def _recorded(machine: Machine, wish: UseCuda) -> _Seen:
    path = wish.rc or next((file.path for file in _startup_files(machine) if file.path.endswith("/.bashrc")), "~/.bashrc")
    home = str(PurePosixPath(path).parent)
    file = next((file for file in _startup_files(machine) if file.path == path), StartupFile(path, exists=False))
    if isinstance(file.content, Known):
        content = file.content.value.encode("utf-8", "surrogateescape")
        return _Seen(Target(path, path, content, exists=True), home, None)
    note = text("the recording does not hold the text of {path}: the preview shows only what would be added", path=path)
    return _Seen(Target(path, path, exists=file.exists, notes=(note,)), home, None)


def _is_recorded(world: World, machine: Machine) -> bool:
    """Whether its start-up files are not this user's: then planning by the files that are here would mix two machines."""
    files = _startup_files(machine)
    elsewhere = all(PurePosixPath(world.surroundings.home) not in PurePosixPath(file.path).parents for file in files)
    return any(isinstance(file.content, Known) for file in files) or (bool(files) and elsewhere)


def _startup_files(machine: Machine) -> tuple[StartupFile, ...]:
    return value_or(machine.shell.startup_files, ())


def _installed(machine: Machine, chosen: Toolkit, files: Files | None) -> Installed:
    others = tuple(toolkit for toolkit in value_or(machine.toolkits, ()) if toolkit.root != chosen.root)
    return Installed(chosen, others, files.real if files else str)


def _retired(reading: Reading, lines: tuple[ShellLine, ...]) -> tuple[Lines, ...]:
    ticked = {line.line for line in lines if line.ticked}
    return tuple(
        Lines(statement.first_byte, statement.end_byte, nested=statement.place not in {Place.TOP, Place.CONDITION})
        for statement in reading.statements
        if statement.line in ticked and not statement.shared
    )


def _change_id(world: World, target: Target, block: tuple[bytes, ...]) -> str:
    seed = digest(b"\0".join((target.content, *block, target.path.encode("utf-8", "surrogateescape"))))
    return Journal.of(world).unused(f"{world.clock.now():%Y%m%d-%H%M%S}-{seed[:6]}")


def _syntax(world: World, seen: _Seen, after: bytes) -> tuple[Syntax | None, Text | None]:
    """What bash says of the file as it is, and what forbids writing it."""
    if seen.files is None or seen.target.obstacle is not None:
        return None, seen.target.obstacle
    before = check(world, seen.target.content)
    planned = check(world, after)
    if breaks(before, planned):
        return before, text("bash could not parse the result ({words}), so it is not written; untick lines", words=planned.words)
    return before, None


def _goal(toolkit: Toolkit) -> Text:
    return text("Make CUDA {version} in {root} the toolkit that new shells use", version=version_of(toolkit), root=toolkit.root)


def _steps(target: Target, after: bytes, toolkit: Toolkit) -> tuple[Step, ...]:
    nvcc = f"{toolkit.root}/bin/nvcc"
    edit = Step(
        StepKind.EDIT,
        text("Write the lines for CUDA {version} at the end of {path}", version=version_of(toolkit), path=target.path),
        diff=unified(target.path, target.content, after),
        check=text("a new terminal finds {nvcc}", nvcc=nvcc),
        edit=FileEdit(target.path, target.path_written, target.content, after, target.exists),
    )
    terminal = Step(
        StepKind.NEW_SHELL,
        text("Open a new terminal: those that are open keep what they have. For one of them, paste the line below into it."),
        commands=_paste(toolkit),
        check=text("`command -v nvcc` prints {nvcc}", nvcc=nvcc),
    )
    return edit, terminal


def _paste(toolkit: Toolkit) -> tuple[str, ...]:
    root = quoted(toolkit.root).decode("utf-8", "replace")
    return (f'export CUDA_HOME={root} && export PATH="$CUDA_HOME/bin:$PATH"',)
