"""Markdown as a page to read: tables with lines, code on its own ground, in the colours of the theme."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent
from PySide6.QtGui import (
    QBrush,
    QColor,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLength,
    QTextTable,
    QTextTableFormat,
)
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from gpuassist.ui.palette import Palette
from gpuassist.ui.theme import colours, mono

_CELL_PADDING = 6
_INDENT = 18  # of a list
_MARGIN = 4  # of the text
_AROUND = 10  # above and below a table


class MarkdownView(QTextBrowser):
    """Shows Markdown; its words can be selected and copied, and nothing in it is opened."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._markdown = ""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.document().setDocumentMargin(_MARGIN)
        self.document().setIndentWidth(_INDENT)

    def show_markdown(self, markdown: str) -> None:
        """Another text, from its beginning."""
        self._markdown = markdown
        self._render()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def changeEvent(self, event: QEvent) -> None:
        """Colours that were written into the text follow the theme."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._markdown:
            self._render()

    def _render(self) -> None:
        self.setMarkdown(self._markdown)
        dress(self.document(), colours())


def dress(document: QTextDocument, palette: Palette) -> None:
    """Lines around the cells of tables, and a ground behind blocks of code."""
    for frame in document.rootFrame().childFrames():
        if isinstance(frame, QTextTable):
            frame.setFormat(_table_format(frame.format().toTableFormat(), palette))
    for block in _code_blocks(document):
        cursor = QTextCursor(block)
        form = block.blockFormat()
        form.setBackground(QBrush(QColor(palette.well)))
        cursor.setBlockFormat(form)
        cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
        cursor.mergeCharFormat(_mono())
    for words in _code_words(document):
        words.mergeCharFormat(_mono())


def _mono() -> QTextCharFormat:
    form = QTextCharFormat()
    form.setFont(mono())
    return form


def _table_format(form: QTextTableFormat, palette: Palette) -> QTextTableFormat:
    form.setBorder(1)
    form.setBorderCollapse(True)
    form.setBorderBrush(QBrush(QColor(palette.line)))
    form.setBorderStyle(QTextTableFormat.BorderStyle.BorderStyle_Solid)
    form.setCellPadding(_CELL_PADDING)
    form.setCellSpacing(0)
    form.setTopMargin(_AROUND)
    form.setBottomMargin(_AROUND)
    form.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
    return form


def _code_words(document: QTextDocument) -> Iterator[QTextCursor]:
    """A cursor over each run of monospaced words."""
    code_runs: list[tuple[int, int]] = []
    block = document.begin()
    while block.isValid():
        place = block.begin()
        while not place.atEnd():
            run = place.fragment()
            if run.charFormat().fontFixedPitch():
                code_runs.append((run.position(), run.length()))
            place += 1
        block = block.next()
    for start, length in code_runs:
        cursor = QTextCursor(document)
        cursor.setPosition(start)
        cursor.setPosition(start + length, QTextCursor.MoveMode.KeepAnchor)
        yield cursor


def _code_blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
    while block.isValid():
        if block.blockFormat().hasProperty(QTextFormat.Property.BlockCodeFence):
            yield block
        block = block.next()
