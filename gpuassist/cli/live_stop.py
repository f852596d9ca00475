"""Ending one of one's own processes from the live table, as `gpuassist holders --stop` does it, and by the same rules.

The process is looked at anew, the user is asked about what was found, and what is ended is that very process or none: its number
may be another one's by then. Looking and waiting are done on threads, because a driver may take its time.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

from gpuassist.context import Session
from gpuassist.detect.gpu_holders import GpuHolder, find
from gpuassist.model.text import Text, text
from gpuassist.present.holders import stopping
from gpuassist.present.process_table import LiveRow
from gpuassist.session.holders import PATIENCE_SECONDS, holding, stop_holder

YES = frozenset({"y", "Y", "是"})
_LAST_WORD_SECONDS = 1.5  # in which who waits for the process hears that it was called off
_SEVERAL = text("This line is several processes: g shows them one by one.")
_NONE_CHOSEN = text("Choose a process first: ↑ ↓")


class LiveStop:
    """Used by the thread that draws; `wake` lets that draw what was found."""

    def __init__(self, session: Session, wake: Callable[[], None]) -> None:
        self._session, self._wake = session, wake
        self._wanted: int | None = None
        self._found: GpuHolder | None = None
        self._seen = False
        self._waiting: Thread | None = None
        self._called_off = Event()
        self.note: Text | None = None
        """What is told of it: why it is not ended, that it is waited for, or how it ended."""

    @property
    def question(self) -> GpuHolder | None:
        """The process that the user is asked about."""
        return self._found

    @property
    def asks(self) -> bool:
        """Whether a key is an answer: one that was typed before the question stood there is none."""
        return self._found is not None and self._seen

    def ask(self, row: LiveRow | None) -> None:
        """Looks at the process of the chosen row, and asks the user where it is one of their own."""
        if self._waiting is not None and self._waiting.is_alive():
            return
        if row is None or row.single is None:
            self.note = _NONE_CHOSEN if row is None else _SEVERAL
            return
        pid = row.single.process.pid
        self._wanted, self._found, self._seen = pid, None, False
        self.note = text("Looking at process {pid}", pid=pid)
        Thread(target=self._look, args=(pid,), name="gpuassist look", daemon=True).start()

    def shown(self) -> None:
        """The question stands on the screen."""
        self._seen = self._found is not None

    def answer(self, key: str) -> None:
        """Yes ends it, and everything else leaves it."""
        held, self._found, self._wanted = self._found, None, None
        if held is None or key not in YES:
            self.note = None
            return
        self.note = stopping(held, int(PATIENCE_SECONDS))
        self._waiting = Thread(target=self._end, args=(held,), name="gpuassist stop", daemon=True)
        self._waiting.start()

    def drop(self) -> None:
        """Another key: nothing is told any more, and nobody is asked; what is waited for is waited for."""
        self._found = self._wanted = None
        if self._waiting is None or not self._waiting.is_alive():
            self.note = None

    def close(self) -> Text | None:
        """The table ends: a process that is waited for is not killed any more. What came of it, where nobody has seen that."""
        if self._waiting is None or not self._waiting.is_alive():
            return None
        self._called_off.set()
        self._waiting.join(_LAST_WORD_SECONDS)
        return self.note

    def _look(self, pid: int) -> None:
        held = find(holding(self._session), pid)
        if self._wanted != pid:
            return
        if held is None:
            self.note = text("Process {pid} is no longer using a GPU.", pid=pid)
        elif not held.may_stop:
            self.note = text("Process {pid}: {why}", pid=pid, why=held.why)
        else:
            self.note, self._found = None, held
        self._wake()

    def _end(self, held: GpuHolder) -> None:
        self.note = stop_holder(self._session, held, called_off=self._called_off.is_set).text
        self._wake()
