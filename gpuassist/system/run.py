"""How the operating system runs a program to its end: the half of `processes` that needs `subprocess`."""

from __future__ import annotations

import os
import selectors
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from gpuassist.system.groups import begin, end_group, under_way
from gpuassist.system.processes import OUTPUT_AT_MOST_BYTES, Ending, ProcessResult

_LOOK_AGAIN_SECONDS = 0.1
_LAST_WAIT_SECONDS = 0.5
_PIECE = 1 << 16


def run(
    command: Sequence[str],
    *,
    seconds: float,
    environment: Mapping[str, str],
    directory: str,
    stdin: bytes,
    cancelled: Callable[[], bool] | None = None,
) -> ProcessResult:
    """See `Processes.run`."""
    began = time.monotonic()
    unwanted = _Unwanted(began + seconds, cancelled)
    try:
        child = begin(lambda: _start(command, environment, directory, stdin), lambda started: started.pid)
    except FileNotFoundError as error:
        return ProcessResult(Ending.NOT_FOUND, 0, b"", b"", 0.0, str(error))
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        return ProcessResult(Ending.NOT_STARTED, 0, b"", b"", 0.0, str(error))
    pipes = _Pipes(child)
    try:
        in_time = _await(child, pipes, unwanted)
    finally:
        pipes.close()
        if child.poll() is None:  # Ctrl-C while it was waited for
            end_group(child.pid)
        try:
            child.wait(timeout=_LAST_WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            # In uninterruptible sleep (a GPU driver that hangs) not even SIGKILL ends it: what it said must not wait for that.
            threading.Thread(target=child.wait, name=f"waits for {child.pid}", daemon=True).start()
        under_way.discard(child.pid)
    stdout, stderr = pipes.printed
    return ProcessResult(
        unwanted.why if not in_time else _ending(child), abs(child.returncode or 0), stdout, stderr, time.monotonic() - began
    )


def _start(command: Sequence[str], environment: Mapping[str, str], directory: str, stdin: bytes) -> subprocess.Popen[bytes]:
    with _given(stdin) as given:
        return subprocess.Popen(
            list(command),
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            cwd=directory,
            start_new_session=True,
        )


@contextmanager
def _given(stdin: bytes) -> Iterator[int]:
    """Its standard input, as a file in memory: a shell reads a pipe byte by byte, because it may not read too far (bash -n of
    2,000 lines: 75 ms from a pipe, 13 ms from a file).
    """
    if not stdin:
        yield subprocess.DEVNULL
        return
    descriptor = os.memfd_create("gpuassist")
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(stdin)
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


class _Unwanted:
    """When a program is no longer waited for: its time is over, or whoever wanted it has changed his mind."""

    def __init__(self, deadline: float, cancelled: Callable[[], bool] | None) -> None:
        self.deadline, self._cancelled = deadline, cancelled
        self.why = Ending.TIMED_OUT

    def __bool__(self) -> bool:
        if self._cancelled is not None and self._cancelled():
            self.why = Ending.CANCELLED
            return True
        return time.monotonic() >= self.deadline

    def wait(self) -> float:
        """How long to wait before it is asked again."""
        return max(0.0, min(_LOOK_AGAIN_SECONDS, self.deadline - time.monotonic()))


def _await(child: subprocess.Popen[bytes], pipes: _Pipes, unwanted: _Unwanted) -> bool:
    """Whether it ended before it was unwanted."""
    while pipes.are_open and child.poll() is None and not unwanted:
        pipes.serve(unwanted.wait())
    in_time = child.poll() is not None or _ends(child, unwanted)
    if in_time:
        pipes.drain(_LOOK_AGAIN_SECONDS)
    if pipes.are_open or not in_time:
        # Too late, or ended but for one that it left in the background (a shell's start-up file does), which holds the pipes.
        end_group(child.pid)
        # A grandchild that left the group can hold the pipes open for ever: take what is there and go.
        pipes.drain(_LAST_WAIT_SECONDS)
    return in_time


def _ends(child: subprocess.Popen[bytes], unwanted: _Unwanted) -> bool:
    while not unwanted:
        try:
            child.wait(timeout=unwanted.wait())
        except subprocess.TimeoutExpired:
            continue
        return True
    return False


def _ending(child: subprocess.Popen[bytes]) -> Ending:
    return Ending.EXITED if child.returncode >= 0 else Ending.KILLED


class _Pipes:
    """What a program prints, of which no more than a bound is kept.

    `communicate` of the library keeps everything: a start-up file that runs `yes` cost 1.2 GB in ten seconds.
    """

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdout is not None
        assert child.stderr is not None
        self._files = (child.stdout, child.stderr)
        self._kept = {child.stdout.fileno(): bytearray(), child.stderr.fileno(): bytearray()}
        self._selector = selectors.DefaultSelector()
        for descriptor in self._kept:
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ)

    @property
    def are_open(self) -> bool:
        """Whether anything may still come."""
        return bool(self._selector.get_map())

    @property
    def printed(self) -> tuple[bytes, bytes]:
        """Standard output and error so far."""
        out, err = self._kept.values()
        return bytes(out), bytes(err)

    def drain(self, seconds: float) -> None:
        """Reads until nobody prints any more, and no longer than that."""
        deadline = time.monotonic() + seconds
        while self.are_open and time.monotonic() < deadline:
            self.serve(max(0.0, deadline - time.monotonic()))

    def serve(self, seconds: float) -> None:
        """Waits for the next piece, and moves it."""
        for key, _ in self._selector.select(seconds):
            piece = os.read(key.fd, _PIECE)
            if not piece:
                self._selector.unregister(key.fd)
            kept = self._kept[key.fd]
            kept += piece[: OUTPUT_AT_MOST_BYTES - len(kept)]

    def close(self) -> None:
        """Lets go of all of them."""
        self._selector.close()
        for file in self._files:
            file.close()
