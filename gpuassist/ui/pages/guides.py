"""Guides: what everybody in this field notes down for himself, a list of topics beside the one that is read."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from gpuassist.model.text import text
from gpuassist.session.guides import guide, topics
from gpuassist.session.navigation import Errand, SideTool, ToGuide
from gpuassist.ui import clipboard
from gpuassist.ui.page import Bar, Desk, Page
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.markdown_view import MarkdownView
from gpuassist.ui.widgets.scroll_page import MARGIN, SPACING, PageHeader

_LIST_WIDTH = 264
_TOPIC = Qt.ItemDataRole.UserRole


class GuidesPage(Page):
    """Reads the guides that ship with gpuassist: a dozen small files, so no job is needed."""

    STEP = SideTool.GUIDES

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(desk, parent)
        self._guides = {topic: guide(desk.session, topic) for topic in topics(desk.session)}
        self._copy = QAction(desk.words(text("Copy the guide")), self)
        self._copy.triggered.connect(self._copy_guide)
        self._header = PageHeader("", desk.words(text("Short answers to what is looked up again and again.")), self)
        guides = list(self._guides.values())
        made = QListWidget(self)
        made.setObjectName("topics")
        made.setFixedWidth(_LIST_WIDTH)
        made.setWordWrap(True)
        made.setTextElideMode(Qt.TextElideMode.ElideNone)
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for one in guides:
            item = QListWidgetItem(one.title, made)
            item.setData(_TOPIC, one.topic)
            item.setToolTip(one.topic)
        self._list = made
        self._list.setAccessibleName(desk.words(text("Guides")))
        self._view = MarkdownView(self)
        self._lay_out()
        self._list.currentItemChanged.connect(self._show_current)
        self._list.setCurrentRow(0)

    def bar(self) -> Bar:
        """One action: a guide is Markdown and can be pasted anywhere."""
        return Bar((self._copy,))

    def arrive(self, errand: Errand | None) -> None:
        for row in range(self._list.count()):
            if isinstance(errand, ToGuide) and self._list.item(row).data(_TOPIC) == errand.topic:
                self._list.setCurrentRow(row)

    @property
    def topic(self) -> str:
        """The topic that is shown."""
        return str(self._list.currentItem().data(_TOPIC))

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, 24, MARGIN, 24)
        column.setSpacing(SPACING)
        column.addWidget(self._header)
        row = QHBoxLayout()
        row.setSpacing(SPACING)
        row.addWidget(self._list)
        card = Card(parent=self)
        card.body.setContentsMargins(0, 0, 0, 0)
        card.body.addWidget(self._view)
        row.addWidget(card, 1)
        column.addLayout(row, 1)

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
