"""What an outcome of any kind is shown as, and what the program ends with for it: one table for the terminal and the window.

Kinds and their members stand here by name: this is read at every start, before anybody knows which of them will be met.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, IntEnum

from gpuassist.model.text import Text, text


class Mark(str, Enum):
    """What a glyph says; a mark's value is that of the status, severity or step state that it stands for."""

    TODO = "todo"
    BUSY = "busy"
    RIGHT = "right"
    WARNING = "warning"
    PROBLEM = "problem"
    UNKNOWN = "unknown"
    INFO = "info"
    ABSENT = "absent"


class Exit(IntEnum):
    """The exit statuses of the command line's contract."""

    HEALTHY = 0
    WARNINGS = 1
    PROBLEMS = 2
    UNDETERMINED = 3
    USAGE = 64
    OUR_FAULT = 70
    INTERRUPTED = 130
    UNREAD = 141  # as a shell says of a program that SIGPIPE ended


MARK_WORDS: dict[Mark, Text] = {
    Mark.TODO: text("not done yet"),
    Mark.BUSY: text("working"),
    Mark.RIGHT: text("right"),
    Mark.WARNING: text("warning"),
    Mark.PROBLEM: text("problem"),
    Mark.UNKNOWN: text("not known"),
    Mark.INFO: text("good to know"),
    Mark.ABSENT: text("not there"),
}
GLYPHS: dict[Mark, str] = {
    Mark.TODO: "·",
    Mark.BUSY: "…",
    Mark.RIGHT: "✓",
    Mark.WARNING: "!",
    Mark.PROBLEM: "✗",
    Mark.UNKNOWN: "?",
    Mark.INFO: "i",
    Mark.ABSENT: "·",
}
_MARKS: dict[str, dict[str, Mark]] = {
    "Status": {one.value: one for one in (Mark.RIGHT, Mark.WARNING, Mark.PROBLEM, Mark.UNKNOWN, Mark.ABSENT)},
    "Severity": {one.value: one for one in (Mark.PROBLEM, Mark.WARNING, Mark.INFO)},
    "Verdict": {"pass": Mark.RIGHT, "fail": Mark.PROBLEM, "error": Mark.PROBLEM, "skipped": Mark.ABSENT, "hung": Mark.PROBLEM},
    "Result": {"modified": Mark.RIGHT, "unchanged": Mark.INFO, "refused": Mark.WARNING, "failed": Mark.PROBLEM},
    "Holds": {"yes": Mark.RIGHT, "no": Mark.PROBLEM, "unknown": Mark.UNKNOWN},
    "StepEnding": {"done": Mark.RIGHT, "failed": Mark.PROBLEM, "cancelled": Mark.WARNING, "not started": Mark.PROBLEM},
    "StepState": {
        "waiting": Mark.TODO,
        "done": Mark.RIGHT,
        "failed": Mark.PROBLEM,
        "cancelled": Mark.WARNING,
        "running": Mark.WARNING,  # on record only where gpuassist was ended meanwhile
        "taken-back": Mark.TODO,
    },
    "SetupStageState": {
        "done": Mark.RIGHT,
        "now": Mark.INFO,
        "later": Mark.TODO,
        "not-needed": Mark.ABSENT,
        "waits": Mark.BUSY,
        "unknown": Mark.UNKNOWN,
    },
    "ChangeStatus": {
        "stands": Mark.RIGHT,
        "nothing left": Mark.TODO,
        "undone": Mark.TODO,
        "missing": Mark.UNKNOWN,
        "unreadable": Mark.UNKNOWN,
    },
}
_EXITS: dict[str, dict[str, Exit]] = {
    "Severity": {"problem": Exit.PROBLEMS, "warning": Exit.WARNINGS, "info": Exit.HEALTHY},
    "Verdict": {
        "pass": Exit.HEALTHY,
        "fail": Exit.PROBLEMS,
        "error": Exit.PROBLEMS,
        "skipped": Exit.UNDETERMINED,
        "hung": Exit.PROBLEMS,
    },
    "Result": {"modified": Exit.HEALTHY, "unchanged": Exit.HEALTHY, "refused": Exit.PROBLEMS, "failed": Exit.PROBLEMS},
}
_WORST_FIRST = (Exit.OUR_FAULT, Exit.USAGE, Exit.PROBLEMS, Exit.WARNINGS, Exit.UNDETERMINED, Exit.HEALTHY)


def mark_of(outcome: Enum) -> Mark:
    """The mark that it is shown with."""
    return _MARKS[type(outcome).__name__][outcome.value]


def glyph_of(outcome: Enum) -> str:
    """The same on a terminal."""
    return GLYPHS[mark_of(outcome)]


def exit_of(outcome: Enum) -> Exit:
    """What the program ends with where this is what came of it."""
    return _EXITS[type(outcome).__name__][outcome.value]


def worst(exits: Iterable[Exit]) -> Exit:
    """The one that the program ends with where several apply."""
    found = set(exits)
    return next((one for one in _WORST_FIRST if one in found), Exit.HEALTHY)
