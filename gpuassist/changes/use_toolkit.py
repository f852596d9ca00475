"""The plan that makes an installed toolkit the one that new shells use: the smallest change of the start-up files; changes nothing.

Words of the user's own lines are replaced. A block is written where, after that, nothing of the user's would put the toolkit first;
it stands where it is read: in front of an `exec`, a `return` or a `readonly PATH`, and never behind what no shell gets past.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.changes.choice import choose_toolkit, require_executable
from gpuassist.changes.library_path import LoaderChoice, choose_loader, choose_loader_path, library_directory
from gpuassist.changes.line_plan import change_id, judged
from gpuassist.changes.lines_after import LOADER, LinesAfter, place_of, set_in_block
from gpuassist.changes.notes import notes_on, notes_on_login, notes_on_shell, notes_on_syntax
from gpuassist.changes.plan import ChangePlan, Expected, ToolkitChoice
from gpuassist.changes.record import edited_block
from gpuassist.changes.shell_files import ShellFile, login_file, recorded_file, shell_files, with_traced
from gpuassist.changes.syntax import Syntax, breaks, check
from gpuassist.changes.toolkit_steps import goal_of, paste_toolkit, steps_of
from gpuassist.changes.wishes import LdLibraryPath, UseCuda
from gpuassist.detect.startup.chain import Stage
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.plan import FileEdit, Plan
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Toolkit
from gpuassist.shellfiles.block import Sections, loader_section, toolkit_section
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.edit import write
from gpuassist.shellfiles.lines import ShellLine, changes_in, choose, choose_exactly
from gpuassist.shellfiles.toolkits import InstalledToolkits, Lead
from gpuassist.system.files import Files
from gpuassist.system.shell_questions import PLAIN
from gpuassist.system.terminal import Opening, ask_ways
from gpuassist.system.world import World


class _Seen(Struct, frozen=True):
    """What is planned for: the file for the block, those beside it in the order in which they are read, whose home they lie in, and
    the machine's files, none for a recorded machine. `login` is the login file that does not read the main one, `login_now` what a
    login shell holds that reads it, `bare_now` a terminal that no login came before, and
    `asked` all that were asked.
    """

    main: ShellFile
    others: tuple[ShellFile, ...]
    home: str
    files: Files | None
    login: str = ""
    login_shell: str = ""
    login_now: Fact[Terminal] = NOT_ASKED
    bare_now: Fact[Terminal] = NOT_ASKED
    asked: tuple[Fact[Terminal], ...] = ()

    def of_session(self, file: ShellFile) -> bool:
        """Whether a shell reads it that a new terminal comes through: the login shell, or the one that it hands over to."""
        return file.dialect is self.main.dialect or file.dialect.value == PurePosixPath(self.login_shell).name

    @property
    def login_file(self) -> ShellFile | None:
        return next((one for one in self.others if one.path == self.login), None)

    @property
    def all(self) -> tuple[ShellFile, ...]:
        """Every file, in the order in which a new terminal reads them."""
        before = [file for file in self.others if not file.later]
        return (*before, self.main, *(file for file in self.others if file.later))


class _Wanted(Struct, frozen=True):
    """What new shells should hold, and what shows what they hold now."""

    toolkit: Toolkit
    loader: LoaderChoice
    libraries: str
    installed: InstalledToolkits
    now: Fact[Terminal]
    no_loader: bool = False


class _Block(Struct, frozen=True):
    """What has to stand in a block because no line of the user's says it: the toolkit with other variables, or its libraries."""

    toolkit: bool = False
    loader: bool = False
    also: tuple[tuple[str, str], ...] = ()
    home: bool = True

    def lines(self, file: ShellFile, wanted: _Wanted) -> tuple[bytes, ...]:
        """The block's lines; the GPUs that it chooses stay chosen."""
        root = wanted.toolkit.root
        toolkit = toolkit_section(root, file.dialect, self.also, home=self.home) if self.toolkit else ()
        loader = loader_section(root, wanted.libraries, file.dialect, home=self.toolkit and self.home) if self.loader else ()
        return Sections(toolkit, loader, file.sections.devices).lines


def plan_use_cuda(world: World, machine: Machine, wish: UseCuda, *, recorded: bool = False) -> ChangePlan:
    """Plans it without changing anything; raises `RepairError` with what to say where there is nothing to plan.

    A recorded machine is planned for from what its recording holds of the start-up file, and can not be changed.
    """
    toolkit = choose_toolkit(machine.toolkits, wish.version)
    if recorded or _is_recorded(world, machine):
        main_file, home = recorded_file(machine, wish.rc)
        seen = _Seen(main_file, (), home, None)
    else:
        seen = _live(world, machine, wish)
    if seen.files is not None:
        require_executable(seen.files, toolkit)
    wanted = _wanted(world, machine, seen, wish)
    lines = _lines(seen, wanted, wish)
    after = LinesAfter(seen.all, lines, wanted.installed, seen.home)
    main, login = _blocks(seen, after, wanted)
    unread = _unread_login(world, seen) if login.toolkit or login.loader else None
    login = _Block() if unread is not None else login
    libraries = wanted.libraries if main.loader or after.gives(LOADER, seen.of_session) else ""
    change = change_id(world, seen.main, main.lines(seen.main, wanted))
    draft = _Draft(seen, lines, wanted, main, login)
    edits = _edits(draft, change)
    syntax, obstacle = _obstacle(world, seen, edits, main)
    notes = (*_notes(world, machine, draft, edits), *(notes_on_syntax(syntax) if syntax else ()), *((unread,) if unread else ()))
    # What CUDA_HOME should be; empty where nothing sets it, and nothing has to.
    held = wanted.now.value.variable("CUDA_HOME") if isinstance(wanted.now, Known) else ""
    expected_home = toolkit.root if main.toolkit or after.gives("CUDA_HOME", bool) or held else ""
    by_hand = _Block(toolkit=True, loader=wanted.loader.on)
    return ChangePlan(
        wish,
        Plan(
            change,
            goal_of(toolkit),
            steps_of(edits, toolkit, seen.main.path),
            tuple(dict.fromkeys(notes)),
        ),
        f"use cuda {wish.version}",
        lines,
        b"\n".join(by_hand.lines(replace(seen.main, block=None), wanted)).decode("utf-8", "replace"),
        paste_toolkit(wanted.installed, libraries, machine.shell.new_terminal, seen.main.dialect),
        obstacle,
        now=machine.shell.new_terminal,
        recorded=seen.files is None,
        cuda=ToolkitChoice(
            wish,
            toolkit,
            wanted.loader,
            Expected(f"{toolkit.root}/bin/nvcc", expected_home, libraries),
            seen.main.dialect,
            wanted.installed.others,
            seen.login,
        ),
    )


def _live(world: World, machine: Machine, wish: UseCuda) -> _Seen:
    found = with_traced(world, shell_files(world, wish.rc, answering=_answering(machine)))
    login = login_file(found)
    scripts = any(file.stage is Stage.SCRIPT for file in found.chain)
    in_scripts = (Opening.TERMINAL_COMMAND, Opening.COMMAND) if scripts else ()
    ways = (Opening.BARE_TERMINAL, *((Opening.LOGIN,) if login else ()), *in_scripts)
    held = ask_ways(world, ways)
    asked = {opening: one.terminal for opening, one in held.items()}
    return _Seen(
        found.main,
        found.others,
        world.surroundings.home,
        world.files,
        login,
        world.surroundings.login_shell,
        asked.get(Opening.LOGIN, NOT_ASKED),
        asked.get(Opening.BARE_TERMINAL, NOT_ASKED),
        tuple(asked.values()),
    )


def _answering(machine: Machine) -> str:
    """The shell that answers in a new terminal: a bash that only hands over leads to that one's files."""
    terminal = machine.shell.new_terminal
    return terminal.value.shell if isinstance(terminal, Known) else ""


def _is_recorded(world: World, machine: Machine) -> bool:
    """Whether its start-up files are not this user's: then planning by the files that are here would mix two machines."""
    files = value_or(machine.shell.startup_files, ())
    elsewhere = all(PurePosixPath(world.surroundings.home) not in PurePosixPath(file.path).parents for file in files)
    return any(isinstance(file.content, Known) for file in files) or (bool(files) and elsewhere)


def _wanted(world: World, machine: Machine, seen: _Seen, wish: UseCuda) -> _Wanted:
    toolkit = choose_toolkit(machine.toolkits, wish.version)
    others = tuple(one for one in value_or(machine.toolkits, ()) if one.root != toolkit.root)
    if seen.files is None:
        loader = choose_loader_path(None, toolkit, wish.ld_library_path)
        installed = InstalledToolkits(toolkit, others, str, seen.home)
    else:
        loader = choose_loader(world, machine, toolkit, wish.ld_library_path)
        installed = InstalledToolkits(toolkit, others, cache(seen.files.real), seen.home, cache(seen.files.exists))
    no_loader = wish.ld_library_path is LdLibraryPath.OFF or loader.harms
    return _Wanted(toolkit, loader, library_directory(seen.files, toolkit), installed, machine.shell.new_terminal, no_loader)


def _lines(seen: _Seen, wanted: _Wanted, wish: UseCuda) -> tuple[ShellLine, ...]:
    installed = wanted.installed
    found = judged(seen.all, installed, (wanted.now, *seen.asked), wanted.loader.reason if wanted.no_loader else None)
    # What has nothing to do with any toolkit is not listed.
    lines = tuple(
        line
        for line in found
        if line.other
        or line.rewritten
        or any(installed.lead_of(str(value)) is not Lead.ELSEWHERE for does in line.does for _, value in does.parameters)
    )
    if wish.lines is not None:
        return choose_exactly(lines, wish.lines)
    if wish.retire is not None:
        own = tuple(line for line in lines if line.file == seen.main.path)
        beside = tuple(line for line in lines if line.file != seen.main.path)
        return (*choose(own, wish.retire), *choose_exactly(beside, ()))
    return lines


def _blocks(seen: _Seen, after: LinesAfter, wanted: _Wanted) -> tuple[_Block, _Block]:
    """What the main file's block has to say, and that of the login file which does not read it."""
    left = tuple(after.left_over(wanted.now))
    present = seen.main.sections
    needed_also = {name: value for name, value in left if name not in {"CUDA_HOME", LOADER}}
    also = tuple(sorted({**dict(set_in_block(seen.main, wanted.installed)), **needed_also}.items()))
    toolkit = bool(present.toolkit) or any(name != LOADER for name, _ in left) or not _finds(seen, after, wanted)
    wished = wanted.loader.on or bool(present.loader) or any(name == LOADER for name, _ in left)
    loader = wished and not wanted.no_loader and (bool(present.loader) or not after.gives(LOADER, seen.of_session))
    home = not after.sets_home(seen.main.path)
    main = _Block(toolkit, loader, also, home)
    file = seen.login_file
    if file is None or file.obstacle is not None:
        return main, _Block()
    there = file.sections
    # A login shell reads nothing else: what the main file's block has to say, this one has to say as well.
    had_nvcc = isinstance(seen.login_now, Known) and seen.login_now.value.command("nvcc") is not None
    needed = (toolkit or had_nvcc) and not after.wins(seen.login_now, lambda one: one.of_login)
    kept = also if needed else tuple(set_in_block(file, wanted.installed))
    return main, _Block(bool(there.toolkit) or needed, loader and (bool(there.loader) or needed), kept)


def _finds(seen: _Seen, after: LinesAfter, wanted: _Wanted) -> bool:
    """Whether every new terminal then finds the toolkit: those of a session, and those that no login came before."""
    if not after.wins(wanted.now, seen.of_session):
        return False
    if isinstance(seen.bare_now, Unknown) or PurePosixPath(seen.login_shell).name in PLAIN:
        return True
    return after.wins(seen.bare_now, lambda one: one.of_terminal and seen.of_session(one))


def _unread_login(world: World, seen: _Seen) -> Text | None:
    """That nothing is written in the login file, because its shell stops reading it before the end."""
    if seen.login_file is None or seen.files is None:
        return None
    file = seen.login_file
    found = check(world, file.content, file.dialect.value)
    if not found.broken:
        return None
    return text(
        "{path} is what a login shell reads, and it cannot be parsed ({words}): nothing is written there, and login shells stay as "
        "they are. Please mend it",
        path=file.path,
        words=found.words,
    )


class _Draft(Struct, frozen=True):
    """What was decided: what becomes of each line, and what the blocks of the main file and of the login file say."""

    seen: _Seen
    lines: tuple[ShellLine, ...]
    wanted: _Wanted
    main: _Block
    login: _Block

    def block_of(self, file: ShellFile) -> _Block:
        """A block of ours in another file, written for another shell, goes on choosing a toolkit."""
        if file.path == self.seen.main.path:
            return self.main
        if file.path == self.seen.login:
            return self.login
        there = file.sections
        also = tuple(set_in_block(file, self.wanted.installed))
        return _Block(bool(there.toolkit), bool(there.loader) and not self.wanted.no_loader, also)


def _edits(draft: _Draft, change: str) -> tuple[FileEdit, ...]:
    """The main file's first; of the others those that change."""
    found = []
    for file in (draft.seen.main, *draft.seen.others):
        block = draft.block_of(file)
        written = block.lines(file, draft.wanted)
        if file.obstacle is None or file.content:
            after = write(file.content, written, changes_in(draft.lines, file.path), change, place=place_of(file))
        else:
            after = write(b"", written, changes_in((), file.path), change) if block.toolkit else file.content
        found.append((file, after))
    edits = [file.edit(after) for file, after in found if after != file.content]
    main = found[0][0].edit(found[0][1])
    if not (main.existed or main.after) and edits:  # a file of ours that would be made for nothing is none
        return tuple(edits)
    return (main, *(edit for edit in edits if edit.path != main.path))


def _obstacle(world: World, seen: _Seen, edits: tuple[FileEdit, ...], block: _Block) -> tuple[Syntax | None, Text | None]:
    if seen.main.obstacle is not None and any(edit.path == seen.main.path and edit.after != edit.before for edit in edits):
        return None, seen.main.obstacle
    if seen.files is None:
        return None, None
    standing: Syntax | None = None
    for edit in edits:
        planned = check(world, edit.after, edit.dialect)
        before = check(world, edit.before, edit.dialect) if planned.broken else planned
        standing = standing or before
        if breaks(before, planned):
            return before, text(
                "{shell} could not parse the result ({words}), so {path} is not written; keep some of the lines",
                shell=planned.shell,
                words=planned.words,
                path=edit.path,
            )
        written = edit.path == seen.main.path and (block.toolkit or block.loader)
        if before.broken and edit.after != edit.before and (written or edit.dialect == Dialect.FISH.value):
            return before, text(
                "{shell} cannot parse {path} ({words}): it stops reading there, and lines below it are never reached. Please mend "
                "that first, or start a new file from a backup; nothing was written",
                shell=before.shell,
                path=edit.path,
                words=before.words,
            )
    return standing, None


def _notes(world: World, machine: Machine, draft: _Draft, edits: tuple[FileEdit, ...]) -> Iterator[Text]:
    seen, main = draft.seen, draft.seen.main
    changed = {edit.path for edit in edits if edit.after != edit.before}
    yield from main.target.notes if main.path in changed else ()
    for file in (main, *seen.others) if seen.files is not None else ():
        if file.path in changed and file.block is not None and edited_block(world, file.target.path_written, file.block):
            yield text(
                "the block in {path} was edited by hand since gpuassist wrote it: what you wrote there is replaced, and "
                "restored by undo",
                path=file.path,
            )
    written = draft.main.toolkit or draft.main.loader
    yield from notes_on(main.content, main.reading, draft.lines, main.path, block=written)
    handed_over = PurePosixPath(_answering(machine)).name == main.dialect.value
    yield from notes_on_shell(value_or(machine.shell.login_shell, ""), main.path, main.dialect.value, handed_over=handed_over)
    yield from notes_on_login(seen.login, main.path) if draft.login.toolkit or draft.login.loader else ()
    yield from (note for file in seen.others if file.path in changed for note in file.target.notes)
