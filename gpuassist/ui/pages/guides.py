"""Guides: what everybody in this field notes down for himself, a list of topics beside the one that is read."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QSize, Qt, Slot
from PySide6.QtGui import (
    QAction,
    QBrush,
    QColor,
    QFontMetrics,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextLength,
    QTextTable,
    QTextTableFormat,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QListWidget, QListWidgetItem, QTextBrowser, QVBoxLayout, QWidget

from gpuassist.model.text import text
from gpuassist.session.guides import guide, topics
from gpuassist.session.navigation import Errand, SideTool, ToGuide
from gpuassist.ui import clipboard
from gpuassist.ui.page import Bar, Desk, Page
from gpuassist.ui.palette import Palette
from gpuassist.ui.theme import colours, mono, sans
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.layouts import MARGIN, SPACING, bare, by_text
from gpuassist.ui.widgets.scroll_page import PageHeader

_LIST_WIDTH = 264
_TITLE_PADDING = QSize(20, 16)  # as the style sheet has it, left and right, above and below
_OWN_MARGIN = 8  # what the style keeps free around words beside that
_TOPIC = Qt.ItemDataRole.UserRole
_CELL_PADDING = 6
_INDENT = 18  # of a list
_MARGIN = 4  # of the text
_AROUND = 10  # above and below a table


def _title_size(title: str) -> QSize:
    """Of a title in the list. Qt's own hint wraps it in all of the row's width, of which the padding takes a part."""
    room = by_text(_LIST_WIDTH) - _TITLE_PADDING.width() - _OWN_MARGIN
    flags = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft
    height = QFontMetrics(sans()).boundingRect(0, 0, room, 1000, int(flags), title).height()
    return QSize(by_text(_LIST_WIDTH), height + _TITLE_PADDING.height())


class GuidesPage(Page):
    """Reads the guides that ship with gpuassist: a dozen small files, so no job is needed."""

    STEP = SideTool.GUIDES

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._guides = {topic: guide(desk.session, topic) for topic in topics(desk.session)}
        self._copy = QAction(desk.words(text("Copy the guide")), self)
        self._copy.triggered.connect(self._copy_guide)
        self._header = PageHeader("", desk.words(text("Short answers to common questions.")), self)
        guides = list(self._guides.values())
        made = QListWidget(self)
        made.setObjectName("topics")
        made.setFixedWidth(by_text(_LIST_WIDTH))
        made.setWordWrap(True)
        made.setTextElideMode(Qt.TextElideMode.ElideNone)
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for one in guides:
            item = QListWidgetItem(one.title, made)
            item.setData(_TOPIC, one.topic)
            item.setToolTip(one.topic)
            item.setSizeHint(_title_size(one.title))
        self._list = made
        self._list.setAccessibleName(desk.words(text("Guides")))
        self._view = MarkdownView(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, 24, MARGIN, 24)
        column.setSpacing(SPACING)
        column.addWidget(self._header)
        row = bare(QHBoxLayout(), SPACING)
        row.addWidget(self._list)
        card = Card(parent=self)
        card.body.setContentsMargins(0, 0, 0, 0)
        card.body.addWidget(self._view)
        row.addWidget(card, 1)
        column.addLayout(row, 1)
        self._list.currentItemChanged.connect(self._show_current)
        self._list.setCurrentRow(0)

    def bar(self) -> Bar:
        """One action: a guide is Markdown and can be pasted anywhere."""
        return Bar((self._copy,))

    def arrive(self, errand: Errand | None) -> None:
        for row in range(self._list.count()):
            if isinstance(errand, ToGuide) and self._list.item(row).data(_TOPIC) == errand.topic:
                self._list.setCurrentRow(row)

    def left(self) -> ToGuide:
        return ToGuide(self.topic)

    @property
    def topic(self) -> str:
        return str(self._list.currentItem().data(_TOPIC))

    @Slot()
    def _show_current(self) -> None:
        shown = self._guides[self.topic]
        self._header.show_words(shown.title, self._header.subtitle)
        self._view.show_markdown(shown.body)
        self._view.setAccessibleName(shown.title)

    @Slot()
    def _copy_guide(self) -> None:
        shown = self._guides[self.topic]
        clipboard.copy(f"# {shown.title}\n\n{shown.body}")


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
