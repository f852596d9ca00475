"""The plan that takes out of the start-up files what should not be on their search lists; changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from gpuassist.changes.library_path import look
from gpuassist.changes.line_plan import change_id, parsed, step_of, within_reach
from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.shell_files import ShellFile, shell_files
from gpuassist.changes.wishes import CleanShell
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Plan, Step, StepKind
from gpuassist.model.text import Text, counted, text
from gpuassist.shellfiles.clean import Grounds, judge_clean
from gpuassist.shellfiles.edit import change_lines
from gpuassist.shellfiles.lines import ShellLine, changes_in, choose_exactly
from gpuassist.shellfiles.toolkits import LISTS
from gpuassist.system.ownership import open_to_others, strangers_home
from gpuassist.system.world import World


def plan_clean(world: World, machine: Machine, wish: CleanShell) -> ChangePlan:
    """Plans it; raises `ChoiceError` for a line that does not offer what is chosen."""
    found = shell_files(world)
    files = (found.main, *found.others)
    lines = _judged(world, files, machine, wish.hurts)
    if wish.lines is not None:
        lines = choose_exactly(lines, wish.lines)
    change = change_id(world, found.main, tuple(line.text.encode("utf-8", "surrogateescape") for line in lines))
    changed = ((file, change_lines(file.content, changes_in(lines, file.path), change)) for file in files)
    edits = tuple(file.edit(after) for file, after in changed if after != file.content)
    # Under sudo nothing of another's home is run, not even to look whether it still works.
    obstacle = strangers_home(world) or (parsed(world, edits)[1] if edits else None)
    places = (*(edit.target for edit in edits), world.surroundings.home)
    check = text("a new terminal starts and no longer searches it")
    steps = (
        *(step_of(edit, text("Clean up the search paths in {path}", path=edit.path), check) for edit in edits),
        Step(StepKind.NEW_SHELL, text("Open a new terminal: terminals that are already open keep their settings.")),
    )
    plan = Plan(
        change,
        text("Clean up PATH and LD_LIBRARY_PATH"),
        steps if edits else (),
        (*_notes(lines), *(warning for place in places if edits and (warning := open_to_others(world, place)) is not None)),
    )
    return ChangePlan(wish, plan, "clean start-up files", lines, obstacle=obstacle, now=machine.shell.new_terminal)


def _judged(
    world: World, files: tuple[ShellFile, ...], machine: Machine, given: Mapping[str, Text] | None
) -> tuple[ShellLine, ...]:
    hurts = hurting(world, machine, on_library_path(files)) if given is None else given
    terminal = machine.shell.new_terminal
    held = {name: terminal.value.variable(name) for name in LISTS} if isinstance(terminal, Known) else {}
    empty = frozenset(name for name, value in held.items() if value and "" in value.split(":"))
    grounds = Grounds(cache(world.files.exists), hurts, empty)
    return tuple(
        line
        for file in files
        for line in within_reach(
            file, judge_clean(file.reading, grounds, file.content, file.block, file=file.path, dialect=file.dialect)
        )
    )


def _notes(lines: tuple[ShellLine, ...]) -> tuple[Text, ...]:
    if not lines:
        return (text("nothing in the start-up files puts anything on a search list that should not be there"),)
    changed = sum(line.ticked or line.rewritten for line in lines)
    kept = counted(
        "{count} of your lines is changed; undo restores it",
        "{count} of your lines are changed; undo restores them",
        count=changed,
    )
    return (kept,) if changed else ()


# Which directories on LD_LIBRARY_PATH hurt: they make a program of this machine load an older library than the one it brings.


def hurting(world: World, machine: Machine, directories: Iterable[str]) -> dict[str, Text]:
    """Of these directories the ones that make a program of this machine load an older library than its own, and which."""
    if isinstance(machine.environments, Unknown):
        return {}
    views = (look(world, machine.environments, directory) for directory in dict.fromkeys(directories))
    return {
        view.directory: text(
            "with {directory} there, {program} in {environment} loads {taken} in place of its own {own}",
            directory=view.directory,
            program=view.hurts[0].program,
            environment=view.hurts[0].environment,
            taken=view.hurts[0].library.taken,
            own=view.hurts[0].library.own,
        )
        for view in views
        if view.hurts
    }


def on_library_path(files: Iterable[ShellFile]) -> Iterator[str]:
    """The directories that the lines of these files put on LD_LIBRARY_PATH."""
    assignments = (one for file in files for statement in file.reading.statements for one in statement.assignments)
    elements = (element for one in assignments if one.variable == "LD_LIBRARY_PATH" for element in one.elements)
    return (element.directory.rstrip("/") for element in elements if element.directory.startswith("/"))
