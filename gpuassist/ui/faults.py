"""Our own faults: an exception that nobody caught is logged and told to the window, and ends nothing."""

from __future__ import annotations

import logging
import sys
import threading
from types import TracebackType

from PySide6.QtCore import QObject, Signal

_log = logging.getLogger(__name__)


class Faults(QObject):
    """Hears of every uncaught exception, whichever thread it happened on; slots hear of it on the GUI thread."""

    happened = Signal(object)  # str: the traceback

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._before = (sys.excepthook, threading.excepthook)

    def listen(self) -> None:
        """Takes over both hooks of Python: PySide6 calls the first for slots, on whichever thread they run."""
        self._before = (sys.excepthook, threading.excepthook)
        sys.excepthook = self._uncaught
        threading.excepthook = self._uncaught_in_thread

    def stop(self) -> None:
        """Gives the hooks back."""
        sys.excepthook, threading.excepthook = self._before

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._before[0](kind, error, trace)
            return
        import traceback  # only a fault needs it

        _log.error("uncaught", exc_info=(kind, error, trace))
        self.happened.emit("".join(traceback.format_exception(kind, error, trace)))

    def _uncaught_in_thread(self, arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            self._uncaught(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)
