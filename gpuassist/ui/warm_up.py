"""Imports what the plot needs on a thread of the pool: on the GUI thread it would stop the window for a third of a second."""

from __future__ import annotations

import importlib
import logging

from PySide6.QtCore import QObject, Signal, Slot

from gpuassist.ui.jobs import Control, Failed, Jobs

_log = logging.getLogger(__name__)
_MODULES = ("numpy", "pyqtgraph")


class WarmUp(QObject):
    """Started after the first paint; done whether the imports worked or not, the page itself then says what is missing."""

    done = Signal()

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self.is_done = False

    def start(self) -> None:
        """Begins."""
        self._jobs.start(_import, self).finished.connect(self._end)

    @Slot(object)
    def _end(self, result: object) -> None:
        if isinstance(result, Failed):
            _log.info("the plot's libraries could not be imported: %s", result.error)
        self.is_done = True
        self.done.emit()


def _import(control: Control) -> None:
    for name in _MODULES:
        if not control.cancelled.is_set():
            importlib.import_module(name)
