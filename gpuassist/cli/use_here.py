"""A step whose command is `gpuassist use …`, taken by this very process: it shows the change, asks, makes and proves it."""

from __future__ import annotations

import argparse
import io
import shlex
from collections.abc import Iterable
from dataclasses import replace

from gpuassist.cli import use
from gpuassist.cli.context import Context, Exit
from gpuassist.model.text import text


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
