"""What `plan --run`, `--resume` and `--back` say while they go on, and the document that they print at the end for programs."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable

from gpuassist.cli.context import Context
from gpuassist.cli.paragraphs import show_block
from gpuassist.install.execution import log_name
from gpuassist.install.records import Install, InstallState, StepRecord, StepState, place
from gpuassist.install.resume import next_step
from gpuassist.install.rollback import BackStep
from gpuassist.install.run import StepEnding, StepOutcome
from gpuassist.install.step_proof import Proved
from gpuassist.model.codec import Json
from gpuassist.model.fact import Known
from gpuassist.model.plan import StepKind
from gpuassist.model.solve import DryRun, PackageChange
from gpuassist.model.text import Text, counted, listed, text
from gpuassist.present.marks import Exit, glyph_of

SCHEMA = 1
_SHOWN = 30


def step(context: Context, install: Install, number: int, options: argparse.Namespace) -> None:
    """A step before it is taken, with its exact commands."""
    record = install.steps[number]
    tell = _teller(context, options)
    tell("")
    tell(text("Step {number} of {count}: {step}", number=number + 1, count=len(install.steps), step=record.step.text))
    run = record.step.run
    if run is None:
        show_block(context, record.step.commands, indent="    ", say=tell)
    for program in run.programs if run is not None else ():
        tell(f"    {shlex.join(program)}")  # not to be copied but agreed to, so it is shown whatever it holds
    if run is not None and record.made and context.session.world.disk.exists(run.creates):
        tell(text("What an earlier try had half made at {path} is taken away first.", path=run.creates))
    if record.step.needs_root:
        tell(text("It needs administrator rights, so gpuassist never runs it: copy the lines into a terminal of yours."))
    elif record.step.kind is StepKind.REBOOT:
        tell(text("Restart the computer now or later; then `gpuassist plan --resume` continues."))


def looked(context: Context, found: DryRun, options: argparse.Namespace) -> None:
    tell = _teller(context, options)
    if isinstance(found.solve, Known) and found.solve.value.changes:
        tell(text("What it would do:"))
        changes = found.solve.value.changes
        for change in changes[:_SHOWN]:
            tell(f"    {_change(change)}")
        if len(changes) > _SHOWN:
            more = counted("and {count} more package", "and {count} more packages", len(changes) - _SHOWN)
            tell(f"    {context.session.words(more)}")
    for warning in found.warnings:
        tell(f"  ! {context.session.words(warning)}")
    for stop in found.stops:
        tell(f"  ✗ {context.session.words(stop)}")
    if found.stops:
        tell(text("So it is not run."))


def done(context: Context, outcome: StepOutcome, options: argparse.Namespace) -> None:
    tell = _teller(context, options)
    tell(f"{glyph_of(outcome.ending)} {context.session.words(outcome.words)}")
    if outcome.left:
        tell(
            counted(
                "  it had left {count} process running, which was ended",
                "  it had left {count} processes running, which were ended",
                outcome.left,
            )
        )
    if outcome.log and outcome.ending is not StepEnding.DONE:
        tell(text("  all that it printed: {log}", log=outcome.log))


def proved(context: Context, found: Proved, options: argparse.Namespace) -> None:
    _teller(context, options)(f"{glyph_of(found.holds)} {context.session.words(found.words)}")


def steps(context: Context, install: Install, options: argparse.Namespace) -> None:
    tell = _teller(context, options)
    tell(text("Goal: {goal}", goal=install.goal))
    for number, one in enumerate(install.steps, start=1):
        tell(f"  {glyph_of(one.state)} {number}. {context.session.words(one.step.text)}")
        if one.words and one.state is not StepState.WAITING:
            tell(f"       {one.words}")


def back_step(context: Context, back: BackStep, options: argparse.Namespace) -> None:
    tell = _teller(context, options)
    tell("")
    tell(back.text)
    for line in back.commands:
        tell(f"    {line}")
    if back.left:
        names = listed(back.left)
        tell(text("These were changed by something else since, so they stay as they are: {names}", names=names))
    if back.obstacle is not None:
        tell(f"  ✗ {context.session.words(back.obstacle)}")


def autostart(context: Context, path: str, options: argparse.Namespace) -> None:
    _teller(context, options)(
        text("gpuassist opens after the restart; the entry {path} goes away when the install is done.", path=path)
    )


def superseded(context: Context, install: Install) -> None:
    """An earlier one is let go of."""
    context.note(text("The unfinished install of {goal} was given up; what it did stays.", goal=install.goal))


def given_up(context: Context, install: Install, options: argparse.Namespace) -> None:
    superseded(context, install)
    _way_back(context, install, options)
    _document(context, install, options)


def nothing_waits(context: Context, options: argparse.Namespace) -> None:
    words = text("no install is unfinished")
    if options.json:
        context.document({"schema": SCHEMA, "install": None, "message": context.session.words(words)})
    else:
        context.say(words)


def nothing_to_take_back(context: Context, install: Install | None, options: argparse.Namespace) -> None:
    """No install is on record, or this one left nothing."""
    words = text("there is nothing to undo")
    context.note(words)
    if install is not None:
        _document(context, install, options)
    elif options.json:
        context.document({"schema": SCHEMA, "install": None, "message": context.session.words(words)})


def not_begun(context: Context, install: Install, options: argparse.Namespace, status: Exit) -> Exit:
    _teller(context, options)(text("Nothing was changed."))
    _document(context, install, options)
    return status


def finished(context: Context, install: Install, options: argparse.Namespace, status: Exit) -> Exit:
    """Where it stands now, and how it goes on or back."""
    tell = _teller(context, options)
    tell("")
    if next_step(install) is None:
        tell(text("All steps are done."))
    else:
        tell(text("To continue: gpuassist plan --resume"))
    _way_back(context, install, options)
    _document(context, install, options)
    return status


def _way_back(context: Context, install: Install, options: argparse.Namespace) -> None:
    if any(one.step.run is not None and one.tries for one in install.steps) and install.state is not InstallState.TAKEN_BACK:
        _teller(context, options)(text("To undo it: gpuassist plan --back {install}", install=install.id))


def _document(context: Context, install: Install, options: argparse.Namespace) -> None:
    if options.json:
        context.document(document(context, install))


def document(context: Context, install: Install) -> Json:
    number = next_step(install)
    return {
        "schema": SCHEMA,
        "install": install.id,
        "goal": install.goal,
        "state": install.state.value,
        "directory": install.directory,
        "next_step": None if number is None else number + 1,
        "steps": [_step(context, install, place_of, one) for place_of, one in enumerate(install.steps)],
    }


def _step(context: Context, install: Install, number: int, record: StepRecord) -> Json:
    log = f"{place(context.session.world, install)}/{log_name(number, record.tries)}" if record.tries else None
    return {
        "kind": record.step.kind.value,
        "text": context.session.words(record.step.text),
        "commands": list(record.step.commands),
        "needs_root": record.step.needs_root,
        "runs_here": record.step.run is not None,
        "state": record.state.value,
        "message": record.words,
        "log": log,
    }


def _change(change: PackageChange) -> str:
    if not change.before:
        return f"+ {change.name} {change.after}"
    if not change.after:
        return f"- {change.name} {change.before}"
    return f"~ {change.name} {change.before} → {change.after}"


def _teller(context: Context, options: argparse.Namespace) -> Callable[[Text | str], None]:
    """Says a line where people read: on standard error where standard output is for a document."""
    return context.note if options.json else context.say
