"""Why a tool would install nothing, or could not be asked what it would do, and what helps."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.context import Session
from gpuassist.formats.index_address import without_login
from gpuassist.formats.paste import read_paste
from gpuassist.formats.shortened import shortened
from gpuassist.formats.solver_words import Reason, explanation, reason_of
from gpuassist.knowledge.records import Family
from gpuassist.model.plan import Tool
from gpuassist.model.text import Text, text, verbatim
from gpuassist.system.processes import Ending, Outcome

_READ_BYTES = 128 << 10  # of its end: there tools say why
_WORDS_AT_MOST = 600  # what is said of a failure is read, not scrolled through


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was asked: its command, for how long at most, and the interpreter that it belongs to; `maker` where that is not there yet
    and the one that will make it was asked.
    """

    tool: Tool
    command: tuple[str, ...]
    seconds: float
    python: str = ""
    maker: str = ""


def failed(session: Session, asked: Asked, outcome: Outcome) -> Text:
    """What came of a program that did not succeed."""
    if outcome.ending is Ending.CANCELLED:
        return text("Looking was cancelled; nothing was changed")
    if outcome.ending is Ending.TIMED_OUT:
        return text(
            "{tool} did not say what it would do within {seconds} seconds; nothing was changed",
            tool=asked.tool.value,
            seconds=round(asked.seconds),
        )
    if outcome.ending in {Ending.NOT_FOUND, Ending.NOT_STARTED}:
        return text("{program} could not be started: {words}", program=asked.command[0], words=outcome.words)
    if outcome.ending is Ending.KILLED:
        return text("{tool} was ended by another before it could say what it would do", tool=asked.tool.value)
    words = read_paste(outcome.stderr[-_READ_BYTES:] + b"\n" + outcome.stdout[-_READ_BYTES:]).words
    return _told(session, asked, without_login(words)) if words.strip() else _silent(asked, outcome)


def impossible(asked: Asked, words: str) -> Text:
    """No set of packages fits together."""
    return text(
        "{tool} finds no set of packages that fits together, so nothing would be installed. It says: {words}",
        tool=asked.tool.value,
        words=shortened(explanation(without_login(words)), _WORDS_AT_MOST),
    )


def closed() -> Text:
    """An environment that no tool but the distribution's may change."""
    return text("the distribution keeps this Python for itself: other packages belong in an environment of their own")


def unreadable(asked: Asked) -> Text:
    """It succeeded, and yet nobody can tell what it would do."""
    return text(
        "What {tool} would do cannot be told: what it printed is no description of it, or not all of one", tool=asked.tool.value
    )


def _silent(asked: Asked, outcome: Outcome) -> Text:
    return text("{tool} ended with status {status} and did not say why", tool=asked.tool.value, status=outcome.status)


def _told(session: Session, asked: Asked, words: str) -> Text:
    reason, short = reason_of(words), verbatim(shortened(explanation(words), _WORDS_AT_MOST))
    tool = asked.tool.value
    if reason is Reason.IMPOSSIBLE:
        return impossible(asked, words)
    if reason is Reason.UNREACHABLE:
        return text("{tool} could not reach where it gets packages from. It says: {words}", tool=tool, words=short)
    if reason is Reason.TOO_OLD and asked.maker:
        return text(
            "the pip that {python} brings is too old to say what it would do (that takes 22.2); `{python} -m venv --upgrade-deps` "
            "makes an environment with a newer one",
            python=asked.maker,
        )
    if reason is Reason.TOO_OLD:
        command = _line(session, "pip-upgrade", asked, requirement="pip")
        return text(
            "this pip is too old to say what it would do (that takes 22.2); `{command}` brings a newer one", command=command
        )
    if reason is Reason.NO_PIP and asked.maker:
        return text(
            "{python} has no pip itself: what would be installed can be told once the environment is made", python=asked.maker
        )
    if reason is Reason.NO_PIP:
        command = _line(session, "pip-repair", asked)
        return text("{python} has no pip; `{command}` brings it", python=asked.python, command=command)
    if reason is Reason.CLOSED:
        return closed()
    return text("{tool} would do nothing. It says: {words}", tool=tool, words=short)


def _line(session: Session, key: str, asked: Asked, **parameters: str) -> str:
    lines = session.knowledge.commands.render(key, (Family.ANY,), {"python": asked.python, **parameters})
    return "; ".join(lines)
