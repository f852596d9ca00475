"""Whatever comes from outside is shown by the window and obeyed by none of its labels, as control characters or as HTML."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex
from PySide6.QtGui import QClipboard, Qt, QTextDocument
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gpuassist.model.codec import Json
from gpuassist.model.machine import decode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.session.navigation import GoTo, Place, SideTool, WizardStep
from gpuassist.system.resources import Resources
from gpuassist.ui.page import Desk
from gpuassist.ui.pages.explain.page import ExplainPage
from gpuassist.ui.widgets.buttons import CopyButton
from gpuassist.ui.widgets.code import CommandBlock
from gpuassist.ui.widgets.diff import DiffView
from gpuassist.ui.widgets.everything import Everything
from gpuassist.ui.widgets.finding_card import FindingCard
from gpuassist.ui.widgets.labels import ElidedLabel, paragraph
from gpuassist.ui.wording import as_tip
from tests.hostile import HOSTILE, OBEYED, poisoned
from tests.ui.frames import TOO_OLD, Frames, recorded
from tests.ui.made import Answers
from tests.ui.showing import Show

AS_HTML = "<b>bold</b><img src='/etc/passwd'>"
_FEIGNED = re.compile(r"(?:\n|<br/?>)FEIGNED")
_ROLES = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)


def shown_by(widget: QWidget) -> Iterator[str]:
    """All words of a widget that somebody can see or hear."""
    yield from (widget.toolTip(), widget.accessibleName(), widget.accessibleDescription(), widget.windowTitle(), widget.statusTip())
    if isinstance(widget, (QLabel, QAbstractButton, QLineEdit)):
        yield widget.text()
    if isinstance(widget, (QPlainTextEdit, QTextEdit)):
        yield widget.toPlainText()
    if isinstance(widget, ElidedLabel):
        yield widget.words
    if isinstance(widget, (QAbstractItemView, QComboBox)) and widget.model() is not None:
        yield from cells_of(widget.model())


def cells_of(model: QAbstractItemModel, parent: QModelIndex | None = None) -> Iterator[str]:
    """The words of every cell, with what is below it."""
    above = parent or QModelIndex()
    for row in range(model.rowCount(above)):
        for column in range(1 if isinstance(model, QAbstractListModel) else model.columnCount(above)):
            index = model.index(row, column, above)
            yield from (str(index.data(role)) for role in _ROLES if index.data(role))
        yield from cells_of(model, model.index(row, 0, above))


def obeyed_in(widget: QWidget) -> list[tuple[str, str]]:
    """Each widget below this one with words that hold what would be obeyed, and each label that might take words for HTML."""
    found = []
    for one in (widget, *widget.findChildren(QWidget)):
        found += [(type(one).__name__, words) for words in shown_by(one) if OBEYED.search(words) or _FEIGNED.search(words)]
        if isinstance(one, QLabel) and one.textFormat() is Qt.TextFormat.AutoText and one.text():
            found.append((type(one).__name__, one.text()))
    return found


def is_at_rest(page: QWidget) -> bool:
    """Whether nothing is under way for the page."""
    return not getattr(page, "busy", False)


@pytest.fixture
def frames(desk: Desk, show: Show, qtbot: QtBot) -> Frames:
    return Frames(desk, show, qtbot)


@pytest.fixture(params=["every string", "names"])
def hostile(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A recording of somebody who means ill."""
    machine = decode_machine(json.loads(Resources().read(f"machines/{TOO_OLD}.json")))
    return recorded(poisoned(machine, names_alone=request.param == "names", poison=AS_HTML + HOSTILE), tmp_path)


def test_no_page_obeys_a_recording(frames: Frames, hostile: str, qtbot: QtBot) -> None:
    frame = frames(hostile)
    places: tuple[Place, ...] = (*WizardStep, *SideTool)
    found = []
    for place in places:
        frame.go(GoTo(place))
        page = frame.pages.page(place)
        if isinstance(page, ExplainPage):
            page.explain_text(f"nvcc fatal   : Unsupported gpu architecture 'compute_89'{AS_HTML}\x1b[2J")
        qtbot.waitUntil(partial(is_at_rest, page), timeout=20_000)
        for card in frame.findChildren(FindingCard):
            card.set_open(is_open=True)
        found += [(place, *one) for one in obeyed_in(frame.window())]
    frame.close_down()
    assert found == []


def test_a_command_that_would_be_obeyed_is_left_out_and_not_copied(show: Show, clipboard: QClipboard) -> None:
    block = show(CommandBlock(ENGLISH, ("rm -r '/opt/cuda\x1b[2J'", "ls"), "Commands"))
    assert block.content.startswith("This command is left out: it would hold <U+001B>, ")
    block.findChildren(CopyButton)[0].click()
    assert clipboard.text() == block.content
    block.set_lines(("rm -r /opt/cuda", "ls"))
    assert block.content == "rm -r /opt/cuda\nls"


def test_the_clipboard_is_a_border(show: Show, clipboard: QClipboard) -> None:
    show(ElidedLabel(f"/opt/cuda{HOSTILE}")).copy()
    assert OBEYED.search(clipboard.text()) is None
    assert "<U+202E>" in clipboard.text()


def test_a_diff_shows_what_a_line_hides(show: Show) -> None:
    view = show(DiffView("What changes"))
    view.set_diff("--- a\n+++ a\n@@ -1 +1 @@\n-export A=1\r\x1b[2K\n+export A=2\u2028\u202e\n")
    assert view.toPlainText() == "export A=1<U+000D><U+001B>[2K\nexport A=2<U+2028><U+202E>"


def test_html_in_a_name_is_only_a_name(show: Show) -> None:
    for made in (show(paragraph(f"`{AS_HTML}` {AS_HTML}")), show(paragraph(AS_HTML))):
        document = QTextDocument()
        document.setHtml(made.text() if made.textFormat() is Qt.TextFormat.RichText else Qt.convertFromPlainText(made.text()))
        assert AS_HTML in document.toPlainText()
    document = QTextDocument()
    document.setHtml(as_tip(AS_HTML))
    assert document.toPlainText() == AS_HTML
    assert as_tip("/usr/bin <not a tag") == "/usr/bin <not a tag"


@pytest.mark.parametrize("long", ["word " * 2000, "x" * 9000, "line\n" * 500])
def test_a_long_tip_stays_on_the_screen(long: str) -> None:
    lines = as_tip(long).split("\n")
    assert max(map(len, lines)) <= 110
    assert len(lines) <= 16
    assert lines[-1].endswith("…")


def test_everything_as_json_keeps_every_character(show: Show, answers: Answers) -> None:
    document: dict[str, Json] = {"name": {"value": HOSTILE, "source": "made up"}}
    dialog = show(Everything(ENGLISH, document, answers))
    assert OBEYED.search(dialog.json) is None
    assert json.loads(dialog.json) == document
