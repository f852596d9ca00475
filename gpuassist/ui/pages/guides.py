"""Guides and terms: what everybody in this field notes down for himself, a list beside the one that is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QUrl, Slot
from PySide6.QtGui import (
    QAction,
    QBrush,
    QColor,
    QContextMenuEvent,
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

from gpuassist.model.text import sentence, text
from gpuassist.present.terms import GUIDE_LINK, TERM_LINK, facts_of, term_markdown
from gpuassist.session.guides import guide, topics
from gpuassist.session.navigation import Errand, SideTool, ToGuide, ToTerm
from gpuassist.session.terms import glossary
from gpuassist.ui import clipboard
from gpuassist.ui.page import Bar, Desk, Page, new_action
from gpuassist.ui.palette import Palette
from gpuassist.ui.theme import SMALL_POINTS, colours, mono, sans
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import COPY, paragraph
from gpuassist.ui.widgets.layouts import MARGIN, SPACING, add_layout, bare, by_text
from gpuassist.ui.widgets.popups import open_menu
from gpuassist.ui.widgets.scroll_page import PageHeader
from gpuassist.ui.widgets.text_fields import TextLine

if TYPE_CHECKING:
    from gpuassist.model.machine import Machine
    from gpuassist.present.listing import Section
    from gpuassist.session.inspect import Inspection

_LIST_WIDTH = 264
_TITLE_PADDING = QSize(20, 16)  # as the style sheet has it, left and right, above and below
_OWN_MARGIN = 8  # what the style keeps free around words beside that
_TOPIC = Qt.ItemDataRole.UserRole
_CALLED = Qt.ItemDataRole.UserRole + 1
_CELL_PADDING = 6
_INDENT = 18  # of a list
_MARGIN = 4  # of the text
_AROUND = 10  # above and below a table


def _title_size(title: str, metrics: QFontMetrics, width: int) -> QSize:
    """Of a title in the list. Qt's own hint wraps it in all of the row's width, of which the padding takes a part."""
    room, height = width - _TITLE_PADDING.width() - _OWN_MARGIN, metrics.height()
    if metrics.horizontalAdvance(title) > room:
        flags = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft
        height = metrics.boundingRect(0, 0, room, 1000, int(flags), title).height()
    return QSize(width, height + _TITLE_PADDING.height())


class GuidesPage(Page):
    """Reads the guides and the glossary that ship with gpuassist: a dozen small files and one of 90 KB, so no job is needed."""

    STEP = SideTool.GUIDES

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._guides = {topic: guide(desk.session, topic) for topic in topics(desk.session)}
        self._glossary = glossary(desk.session)
        self._machine: Machine | None = None
        self._facts: tuple[Section, ...] | None = None  # of that machine, once they were asked for
        self._metrics, self._width = QFontMetrics(sans()), by_text(_LIST_WIDTH)
        self._copy = QAction(desk.words(text("Copy the guide")), self)
        self._copy.triggered.connect(self._copy_guide)
        new_action(self, desk.words(text("Guides")), self._focus_search, "Ctrl+F")
        self._header = PageHeader("", desk.words(text("Short answers to common questions.")), self)
        self._list = self._made_list()
        self._search = TextLine(self)
        self._search.setPlaceholderText(desk.words(text("Find a guide or a term")))
        self._search.setAccessibleName(self._search.placeholderText())
        self._search.setToolTip(self._search.placeholderText())
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(self._narrow)
        self._search.returnPressed.connect(self._take_first)
        self._none = paragraph(desk.words(text("Nothing is called so.")), "muted", self)
        self._none.hide()
        self._view = MarkdownView(self)
        self._view.anchorClicked.connect(self._follow)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, 24, MARGIN, 24)
        column.setSpacing(SPACING)
        column.addWidget(self._header)
        row = bare(QHBoxLayout(), SPACING)
        left = bare(QVBoxLayout(), 8)
        left.addWidget(self._search)
        left.addWidget(self._none)
        left.addWidget(self._list, 1)
        add_layout(row, left)
        card = Card(parent=self)
        card.body.setContentsMargins(0, 0, 0, 0)
        card.body.addWidget(self._view)
        row.addWidget(card, 1)
        add_layout(column, row, 1)
        self._list.currentItemChanged.connect(self._show_current)
        self._choose(next(iter(self._guides), ""))

    def bar(self) -> Bar:
        """One action: a guide is Markdown and can be pasted anywhere."""
        return Bar((self._copy,))

    def show_inspection(self, inspection: Inspection) -> None:
        self._machine, self._facts = inspection.machine, None
        if self._is_term:
            self._show_current()

    def arrive(self, errand: Errand | None) -> None:
        if isinstance(errand, ToGuide | ToTerm):
            self._search.clear()  # what is hidden cannot be shown
            self._choose(errand.topic if isinstance(errand, ToGuide) else TERM_LINK + errand.key)

    def left(self) -> ToGuide | ToTerm:
        return ToTerm(self.topic.removeprefix(TERM_LINK)) if self._is_term else ToGuide(self.topic)

    @property
    def topic(self) -> str:
        """The guide's name, or the term's with its mark before it."""
        return str(self._list.currentItem().data(_TOPIC)) if self._list.currentRow() >= 0 else ""

    @property
    def _is_term(self) -> bool:
        return self.topic.startswith(TERM_LINK)

    def _made_list(self) -> QListWidget:
        made = QListWidget(self)
        made.setObjectName("topics")
        made.setFixedWidth(self._width)
        made.setWordWrap(True)
        made.setTextElideMode(Qt.TextElideMode.ElideNone)
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        made.setAccessibleName(self.desk.words(text("Guides")))
        for one in self._guides.values():
            self._add(made, one.title, one.topic, " ".join((one.title, one.topic)))
        if self._glossary.terms:
            heading = self._add(made, self.desk.words(text("Terms")), "", "")
            heading.setFlags(Qt.ItemFlag.NoItemFlags)
            heading.setFont(sans(SMALL_POINTS))
        for term in self._glossary.terms:
            title = self._glossary.title(term.key)
            called = (title, term.key, *term.names, *term.asked, self.desk.words(sentence(term.short)))
            self._add(made, title, TERM_LINK + term.key, " ".join(called))
        return made

    def _add(self, made: QListWidget, title: str, topic: str, called: str) -> QListWidgetItem:
        item = QListWidgetItem(title, made)
        item.setData(_TOPIC, topic)
        item.setToolTip(topic if topic in self._guides else "")
        item.setData(_CALLED, called.lower())
        item.setSizeHint(_title_size(title, self._metrics, self._width))
        return item

    def _choose(self, topic: str) -> None:
        for row in range(self._list.count()):
            if topic and self._list.item(row).data(_TOPIC) == topic:
                self._list.setCurrentRow(row)

    @Slot(str)
    def _narrow(self, typed: str) -> None:
        """Hides what is not called so, in title, spellings or first sentence; what is read stays until another is chosen."""
        wanted = typed.lower().split()
        shown = False
        for row in range(self._list.count()):
            item = self._list.item(row)
            fits = all(one in item.data(_CALLED) for one in wanted)
            item.setHidden(not fits)
            shown = shown or (fits and bool(item.data(_TOPIC)))
        self._none.setVisible(not shown)

    @Slot()
    def _take_first(self) -> None:
        """Enter opens what is called so, else what begins so, else the first of what was found; nothing typed finds nothing."""
        typed = self._search.text().strip().lower()
        found = [item for item in map(self._list.item, range(self._list.count())) if item.data(_TOPIC) and not item.isHidden()]
        if typed and found:
            titles = [item.text().lower() for item in found]
            nearest = min(range(len(found)), key=lambda place: (titles[place] != typed, not titles[place].startswith(typed)))
            self._list.setCurrentItem(found[nearest])

    @Slot()
    def _show_current(self) -> None:
        if self._is_term:
            self._show_term(self.topic.removeprefix(TERM_LINK))
        elif self.topic:
            shown = self._guides[self.topic]
            self._show(shown.title, shown.body)

    def _show_term(self, key: str) -> None:
        term = self._glossary.term(key)
        if term is not None:
            read = self._guides.get(term.guide)
            title = read.title if read is not None else ""
            if self._facts is None:
                self._facts = facts_of(self._machine)
            body = term_markdown(term, self._facts, self._glossary, self.desk.words, guide_title=title)
            self._show(self._glossary.title(key), body)

    def _show(self, title: str, body: str) -> None:
        self._copy.setText(self.desk.words(COPY if self._is_term else text("Copy the guide")))
        self._header.show_words(title, self._header.subtitle)
        self._view.show_markdown(body)
        self._view.setAccessibleName(title)

    @Slot(object)
    def _follow(self, link: QUrl) -> None:
        address = link.toString()
        if address.startswith(TERM_LINK):
            self.arrive(ToTerm(address.removeprefix(TERM_LINK)))
        elif address.startswith(GUIDE_LINK):
            self.arrive(ToGuide(address.removeprefix(GUIDE_LINK)))
        elif address.startswith("https://"):
            self.desk.asking.visit(address)

    @Slot()
    def _focus_search(self) -> None:
        self._search.setFocus()
        self._search.selectAll()

    @Slot()
    def _copy_guide(self) -> None:
        clipboard.copy(f"# {self._header.title}\n\n{self._view.markdown}")


class MarkdownView(QTextBrowser):
    """Shows Markdown; its words can be selected and copied, and nothing in it is opened by itself."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._markdown = ""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.document().setDocumentMargin(_MARGIN)
        self.document().setIndentWidth(_INDENT)

    @property
    def markdown(self) -> str:
        return self._markdown

    def show_markdown(self, markdown: str) -> None:
        """From its beginning; the same stays where it was scrolled to."""
        if markdown == self._markdown:
            return
        self._markdown = markdown
        self._render()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        open_menu(self.createStandardContextMenu(event.pos()), event)

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
    edit = QTextCursor(document)
    edit.beginEditBlock()  # else each would lay the document out
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
    edit.endEditBlock()


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
