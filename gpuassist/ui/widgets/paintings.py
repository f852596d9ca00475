"""What is painted by hand, told to screen readers as what it is: Qt takes the role of a widget from the class that it stands on.

A widget of no known class is a nameless region to them, and is passed over.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QLabel, QWidget


class PaintedWords(QLabel):
    """Words, which are its accessible name and nobody's markup."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)


class PaintedPicture(QLabel):
    """A picture: its accessible name says what it shows, its description what can be seen in it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setPixmap(QPixmap(1, 1))  # never shown: a label that has one is a graphic
