"""One shell on a terminal: somebody sits before it who types one line once there is a prompt, and answers nothing before that."""

from __future__ import annotations

import fcntl
import os
import struct
import termios
import time

from gpuassist.system import shell_questions
from gpuassist.system.process_tree import Process, descendants, process, reads_terminal, terminal_of, waits_for_keys
from gpuassist.system.shell_session import ANOTHER, ASKS, ShellSession

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Mapping, Sequence

# What a terminal says of itself when a program asks it: shells and prompts send such queries at their start, and wait. fish 4.1
# and later waits up to ten seconds for the primary device attributes; tmux, vim and prompts ask for the cursor, the colours and
# the version (XTerm Control Sequences; https://fishshell.com/docs/current/terminal-compatibility.html).


ROWS, COLUMNS = 24, 80
_LONGEST_QUERY = 256
_END = rb"(?:\x07|\x1b\\)"


def _colour(found: re.Match[bytes]) -> bytes:
    shade = b"ffff" if found[1] == b"10" else b"0000"  # light on dark, as most terminals start
    return b"\x1b]%s;rgb:%s\x1b\\" % (found[1], b"/".join((shade, shade, shade)))


_ANSWERS: tuple[tuple[bytes, Callable[[re.Match[bytes]], bytes]], ...] = (
    (rb"\x1b\[0?c|\x1bZ", lambda _: b"\x1b[?62;22c"),  # DA1: a VT220 with colours
    (rb"\x1b\[>0?c", lambda _: b"\x1b[>41;390;0c"),  # DA2
    (rb"\x1b\[=0?c", lambda _: b"\x1bP!|00000000\x1b\\"),  # DA3
    (rb"\x1b\[5n", lambda _: b"\x1b[0n"),  # DSR
    (rb"\x1b\[(\??)6n", lambda found: b"\x1b[%s1;1R" % found[1]),  # CPR
    (rb"\x1b\](1[0-2]);\?" + _END, _colour),
    (rb"\x1b\](4;\d+);\?" + _END, _colour),
    (rb"\x1b\[>0?q", lambda _: b"\x1bP>|XTerm(390)\x1b\\"),  # XTVERSION
    (rb"\x1b\[(\??\d+)\$p", lambda found: b"\x1b[%s;0$y" % found[1]),  # DECRQM: a mode that is not known here
    (rb"\x1b\[\?u", lambda _: b"\x1b[?0u"),  # the keyboard protocol of kitty: none of it is on
    (rb"\x1bP\+q([0-9A-Fa-f;]*)\x1b\\", lambda found: b"\x1bP0+r%s\x1b\\" % found[1]),  # XTGETTCAP
    (rb"\x1bP\$q[^\x1b]*\x1b\\", lambda _: b"\x1bP0$r\x1b\\"),  # DECRQSS
    (rb"\x1b\[18t", lambda _: b"\x1b[8;%d;%dt" % (ROWS, COLUMNS)),
    (rb"\x1b\[14t", lambda _: b"\x1b[4;%d;%dt" % (ROWS * 20, COLUMNS * 10)),
)
_QUERIES = b"|".join(b"(?P<q%d>%s)" % (number, query) for number, (query, _) in enumerate(_ANSWERS))


def _may_ask(printed: bytes) -> bool:
    """Whether a query may be in it: most that is printed is none, and `re` with these patterns is half of the child's start."""
    for sequence in printed.split(b"\x1b")[1:]:
        if sequence.startswith((b"]1", b"]4", b"P", b"Z")):
            return True
        if sequence.startswith(b"[") and sequence[1:].lstrip(b"0123456789;?>=$")[:1] in {b"c", b"n", b"q", b"p", b"u", b"t"}:
            return True
    return False


def _queries(printed: bytes) -> Iterator[tuple[bytes, int]]:
    """Each query in it: what is typed back, and where it ends."""
    if not _may_ask(printed):
        return
    import re

    for found in re.finditer(_QUERIES, printed):
        query, answer = _ANSWERS[int((found.lastgroup or "q0")[1:])]
        whole = re.fullmatch(query, found[0])
        yield answer(whole) if whole else b"", found.end()


class Queries:
    """Reads what is printed on the terminal, piece by piece, and says what is to be typed back."""

    def __init__(self) -> None:
        self._rest = b""

    def answers(self, piece: bytes) -> bytes:
        """The answers to all queries that end in this piece, in their order."""
        if not self._rest and b"\x1b" not in piece:
            return b""
        printed = self._rest + piece
        answers, end = b"", 0
        for answer, here in _queries(printed):
            answers += answer
            end = here
        # A query may come in two pieces: what is begun and not ended is looked at again with the next one.
        opened = max(printed.rfind(b"\x1bP", end), printed.rfind(b"\x1b]", end))
        if opened < 0 or b"\x07" in printed[opened:] or b"\x1b\\" in printed[opened:]:
            opened = printed.rfind(b"\x1b", end)
        self._rest = printed[opened:] if opened >= 0 and len(printed) - opened < _LONGEST_QUERY else b""
        return answers


_LINE = 200
_QUIET_SECONDS = 0.02
_TYPE_AGAIN_SECONDS = 1.0
_ANOTHER_SECONDS = 1.5  # a program that stands where the shell should be for that long stays there
_QUESTIONS_AT_MOST = 20

# What asks a new user questions before the first prompt, and the key that leaves it without changing anything.
_GREETERS = ((b"zsh-newuser-install", b"q"), (b"Powerlevel10k configuration wizard", b"q"))


class OnTerminal(ShellSession):
    """A shell on a terminal, with somebody who types one line when it is ready, and answers nothing that it is asked before."""

    def __init__(self, scratch: str, enters: int, prompt_at: int) -> None:
        super().__init__(scratch)
        self._enters, self._prompt_at = enters, prompt_at
        self._queries = Queries()
        self._last_printed = time.monotonic()
        self._line = bytearray()
        self._typed_at = 0.0
        self._greeted = False
        self._another = self._waiting = (0, 0.0)
        self._master = -1

    def start(self, command: Sequence[str], environment: Mapping[str, str], directory: str) -> None:
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
            self.came.through = front.name.partition(":")[0] if hands_on else ""
            self._ask(shell)
        elif _is_raw(own):
            pid, since = self._another
            if pid != shell.pid:
                self._another = (shell.pid, time.monotonic())
            elif time.monotonic() - since > _ANOTHER_SECONDS:
                self.came.ending, self.came.program = ANOTHER, shell.name
        elif hands_on is None:
            self._look_at_line(front, modes)

    def _front(self) -> Process | None:
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
        since = time.monotonic() - max(self._typed_at, self._last_printed)
        if self._typed_at and (since < _TYPE_AGAIN_SECONDS or not waits_for_keys(shell.pid)):
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

    def _look_at_line(self, front: Process, modes: list[object]) -> None:
        """One that reads whole lines: a prompt of a plain shell, or a question of a start-up file, which gets the end of input."""
        reader = reads_terminal(one for one in descendants(os.getpid()) if one.group == front.group)
        hidden = not int(str(modes[3])) & termios.ECHO  # a password, asked by a program that may not be looked into
        if reader is None and not (hidden and time.monotonic() - self._last_printed > _QUIET_SECONDS * 10):
            return
        pid, since = self._waiting
        if pid != (reader or front).pid:
            # It waits, but what it printed before that may still be on its way through the terminal.
            self._waiting = ((reader or front).pid, time.monotonic())
            return
        if time.monotonic() - since < _QUIET_SECONDS:
            return
        asked = len(self.came.questions)
        plain = shell_questions.SHELLS if asked == self._prompt_at else shell_questions.PLAIN
        if reader is not None and reader.name in plain:
            self._ask(reader)
            return
        if asked >= _QUESTIONS_AT_MOST:
            self.came.ending, self.came.program = ASKS, (reader or front).name
            return
        self._note_question()
        self._type(b"\x04")

    def _note_question(self) -> None:
        self._waiting = (0, 0.0)
        self.came.questions.append(self._line.decode("utf-8", "replace").rpartition("\n")[2])
        self._line.clear()
        # Whoever asked takes a moment to read the answer.
        self._last_printed = time.monotonic() + _QUIET_SECONDS

    def _type(self, keys: bytes) -> None:
        try:
            os.write(self._master, keys)
        except OSError:
            pass  # nobody is left to read it, or a program that prints asks without ever reading


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
