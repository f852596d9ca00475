"""What there is beside the answer, folded: a row of buttons, and a card below that is made when its button is first pressed."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from PySide6.QtCore import Slot
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card
from gpuassist.ui.widgets.layouts import FlowLayout, bare

Fill = Callable[[Card], None]


class Fold(Struct, frozen=True):
    """The words on its button, and what puts its content into its card."""

    title: str
    fill: Fill


class Folds(QWidget):
    """One card a fold; any number of them can be open."""

    def __init__(self, folds: tuple[Fold, ...], parent: QWidget | None = None, *, is_open: bool = False) -> None:
        super().__init__(parent)
        column = bare(QVBoxLayout(self), 12)
        row = QWidget(self)
        flow = FlowLayout(row)
        column.addWidget(row)
        self._folds = folds
        self._cards: dict[int, Card] = {}
        self._buttons = [self._button(fold.title, row) for fold in folds]
        for button in self._buttons:
            flow.addWidget(button)
        self._column = column
        row.setVisible(bool(folds))
        if is_open and folds:
            self._buttons[0].setChecked(True)

    def button(self, place: int) -> QPushButton:
        return self._buttons[place]

    def card(self, place: int) -> Card | None:
        return self._cards.get(place)

    def _button(self, title: str, row: QWidget) -> QPushButton:
        button = small(title, row)
        button.setCheckable(True)
        button.toggled.connect(self._flip)
        return button

    @Slot(bool)
    def _flip(self, is_open: bool) -> None:  # noqa: FBT001 -- Qt's own signal
        place = next(place for place, button in enumerate(self._buttons) if button is self.sender())
        if is_open and place not in self._cards:
            card = Card(self._folds[place].title.rstrip("…"), parent=self)
            self._folds[place].fill(card)
            self._cards[place] = card
            self._column.insertWidget(1 + sum(1 for other in self._cards if other < place), card)
        if place in self._cards:
            self._cards[place].setVisible(is_open)
