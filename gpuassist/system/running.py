"""How the operating system runs a program to its end: the half of `processes` that needs `subprocess`."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Mapping, Sequence

from gpuassist.system.processes import OUTPUT_AT_MOST_BYTES, Ending, Outcome, end_group

_LOOK_AGAIN_SECONDS = 0.1
_LAST_WAIT_SECONDS = 0.5


def run(command: Sequence[str], *, seconds: float, environment: Mapping[str, str], directory: str, stdin: bytes) -> Outcome:
    """See `Processes.run`."""
    began = time.monotonic()
    try:
        child = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=directory,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        return Outcome(Ending.NOT_FOUND, 0, b"", b"", 0.0, str(error))
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        return Outcome(Ending.NOT_STARTED, 0, b"", b"", 0.0, str(error))
    try:
        return _collect(child, stdin, seconds, began)
    finally:
        _let_go(child)


def _collect(child: subprocess.Popen[bytes], stdin: bytes, seconds: float, began: float) -> Outcome:
    stdout, stderr, ending = _await(child, stdin, began + seconds)
    return Outcome(
        ending,
        abs(child.returncode or 0),
        stdout[:OUTPUT_AT_MOST_BYTES],
        stderr[:OUTPUT_AT_MOST_BYTES],
        time.monotonic() - began,
    )


def _await(child: subprocess.Popen[bytes], stdin: bytes, deadline: float) -> tuple[bytes, bytes, Ending]:
    # A second communicate() sends no input (CPython 3.11), so what is given input is waited for in one go.
    given, slice_seconds = (stdin, deadline) if stdin else (None, _LOOK_AGAIN_SECONDS)
    if not stdin and child.stdin is not None:
        child.stdin.close()
        child.stdin = None
    while True:
        try:
            stdout, stderr = child.communicate(given, timeout=max(0.0, min(slice_seconds, deadline - time.monotonic())))
        except subprocess.TimeoutExpired:
            given = None
        else:
            return stdout, stderr, _ending(child)
        if child.poll() is not None:
            # The program has ended, but one that it left in the background (a shell's start-up file does) holds the pipes.
            end_group(child.pid)
            return *_leftovers(child), _ending(child)
        if time.monotonic() >= deadline:
            end_group(child.pid)
            return *_leftovers(child), Ending.TIMED_OUT


def _ending(child: subprocess.Popen[bytes]) -> Ending:
    return Ending.EXITED if child.returncode >= 0 else Ending.KILLED


def _leftovers(child: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    # A grandchild that left the group can hold the pipes open for ever: take what is there and go.
    try:
        return child.communicate(timeout=0.5)
    except subprocess.TimeoutExpired as late:
        return late.stdout or b"", late.stderr or b""


def _let_go(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
    try:
        child.wait(timeout=_LAST_WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        # In uninterruptible sleep (a GPU driver that hangs) not even SIGKILL ends it: what it said must not wait for that.
        threading.Thread(target=child.wait, name=f"waits for {child.pid}", daemon=True).start()
