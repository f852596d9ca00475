"""The plan that makes an installed toolkit the one that new shells use, with everything that its page shows; changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from gpuassist.formats.startup import Dialect
from gpuassist.model.fact import Fact, Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.plan import FileEdit, Plan, Step, StepKind
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Toolkit
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
from gpuassist.repair.edit import change_lines, write
from gpuassist.repair.installed import Installed
from gpuassist.repair.line_choice import LineChoice
from gpuassist.repair.lines import ShellLine, choose, choose_exactly
from gpuassist.repair.notes import notes_on, notes_on_login, notes_on_shell, notes_on_syntax
from gpuassist.repair.sections import Sections, loader_section, quoted_for, read_sections, toolkit_section
from gpuassist.repair.syntax import Syntax
from gpuassist.session.context import Session
from gpuassist.session.line_plan import change_id, edit_of, judged, parsed, to_change
from gpuassist.session.loader_choice import choose_loader
from gpuassist.session.shell_files import ShellFile, login_file, recorded_file, shell_files
from gpuassist.system.files import Files
from gpuassist.system.world import World


@dataclass(frozen=True, slots=True)
class UseCuda:
    """What the user wishes: a CUDA version, the start-up file (empty: the login shell's own), and what becomes of which lines.

    `everywhere` looks at the user's other start-up files too, `also_login` writes the block in the login file as well where that
    does not read the other one. `lines` are the lines that do not stay; none means what is suggested, an empty tuple no line.
    `retire` says the same of the one file alone by line numbers.
    """

    version: str
    rc: str = ""
    ld_library_path: LdLibraryPath = LdLibraryPath.AUTO
    retire: tuple[int, ...] | None = None
    lines: tuple[LineChoice, ...] | None = None
    everywhere: bool = False
    also_login: bool = False


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
    written, for pasting by hand where `obstacle` says why gpuassist may not write it; `login` is the login file that does not read
    the file with the block, empty where there is none.
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
    login: str = ""

    @property
    def edit(self) -> FileEdit:
        """The edit of the file that holds the block."""
        return self.edits[0]

    @property
    def edits(self) -> tuple[FileEdit, ...]:
        """The edits of all files, the one that holds the block first."""
        return tuple(step.edit for step in self.plan.steps if step.edit is not None)

    @property
    def diff(self) -> str:
        """The unified diffs of all of them; empty where the files already say so."""
        return "".join(step.diff for step in self.plan.steps)


def plan_use_cuda(session: Session, machine: Machine, wish: UseCuda, *, recorded: bool = False) -> CudaPlan:
    """Plans it without changing anything; raises `RepairError` with what to say where there is nothing to plan.

    A recorded machine is planned for from what its recording holds of the start-up file, and can not be applied.
    """
    toolkit = choose_toolkit(machine.toolkits, wish.version)
    seen = _recorded(machine, wish) if recorded or _is_recorded(session.world, machine) else _live(session.world, wish)
    if seen.files is not None:
        require_executable(seen.files, toolkit)
    if seen.files is None:
        loader = choose_loader_path(None, toolkit, wish.ld_library_path)
    else:
        loader = choose_loader(session.world, machine, toolkit, wish.ld_library_path)
    libraries = library_directory(seen.files, toolkit) if loader.on else ""
    lines = _lines(seen, _installed(machine, toolkit, seen), wish)
    block = _block(seen.main, toolkit, libraries)
    change = change_id(session.world, seen.main, block)
    edits = _edits(seen, lines, lambda file: _block(file, toolkit, libraries), change)
    syntax, obstacle = _syntax(session.world, seen, edits)
    return CudaPlan(
        wish,
        Plan(change, _goal(toolkit), _steps(edits, toolkit, seen.main.dialect), _notes(machine, seen, lines, syntax)),
        toolkit,
        lines,
        loader,
        machine.shell.new_terminal,
        Expected(f"{toolkit.root}/bin/nvcc", toolkit.root, libraries),
        _paste(toolkit, seen.main.dialect),
        b"\n".join(block).decode("utf-8", "replace"),
        obstacle,
        seen.files is None,
        seen.login,
    )


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is planned for: the file for the block, those beside it, whose home they lie in, and the machine's files, none for a
    recorded machine. `login` is the login file that does not read the main one, `also` whether it gets the block too.
    """

    main: ShellFile
    others: tuple[ShellFile, ...]
    home: str
    files: Files | None
    login: str = ""
    also: bool = False


def _live(world: World, wish: UseCuda) -> _Seen:
    found = shell_files(world, wish.rc)
    login = login_file(found)
    others = tuple(file for file in found.others if wish.everywhere or (wish.also_login and file.path == login))
    return _Seen(found.main, others, world.surroundings.home, world.files, login, wish.also_login)


def _recorded(machine: Machine, wish: UseCuda) -> _Seen:
    main, home = recorded_file(machine, wish.rc)
    return _Seen(main, (), home, None)


def _is_recorded(world: World, machine: Machine) -> bool:
    """Whether its start-up files are not this user's: then planning by the files that are here would mix two machines."""
    files = value_or(machine.shell.startup_files, ())
    elsewhere = all(PurePosixPath(world.surroundings.home) not in PurePosixPath(file.path).parents for file in files)
    return any(isinstance(file.content, Known) for file in files) or (bool(files) and elsewhere)


def _installed(machine: Machine, chosen: Toolkit, seen: _Seen) -> Installed:
    others = tuple(toolkit for toolkit in value_or(machine.toolkits, ()) if toolkit.root != chosen.root)
    if seen.files is None:
        return Installed(chosen, others, str, seen.home)
    return Installed(chosen, others, cache(seen.files.real), seen.home, cache(seen.files.is_directory))


def _lines(seen: _Seen, installed: Installed, wish: UseCuda) -> tuple[ShellLine, ...]:
    own = judged((seen.main,), installed)
    beside = tuple(line for line in judged(seen.others, installed) if line.other)
    if wish.lines is not None:
        return choose_exactly((*own, *beside), wish.lines)
    if wish.retire is not None:
        return (*choose(own, wish.retire), *choose_exactly(beside, ()))
    return (*own, *beside)


def _block(file: ShellFile, toolkit: Toolkit, libraries: str) -> tuple[bytes, ...]:
    """The block's lines; the GPUs that it chooses stay chosen."""
    devices = read_sections(file.block.lines).devices if file.block is not None else ()
    loader = loader_section(toolkit.root, libraries, file.dialect) if libraries else ()
    return Sections(toolkit_section(toolkit.root, file.dialect), loader, devices).lines


def _edits(
    seen: _Seen, lines: tuple[ShellLine, ...], block_of: Callable[[ShellFile], tuple[bytes, ...]], change: str
) -> tuple[FileEdit, ...]:
    main = edit_of(seen.main, write(seen.main.content, block_of(seen.main), to_change(seen.main, lines), change))
    beside: list[FileEdit] = []
    for file in seen.others:
        after = change_lines(file.content, to_change(file, lines), change)
        if file.obstacle is None and (_has_toolkit(file) or (seen.also and file.path == seen.login)):
            after = write(file.content, block_of(file), to_change(file, lines), change)
        beside += [edit_of(file, after)] if after != file.content else []
    return (main, *beside)


def _has_toolkit(file: ShellFile) -> bool:
    """Whether a block of ours in it, written for another shell or for logins, would go on choosing the toolkit of before."""
    return file.block is not None and bool(read_sections(file.block.lines).toolkit)


def _syntax(world: World, seen: _Seen, edits: tuple[FileEdit, ...]) -> tuple[Syntax | None, Text | None]:
    if seen.files is None or seen.main.obstacle is not None:
        return None, seen.main.obstacle
    return parsed(world, edits)


def _notes(machine: Machine, seen: _Seen, lines: tuple[ShellLine, ...], syntax: Syntax | None) -> tuple[Text, ...]:
    main = seen.main
    changed = {line.file for line in lines if line.ticked or line.rewritten}
    notes = (
        *main.target.notes,
        *notes_on(main.content, main.reading, lines, main.path),
        *notes_on_shell(value_or(machine.shell.login_shell, ""), main.path, main.dialect.value),
        *(notes_on_syntax(syntax) if syntax else ()),
        *notes_on_login(seen.login, main.path, also=seen.also),
        *(note for file in seen.others if file.path in changed for note in file.target.notes),
    )
    return tuple(dict.fromkeys(notes))  # of HOME every file says the same


def _goal(toolkit: Toolkit) -> Text:
    return text("Make CUDA {version} in {root} the toolkit that new shells use", version=version_of(toolkit), root=toolkit.root)


def _steps(edits: tuple[FileEdit, ...], toolkit: Toolkit, dialect: Dialect) -> tuple[Step, ...]:
    nvcc = f"{toolkit.root}/bin/nvcc"
    first, *others = edits
    block = text("Write the lines for CUDA {version} at the end of {path}", version=version_of(toolkit), path=first.path)
    found = text("a new terminal finds {nvcc}", nvcc=nvcc)
    terminal = Step(
        StepKind.NEW_SHELL,
        text("Open a new terminal: those that are open keep what they have. For one of them, paste the line below into it."),
        commands=_paste(toolkit, dialect),
        check=text("`command -v nvcc` prints {nvcc}", nvcc=nvcc),
    )
    beside = (
        _step(edit, text("Change the lines of {path} that lead to another toolkit", path=edit.path), found) for edit in others
    )
    return (_step(first, block, found), *beside, terminal)


def _step(edit: FileEdit, words: Text, found: Text) -> Step:
    return Step(StepKind.EDIT, words, diff=unified(edit.path, edit.before, edit.after), check=found, edit=edit)


def _paste(toolkit: Toolkit, dialect: Dialect) -> tuple[str, ...]:
    root = quoted_for(toolkit.root, dialect).decode("utf-8", "replace")
    if dialect is Dialect.FISH:
        return (f"set -gx CUDA_HOME {root}; and set -gx PATH $CUDA_HOME/bin $PATH",)
    return (f'export CUDA_HOME={root} && export PATH="$CUDA_HOME/bin:$PATH"',)
