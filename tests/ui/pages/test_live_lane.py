"""One GPU's lane: its name and figures as far as they are known, why nothing is drawn, and when a picture is another."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpuassist.model.sample import GpuSample
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.history import History
from gpuassist.ui.pages.live.lanes import Lane, Scene
from gpuassist.ui.plots.bands import Flag
from gpuassist.ui.widgets.labels import ElidedLabel
from tests.ui.made import GIB, gpu, history, process, sample, unknown
from tests.ui.showing import Show, words_in

FULL = "2.5 of 24 GiB · peak 21.2 GiB · 97 % · 71 °C · 412 W"
BUSY = gpu(0, process(5, 2))


@pytest.fixture
def lane(show: Show) -> Lane:
    return show(Lane(ENGLISH, 0), 700, 200)


def kept(*gpus: GpuSample) -> History:
    """A history of one card, a second apart."""
    return history(*(sample(second, one) for second, one in enumerate(gpus)))


def scene(of: History, *, seconds: float = 60.0, later: float = 0.0, flags: tuple[Flag, ...] = ()) -> Scene:
    """All of a history, some time after its end."""
    return Scene(of, seconds, of.until + later, lambda pid: pid % 7, lambda index: flags if index == 0 else ())


def test_before_the_first_sample_it_is_named_by_its_number(lane: Lane) -> None:
    assert words_in(lane) == ["GPU 0"]
    assert lane.figures == ""
    assert lane.trouble == ""


def test_it_takes_the_cards_name(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    assert words_in(lane) == ["GPU 0 · RTX 4090"]


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
    assert words_in(lane) == ["GPU 0"]


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
    assert lane.plot.marks[0][-1] == "24"


def test_figures_are_copied_whole(show: Show, clipboard: QClipboard) -> None:
    lane = show(Lane(ENGLISH, 0), 260, 160)
    lane.show_gpu(BUSY, int(21.2 * GIB))
    figures = next(label for label in lane.findChildren(ElidedLabel) if label.words == FULL)
    figures.setFocus()
    QTest.keyClick(figures, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text() == FULL


def test_long_figures_do_not_widen_a_lane(show: Show) -> None:
    lane = show(Lane(ENGLISH, 0), 260, 160)
    lane.show_gpu(BUSY, int(21.2 * GIB))
    assert lane.minimumSizeHint().width() <= 260


def test_the_greatest_process_lies_at_the_bottom(lane: Lane) -> None:
    card = gpu(0, process(5, 2), process(6, 9), process(7, 4))
    lane.show_gpu(card, 0)
    lane.draw(scene(kept(card, card)))
    assert lane.pids == (6, 7, 5)


def test_each_band_has_its_processes_colour(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    lane.draw(scene(kept(BUSY, BUSY)))
    assert lane.plot.picture is not None
    assert lane.plot.picture.series == tuple(pid % 7 for pid in lane.pids)


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
    before = lane.plot.columns_wanted
    lane.resize(500, 200)
    qtbot.waitUntil(lambda: lane.plot.columns_wanted < before)
    assert lane.draw(scene(of))


def test_flags_of_the_card_reach_its_plot(lane: Lane) -> None:
    lane.show_gpu(BUSY, 0)
    flag = Flag(1000.5, "job5.py starts")
    lane.draw(scene(kept(BUSY, BUSY), flags=(flag,)))
    assert lane.plot.picture is not None
    assert lane.plot.picture.flags == (flag,)


def test_another_cards_flags_stay_there(show: Show) -> None:
    other = show(Lane(ENGLISH, 1), 700, 200)
    other.show_gpu(gpu(1), 0)
    other.draw(scene(history(sample(0, gpu(1)), sample(1, gpu(1))), flags=(Flag(1000.5, "starts"),)))
    assert other.plot.picture is not None
    assert other.plot.picture.flags == ()
