"""The explain page's text card: the box, how a text gets into it, and with which machine it is joined."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.ui.widgets.buttons import DropDown, small
from gpuassist.ui.widgets.cards import Card, Well
from gpuassist.ui.widgets.paragraphs import label
from gpuassist.ui.widgets.paste_edit import PasteEdit

_JOINED, _ALONE = range(2)


class TextCard(Card):
    """Tells of every wish; what comes of it is the page's."""

    changed = Signal()  # the text by the user, or the choice
    file_wanted = Signal()

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._words = words
        well = Well(self)
        well.body.setContentsMargins(4, 2, 4, 2)
        self.edit = PasteEdit(words(text("The text to explain")), well)
        self.edit.setPlaceholderText(
            words(text("Paste an error, a log or the output of a command here, drop a file on it, or type."))
        )
        well.body.addWidget(self.edit)
        self.body.addWidget(well)
        self.body.addLayout(self._row())
        self.edit.textChanged.connect(self._show_amount)
        self.edit.changed.connect(self.changed)
        self._show_amount()

    @property
    def joins(self) -> bool:
        """Whether the text is to be joined with the machine."""
        return self._choice.currentIndex() == _JOINED

    def show_machine(self, *, recorded: bool) -> None:
        """Names the machine that a text is joined with."""
        joined = text("Joined with the recorded machine") if recorded else text("Joined with this machine")
        self._choice.setItemText(_JOINED, self._words(joined))

    def show_note(self, words: Text | None) -> None:
        """What holds for the text: that a part was left out, that it cannot be edited."""
        self._note.setText(self._words(words) if words is not None else "")

    @Slot()
    def paste(self) -> None:
        """Takes the clipboard's text in, as Ctrl+V in the box does."""
        self.edit.setFocus()
        self.edit.insertFromMimeData(QGuiApplication.clipboard().mimeData())

    @Slot()
    def clear(self) -> None:
        """Takes the text out."""
        self.edit.empty()
        self.edit.setFocus()

    @Slot()
    def _show_amount(self) -> None:
        self._clear.setEnabled(not self.edit.document().isEmpty())

    def _row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self._paste = self._button(text("Paste"), "Ctrl+V", self.paste)
        self._open = self._button(text("Open a log…"), "Ctrl+O", self.file_wanted.emit)
        self._clear = self._button(text("Clear"), "Ctrl+L", self.clear)
        self._note = label("", "small", self)
        self._choice = DropDown(self)
        self._choice.addItems([self._words(text("Joined with this machine")), self._words(text("The text alone"))])
        self._choice.setAccessibleName(self._words(text("Which facts the answer rests on")))
        self._choice.currentIndexChanged.connect(self.changed)
        for button in (self._paste, self._open, self._clear):
            row.addWidget(button)
        row.addWidget(self._note, 1)
        row.addWidget(self._choice)
        return row

    def _button(self, words: Text, keys: str, pressed: Callable[[], None]) -> QPushButton:
        button = small(self._words(words), self)
        button.setToolTip(keys)
        button.clicked.connect(pressed)
        return button
