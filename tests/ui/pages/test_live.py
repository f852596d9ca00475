"""The live page: lanes, pause, keys, and what stands there when nothing can be drawn."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import cast

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from gpuassist.model.sample import Event, EventKind
from gpuassist.model.text import text
from gpuassist.monitor.sources import Detail
from gpuassist.present.curves import CurveKind
from gpuassist.session.inspect import Inspection
from gpuassist.session.navigation import GoTo, Marked, StepStatus, ToHolders, WizardStep
from gpuassist.session.watch import Silence, Watch
from gpuassist.system.clock import Clock
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.live.page import LivePage
from gpuassist.ui.plots.colour_table import REST
from gpuassist.ui.theme import Theme
from gpuassist.ui.widgets.table import Table
from tests.nvml_fixture import FakeNvml
from tests.ui.made import NO_DRIVER, framed, gpu, process, sample, with_variables
from tests.ui.pages.live_shown import HandFed, Shown


@pytest.fixture
def shown(desk: Desk, qtbot: QtBot) -> Shown:
    return Shown(desk, qtbot)


TWO = [sample(second, gpu(0, process(11, 4, "python train.py")), gpu(1)) for second in range(5)]


def test_each_gpu_has_a_lane(shown: Shown) -> None:
    shown.feed(*TWO)
    assert [lane.index for lane in shown.page.view.lanes] == [0, 1]


def test_a_lane_tells_its_figures(shown: Shown) -> None:
    shown.feed(*TWO)
    assert shown.page.view.lanes[0].figures == "4.5 of 24 GiB · 97 % · 71 °C · 412 W · peak 4.5 GiB"


def test_bands_are_the_processes(shown: Shown) -> None:
    shown.feed(*TWO)
    assert [lane.pids for lane in shown.page.view.lanes] == [(11,), ()]


def test_the_legend_names_processes_and_the_rest(shown: Shown) -> None:
    shown.feed(*TWO)
    assert shown.page.view.controls.legend == ((0, "train.py"), (REST, "other / not attributed"))


def test_a_colour_stays_its_process(shown: Shown) -> None:
    shown.feed(sample(0, gpu(0, process(11, 4), process(12, 2))))
    shown.feed(sample(1, gpu(0, process(11, 4), process(12, 9))))
    assert (0, "job11.py") in shown.page.view.controls.legend


def test_the_subtitle_counts(shown: Shown) -> None:
    shown.feed(*TWO)
    assert "2 GPUs · 1 process · history since" in shown.words()


def test_an_unchanged_picture_is_not_drawn_again(shown: Shown) -> None:
    shown.feed(*TWO)
    lane = shown.page.view.lanes[0]
    assert not shown.page.view._lanes.draw(lane._scene)[0] if lane._scene is not None else False


def test_a_new_sample_is_drawn(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.feed(sample(5, gpu(0, process(11, 6)), gpu(1)))
    assert shown.page.view.lanes[0].grid.until == 1005.0


def test_a_hidden_page_draws_nothing(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.page.hide()
    shown.feed(sample(5, gpu(0, process(11, 6)), gpu(1)))
    assert shown.page.view.lanes[0].grid.until == 1004.0


def test_space_lets_the_view_stand_still(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.press(Qt.Key.Key_Space)
    shown.feed(sample(5, gpu(0, process(11, 6)), gpu(1)))
    assert (shown.page.view.paused, shown.page.view.lanes[0].grid.until) == (True, 1004.0)
    assert shown.page.view.lanes[0].figures.startswith("4.5 of")
    assert shown.cell(0, "memory") == "4.0 GiB"


def test_sampling_goes_on_while_paused(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.press(Qt.Key.Key_Space)
    shown.feed(sample(5, gpu(0), gpu(1)))
    shown.press(Qt.Key.Key_Space)
    assert shown.page.view.lanes[0].grid.until == 1005.0


LONG = [sample(second, gpu(0, process(11, 4)), gpu(1)) for second in range(0, 2000, 2)]


def test_plus_shows_less_time_and_minus_more(shown: Shown) -> None:
    shown.feed(*LONG)
    shown.press(Qt.Key.Key_Plus)
    assert shown.page.view.time.view.seconds == 150
    shown.press(Qt.Key.Key_Minus)
    shown.press(Qt.Key.Key_Minus)
    assert shown.page.view.time.view.seconds == 600


def test_it_scrolls_back_while_it_goes_on_and_end_leads_to_now(shown: Shown) -> None:
    shown.feed(*LONG)
    shown.press(Qt.Key.Key_Left)
    until = shown.page.view.lanes[0].grid.until
    shown.feed(sample(2000, gpu(0, process(11, 6)), gpu(1)))
    assert [lane.grid.until for lane in shown.page.view.lanes] == [until, until]
    assert shown.page.view.lanes[0].figures.startswith("6.5 of")
    shown.press(Qt.Key.Key_End)
    assert [lane.grid.until for lane in shown.page.view.lanes] == [3000.0, 3000.0]


def test_home_leads_to_the_beginning(shown: Shown) -> None:
    shown.feed(*LONG)
    shown.press(Qt.Key.Key_Home)
    assert shown.page.view.lanes[0].grid.time(0) == pytest.approx(1000, abs=1)


def test_it_starts_with_what_is_there(shown: Shown) -> None:
    shown.feed(*TWO)
    assert shown.page.view.lanes[0].grid.span == 10


def test_a_digit_shows_one_gpu(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.press(Qt.Key.Key_1)
    assert [lane.isVisibleTo(shown.page) for lane in shown.page.view.lanes] == [False, True]


def test_two_digits_are_one_index(shown: Shown) -> None:
    shown.feed(sample(0, *(gpu(index) for index in range(13))))
    shown.press(Qt.Key.Key_1)
    shown.press(Qt.Key.Key_2)
    assert shown.page.view.gpu == 12


def test_one_gpu_alone_has_its_processes_alone(shown: Shown) -> None:
    shown.feed(sample(0, gpu(0, process(11, 4)), gpu(1, process(12, 4))))
    shown.press(Qt.Key.Key_1)
    assert [part.process.pid for row in shown.page.view._processes.live for part in row.parts] == [12]


def test_a_shows_all_again(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.press(Qt.Key.Key_1)
    shown.press(Qt.Key.Key_A)
    assert all(lane.isVisibleTo(shown.page) for lane in shown.page.view.lanes)


def test_a_digit_of_no_gpu_shows_all(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.press(Qt.Key.Key_9)
    assert all(lane.isVisibleTo(shown.page) for lane in shown.page.view.lanes)


def test_a_lost_gpu_says_so_in_its_lane(shown: Shown) -> None:
    shown.feed(*TWO, sample(5, gpu(0), gpu(1, lost="the GPU is lost")))
    assert [lane.trouble for lane in shown.page.view.lanes] == ["", "the GPU is lost"]
    assert Marked(WizardStep.LIVE, StepStatus.WARNING) in shown.asked  # a green tick would say that all of them are watched


def test_a_lost_gpu_keeps_its_scale(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.feed(sample(5, gpu(0), gpu(1, lost="the GPU is lost")))
    assert shown.page.view.lanes[1].capacity == 24 * 1024**3


def test_without_a_driver_the_reason_stands_there(shown: Shown) -> None:
    shown.feed(sample(0, trouble=(NO_DRIVER,)))
    assert "The NVIDIA driver is not loaded" in shown.words()


def test_the_way_to_the_findings_is_offered(shown: Shown) -> None:
    shown.feed(sample(0, trouble=(NO_DRIVER,)))
    shown.page._nothing._found.click()
    assert GoTo(WizardStep.FOUND) in shown.asked


def test_a_recording_can_be_opened_where_no_gpu_is(shown: Shown) -> None:
    shown.feed(sample(0, trouble=(NO_DRIVER,)))
    assert shown.page._nothing._open.isVisible()
    shown.page._nothing.show_waiting()
    assert not shown.page._nothing._open.isVisible()


def test_no_gpu_at_all_is_said(shown: Shown) -> None:
    shown.feed(sample(0))
    assert "No GPU to watch" in shown.words()


def test_the_plot_begins_when_the_driver_answers(shown: Shown) -> None:
    shown.feed(sample(0, trouble=(NO_DRIVER,)))
    shown.feed(*TWO)
    assert shown.page.view._lanes.isVisible()
    assert "not loaded" not in shown.words()


def test_a_driver_that_goes_away_leaves_the_plot(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.feed(sample(5, trouble=(NO_DRIVER,)))
    assert shown.page.view._lanes.isVisible()
    assert "not loaded" in shown.words()


def test_the_step_is_marked_once_samples_come(shown: Shown) -> None:
    shown.feed(*TWO)
    assert [one for one in shown.asked if isinstance(one, Marked)] == [Marked(WizardStep.LIVE, StepStatus.RIGHT)]


def test_processes_that_start_are_flagged(shown: Shown) -> None:
    started = Event(1001.0, EventKind.STARTED, text("train.py starts"), 0, 11)
    shown.feed(sample(0, gpu(0)), replace(sample(1, gpu(0, process(11, 4, "python train.py"))), events=(started,)))
    assert [flag.label for flag in shown.page.view.lanes[0].flags] == ["train.py starts"]


def test_nothing_is_sampled_before_the_page_is_shown(desk: Desk, qtbot: QtBot) -> None:
    watch = HandFed(desk.session)
    frame = framed(qtbot)
    LivePage(desk, frame, watch=watch)
    assert not watch.starts


def test_a_recorded_machine_is_not_watched(shown: Shown) -> None:
    shown.page.show_inspection(cast(Inspection, SimpleNamespace(recorded=True, host="")))
    shown.page.arrive(None)
    shown.qtbot.waitUntil(lambda: not shown.page._watching.running)
    shown.feed(*TWO)
    assert "No live memory on a recorded machine" in shown.words()
    assert not shown.page.view.lanes


def test_samples_cross_threads_to_the_page(shown: Shown) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(shown.watch.feed, *TWO).result()
    shown.qtbot.waitUntil(lambda: len(shown.page.view.lanes) == 2)


@pytest.mark.needs("gcc")
def test_real_nvml_drives_the_page(desk: Desk, qtbot: QtBot, fake_nvml: FakeNvml) -> None:
    fake_nvml("[gpu]\nprocess = 4242 c 2048\n[gpu]\nuuid = GPU-2\npci = 00000000:02:00.0\n")
    watch = Watch(with_variables(desk.session, fake_nvml.variables), hz=20)
    frame = framed(qtbot)
    page = LivePage(desk, frame, watch=watch)
    page.resize(900, 700)
    page.show()
    page.arrive(None)
    qtbot.waitUntil(lambda: len(page.view.lanes) == 2 and bool(page.view.lanes[0].pids))
    page.close_down()
    assert not watch.running


def test_keys_are_told_once_there_is_a_plot(shown: Shown) -> None:
    assert shown.page.bar().note == ""
    shown.feed(*TWO)
    assert "Space" in shown.page.bar().note


def test_a_failure_is_shown_with_the_minutes_before_it(shown: Shown) -> None:
    shown.feed(*TWO)
    shown.page.view.insight.moment_chosen.emit(1003.0)
    view = shown.page.view.time.view
    assert not view.follows
    assert view.until - view.span < 1003.0 <= view.until


def test_who_holds_the_gpu_is_one_click_away(shown: Shown) -> None:
    shown.feed(sample(0, gpu(0, process(7, 3))))
    holders = shown.page.bar().left[0]
    holders.trigger()
    assert shown.asked[-1] == ToHolders()


def test_who_holds_the_gpu_opens_at_the_chosen_process(shown: Shown) -> None:
    shown.feed(sample(0, gpu(0, process(7, 3), process(8, 2))))
    table = shown.page.findChild(Table)
    assert isinstance(table, Table)
    table.selectRow(1)
    shown.page.bar().left[0].trigger()
    assert shown.asked[-1] == ToHolders(8)


def test_figures_that_are_old_are_said_to_be(shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    shown.feed(*TWO)
    monkeypatch.setattr(HandFed, "silence", Silence(12.4, TWO[-1].time))
    monkeypatch.setattr(HandFed, "running", True)
    monkeypatch.setattr(Clock, "since_boot", lambda _clock: 1016.4)
    shown.draw()
    assert all(lane.head.stale for lane in shown.page.view.lanes)
    assert "12 s" in shown.page.view.controls.alarm
    assert shown.page.view.lanes[0].grid.until == 1016.4  # the axis runs on by the machine's own clock
    assert shown.asked[-1] == Marked(WizardStep.LIVE, StepStatus.UNKNOWN)


def test_a_process_that_is_marked_is_set_off(shown: Shown) -> None:
    shown.feed(*(sample(second, gpu(0, process(11, 4), process(12, 3))) for second in range(5)))
    shown.page.view.mark(12)
    assert shown.page.view.lanes[0]._marked == shown.page.view.lanes[0].pids.index(12)
    shown.page.view.mark(None)
    assert shown.page.view.lanes[0]._marked is None


def test_only_curves_that_are_shown_are_asked_for(shown: Shown) -> None:
    before = shown.watch.wanted
    shown.page.view.show_curves((CurveKind.CLOCKS,))
    assert (before, shown.watch.wanted) == (frozenset({Detail.SHARES}), frozenset({Detail.SHARES, Detail.CURVES}))


def test_the_rate_is_the_watchs(shown: Shown) -> None:
    shown.page.view.sample_at(10.0)
    assert shown.watch.hz == 10


def test_the_table_is_as_high_as_what_stands_in_it_in_large_letters(theme: Theme, shown: Shown, qtbot: QtBot) -> None:
    theme.scale(2.5)
    shown.feed(sample(0, gpu(0, process(11, 1))))
    shown.page.resize(736, 400)
    card = shown.page.view.card
    qtbot.waitUntil(lambda: card.maximumHeight() >= card.minimumSizeHint().height())


def test_many_processes_take_no_room_from_the_plots(shown: Shown, qtbot: QtBot) -> None:
    shown.feed(sample(0, *(gpu(index, process(11, 1)) for index in range(8))))
    view = shown.page.view
    qtbot.waitUntil(lambda: view.card.sizeHint().height() > 8 * view.card.table.rowHeight(0))
    shown.page.resize(1040, 690)
    qtbot.waitUntil(lambda: view.width() > 900 and view.card.height() <= view.height() * 0.3)
    assert min(lane.memory_rect().height() for lane in view.lanes) >= 40
