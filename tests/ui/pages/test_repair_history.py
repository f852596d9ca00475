"""Changes in groups, what still stands of them, and how one is taken back, or why it cannot be."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from gpuassist.changes.record import ChangeRecord, ChangeStatus, FileRecord
from gpuassist.changes.restore import FileUndo, ThreeWay
from gpuassist.changes.undo import UndoPlan
from gpuassist.model.plan import FileEdit, Receipt
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Mark
from gpuassist.shellfiles.merge import Meeting
from gpuassist.ui.pages.repair.history import ChangeRow, HistoryCard, UndoCard
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.diff import DiffView
from gpuassist.ui.widgets.labels import ElidedLabel
from gpuassist.ui.widgets.marks import StatusPill
from tests.ui.showing import Show, words_in

MADE = Receipt("20261121-090000-aaaaaa", "2026-11-21T09:00:00+00:00", "use cuda 12.4", "/home/you/.bashrc", "/x", True, "", "")
LOGIN = replace(MADE, id=f"{MADE.id}-2", group=MADE.id, path="/home/you/.profile")
EDIT = FileEdit("/home/you/.bashrc", "/home/you/.bashrc", b"a\nours\nb\n", b"a\nb\n", existed=True)


def said(widget: QWidget) -> list[str]:
    """All labels' words, also of those that are painted for the first time only after this."""
    return [label.text() for label in widget.findChildren(QLabel)]


def record(standing: ChangeStatus = ChangeStatus.STANDS, receipt: Receipt = MADE, *, edited: bool = False) -> ChangeRecord:
    return ChangeRecord((FileRecord(receipt, standing, edited),))


@pytest.fixture
def history(show: Show) -> HistoryCard:
    return show(HistoryCard(ENGLISH, "/home/you"), 640, 200)


@pytest.fixture
def undo(show: Show) -> UndoCard:
    return show(UndoCard(ENGLISH), 640, 400)


def test_without_a_change_the_card_is_not_there(history: HistoryCard) -> None:
    history.show_records((record(),))
    history.show_records(())
    assert not history.isVisible()


def test_every_change_has_its_row_newest_first(history: HistoryCard) -> None:
    older = record(receipt=replace(MADE, id="20261120-090000-bbbbbb"))
    history.show_records((record(), older))
    assert history.isVisible()
    assert [one.receipt.id for one in history.records] == [MADE.id, older.receipt.id]
    assert len(history.findChildren(ChangeRow)) == 2


def test_a_change_says_what_when_and_where(history: HistoryCard) -> None:
    history.show_records((record(),))
    (row,) = history.findChildren(ChangeRow)
    assert [label.words for label in row.findChildren(ElidedLabel)] == ["use cuda 12.4", "~/.bashrc"]
    row.show()
    assert words_in(row)[0] == f"made 2026-11-21 09:00  ·  {MADE.id}"


def test_files_of_one_change_stand_together(history: HistoryCard) -> None:
    files = (FileRecord(MADE, ChangeStatus.STANDS, False), FileRecord(LOGIN, ChangeStatus.NOTHING_LEFT, False))
    history.show_records((ChangeRecord(files),))
    (row,) = history.findChildren(ChangeRow)
    assert [pill.words for pill in row.findChildren(StatusPill)] == ["in effect", "nothing of it is left in the file"]


@pytest.mark.parametrize(
    ("one", "mark", "undoable"),
    [
        (record(), Mark.RIGHT, True),
        (record(edited=True), Mark.WARNING, True),
        (record(ChangeStatus.UNDONE), Mark.TODO, False),
        (record(ChangeStatus.MISSING), Mark.UNKNOWN, True),
        (record(ChangeStatus.UNREADABLE), Mark.UNKNOWN, True),
    ],
    ids=["stands", "edited", "undone", "missing", "unreadable"],
)
def test_what_stands_has_its_mark_and_its_undo(history: HistoryCard, one: ChangeRecord, mark: Mark, undoable: bool) -> None:
    history.show_records((one,))
    (row,) = history.findChildren(ChangeRow)
    assert row.findChildren(StatusPill)[0].mark is mark
    assert row.button.isHidden() is not undoable


def test_an_edit_since_is_said(history: HistoryCard) -> None:
    history.show_records((record(edited=True),))
    assert history.findChildren(StatusPill)[0].words == "in effect; the file was edited since"


def test_undo_hands_on_the_whole_change_by_key(history: HistoryCard) -> None:
    told: list[str] = []
    history.undo_wanted.connect(told.append)
    history.show_records((ChangeRecord((FileRecord(LOGIN, ChangeStatus.STANDS, False),)),))
    QTest.keyClick(history.findChildren(ChangeRow)[0].button, Qt.Key.Key_Space)
    assert told == [MADE.id]


def back(way: str = "only our own lines go", *, edited: bool = True) -> FileUndo:
    return FileUndo(MADE, EDIT, removes_file=False, way=text("{way}", way=way), edited=edited)


def test_the_result_of_the_merge_is_shown(undo: UndoCard) -> None:
    undo.show_plan(UndoPlan((back(),)))
    assert "Only our own lines go" in said(undo)
    assert [line.words for line in undo.findChildren(DiffView)[0].lines] == ["a", "ours", "b"]


def test_a_file_without_a_change_has_no_diff(undo: UndoCard) -> None:
    undo.show_plan(UndoPlan((back(), FileUndo(LOGIN, None, removes_file=False, way=text("nothing is left")))))
    assert len(undo.findChildren(DiffView)) == 1
    assert "Nothing is left" in said(undo)


def test_the_undo_is_agreed_to_by_key(undo: UndoCard) -> None:
    told: list[bool] = []
    undo.agreed.connect(lambda: told.append(True))
    undo.show_plan(UndoPlan((back(),)))
    assert QApplication.focusWidget() is undo.agree
    QTest.keyClick(undo.agree, Qt.Key.Key_Return)
    assert told == [True]


def test_it_can_be_left_as_it_is(undo: UndoCard) -> None:
    told: list[bool] = []
    undo.declined.connect(lambda: told.append(True))
    undo.show_plan(UndoPlan((back(),)))
    undo.leave.click()
    assert told == [True]


def test_a_conflict_shows_three_sides_and_does_nothing(undo: UndoCard) -> None:
    meeting = Meeting(2, b"ours\n", b"", b"mine\n")
    undo.show_conflict("it was changed", ThreeWay("~/.bashrc", b"a\nours\n", b"a\nmine\n", b"a\n", (meeting,)))
    words = said(undo)
    assert "It was changed" in words
    assert "Both change line 2:" in words
    assert len(undo.findChildren(DiffView)) == 2
    assert undo.findChildren(CodeBlock)[0].content == "<<<<<<< now\nmine\n||||||| written\nours\n======= undo\n>>>>>>>"
    assert not undo.agree.isVisibleTo(undo)


def test_after_a_conflict_the_next_can_be_agreed_to(undo: UndoCard) -> None:
    undo.show_conflict("it was changed", ThreeWay("~/.bashrc", b"a\n", b"b\n", b"c\n", ()))
    undo.show_plan(UndoPlan((back(),)))
    assert undo.agree.isVisibleTo(undo)
