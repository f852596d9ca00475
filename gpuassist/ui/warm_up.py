"""Imports what will be needed soon on one thread of the pool: on the GUI thread the plot alone would stop it for 0.3 s.

Every class of Qt has to be there before it begins (`classes.make_all`), because it names them while the GUI thread does.
"""

from __future__ import annotations

import importlib
import logging

from PySide6.QtCore import QObject, Signal, Slot

from gpuassist.ui.jobs import Control, Failed, Jobs

_log = logging.getLogger(__name__)
_MODULES = (
    "gpuassist.ui.pages.machine_cards",
    "gpuassist.ui.pages.found",
    "numpy",
    "pyqtgraph",
    "gpuassist.ui.pages.what_if",
    "gpuassist.ui.pages.explain",
    "gpuassist.ui.pages.holders",
)


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
