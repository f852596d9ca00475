"""Runs a program on a terminal of its own that nobody types into: the half of `programs` that needs `subprocess`."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Mapping, Sequence

from gpuassist.system.groups import begin, end_group, under_way
from gpuassist.system.process_marks import end_marked, marked
from gpuassist.system.programs import MARK, Program, ProgramEnd
from gpuassist.system.stream_running import signal_name
from gpuassist.system.streams import NotStarted, Quiet

_PIECE = 1 << 16
_LOOK_AGAIN_SECONDS = 0.05
_LAST_WAIT_SECONDS = 2.0
_ROWS, _COLUMNS = 24, 100
_AFTERWARDS_SECONDS = 0.5


def start(command: Sequence[str], environment: Mapping[str, str], directory: str, mark: str) -> Program | NotStarted:
    """See `Programs.start`."""
    reading, writing = _terminal()
    around = {**environment, MARK: mark}
    try:
        child = begin(lambda: _start(command, around, directory, writing), lambda started: started.pid)
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        os.close(reading)
        return NotStarted(str(error), isinstance(error, FileNotFoundError))
    finally:
        os.close(writing)
    return _RealProgram(child, reading, mark)


def _start(command: Sequence[str], environment: Mapping[str, str], directory: str, output: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(command),
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        env=dict(environment),
        cwd=directory,
        start_new_session=True,  # it has no terminal to ask on: opening /dev/tty fails
    )


def _terminal() -> tuple[int, int]:
    """The two ends of a terminal that hands on what is printed as it is; of a pipe where the machine has no terminals to give."""
    try:
        reading, writing = os.openpty()
    except OSError:  # a container without /dev/pts
        return os.pipe()
    modes = termios.tcgetattr(writing)
    modes[1] &= ~termios.OPOST
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(writing, termios.TCSANOW, modes)
    fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    return reading, writing


class _RealProgram:
    def __init__(self, child: subprocess.Popen[bytes], output: int, mark: str) -> None:
        self._child, self._output, self._mark = child, output, mark
        self._open = True
        self._over_at = 0.0
        self._finished: ProgramEnd | None = None
        os.set_blocking(output, False)
        self._poll = select.poll()
        self._poll.register(output, select.POLLIN)

    def read(self, *, seconds: float) -> bytes | Quiet:
        """See `Program.read`."""
        deadline = time.monotonic() + seconds
        while True:
            over = self.ended()  # asked before reading: what it printed last is there by then
            piece = self._piece(0.0 if over else min(_LOOK_AGAIN_SECONDS, max(0.0, deadline - time.monotonic())))
            if over and (not piece or self._is_long_over()):
                return Quiet.CLOSED  # one that it left behind may hold the terminal, or go on printing: nobody waits for that
            if piece:
                return piece
            if time.monotonic() >= deadline:
                return Quiet.SILENT

    def ended(self) -> bool:
        """See `Program.ended`."""
        return self._child.poll() is not None

    def interrupt(self) -> None:
        """See `Program.interrupt`."""
        self._send(signal.SIGINT)

    def terminate(self) -> None:
        """See `Program.terminate`."""
        self._send(signal.SIGTERM)

    def end(self) -> ProgramEnd:
        """See `Program.end`."""
        if self._finished is None:
            self._finished = self._end()
        return self._finished

    def _end(self) -> ProgramEnd:
        left = len(marked(self._mark)) if self.ended() else 0
        end_group(self._child.pid)
        try:
            self._child.wait(timeout=_LAST_WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            # In uninterruptible sleep (a disk or a GPU driver that hangs) not even SIGKILL ends it: nobody waits for that.
            threading.Thread(target=self._child.wait, name=f"waits for {self._child.pid}", daemon=True).start()
        end_marked(self._mark)
        under_way.discard(self._child.pid)
        os.close(self._output)
        status = self._child.returncode
        if status is None:
            return ProgramEnd(0, "", left, stuck=True)
        by_signal = signal_name(-status) if status < 0 else ""
        return ProgramEnd(max(status, 0), by_signal, left)

    def _is_long_over(self) -> bool:
        self._over_at = self._over_at or time.monotonic()
        return time.monotonic() - self._over_at > _AFTERWARDS_SECONDS

    def _send(self, number: signal.Signals) -> None:
        if self._child.poll() is None:  # its number is its own as long as nobody has waited for it
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, number)

    def _piece(self, seconds: float) -> bytes:
        if not self._open:  # it closed its output and goes on
            time.sleep(seconds)
            return b""
        if not self._poll.poll(seconds * 1000):
            return b""
        try:
            piece = os.read(self._output, _PIECE)
        except BlockingIOError:
            return b""
        except OSError as error:
            if error.errno != errno.EIO:  # what a terminal says when the last one that printed on it has gone
                raise
            piece = b""
        self._open = bool(piece)
        return piece
