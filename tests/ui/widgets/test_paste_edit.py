"""The text box: clean lines, large texts in pieces, files dropped on it, and lines shown in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QColor
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gpuassist.present.marks import Mark
from gpuassist.ui.palette import DARK, LIGHT
from gpuassist.ui.theme import Appearance, Theme
from gpuassist.ui.widgets.paste_edit import PasteEdit
from tests.ui.showing import Show

LOG = "\n".join(f"[{number}] step {number} of a log" for number in range(20_000))


@pytest.fixture
def edit(show: Show) -> PasteEdit:
    return show(PasteEdit("The text"), 600, 200)


def mime(words: str = "", *, path: str = "") -> QMimeData:
    """What a clipboard or a drop brings."""
    data = QMimeData()
    if words:
        data.setText(words)
    if path:
        data.setUrls([QUrl.fromLocalFile(path)])
    return data


def filled(edit: PasteEdit, words: str, qtbot: QtBot) -> PasteEdit:
    edit.fill(words)
    qtbot.waitUntil(lambda: not edit.filling)
    return edit


def test_it_is_named(edit: PasteEdit) -> None:
    assert edit.accessibleName() == "The text"


def test_a_small_paste_is_inserted_at_the_cursor(edit: PasteEdit) -> None:
    edit.setPlainText("before after")
    cursor = edit.textCursor()
    cursor.setPosition(7)
    edit.setTextCursor(cursor)
    edit.insertFromMimeData(mime("and "))
    assert edit.toPlainText() == "before and after"


@pytest.mark.parametrize(
    ("pasted", "shown"),
    [
        ("\x1b[31merror\x1b[0m: no", "error: no"),
        ("one\r\ntwo", "one\ntwo"),
        (" 10%|#   |\r 50%|##  |\r100%|####|\ndone", "100%|####|\ndone"),
    ],
)
def test_a_paste_is_shown_clean(edit: PasteEdit, pasted: str, shown: str) -> None:
    edit.insertFromMimeData(mime(pasted))
    assert edit.toPlainText() == shown


def test_a_small_paste_can_be_undone(edit: PasteEdit) -> None:
    edit.insertFromMimeData(mime("by mistake"))
    edit.undo()
    assert edit.toPlainText() == ""


def test_a_large_paste_is_handed_on_with_what_is_there(edit: PasteEdit) -> None:
    edit.setPlainText("ab")
    cursor = edit.textCursor()
    cursor.setPosition(1)
    edit.setTextCursor(cursor)
    spy = QSignalSpy(edit.large)
    edit.insertFromMimeData(mime("x" * 50_000))
    assert spy.at(0)[0] == "a" + "x" * 50_000 + "b"
    assert edit.toPlainText() == "ab"


def test_binary_junk_is_handed_on(edit: PasteEdit) -> None:
    spy = QSignalSpy(edit.large)
    edit.insertFromMimeData(mime("\x01\x02\x03\x04" * 40))
    assert spy.count() == 1


def test_a_large_text_is_filled_in_whole(edit: PasteEdit, qtbot: QtBot) -> None:
    filled(edit, LOG, qtbot)
    assert edit.toPlainText() == LOG
    assert not edit.isReadOnly()


def test_filling_goes_in_pieces_and_tells_of_no_change(edit: PasteEdit, qtbot: QtBot) -> None:
    spy = QSignalSpy(edit.changed)
    edit.fill(LOG)
    assert 0 < edit.blockCount() < 1000
    assert edit.isReadOnly()
    qtbot.waitUntil(lambda: not edit.filling)
    assert spy.count() == 0


def test_another_text_takes_the_place_of_one_half_filled(edit: PasteEdit, qtbot: QtBot) -> None:
    edit.fill(LOG)
    filled(edit, "only this", qtbot)
    qtbot.wait(100)
    assert edit.toPlainText() == "only this"


@pytest.mark.parametrize("words", ["", "one line", "two\nlines", "\nends\n"])
def test_a_text_is_filled_line_by_line(edit: PasteEdit, words: str, qtbot: QtBot) -> None:
    assert filled(edit, words, qtbot).toPlainText() == words


def test_lines_too_long_are_shown_by_their_ends(edit: PasteEdit, qtbot: QtBot) -> None:
    filled(edit, "first\n" + "a" * 100_000 + "z" * 100_000 + "\nlast", qtbot)
    first, middle, last = edit.toPlainText().split("\n")
    assert (first, last) == ("first", "last")
    assert len(middle) < 5_000
    assert (middle[:3], middle[-3:]) == ("aaa", "zzz")
    assert edit.shortened
    assert edit.isReadOnly()


def test_a_paste_over_shortened_lines_takes_their_place(edit: PasteEdit, qtbot: QtBot) -> None:
    filled(edit, "a" * 100_000, qtbot)
    spy = QSignalSpy(edit.large)
    edit.insertFromMimeData(mime("new"))
    assert spy.at(0)[0] == "new"


def test_emptying_can_be_undone(edit: PasteEdit) -> None:
    edit.insertFromMimeData(mime("typed"))
    edit.empty()
    assert edit.toPlainText() == ""
    edit.undo()
    assert edit.toPlainText() == "typed"


@pytest.mark.parametrize("words", ["a" * 100_000, LOG], ids=["shortened", "half filled"])
def test_emptying_makes_it_a_box_to_type_in_again(edit: PasteEdit, words: str, qtbot: QtBot) -> None:
    edit.fill(words)
    spy = QSignalSpy(edit.changed)
    edit.empty()
    qtbot.wait(100)
    assert (edit.toPlainText(), edit.isReadOnly(), edit.filling, edit.shortened) == ("", False, False, False)
    assert spy.count() == 1


def test_typing_tells_of_a_change(edit: PasteEdit) -> None:
    spy = QSignalSpy(edit.changed)
    QTest.keyClicks(edit, "ab")
    assert spy.count() == 2


def test_tab_leads_on_and_is_not_typed(edit: PasteEdit) -> None:
    other = QPushButton("other", edit.parentWidget())
    other.show()
    edit.setFocus()
    QTest.keyClick(edit, Qt.Key.Key_Tab)
    assert other.hasFocus()
    assert edit.toPlainText() == ""


def test_a_line_is_selected_and_in_sight(edit: PasteEdit, qtbot: QtBot) -> None:
    filled(edit, LOG, qtbot)
    edit.show_lines(12_345)
    assert edit.textCursor().selectedText() == "[12344] step 12344 of a log"
    assert edit.rect().contains(edit.cursorRect().center())
    assert edit.hasFocus()


def test_several_lines_are_selected(edit: PasteEdit) -> None:
    edit.setPlainText("one\ntwo\nthree\nfour")
    edit.show_lines(2, 2)
    assert edit.textCursor().selectedText() == "two\u2029three"


def test_more_lines_than_there_are_select_the_first(edit: PasteEdit) -> None:
    edit.setPlainText("one\ntwo")
    edit.show_lines(2, 9)
    assert edit.textCursor().selectedText() == "two"


def test_a_line_that_is_not_there_selects_nothing(edit: PasteEdit) -> None:
    edit.setPlainText("one")
    edit.show_lines(7)
    assert not edit.textCursor().hasSelection()


def test_escape_lets_a_selection_go(edit: PasteEdit) -> None:
    edit.setPlainText("one\ntwo")
    edit.show_lines(2)
    QTest.keyClick(edit, Qt.Key.Key_Escape)
    assert not edit.textCursor().hasSelection()
    assert edit.toPlainText() == "one\ntwo"


def test_marked_lines_follow_light_and_dark(edit: PasteEdit, theme: Theme) -> None:
    edit.setPlainText("one\ntwo\nthree")
    edit.mark_lines((2, 99), Mark.PROBLEM)
    tints = []
    for look in (Appearance.LIGHT, Appearance.DARK):
        theme.choose(look)
        tints += [one.format.background().color() for one in edit.extraSelections()]
    assert tints == [QColor(LIGHT.tint(Mark.PROBLEM)), QColor(DARK.tint(Mark.PROBLEM))]


def test_a_line_comes_into_sight_and_the_cursor_stays(edit: PasteEdit, qtbot: QtBot) -> None:
    filled(edit, LOG, qtbot)
    before = edit.textCursor().position()
    edit.bring_into_sight(15_000)
    assert edit.firstVisibleBlock().blockNumber() > 14_000
    assert edit.textCursor().position() == before


def test_it_grows_with_its_lines_and_no_further(edit: PasteEdit) -> None:
    heights = []
    for count in (1, 7, 500):
        edit.setPlainText("line\n" * count)
        heights.append(edit.sizeHint().height())
    assert heights[0] < heights[1] < heights[2] < 300


def test_a_long_line_counts_as_the_lines_that_it_takes(edit: PasteEdit) -> None:
    edit.setPlainText("short")
    before = edit.sizeHint().height()
    edit.setPlainText("word " * 200)
    assert edit.sizeHint().height() > before


def test_a_file_is_told_and_not_inserted(edit: PasteEdit, tmp_path: Path) -> None:
    spy = QSignalSpy(edit.file_given)
    data = mime("file:///x", path=str(tmp_path / "a.log"))
    assert edit.canInsertFromMimeData(data)
    edit.insertFromMimeData(data)
    assert spy.at(0)[0] == str(tmp_path / "a.log")
    assert edit.toPlainText() == ""
