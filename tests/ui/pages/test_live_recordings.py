"""The live page's files: what is recorded opens as it was, another run lies over it, and what is shown is saved."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from gpuassist.model.sample import Event, EventKind, Sample
from gpuassist.model.text import text
from gpuassist.monitor.pyramid import Window
from gpuassist.monitor.sample_file import SampleReader
from gpuassist.monitor.sample_writer import SampleWriter
from gpuassist.session.navigation import ToRecording
from gpuassist.ui.page import Desk
from gpuassist.ui.plots.colour_table import OVER
from tests.ui.made import Answers, gpu, process, sample
from tests.ui.pages.live_shown import Shown

FIRST = [sample(second, gpu(0, process(11, 1 + second % 7, "python train.py")), gpu(1)) for second in range(40)]
HAPPENED = Event(1020.0, EventKind.MARK, text("epoch 3"), 0)
FIRST[20] = replace(FIRST[20], events=(HAPPENED,))
LATER = [sample(5000 + second, gpu(0, process(12, 2 + second % 5, "python other.py"))) for second in range(30)]


def recorded(path: Path, *runs: Sequence[Sample]) -> str:
    for number, run in enumerate(runs):
        writer = SampleWriter(str(path), float(number))
        writer.write(run)
        writer.close(float(number) + 1)
    return str(path)


@pytest.fixture
def shown(desk: Desk, qtbot: QtBot) -> Shown:
    return Shown(desk, qtbot)


def opened(shown: Shown, path: str) -> None:
    shown.page.arrive(ToRecording(path))
    shown.qtbot.waitUntil(lambda: not shown.page.view.is_live)
    shown.draw()


def chosen(menu: QMenu, words: str) -> None:
    """Chooses what is called so, in the menu or one below it."""
    for action in menu.findChildren(type(menu.menuAction())):
        if words in action.text() and action.menu() is None:
            action.trigger()
            return
    raise AssertionError([action.text() for action in menu.actions()])


def choose(shown: Shown, words: str) -> None:
    chosen(shown.page.view.controls.files, words)


def said(shown: Shown) -> str:
    return shown.page._head.said.words if shown.page._head.said.isVisible() else ""


def told(shown: Shown, words: str) -> bool:
    return words in said(shown)


def test_what_is_recorded_opens_as_it_was(shown: Shown, answers: Answers, tmp_path: Path) -> None:
    answers.saved = str(tmp_path / "night.db")
    shown.feed(FIRST[0])
    shown.page.view.controls.record.click()
    shown.qtbot.waitUntil(lambda: shown.watch.recording is not None and shown.page.view.controls.record.isEnabled())
    shown.feed(*FIRST[1:])
    shown.page.view.controls.record.click()
    shown.qtbot.waitUntil(lambda: "39" in said(shown) and "night.db" in said(shown))
    opened(shown, answers.saved)
    live, again = shown.watch, shown.page.view.watch
    window = Window(30.0, 400, live.history.until)
    for index in (0, 1):
        assert again.history.stack(index, window) == live.history.stack(index, window)
    assert again.peaks == live.peaks
    assert [lane.index for lane in shown.page.view.lanes] == [0, 1]


def test_a_recording_shows_everybody_who_was_there(shown: Shown, tmp_path: Path) -> None:
    path = recorded(tmp_path / "two.db", [*FIRST, *(sample(40 + n, gpu(0, process(12, 3)), gpu(1)) for n in range(20))])
    opened(shown, path)
    view = shown.page.view
    assert {part.process.pid for row in view._processes.live for part in row.parts} == {11, 12}
    view.time.zoom_to(1045.0, 1058.0)
    assert {part.process.pid for row in view._processes.live for part in row.parts} == {12}


def test_nothing_of_a_recording_can_be_ended(shown: Shown, tmp_path: Path) -> None:
    opened(shown, recorded(tmp_path / "one.db", FIRST))
    card = shown.page.view.card
    assert not any("End" in action.text() for action in card.menu_for(card.model.live[0]).actions())


def test_back_to_what_the_gpus_do_now(shown: Shown, tmp_path: Path) -> None:
    shown.feed(*LATER)
    opened(shown, recorded(tmp_path / "one.db", FIRST))
    assert shown.page.bar().elsewhere  # so that the frame offers no repair of this machine
    (back,) = shown.page.bar().left
    back.trigger()
    assert not shown.page.bar().elsewhere
    shown.draw()
    assert shown.page.view.is_live
    assert shown.page.view.isVisible()
    assert shown.page.view.lanes[0].pids == (12,)


def test_another_of_its_runs(shown: Shown, tmp_path: Path) -> None:
    opened(shown, recorded(tmp_path / "runs.db", FIRST, LATER))
    assert shown.page.view.lanes[0].pids == (12,)
    before = shown.page.view
    choose(shown, "1: ")
    shown.qtbot.waitUntil(lambda: shown.page.view is not before)
    shown.draw()
    assert shown.page.view.lanes[0].pids == (11,)


def test_another_run_lies_over_it_from_its_start(shown: Shown, answers: Answers, tmp_path: Path) -> None:
    opened(shown, recorded(tmp_path / "one.db", FIRST))
    answers.opened = recorded(tmp_path / "later.db", LATER)
    choose(shown, "Compare with")
    shown.qtbot.waitUntil(lambda: shown.page.view.over is not None)
    lane = shown.page.view.lanes[0]
    assert (lane.has_over, shown.page.view.lanes[1].has_over) == (True, False)
    moment = lane.moment(lane.grid.place(1010.5))
    assert moment.over is not None
    assert moment.over[0] == "later.db"
    assert moment.over[2] == pytest.approx((0.5 + 2) * (1 << 30))  # in the tenth second of it
    assert (OVER, "later.db") in shown.page.view.controls.legend
    shown.page.view.controls.files.aboutToShow.emit()
    choose(shown, "Remove the other")
    assert (shown.page.view.over, lane.has_over) == (None, False)


@pytest.mark.parametrize("bad", ["text", "nothing", "no file"])
def test_what_is_no_recording_is_said_to_be_none(shown: Shown, tmp_path: Path, bad: str) -> None:
    path = tmp_path / "notes.db"
    if bad != "no file":
        path.write_text("hello" if bad == "text" else "")
    shown.feed(*FIRST)
    shown.page.arrive(ToRecording(str(path)))
    shown.qtbot.waitUntil(lambda: "notes.db" in said(shown))
    shown.draw()
    assert shown.page.view.is_live
    assert shown.page.view.isVisible()


def test_what_was_said_goes_when_something_else_begins(shown: Shown, answers: Answers, tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("hello")
    answers.saved = str(tmp_path / "notes.db")
    shown.feed(*FIRST)
    shown.page.view.controls.record.click()
    shown.qtbot.waitUntil(lambda: told(shown, "notes.db"))
    answers.saved = str(tmp_path / "night.db")
    shown.page.view.controls.record.click()
    shown.qtbot.waitUntil(lambda: shown.watch.recording is not None)
    assert not said(shown)
    shown.page.close_down()


def test_reading_can_be_cancelled(shown: Shown, tmp_path: Path) -> None:
    shown.feed(*LATER)
    shown.page.arrive(ToRecording(recorded(tmp_path / "one.db", FIRST)))
    assert "one.db" in shown.words()
    shown.page._nothing.cancelled.emit()
    shown.draw()
    assert shown.page.view.is_live
    assert shown.page.view.isVisible()


@pytest.mark.parametrize("replayed", [False, True])
def test_what_is_shown_is_saved(shown: Shown, answers: Answers, tmp_path: Path, *, replayed: bool) -> None:
    if replayed:
        opened(shown, recorded(tmp_path / "one.db", FIRST))
    else:
        shown.feed(*FIRST)
    answers.saved = str(tmp_path / "saved")
    for ending, words in ((".png", "PNG"), (".svg", "SVG"), (".csv", "CSV"), (".db", "as a recording")):
        choose(shown, words)
        shown.qtbot.waitUntil(partial(told, shown, f"saved{ending}"))
    assert not QImage(str(tmp_path / "saved.png")).isNull()
    assert "RTX 4090" in (tmp_path / "saved.svg").read_text()
    with (tmp_path / "saved.csv").open() as file:
        assert {row["gpu"] for row in csv.DictReader(file)} == {"0", "1"}
    again = list(SampleReader(str(tmp_path / "saved.db")).samples())
    assert [event.text for one in again for event in one.events] == [HAPPENED.text]


def test_a_file_that_is_there_is_left(shown: Shown, answers: Answers, tmp_path: Path) -> None:
    (tmp_path / "saved.svg").write_text("mine")
    answers.saved = str(tmp_path / "saved.svg")
    shown.feed(*FIRST)
    choose(shown, "SVG")
    assert "saved.svg" in said(shown)
    assert (tmp_path / "saved.svg").read_text() == "mine"


def test_a_window_that_closes_ends_its_recording(shown: Shown, answers: Answers, tmp_path: Path) -> None:
    answers.saved = str(tmp_path / "night")
    shown.page.view.controls.record.click()
    shown.qtbot.waitUntil(lambda: shown.watch.recording is not None and shown.page.view.controls.record.isEnabled())
    shown.feed(*FIRST)
    shown.page.close_down()
    (run,) = SampleReader(str(tmp_path / "night.db")).runs()
    assert run.ended is not None
    assert len(list(SampleReader(str(tmp_path / "night.db")).samples())) == len(FIRST)


def test_what_is_recorded_is_all_that_the_driver_tells(shown: Shown, answers: Answers, tmp_path: Path) -> None:
    answers.saved = str(tmp_path / "night.db")
    shown.feed(*FIRST)
    before = shown.watch.wanted
    shown.page.view.controls.record.click()
    shown.qtbot.waitUntil(lambda: shown.watch.wanted > before)
    shown.page.close_down()


def test_pause_is_not_for_a_recording(shown: Shown, tmp_path: Path) -> None:
    opened(shown, recorded(tmp_path / "one.db", FIRST))
    shown.press(Qt.Key.Key_Space)
    assert not shown.page.view.paused
