"""`gpuassist plan GOAL --run`: takes the steps one by one, each shown with its exact commands and confirmed, and goes on later.

It ends with 0 where all steps are done, with 1 where one waits for the user, with 2 where one failed or must not be run, with 130
where it was cancelled.
"""

from __future__ import annotations

import argparse
import io
import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.cli import plan_run_words as say
from gpuassist.cli import use
from gpuassist.cli.confirm import NOBODY_FOR_PACKAGES, confirmed
from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.live_lines import LiveLines
from gpuassist.install import records
from gpuassist.install.execution import give_up
from gpuassist.install.records import Install, InstallState
from gpuassist.install.resume import next_step, open_install, waiting
from gpuassist.install.rollback import BackStep, plan_back
from gpuassist.install.run import StepEnding
from gpuassist.install.user_terminal import type_into_terminal, typing_command
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.plan import StepKind
from gpuassist.model.text import text
from gpuassist.present.marks import Exit
from gpuassist.session.install import (
    Course,
    InstallError,
    alone,
    course_of,
    forget_unbegun,
    get_ready_to_restart,
    go_back,
    go_on,
    is_begun,
    look_at,
    on_record,
    say_done,
    take,
)
from gpuassist.session.plan import look
from gpuassist.system.interrupts import counted_interrupts
from gpuassist.system.ownership import require_own_state
from gpuassist.system.untrusted_state import UntrustedStateError

_ENDS = {StepEnding.DONE: Exit.HEALTHY, StepEnding.CANCELLED: Exit.INTERRUPTED}


class InstallRun(Struct):
    """An install being gone through."""

    context: Context
    options: argparse.Namespace
    machine: Callable[[], Machine]  # it takes a second to look, and only steps that are run need it
    install: Install

    def agreed(self) -> bool:
        return self.options.yes or confirmed(self.context, text("Run this?"), NOBODY_FOR_PACKAGES)


def run_plan(options: argparse.Namespace, context: Context, machine: Machine, outlook: Outlook) -> Exit:
    session = context.session
    with _alone(context):
        earlier = open_install(session.world)
        if earlier is not None:
            say.superseded(context, earlier)
        try:
            install = on_record(session, Course(outlook.goal, tuple(options.goals), outlook.steps, directory=os.getcwd()))
        except OSError as error:
            words = text("nothing is run, because it could not be put on record first: {words}", words=str(error))
            raise UsageError(words) from error
        return _finished(InstallRun(context, options, lambda: machine, install))


@contextmanager
def _alone(context: Context) -> Iterator[None]:
    """All that is asked in between included: whoever comes meanwhile is told."""
    try:
        with alone(context.session):
            yield
    except InstallError as error:
        raise UsageError(error.reason) from None


def run_resume(options: argparse.Namespace, context: Context) -> Exit:
    """Goes on with the install that waits, from what the machine shows now."""
    if context.machine_file:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command="plan --resume"))
    if not options.yes and not context.terminal.interactive:
        raise UsageError(NOBODY_FOR_PACKAGES)
    session = context.session
    with _alone(context):
        install = go_on(session)
        if install is None:
            say.nothing_waits(context, options)
            return Exit.HEALTHY
        say.steps(context, install, options)
        if next_step(install) is None:
            return say.finished(context, install, options, Exit.HEALTHY)
        return _finished(InstallRun(context, options, cache(lambda: look(session)), install))


def run_give_up(options: argparse.Namespace, context: Context) -> Exit:
    """Lets go of the install that waits; what was done stays."""
    require_own_state(context.session.world, records.root(context.session.world))
    found = waiting(context.session)
    if found is None:
        say.nothing_waits(context, options)
        return Exit.HEALTHY
    install = give_up(context.session, found.install)
    say.given_up(context, install, options)
    return Exit.HEALTHY


def _finished(run: InstallRun) -> Exit:
    status = Exit.HEALTHY
    while status is Exit.HEALTHY and (number := next_step(run.install)) is not None:
        status = _take(run, number)
    if run.install.steps and not is_begun(run.install):
        forget_unbegun(run.context.session, run.install)
        return say.not_begun(run.context, run.install, run.options, status)
    return say.finished(run.context, run.install, run.options, status)


def _take(run: InstallRun, number: int) -> Exit:
    step = run.install.steps[number].step
    say.step(run.context, run.install, number, run.options)
    if step.run is not None:
        # A step that gpuassist takes itself: looked at, confirmed, run, proved.
        session = run.context.session
        with counted_interrupts() as interrupted:
            looked = look_at(session, run.machine(), course_of(run.install), number, cancelled=interrupted)
        if interrupted():
            return Exit.INTERRUPTED
        say.looked(run.context, looked, run.options)
        if looked.stops:
            return Exit.PROBLEMS
        if not run.agreed():
            return Exit.WARNINGS
        lines = LiveLines(run.context, on_error=run.options.json)
        with counted_interrupts() as interrupted:
            run.install, outcome = take(session, run.install, number, on_line=lines, cancelled=interrupted)
        lines.close()
        say.done(run.context, outcome, run.options)
        return _ENDS.get(outcome.ending, Exit.PROBLEMS)
    if step.kind is StepKind.EDIT and step.commands:
        # A change of a start-up file, which is shown, asked for and proved by the command that makes it.
        status = use_here(run.context, step.commands, yes=run.options.yes, quiet=run.options.json)
        if status is not Exit.HEALTHY:
            return status
        return _said(run, number)
    if step.kind is StepKind.REBOOT:
        return _reboot(run)
    if not run.context.terminal.interactive or run.options.json:
        return Exit.WARNINGS
    _offer_terminal(run, number)
    if not confirmed(run.context, text("Have you done that?")):
        return Exit.WARNINGS
    return _said(run, number)


def _offer_terminal(run: InstallRun, number: int) -> None:
    session, step = run.context.session, run.install.steps[number].step
    if not step.needs_root or not typing_command(session, step.commands):
        return
    wished = confirmed(run.context, text("Open a terminal in which the lines stand typed, and are run only when you press Enter?"))
    if wished and not type_into_terminal(session, step.commands):
        run.context.note(text("no terminal could be opened: please copy the lines"))


def _said(run: InstallRun, number: int) -> Exit:
    run.install, outcome = say_done(run.context.session, run.install, number)
    if outcome.proved is not None:
        say.proved(run.context, outcome.proved, run.options)
    return _ENDS.get(outcome.ending, Exit.PROBLEMS)


def _reboot(run: InstallRun) -> Exit:
    asks = run.context.terminal.interactive and not run.options.json and not run.options.yes
    if run.options.autostart or (asks and confirmed(run.context, text("Open gpuassist by itself after the restart, once?"))):
        try:
            _, entry = get_ready_to_restart(run.context.session, course_of(run.install), autostart=True)
            say.autostart(run.context, entry, run.options)
        except UntrustedStateError as error:
            run.context.note(error.reason)
        except OSError as error:
            run.context.note(text("the entry could not be written: {words}", words=error.strerror or str(error)))
    return Exit.WARNINGS


# A step whose command is `gpuassist use …`, taken by this very process: it shows the change, asks, makes and proves it.


def use_here(context: Context, commands: Iterable[str], *, yes: bool, quiet: bool) -> Exit:
    """Runs each of them, and ends with the first that does not go well; one that is none of ours is the user's."""
    if quiet:
        context = replace(context, terminal=replace(context.terminal, out=io.StringIO()))
    for line in commands:
        words = shlex.split(line)
        if words[:2] != ["gpuassist", use.NAME]:
            return Exit.WARNINGS
        parser = argparse.ArgumentParser()
        use.arguments(parser, context.session.words)
        parser.set_defaults(lang="")
        status = use.run(parser.parse_args([*words[2:], *(["--yes"] if yes else [])]), context)
        if status is not Exit.HEALTHY:
            context.note(text("`{command}` did not go well", command=line))
            return status
    return Exit.HEALTHY


# `gpuassist plan --back [ID]`: takes an install back, the last step first, each shown with its exact commands and confirmed.


def run_back(options: argparse.Namespace, context: Context) -> Exit:
    """Goes the whole way back, as far as the user agrees and each step of it works."""
    if context.machine_file:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command="plan --back"))
    with _alone(context):
        install = _chosen(context, options.back)
        way = plan_back(context.session, install) if install is not None else ()
        if install is None or not way:
            say.nothing_to_take_back(context, install, options)
            return Exit.HEALTHY
        status = Exit.HEALTHY
        for back in way:
            install, status = _step(options, context, install, back)
            if status is not Exit.HEALTHY:
                break
        if options.json:
            context.document(say.document(context, install))
        return status


def _chosen(context: Context, name: str) -> Install | None:
    known = [one for one in records.installs(context.session.world) if one.state is not InstallState.TAKEN_BACK]
    if not name:
        return known[0] if known else None
    found = records.load(context.session.world, name)
    if found is None:
        names = ", ".join(one.id for one in known) or "–"
        raise UsageError(text("there is no install {install}; on record are: {names}", install=name, names=names))
    return found


def _step(options: argparse.Namespace, context: Context, install: Install, back: BackStep) -> tuple[Install, Exit]:
    say.back_step(context, back, options)
    if back.obstacle is not None:
        return install, Exit.PROBLEMS
    if back.commands and not options.yes and not confirmed(context, text("Do this?"), NOBODY_FOR_PACKAGES):
        context.note(text("you said no; it stays as it is"))
        return install, Exit.WARNINGS
    lines = LiveLines(context, on_error=options.json)
    with counted_interrupts() as interrupted:
        install, outcome = go_back(context.session, install, (back,), on_line=lines, cancelled=interrupted)
    lines.close()
    say.done(context, outcome, options)
    return install, _ENDS.get(outcome.ending, Exit.PROBLEMS)
