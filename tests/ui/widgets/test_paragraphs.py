"""Paragraphs wrap, ask for the height of their width only, and never take words for tags."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from gpuassist.ui.widgets.labels import as_rich, label, paragraph, set_paragraph

LONG = "The driver can run CUDA 12.4 at most, and torch was built for 12.8, so that torch finds no GPU. " * 3

PRINTED = st.characters(codec="utf-8", categories=("L", "N", "P", "S"), exclude_characters="`")


def plain(rich: str) -> str:
    document = QTextDocument()
    document.setHtml(rich)
    return document.toPlainText()


@pytest.mark.parametrize("words", ["<b>bold</b>", "a & b", "&amp;", "if [ 1 < 2 ]; then", '"quoted"', "<script>"])
def test_words_are_never_tags(qapp: QApplication, words: str) -> None:
    assert plain(as_rich(words)) == words


@pytest.mark.parametrize("words", ["<b>bold</b>", "a < b", "<img src=x>"])
def test_a_line_is_plain_text(qtbot: QtBot, words: str) -> None:
    made = label(words)
    qtbot.addWidget(made)
    assert (made.text(), made.textFormat()) == (words, Qt.TextFormat.PlainText)


def test_code_is_monospaced_without_its_backticks(qapp: QApplication) -> None:
    rich = as_rich("run `nvcc --version` now")
    assert plain(rich) == "run nvcc --version now"
    assert re.search(r"monospace[^>]*>nvcc --version</span>", rich)


def test_tags_inside_code_stay_words(qapp: QApplication) -> None:
    assert plain(as_rich("`<pre>`")) == "<pre>"


def test_a_lonely_backtick_stays(qapp: QApplication) -> None:
    assert plain(as_rich("a ` b")) == "a ` b"


def test_line_breaks_stay(qapp: QApplication) -> None:
    assert plain(as_rich("one\ntwo")) == "one\ntwo"


@given(
    st.text(alphabet=st.characters(codec="utf-8", categories=("L", "N", "P", "S")), max_size=60).map(
        lambda one: one.replace("`", "")
    )
)
def test_every_character_comes_through(words: str) -> None:
    assert plain(as_rich(words)) == words


def test_it_is_read_aloud_without_backticks(qtbot: QtBot) -> None:
    made = paragraph("run `nvcc`")
    qtbot.addWidget(made)
    assert made.accessibleName() == "run nvcc"


def test_new_words_replace_rich_ones(qtbot: QtBot) -> None:
    made = paragraph("run `nvcc`")
    qtbot.addWidget(made)
    set_paragraph(made, "done")
    assert (made.text(), made.textFormat(), made.accessibleName()) == ("done", Qt.TextFormat.PlainText, "done")


@pytest.mark.parametrize("role", ["", "muted", "title"])
def test_it_wraps_where_it_is_narrow(qtbot: QtBot, role: str) -> None:
    made = paragraph(LONG, role)
    qtbot.addWidget(made)
    assert made.heightForWidth(200) > 2 * made.heightForWidth(800)


def test_it_asks_for_one_line_at_least(qtbot: QtBot) -> None:
    made = paragraph(LONG)
    qtbot.addWidget(made)
    assert made.minimumSizeHint().height() < 2 * made.fontMetrics().height()
    assert made.minimumSizeHint().width() <= max(map(made.fontMetrics().horizontalAdvance, LONG.split())) + 2


@pytest.mark.parametrize("make", [label, paragraph])
def test_words_can_be_selected(qtbot: QtBot, make: object) -> None:
    made = make("words")  # type: ignore[operator]
    qtbot.addWidget(made)
    assert isinstance(made, QLabel)
    assert made.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse


def test_a_link_in_words_is_no_link(qtbot: QtBot) -> None:
    made = paragraph('see <a href="file:///etc/passwd">this</a>\nplease')
    qtbot.addWidget(made)
    assert not made.textInteractionFlags() & Qt.TextInteractionFlag.LinksAccessibleByMouse
    assert "<a href" not in made.text()
