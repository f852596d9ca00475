"""What a lane paints: figures, the capacity, events, the crosshair, in every look and at every size."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QImage

from gpuassist.present.marks import Mark
from gpuassist.ui.palette import DARK, LIGHT, Palette
from gpuassist.ui.plots.colour_table import REST, band_table, series_colour
from gpuassist.ui.plots.lane_parts import CurveLook, Flag, Head, fitting
from gpuassist.ui.plots.lane_plot import LanePlot
from gpuassist.ui.plots.plot_fonts import SMALL, lettering
from gpuassist.ui.plots.raster import FAINT_FROM
from gpuassist.ui.plots.time_grid import TimeGrid
from gpuassist.ui.theme import Theme
from tests.ui.showing import Show, ink_in

GIB = 1 << 30
FIGURES = ("2.5 of 24 GiB", "97 %", "71 °C", "412 W", "peak 21.2 GiB")


@pytest.fixture
def plot(show: Show) -> LanePlot:
    """A card of 24 GiB over a minute."""
    made = show(LanePlot(), 640, 220)
    made.show_capacity(24.0 * GIB)
    made.grid = TimeGrid(60, 1000, made.columns_wanted)
    return made


def colours(plot: LanePlot) -> set[int]:
    image: QImage = plot.grab().toImage()
    return {image.pixel(x, y) & 0xFFFFFF for x in range(image.width()) for y in range(image.height())}


def count(plot: LanePlot, colour: str) -> int:
    image, wanted = plot.grab().toImage(), QColor(colour).rgb()
    return sum(image.pixel(x, y) == wanted for x in range(image.width()) for y in range(image.height()))


def test_it_stands_on_the_colour_of_its_card_and_shows_the_capacity(show: Show, each_look: Theme) -> None:
    made = show(LanePlot(), 300, 120)
    assert {QColor(colour).rgb() & 0xFFFFFF for colour in (each_look.palette().panel, each_look.palette().problem)} <= colours(made)


def test_one_of_several_curves_is_shown_where_its_title_is(plot: LanePlot) -> None:
    plot.show_curves(tuple(CurveLook(name) for name in ("GPU use", "Power", "Clocks", "Fan")))
    for height in range(60, 260, 10):
        plot.resize(640, height)
        highs = [plot.curve_rect(place).height() for place in range(plot.curves_shown)]
        assert len(highs) <= 1 or min(highs) >= 20


def test_an_event_is_a_line_with_a_label(plot: LanePlot) -> None:
    plot.flags = (Flag(970, "out of memory", bad=True),)
    assert count(plot, LIGHT.problem) > 300
    assert count(plot, LIGHT.problem_tint) > 300


def test_an_event_outside_the_window_is_not_drawn(plot: LanePlot) -> None:
    plot.flags = (Flag(700, "long ago", bad=True),)
    assert count(plot, LIGHT.problem_tint) == 0


def test_labels_that_overlap_leave_the_bad_one(plot: LanePlot) -> None:
    plot.flags = (Flag(970, "out of memory", bad=True), Flag(971, "starts"))
    assert count(plot, LIGHT.problem_tint) > 300
    assert count(plot, LIGHT.unknown_tint) == 0


def test_what_lasts_is_a_stripe(plot: LanePlot) -> None:
    plot.flags = (Flag(960, "power limit", until=980),)
    wide = count(plot, LIGHT.warning)
    plot.flags = (Flag(960, "power limit", until=961),)
    assert wide > 4 * count(plot, LIGHT.warning) > 0


def test_the_crosshair_is_a_line(plot: LanePlot) -> None:
    before = ink_in(plot, LIGHT.text)
    plot.show_cursor(200, Head("GPU 0"))
    assert ink_in(plot, LIGHT.text) > before + 100


def test_silence_is_shaded(plot: LanePlot) -> None:
    before = colours(plot)
    plot.newest = 980.0
    assert colours(plot) - before


def test_figures_give_way_from_the_last(plot: LanePlot) -> None:
    metrics = lettering(SMALL)[1]
    rooms = [metrics.horizontalAdvance(" · ".join(FIGURES[:number])) for number in (5, 3, 1)]
    assert [fitting(FIGURES, "2.5", metrics, room) for room in (*rooms, rooms[-1] - 1, 3)] == [
        " · ".join(FIGURES),
        "2.5 of 24 GiB · 97 % · 71 °C",
        "2.5 of 24 GiB",
        "2.5",
        "",
    ]


def test_trouble_never_asks_for_room(plot: LanePlot) -> None:
    before = plot.minimumSizeHint()
    plot.show_head(Head("GPU 0", FIGURES, "", "the GPU is lost " * 30, Mark.WARNING))
    assert (plot.minimumSizeHint(), plot.grab().isNull()) == (before, False)


def test_without_a_time_axis_there_is_more_room(plot: LanePlot) -> None:
    before = plot.memory_rect().height()
    plot.show_time_axis(shown=False)
    assert plot.memory_rect().height() == before + 18


def test_as_many_curves_as_there_is_room_for(show: Show) -> None:
    tall, low = show(LanePlot(), 600, 300), show(LanePlot(), 600, 84)
    for one in (tall, low):
        one.show_curves((CurveLook("use"), CurveLook("power"), CurveLook("clocks")))
    assert (tall.curves_shown, low.curves_shown) == (3, 1)
    assert not low.grab().isNull()


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_the_rest_is_grey_and_no_process_is(palette: Palette) -> None:
    assert series_colour(palette, REST) == palette.series[2]
    assert series_colour(palette, REST) not in {series_colour(palette, number) for number in range(20)}


def test_what_is_not_marked_is_set_back() -> None:
    plain, marked = band_table(LIGHT, (0, 1)), band_table(LIGHT, (0, 1), marked=0)
    assert (marked[2], QColor(marked[1]).lightness() > QColor(plain[1]).lightness()) == (plain[2], True)
    assert QColor(plain[1 + FAINT_FROM]).lightness() > QColor(plain[1]).lightness()
