"""Start-up files judged as a plan does it, without one: read, searched for words that name a toolkit, judged."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.model.text import Text
from gpuassist.shellfiles.block import find
from gpuassist.shellfiles.dialect import Dialect, read_startup
from gpuassist.shellfiles.edit import change_lines
from gpuassist.shellfiles.judge import judge
from gpuassist.shellfiles.lines import LineEvidence, ShellLine, StartupText, changes_in
from gpuassist.shellfiles.toolkit_words import commands_run, toolkit_words
from gpuassist.shellfiles.toolkits import InstalledToolkits

RC = "/home/you/.bashrc"
KNOWN = {"HOME": "/home/you"}


def judge_text(
    content: bytes,
    installed: InstalledToolkits,
    *,
    dialect: Dialect = Dialect.BASH,
    values: tuple[str, ...] | None = None,
    no_loader: Text | None = None,
) -> tuple[ShellLine, ...]:
    """The lines of one file; `values` are what a new terminal holds, none where none was asked."""
    reading = read_startup(content, dialect, KNOWN)
    words = toolkit_words(content, dialect, installed, reading.statements)
    evidence = LineEvidence(values, commands_run(content, dialect), no_loader=no_loader)
    understood = not reading.unreadable_line
    followed = (word.directory for word in words if word.new is not None and evidence.runs(word, understood=understood))
    file = StartupText(content, reading, words, find(content), RC, dialect)
    return judge(file, installed, replace(evidence, followed=frozenset(followed)))


def changed(content: bytes, lines: tuple[ShellLine, ...], change: str = "one") -> bytes:
    """The file with what is chosen of its lines."""
    return change_lines(content, changes_in(lines, RC), change)
