"""Child of `gaps`: the real window, a page of which is opened and does its work; prints how long its thread was busy at a time.

`gaps_child.py PLACE` waits until the machine was read and all is quiet, opens the page, and has it work. `gaps_child.py PLACE
start` starts the window on that page instead, and measures from the first paint on until all is quiet.

What counts is processor time of the GUI thread between two beats of a timer of 5 ms: neither what else runs on the machine nor work
on other threads can lengthen it, beyond what they slow a processor down. The clock also holds the waiting for Python's lock.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QListWidget

from benchmarks.explain_gap_child import LOG
from benchmarks.gaps import TORCH
from benchmarks.install_gap_child import LINES_PRINTED, one_step
from benchmarks.made_snapshot import write_snapshot
from benchmarks.made_trace import write as write_trace
from gpuassist import app
from gpuassist.install.records import StepState
from gpuassist.model.estimate import EstimateSetting
from gpuassist.session.kept_place import place_named
from gpuassist.session.navigation import (
    Errand,
    GoTo,
    Place,
    SideTool,
    ToEstimate,
    ToProfile,
    ToProject,
    ToSnapshot,
    ToVerify,
    WizardStep,
)
from gpuassist.ui.application import WindowRun
from gpuassist.ui.frame import Frame
from gpuassist.ui.page import Page
from gpuassist.ui.pages.explain.page import ExplainPage
from gpuassist.ui.pages.guides import GuidesPage
from gpuassist.ui.pages.holders.page import HoldersPage
from gpuassist.ui.pages.install.page import InstallPage
from gpuassist.ui.pages.live.page import LivePage
from gpuassist.ui.pages.verify.page import VerifyPage
from gpuassist.ui.pages.verify.wishes import VerifyWishes
from gpuassist.ui.widgets.paste_edit import PasteEdit

BEAT_MILLISECONDS = 5
_LOOK_MILLISECONDS = 50
_QUIET_SECONDS, _WORK_SECONDS, _MOST_SECONDS = 0.8, 6.0, 60.0
_REQUIREMENTS = "--extra-index-url https://download.pytorch.org/whl/cu124\ntorch==2.5.1\ntorchvision==0.20.1\nvllm\n"

_FILE_BYTES = 30 << 20  # of a snapshot, of a trace

Ended = Callable[[], bool]


class Beat(QObject):
    """The longest time for which its thread was busy with something else, in milliseconds of processor time and of the clock."""

    def __init__(self) -> None:
        super().__init__()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT_MILLISECONDS)
        self._timer.timeout.connect(self._tick)
        self.begin()
        self._timer.start()

    def begin(self) -> None:
        """Counts from now on."""
        self._busy, self._last = time.thread_time(), time.monotonic()
        self.processor = self.clock = 0.0

    @Slot()
    def _tick(self) -> None:
        busy, now = time.thread_time(), time.monotonic()
        self.processor = max(self.processor, (busy - self._busy) * 1000)
        self.clock = max(self.clock, (now - self._last) * 1000 - BEAT_MILLISECONDS)
        self._busy, self._last = busy, now


def errand_to(place: Place) -> Errand | None:
    """What a page that is given something gets; none for one that shows the machine alone."""
    if place is SideTool.ESTIMATE:
        return ToEstimate("7B", EstimateSetting())
    if place not in {SideTool.PROJECT, SideTool.SNAPSHOT, SideTool.PROFILE}:
        return None
    folder = Path(tempfile.mkdtemp(dir=Path.home()))
    if place is SideTool.PROJECT:
        (folder / "requirements.txt").write_text(_REQUIREMENTS, "utf-8")
        return ToProject(str(folder))
    if place is SideTool.SNAPSHOT:
        with (folder / "run.pickle").open("wb") as file:
            write_snapshot(file, _FILE_BYTES)
        return ToSnapshot(str(folder / "run.pickle"))
    write_trace(folder / "trace.json", _FILE_BYTES)
    return ToProfile(str(folder / "trace.json"))


class Visit(QObject):
    """One page from its opening to the end of its work."""

    def __init__(self, run: WindowRun, place: Place, *, from_start: bool) -> None:
        super().__init__()
        self._run, self._place, self._from_start = run, place, from_start
        self._errand = errand_to(place)
        self._told: dict[str, float] = {}
        self._phase = "start" if from_start else "settling"
        self._began = self._quiet_since = time.monotonic()
        self._ended: Ended = self._is_settled
        self._look = QTimer(self)
        self._look.setInterval(_LOOK_MILLISECONDS)
        self._look.timeout.connect(self._go_on)
        run.furnished.connect(self._begin)

    @Slot()
    def _begin(self) -> None:
        self._beat = Beat()
        self._look.start()

    @property
    def _frame(self) -> Frame:
        assert self._run.frame is not None
        return self._run.frame

    def _page(self) -> Page:
        page = self._frame.pages.currentWidget()
        assert isinstance(page, Page), page
        assert page.STEP is self._place, page.STEP
        return page

    def _is_settled(self) -> bool:
        return self._frame.pages.warm_up.is_done and not self._frame._reading.busy and self._frame.flow.current is self._wanted()

    def _wanted(self) -> Place:
        return self._place if self._from_start else WizardStep.MACHINE

    @Slot()
    def _go_on(self) -> None:
        now = time.monotonic()
        if not self._ended():
            assert now - self._began < _MOST_SECONDS, f"{self._place.value}: {self._phase} does not end"
            self._quiet_since = now
        elif now - self._quiet_since >= _QUIET_SECONDS:
            self._next_phase()

    def _next_phase(self) -> None:
        if self._phase != "settling":
            self._told |= {self._phase: self._beat.processor, f"{self._phase} clock": self._beat.clock}
        following = {"settling": ("opening", self._open), "opening": ("work", self._work)}.get(self._phase)
        if following is None:
            self._look.stop()
            print(json.dumps(self._told), flush=True)
            self._run.window.close()
            return
        self._phase, act = following
        self._began = self._quiet_since = time.monotonic()
        self._beat.begin()
        self._ended = act()

    def _open(self) -> Ended:
        self._frame.go(GoTo(self._place))
        return lambda: self._frame.pages.currentWidget() is not None

    def _work(self) -> Ended:
        page = self._page()
        if isinstance(page, ExplainPage):
            return self._paste(page)
        if isinstance(page, InstallPage):
            return self._install(page)
        if isinstance(page, VerifyPage):
            return self._verify(page)
        if isinstance(page, LivePage):
            return self._for_seconds()
        if isinstance(page, GuidesPage):
            return self._read_all(page)
        if isinstance(page, HoldersPage):
            page.look()
            return lambda: not page.busy
        if self._errand is not None:
            self._frame.go(self._errand)
            busy: Any = self._page()
            return lambda: not busy.busy
        self._frame._reading.read_live()  # what every page shows of the machine
        return lambda: not self._frame._reading.busy

    def _verify(self, page: VerifyPage) -> Ended:
        """In the environment that the machine's facts lead to, or else in the one that tests of torch use."""
        wishes = page.findChild(VerifyWishes)
        assert wishes is not None
        if wishes.request is None:
            page.arrive(ToVerify(str(TORCH.absolute())))
        started = False

        def ended() -> bool:
            nonlocal started
            if not started and wishes.request is not None:
                started = True
                page.start()
            return started and page.under_way() is None

        return ended

    def _paste(self, page: ExplainPage) -> Ended:
        QGuiApplication.clipboard().setText(LOG)
        edit = page.findChild(PasteEdit)
        assert edit is not None
        edit.insertFromMimeData(QGuiApplication.clipboard().mimeData())
        return lambda: page.explanation is not None

    def _install(self, page: InstallPage) -> Ended:
        page.steps.show_plan(one_step(LINES_PRINTED))
        taken = False

        def ended() -> bool:
            nonlocal taken
            if not taken:  # whoever presses its button has seen it before
                taken = True
                page.steps.take(0)
                return False
            if page.steps.busy or page.steps.install is None:
                return False
            assert page.steps.install.steps[0].state is StepState.DONE
            return True

        return ended

    def _for_seconds(self) -> Ended:
        began = time.monotonic()
        return lambda: time.monotonic() - began > _WORK_SECONDS

    def _read_all(self, page: GuidesPage) -> Ended:
        entries = page.findChild(QListWidget)
        assert entries is not None
        rows = iter(range(entries.count()))

        def next_row() -> bool:
            row = next(rows, None)
            if row is not None:
                entries.setCurrentRow(row)
            return row is None

        return next_row


def main(name: str, *, from_start: bool) -> None:
    """Runs the window for one visit."""
    gc.set_threshold(50_000)  # as `gpuassist.__main__` does
    place = place_named(name)
    assert place is not None, name
    application = QApplication(["gpuassist"])
    run = WindowRun(app.compose("en"), application, start=GoTo(place if from_start else WizardStep.MACHINE))
    visit = Visit(run, place, from_start=from_start)
    run.window.show()
    sys.setswitchinterval(0.001)  # as the program does
    application.exec()
    run.end()
    del visit


if __name__ == "__main__":
    main(sys.argv[1], from_start="start" in sys.argv[2:])
