"""Asking before a change: on a terminal a question, elsewhere a refusal."""

from __future__ import annotations

import sys

from gpuassist.cli import streams
from gpuassist.cli.context import Context, UsageError
from gpuassist.model.text import Text, text

_NOBODY = text("this changes a file, and there is no terminal to ask on: please add --yes, or --dry-run to look only")
NOBODY_FOR_PACKAGES = text("this changes an environment, and there is no terminal to ask on: please add --yes")


def confirmed(context: Context, question: Text, nobody: Text = _NOBODY) -> bool:
    """Whether the user says yes; raises `UsageError` with the words for `nobody` where nobody can be asked."""
    if not context.terminal.interactive:
        raise UsageError(nobody)
    streams.write(context.terminal.err, f"{context.session.words(question)} [y/N] ")
    streams.flush(context.terminal.err)
    answer = sys.stdin.readline().strip().lower()
    return answer in {"y", "yes", "是"}
