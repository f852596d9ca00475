"""Help lists every key that is bound, and none that is not."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.session.navigation import Place, SideTool, WizardStep
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.live.live_keys import LiveKeys
from gpuassist.ui.pages.live.page import LivePage
from gpuassist.ui.plots.allocation_plot import AllocationPlot
from gpuassist.ui.shortcuts import SHORTCUTS
from tests.ui.frames import Frames, recorded
from tests.ui.showing import Show
from tests.values import machine

_COPY = "Ctrl+C"  # of whatever has the focus


def bound(widget: QWidget, *, below: bool) -> set[str]:
    """The keys of a widget's actions, and of all that stands in it."""
    actions = widget.findChildren(QAction) if below else widget.actions()
    buttons = widget.findChildren(QAbstractButton) if below else []
    keys = [*(action.shortcut() for action in actions), *(button.shortcut() for button in buttons)]
    return {key.toString() for key in keys if not key.isEmpty()} - {_COPY}


def listed(place: Place | None) -> set[str]:
    return {key for one in SHORTCUTS if one.place is place for key in one.keys} - {_COPY}


def test_help_lists_what_is_bound(desk: Desk, show: Show, qtbot: QtBot, tmp_path: Path) -> None:
    frame = Frames(desk, show, qtbot)(recorded(machine(), tmp_path))
    assert bound(frame, below=False) == listed(None)
    pages = [place for place in (*WizardStep, *SideTool) if place is not WizardStep.LIVE]
    plots = {SideTool.SNAPSHOT: plot_keys()}
    told = {place: bound(frame.pages.page(place), below=True) | plots.get(place, set()) for place in pages}
    assert told == {place: listed(place) for place in pages}
    frame.close_down()


def plot_keys() -> set[str]:
    """Those that the plot of a memory snapshot meets itself; = is + without Shift."""
    return {QKeySequence(key).toString() for key in AllocationPlot("a plot").keys} - {"="}


class Plot:
    """A page of which every act is right."""

    lanes = ()
    gpu = 0

    def __getattr__(self, _: str) -> Plot:
        return self

    def __call__(self, *_: object) -> Plot:
        return self

    def __mul__(self, _: object) -> Plot:
        return self

    __rmul__ = __mul__


def test_help_lists_the_keys_of_the_live_plot() -> None:
    keys = [*range(0x20, 0x61), *range(Qt.Key.Key_Escape.value, Qt.Key.Key_PageDown.value + 1)]
    for key in keys:
        event = QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier)
        taken = LiveKeys(Plot()).press(event)  # type: ignore[arg-type]  # whatever is asked of it
        spelled = QKeySequence(key).toString()
        # M is the table's, and what is pressed with Ctrl the page's; = is + without Shift.
        assert taken is (spelled in (listed(WizardStep.LIVE) | {"="}) - {"M"}), spelled


def test_a_key_opens_a_recording(desk: Desk, show: Show) -> None:
    page = show(LivePage(desk))
    assert {"Ctrl+O"} == bound(page, below=False) == {key for key in listed(WizardStep.LIVE) if key.startswith("Ctrl")}
    page.close_down()
