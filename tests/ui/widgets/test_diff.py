"""A diff shows every line with its number and what happens to it; copying takes the lines alone."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QClipboard
from PySide6.QtTest import QTest

from gpuassist.ui.theme import Appearance, Theme
from gpuassist.ui.widgets.diff import DiffLine, DiffSign, DiffView, read_diff
from tests.ui.showing import Show, ink_in

BASHRC = """--- /home/you/.bashrc
+++ /home/you/.bashrc
@@ -1,4 +1,5 @@
 # comment
-export PATH=/usr/local/cuda-11.7/bin:$PATH
+# gpuassist: was export PATH=/usr/local/cuda-11.7/bin:$PATH
 alias ll='ls -l'
+# >>> gpuassist >>>
 done
@@ -40,2 +41,1 @@
-old
 last
"""


def edited(before: list[str], after: list[str], *, context: int = 3) -> str:
    return "".join(difflib.unified_diff([one + "\n" for one in before], [one + "\n" for one in after], "a", "b", n=context))


def shown_lines(diff: str) -> list[tuple[str, int, str]]:
    return [(line.sign.value, line.number, line.words) for line in read_diff(diff)]


def test_lines_carry_signs_and_numbers() -> None:
    assert shown_lines(BASHRC) == [
        (" ", 1, "# comment"),
        ("-", 2, "export PATH=/usr/local/cuda-11.7/bin:$PATH"),
        ("+", 2, "# gpuassist: was export PATH=/usr/local/cuda-11.7/bin:$PATH"),
        (" ", 3, "alias ll='ls -l'"),
        ("+", 4, "# >>> gpuassist >>>"),
        (" ", 5, "done"),
        ("@", 0, "⋯"),
        ("-", 40, "old"),
        (" ", 41, "last"),
    ]


@pytest.mark.parametrize("diff", ["", "--- a\n+++ b\n", "no diff at all\n"])
def test_without_changes_there_are_no_lines(diff: str) -> None:
    assert read_diff(diff) == ()


def test_a_file_that_is_new_begins_at_one() -> None:
    assert shown_lines("--- /dev/null\n+++ b\n@@ -0,0 +1,2 @@\n+one\n+two\n") == [("+", 1, "one"), ("+", 2, "two")]


def test_a_file_that_goes_ends_with_nothing() -> None:
    assert shown_lines("--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n") == [("-", 1, "one")]


def test_lines_that_look_like_headers_are_lines() -> None:
    diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n--- a comment of SQL\n+++ a comment\n @@ -1 +1 @@\n"
    assert shown_lines(diff) == [("-", 1, "-- a comment of SQL"), ("+", 1, "++ a comment"), (" ", 2, "@@ -1 +1 @@")]


def test_a_missing_newline_at_the_end_is_told() -> None:
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n-one\n\\ No newline at end of file\n+two\n"
    assert shown_lines(diff) == [("-", 1, "one"), ("@", 0, "\\ No newline at end of file"), ("+", 1, "two")]


@pytest.mark.parametrize("separator", ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_newlines_end_lines(separator: str) -> None:
    diff = f"--- a\n+++ b\n@@ -1,2 +1,2 @@\n-one{separator}half\n+one\n two\n"
    assert [number for _, number, _ in shown_lines(diff)] == [1, 1, 2]


def test_carriage_returns_move_no_number() -> None:
    diff = "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-one\r\n+two\r\n three\r\n"
    assert [(sign, number) for sign, number, _ in shown_lines(diff)] == [("-", 1), ("+", 1), (" ", 2)]


lines = st.lists(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=12), max_size=12)


@given(lines, lines, st.integers(0, 3))
def test_numbers_point_to_the_lines_of_the_files(before: list[str], after: list[str], context: int) -> None:
    for line in read_diff(edited(before, after, context=context)):
        if line.sign is not DiffSign.SKIP:
            assert (before if line.sign is DiffSign.GONE else after)[line.number - 1] == line.words


@given(lines, lines)
def test_with_all_context_both_files_can_be_read_again(before: list[str], after: list[str]) -> None:
    found = read_diff(edited(before, after, context=99))
    if before != after:
        assert [line.words for line in found if line.sign is not DiffSign.NEW] == before
        assert [line.words for line in found if line.sign is not DiffSign.GONE] == after


@pytest.fixture
def view(show: Show) -> DiffView:
    made = DiffView("Changes of ~/.bashrc")
    made.set_diff(BASHRC)
    return show(made, 700, 300)


def test_it_is_named(view: DiffView) -> None:
    assert view.accessibleName() == "Changes of ~/.bashrc"


def test_each_line_of_the_text_is_a_line_of_the_diff(view: DiffView) -> None:
    assert view.blockCount() == len(view.lines)
    assert view.toPlainText().split("\n") == [line.words for line in view.lines]


@pytest.mark.parametrize("end", ["\r", "\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_odd_line_ends_begin_no_line_of_the_text(view: DiffView, end: str) -> None:
    view.set_diff(f"--- a\n+++ b\n@@ -1,2 +1,2 @@\n-one{end}\n+one\n two{end}more\n")
    assert view.blockCount() == len(view.lines) == 3


def test_a_changed_line_end_can_be_seen(view: DiffView) -> None:
    view.set_diff("--- a\n+++ b\n@@ -1 +1 @@\n-one\r\n+one\n")
    assert view.toPlainText() == "one<U+000D>\none"


def test_copying_takes_neither_signs_nor_numbers(view: DiffView, clipboard: QClipboard) -> None:
    view.setFocus()
    for key in (Qt.Key.Key_A, Qt.Key.Key_C):
        QTest.keyClick(view, key, Qt.KeyboardModifier.ControlModifier)
    assert clipboard.text().splitlines()[1] == "export PATH=/usr/local/cuda-11.7/bin:$PATH"


def test_it_cannot_be_edited(view: DiffView) -> None:
    before = view.toPlainText()
    QTest.keyClicks(view, "rm -rf")
    assert view.toPlainText() == before


def test_tab_leaves_it(view: DiffView) -> None:
    assert view.tabChangesFocus()


def test_gone_and_new_lines_are_tinted(each_look: Theme, view: DiffView) -> None:
    palette = each_look.palette()
    assert ink_in(view, palette.problem_tint) > 2_000
    assert ink_in(view, palette.right_tint) > 2_000


def test_tints_follow_a_change_of_look(theme: Theme, view: DiffView) -> None:
    theme.choose(Appearance.DARK)
    assert ink_in(view, theme.palette().right_tint) > 2_000


def test_another_diff_is_tinted_anew(theme: Theme, view: DiffView) -> None:
    view.set_diff("--- a\n+++ b\n@@ -1 +1,2 @@\n one\n+two\n")
    assert ink_in(view.viewport(), theme.palette().right_tint) > 2_000
    assert ink_in(view.viewport(), theme.palette().problem_tint) == 0


def test_a_diff_without_changes_is_not_tinted(theme: Theme, view: DiffView) -> None:
    view.set_diff("")
    assert view.toPlainText() == ""
    assert ink_in(view, theme.palette().right_tint) == 0


def test_long_lines_are_scrolled_to_and_not_cut(show: Show) -> None:
    long = DiffView("Changes")
    long.set_diff(edited([], ["export LD_LIBRARY_PATH=" + "/usr/local/cuda/lib64:" * 80]))
    show(long, 400, 120)
    assert long.horizontalScrollBar().maximum() > 0


def test_the_column_of_numbers_grows_with_them(view: DiffView) -> None:
    before = view.gutter_width()
    view.set_diff("--- a\n+++ b\n@@ -12345 +12345 @@\n-one\n+two\n")
    assert view.gutter_width() > before


def test_numbers_stand_beside_the_text(view: DiffView) -> None:
    assert view.viewportMargins().left() == view.gutter_width() == view._gutter.width()


def test_numbers_stand_beside_the_text_after_another_diff(view: DiffView) -> None:
    view.set_diff("--- a\n+++ b\n@@ -12345 +12345 @@\n-one\n+two\n")
    assert view.viewportMargins().left() == view.gutter_width() == view._gutter.width()


def test_numbers_scroll_with_the_lines(theme: Theme, show: Show) -> None:
    long = DiffView("Changes")
    long.set_diff(edited([], [f"line {number}" for number in range(200)]))
    show(long, 400, 200)
    before = long._gutter.grab().toImage()
    long.verticalScrollBar().setValue(50)
    assert long._gutter.grab().toImage() != before


def test_it_is_as_high_as_its_lines(view: DiffView) -> None:
    before = view.sizeHint().height()
    view.set_diff(edited([], [f"line {number}" for number in range(40)]))
    assert view.sizeHint().height() > 3 * before


def test_a_line_without_a_number_shows_none(view: DiffView) -> None:
    assert DiffLine(DiffSign.SKIP, 0, "⋯") in view.lines


def test_a_short_diff_takes_little_room(show: Show) -> None:
    view = show(DiffView("diff"), 400, 300)
    view.set_diff("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n")
    view.fit(300)
    low = view.height()
    view.set_diff("--- a\n+++ b\n@@ -1 +1,90 @@\n" + "+new\n" * 90)
    view.fit(300)
    assert (low < 100, view.height()) == (True, 300)
