"""The child process in which a shell is started and asked, and all that it started is ended.

It is a process of its own because it becomes the parent of whatever the shell's start-up files leave behind
(PR_SET_CHILD_SUBREAPER, prctl(2)), so that nothing they start is overlooked, and nothing else is taken for it. It gets a request
as JSON on standard input and prints what came of it as JSON.
"""

from __future__ import annotations

import ctypes
import json
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TypedDict

from gpuassist.system.parent_end import hear_of_parents_end
from gpuassist.system.shell_session import SessionResult, ShellSession
from gpuassist.system.terminal_session import OnTerminal

_PR_SET_CHILD_SUBREAPER = 36


class ShellRequest(TypedDict):
    """What is to be started, on a terminal or not, and how long its answer is waited for, for which `scratch` is a directory.

    The first prompts, as many as `enters`, are questions and get the Enter key; the question of number `prompt_at` is a prompt.
    """

    command: Sequence[str]
    environment: Mapping[str, str]
    directory: str
    terminal: bool
    seconds: float
    scratch: str
    enters: int
    prompt_at: int


def main() -> int:
    sys.stdout.write(json.dumps(vars(ask(json.load(sys.stdin)))))
    return 0


def ask(request: ShellRequest) -> SessionResult:
    """Starts the shell and waits for its answer; this process then is the parent of what is left behind."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # Where gpuassist goes without ending us, what was started goes all the same.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    hear_of_parents_end(signal.SIGTERM)
    began = time.monotonic()
    scratch = request["scratch"]
    session = OnTerminal(scratch, request["enters"], request["prompt_at"]) if request["terminal"] else ShellSession(scratch)
    came = session.came
    try:
        session.start(request["command"], request["environment"], request["directory"])
        if not came.words:
            session.wait(began + request["seconds"])
    finally:
        came.seconds = time.monotonic() - began
        came.left = [(one.pid, one.name) for one in session.end()]
    came.printed = session.printed.decode("utf-8", "replace")
    return came
