"""Lanes side by side, one alone, and what each of them draws."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from gpuassist.model.sample import GpuSample
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.history import History
from gpuassist.ui.pages.live.controls import ALL
from gpuassist.ui.pages.live.lanes import BANDS, Lane, Lanes, Scene
from gpuassist.ui.plots.bands import Flag
from tests.ui.made import GIB, gpu, history, process, sample
from tests.ui.showing import Show


def lanes(show: Show, count: int, height: int = 500) -> Lanes:
    made = show(Lanes(ENGLISH), 900, height)
    made.show_gpus(tuple(gpu(index) for index in range(count)), {})
    made.show_only(ALL)
    return made


def lane(show: Show) -> Lane:
    return show(Lane(ENGLISH, 0), 700, 200)


def scene(kept: History, *, seconds: float = 60.0, flags: tuple[Flag, ...] = (), until: float | None = None) -> Scene:
    return Scene(kept, seconds, kept.until if until is None else until, lambda pid: pid % 7, lambda index: flags)


def place(one: Lane, within: Lanes) -> QPoint:
    return one.mapTo(within, QPoint(0, 0))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_few_gpus_stand_below_each_other(show: Show, count: int, qtbot: QtBot) -> None:
    made = lanes(show, count)
    qtbot.waitUntil(lambda: len({place(one, made).y() for one in made.all}) == count)
    assert len({place(one, made).x() for one in made.all}) == 1


@pytest.mark.parametrize("count", [4, 5, 8])
def test_many_gpus_stand_in_two_columns(show: Show, count: int, qtbot: QtBot) -> None:
    made = lanes(show, count)
    qtbot.waitUntil(lambda: len({place(one, made).x() for one in made.all}) == 2)


def test_the_order_is_that_of_the_indices(show: Show) -> None:
    made = show(Lanes(ENGLISH))
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
    heights = [one.plot._time.maximumHeight() for one in made.all]
    assert heights[2] > heights[0] == heights[1]


def test_many_lanes_scroll_rather_than_shrink(show: Show) -> None:
    made = lanes(show, 16, 300)
    assert all(one.plot.height() >= 72 for one in made.all)


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
    many = tuple(process(pid, 1) for pid in range(1, 8))
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
    picture = one.plot.picture
    assert picture is not None
    assert picture.capacity == 12.5 * GIB


def test_a_gpu_that_was_never_read_draws_nothing(show: Show) -> None:
    one = lane(show)
    one.show_gpu(gpu(0, lost="it sleeps; nothing wakes it"), 0)
    one.draw(scene(History(), until=0.0))
    picture = one.plot.picture
    assert picture is not None
    assert len(picture.columns.highs) == 0
    assert one.trouble == "it sleeps; nothing wakes it"


def test_trouble_that_is_over_goes(show: Show) -> None:
    one = lane(show)
    one.show_gpu(gpu(0, lost="gone"), 0)
    one.show_gpu(gpu(0), 0)
    assert one.trouble == ""


def test_a_low_lane_has_fewer_marks(show: Show) -> None:
    tall, low = lane(show), show(Lane(ENGLISH, 0), 700, 96)
    for one in (tall, low):
        one.show_gpu(gpu(0), 0)
        one.draw(scene(history(sample(0, gpu(0)), sample(1, gpu(0)))))
    assert len(low.plot.marks[0]) < len(tall.plot.marks[0])


def test_it_is_named_for_who_cannot_see_it(show: Show) -> None:
    assert lane(show).plot.accessibleName() == "Used memory of GPU 0"
