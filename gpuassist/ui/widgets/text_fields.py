"""Fields of text whose menus have the window's look: Qt makes one for each that it opens, and no style sheet rounds it."""

from __future__ import annotations

from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit

from gpuassist.ui.widgets.popups import open_menu


class TextLine(QLineEdit):
    """One line that is typed in."""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        open_menu(self.createStandardContextMenu(), event)


class TextArea(QPlainTextEdit):
    """Plain text of many lines."""

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        open_menu(self.createStandardContextMenu(event.pos()), event)
