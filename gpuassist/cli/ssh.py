"""`--ssh HOST`: another machine in the place of this one, looked at and never changed from here."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence

from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.model.text import text
from gpuassist.session.other_connection import OtherMachineError
from gpuassist.session.other_machine import OtherMachine

# Each with its options that act: all other commands act in whatever they do, or tell of what was done here.
LOOKS: dict[str, tuple[str, ...]] = {
    "detect": (),
    "doctor": (),
    "explain": (),
    "monitor": ("export",),  # for whoever scrapes, the figures would be this machine's
    "know": (),
    "estimate": (),
    "report": ("card",),
    "holders": ("stop",),
    "plan": ("run", "resume", "give_up", "back", "write"),
    "setup": ("forget", "compile", "project"),
}
_MAY_BE_EMPTY = "back"  # the newest install, where none is named
_OURS = ("--ssh", "--remote-half")


def other_machine(options: argparse.Namespace, session: Session, arguments: Sequence[str]) -> OtherMachine:
    """What `--ssh` names; raises `UsageError` where that is nothing, or where the command would act on it."""
    if options.machine:
        raise UsageError(text("--ssh and --machine name two machines: one of them"))
    try:
        # ssh asks on the terminal itself, whatever the standard streams are; without any it is told to ask nothing.
        asks = any(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
        other = OtherMachine(session, options.ssh, half=options.remote_half or "", may_ask=asks)
    except OtherMachineError as error:
        raise UsageError(error.reason) from error
    acts = LOOKS.get(options.command or "doctor")
    if acts is None or any(_is_given(options, name) for name in acts):
        program = ("--", *options.program) if options.program else ()
        line = shlex.join(("ssh", "-t", options.ssh, shlex.join(("gpuassist", *_without_ours(arguments), *program))))
        raise UsageError(
            text(
                "from here {host} is only looked at, and {command} works on the machine where it is typed: type it there, or from "
                "here as `{line}` where gpuassist is installed there",
                host=options.ssh,
                command=options.command,
                line=line,
            )
        )
    return other


def _is_given(options: argparse.Namespace, name: str) -> bool:
    value = getattr(options, name, None)
    return value not in {None, False} and (value != "" or name == _MAY_BE_EMPTY)


def _without_ours(arguments: Sequence[str]) -> list[str]:
    kept, skips = [], False
    for word in arguments:
        if skips:
            skips = False
        elif word in _OURS:
            skips = True
        elif not word.startswith(tuple(f"{one}=" for one in _OURS)):
            kept.append(word)
    return kept
