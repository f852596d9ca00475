"""The lines of start-up files in a plan: judged over all files together, chosen, and turned into edits."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from gpuassist.changes.journal import Journal, digest
from gpuassist.changes.shell_files import ShellFile
from gpuassist.changes.syntax import Syntax, breaks, check
from gpuassist.model.fact import Fact, Known
from gpuassist.model.plan import FileEdit, Step, StepKind
from gpuassist.model.shell import Terminal
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.diff import unified
from gpuassist.shellfiles.judge import judge
from gpuassist.shellfiles.lines import LineEvidence, ShellLine, StartupText
from gpuassist.shellfiles.toolkit_words import commands_run, toolkit_words
from gpuassist.shellfiles.toolkits import InstalledToolkits
from gpuassist.system.world import World


def judged(
    files: tuple[ShellFile, ...], installed: InstalledToolkits, asked: Sequence[Fact[Terminal]], no_loader: Text | None = None
) -> tuple[ShellLine, ...]:
    """The lines of every file that choose a toolkit, with what is suggested for each; `asked` is what shells hold that were asked,
    `no_loader` as in `LineEvidence`.
    """
    texts = []
    for file in files:
        words = toolkit_words(file.content, file.dialect, installed, file.reading.statements)
        texts.append(StartupText(file.content, file.reading, words, file.block, file.path, file.dialect))
    values: tuple[str, ...] | None = None
    for terminal in asked:
        if isinstance(terminal, Known):  # what an alias or a function says is in effect as well
            held = (*(one.value for one in terminal.value.variables), *(shadow.text for shadow in terminal.value.shadows))
            values = (*(values or ()), *held)
    asleep = any(word.runs_in for one in texts for word in one.words)
    called = (name for file in files for name in commands_run(file.content, file.dialect)) if asleep else ()
    evidence = LineEvidence(values, frozenset(called), no_loader=no_loader)
    followed = frozenset(
        word.directory
        for file, one in zip(files, texts, strict=True)
        for word in one.words
        if file.obstacle is None and word.new is not None and evidence.runs(word, understood=not file.reading.unreadable_line)
    )
    evidence = replace(evidence, followed=followed)
    return tuple(
        line for file, one in zip(files, texts, strict=True) for line in within_reach(file, judge(one, installed, evidence))
    )


def within_reach(file: ShellFile, lines: tuple[ShellLine, ...]) -> tuple[ShellLine, ...]:
    """The lines of a file that may not be changed with the reason of that, and none of them to change."""
    if file.obstacle is None:
        return lines
    obstacle = file.obstacle
    return tuple(
        replace(line, tickable=False, ticked=False, rewritten=False, instead=b"", replacements=(), why=obstacle, why_not=obstacle)
        if line.tickable or line.instead
        else line
        for line in lines
    )


def step_of(edit: FileEdit, words: Text, check: Text | None = None) -> Step:
    """The step that makes an edit, with its diff."""
    return Step(StepKind.EDIT, words, diff=unified(edit.path, edit.before, edit.after), check=check, edit=edit)


def parsed(world: World, edits: tuple[FileEdit, ...]) -> tuple[Syntax, Text | None]:
    """What its shell says of the first file as it is, and what forbids writing the files: one that could then not be parsed."""
    standing: list[Syntax] = []
    for edit in edits:
        planned = check(world, edit.after, edit.dialect)
        # What can be parsed afterwards could be before: the changes only replace words, comment lines out and add whole ones.
        before = check(world, edit.before, edit.dialect) if planned.broken else planned
        standing.append(before)
        if breaks(before, planned):
            words = text(
                "{shell} could not parse the result ({words}), so {path} is not written; untick lines",
                shell=planned.shell,
                words=planned.words,
                path=edit.path,
            )
            return standing[0], words
    return standing[0], None


def change_id(world: World, file: ShellFile, wanted: tuple[bytes, ...]) -> str:
    """An id that no change has yet, by the time and what is `wanted` of the file."""
    return new_id(world, (file.content, *wanted, file.path.encode("utf-8", "surrogateescape")))


def new_id(world: World, parts: tuple[bytes, ...]) -> str:
    """An id that no change has yet, by the time and these parts of it."""
    return Journal.of(world).unused(f"{world.clock.now():%Y%m%d-%H%M%S}-{digest(bytes([0]).join(parts))[:6]}")
