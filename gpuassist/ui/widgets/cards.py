"""The panels of a page: cards, the inset well, banners, and what stands where nothing is."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gpuassist.formats.visible import on_one_line, visible
from gpuassist.present.marks import Mark
from gpuassist.ui.theme import set_look
from gpuassist.ui.widgets.labels import label, paragraph, set_paragraph
from gpuassist.ui.widgets.layouts import MARGIN, FlowLayout, add_layout, bare
from gpuassist.ui.widgets.marks import MarkIcon
from gpuassist.ui.widgets.page_icon import PageIcon


class Card(QFrame):
    """A panel with an optional heading row; put things into `body`, and buttons or pills into `head`.

    The subtitle stands beside the title, or below it.
    """

    def __init__(self, title: str = "", subtitle: str = "", parent: QWidget | None = None, *, below: bool = False) -> None:
        super().__init__(parent)
        self.outer = outer = QVBoxLayout(self)
        outer.setContentsMargins(20, 16, 20, 16)
        outer.setSpacing(8)
        self.head = bare(QHBoxLayout(), 8)
        add_layout(outer, self.head)
        self.body = bare(QVBoxLayout(), 8)
        add_layout(outer, self.body)
        self.title: QLabel | None = None
        if title:
            self.title = label(title, "heading", self)
            # A widget of its own: a layout of ours inside one of Qt's outlives its items, and Qt crashes.
            box = QWidget(self)
            names = bare(QVBoxLayout(box), 2) if below else FlowLayout(box)
            names.addWidget(self.title)
            if subtitle:
                names.addWidget(label(subtitle, "muted", self))
            self.head.addWidget(box, 1)
            self.setAccessibleName(self.title.text())

    def add_marked(self, mark: Mark, said: QWidget) -> None:
        """A row of its body: what is said, beside its mark."""
        box = QWidget(self)
        row = bare(QHBoxLayout(box), 8)
        row.addWidget(MarkIcon(mark, box), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(said, 1)
        self.body.addWidget(box)


class Well(QFrame):
    """A tinted inset for evidence and code; put things into `body`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(12, 4, 12, 4)
        self.body.setSpacing(0)


class Notice(QFrame):
    """A banner across the page: what holds for all of it."""

    def __init__(self, mark: Mark, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(12, 8, 12, 8)
        layout.setSpacing(12)
        self._icon = MarkIcon(mark, self)
        self._words = paragraph(words, "", self)
        layout.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        self._parts = bare(QBoxLayout(QBoxLayout.Direction.LeftToRight), 12)
        self._parts.addWidget(self._words, 1)
        self.buttons = QHBoxLayout()
        add_layout(self._parts, self.buttons)
        add_layout(layout, self._parts, 1)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.show_words(mark, words)

    def minimumSizeHint(self) -> QSize:
        """As narrow as its words: its buttons then stand below them, and give way."""
        return QSize(self._words.minimumSizeHint().width() + self._around(), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        below = self.buttons.sizeHint().width() > (self.width() - self._around()) // 2
        self._parts.setDirection(QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight)

    def _around(self) -> int:
        return self._icon.sizeHint().width() + 36

    @property
    def words(self) -> str:
        return self._words.accessibleName()

    def show_words(self, mark: Mark, words: str) -> None:
        set_look(self, "mark", mark.value)
        self._icon.set_mark(mark)
        set_paragraph(self._words, words)
        self.setAccessibleName(visible(words))

    def tell(self, mark: Mark, words: str) -> None:
        """Says what has just come of something, in sight also of who has scrolled away from its place."""
        self.show_words(mark, words)
        self.show()
        QTimer.singleShot(0, self, self._come_into_sight)  # once it is laid out

    @Slot()
    def _come_into_sight(self) -> None:
        around = self.parentWidget()
        while around is not None and not isinstance(around, QScrollArea):
            around = around.parentWidget()
        if around is None or not self.isVisible():
            return
        bar, room = around.verticalScrollBar(), around.viewport()
        if bar.value() + self.mapTo(room, self.rect().bottomLeft()).y() < room.height():
            bar.setValue(0)  # with the title above it
        else:
            around.ensureWidgetVisible(self, 0, MARGIN)


class EmptyState(Card):
    """What stands where there is nothing to show yet: a mark, a sentence, and what to do.

    Where nothing was done yet it has the icon of its page, where one is given, in place of a mark that would say nothing.
    """

    def __init__(self, mark: Mark, title: str, words: str, parent: QWidget | None = None, *, icon: bytes = b"") -> None:
        super().__init__(parent=parent)
        self.body.setContentsMargins(0, 24, 0, 24)
        self._icon = MarkIcon(mark, self, size=32)
        self._page_icon = PageIcon(icon, self) if icon else None
        self._title = label(title, "heading", self)
        self._title.setAlignment(Qt.AlignmentFlag.AlignHCenter)  # where it breaks
        self._words = paragraph(words, "muted", self)
        self._words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setAccessibleName(on_one_line(title))
        for sign in filter(None, (self._icon, self._page_icon)):
            self.body.addWidget(sign, 0, Qt.AlignmentFlag.AlignHCenter)
        self._show_sign(mark)
        self.body.addWidget(self._title, 0, Qt.AlignmentFlag.AlignHCenter)
        self.body.addWidget(self._words)
        self.buttons = bare(QHBoxLayout(), 8)
        add_layout(self.body, self.buttons)

    def show_words(self, mark: Mark, title: str, words: str) -> None:
        self._icon.set_mark(mark)
        self._show_sign(mark)
        self._title.setText(on_one_line(title))
        self.setAccessibleName(on_one_line(title))
        set_paragraph(self._words, words)

    def _show_sign(self, mark: Mark) -> None:
        self._icon.setVisible(mark is not Mark.TODO)
        if self._page_icon is not None:
            self._page_icon.setVisible(mark is Mark.TODO)
