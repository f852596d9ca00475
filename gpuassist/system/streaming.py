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
            if left <= 0:
                return Quiet.SILENT
            self._read(left)
        return found

    def end(self, *, patience: float = 0.0) -> Ended:
        """See `Stream.end`."""
        if self._ended is None:
            self._ended = self._end(patience)
        return self._ended

    def _end(self, patience: float) -> Ended:
        deadline = time.monotonic() + patience
        while self._child.poll() is None and time.monotonic() < deadline:
            self._read(min(0.05, patience))  # a program that prints much would otherwise wait for its pipe
        status = self._child.poll()
        end_group(self._child.pid)
        under_way.discard(self._child.pid)
        self._read(0.0)
        self._close()
        return Ended(
            max(status or 0, 0),
            signal_name(-status) if status is not None and status < 0 else "",
            self._output.decode("utf-8", "replace"),
            status is None,
        )

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

    def _close(self) -> None:
        self._selector.close()
        os.close(self._report)
        if self._child.stdout is not None:
            self._child.stdout.close()
        try:
            self._child.wait(timeout=_LAST_WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            pass  # in uninterruptible sleep, as in a GPU driver that hangs, not even SIGKILL ends it


def signal_name(number: int) -> str:
    """The name of a signal: SIGSEGV of 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
