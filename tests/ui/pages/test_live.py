"""The live page: lanes, pause, keys, and what stands there when nothing can be drawn."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import cast

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpuassist.model.sample import Sample
from gpuassist.session.inspect import Inspection
from gpuassist.session.navigation import GoTo, Marked, StepStatus, ToHolders, WizardStep
from gpuassist.session.watch import Watch
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.live.page import LivePage
from gpuassist.ui.plots.bands import REST
from gpuassist.ui.widgets.table import Table
from tests.nvml_fixture import FakeNvml
from tests.ui.made import NO_DRIVER, framed, gpu, process, sample, with_variables


class HandFed(Watch):
    """A watch without a thread: samples are put in by hand, and everything after is the real one's."""

    starts = 0

    def start(self, on_sample: Callable[[Sample], None]) -> None:
        self._on_sample = on_sample
        self.starts += 1

    def feed(self, *samples: Sample) -> None:
        for one in samples:
            self._take(one)


class Shown:
    """The page with its watch, visible."""

    def __init__(self, desk: Desk, qtbot: QtBot) -> None:
        self.watch = HandFed(desk.session)
        self.frame = framed(qtbot)
        self.page = LivePage(desk, self.frame, watch=self.watch)
        self.asked: list[object] = []
        self.page.asked.connect(self.asked.append)
        self.page.resize(900, 700)
        self.page.show()
        self.page.arrive(None)
        self.qtbot = qtbot
        qtbot.waitUntil(lambda: self.page._watching.running)

    def feed(self, *samples: Sample) -> None:
        self.watch.feed(*samples)
        self.draw()

    def draw(self) -> None:
        self.page._pace.stop()
        self.page._draw()

    def press(self, key: Qt.Key) -> None:
        QTest.keyClick(self.page, key)

    def words(self) -> str:
        return " ".join(label.text() for label in self.page.findChildren(QLabel) if label.isVisible())


@pytest.fixture
def shown(desk: Desk, qtbot: QtBot) -> Shown:
    return Shown(desk, qtbot)


TWO = [sample(second, gpu(0, process(11, 4, "python train.py")), gpu(1)) for second in range(5)]


def test_each_gpu_has_a_lane(shown: Shown) -> None:
    shown.feed(*TWO)
    assert [lane.index for lane in shown.page.lanes] == [0, 1]


def test_a_lane_tells_its_figures(shown: Shown) -> None:
    shown.feed(*TWO)
    assert shown.page.lanes[0].figures == "4.5 of 24 GiB · peak 4.5 GiB · 97 % · 71 °C · 412 W"


def test_bands_are_the_processes(shown: Shown) -> None:
    shown.feed(*TWO)
    assert [lane.pids for lane in shown.page.lanes] == [(11,), ()]


def test_the_legend_names_processes_and_the_rest(shown: Shown) -> None:
    shown.feed(*TWO)
    assert shown.page._controls.legend == ((0, "train.py"), (REST, "everything else"))


def test_a_colour_stays_its_process(shown: Shown) -> None:
    shown.feed(sample(0, gpu(0, process(11, 4), process(12, 2))))
    shown.feed(sample(1, gpu(0, process(11, 4), process(12, 9))))
    assert (0, "job11.py") in shown.page._controls.legend


def test_the_subtitle_counts(shown: Shown) -> None:
    shown.feed(*TWO)
    assert "2 GPUs · 1 process · history since" in shown.words()


def test_an_unchanged_picture_is_not_drawn_again(shown: Shown) -> None:
    shown.feed(*TWO)
    picture = shown.page.lanes[0].plot.picture
    shown.draw()
    assert shown.page.lanes[0].plot.picture is picture


def test_a_new_sample_is_drawn(shown: Shown) -> None:
    shown.feed(*TWO)
    before = shown.page.lanes[0].plot.picture
    shown.feed(sample(5, gpu(0, process(11, 6)), gpu(1)))
    assert shown.page.lanes[0].plot.picture is not before


def test_a_hidden_page_draws_nothing(shown: Shown) -> None:
    shown.feed(*TWO)
    before = shown.page.lanes[0].plot.picture
    shown.page.hide()
    shown.feed(sample(5, gpu(0, process(11, 6)), gpu(1)))
    assert shown.page.lanes[0].plot.picture is before


def test_space_lets_the_view_stand_still(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.press(Qt.Key.Key_Space)
    before = shown.page.lanes[0].plot.picture
    shown.feed(sample(5, gpu(0, process(11, 6)), gpu(1)))
    assert (shown.page.paused, before is not None and before.until) == (True, 1004.0)
    after = shown.page.lanes[0].plot.picture
    assert after is not None
    assert after.until == 1004.0


def test_sampling_goes_on_while_paused(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.press(Qt.Key.Key_Space)
    shown.feed(sample(5, gpu(0), gpu(1)))
    shown.press(Qt.Key.Key_Space)
    after = shown.page.lanes[0].plot.picture
    assert after is not None
    assert after.until == 1005.0


@pytest.mark.parametrize(("key", "seconds"), [(Qt.Key.Key_Plus, 900), (Qt.Key.Key_Minus, 60)])
def test_keys_change_the_window(shown: Shown, key: Qt.Key, seconds: int) -> None:
    shown.feed(*TWO)
    shown.press(key)
    assert shown.page.seconds == seconds


def test_the_window_has_ends(shown: Shown) -> None:
    for _ in range(10):
        shown.press(Qt.Key.Key_Minus)
    assert shown.page.seconds == 60


def test_a_digit_shows_one_gpu(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.press(Qt.Key.Key_2)
    assert [lane.isVisibleTo(shown.page) for lane in shown.page.lanes] == [False, True]


def test_zero_shows_all_again(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.press(Qt.Key.Key_2)
    shown.press(Qt.Key.Key_0)
    assert all(lane.isVisibleTo(shown.page) for lane in shown.page.lanes)


def test_a_digit_of_no_gpu_shows_all(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.press(Qt.Key.Key_9)
    assert all(lane.isVisibleTo(shown.page) for lane in shown.page.lanes)


def test_a_lost_gpu_says_so_in_its_lane(shown: Shown) -> None:
    shown.feed(*TWO, sample(5, gpu(0), gpu(1, lost="the GPU is lost")))
    assert [lane.trouble for lane in shown.page.lanes] == ["", "the GPU is lost"]


def test_a_lost_gpu_keeps_its_scale(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.feed(sample(5, gpu(0), gpu(1, lost="the GPU is lost")))
    picture = shown.page.lanes[1].plot.picture
    assert picture is not None
    assert picture.capacity == 24 * 1024**3


def test_without_a_driver_the_reason_stands_there(shown: Shown) -> None:
    shown.feed(sample(0, trouble=(NO_DRIVER,)))
    assert "the NVIDIA driver is not loaded" in shown.words()


def test_the_way_to_the_findings_is_offered(shown: Shown) -> None:
    shown.feed(sample(0, trouble=(NO_DRIVER,)))
    shown.page._found.click()
    assert GoTo(WizardStep.FOUND) in shown.asked


def test_no_gpu_at_all_is_said(shown: Shown) -> None:
    shown.feed(sample(0))
    assert "There is no GPU to watch" in shown.words()


def test_the_plot_begins_when_the_driver_answers(shown: Shown) -> None:
    shown.feed(sample(0, trouble=(NO_DRIVER,)))
    shown.feed(*TWO)
    assert shown.page._lanes.isVisible()
    assert "not loaded" not in shown.words()


def test_a_driver_that_goes_away_leaves_the_plot(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.feed(sample(5, trouble=(NO_DRIVER,)))
    assert shown.page._lanes.isVisible()
    assert "not loaded" in shown.words()


def test_the_step_is_marked_once_samples_come(shown: Shown) -> None:
    shown.feed(*TWO)
    assert [one for one in shown.asked if isinstance(one, Marked)] == [Marked(WizardStep.LIVE, StepStatus.RIGHT)]


def test_processes_that_start_are_flagged(shown: Shown) -> None:
    shown.feed(sample(0, gpu(0)), sample(1, gpu(0, process(11, 4, "python train.py"))))
    picture = shown.page.lanes[0].plot.picture
    assert picture is not None
    assert [flag.label for flag in picture.flags] == ["train.py starts"]


def test_nothing_is_sampled_before_the_page_is_shown(desk: Desk, qtbot: QtBot) -> None:
    watch = HandFed(desk.session)
    frame = framed(qtbot)
    LivePage(desk, frame, watch=watch)
    assert not watch.starts


def test_a_recorded_machine_is_not_watched(shown: Shown) -> None:
    shown.page.show_inspection(cast(Inspection, SimpleNamespace(recorded=True)))
    shown.page.arrive(None)
    shown.qtbot.waitUntil(lambda: not shown.page._watching.running)
    shown.feed(*TWO)
    assert "A recorded machine has no live memory" in shown.words()
    assert not shown.page.lanes


def test_samples_cross_threads_to_the_page(shown: Shown) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(shown.watch.feed, *TWO).result()
    shown.qtbot.waitUntil(lambda: len(shown.page.lanes) == 2)


@pytest.mark.needs("gcc")
def test_real_nvml_drives_the_page(desk: Desk, qtbot: QtBot, fake_nvml: FakeNvml) -> None:
    fake_nvml("[gpu]\nprocess = 4242 c 2048\n[gpu]\nuuid = GPU-2\npci = 00000000:02:00.0\n")
    watch = Watch(with_variables(desk.session, fake_nvml.variables), hz=20)
    frame = framed(qtbot)
    page = LivePage(desk, frame, watch=watch)
    page.resize(900, 700)
    page.show()
    page.arrive(None)
    qtbot.waitUntil(lambda: len(page.lanes) == 2 and bool(page.lanes[0].pids))
    page.close_down()
    assert not watch.running


def test_keys_are_told_once_there_is_a_plot(shown: Shown) -> None:
    assert shown.page.bar().note == ""
    shown.feed(*TWO)
    assert "Space pauses" in shown.page.bar().note


def test_who_holds_the_gpu_is_one_click_away(shown: Shown) -> None:
    shown.feed(sample(0, gpu(0, process(7, 3))))
    [holders] = shown.page.bar().left
    holders.trigger()
    assert shown.asked[-1] == ToHolders()


def test_who_holds_the_gpu_opens_at_the_chosen_process(shown: Shown) -> None:
    shown.feed(sample(0, gpu(0, process(7, 3), process(8, 2))))
    table = shown.page.findChild(Table)
    assert isinstance(table, Table)
    table.selectRow(1)
    shown.page.bar().left[0].trigger()
    assert shown.asked[-1] == ToHolders(8)
