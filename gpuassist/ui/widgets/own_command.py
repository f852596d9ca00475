"""Our own command lines as buttons: what this window can do itself need not be typed, and may still be copied."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from gpuassist.model.words import Words
from gpuassist.session.navigation import Destination
from gpuassist.session.own_commands import commands_in, places_in
from gpuassist.ui.leads import way_to
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.labels import paragraph
from gpuassist.ui.widgets.layouts import FlowLayout, bare


class OwnCommands(QWidget):
    """A button for each place that one of these command lines names; no room without any."""

    def __init__(self, words: Words, lines: Iterable[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._flow = FlowLayout(self)
        self.buttons: tuple[QPushButton, ...] = ()
        self.show_lines(lines)

    def show_lines(self, lines: Iterable[str]) -> None:
        for button in self.buttons:
            self._flow.removeWidget(button)
            button.hide()
            button.deleteLater()
        self.buttons = tuple(self._button(place) for place in places_in(lines))
        self.setVisible(bool(self.buttons))

    def _button(self, place: Destination) -> QPushButton:
        made = small(self._words(way_to(place).title), self)
        made.clicked.connect(partial(ask, self, place))
        self._flow.addWidget(made)
        return made


def said(words: Words, sentence: str, role: str = "", parent: QWidget | None = None) -> QWidget:
    """A paragraph, with a button below it for what it says to type that this window does itself."""
    commands = commands_in(sentence)
    if not places_in(commands):
        return paragraph(sentence, role, parent)
    inside = QWidget(parent)
    column = bare(QVBoxLayout(inside), 6)
    column.addWidget(paragraph(sentence, role, inside))
    column.addWidget(OwnCommands(words, commands, inside))
    return inside


def ask(inside: QWidget, wish: object) -> None:
    """Asks it of whatever stands around a widget and asks for the frame: a page, or a card whose wishes its page passes on."""
    around: QWidget | None = inside
    while around is not None and not hasattr(around, "asked"):
        around = around.parentWidget()
    if around is not None:
        around.asked.emit(wish)
