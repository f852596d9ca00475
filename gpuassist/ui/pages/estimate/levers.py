"""What would help: a button for each change, with what it saves and whether that is enough; pressing it changes the question."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from gpuassist.model.estimate import FitAnswer, Lever
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.estimate import FIT_MARKS, lever_name, lever_words
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import EvenColumns, add_layout, bare
from gpuassist.ui.widgets.marks import MarkIcon


class LeversCard(Card):
    """Emits `asked` with the lever that was pressed."""

    asked = Signal(object)

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("What would help, each by itself")), parent=parent)
        self._words = words
        self._levers: tuple[Lever, ...] = ()
        self._grid: EvenColumns | None = None
        self._buttons: list[QPushButton] = []

    def buttons(self) -> tuple[QPushButton, ...]:
        """Those of the levers, in their order."""
        return tuple(self._buttons)

    def show_answer(self, answer: FitAnswer) -> None:
        focused = next((place for place, one in enumerate(self._buttons) if one.hasFocus()), -1)
        self._levers, self._buttons = answer.levers, []
        grid = EvenColumns(self, least=260)
        grid.add(*(self._entry(place, lever, marked=answer.largest_batch is not None) for place, lever in enumerate(answer.levers)))
        if self._grid is None:
            self.body.addWidget(grid)
        else:
            self.body.replaceWidget(self._grid, grid)
            self._grid.hide()
            self._grid.deleteLater()
        self._grid = grid
        grid.show()
        self.setVisible(bool(answer.levers))
        if focused >= 0 and self._buttons:
            self._buttons[min(focused, len(self._buttons) - 1)].setFocus()  # the pressed one is gone

    def _entry(self, place: int, lever: Lever, *, marked: bool) -> QWidget:
        words, inside = self._words, QWidget(self)
        row = bare(QHBoxLayout(inside), 8)
        if marked:
            row.addWidget(MarkIcon(FIT_MARKS[lever.fits], inside), 0, Qt.AlignmentFlag.AlignTop)
        column = bare(QVBoxLayout(), 2)
        button = small(words(lever_name(lever)), inside)
        button.setProperty("place", place)
        button.setAccessibleDescription(words(lever_words(lever)))
        button.clicked.connect(self._press)
        self._buttons.append(button)
        column.addWidget(button)
        column.addWidget(paragraph(words(lever_words(lever)), "muted", inside))
        add_layout(row, column, 1)
        return inside

    @Slot()
    def _press(self) -> None:
        pressed = self.sender()
        if isinstance(pressed, QPushButton):
            self.asked.emit(self._levers[int(pressed.property("place"))])
