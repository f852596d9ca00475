"""One GPU's lane: its name and figures as far as they are known, why nothing is drawn, and when a picture is another."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from gpuassist.model.sample import GpuSample
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.history import History
from gpuassist.present.curves import CurveKind
from gpuassist.ui.pages.live.lane import Lane, Scene
from gpuassist.ui.plots.lane_parts import Flag
from tests.ui.made import GIB, gpu, history, process, sample, unknown
from tests.ui.showing import Show

FULL = "2.5 of 24 GiB · 97 % · 71 °C · 412 W · peak 21.2 GiB"
BUSY = gpu(0, process(5, 2))


@pytest.fixture
def lane(show: Show) -> Lane:
    return show(Lane(ENGLISH, 0), 700, 200)


def kept(*gpus: GpuSample) -> History:
    """A history of one card, a second apart."""
    return history(*(sample(second, one) for second, one in enumerate(gpus)))


def scene(of: History, *, seconds: float = 60.0, later: float = 0.0, flags: tuple[Flag, ...] = ()) -> Scene:
    """All of a history, some time after its end."""
    return Scene(of, seconds, of.until + later, lambda pid: pid % 7, lambda pid: pid, lambda index: flags if index == 0 else ())


def test_before_the_first_sample_it_is_named_by_its_number(lane: Lane) -> None:
    assert lane.head.title == "GPU 0"
    assert lane.figures == ""
    assert lane.trouble == ""


def test_it_takes_the_cards_name(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    assert lane.head.title == "GPU 0 · RTX 4090"


def test_all_figures_stand_in_one_line(lane: Lane) -> None:
    lane.show_gpu(BUSY, int(21.2 * GIB))
    assert lane.figures == FULL


def test_without_a_peak_none_is_told(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    assert "peak" not in lane.figures


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("memory_total_bytes", "2.5 GiB · 97 % · 71 °C · 412 W"),
        ("utilization_percent", "2.5 of 24 GiB · 71 °C · 412 W"),
        ("temperature_celsius", "2.5 of 24 GiB · 97 % · 412 W"),
        ("power_watts", "2.5 of 24 GiB · 97 % · 71 °C"),
    ],
)
def test_what_a_card_does_not_tell_is_left_out(lane: Lane, name: str, figures: str) -> None:
    lane.show_gpu(replace(BUSY, **{name: unknown("not supported")}), 0)
    assert lane.figures == figures
    assert lane.trouble == ""


def test_a_card_that_hides_its_use_says_so(lane: Lane) -> None:
    lane.show_gpu(replace(BUSY, memory_used_bytes=unknown("the driver does not tell")), 0)
    assert lane.trouble == "the driver does not tell"
    assert lane.figures == "97 % · 71 °C · 412 W"


def test_a_card_without_a_name_keeps_its_number(lane: Lane) -> None:
    lane.show_gpu(replace(BUSY, name=unknown("not told")), 0)
    assert lane.head.title == "GPU 0"


def test_a_lost_card_keeps_its_peak(lane: Lane) -> None:
    lane.show_gpu(gpu(0, lost="it fell off the bus"), 3 * GIB)
    assert (lane.figures, lane.trouble) == ("peak 3.0 GiB", "it fell off the bus")


def test_another_trouble_takes_the_firsts_place(lane: Lane) -> None:
    lane.show_gpu(gpu(0, lost="asleep"), 0)
    lane.show_gpu(gpu(0, lost="it fell off the bus"), 0)
    assert lane.trouble == "it fell off the bus"


def test_a_lost_card_keeps_its_scale(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    lane.show_gpu(gpu(0, lost="it fell off the bus"), 0)
    lane.draw(scene(kept(BUSY, BUSY)))
    assert lane.capacity == 24 * GIB


def test_long_figures_do_not_widen_a_lane(show: Show) -> None:
    lane = show(Lane(ENGLISH, 0), 260, 160)
    lane.show_gpu(BUSY, int(21.2 * GIB))
    assert lane.minimumSizeHint().width() <= 260


def test_who_came_first_lies_at_the_bottom(lane: Lane) -> None:
    card = gpu(0, process(5, 2), process(6, 9), process(7, 4))
    lane.show_gpu(card, 0)
    lane.draw(scene(kept(card, card)))
    assert lane.pids == (5, 6, 7)


def test_each_band_has_its_processes_colour(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    lane.draw(scene(kept(BUSY, BUSY)))
    assert lane.series == tuple(pid % 7 for pid in lane.pids)


def test_a_process_that_left_the_window_is_forgotten(lane: Lane) -> None:
    of = history(sample(0, BUSY), *(sample(second, gpu(0)) for second in range(1, 200)))
    lane.show_gpu(gpu(0), 0)
    lane.draw(scene(of))
    assert lane.pids == ()


def test_a_longer_window_brings_it_back(lane: Lane) -> None:
    of = history(sample(0, BUSY), *(sample(second, gpu(0)) for second in range(1, 200)))
    lane.show_gpu(gpu(0), 0)
    lane.draw(scene(of, seconds=300))
    assert lane.pids == (5,)


def test_time_that_passes_moves_the_picture(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    of = kept(BUSY, BUSY)
    lane.draw(scene(of))
    assert lane.draw(scene(of, later=5))


def test_less_than_a_pixel_of_time_moves_nothing(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    of = kept(BUSY, BUSY)
    lane.draw(scene(of, seconds=86400))
    assert not lane.draw(scene(of, seconds=86400, later=0.001))


def test_a_new_sample_is_another_picture(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    of = kept(BUSY, BUSY)
    lane.draw(scene(of))
    of.add(sample(2, gpu(0, process(5, 9))))
    assert lane.draw(scene(of))


def test_another_width_is_another_picture(lane: Lane, qtbot: QtBot) -> None:
    lane.show_gpu(BUSY, 0)
    of = kept(BUSY, BUSY)
    lane.draw(scene(of))
    before = lane.columns_wanted
    lane.resize(500, 200)
    qtbot.waitUntil(lambda: lane.columns_wanted < before)
    assert lane.draw(scene(of))


def test_flags_of_the_card_reach_its_plot(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    flag = Flag(1000.5, "job5.py starts")
    lane.draw(scene(kept(BUSY, BUSY), flags=(flag,)))
    assert lane.flags == (flag,)


def test_another_cards_flags_stay_there(show: Show) -> None:
    other = show(Lane(ENGLISH, 1), 700, 200)
    other.show_gpu(gpu(1), 0)
    other.draw(scene(history(sample(0, gpu(1)), sample(1, gpu(1))), flags=(Flag(1000.5, "starts"),)))
    assert other.flags == ()


def test_the_moment_under_the_crosshair_is_what_was_then(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    of = history(*(sample(second, gpu(0, process(5, second % 20 + 1))) for second in range(40)))
    lane.draw(scene(of))
    moment = lane.moment(lane.grid.place(1010.5))
    assert (moment.used, moment.processes, moment.rest) == ((11.5 * GIB, 11.5 * GIB), ((5, 11 * GIB),), 0.5 * GIB)


def test_in_a_gap_there_was_nothing(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    lane.draw(scene(history(sample(0, BUSY), sample(30, BUSY))))
    assert lane.moment(lane.grid.place(1015.0)).used is None
    assert lane.head_at(lane.moment(lane.grid.place(1015.0)), "12:00").figures == ("no reading",)


def test_moved_in_steps_it_looks_as_drawn_at_once(show: Show) -> None:
    of = history(*(sample(second / 2, gpu(0, process(5, second % 17), process(6, 2))) for second in range(400)))
    moved, at_once = show(Lane(ENGLISH, 0), 700, 200), show(Lane(ENGLISH, 0), 700, 200)
    for one in (moved, at_once):
        one.show_gpu(BUSY, 0)
    for later in (-80, -79.5, -60, -63, -100, -20, -19, -2):
        moved.draw(scene(of, later=later))
    at_once.draw(scene(of, later=-2))
    assert (moved.memory.numbers == at_once.memory.numbers).all()


def test_a_peak_of_one_sample_is_a_full_column_whatever_the_window(lane: Lane) -> None:
    of = history(*(sample(second, gpu(0, rest=23 if second == 700 else 1)) for second in range(1500)))
    lane.show_gpu(gpu(0), 0)
    for seconds in (1500.0, 3600.0, 86400.0):
        lane.draw(scene(of, seconds=seconds))
        filled = (lane.memory.numbers > 0).sum(axis=0).max()
        assert filled >= 23 / 24 * lane.memory.numbers.shape[0]


def test_what_is_long_past_is_shown_by_what_is_left_of_it(lane: Lane) -> None:
    of = history(*(sample(tenth / 10, gpu(0)) for tenth in range(6000)))
    lane.show_gpu(gpu(0), 0)
    lane.draw(scene(of, seconds=30, later=-590))
    assert lane.memory.numbers[-1].any()


def test_old_figures_say_so(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0, stale=True)
    assert lane.head.stale
    lane.draw(scene(kept(BUSY, BUSY), later=12))
    assert lane.newest is not None


def test_curves_take_room_from_the_memory(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    of = kept(BUSY, BUSY)
    lane.draw(scene(of))
    before = lane.memory_rect().height()
    lane.draw(replace(scene(of), curves=(CurveKind.USE, CurveKind.POWER, CurveKind.PCIE)))
    assert [look.title for look in lane.curve_looks] == ["GPU use · 97 %", "Power · 412 W"]  # nobody tells of PCIe
    assert lane.memory_rect().height() < before
    assert lane.curves[0].numbers.any()
