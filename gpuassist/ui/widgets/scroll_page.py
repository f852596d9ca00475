"""A page that scrolls, with its title: the answer first, and one line below it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gpuassist.ui.widgets.labels import paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import MARGIN, SPACING, add_layout, bare


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
        add_layout(layout, self.beside)

    def show_words(self, title: str, subtitle: str) -> None:
        self._words = (title, subtitle)
        set_paragraph(self._title, title)
        set_paragraph(self._subtitle, subtitle)

    def put_beside(self, strip: QWidget) -> None:
        """What comes and goes beside the subtitle: while it is hidden the subtitle has its room, and the row stays as high."""
        policy = strip.sizePolicy()
        policy.setRetainSizeWhenHidden(False)
        strip.setSizePolicy(policy)
        self.beside.addStrut(strip.sizeHint().height())
        self.beside.addWidget(strip)

    def take_focus(self) -> None:
        self._title.setFocus()

    @property
    def title(self) -> str:
        return self._words[0]

    @property
    def subtitle(self) -> str:
        return self._words[1]


class ScrollColumn(QScrollArea):
    """Holds something as wide as it is, which scrolls up and down where the window is too low for it."""

    def __init__(self, inside: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self._inside = inside
        self.setWidget(inside)

    def sizeHint(self) -> QSize:
        inside = self._inside.sizeHint()
        low = inside.height() > self.height() and self._inside.minimumSizeHint().height() > self.height()
        return QSize(inside.width() + (self.verticalScrollBar().sizeHint().width() if low else 0), inside.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(self.sizeHint().width(), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()


class ScrollPage(QScrollArea):
    """A page that scrolls: its title, then whatever is put into `content`, top first. Sideways only where its words are too large
    for the window to hold one line of them.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inside = QWidget(self)
        inside.setObjectName("content")
        layout = QVBoxLayout(inside)
        layout.setContentsMargins(MARGIN, 24, MARGIN, 24)
        layout.setSpacing(SPACING)
        self.header = PageHeader(parent=inside)
        layout.addWidget(self.header)
        self.content = bare(QVBoxLayout(), SPACING)
        add_layout(layout, self.content)
        layout.addStretch(1)
        self.setWidget(inside)


class ScrollWhole(QScrollArea):
    """Holds something that fills it; where the window is too small for that, it scrolls."""

    def __init__(self, inside: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._inside = inside
        self.setWidget(inside)

    def sizeHint(self) -> QSize:
        return self._inside.sizeHint()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, 0)
