"""The explain page's text card: the box, how a text gets into it, with which machine it is joined; and what can be pasted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.ui.pace import Step
from gpuassist.ui.widgets.buttons import CopyButton, DropDown, small
from gpuassist.ui.widgets.cards import Card, Well
from gpuassist.ui.widgets.labels import label, paragraph
from gpuassist.ui.widgets.layouts import EvenColumns, add_layout, bare, dress
from gpuassist.ui.widgets.paste_edit import PasteEdit

_JOINED, _ALONE = range(2)
_LEAST_EXAMPLE = 360
_EXAMPLES: tuple[tuple[Text, Text, str], ...] = (
    (
        text("An error of your program"),
        text("A traceback, its last lines, or all that it printed: out of memory, no kernel image, device-side assert."),
        "",
    ),
    (
        text("A build or an installation that failed"),
        text("What nvcc, pip, conda, cmake, apt, dkms or NVIDIA's installers printed."),
        "",
    ),
    (text("What the driver says"), text("Its table, whole or in part, of this or another machine."), "nvidia-smi"),
    (text("PyTorch environment report"), text("What bug reports ask for: collect_env."), "python -m torch.utils.collect_env"),
    (text("What the kernel logged"), text("Lines with NVRM or Xid."), "journalctl -k -b --no-pager | grep -iE 'NVRM|nvidia'"),
    (text("A list of packages"), text("Or what an installer announces before it starts."), "pip list"),
)


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
        add_layout(self.body, self._row())
        self.edit.textChanged.connect(self._show_amount)
        self.edit.changed.connect(self.changed)
        self._show_amount()

    @property
    def joins(self) -> bool:
        return self._choice.currentIndex() == _JOINED

    def show_machine(self, *, recorded: bool, host: str = "") -> None:
        joined = text("Use facts of the recording") if recorded else text("Use facts of this computer")
        if host:
            joined = text("Use facts of {host}", host=host)
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
        self.edit.empty()
        self.edit.setFocus()

    @Slot()
    def _show_amount(self) -> None:
        self._clear.setEnabled(not self.edit.document().isEmpty())

    def _row(self) -> QHBoxLayout:
        row = bare(QHBoxLayout(), 8)
        self._paste = self._button(text("Paste"), "Ctrl+V", self.paste)
        self._open = self._button(text("Open a log…"), "Ctrl+O", self.file_wanted.emit)
        self._clear = self._button(text("Clear"), "Ctrl+L", self.clear)
        self._note = label("", "small", self)
        self._choice = DropDown(self)
        self._choice.addItems([self._words(text("Use facts of this computer")), self._words(text("Use the text alone"))])
        self._choice.setAccessibleName(self._words(text("Facts that the answer is based on")))
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


class ExamplesCard(Card):
    """Examples side by side, where there is room; hidden until `making`, which makes one a turn, is through."""

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("What can be explained")), parent=parent)
        self._words = words
        self._columns = EvenColumns(self, least=_LEAST_EXAMPLE)
        self.body.addWidget(self._columns)
        self.hide()

    def making(self) -> Iterator[Step]:
        for title, explanation, command in _EXAMPLES:
            yield partial(self._add, title, explanation, command)

    def _add(self, title: Text, explanation: Text, command: str) -> None:
        words = self._words
        self._columns.add(_example(words, (words(title), words(explanation)), command, self._columns))
        dress(self._columns)


def _example(words: Words, said: tuple[str, str], command: str, parent: QWidget) -> QWidget:
    title, explanation = said
    inside = QWidget(parent)
    column = QVBoxLayout(inside)
    column.setContentsMargins(0, 4, 0, 8)
    column.setSpacing(4)
    column.addWidget(label(title, "strong", inside))
    column.addWidget(paragraph(explanation, "muted", inside))
    if command:
        add_layout(column, _command(words, title, command, inside))
    column.addStretch(1)
    return inside


def _command(words: Words, title: str, command: str, parent: QWidget) -> QGridLayout:
    row = QGridLayout()
    row.setHorizontalSpacing(8)
    row.setColumnStretch(0, 1)
    row.addWidget(paragraph(command, "mono", parent), 0, 0)
    copy = CopyButton(words, lambda: command, parent)
    copy.setAccessibleName(f"{copy.text()}: {title}")
    row.addWidget(copy, 0, 1, Qt.AlignmentFlag.AlignTop)
    return row
