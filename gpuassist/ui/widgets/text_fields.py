"""Fields of text whose menus have the window's look: Qt makes one for each that it opens, and no style sheet rounds it."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QWidget

from gpuassist.ui.widgets.popups import open_menu


class TextLine(QLineEdit):
    """One line that is typed in."""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        open_menu(self.createStandardContextMenu(), event)


_LETTERS_OF_QT = 17  # a field's own size is that of so many x


class HintedLine(TextLine):
    """As wide as the words that it shows while it is empty."""

    def __init__(self, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPlaceholderText(hint)

    def minimumSizeHint(self) -> QSize:
        font, least = self.fontMetrics(), super().minimumSizeHint()
        around = super().sizeHint().width() - _LETTERS_OF_QT * font.horizontalAdvance("x")
        return QSize(around + font.horizontalAdvance(f"{self.placeholderText()} "), least.height())


class TextArea(QPlainTextEdit):
    """Plain text of many lines."""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        open_menu(self.createStandardContextMenu(event.pos()), event)
