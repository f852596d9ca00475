"""The plan that takes out of the start-up files what should not be on their search lists; changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from msgspec import Struct

from gpuassist.changes.library_path import DirectoryView, look
from gpuassist.changes.line_plan import change_id, edit_of, parsed, within_reach
from gpuassist.changes.plan import Aim, ChangePlan
from gpuassist.changes.shell_files import ShellFile, ShellFiles, shell_files
from gpuassist.model.fact import Fact, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.plan import FileEdit, Plan, Step, StepKind
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, counted, text
from gpuassist.shellfiles.clean import Grounds, judge_clean
from gpuassist.shellfiles.diff import unified
from gpuassist.shellfiles.edit import change_lines
from gpuassist.shellfiles.lines import LineChoice, ShellLine, changes_in, choose_exactly
from gpuassist.shellfiles.toolkits import LISTS
from gpuassist.system.ownership import open_to_others, strangers_home
from gpuassist.system.world import World


class CleanShell(Struct, frozen=True):
    """What the user wishes: `lines` that do not stay, none for what is suggested; `hurts` says of directories why they hurt on
    LD_LIBRARY_PATH, none to look that up in this machine's environments.
    """

    lines: tuple[LineChoice, ...] | None = None
    hurts: Mapping[str, Text] | None = None


def plan_clean(world: World, machine: Machine, wish: CleanShell) -> ChangePlan:
    """Plans it; raises `ChoiceError` for a line that does not offer what is chosen."""
    files = shell_files(world)
    lines = _judged(world, files, machine, wish.hurts)
    if wish.lines is not None:
        lines = choose_exactly(lines, wish.lines)
    change = change_id(world, files.main, tuple(line.text.encode("utf-8", "surrogateescape") for line in lines))
    changed = ((file, change_lines(file.content, changes_in(lines, file.path), change)) for file in _all(files))
    edits = tuple(edit_of(file, after) for file, after in changed if after != file.content)
    # Under sudo nothing of another's home is run, not even to look whether it still works.
    obstacle = strangers_home(world) or (parsed(world, edits)[1] if edits else None)
    places = (*(edit.target for edit in edits), world.surroundings.home)
    plan = Plan(
        change,
        text("Take out of the start-up files what should not be searched"),
        _steps(edits),
        (*_notes(lines), *(warning for place in places if edits and (warning := open_to_others(world, place)) is not None)),
    )
    return ChangePlan(Aim.CLEAN, plan, "clean start-up files", lines, obstacle=obstacle, now=machine.shell.new_terminal)


def suggestions(world: World, machine: Machine, hurts: Mapping[str, Text] | None = None) -> tuple[ShellLine, ...]:
    """For each line that holds something wrong what it is, what is suggested and why: for a table of all lines."""
    return _judged(world, shell_files(world), machine, hurts)


def _all(files: ShellFiles) -> tuple[ShellFile, ...]:
    return (files.main, *files.others)


def _judged(world: World, files: ShellFiles, machine: Machine, given: Mapping[str, Text] | None) -> tuple[ShellLine, ...]:
    hurts = hurting(world, machine, on_library_path(_all(files))) if given is None else given
    grounds = Grounds(cache(world.files.exists), hurts, _with_empty_element(machine.shell.new_terminal))
    judged = (
        within_reach(file, judge_clean(file.reading, grounds, file.content, file.block, file=file.path, dialect=file.dialect))
        for file in _all(files)
    )
    return tuple(line for lines in judged for line in lines)


def _with_empty_element(terminal: Fact[Terminal]) -> frozenset[str]:
    if isinstance(terminal, Unknown):
        return frozenset()
    values = {name: terminal.value.variable(name) for name in LISTS}
    return frozenset(name for name, value in values.items() if value and "" in value.split(":"))


def _steps(edits: tuple[FileEdit, ...]) -> tuple[Step, ...]:
    changed = tuple(
        Step(
            StepKind.EDIT,
            text("Take what should not be searched out of {path}", path=edit.path),
            diff=unified(edit.path, edit.before, edit.after),
            check=text("a new terminal starts and no longer searches it"),
            edit=edit,
        )
        for edit in edits
    )
    return (
        (*changed, Step(StepKind.NEW_SHELL, text("Open a new terminal: those that are open keep what they have."))) if edits else ()
    )


def _notes(lines: tuple[ShellLine, ...]) -> tuple[Text, ...]:
    if not lines:
        return (text("nothing in the start-up files puts anything on a search list that should not be there"),)
    changed = sum(line.ticked or line.rewritten for line in lines)
    kept = counted(
        "{count} line of yours is changed, and restored by undo",
        "{count} lines of yours are changed, and restored by undo",
        count=changed,
    )
    return (kept,) if changed else ()


# Which directories on LD_LIBRARY_PATH hurt: they make a program of this machine load an older library than the one it brings.


def hurting(world: World, machine: Machine, directories: Iterable[str]) -> dict[str, Text]:
    """Of these directories the ones that make a program of this machine load an older library than its own, and which."""
    if isinstance(machine.environments, Unknown):
        return {}
    views = (look(world, machine.environments, directory) for directory in dict.fromkeys(directories))
    return {view.directory: _hurt(view) for view in views if view.hurts}


def _hurt(view: DirectoryView) -> Text:
    use = view.hurts[0]
    return text(
        "with {directory} there, {program} in {environment} loads {taken} in place of its own {own}",
        directory=view.directory,
        program=use.program,
        environment=use.environment,
        taken=use.library.taken,
        own=use.library.own,
    )


def on_library_path(files: Iterable[ShellFile]) -> Iterator[str]:
    """The directories that the lines of these files put on LD_LIBRARY_PATH."""
    assignments = (one for file in files for statement in file.reading.statements for one in statement.assignments)
    elements = (element for one in assignments if one.variable == "LD_LIBRARY_PATH" for element in one.elements)
    return (element.directory.rstrip("/") for element in elements if element.directory.startswith("/"))
