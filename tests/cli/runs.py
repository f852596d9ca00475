"""Runs one subcommand with its own options, as the command line would, and keeps what it printed."""

from __future__ import annotations

import argparse
import io
from dataclasses import dataclass
from types import ModuleType

from gpuassist.cli.context import Context, TerminalStreams
from gpuassist.context import Session
from gpuassist.present.marks import Exit


@dataclass(frozen=True)
class Run:
    """How a subcommand ended and what it printed."""

    exit: Exit
    out: str
    err: str


def run(verb: ModuleType, session: Session, *arguments: str, interactive: bool = False, machine_file: str = "") -> Run:
    """Parses `arguments` with the verb's own options and runs it."""
    parser = argparse.ArgumentParser()
    verb.arguments(parser, session.words)
    parser.set_defaults(lang="")
    out, err = io.StringIO(), io.StringIO()
    context = Context(session, TerminalStreams(out, err, colour=False, interactive=interactive), machine_file)
    status = verb.run(parser.parse_args(arguments), context)
    return Run(status, out.getvalue(), err.getvalue())
