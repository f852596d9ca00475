"""A window on its page that explains, into which 1 MB of log is pasted: prints the longest time without an answer of its thread."""

from __future__ import annotations

import sys
import time

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from benchmarks.live_child import Gap
from gpuassist import app
from gpuassist.session.navigation import GoTo, SideTool
from gpuassist.ui.application import WindowRun
from gpuassist.ui.pages.explain.page import ExplainPage
from gpuassist.ui.widgets.paste_edit import PasteEdit

_MEGABYTE = 1 << 20
_STEP = "[2026-11-21 13:00:00] step {step:06d} of 100000, loss=0.251, lr=1e-4, eta 0:12:33, memory 12.3GB, error 0.1\n"
_END = "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
LOG = "".join(_STEP.format(step=step) for step in range(_MEGABYTE // len(_STEP))) + _END


def main(seconds: float) -> None:
    """Runs the window for so long after the paste and prints one figure."""
    application = QApplication(["gpuassist"])
    run = WindowRun(app.compose("en"), application, start=GoTo(SideTool.EXPLAIN))
    meter = Pasted(run, seconds)
    run.window.show()
    meter.begin()
    application.exec()
    run.end()


class Pasted(Gap):
    """The gap from the paste on, without what starting the window takes."""

    @Slot()
    def measure(self) -> None:
        super().measure()
        frame = self.window_run.frame
        self._page = frame.findChild(ExplainPage) if frame is not None else None
        assert self._page is not None, "the page is not there"
        QGuiApplication.clipboard().setText(LOG)
        self.longest, self._last = 0.0, time.monotonic()
        QTimer.singleShot(0, self._paste)

    @Slot()
    def _paste(self) -> None:
        assert self._page is not None
        edit = self._page.findChild(PasteEdit)
        assert edit is not None
        edit.insertFromMimeData(QGuiApplication.clipboard().mimeData())

    def figure(self) -> float:
        assert self._page is not None
        assert self._page.explanation is not None, "nothing was explained"
        return super().figure()


if __name__ == "__main__":
    main(float(sys.argv[1]))
