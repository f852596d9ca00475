"""What else the user should know about the start-up files: what hides what, what ends early, what could not be told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from gpuassist.detect.startup.chain import ChainFile, Stage, sources
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import Text, text
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.system.shell_trace import Trace

SLOW_SECONDS = 2.0


def notes_on(shell: str, chain: tuple[ChainFile, ...], seconds: Fact[float], trace: Fact[Trace]) -> tuple[Text, ...]:
    """All that is worth saying, what is in the way first."""
    return (
        *_login_gap(shell, chain),
        *_early_ends(chain),
        *_not_understood(chain),
        *_literal(chain),
        *_slow(seconds),
        *_untold(trace),
    )


def _login_gap(shell: str, chain: tuple[ChainFile, ...]) -> Iterator[Text]:
    """Debian's .profile reads .bashrc in; one that somebody wrote anew often does not, and then a login shell is without it."""
    if PurePosixPath(shell).name != "bash":
        return
    terminal = next((file for file in chain if file.stage is Stage.TERMINAL and file.sourced_by is None), None)
    login = next((file for file in chain if file.stage is Stage.LOGIN and not file.sourced_by and file.unread is None), None)
    if terminal is None or not terminal.exists:
        return
    if login is None:
        yield text("no login file reads {path} in: a login shell (ssh, a text console) does not see its lines", path=terminal.path)
    elif not sources(chain, login.path, terminal.path):
        yield text(
            "{login} does not read {path} in: a login shell (ssh, a text console) does not see its lines",
            login=login.path,
            path=terminal.path,
        )


def _early_ends(chain: tuple[ChainFile, ...]) -> Iterator[Text]:
    for file in chain:
        for ending in file.reading.endings if file.ours and file.unread is None else ():
            below = [one for one in file.reading.statements if one.line > ending.line]
            if ending.interactive and below:
                yield text(
                    "{path}, line {line} ends the file for shells that are not interactive: what ssh runs, cron, and tasks of an "
                    "editor do not see the lines below it",
                    path=file.path,
                    line=ending.line,
                )
                break


def _not_understood(chain: tuple[ChainFile, ...]) -> Iterator[Text]:
    for file in chain:
        if file.reading.unreadable_line and file.ours:
            yield text("{path}, line {line} could not be understood", path=file.path, line=file.reading.unreadable_line)


def _literal(chain: tuple[ChainFile, ...]) -> Iterator[Text]:
    for file in chain:
        for statement in file.reading.statements if file.dialect is Dialect.ENVIRONMENT else ():
            if any("$" in element.written for assignment in statement.assignments for element in assignment.elements):
                yield text(
                    "{path}, line {line}: nothing is expanded in this file, so that the $ and what follows stay as they are",
                    path=file.path,
                    line=statement.line,
                )


def _slow(seconds: Fact[float]) -> Iterator[Text]:
    if isinstance(seconds, Known) and seconds.value >= SLOW_SECONDS:
        yield text("your start-up files take {seconds:.1f} s for each new terminal", seconds=seconds.value)


def _untold(trace: Fact[Trace]) -> Iterator[Text]:
    if isinstance(trace, Unknown):
        yield text("which line wins was told by reading alone: {reason}", reason=trace.reason)
    elif not trace.value.whole:
        yield text("a start-up file turns off what tells which lines run, so not all of them are known")
