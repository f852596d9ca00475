"""Taking everything back in the window: looked at, agreed to, told in place; its own data goes only where that is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.journal import Journal
from gpuassist.changes.record import records
from gpuassist.changes.undo_all import undo_all
from gpuassist.context import Session
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.session import own_state
from gpuassist.shellfiles.edit import LineChanges, write
from gpuassist.ui.jobs import Jobs
from gpuassist.ui.page import Desk, Leave, Wrote
from gpuassist.ui.pages.repair.history import HistoryCard
from gpuassist.ui.pages.repair.three_way import ThreeWayView
from gpuassist.ui.pages.repair.undo_all import UndoAllCourse
from gpuassist.ui.pages.repair.undo_all_dialog import UndoAllDialog
from gpuassist.ui.widgets.diff import DiffView
from tests.changes.crashing import quiet_world
from tests.changes.homes import edit_of
from tests.shellfiles.written import block_lines
from tests.ui.made import Answers, framed
from tests.ui.showing import Show
from tests.values import knowledge

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints")  # the offscreen platform's answer to every dialog

ORIGINAL = b"# mine\n"


@pytest.fixture
def session(home: Path) -> Session:
    """Two changes of .bashrc and one of .env."""
    world = quiet_world(home)
    around = replace(world.surroundings, variables={**world.surroundings.variables, "XDG_RUNTIME_DIR": str(home / "run")})
    world = replace(world, surroundings=around)
    (home / ".bashrc").write_bytes(ORIGINAL)
    for number in range(2):
        after = write((home / ".bashrc").read_bytes(), block_lines(f"/c{number}"), LineChanges(()), f"c{number}")
        apply(world, FileChange(f"c{number}", f"use cuda 12.{number}", (edit_of(home / ".bashrc", after),)))
    (home / ".env").write_bytes(b"A=1\n")
    apply(world, FileChange("c2", "use devices 0", (edit_of(home / ".env", b"A=gpu\n", dialect="env"),)))
    return Session(world, knowledge(), ENGLISH)


class Course:
    """The course at a page of a window, with what it told."""

    def __init__(self, session: Session, answers: Answers, jobs: Jobs, qtbot: QtBot) -> None:
        self.qtbot, self.answers = qtbot, answers
        self.frame = framed(qtbot)
        self.course = UndoAllCourse(Desk(session, jobs, answers), self.frame)
        self.told: list[str] = []
        self.course.wrote.connect(lambda: self.told.append("wrote"))
        self.course.left.connect(lambda: self.told.append("left"))
        self.course.trouble.connect(lambda reason: self.told.append(reason))

    def begin(self) -> UndoAllDialog:
        self.course.begin()
        self.settle()
        assert self.course.dialog is not None
        return self.course.dialog

    def settle(self) -> None:
        self.qtbot.waitUntil(lambda: not self.course.busy)


@pytest.fixture
def course(session: Session, answers: Answers, qtbot: QtBot) -> Iterator[Course]:
    jobs = Jobs()
    made = Course(session, answers, jobs, qtbot)
    yield made
    if made.course.dialog is not None:
        made.course.dialog.close()
    jobs.shutdown()


def _pills(dialog: UndoAllDialog) -> list[str]:
    return [card.pill.words for card in dialog.cards.values()]


def _said(dialog: UndoAllDialog) -> str:
    return "\n".join(label.text() for label in dialog.findChildren(QLabel))


def test_the_whole_is_shown_and_nothing_done(course: Course, home: Path) -> None:
    dialog = course.begin()
    assert list(dialog.cards) == ["c2", "c1", "c0"]
    assert _pills(dialog) == ["will be undone"] * 3
    assert len(dialog.findChildren(DiffView)) == 3
    assert (dialog.agree.text(), dialog.keep.text()) == ("Undo all", "Keep")
    assert (home / ".env").read_bytes() == b"A=gpu\n"
    assert course.told == []


def test_enter_and_escape_keep(course: Course, home: Path) -> None:
    for key in (Qt.Key.Key_Return, Qt.Key.Key_Escape):
        dialog = course.begin()
        QTest.keyClick(dialog.keep, key)
        assert course.course.dialog is None
    assert (home / ".env").read_bytes() == b"A=gpu\n"


def test_what_came_of_each_stands_in_its_place(course: Course, home: Path) -> None:
    dialog = course.begin()
    dialog.agree.click()
    course.settle()
    assert _pills(dialog) == ["undone"] * 3
    assert dialog.header.title == "Everything was undone"
    assert ((home / ".bashrc").read_bytes(), (home / ".env").read_bytes()) == (ORIGINAL, b"A=1\n")
    assert course.told == ["wrote"]
    assert not dialog.agree.isVisibleTo(dialog)
    assert dialog.delete.isVisibleTo(dialog)


def test_a_conflict_is_shown_and_left(course: Course, home: Path) -> None:
    (home / ".env").write_bytes(b"A=mine\n")
    dialog = course.begin()
    assert _pills(dialog) == ["not undone", "will be undone", "will be undone"]
    assert len(dialog.findChildren(ThreeWayView)) == 1
    dialog.agree.click()
    course.settle()
    assert _pills(dialog) == ["not undone", "undone", "undone"]
    assert (home / ".env").read_bytes() == b"A=mine\n"
    assert not dialog.delete.isVisibleTo(dialog)
    assert "stays for now" in _said(dialog)


def test_what_was_edited_after_the_look_is_left_with_its_reason(course: Course, home: Path) -> None:
    dialog = course.begin()
    (home / ".env").write_bytes(b"# mine\nA=gpu\n")
    dialog.agree.click()
    course.settle()
    assert _pills(dialog)[0] == "not undone"
    assert "when you looked" in _said(dialog)


def test_stopping_leaves_the_rest(course: Course, session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    dialog = course.begin()

    def stopped(world, plan, *, cancelled, on_done):  # type: ignore[no-untyped-def]  # as the real one
        def told(one: object) -> None:
            on_done(one)
            assert course.course._job is not None
            course.course._job.cancel()

        return undo_all(world, plan, cancelled=cancelled, on_done=told)

    monkeypatch.setattr("gpuassist.ui.pages.repair.undo_all.undo_all", stopped)
    dialog.agree.click()
    course.settle()
    assert _pills(dialog) == ["undone", "still in effect", "still in effect"]
    assert sum(bool(one.receipt.undone_at) for one in records(session.world)) == 1


def test_while_it_goes_on_escape_stops_and_does_not_close(course: Course, qtbot: QtBot) -> None:
    dialog = course.begin()
    stops: list[bool] = []
    dialog.stop_wanted.connect(lambda: stops.append(True))
    dialog.agree.click()
    dialog.reject()
    assert stops == [True]
    assert course.course.dialog is dialog
    course.settle()


def test_deleting_is_asked_for_with_every_size_and_closes_the_window(course: Course, home: Path) -> None:
    dialog = course.begin()
    dialog.agree.click()
    course.settle()
    dialog.delete.click()
    course.settle()
    assert "~/.local/state/gpuassist/journal" in course.answers.asked[-1]
    assert str(home) not in course.answers.asked[-1]
    assert "bytes" in course.answers.asked[-1] or "KiB" in course.answers.asked[-1]
    assert not (home / ".local/state/gpuassist").exists()
    assert course.told == ["wrote", "left"]
    assert course.course.dialog is None


def test_where_the_user_says_no_nothing_is_deleted(course: Course, home: Path) -> None:
    course.answers.agrees = False
    dialog = course.begin()
    dialog.agree.click()
    course.settle()
    dialog.delete.click()
    course.settle()
    assert (home / ".local/state/gpuassist/journal").exists()


def test_what_could_not_be_deleted_is_told_and_the_window_stays(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    dialog = course.begin()
    dialog.agree.click()
    course.settle()
    monkeypatch.setattr(own_state, "_removed", lambda world, part: text("it is in use"))
    dialog.delete.click()
    course.settle()
    assert "it is in use" in _said(dialog)
    assert "left" not in course.told


def test_where_the_journal_cannot_be_used_that_is_said(course: Course, session: Session) -> None:
    Path(Journal.of(session.world).directory).chmod(0o777)
    course.course.begin()
    course.settle()
    assert course.course.dialog is None
    assert len(course.told) == 1


def test_the_history_offers_it(show: Show, session: Session) -> None:
    history = show(HistoryCard(ENGLISH, ""), 640, 300)
    told: list[bool] = []
    history.undo_all_wanted.connect(lambda: told.append(True))
    history.show_records(records(session.world))
    assert history.undo_all.text() == "Undo all…"
    history.undo_all.click()
    assert told == [True]


def test_what_the_page_asks_of_the_frame(desk: Desk, qtbot: QtBot) -> None:
    from gpuassist.ui.pages.repair.page import RepairPage

    frame = framed(qtbot)
    page = RepairPage(desk, frame)
    asked: list[object] = []
    page.asked.connect(asked.append)
    page.undo_all.left.emit()
    page.undo_all.wrote.emit()
    assert [type(one) for one in asked] == [Leave, Wrote]
    page.close_down()
    qtbot.waitUntil(lambda: not page.listing.busy)
