"""A page that scrolls, with its title: the answer first, and one line below it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gpuassist.ui.widgets.labels import paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import MARGIN, SPACING, bare


class PageHeader(QWidget):
    """The answer in the title, and one line below it; what is added to `beside` stands at that line's right end."""

    def __init__(self, title: str = "", subtitle: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 4)
        layout.setSpacing(6)
        self._words = (title, subtitle)
        self._title = paragraph(title, "title", self)
        self._subtitle = paragraph(subtitle, "muted", self)
        self.beside = QHBoxLayout()
        self.beside.addWidget(self._subtitle, 1)
        layout.addWidget(self._title)
        layout.addLayout(self.beside)

    def show_words(self, title: str, subtitle: str) -> None:
        self._words = (title, subtitle)
        set_paragraph(self._title, title)
        set_paragraph(self._subtitle, subtitle)

    def take_focus(self) -> None:
        self._title.setFocus()

    @property
    def title(self) -> str:
        return self._words[0]

    @property
    def subtitle(self) -> str:
        return self._words[1]


class ScrollPage(QScrollArea):
    """A page that scrolls up and down only: its title, then whatever is put into `content`, top first."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inside = QWidget(self)
        inside.setObjectName("content")
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(MARGIN, 24, MARGIN, 24)
        layout.setSpacing(SPACING)
        self.header = PageHeader(parent=inside)
        layout.addWidget(self.header)
        self.content = bare(QVBoxLayout(), SPACING)
        layout.addLayout(self.content)
        layout.addStretch(1)
        self.setWidget(inside)
