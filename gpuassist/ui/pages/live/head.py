"""What stands above live memory: whose figures they are, what is wrong with them, and what became of something asked for."""

from __future__ import annotations

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Notice
from gpuassist.ui.widgets.scroll_page import PageHeader

NAME = text("Live memory")


class LiveHead(QWidget):
    """A title, and two notices that are there while they say something."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._titles: tuple[Text, Text | None] = (NAME, None)
        self._troubles: tuple[Text, ...] = ()
        self.header = PageHeader(words(NAME), "", self)
        self._trouble = Notice(Mark.WARNING, "", self)
        self.said = Notice(Mark.INFO, "", self)
        close = small(words(text("Close")), self.said)
        close.clicked.connect(self.said.hide)
        self.said.buttons.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        for widget in (self.header, self._trouble, self.said):
            column.addWidget(widget)
        self._trouble.hide()
        self.said.hide()

    def show_title(self, title: Text, below: Text | None = None) -> None:
        if (title, below) != self._titles:
            self._titles = (title, below)
            self.header.show_words(self._words(title), self._words(below) if below is not None else "")

    def show_troubles(self, troubles: tuple[Text, ...]) -> None:
        """As long as they last."""
        if troubles != self._troubles:
            self._troubles = troubles
            self._trouble.show_words(Mark.WARNING, "\n".join(map(self._words, troubles)))
            self._trouble.setVisible(bool(troubles))

    @Slot(object, object)
    def tell(self, mark: Mark, words: str) -> None:
        """Stays until the user has read it."""
        self.said.show_words(mark, words)
        self.said.show()
