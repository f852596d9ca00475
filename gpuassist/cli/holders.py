"""`gpuassist holders`: which processes hold the GPUs, what they belong to, and how to stop one of the user's own."""

from __future__ import annotations

import argparse

from gpuassist.cli.confirm import confirmed
from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.paragraphs import show_command, width_of, wrapped
from gpuassist.detect.gpu_holders import GpuHolder, Holding, find, holding_of
from gpuassist.model.codec import Json
from gpuassist.model.fact import Fact, Unknown, value_or
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.holders import about, label
from gpuassist.present.marks import Exit, exit_of
from gpuassist.session.holders import PATIENCE_SECONDS, holding, stop_holder

NAME = "holders"
HELP = text("list the GPU processes, and stop one of your own")

_LONGEST_SECONDS = 3600


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument(
        "--stop", type=int, metavar="PID", help=words(text("ask this process of yours to end; kill it if it does not"))
    )
    seconds = words(text("how long it may take to end before it is killed (default: {seconds:.0f})", seconds=PATIENCE_SECONDS))
    parser.add_argument("--seconds", type=float, default=PATIENCE_SECONDS, metavar="N", help=seconds)
    parser.add_argument("--yes", action="store_true", help=words(text("do it without asking")))
    parser.add_argument("--json", action="store_true", help=words(text("print one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Lists them, 3 where they could not all be seen, or stops one."""
    if not 0 <= options.seconds <= _LONGEST_SECONDS:
        raise UsageError(text("--seconds takes a number of seconds up to {most:.0f}", most=_LONGEST_SECONDS))
    context = context.for_programs(options)
    if options.stop is not None:
        return _stop(options, context)
    found, words = _found(context), context.session.words
    if options.json:
        context.document(
            {"schema": 1, "holders": [_held(one, words) for one in found.held], "notes": [words(note) for note in found.notes]}
        )
    else:
        width = width_of(context)
        if not found.held:
            nobody = text("No GPU processes found.")
            context.say(nobody if found.looked else text("The GPU processes could not be read."))
        for held in found.held:
            for line in wrapped(words(label(held)), width, hanging="    "):
                context.say(line)
            for words_about in about(held):
                for line in wrapped(words(words_about), width, first="    ", hanging="    "):
                    context.say(line)
            for command in held.command:
                show_command(context, command, indent="      ")
        for note in found.notes:
            context.note(text("Note: {note}", note=note))
    return Exit.HEALTHY if found.looked else Exit.UNDETERMINED


def _found(context: Context) -> Holding:
    machine = context.recorded_machine()
    if machine is None:
        return holding(context.session)
    return holding_of(context.session, machine)


def _stop(options: argparse.Namespace, context: Context) -> Exit:
    if context.elsewhere:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command="holders --stop"))
    held = find(_found(context), options.stop)
    if held is None:
        return _say(
            options, context, Outcome(Result.REFUSED, text("process {pid} holds no GPU; it was left alone", pid=options.stop))
        )
    if held.may_stop and not options.yes:
        context.note(label(held))
        nobody = text("there is no terminal to ask on: please add --yes to stop the process")
        if not confirmed(context, text("Stop it? What it has not saved is lost."), nobody):
            return _say(options, context, Outcome(Result.UNCHANGED, text("you said no; nothing was stopped")))
    outcome = stop_holder(context.session, held, seconds=options.seconds)
    status = _say(options, context, outcome)
    if outcome.result is Result.REFUSED and not options.json:
        for line in held.command:
            show_command(context, line, indent="    ")
    return status


def _say(options: argparse.Namespace, context: Context, outcome: Outcome) -> Exit:
    if options.json:
        message = context.session.words(outcome.text)
        context.document({"schema": 1, "result": outcome.result.value, "message": message, "pid": options.stop})
    else:
        context.say(outcome.text)
    return exit_of(outcome.result)


def _held(held: GpuHolder, words: Words) -> Json:
    holder = held.holder
    return {
        "pid": holder.pid,
        "user": holder.user or None,
        "command": holder.command or None,
        "gpus": list(held.gpus),
        "devices": list(holder.devices),
        **_memory(held.memory_used_bytes, words),
        "memory_by_gpu": [{"gpu": index, **_memory(used, words)} for index, used in held.memory_by_gpu],
        "state": value_or(holder.state, None),
        "unit": value_or(holder.unit, None) or None,
        "container": value_or(holder.container, None) or None,
        "role": held.role.value,
        "may_stop": held.may_stop,
        "why": words(held.why),
        "commands": list(held.command),
    }


def _memory(used: Fact[int], words: Words) -> dict[str, Json]:
    reason = words(used.reason) if isinstance(used, Unknown) else None
    return {"memory_used_bytes": value_or(used, None), "memory_reason": reason}
