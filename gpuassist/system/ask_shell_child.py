"""The child process in which a shell is started and asked, and all that it started is ended.

It is a process of its own because it becomes the parent of whatever the shell's start-up files leave behind
(PR_SET_CHILD_SUBREAPER, prctl(2)), so that nothing they start is overlooked, and nothing else is taken for it. It gets a request
on standard input and prints what came of it, both as `marshal` writes them: the same interpreter reads them.

One is started for every shell that is asked, so it and all that it imports stand without dataclasses, msgspec, typing, enum,
collections, json and, until a program asks the terminal something, re: its start takes 13 ms of processor time, with them 44 (a
bare interpreter takes 8).
"""

from __future__ import annotations

import ctypes
import marshal
import sys
import time

from gpuassist.system.parent_end import hear_of_parents_end
from gpuassist.system.shell_session import SessionResult, ShellSession
from gpuassist.system.terminal_session import OnTerminal

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    import signal

    from gpuassist.system.ask_shell import ShellRequest
else:
    import _signal as signal  # what `signal` wraps in enumerations

_PR_SET_CHILD_SUBREAPER = 36


def main() -> int:
    sys.stdout.buffer.write(marshal.dumps(vars(ask(marshal.loads(sys.stdin.buffer.read())))))
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
