"""The start of a child of our own that is asked over a pipe (`system.worker`), with nothing imported that it does not need.

A sample on the command line begins with it: all the rest of gpuassist is imported while that child starts.

It is started without `subprocess`, whose import costs 8 ms. It leads a process group, so that Ctrl-C in a terminal does not reach
it, and it ends when its pipe closes or when the thread that started it is gone (`system.parent_end`), even where that was killed.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping, Sequence

from gpuassist.system.groups import begin
from gpuassist.system.own_child import own_child

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    from typing import Any

REQUESTS, ANSWERS = 0, 3
"""The descriptors that the child reads and writes."""
HANDED = 4
"""The one that it has of a file that it was handed."""

_SIGPIPE = 13  # without `signal`, whose enumerations cost every start a millisecond


class PipedChild:
    """It runs; `requests` and `answers` are our ends of its pipes."""

    __slots__ = ("answers", "pid", "requests")

    def __init__(self, pid: int, requests: int, answers: int) -> None:
        self.pid, self.requests, self.answers = pid, requests, answers


def command(module: str, argument: str) -> tuple[str, ...]:
    """The command line of such a child, whose last word is our process number."""
    return (*own_child(module, argument, "-S"), str(os.getpid()))


def start_piped(words: Sequence[str], environment: Mapping[str, str], handed: int | None = None) -> PipedChild:
    """Starts it, with the open file `handed` if there is one; raises `OSError` where it cannot be, and `ValueError` for a NUL in an
    argument.
    """
    its_requests, requests = _pipe()
    answers, its_answers = _pipe()
    actions = [
        (os.POSIX_SPAWN_DUP2, its_requests, REQUESTS),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_RDWR, 0),  # a library that prints
        (os.POSIX_SPAWN_DUP2, 1, 2),
        (os.POSIX_SPAWN_DUP2, its_answers, ANSWERS),
    ]
    if handed is not None:
        actions.append((os.POSIX_SPAWN_DUP2, handed, HANDED))
    options: dict[str, Any] = {"file_actions": actions, "setpgroup": 0, "setsigdef": [_SIGPIPE]}
    try:
        pid = begin(lambda: os.posix_spawn(words[0], list(words), dict(environment), **options), lambda pid: pid)
    except (OSError, ValueError):
        os.close(requests)
        os.close(answers)
        raise
    finally:
        os.close(its_requests)
        os.close(its_answers)
    return PipedChild(pid, requests, answers)


def _pipe() -> tuple[int, int]:
    """Both ends above the descriptors that a child gets, which could else be overwritten by each other."""
    ends = os.pipe()
    try:
        above = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    finally:
        for end in ends:
            os.close(end)
    return above[0], above[1]
