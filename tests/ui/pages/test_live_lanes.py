"""Lanes side by side, one alone, and what each of them draws."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gpuassist.model.sample import GpuSample
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.history import History
from gpuassist.ui.pages.live.controls import ALL
from gpuassist.ui.pages.live.lane import BANDS, Lane, Scene
from gpuassist.ui.pages.live.lanes import Lanes, columns_for
from gpuassist.ui.plots.lane_parts import Flag
from tests.ui.made import GIB, gpu, history, process, sample
from tests.ui.showing import Show


def lanes(show: Show, count: int, height: int = 500) -> Lanes:
    made = show(Lanes(ENGLISH, str), 900, height)
    made.show_gpus(tuple(gpu(index) for index in range(count)), {})
    made.show_only(ALL)
    return made


def lane(show: Show) -> Lane:
    return show(Lane(ENGLISH, 0), 700, 200)


def scene(kept: History, *, seconds: float = 60.0, flags: tuple[Flag, ...] = (), until: float | None = None) -> Scene:
    return Scene(kept, seconds, kept.until if until is None else until, lambda pid: pid % 7, lambda pid: pid, lambda index: flags)


def place(one: Lane, within: Lanes) -> QPoint:
    return one.mapTo(within, QPoint(0, 0))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_few_gpus_stand_below_each_other(show: Show, count: int, qtbot: QtBot) -> None:
    made = lanes(show, count)
    qtbot.waitUntil(lambda: len({place(one, made).y() for one in made.all}) == count)
    assert len({place(one, made).x() for one in made.all}) == 1


def test_the_order_is_that_of_the_indices(show: Show) -> None:
    made = show(Lanes(ENGLISH, str))
    made.show_gpus((gpu(2), gpu(0), gpu(1)), {})
    assert [one.index for one in made.all] == [0, 1, 2]


def test_a_new_gpu_is_told(show: Show) -> None:
    made = lanes(show, 2)
    assert made.show_gpus((gpu(0), gpu(1), gpu(2)), {})
    assert not made.show_gpus((gpu(0), gpu(1), gpu(2)), {})


def test_a_gpu_that_left_keeps_its_lane(show: Show) -> None:
    made = lanes(show, 2)
    made.show_gpus((gpu(0),), {})
    assert [one.index for one in made.all] == [0, 1]


def test_one_alone_has_all_the_room(show: Show, qtbot: QtBot) -> None:
    made = lanes(show, 8)
    qtbot.waitUntil(lambda: 100 < made.all[3].width() < 600)
    made.show_only(3)
    qtbot.waitUntil(lambda: made.all[3].width() > 800)
    assert [one.isVisibleTo(made) for one in made.all].count(True) == 1


def test_only_the_lowest_lanes_have_a_time_axis(show: Show) -> None:
    made = lanes(show, 3)
    assert [one.shows_time for one in made.all] == [False, False, True]


def test_sixteen_gpus_fit_a_small_window(show: Show) -> None:
    made = lanes(show, 16, 260)
    made.resize(740, 260)
    assert all(made._surface.rect().contains(one.geometry()) for one in made.all)
    assert all(one.memory_rect().height() >= 18 for one in made.all)


def test_tiles_are_equally_wide_and_their_plots_equally_high(show: Show) -> None:
    made = lanes(show, 16, 260)
    widths, heights = ({size(one) for one in made.all} for size in (QWidget.width, lambda one: one.memory_rect().height()))
    assert max(widths) - min(widths) <= 1
    assert max(heights) - min(heights) <= 1


def test_a_long_reason_widens_no_column(show: Show) -> None:
    made = lanes(show, 8)
    made.show_gpus((gpu(0, lost="the GPU is lost: " + "it has fallen off the bus " * 20),), {})
    assert max(one.width() for one in made.all) - min(one.width() for one in made.all) <= 24


def test_few_lie_below_each_other_and_many_in_columns() -> None:
    for count, width, height, columns in (
        (1, 950, 300, 1),
        (2, 950, 300, 1),
        (4, 950, 320, 2),
        (16, 740, 240, 4),
        (8, 740, 700, 2),
    ):
        assert columns_for(count, width, height) == columns


def test_peaks_stand_beside_the_figures(show: Show) -> None:
    made = lanes(show, 1)
    made.show_gpus((gpu(0),), {0: 20 * GIB})
    assert "peak 20.0 GiB" in made.all[0].figures


def test_a_lane_draws_its_history(show: Show) -> None:
    one = lane(show)
    one.show_gpu(gpu(0), 0)
    assert one.draw(scene(history(*(sample(second, gpu(0, process(5, 3))) for second in range(10)))))
    assert one.pids == (5,)


def test_the_same_scene_is_drawn_once(show: Show) -> None:
    one = lane(show)
    one.show_gpu(gpu(0), 0)
    kept = history(*(sample(second, gpu(0)) for second in range(10)))
    assert one.draw(scene(kept))
    assert not one.draw(scene(kept))


def test_what_was_forgotten_is_drawn_again(show: Show) -> None:
    one = lane(show)
    one.show_gpu(gpu(0), 0)
    kept = history(*(sample(second, gpu(0)) for second in range(10)))
    one.draw(scene(kept))
    one.forget_drawn()
    assert one.draw(scene(kept))


@pytest.mark.parametrize("seconds", [30.0, 300.0, 3600.0])
def test_another_window_is_another_picture(show: Show, seconds: float) -> None:
    one = lane(show)
    one.show_gpu(gpu(0), 0)
    kept = history(*(sample(second, gpu(0)) for second in range(10)))
    one.draw(scene(kept))
    assert one.draw(scene(kept, seconds=seconds))


def test_a_new_flag_is_another_picture(show: Show) -> None:
    one = lane(show)
    one.show_gpu(gpu(0), 0)
    kept = history(*(sample(second, gpu(0)) for second in range(10)))
    one.draw(scene(kept))
    assert one.draw(scene(kept, flags=(Flag(1005.0, "starts"),)))


def test_at_most_so_many_bands_are_named(show: Show) -> None:
    one = lane(show)
    many = tuple(process(pid, 1) for pid in range(1, 9))
    one.show_gpu(gpu(0, *many), 0)
    one.draw(scene(history(sample(0, gpu(0, *many)), sample(1, gpu(0, *many)))))
    assert len(one.pids) == BANDS
    assert one.has_rest


def test_a_card_full_of_named_processes_has_no_rest(show: Show) -> None:
    one = lane(show)
    full = gpu(0, process(1, 4), rest=0)
    one.show_gpu(full, 0)
    one.draw(scene(history(sample(0, full), sample(1, full))))
    assert not one.has_rest


def test_a_card_that_hides_its_size_grows_with_its_use(show: Show) -> None:
    one = lane(show)
    told = GpuSample(0, memory_used_bytes=gpu(0, process(1, 12)).memory_used_bytes)
    one.show_gpu(told, 0)
    one.draw(scene(history(sample(0, told), sample(1, told))))
    assert one.capacity == 12.5 * GIB


def test_a_gpu_that_was_never_read_draws_nothing(show: Show) -> None:
    one = lane(show)
    one.show_gpu(gpu(0, lost="it sleeps; nothing wakes it"), 0)
    one.draw(scene(History(), until=0.0))
    assert not one.memory.numbers.any()
    assert one.trouble == "it sleeps; nothing wakes it"


def test_trouble_that_is_over_goes(show: Show) -> None:
    one = lane(show)
    one.show_gpu(gpu(0, lost="gone"), 0)
    one.show_gpu(gpu(0), 0)
    assert one.trouble == ""


def test_it_is_named_for_who_cannot_see_it(show: Show) -> None:
    assert lane(show).accessibleName() == "Used memory of GPU 0"


@pytest.fixture
def two(show: Show) -> Lanes:
    """Two lanes over a minute of two processes."""
    made = lanes(show, 2)
    kept = history(*(sample(second, gpu(0, process(5, 3)), gpu(1, process(6, 9))) for second in range(60)))
    made.draw(scene(kept))
    return made


def test_the_crosshair_stands_in_all_lanes(two: Lanes) -> None:
    two.hover(QPoint(300, 100))
    assert [one._cursor_head is not None and one._cursor_head.figures[0] for one in two.all] == ["3.5 GiB", "9.5 GiB"]
    assert [(row.name, row.value) for row in two.readout.rows][1:3] == [("in use", "3.5 GiB"), ("5", "3.0 GiB")]


def test_away_from_the_plots_there_is_none(two: Lanes) -> None:
    two.hover(QPoint(300, 100))
    two.hover(None)
    assert two.readout.isHidden()
    assert {one._cursor for one in two.all} == {None}


def test_the_wheel_zooms_where_the_mouse_is(two: Lanes) -> None:
    heard: list[tuple[float, float]] = []
    two.zoomed.connect(lambda *told: heard.append(told))
    turn(two._surface, QPoint(300, 100), QPoint(0, 120))
    [(factor, at)] = heard
    assert factor < 1
    assert at == pytest.approx(two.all[0].grid.time(two.all[0].place_at(300) or 0), abs=0.5)


def test_the_wheel_sideways_moves(two: Lanes) -> None:
    heard: list[float] = []
    two.panned.connect(heard.append)
    turn(two._surface, QPoint(300, 100), QPoint(120, 0))
    assert heard == [pytest.approx(-6)]


def test_dragging_chooses_a_stretch(two: Lanes) -> None:
    heard: list[tuple[float, float]] = []
    two.stretch_chosen.connect(lambda *told: heard.append(told))
    drag(two, Qt.KeyboardModifier.NoModifier)
    [(since, until)] = heard
    grid = two.all[0].grid
    assert until - since == pytest.approx(200 * grid.step, abs=grid.step)


def test_dragging_with_shift_moves(two: Lanes) -> None:
    heard: list[float] = []
    two.panned.connect(heard.append)
    drag(two, Qt.KeyboardModifier.ShiftModifier)
    assert sum(heard) == pytest.approx(-200 * two.all[0].grid.step, rel=0.02)


def test_a_click_on_a_name_shows_that_gpu_alone_and_another_all(two: Lanes) -> None:
    heard: list[object] = []
    two.gpu_chosen.connect(heard.append)
    QTest.mouseClick(two._surface, Qt.MouseButton.LeftButton, pos=QPoint(40, two.all[1].y() + 8))
    two.show_only(1)
    QTest.mouseClick(two._surface, Qt.MouseButton.LeftButton, pos=QPoint(40, 8))
    assert heard == [1, ALL]


def turn(surface: QWidget, at: QPoint, by: QPoint) -> None:
    place, buttons, keys = QPointF(at), Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    there = surface.mapToGlobal(place)
    QApplication.sendEvent(surface, QWheelEvent(place, there, QPoint(), by, buttons, keys, Qt.ScrollPhase.NoScrollPhase, False))


def drag(over: Lanes, keys: Qt.KeyboardModifier) -> None:
    """Two hundred pixels to the right."""
    QTest.mousePress(over._surface, Qt.MouseButton.LeftButton, keys, QPoint(300, 100))
    QTest.mouseMove(over._surface, QPoint(400, 110))
    QTest.mouseMove(over._surface, QPoint(500, 110))
    QTest.mouseRelease(over._surface, Qt.MouseButton.LeftButton, keys, QPoint(500, 110))
