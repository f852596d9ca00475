"""Programs that are children of ours, in three manners: run to their end (`Processes`), reporting on a descriptor of their own
(`Streams`), and on a terminal that nobody types into (`Programs`). It is the half of those ports that needs `subprocess`.

Each runs in a session and process group of its own, which is ended whole, and of what it prints no more than a bound is kept:
`communicate` of the library keeps everything, and a start-up file that ran `yes` cost 1.2 GB in ten seconds.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import IO, Any, NamedTuple

from gpuassist.system import processes, streams
from gpuassist.system.groups import begin, end_group, under_way
from gpuassist.system.outputs import Outputs
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.system.stop_process import end_marked, marked
from gpuassist.system.streams import DESCRIPTOR, LINE_AT_MOST_BYTES, MARK, Ended, NotStarted, Program, ProgramEnd, Quiet, Stream

_LOOK_AGAIN_SECONDS = 0.1
_LAST_WAIT_SECONDS = 2.0
_HEARS_OF_ITS_END_SECONDS = 2.0  # for one that is to end with its input: a container takes a second to be taken apart
_LAST_OUTPUT_SECONDS = 0.5  # of one that was run to its end: what it said must not wait for long
_AFTERWARDS_SECONDS = 0.5  # for what it left behind to say the rest: a wrapper that did not wait
_ROWS, _COLUMNS = 24, 100
_DETACHED_WITHIN_SECONDS = 5.0

Popen = subprocess.Popen[bytes]


def _why(error: Exception, program: str) -> str:
    """In the words of the operating system, without its number, and without the path where that is the program's."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return error.strerror if error.filename in {None, program} else f"{error.strerror}: {error.filename}"


def _not_started(error: Exception, program: str) -> NotStarted:
    return NotStarted(_why(error, program), isinstance(error, FileNotFoundError) and error.filename in {None, program})


def _started(command: Sequence[str], environment: Mapping[str, str], directory: str, **files: Any) -> Popen:
    return begin(
        lambda: subprocess.Popen(list(command), env=dict(environment), cwd=directory, start_new_session=True, **files),
        lambda child: child.pid,
    )


def _bury(child: Popen, seconds: float) -> None:
    try:
        child.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        # In uninterruptible sleep (a disk or a GPU driver that hangs) not even SIGKILL ends it: nobody waits for that.
        threading.Thread(target=child.wait, name=f"waits for {child.pid}", daemon=True).start()
    under_way.discard(child.pid)


def signal_name(number: int) -> str:
    """The name of a signal: SIGSEGV of 11."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class _Child:
    """One whose output is read while it runs."""

    def __init__(self, child: Popen, outputs: Outputs) -> None:
        self._child, self._outputs = child, outputs
        self._over_at = 0.0

    def ended(self) -> bool:
        """Whether it has ended. It is not waited for yet: its number stays that of its group, which is still to be ended."""
        if self._child.returncode is not None:
            return True
        try:
            return os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # somebody else waited for it
            return self._child.poll() is not None

    def _is_long_over(self) -> bool:
        if not self.ended():
            return False
        self._over_at = self._over_at or time.monotonic()
        return time.monotonic() - self._over_at > _AFTERWARDS_SECONDS


# To its end.


def run(
    command: Sequence[str],
    *,
    seconds: float,
    environment: Mapping[str, str],
    directory: str,
    stdin: bytes,
    cancelled: Callable[[], bool] | None = None,
) -> ProcessResult:
    began = time.monotonic()
    unwanted = _Unwanted(began + seconds, cancelled)
    # Its standard input is a file in memory: a shell reads a pipe byte by byte, because it may not read too far (bash -n of 2,000
    # lines: 75 ms from a pipe, 13 ms from a file).
    given = os.memfd_create("gpuassist") if stdin else subprocess.DEVNULL
    try:
        if stdin:
            with os.fdopen(given, "wb", closefd=False) as memory:
                memory.write(stdin)
            os.lseek(given, 0, os.SEEK_SET)
        child = _started(command, environment, directory, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except FileNotFoundError as error:
        return ProcessResult(Ending.NOT_FOUND, 0, b"", b"", 0.0, str(error))
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        return ProcessResult(Ending.NOT_STARTED, 0, b"", b"", 0.0, str(error))
    finally:
        if stdin:
            os.close(given)
    kept = (bytearray(), bytearray())
    files = [file for file in (child.stdout, child.stderr) if file is not None]
    outputs = Outputs({file.fileno(): partial(_keep_first, there) for file, there in zip(files, kept, strict=True)})
    try:
        in_time = _await(child, outputs, unwanted)
    finally:
        outputs.selector.close()
        for file in files:
            file.close()
        if child.poll() is None:  # Ctrl-C while it was waited for
            end_group(child.pid)
        _bury(child, _LAST_OUTPUT_SECONDS)
    ending = Ending.EXITED if (child.returncode or 0) >= 0 else Ending.KILLED
    stdout, stderr = map(bytes, kept)
    lasted = time.monotonic() - began
    return ProcessResult(ending if in_time else unwanted.why, abs(child.returncode or 0), stdout, stderr, lasted)


def _keep_first(kept: bytearray, piece: bytes) -> None:
    kept += piece[: processes.OUTPUT_AT_MOST_BYTES - len(kept)]


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


def _await(child: Popen, outputs: Outputs, unwanted: _Unwanted) -> bool:
    """Whether it ended before it was unwanted."""
    while outputs.are_open() and child.poll() is None and not unwanted:
        outputs.serve(unwanted.wait())
    while child.poll() is None and not unwanted:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=unwanted.wait())
    in_time = child.poll() is not None
    if in_time:
        outputs.drain(_LOOK_AGAIN_SECONDS)
    if outputs.are_open() or not in_time:
        # Too late, or ended but for one that it left in the background (a shell's start-up file does), which holds the pipes.
        end_group(child.pid)
        # A grandchild that left the group can hold the pipes open for ever: take what is there and go.
        outputs.drain(_LAST_OUTPUT_SECONDS)
    return in_time


# Reporting on a descriptor.


def stream(command: Sequence[str], environment: Mapping[str, str], directory: str) -> Stream | NotStarted:
    reading, writing = os.pipe()
    words = [word.replace(DESCRIPTOR, str(writing)) for word in command]
    files: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    try:
        child = _started(words, environment, directory, pass_fds=(writing,), **files)
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        os.close(reading)
        return _not_started(error, command[0])
    finally:
        os.close(writing)
    return _RealStream(child, reading, child.stdout)


def stream_through(command: Sequence[str], environment: Mapping[str, str], directory: str, given: bytes) -> Stream | NotStarted:
    """One that is given its standard input and reports on its standard output: where it runs, no descriptor of ours is."""
    reading, writing = os.pipe()
    theirs, ours = os.pipe()
    try:
        child = _started(command, environment, directory, stdin=theirs, stdout=writing, stderr=subprocess.PIPE)
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        os.close(reading)
        os.close(ours)
        return _not_started(error, command[0])
    finally:
        os.close(writing)
        os.close(theirs)
    return _RealStream(child, reading, child.stderr, _Input(ours, given))


class _Input(NamedTuple):
    """The standard input of one that ends with it, and what is written there first."""

    descriptor: int
    given: bytes


class _RealStream(_Child):
    def __init__(self, child: Popen, report: int, prints: IO[bytes] | None, lasting: _Input | None = None) -> None:
        assert prints is not None
        self._report, self._prints, self._lasting = report, prints, lasting
        self._pending, self._printed = bytearray(), bytearray()
        self._result: Ended | None = None
        super().__init__(child, Outputs({report: self._pending.extend, prints.fileno(): self._keep}))
        if lasting is not None:
            self._outputs.feed(lasting.descriptor, lasting.given)

    def _keep(self, piece: bytes) -> None:
        self._printed += piece
        del self._printed[: -streams.OUTPUT_AT_MOST_BYTES]

    def line(self, *, seconds: float) -> bytes | Quiet:
        deadline = time.monotonic() + seconds
        while True:
            end = self._pending.find(b"\n")
            if end >= 0 or len(self._pending) >= LINE_AT_MOST_BYTES:
                end = LINE_AT_MOST_BYTES if end < 0 else end
                line = bytes(self._pending[:end])
                del self._pending[: end + 1]
                return line
            left = deadline - time.monotonic()
            if not self._outputs.are_open(self._report):
                return Quiet.CLOSED
            if self._is_long_over():
                self._outputs.empty(self._report)
            elif left <= 0:
                return Quiet.SILENT
            else:
                self._outputs.serve(min(left, _LOOK_AGAIN_SECONDS))

    def end(self, *, patience: float = 0.0) -> Ended:
        if self._result is not None:
            return self._result
        self._await_end(patience)
        by_itself = self.ended()
        if self._lasting is not None:
            self._outputs.leave(self._lasting.descriptor)
            os.close(self._lasting.descriptor)
            self._await_end(_HEARS_OF_ITS_END_SECONDS)
        end_group(self._child.pid)
        self._outputs.serve(0.0)
        self._outputs.selector.close()
        os.close(self._report)
        self._prints.close()
        _bury(self._child, _LAST_WAIT_SECONDS)
        status = (self._child.returncode or 0) if by_itself else 0
        by_signal = signal_name(-status) if status < 0 else ""
        self._result = Ended(max(status, 0), by_signal, self._printed.decode("utf-8", "replace"), not by_itself)
        return self._result

    def _await_end(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not self.ended() and time.monotonic() < deadline:
            self._outputs.serve(min(0.05, seconds))  # a program that prints much would otherwise wait for its pipe


# On a terminal.


def program(command: Sequence[str], environment: Mapping[str, str], directory: str, mark: str) -> Program | NotStarted:
    try:
        reading, writing = os.openpty()
    except OSError:  # a container without /dev/pts
        reading, writing = os.pipe()
    else:
        # It hands on what is printed as it is.
        modes = termios.tcgetattr(writing)
        modes[1] &= ~termios.OPOST
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(writing, termios.TCSANOW, modes)
        fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
    try:
        # In its own session it has no terminal to ask on: opening /dev/tty fails.
        files: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": writing, "stderr": writing}
        child = _started(command, {**environment, MARK: mark}, directory, **files)
    except (OSError, ValueError) as error:  # ValueError: a NUL in an argument
        os.close(reading)
        return _not_started(error, command[0])
    finally:
        os.close(writing)
    return _RealProgram(child, reading, mark)


class _RealProgram(_Child):
    def __init__(self, child: Popen, terminal: int, mark: str) -> None:
        self._terminal, self._mark, self._printed = terminal, mark, bytearray()
        self._result: ProgramEnd | None = None
        super().__init__(child, Outputs({terminal: self._printed.extend}))

    def read(self, *, seconds: float) -> bytes | Quiet:
        deadline = time.monotonic() + seconds
        while True:
            over = self.ended()  # asked before reading: what it printed last is there by then
            self._outputs.serve(0.0 if over else min(_LOOK_AGAIN_SECONDS / 2, max(0.0, deadline - time.monotonic())))
            piece = bytes(self._printed)
            self._printed.clear()
            if over and (not piece or self._is_long_over()):
                return Quiet.CLOSED  # one that it left behind may hold the terminal, or go on printing: nobody waits for that
            if piece:
                return piece
            if time.monotonic() >= deadline:
                return Quiet.SILENT

    def interrupt(self) -> None:
        self._send(signal.SIGINT)

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def _send(self, number: signal.Signals) -> None:
        if not self.ended():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._child.pid, number)

    def end(self) -> ProgramEnd:
        if self._result is None:
            left = len(marked(self._mark)) if self.ended() else 0
            end_group(self._child.pid)
            _bury(self._child, _LAST_WAIT_SECONDS)
            end_marked(self._mark)
            self._outputs.selector.close()
            os.close(self._terminal)
            status = self._child.returncode
            by_signal = signal_name(-status) if status is not None and status < 0 else ""
            self._result = ProgramEnd(max(status or 0, 0), by_signal, left, stuck=status is None)
        return self._result


# And one that is the user's once it runs: let go of, and outliving us.


def start_detached(command: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Starts it as a child of nobody here, and says whether that went well as far as can be told."""
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", '"$@" &', "sh", *command],
            env=dict(environment),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=_DETACHED_WITHIN_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
