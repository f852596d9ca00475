"""Runs a program that reports on a descriptor of its own: the half of `streams` that needs `subprocess`."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

from gpuassist.system.groups import begin, end_group, under_way
from gpuassist.system.streams import DESCRIPTOR, LINE_AT_MOST_BYTES, OUTPUT_AT_MOST_BYTES, Ended, NotStarted, Quiet, Stream

_PIECE = 1 << 16
_LAST_WAIT_SECONDS = 2.0
_LOOK_AGAIN_SECONDS = 0.1
_AFTERWARDS_SECONDS = 0.5  # for what it left behind to say the rest: a wrapper that did not wait
_PIPE_AT_MOST_BYTES = 1 << 20  # proc(5), pipe-max-size


def start(command: Sequence[str], environment: Mapping[str, str], directory: str) -> Stream | NotStarted:
    """See `Streams.start`."""
    reading, writing = os.pipe()
    try:
        child = begin(lambda: _start(command, environment, directory, report=writing), lambda started: started.pid)
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        os.close(reading)
        return NotStarted(str(error), isinstance(error, FileNotFoundError))
    finally:
        os.close(writing)
    return _RealStream(child, reading)


def _start(command: Sequence[str], environment: Mapping[str, str], directory: str, *, report: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [word.replace(DESCRIPTOR, str(report)) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(environment),
        cwd=directory,
        start_new_session=True,
        pass_fds=(report,),
    )


class _RealStream:
    def __init__(self, child: subprocess.Popen[bytes], report: int) -> None:
        assert child.stdout is not None
        self._child, self._report, self._printed = child, report, child.stdout.fileno()
        self._pending = bytearray()
        self._output = bytearray()
        self._over_at = 0.0
        self._ended: Ended | None = None
        self._selector = selectors.DefaultSelector()
        for descriptor in (self._report, self._printed):
            os.set_blocking(descriptor, False)
            self._selector.register(descriptor, selectors.EVENT_READ)

    def line(self, *, seconds: float) -> bytes | Quiet:
        """See `Stream.line`."""
        deadline = time.monotonic() + seconds
        while (found := self._take_line()) is None:
            left = deadline - time.monotonic()
            if not self._is_open(self._report):
                return Quiet.CLOSED
            if self._is_long_over():
                self._close_report()
            elif left <= 0:
                return Quiet.SILENT
            else:
                self._read(min(left, _LOOK_AGAIN_SECONDS))
        return found

    def end(self, *, patience: float = 0.0) -> Ended:
        """See `Stream.end`."""
        if self._ended is None:
            self._ended = self._end(patience)
        return self._ended

    def _end(self, patience: float) -> Ended:
        deadline = time.monotonic() + patience
        while not self._is_over() and time.monotonic() < deadline:
            self._read(min(0.05, patience))  # a program that prints much would otherwise wait for its pipe
        by_itself = self._is_over()
        end_group(self._child.pid)
        under_way.discard(self._child.pid)
        self._read(0.0)
        self._selector.close()
        os.close(self._report)
        if self._child.stdout is not None:
            self._child.stdout.close()
        try:
            self._child.wait(timeout=_LAST_WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        status = self._child.returncode if by_itself else None
        return Ended(
            max(status or 0, 0),
            signal_name(-status) if status is not None and status < 0 else "",
            self._output.decode("utf-8", "replace"),
            not by_itself,
        )

    def _is_over(self) -> bool:
        """Whether it has ended. It is not waited for yet: its number stays that of its group, which is still to be ended."""
        if self._child.returncode is not None:
            return True
        try:
            return os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # somebody else waited for it
            return self._child.poll() is not None

    def _is_long_over(self) -> bool:
        if not self._is_over():
            return False
        self._over_at = self._over_at or time.monotonic()
        return time.monotonic() - self._over_at > _AFTERWARDS_SECONDS

    def _close_report(self) -> None:
        """What is in the pipe is all that it said; one that it left behind holds the other end, maybe for ever."""
        told = len(self._pending) + _PIPE_AT_MOST_BYTES
        while len(self._pending) < told:
            try:
                piece = os.read(self._report, _PIECE)
            except BlockingIOError:
                break
            if not piece:
                break
            self._pending += piece
        self._selector.unregister(self._report)

    def _take_line(self) -> bytes | None:
        end = self._pending.find(b"\n")
        if end < 0 and len(self._pending) < LINE_AT_MOST_BYTES:
            return None
        end = LINE_AT_MOST_BYTES if end < 0 else end
        line = bytes(self._pending[:end])
        del self._pending[: end + 1]
        return line

    def _read(self, seconds: float) -> None:
        if not self._selector.get_map():
            time.sleep(seconds)
            return
        for key, _ in self._selector.select(seconds):
            try:
                piece = os.read(key.fd, _PIECE)
            except BlockingIOError:
                continue
            if not piece:
                self._selector.unregister(key.fd)
            elif key.fd == self._report:
                self._pending += piece
            else:
                self._output += piece
                del self._output[:-OUTPUT_AT_MOST_BYTES]

    def _is_open(self, descriptor: int) -> bool:
        return descriptor in self._selector.get_map()


def signal_name(number: int) -> str:
    """The name of a signal: SIGSEGV of 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
