"""Starts one shell, asks it once it is ready, and ends all that it started: the child process in which gpuassist does that.

It is a process of its own because it becomes the parent of whatever the shell's start-up files leave behind (PR_SET_CHILD_SUBREAPER,
prctl(2)), so that nothing they start is overlooked, and nothing else is taken for it. It gets a request as JSON on standard input
and prints what came of it as JSON.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from gpuassist.system import shell_questions
from gpuassist.system.process_tree import (
    Process,
    descendants,
    process,
    program_of,
    reads_terminal,
    terminal_of,
    waits_for_keys,
)
from gpuassist.system.terminal_queries import COLUMNS, ROWS, Queries

_PIECE = 1 << 16
_KEPT = 64 << 10
_LINE = 200
_LOOK_AGAIN_SECONDS = 0.01
_QUIET_SECONDS = 0.02
_TYPE_AGAIN_SECONDS = 1.0
_ANOTHER_SECONDS = 1.5  # a program that stands where the shell should be for that long stays there
_LAST_WAIT_SECONDS = 2.0
_QUESTIONS_AT_MOST = 20
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36

# Programs that keep shells on terminals of their own and outlive the one that they were started on.
_KEEPERS = ("tmux", "screen", "SCREEN", "zellij", "dtach", "abduco")
# What asks a new user questions before the first prompt, and the key that leaves it without changing anything.
_GREETERS = ((b"zsh-newuser-install", b"q"), (b"Powerlevel10k configuration wizard", b"q"))

ANSWERED, ENDED, LATE, ANOTHER, ASKS, NOT_STARTED = "answered", "ended", "late", "another", "asks", "not started"


@dataclass(slots=True)
class Came:
    """What came of it. `program` is what stood where the shell was expected, `status` how that ended; of what was printed before
    the shell was ready the first and the last part are kept. `typed` says how often a prompt came and the question was typed, `through` which programs
    hand on what is typed (tmux).
    """

    ending: str = LATE
    answer: str = ""
    complaints: str = ""
    printed: str = ""
    program: str = ""
    status: int = 0
    words: str = ""
    shell: str = ""
    typed: int = 0
    through: tuple[str, ...] = ()
    questions: list[str] = field(default_factory=list)
    left: list[tuple[int, str]] = field(default_factory=list)
    seconds: float = 0.0


def main() -> int:
    """Carries out one request."""
    request = json.load(sys.stdin)
    print(json.dumps(asdict(ask(request))))
    return 0


def ask(request: Mapping[str, object]) -> Came:
    """Starts `command` in `environment` and `directory`, on a terminal or not, and waits at most `seconds` for its answer in
    `scratch`; this process then is the parent of what is left behind.

    The first prompts, as many as `enters`, are questions and get the Enter key; the question of number `prompt_at` is a prompt.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began = time.monotonic()
    scratch = str(request["scratch"])
    session = _OnTerminal(scratch, int(str(request["enters"])), int(str(request["prompt_at"]))) if request["terminal"] else _Session(scratch)
    came = session.came
    try:
        session.start(list(request["command"]), dict(request["environment"]), str(request["directory"]))  # type: ignore[call-overload]
        if not came.words:
            session.wait(began + float(str(request["seconds"])))
    finally:
        came.seconds = time.monotonic() - began
        came.left = [(one.pid, one.name) for one in session.end()]
    came.printed = session.printed.decode("utf-8", "replace")
    came.complaints = _text_of(f"{scratch}/{shell_questions.COMPLAINTS}")
    return came


class _Session:
    """A shell without a terminal: a command, as scripts, display managers and sshd run it."""

    def __init__(self, scratch: str) -> None:
        self.came = Came()
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
        while True:
            self._reap()
            there = descendants(os.getpid())
            ours = [one for one in there if self._is_ours(one, there)]
            if not ours or time.monotonic() > deadline:
                return tuple(one for one in there if one not in ours)
            # Stopped first: the shell above a killed one would go on, draw its prompt and write its history.
            for number in (signal.SIGSTOP, signal.SIGKILL):
                for one in ours:
                    _send(one.pid, number)
            time.sleep(_LOOK_AGAIN_SECONDS / 4)

    def _is_ours(self, one: Process, there: Sequence[Process]) -> bool:
        if one.session == self.pid or one.terminal or one.name.startswith(_KEEPERS):
            return True
        above = next((other for other in there if other.pid == one.parent), None)
        return above is not None and above.name.startswith(_KEEPERS)

    def _begin(self, command: Sequence[str], environment: Mapping[str, str], directory: str, files: tuple[int, int, int]) -> None:
        reading, writing = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            _become(command, environment, directory, files, writing)
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
        answer = shell_questions.read(bytes(self._said))
        self.came.shell = program_of(answer.pid) if answer is not None else ""
        return True

    def _is_over(self) -> bool:
        status = self._reap()
        if status is None:
            return False
        self._drain()
        if self._has_answered():
            return True
        self.came.ending, self.came.status = ENDED, status
        return True

    def _drain(self) -> None:
        deadline = time.monotonic() + _QUIET_SECONDS
        while self._outputs and time.monotonic() < deadline:
            self._serve(_QUIET_SECONDS / 2)

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


class _OnTerminal(_Session):
    """A shell on a terminal, with somebody who types one line when it is ready, and answers nothing that it is asked before."""

    def __init__(self, scratch: str, enters: int, prompt_at: int) -> None:
        super().__init__(scratch)
        self._enters, self._prompt_at = enters, prompt_at
        self._queries = Queries()
        self._last_printed = time.monotonic()
        self._line = bytearray()
        self._typed_at = 0.0
        self._greeted = False
        self._another: tuple[int, float] = (0, 0.0)
        self._master = -1

    def start(self, command: Sequence[str], environment: Mapping[str, str], directory: str) -> None:
        """See `_Session.start`."""
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, COLUMNS * 10, ROWS * 20))
        os.set_blocking(self._master, False)
        self._outputs = [self._master]
        self._begin(command, environment, directory, (slave, slave, slave))
        self._place = os.ttyname(slave)
        os.close(slave)

    def _take(self, piece: bytes) -> None:
        self._last_printed = time.monotonic()
        if not self._typed_at:
            super()._take(piece)
            self._line += piece
            del self._line[:-_LINE]
        answers = self._queries.answers(piece)
        if answers:
            self._type(answers)

    def _look(self) -> None:
        if self._said or not self._outputs or time.monotonic() - self._last_printed < _QUIET_SECONDS:
            return
        front = self._front()
        if front is None:
            return
        modes = _modes(self._place)
        hands_on = None if front.name in shell_questions.SHELLS else self._behind(front)
        shell = hands_on or front
        own = modes if hands_on is None else _modes(terminal_of(hands_on.pid))
        if own is None or modes is None:
            return
        if _is_raw(own) and shell.name in shell_questions.SHELLS:
            self.came.through = (front.name.partition(":")[0],) if hands_on else ()
            self._ask(shell)
        elif _is_raw(own):
            self._look_at_another(shell)
        elif hands_on is None:
            self._look_at_line(front, modes)

    def _front(self) -> Process | None:
        """The process that the terminal listens to."""
        try:
            front = process(os.tcgetpgrp(self._master))
        except OSError:
            return None
        if front is not None and front.name in shell_questions.SHELLS and not waits_for_keys(front.pid):
            # Without job control, as while start-up files run, what a shell starts and waits for is in its own group.
            group = [one for one in descendants(front.pid) if one.group == front.group and one.terminal == front.terminal]
            front = group[-1] if group else front
        if front is not None:
            self.came.program = front.name
        return front

    def _behind(self, front: Process) -> Process | None:
        """The shell on another terminal to which the program in front hands on what is typed (tmux, screen, script)."""
        return next(
            (
                one
                for one in reversed(descendants(os.getpid()))
                if one.name in shell_questions.SHELLS and one.terminal not in {0, front.terminal} and one.front == one.group
            ),
            None,
        )

    def _ask(self, shell: Process) -> None:
        if not self._greeted:
            for words, key in _GREETERS:
                if words in self.printed:
                    self._greeted = True
                    self._type(key)
                    return
        if self._typed_at and time.monotonic() - self._typed_at < _TYPE_AGAIN_SECONDS:
            return
        if self._enters:
            self._enters -= 1
            self._note_question()
            self._type(b"\r")
            return
        # Typed again where it was lost: Ctrl-U takes what is left of the line away, in every editor of these.
        again = b"\x15" if self._typed_at else b""
        self._type(again + shell_questions.command(shell.name, self.scratch).encode() + b"\r")
        self._typed_at = time.monotonic()
        self.came.typed += 1

    def _look_at_another(self, program: Process) -> None:
        pid, since = self._another
        if pid != program.pid:
            self._another = (program.pid, time.monotonic())
        elif time.monotonic() - since > _ANOTHER_SECONDS:
            self.came.ending, self.came.program = ANOTHER, program.name

    def _look_at_line(self, front: Process, modes: list[object]) -> None:
        """One that reads whole lines: a prompt of a plain shell, or a question of a start-up file, which gets the end of input."""
        reader = reads_terminal(one for one in descendants(os.getpid()) if one.group == front.group)
        hidden = not int(str(modes[3])) & termios.ECHO  # a password, asked by a program that may not be looked into
        if reader is None and not (hidden and time.monotonic() - self._last_printed > _QUIET_SECONDS * 10):
            return
        asked = len(self.came.questions)
        at_prompt = reader is not None and reader.name in (shell_questions.SHELLS if asked == self._prompt_at else shell_questions.PLAIN)
        if reader is not None and at_prompt:
            self._ask(reader)
            return
        if asked >= _QUESTIONS_AT_MOST:
            self.came.ending, self.came.program = ASKS, (reader or front).name
            return
        self._note_question()
        self._type(b"\x04")

    def _note_question(self) -> None:
        self.came.questions.append(self._line.decode("utf-8", "replace").rpartition("\n")[2])
        self._line.clear()
        # Whoever asked takes a moment to read the answer.
        self._last_printed = time.monotonic() + _QUIET_SECONDS

    def _type(self, keys: bytes) -> None:
        try:
            os.write(self._master, keys)
        except OSError:
            pass  # nobody is left to read it, or a program that prints asks without ever reading


def _become(
    command: Sequence[str], environment: Mapping[str, str], directory: str, files: tuple[int, int, int], told: int
) -> None:
    try:
        os.setsid()
        if os.isatty(files[0]):
            fcntl.ioctl(files[0], termios.TIOCSCTTY, 0)
        for number, file in enumerate(files):
            os.dup2(file, number)
        # Where gpuassist is killed, this goes too; nothing may outlive us.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        os.chdir(directory)
        given = {_bytes(name): _bytes(value) for name, value in environment.items()}
        os.execve(command[0], [_bytes(word) for word in command], given)
    except (OSError, ValueError) as error:
        words = "E2BIG" if isinstance(error, OSError) and error.errno == errno.E2BIG else str(error)
        os.write(told, words.encode("utf-8", "replace"))
    finally:
        os._exit(126)


def _bytes(words: str) -> bytes:
    return words.encode("utf-8", "surrogateescape")  # whatever the locale of this process is


def _modes(place: str) -> list[object] | None:
    """How a terminal is set; none where it is gone."""
    try:
        terminal = os.open(place, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return termios.tcgetattr(terminal)
    except termios.error:
        return None
    finally:
        os.close(terminal)


def _is_raw(modes: list[object]) -> bool:
    """Whether it hands on each key, as whatever draws a prompt of its own wants it."""
    return not int(str(modes[3])) & termios.ICANON


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


def _text_of(place: str) -> str:
    try:
        with open(place, encoding="utf-8", errors="replace") as file:
            return file.read(_KEPT)
    except OSError:
        return ""
