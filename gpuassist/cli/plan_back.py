"""`gpuassist plan --back [ID]`: takes an install back, the last step first, each shown with its exact commands and confirmed."""

from __future__ import annotations

import argparse

from gpuassist.cli import plan_run_words as say
from gpuassist.cli.asking import NOBODY_FOR_PACKAGES, confirmed
from gpuassist.cli.context import Context, Exit, UsageError
from gpuassist.cli.live_lines import LiveLines
from gpuassist.install import records
from gpuassist.install.records import Install, InstallState
from gpuassist.install.rollback import BackStep, plan_back, take_back
from gpuassist.install.run import Came
from gpuassist.model.text import text
from gpuassist.system.interrupts import counted_interrupts


def run_back(options: argparse.Namespace, context: Context) -> Exit:
    """Goes the whole way back, as far as the user agrees and each step of it works."""
    if context.machine_file:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command="plan --back"))
    try:
        with records.lock(context.session.world):
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
    except BlockingIOError:
        raise UsageError(text("another gpuassist is at an install just now")) from None


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
        install, done = take_back(context.session, install, back, on_line=lines, cancelled=interrupted)
    lines.close()
    say.done(context, done, options)
    return install, {Came.DONE: Exit.HEALTHY, Came.CANCELLED: Exit.INTERRUPTED}.get(done.came, Exit.PROBLEMS)
