"""Who holds the GPU: a list that looks again by itself, the chosen process in whole, and the stopping of one's own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from gpuassist.detect.accounts import Accounts
from gpuassist.detect.gpu_holders import look, name_of
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Outcome, Result
from gpuassist.model.text import text
from gpuassist.present.marks import Mark
from gpuassist.session.holders import PATIENCE_SECONDS
from gpuassist.session.navigation import ToHolders
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.holders.detail import PLACE, USER
from gpuassist.ui.pages.holders.page import HoldersPage
from gpuassist.ui.widgets.cards import EmptyState, Notice
from gpuassist.ui.widgets.marks import MarkIcon
from tests.ui.holders import ADA, Made, card, holder, machine
from tests.ui.made import Answers, inspection
from tests.ui.showing import Show, button_named, words_in

TWO = (holder(42), holder(43, "jupyter lab", uid=ADA))
TWO_CARD = card(p42=13.1, p43=3.2)


class Shown:
    """The page on a made-up machine."""

    def __init__(self, desk: Desk, show: Show, qtbot: QtBot, made: Made) -> None:
        self.made, self.qtbot = made, qtbot
        self.page = show(HoldersPage(desk, look=made.look, end=made.end), 1056, 700)

    def arrive(self, errand: ToHolders | None = None) -> Shown:
        """Opened, and seen what there is."""
        self.page.arrive(errand)
        return self.settled()

    def settled(self) -> Shown:
        """Once it has looked."""
        self.qtbot.waitUntil(lambda: self.page.waits or self.page.found is not None)
        self.qtbot.waitUntil(lambda: not self.page.busy)
        return self

    def look(self) -> Shown:
        """Looks once more."""
        looks = self.made.looks
        self.page.look()
        self.qtbot.waitUntil(lambda: self.made.looks > looks)
        return self.settled()

    @property
    def rows(self) -> list[list[str]]:
        """The words in the table."""
        model = self.page.table.model()
        return [[str(model.index(row, column).data()) for column in range(model.columnCount())] for row in range(model.rowCount())]

    @property
    def selected(self) -> list[int]:
        """The rows that are."""
        return sorted({index.row() for index in self.page.table.selectionModel().selectedIndexes()})

    def stop(self) -> None:
        """Stops the chosen process, and waits for what comes of it."""
        looks = self.made.looks
        self.page.stop()
        self.qtbot.waitUntil(lambda: self.made.looks > looks)
        self.settled()


Open = Callable[..., Shown]


@pytest.fixture
def opened(desk: Desk, show: Show, qtbot: QtBot) -> Open:
    def make(made: Made, errand: ToHolders | None = None) -> Shown:
        return Shown(desk, show, qtbot, made).arrive(errand)

    return make


@pytest.fixture
def two(opened: Open) -> Shown:
    return opened(Made(*TWO, gpus=(TWO_CARD,)))


def test_every_process_has_its_row(two: Shown) -> None:
    assert two.rows == [
        ["42", "train.py", "you", "GPU 0", "13.1 GiB", "", "your program"],
        ["43", "jupyter", "ada", "GPU 0", "3.2 GiB", "", "another user's"],
    ]
    assert "2 GPU processes" in words_in(two.page)


def test_the_first_is_chosen_and_shown_in_whole(two: Shown) -> None:
    assert (two.selected, two.page.detail.command) == ([0], "python train.py --batch 24")
    assert two.page.detail.memory.lines == ("GPU 0 · RTX 4090: 13.1 GiB of 24.0 GiB",)


def test_another_is_chosen_by_the_arrow_keys(two: Shown) -> None:
    QTest.keyClick(two.page.table, Qt.Key.Key_Down)
    assert two.page.detail.command == "jupyter lab"
    assert two.page.detail.why == "Belongs to ada: please ask them, or the administrator"


def test_what_is_chosen_stays_chosen_where_others_come_before_it(two: Shown) -> None:
    two.page.table.selectRow(1)
    two.made.show(*TWO, holder(44), gpus=(card(p42=1, p43=2, p44=20),))
    two.look()
    assert (two.rows[two.selected[0]][0], two.selected) == ("43", [1])
    two.made.show(*TWO, gpus=(card(p42=1, p43=2),))
    two.look()
    assert (two.rows[two.selected[0]][0], two.selected) == ("43", [0])


def test_looking_again_leaves_the_cards_widgets_as_they_are(two: Shown) -> None:
    two.page.detail.stop.setFocus()
    two.look()
    assert two.page.detail.stop.hasFocus()


def test_a_process_that_has_gone_is_not_followed_by_another(two: Shown) -> None:
    two.made.show(TWO[1], gpus=(card(p43=3.2),))
    two.look()
    assert (two.selected, two.page.chosen, two.page.detail.isHidden()) == ([], None, True)


def test_it_opens_at_the_process_that_is_asked_for(opened: Open) -> None:
    shown = opened(Made(*TWO, gpus=(TWO_CARD,)), ToHolders(43))
    assert (shown.selected, shown.page.notice.isHidden()) == ([1], True)


def test_a_process_that_holds_nothing_is_said_to(opened: Open) -> None:
    shown = opened(Made(*TWO, gpus=(TWO_CARD,)), ToHolders(99))
    assert shown.page.notice.words == "Process 99 is not using a GPU now."
    assert (shown.selected, shown.page.detail.isHidden()) == ([], True)


@pytest.mark.parametrize("errand", [None, ToHolders()])
def test_without_a_process_the_first_is_chosen(opened: Open, errand: ToHolders | None) -> None:
    assert opened(Made(*TWO, gpus=(TWO_CARD,)), errand).selected == [0]


def test_a_service_comes_with_its_line_to_copy(opened: Open, clipboard: QClipboard) -> None:
    shown = opened(Made(holder(7, "/usr/local/bin/ollama serve", uid=ADA, unit="ollama.service")))
    detail = shown.page.detail
    assert (detail.line, detail.stop.isVisible()) == ("sudo systemctl stop ollama.service", False)
    [*_, copy] = [button for button in detail.findChildren(QAbstractButton) if button.text() == "Copy" and button.isVisible()]
    copy.click()
    assert clipboard.text() == "sudo systemctl stop ollama.service"


@pytest.mark.parametrize(
    ("one", "fact", "value"),
    [
        (holder(inside="docker 3f2a51c07d1e"), "Container or service", "docker 3f2a51c07d1e"),
        (holder(unit="run-7.scope"), "Container or service", "run-7.scope"),
        (holder(state="T"), "State", "stopped, still using its memory"),
        (holder(), "Open devices", "/dev/nvidia0, /dev/nvidiactl"),
    ],
    ids=["container", "unit", "state", "devices"],
)
def test_where_it_belongs_and_how_it_is_stand_below(opened: Open, one: object, fact: str, value: str) -> None:
    shown = opened(Made(one))  # type: ignore[arg-type]  # a holder
    assert (fact, value) in [(row.label, row.value) for row in shown.page.detail.facts]


def test_nobody_holds_a_gpu(opened: Open) -> None:
    shown = opened(Made())
    state = shown.page.findChild(EmptyState)
    assert state is not None
    assert state.isVisible()
    assert "The GPU is free" in words_in(state)
    assert not shown.page.table.isVisible()


@pytest.mark.parametrize(
    ("gpus", "noted", "title"),
    [((), False, "No GPU"), ((card(),), True, "Nothing was found")],
    ids=["no GPU", "not all was seen"],
)
def test_a_free_gpu_is_not_claimed_where_that_is_not_known(
    desk: Desk, show: Show, qtbot: QtBot, gpus: tuple[object, ...], noted: bool, title: str
) -> None:
    made = Made(gpus=gpus)  # type: ignore[arg-type]  # cards
    made.notes = (text("the driver does not answer"),) if noted else ()
    shown = Shown(desk, show, qtbot, made).arrive()
    assert title in words_in(shown.page)
    qtbot.waitUntil(lambda: ("Note: the driver does not answer" in words_in(shown.page)) is noted)
    assert Mark.RIGHT not in [icon.mark for icon in shown.page.findChildren(MarkIcon) if icon.isVisible()]


def test_it_waits_only_while_it_is_shown(two: Shown) -> None:
    waits = [two.page.waits]
    for shown in (False, True):
        two.page.setVisible(shown)
        waits.append(two.page.waits)
    assert waits == [True, False, True]


def test_it_looks_again_by_itself(two: Shown) -> None:
    two.qtbot.waitUntil(lambda: two.made.looks > 1)


def test_a_gpu_that_would_fall_asleep_is_left_alone_for_longer(opened: Open) -> None:
    shown = opened(Made(gpus=(replace(card(), sleeps=Known(value=True, source="made up")),)))
    long = shown.page.interval
    shown.made.show(holder())
    assert shown.look().page.interval < long


def test_f5_looks_at_once(two: Shown) -> None:
    QTest.keyClick(two.page.table, Qt.Key.Key_F5)
    two.qtbot.waitUntil(lambda: two.made.looks == 2)


def test_what_could_not_be_looked_at_is_said(two: Shown) -> None:
    two.made.fault = OSError(13, "Permission denied", "/proc")
    two.look()
    two.qtbot.waitUntil(lambda: not two.page.notice.isHidden())
    assert two.page.notice.words == "Permission denied: /proc"


def test_the_question_names_the_process_and_what_is_lost(two: Shown, answers: Answers) -> None:
    answers.agrees = False
    two.page.detail.stop.click()
    [asked] = answers.asked
    assert asked.startswith("42  you  GPU 0  13.1 GiB of GPU memory  python train.py --batch 24\n")
    assert "Unsaved work is lost" in asked
    assert two.made.stopped == []


def test_own_process_is_stopped_after_a_yes(two: Shown) -> None:
    two.stop()
    assert (two.made.stopped, two.page.notice.words) == ([42], "Process 42 ended")


def test_delete_asks_for_the_chosen_process(two: Shown, answers: Answers) -> None:
    answers.agrees = False
    QTest.keyClick(two.page.table, Qt.Key.Key_Delete)
    assert len(answers.asked) == 1


def test_the_process_of_somebody_else_is_not_even_asked_for(two: Shown, answers: Answers) -> None:
    two.page.table.selectRow(1)
    QTest.keyClick(two.page.table, Qt.Key.Key_Delete)
    two.page.stop()
    assert (answers.asked, two.page.detail.stop.isVisible()) == ([], False)


@pytest.mark.parametrize(
    ("result", "mark"),
    [
        (Result.MODIFIED, Mark.RIGHT),
        (Result.UNCHANGED, Mark.INFO),
        (Result.REFUSED, Mark.WARNING),
        (Result.FAILED, Mark.PROBLEM),
    ],
)
def test_what_came_of_it_has_its_mark(two: Shown, result: Result, mark: Mark) -> None:
    two.made.outcome = Outcome(result, text("process {pid} ended", pid=42))
    two.stop()
    assert _mark(two.page.notice) is mark


def test_the_seconds_that_are_left_are_counted(two: Shown) -> None:
    two.made.waits = True
    two.page.stop()
    assert f"It will be killed in {PATIENCE_SECONDS:.0f} s unless it ends." in two.page.notice.words
    two.qtbot.waitUntil(lambda: "killed in 9 s" in two.page.notice.words)
    two.page.spare()


def test_it_may_be_spared_while_it_is_waited_for(two: Shown) -> None:
    two.made.waits = True
    two.page.stop()
    assert not two.page.detail.stop.isEnabled()
    button_named(two.page, "Do not kill it").click()
    two.qtbot.waitUntil(lambda: two.page.notice.words == "Spared")
    assert not button_named(two.page, "Do not kill it").isVisible()
    assert two.page.detail.stop.isEnabled()


def test_only_one_is_stopped_at_a_time(two: Shown, answers: Answers) -> None:
    two.made.waits = True
    two.page.stop()
    two.page.stop()
    assert len(answers.asked) == 1
    two.page.spare()


def test_a_window_that_closes_kills_nothing(two: Shown) -> None:
    two.made.waits = True
    two.page.stop()
    two.page.close_down()
    two.page.desk.jobs.shutdown()  # returns only once the job has ended
    assert not two.page.waits


def test_a_fault_while_stopping_is_said(two: Shown) -> None:
    two.made.fault = OSError(1, "Operation not permitted")
    two.page.stop()
    two.qtbot.waitUntil(lambda: _mark(two.page.notice) is Mark.PROBLEM)
    assert two.page.notice.words == "Operation not permitted"


def test_the_list_is_copied_as_the_terminal_prints_it(two: Shown, clipboard: QClipboard) -> None:
    two.page.bar().left[1].trigger()
    assert clipboard.text().splitlines() == [
        "2 GPU processes",
        "42  you  GPU 0  13.1 GiB of GPU memory  python train.py --batch 24",
        "    your own program; it can be stopped",
        "43  ada  GPU 0  3.2 GiB of GPU memory  jupyter lab",
        "    belongs to ada: please ask them, or the administrator",
    ]


@pytest.mark.parametrize(("width", "hidden"), [(1056, []), (800, [PLACE]), (656, [USER, PLACE])])
def test_columns_that_the_card_has_too_give_way(two: Shown, width: int, hidden: list[int]) -> None:
    two.page.resize(width, 700)
    table = two.page.table
    two.qtbot.waitUntil(lambda: table.horizontalScrollBar().maximum() == 0)
    assert [column for column in range(table.model().columnCount()) if table.isColumnHidden(column)] == hidden


def _recorded(shown: Shown, recorded: Machine) -> None:
    shown.page.show_inspection(inspection(recorded, recorded=True))
    shown.qtbot.waitUntil(lambda: shown.page.found is not None and not shown.page.busy)


def test_a_recorded_machine_is_only_looked_at(two: Shown, answers: Answers) -> None:
    looks = two.made.looks
    _recorded(two, machine(holder(77, "python old.py"), gpus=(card(p77=2),)))
    assert [row[0] for row in two.rows] == ["77"]
    assert two.page.detail.why == "On a recorded machine: nothing there can be stopped from here"
    two.page.stop()
    assert (answers.asked, two.page.waits, two.made.looks) == ([], False, looks)


def test_nobody_held_the_gpu_of_a_recorded_machine(two: Shown) -> None:
    _recorded(two, machine())
    assert "The GPU was free" in words_in(two.page)


def test_the_live_machine_comes_back_after_a_recorded_one(two: Shown) -> None:
    _recorded(two, machine(holder(77)))
    two.page.show_inspection(inspection(Machine()))
    two.qtbot.waitUntil(lambda: [row[0] for row in two.rows] == ["42", "43"])
    assert [action.text() for action in two.page.bar().left] == ["Refresh", "Copy the list"]


def test_reading_the_live_machine_changes_nothing(two: Shown) -> None:
    two.page.show_inspection(inspection(Machine()))
    assert len(two.rows) == 2


def _mark(notice: Notice) -> Mark:
    [icon] = notice.findChildren(MarkIcon)
    return icon.mark


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as child:
        yield child
        child.kill()


def test_a_real_process_is_really_stopped(desk: Desk, show: Show, qtbot: QtBot, sleeper: subprocess.Popen[bytes]) -> None:
    world = desk.session.world
    seen = look(world.files, sleeper.pid, Accounts(world), ("/dev/nvidia0",))
    assert seen is not None
    made = Made(seen)
    page = show(HoldersPage(desk, look=made.look), 1056, 700)
    page.arrive(ToHolders(sleeper.pid))
    qtbot.waitUntil(lambda: page.chosen is not None)
    page.stop()
    qtbot.waitUntil(lambda: page.notice.words == f"Process {sleeper.pid} ({name_of(seen)}) ended")
    assert sleeper.wait() == -15
