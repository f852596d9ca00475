"""What the plot paints, pixel by pixel."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from gpuassist.model.words import ENGLISH
from gpuassist.monitor.history import History
from gpuassist.monitor.pyramid import Window
from gpuassist.ui.palette import DARK, LIGHT
from gpuassist.ui.plots.bands import REST, Flag, color_table, series_colour
from gpuassist.ui.plots.lane_plot import LanePlot
from gpuassist.ui.plots.raster import FAINT_FROM, columns_of
from tests.ui.made import GIB, gpu, history, process, sample

SECONDS = 60.0


@pytest.fixture
def plot(qtbot: QtBot) -> LanePlot:
    made = LanePlot(ENGLISH)
    qtbot.addWidget(made)
    made.resize(400, 200)
    with qtbot.waitExposed(made):
        made.show()
    made.show_scale(24.0 * GIB, SECONDS)
    return made


def painted(plot: LanePlot, kept: History, *flags: Flag) -> QImage:
    stack = kept.stack(0, Window(SECONDS, plot.columns_wanted))
    plot.show_bands(columns_of(stack), tuple(range(len(stack.bands))), kept.until, flags)
    image: QImage = plot.grab().toImage()
    return image


def colours(image: QImage) -> set[int]:
    return {image.pixel(x, y) & 0xFFFFFF for x in range(image.width()) for y in range(image.height())}


def count(image: QImage, colour: int) -> int:
    return sum(image.pixel(x, y) & 0xFFFFFF == colour & 0xFFFFFF for x in range(image.width()) for y in range(image.height()))


def test_each_band_has_its_colour(plot: LanePlot) -> None:
    image = painted(plot, history(*(sample(second, gpu(0, process(1, 8), process(2, 4))) for second in range(60))))
    table = color_table(LIGHT, (0, 1))
    assert {table[1] & 0xFFFFFF, table[2] & 0xFFFFFF, table[3] & 0xFFFFFF} <= colours(image)


def test_a_single_peak_reaches_its_height(plot: LanePlot) -> None:
    samples = [sample(second, gpu(0, process(1, 20 if second == 30 else 1))) for second in range(60)]
    table = color_table(LIGHT, (0,))
    flat = painted(plot, history(*(sample(second, gpu(0, process(1, 1))) for second in range(60))))
    assert count(painted(plot, history(*samples)), table[1]) > count(flat, table[1]) + 50


def test_an_event_is_a_line_with_a_label(plot: LanePlot) -> None:
    kept = history(*(sample(second, gpu(0)) for second in range(60)))
    image = painted(plot, kept, Flag(kept.until - 30, "out of memory", bad=True))
    assert count(image, QColor(LIGHT.problem).rgb()) > 100
    assert QColor(LIGHT.problem_tint).rgb() & 0xFFFFFF in colours(image)


def test_an_event_outside_the_window_is_not_drawn(plot: LanePlot) -> None:
    kept = history(*(sample(second, gpu(0)) for second in range(60)))
    image = painted(plot, kept, Flag(kept.until - 300, "long ago", bad=True))
    assert QColor(LIGHT.problem_tint).rgb() & 0xFFFFFF not in colours(image)


def test_labels_that_overlap_leave_the_newest(plot: LanePlot) -> None:
    kept = history(*(sample(second, gpu(0)) for second in range(60)))
    one = painted(plot, kept, Flag(kept.until - 30, "starts"))
    both = painted(plot, kept, Flag(kept.until - 31, "ends"), Flag(kept.until - 30, "starts"))
    tint = QColor(LIGHT.unknown_tint).rgb()
    assert abs(count(both, tint) - count(one, tint)) < 60


def test_nothing_is_drawn_before_the_first_reading(plot: LanePlot) -> None:
    image = painted(plot, History())
    assert color_table(LIGHT, ())[1] & 0xFFFFFF not in colours(image)


def test_another_window_has_other_marks(plot: LanePlot) -> None:
    plot.show_scale(24.0 * GIB, 3600.0)
    assert plot.marks[1][0] == "−1 h"


def test_the_faint_part_is_fainter() -> None:
    table = color_table(LIGHT, (0,))
    assert QColor(table[1 + FAINT_FROM]).lightness() > QColor(table[1]).lightness()


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_the_rest_is_grey_and_no_process_is(palette: object) -> None:
    chosen = DARK if palette is DARK else LIGHT
    rest = series_colour(chosen, REST)
    assert rest == chosen.series[2]
    assert rest not in {series_colour(chosen, number) for number in range(20)}


def test_fifteen_bands_fit_the_table() -> None:
    assert len(color_table(LIGHT, tuple(range(FAINT_FROM - 2)))) == 2 * FAINT_FROM
