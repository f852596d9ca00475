"""The plot of one GPU: its axes and marks, its room, its colours, and what the mouse cannot do to it."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpuassist.model.words import ENGLISH
from gpuassist.monitor.pyramid import Window
from gpuassist.ui.palette import LIGHT
from gpuassist.ui.plots.bands import HEADROOM, Flag
from gpuassist.ui.plots.lane_plot import LanePlot
from gpuassist.ui.plots.raster import columns_of
from gpuassist.ui.theme import Appearance, Theme
from tests.ui.made import GIB, gpu, history, process, sample
from tests.ui.showing import Show, ink_in

CARD, MINUTE, BEGAN = 24.0 * GIB, 60.0, 1000.0


@pytest.fixture
def plot(show: Show) -> LanePlot:
    """The plot of a card of 24 GiB over a minute."""
    made = show(LanePlot(ENGLISH), 640, 220)
    made.show_scale(CARD, MINUTE)
    return made


def draw(plot: LanePlot, *flags: Flag, window: float = MINUTE) -> None:
    """Half a minute of one process."""
    kept = history(*(sample(second, gpu(0, process(7, 6))) for second in range(30)))
    stack = kept.stack(0, Window(window, plot.columns_wanted))
    plot.show_bands(columns_of(stack), (0,), kept.until, flags)


def seen(plot: LanePlot) -> tuple[list[float], list[float]]:
    """What the axes go from and to: time, and memory."""
    (left, right), (bottom, top) = plot._box.viewRange()
    return [left, right], [bottom, top]


def wheel(plot: LanePlot) -> None:
    """Turns the wheel over the middle of the plot."""
    at = QPointF(plot.rect().center())
    buttons, modifiers = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    turn = QWheelEvent(at, plot.mapToGlobal(at), QPoint(), QPoint(0, 240), buttons, modifiers, Qt.ScrollPhase.NoScrollPhase, False)
    QApplication.sendEvent(plot.viewport(), turn)


def test_before_anything_is_told_nothing_is_marked(show: Show) -> None:
    made = show(LanePlot(ENGLISH), 640, 220)
    assert made.picture is None
    assert made.marks == ((), ())


def test_a_plot_without_a_picture_can_be_painted(show: Show) -> None:
    assert not show(LanePlot(ENGLISH), 640, 220).grab().isNull()


def test_memory_is_marked_up_to_the_card(plot: LanePlot) -> None:
    assert plot.marks[0] == ("0", "8", "16", "24")


def test_time_is_marked_up_to_now(plot: LanePlot) -> None:
    assert plot.marks[1] == ("−1 min", "−50 s", "−40 s", "−30 s", "−20 s", "−10 s", "now")


@pytest.mark.parametrize(("seconds", "first"), [(300, "−5 min"), (900, "−15 min"), (14400, "−4 h"), (86400, "−24 h")])
def test_each_window_is_marked_in_its_unit(plot: LanePlot, seconds: float, first: str) -> None:
    plot.show_scale(CARD, seconds)
    assert plot.marks[1][0] == first
    assert plot.marks[1][-1] == "now"


def test_now_is_the_right_edge(plot: LanePlot) -> None:
    assert seen(plot)[0] == pytest.approx([-MINUTE, 0])


def test_the_capacity_lies_below_the_upper_edge(plot: LanePlot) -> None:
    assert seen(plot)[1] == pytest.approx([0, CARD * HEADROOM])


def test_another_card_has_another_scale(plot: LanePlot) -> None:
    plot.show_scale(80.0 * GIB, MINUTE)
    assert plot.marks[0][-1] == "80"
    assert seen(plot)[1][1] == pytest.approx(80 * GIB * HEADROOM)


def test_the_picture_carries_the_scale(plot: LanePlot) -> None:
    draw(plot)
    assert plot.picture is not None
    assert (plot.picture.capacity, plot.picture.window, plot.picture.until) == (CARD, MINUTE, BEGAN + 29)


def test_the_top_mark_has_no_line_of_its_own(plot: LanePlot) -> None:
    draw(plot)
    assert plot.picture is not None
    assert plot.picture.grid == (0, 8 * GIB, 16 * GIB)


def test_flags_are_kept_in_the_picture(plot: LanePlot) -> None:
    flag = Flag(BEGAN + 10, "train.py starts")
    draw(plot, flag)
    assert plot.picture is not None
    assert plot.picture.flags == (flag,)


def test_the_capacity_line_is_seen(plot: LanePlot, theme: Theme) -> None:
    assert ink_in(plot, LIGHT.problem) == 0
    draw(plot)
    assert ink_in(plot, LIGHT.problem) > plot.columns_wanted / 3


def test_the_greatest_use_is_that_of_the_samples(plot: LanePlot) -> None:
    draw(plot)
    assert plot.picture is not None
    assert plot.picture.columns.highs.max() == 6.5 * GIB


def test_a_wider_plot_asks_for_more_columns(plot: LanePlot, qtbot: QtBot) -> None:
    before = plot.columns_wanted
    plot.resize(900, 220)
    qtbot.waitUntil(lambda: plot.columns_wanted == before + 260)


def test_columns_are_what_the_memory_axis_leaves(plot: LanePlot) -> None:
    assert plot.columns_wanted == plot.width() - 40


def test_a_plot_without_room_still_asks_for_some(show: Show, qtbot: QtBot) -> None:
    made = show(LanePlot(ENGLISH), 44, 60)
    qtbot.waitUntil(lambda: made.columns_wanted == 16)


@pytest.mark.parametrize(("height", "marks"), [(90, ("0", "16", "24")), (119, ("0", "16", "24")), (120, ("0", "8", "16", "24"))])
def test_a_low_plot_has_few_marks(show: Show, height: int, marks: tuple[str, ...]) -> None:
    made = show(LanePlot(ENGLISH), 640, height)
    made.show_scale(CARD, MINUTE)
    assert made.marks[0] == marks


def test_a_plot_that_grows_gets_its_marks(show: Show) -> None:
    made = show(LanePlot(ENGLISH), 640, 90)
    made.show_scale(CARD, MINUTE)
    made.resize(640, 220)
    made.show_scale(CARD, MINUTE)
    assert len(made.marks[0]) == 4


def test_without_a_time_axis_bands_have_more_room(plot: LanePlot, qtbot: QtBot) -> None:
    before = plot._box.height()
    plot.show_time_axis(shown=False)
    qtbot.waitUntil(lambda: plot._box.height() == before + 14)


def test_the_time_axis_can_come_back(plot: LanePlot, qtbot: QtBot) -> None:
    before = plot._box.height()
    plot.show_time_axis(shown=False)
    plot.show_time_axis(shown=True)
    qtbot.waitUntil(lambda: plot._box.height() == before)


def test_the_wheel_does_not_zoom(plot: LanePlot) -> None:
    before = seen(plot)
    wheel(plot)
    assert seen(plot) == before


def test_dragging_does_not_scroll(plot: LanePlot) -> None:
    before = seen(plot)
    QTest.mousePress(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(200, 80))
    QTest.mouseMove(plot.viewport(), QPoint(320, 120))
    QTest.mouseRelease(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(320, 120))
    assert seen(plot) == before


def test_neither_the_tab_key_nor_a_menu_stops_at_it(plot: LanePlot) -> None:
    assert plot.focusPolicy() is Qt.FocusPolicy.NoFocus
    assert plot.contextMenuPolicy() is Qt.ContextMenuPolicy.NoContextMenu


def test_it_stands_on_the_colour_of_its_card(show: Show, each_look: Theme) -> None:
    made = show(LanePlot(ENGLISH), 640, 220)
    assert made.backgroundBrush().color() == QColor(each_look.palette().panel)


def test_it_follows_a_change_of_looks(plot: LanePlot, theme: Theme, qtbot: QtBot) -> None:
    theme.choose(Appearance.DARK)
    qtbot.waitUntil(lambda: plot.backgroundBrush().color() == QColor(theme.palette().panel))
    assert plot._bytes.textPen().color() == QColor(theme.palette().muted)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(1 << 28, 1 << 38), st.sampled_from([60, 300, 900, 3600, 14400, 86400]))
def test_every_card_and_window_have_few_marks(plot: LanePlot, capacity: float, window: float) -> None:
    plot.show_scale(capacity, window)
    assert 2 <= len(plot.marks[0]) <= 6
    assert 3 <= len(plot.marks[1]) <= 7
