"""Faults of our own: every uncaught exception, whichever thread it happened on, is logged and told once, however often it comes."""

from __future__ import annotations

import logging
import sys
import threading
from types import TracebackType
from typing import Any

from PySide6.QtCore import QObject, Signal

from gpuassist.formats.visible import visible

_log = logging.getLogger(__name__)
_KINDS_AT_MOST = 100


class Faults(QObject):
    """Told on the thread where it happened, maybe in the middle of painting: who shows it takes the signal through the queue."""

    happened = Signal(object)  # str: the traceback, of the first of its kind alone

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        self._seen: dict[tuple[str, str, int], int] = {}
        self._counting = threading.Lock()

    def listen(self) -> None:
        """Takes over Python's hooks: PySide6 calls the first for slots and events, on whichever thread they run."""
        self._before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
        sys.excepthook = self._uncaught
        threading.excepthook = self._uncaught_in_thread
        sys.unraisablehook = self._uncaught_at_end

    def stop(self) -> None:
        sys.excepthook, threading.excepthook, sys.unraisablehook = self._before

    def forget(self) -> None:
        """What happens from now on is told again."""
        with self._counting:
            self._seen.clear()

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._before[0](kind, error, trace)
            return
        times = self._count(kind, trace)
        if times > 1:
            if str(times).strip("0") == "1":
                _log.error("uncaught %s for the %dth time", kind.__name__, times)
            return
        import traceback  # only a fault needs it

        _log.error("uncaught", exc_info=(kind, error, trace))
        words = "".join(traceback.format_exception(kind, error, trace))
        if sys.stderr is not None:
            sys.stderr.write(visible(words))
        self.happened.emit(words)

    def _uncaught_in_thread(self, arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            self._uncaught(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)

    def _uncaught_at_end(self, arguments: Any) -> None:
        """Raised where an object went, so that nothing that the user sees is wrong by it."""
        if arguments.exc_value is not None and self._count(arguments.exc_type, arguments.exc_traceback) == 1:
            _log.error("unraisable", exc_info=(arguments.exc_type, arguments.exc_value, arguments.exc_traceback))

    def _count(self, kind: type[BaseException], trace: TracebackType | None) -> int:
        """How often one of its kind was raised at its place, this one counted; of too many kinds all are one."""
        place = ("", 0)
        while trace is not None:
            place = (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
            trace = trace.tb_next
        with self._counting:
            fault = (kind.__name__, *place)
            if fault not in self._seen and len(self._seen) >= _KINDS_AT_MOST:
                fault = ("", "", 0)
            self._seen[fault] = self._seen.get(fault, 0) + 1
            return self._seen[fault]
