"""One shell that is started, asked and ended, with all that it starts: within the child process of `ask_shell_child`."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import termios
import time

from gpuassist.system import shell_questions
from gpuassist.system.parent_end import hear_of_parents_end
from gpuassist.system.process_tree import Process, descendants, program_of

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    import signal
    from collections.abc import Mapping, Sequence
else:
    import _signal as signal  # what `signal` wraps in enumerations

_PIECE = 1 << 16
_KEPT = 64 << 10
_LOOK_AGAIN_SECONDS = 0.01
_DRAIN_SECONDS = 0.02
_LAST_WAIT_SECONDS = 2.0

# Programs that keep shells on terminals of their own and outlive the one that they were started on.
_KEEPERS = ("tmux", "screen", "SCREEN", "zellij", "dtach", "abduco")

ANSWERED, ENDED, LATE, ANOTHER, ASKS, NOT_STARTED = "answered", "ended", "late", "another", "asks", "not started"


class SessionResult:
    """What came of it. `program` is what stood where the shell was expected, `status` how that ended; of what was printed before
    the shell was ready the first and the last part are kept. `typed` says how often a prompt came and the question was typed,
    `through` which program hands on what is typed (tmux), `left` what outlives the shell.
    """

    def __init__(self) -> None:
        self.ending = LATE
        self.answer = ""
        self.printed = ""
        self.program = ""
        self.status = 0
        self.words = ""
        self.shell = ""
        self.typed = 0
        self.through = ""
        self.questions: list[str] = []
        self.left: list[tuple[int, str]] = []
        self.seconds = 0.0


class ShellSession:
    """A shell without a terminal: a command, as scripts, display managers and sshd run it."""

    def __init__(self, scratch: str) -> None:
        self.came = SessionResult()
        self.scratch = scratch
        self._head, self._tail = bytearray(), bytearray()
        self._said = bytearray()
        self.pid = 0
        self._outputs: list[int] = []
        for name in (shell_questions.ANSWER, shell_questions.HOLD):
            os.mkfifo(f"{scratch}/{name}", 0o600)
        # Held open for writing too, so that the shell's end of it may come and go.
        self._answer = os.open(f"{scratch}/{shell_questions.ANSWER}", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    @property
    def printed(self) -> bytes:
        """The start and the end of what was printed until the shell was asked."""
        return bytes(self._head + self._tail)

    def start(self, command: Sequence[str], environment: Mapping[str, str], directory: str) -> None:
        """Starts it; where that fails, the reason stands in `came.words`."""
        # sshd hands a pipe, as others do; with a socket bash would take itself to be started by rshd.
        nothing, nobody = os.pipe()
        os.close(nobody)
        reading, writing = os.pipe()
        self._outputs = [reading]
        self._begin(command, environment, directory, (nothing, writing, writing))
        os.close(nothing)
        os.close(writing)

    def wait(self, deadline: float) -> None:
        """Until it has answered, has ended, or its time is over."""
        while time.monotonic() < deadline:
            self._serve(min(_LOOK_AGAIN_SECONDS, max(0.0, deadline - time.monotonic())))
            if self._has_answered() or self._is_over():
                return
            self._look()
            if self.came.ending in {ANOTHER, ASKS}:
                return
        busy = [one for one in descendants(os.getpid()) if one.session == self.pid]
        self.came.program = busy[-1].name if busy else self.came.program

    def end(self) -> tuple[Process, ...]:
        """Kills all of its session and of every terminal, and says what it left running besides."""
        deadline = time.monotonic() + _LAST_WAIT_SECONDS
        sessions = {self.pid}
        while True:
            self._reap()
            there = descendants(os.getpid())
            keepers = {one.pid for one in there if one.name.startswith(_KEEPERS)}
            # A session stays ours: as its keeper dies it loses its terminal, and the shell in it may take a moment longer to go.
            sessions |= {one.session for one in there if one.terminal or {one.pid, one.parent} & keepers}
            ours = [one for one in there if one.session in sessions]
            if not ours or time.monotonic() > deadline:
                return tuple(one for one in there if one not in ours)
            # Stopped first: the shell above a killed one would go on, draw its prompt and write its history.
            for number in (signal.SIGSTOP, signal.SIGKILL):
                for one in ours:
                    _send(one.pid, number)
            time.sleep(_LOOK_AGAIN_SECONDS / 4)

    def _begin(self, command: Sequence[str], environment: Mapping[str, str], directory: str, files: Sequence[int]) -> None:
        reading, writing = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                os.setsid()
                if os.isatty(files[0]):
                    fcntl.ioctl(files[0], termios.TIOCSCTTY, 0)
                for number, file in enumerate(files):
                    os.dup2(file, number)
                # Where gpuassist is killed, this goes too; nothing may outlive us.
                hear_of_parents_end()
                for ignored in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
                    signal.signal(ignored, signal.SIG_DFL)
                os.chdir(directory)
                given = {_bytes(name): _bytes(value) for name, value in environment.items()}
                os.execve(command[0], [_bytes(word) for word in command], given)
            except (OSError, ValueError) as error:
                too_large = isinstance(error, OSError) and error.errno == errno.E2BIG
                os.write(writing, b"E2BIG" if too_large else str(error).encode("utf-8", "replace"))
            finally:
                os._exit(126)
        os.close(writing)
        with open(reading, "rb") as told:
            self.came.words = told.read().decode("utf-8", "replace")
        if self.came.words:
            self.came.ending = NOT_STARTED

    def _serve(self, seconds: float) -> None:
        """Takes what is printed and said; on nothing it waits that long."""
        waiting, _, _ = select.select([self._answer, *self._outputs], [], [], seconds)
        for descriptor in waiting:
            piece = _read(descriptor)
            if descriptor == self._answer:
                self._said += piece
            elif piece:
                self._take(piece)
            else:
                self._outputs.remove(descriptor)
                os.close(descriptor)

    def _take(self, piece: bytes) -> None:
        room = _KEPT - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:] if room < len(piece) else b""
        del self._tail[:-_KEPT]

    def _has_answered(self) -> bool:
        if not self._said.endswith(b"\0end\0"):
            return False
        self.came.ending, self.came.answer = ANSWERED, self._said.decode("utf-8", "surrogateescape")
        # It begins with the kind of shell and its number.
        pid = self._said.partition(b"begin\0")[2].split(b"\0")[1:2]
        self.came.shell = program_of(int(pid[0])) if pid and pid[0].isdigit() else ""
        return True

    def _is_over(self) -> bool:
        status = self._reap()
        if status is None:
            return False
        deadline = time.monotonic() + _DRAIN_SECONDS
        while self._outputs and time.monotonic() < deadline:
            self._serve(_DRAIN_SECONDS / 2)
        if self._has_answered():
            return True
        self.came.ending, self.came.status = ENDED, status
        return True

    def _reap(self) -> int | None:
        """Buries what has ended; the exit status of the shell itself where it is among them."""
        shell: int | None = None
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return shell
            if not pid:
                return shell
            if pid == self.pid:
                shell = os.waitstatus_to_exitcode(status)

    def _look(self) -> None:
        """What a person would do who sits before it."""


def _bytes(words: str) -> bytes:
    return words.encode("utf-8", "surrogateescape")  # whatever the locale of this process is


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _PIECE)
    except BlockingIOError:
        return b""
    except OSError as error:
        if error.errno != errno.EIO:  # what a terminal says when the last one that printed on it has gone
            raise
        return b""


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass
