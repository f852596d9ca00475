"""A terminal taken whole, and given back as it was on every way out: drawn by curses, which sends what changed and nothing else.

Keys, a new size, a sample from another thread and signals all wake the same `wait`. What anything writes on standard error
meanwhile (a warning, a library) would stand across the picture, so it is kept and said afterwards.
"""

from __future__ import annotations

import locale
import os
import re
import select
import signal
import sys
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from threading import Lock
from types import FrameType, TracebackType
from typing import Any

CURSES_IS_THERE = True
try:
    import curses
except ImportError:  # a Python that was built without it
    CURSES_IS_THERE = False

# Many terminals of today are no entry of an older machine's terminfo, and nearly all of them obey what xterm does.
_ALIKE = ("xterm-256color", "xterm", "vt100")
_ESCAPE_MILLISECONDS = 100  # within which the rest of a key's sequence comes, over a slow line, too
_HEARD = (signal.SIGWINCH, signal.SIGCONT, signal.SIGTSTP, signal.SIGTERM, signal.SIGHUP)
_ON, _OFF = True, False  # curses takes no keywords
_SGR = re.compile(r"\x1b\[(\d+)m")
_KEYS = {
    "KEY_UP": "up",
    "KEY_DOWN": "down",
    "KEY_LEFT": "left",
    "KEY_RIGHT": "right",
    "KEY_PPAGE": "page-up",
    "KEY_NPAGE": "page-down",
    "KEY_HOME": "home",
    "KEY_END": "end",
    "KEY_ENTER": "enter",
    "KEY_BACKSPACE": "backspace",
    "KEY_DC": "delete",
}
_CHARACTERS = {"\n": "enter", "\r": "enter", "\x1b": "escape", "\x7f": "backspace", "\b": "backspace", "\x0c": "redraw"}

Span = tuple[int, str, str]
"""Where it begins, its words, and the controls (SGR) of its style."""


class NoScreenError(Exception):
    """This terminal cannot be drawn on: it has no cursor that could be moved, or Python came without curses."""


class ScreenClosedError(Exception):
    """The terminal has gone, or somebody wants us to end; `number` is the signal that we end by."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class FullScreen:
    """Entered and left by the main thread, which alone draws and waits; `wake` may be called from any."""

    def __init__(self, *, colour: bool) -> None:
        self._wants_colour = colour
        self._window: Any = None
        self._styles: dict[str, int] = {}
        self._came: list[int] = []
        self._before: list[tuple[int, Any]] = []
        self._awake, self._waker = -1, -1
        self._lock = Lock()  # so that nobody wakes by a descriptor that is another file's already
        self._wakeup_before = -1
        self._errors: tuple[int, int] | None = None
        self._reads_keys = False

    def __enter__(self) -> FullScreen:
        if not CURSES_IS_THERE:
            raise NoScreenError
        _choose_terminal()
        self._awake, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._reads_keys = os.isatty(0)
        with ExitStack() as undo:
            undo.callback(self._give_back)
            self._keep_errors()
            self._hear()
            self._open()
            undo.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._give_back()

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        rows, columns = self._window.getmaxyx()
        return columns, rows

    def show(self, lines: Sequence[Sequence[Span]]) -> None:
        """Draws the whole picture; what is over the edge is left out."""
        columns, rows = self.size
        self._window.erase()
        for row, spans in enumerate(lines[:rows]):
            for start, words, style in spans:
                if start < columns:
                    # The last cell of the screen is drawn and then answered with an error, because the cursor has nowhere to go.
                    with suppress(curses.error):
                        self._window.addnstr(row, start, words, columns - start, self._style(style))
        self._window.refresh()

    def redraw(self) -> None:
        """Sends all of the next picture: something else has written on the terminal."""
        self._window.clearok(_ON)

    def wake(self) -> None:
        """Lets a `wait` return now."""
        with self._lock, suppress(OSError):  # a full pipe wakes as well, and a closed one has nobody to wake
            os.write(self._waker, b"\0")

    def wait(self, seconds: float) -> tuple[str, ...]:
        """Until a key, a new size, a `wake` or this time; the keys that came: characters, or names as `page-up`."""
        poll = select.poll()
        poll.register(self._awake, select.POLLIN)
        if self._reads_keys:
            poll.register(0, select.POLLIN)
        ready = dict(poll.poll(max(0.0, seconds) * 1000))
        if self._awake in ready:
            with suppress(BlockingIOError):
                while os.read(self._awake, 4096):
                    pass
        self._obey()
        events = ready.get(0, 0)
        if events & (select.POLLHUP | select.POLLERR | select.POLLNVAL):
            raise ScreenClosedError(signal.SIGHUP)  # also where somebody told us to ignore that signal: there is nobody to draw for
        return self._keys() if events else ()

    def _open(self) -> None:
        _use_known_locale()
        self._window = curses.initscr()
        curses.set_escdelay(_ESCAPE_MILLISECONDS)
        curses.noecho()
        curses.cbreak()
        self._window.keypad(_ON)
        self._window.nodelay(_ON)
        with suppress(curses.error):
            curses.curs_set(0)
        with suppress(curses.error):
            if self._wants_colour and curses.has_colors():
                curses.start_color()
                curses.use_default_colors()
                for number in range(1, 8):
                    curses.init_pair(number, number, -1)
            else:
                self._wants_colour = False
        self._fit()

    def _fit(self) -> None:
        with suppress(OSError):
            columns, rows = os.get_terminal_size(1)
            if columns > 0 and rows > 0 and (columns, rows) != self.size:
                curses.resizeterm(rows, columns)

    def _style(self, controls: str) -> int:
        found = self._styles.get(controls)
        if found is None:
            found = 0
            for number in map(int, _SGR.findall(controls)):
                if 31 <= number <= 37 and self._wants_colour:
                    found |= curses.color_pair(number - 30)
                found |= {1: curses.A_BOLD, 2: curses.A_DIM, 7: curses.A_REVERSE}.get(number, 0)
            self._styles[controls] = found
        return found

    def _keys(self) -> tuple[str, ...]:
        keys: list[str] = []
        while True:
            try:
                key = self._window.get_wch()
            except curses.error:  # no more
                break
            if isinstance(key, str):
                keys.append(_CHARACTERS.get(key, key))
            elif key == curses.KEY_RESIZE:
                self._fit()
            else:
                name = _KEYS.get(curses.keyname(key).decode("ascii", "replace"))
                keys += [name] if name else []
        if not keys and self._reads_keys and _at_end():
            raise ScreenClosedError(signal.SIGHUP)
        return tuple(keys)

    def _obey(self) -> None:
        came, self._came = self._came, []
        for number in came:
            if number in {signal.SIGTERM, signal.SIGHUP}:
                raise ScreenClosedError(number)
            if number == signal.SIGTSTP:
                self._suspend()
            elif number == signal.SIGCONT:  # after a stop that nobody can hear, the terminal is as the shell left it
                self._redraw()
        if came:
            self._fit()

    def _suspend(self) -> None:
        curses.endwin()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._note)
        self._redraw()

    def _redraw(self) -> None:
        with suppress(curses.error):
            curses.reset_prog_mode()
            curses.curs_set(0)
        self._window.clearok(_ON)

    def _hear(self) -> None:
        self._wakeup_before = signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        for number in _HEARD:
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
                self._before.append((number, signal.signal(number, self._note)))

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came.append(number)

    def _keep_errors(self) -> None:
        if os.isatty(2):
            sys.stderr.flush()
            kept = os.memfd_create("gpuassist")
            self._errors = (os.dup(2), kept)
            os.dup2(kept, 2)

    def _give_back(self) -> None:
        if self._window is not None:
            with suppress(curses.error):
                self._window.keypad(_OFF)
                curses.endwin()
        if self._waker >= 0:
            signal.set_wakeup_fd(self._wakeup_before)
        for number, handler in self._before:
            signal.signal(number, handler)
        self._before = []
        if self._errors is not None:
            (before, kept), self._errors = self._errors, None
            with suppress(OSError, ValueError):
                sys.stderr.flush()
            os.dup2(before, 2)
            os.close(before)
            _say_again(kept)
        with self._lock:
            for descriptor in (self._awake, self._waker):
                if descriptor >= 0:
                    os.close(descriptor)
            self._awake = self._waker = -1


def end_by(number: int) -> None:
    """Ends this program by a signal, so that whoever started it is told of that."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _choose_terminal() -> None:
    """Finds an entry of terminfo that curses can draw by."""
    named = os.environ.get("TERM", "")
    for name in dict.fromkeys((named or "unknown", *_ALIKE)):
        try:
            curses.setupterm(name, 1)
        except curses.error:
            continue
        if not curses.tigetstr("cup"):  # `dumb`, as in an editor's shell
            raise NoScreenError
        os.environ["TERM"] = name  # `initscr` reads it there
        return
    raise NoScreenError


def _use_known_locale() -> None:
    """A session over SSH often names a locale that the machine there does not have. The C library takes `C` for it, in which curses
    draws ASCII alone, while Python and the terminal go on in UTF-8.
    """
    if locale.nl_langinfo(locale.CODESET).upper() != "UTF-8":
        with suppress(locale.Error):
            locale.setlocale(locale.LC_CTYPE, "C.UTF-8")


def _at_end() -> bool:
    """Whether the terminal was readable and has nothing: it hung up."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))


def _say_again(kept: int) -> None:
    with suppress(OSError):
        os.lseek(kept, 0, os.SEEK_SET)
        while piece := os.read(kept, 1 << 16):
            os.write(2, piece)
    os.close(kept)
