"""A window on its page Install, where a step prints 100,000 lines: prints the longest time without an answer of its thread."""

from __future__ import annotations

import sys
import time

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QApplication

from benchmarks.live_child import Gap
from gpuassist import app
from gpuassist.install.records import StepState
from gpuassist.model.plan import Step, StepKind, StepRun
from gpuassist.model.plan import Tool as PackageTool
from gpuassist.model.text import verbatim
from gpuassist.session.install import Course
from gpuassist.session.navigation import GoTo, SideTool
from gpuassist.ui.application import WindowRun
from gpuassist.ui.pages.install.page import InstallPage

LINES = 100_000
_PRINTS = {
    "lines": f"for n in range({LINES}): print(f'Requirement already satisfied: package-{{n:06}} in /home/you/environment (1.0)')",
    "progress": f"for n in range({LINES}): print(f'\\r   ---------- {{n:06}}/900.0 MB 45.0 MB/s eta 0:00:12', end='')\nprint()",
}
LINES_PRINTED = _PRINTS["lines"]
_SWITCH_SECONDS = 0.001  # as the program itself does
_LOOK_AGAIN_MILLISECONDS = 50


def main(prints: str) -> None:
    """Runs the window until the step has ended and prints one figure."""
    application = QApplication(["gpuassist"])
    run = WindowRun(app.compose("en"), application, start=GoTo(SideTool.INSTALL))
    meter = Printed(run, _PRINTS[prints])
    run.window.show()
    sys.setswitchinterval(_SWITCH_SECONDS)
    meter.begin()
    application.exec()
    run.end()


def one_step(source: str) -> Course:
    """A plan of one step that runs this Python source."""
    run = StepRun(((sys.executable, "-c", source),), PackageTool.PIP)
    step = Step(StepKind.COMMAND, verbatim("print much"), ("python -c …",), run=run)
    return Course(verbatim("much"), ("torch",), (step,))


class Printed(Gap):
    """The gap from the step's first line to its last, without what starting the window takes."""

    def __init__(self, run: WindowRun, source: str) -> None:
        super().__init__(run, 0.0)
        self._source = source
        self._look = QTimer(self)
        self._look.setInterval(_LOOK_AGAIN_MILLISECONDS)
        self._look.timeout.connect(self._end_when_done)

    @Slot()
    def measure(self) -> None:
        frame = self.window_run.frame
        page = frame.findChild(InstallPage) if frame is not None else None
        assert page is not None, "the page is not there"
        self._steps = page.steps
        self._steps.show_plan(one_step(self._source))
        self.longest, self._last = 0.0, time.monotonic()
        self._steps.take(0)
        self._look.start()

    @Slot()
    def _end_when_done(self) -> None:
        if not self._steps.busy:
            self._look.stop()
            self.end()

    def figure(self) -> float:
        install = self._steps.install
        assert install is not None, "nothing was run"
        assert install.steps[0].state is StepState.DONE, install.steps[0].words
        assert self._steps.output.view.blockCount() > 0
        return super().figure()


if __name__ == "__main__":
    main(sys.argv[1])
