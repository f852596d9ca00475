"""A program of the user's in our own place: the terminal, the standard streams and the process group are those that we were given.

As it shares our process group, the terminal's Ctrl+C, Ctrl+Z and Ctrl+\\ reach it without us, and a shell stops and continues both
at once. What is sent to us alone (`kill`, a batch system, systemd) is passed on; what the terminal sent to the whole group is not,
for it would come twice. Where the program stops itself, we stop too: a shell looks at the process that it started, which is we.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import sleep

from msgspec import Struct

CANNOT_BE_RUN, NOT_FOUND = 126, 127  # as a shell says it
BY_SIGNAL = 128
_PASSED_ON = (
    *(signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP),
    *(signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGWINCH),
)
# Python ignores these for itself, and an ignored signal stays so in a program that is started.
_OF_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
_STANDARD_OUTPUT, _STANDARD_ERROR = 1, 2
_SHELL = "/bin/sh"
_FIRST_LINE_BYTES = 80
_CONTINUING_SECONDS = 0.05
_LOOK_AGAIN_SECONDS = 1.0


class ForegroundEnd(Struct, frozen=True):
    """How it ended: the status that a shell would give, and the signal that ended it, 0 where none did."""

    status: int
    signal: int = 0


class NotRunError(Exception):
    """It cannot be started; `status` is what a shell would give, `words` the system's own.

    `lacks_interpreter`: the file is there, and what its first line names is not.
    """

    def __init__(self, status: int, words: str, *, lacks_interpreter: bool = False) -> None:
        super().__init__(words)
        self.status, self.words, self.lacks_interpreter = status, words, lacks_interpreter


@contextmanager
def signals_held() -> Iterator[None]:
    """Around `run_here`, and the start of every thread beside it: signals wait for it, and no thread of ours takes one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*_PASSED_ON, signal.SIGCHLD})
    try:
        yield
    finally:
        while signal.sigtimedwait({*_PASSED_ON, signal.SIGCHLD}, 0):
            pass  # what came after its end was meant for it
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def run_here(command: Sequence[str], environment: Mapping[str, str], *, to_standard_error: bool = False) -> ForegroundEnd:
    """Runs it to its end, within `signals_held`; raises `NotRunError`. What it prints may all go `to_standard_error`."""
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # else the kernel forgets how it ended
    pid = _started(command, environment, to_standard_error=to_standard_error)
    while True:
        # One that waits already is taken at once, so none is lost between the start and here; but a library's own thread that lets
        # SIGCHLD through may have swallowed it.
        info = signal.sigtimedwait({*_PASSED_ON, signal.SIGCHLD}, _LOOK_AGAIN_SECONDS)
        if info is None or info.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                return _end(status)
            _stop_with(pid)
        elif info.si_code <= 0:  # sent by a program; what the kernel sends for a terminal goes to the whole group
            _send(pid, info.si_signo)


def _stop_with(pid: int) -> None:
    """Gives the terminal back to the shell where the program has stopped itself: the shell then continues both."""
    if not _is_stopped(pid) or not _is_foreground_job():
        return
    sleep(_CONTINUING_SECONDS)  # both are being continued, and we were the first to be
    if _is_stopped(pid):
        os.kill(os.getpid(), signal.SIGSTOP)


def _is_stopped(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT) is not None


def _is_foreground_job() -> bool:
    """Whether a shell has started us as a job of its own, and waits for that at the terminal."""
    if os.getpgrp() != os.getpid():
        return False
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _started(command: Sequence[str], environment: Mapping[str, str], *, to_standard_error: bool) -> int:
    file = command[0] if "/" in command[0] else shutil.which(command[0]) or command[0]
    try:
        try:
            return _spawned(command, environment, to_standard_error=to_standard_error)
        except OSError as error:
            if error.errno != errno.ENOEXEC or not _is_script(file):
                raise
            return _spawned((_SHELL, file, *command[1:]), environment, to_standard_error=to_standard_error)
    except OSError as error:
        missing = error.errno in {errno.ENOENT, errno.ENOTDIR}
        words = os.strerror(errno.EISDIR) if os.path.isdir(file) else error.strerror or str(error)
        lacks_interpreter = missing and os.path.isfile(file)
        raise NotRunError(NOT_FOUND if missing else CANNOT_BE_RUN, words, lacks_interpreter=lacks_interpreter) from error
    except ValueError as error:  # a NUL in an argument, or no word at all
        raise NotRunError(CANNOT_BE_RUN, str(error)) from error


def _spawned(command: Sequence[str], environment: Mapping[str, str], *, to_standard_error: bool) -> int:
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return os.posix_spawnp(
        command[0],
        list(command),
        dict(environment),
        file_actions=[(os.POSIX_SPAWN_DUP2, _STANDARD_ERROR, _STANDARD_OUTPUT)] if to_standard_error else [],
        setsigmask=mask - {*_PASSED_ON, signal.SIGCHLD},
        setsigdef=_OF_PYTHON,
    )


def _is_script(file: str) -> bool:
    """Whether a shell would read it as a script of its own, which begins with no `#!`: bash's rule, no NUL in its first line."""
    try:
        with open(file, "rb") as opened:
            return b"\0" not in opened.read(_FIRST_LINE_BYTES).partition(b"\n")[0]
    except OSError:
        return False


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):  # a program that has become another user's, as sudo does, hears its own group
        pass


def _end(status: int) -> ForegroundEnd:
    code = os.waitstatus_to_exitcode(status)
    return ForegroundEnd(BY_SIGNAL - code, -code) if code < 0 else ForegroundEnd(code)
