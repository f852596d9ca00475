"""The install page's choice of a way, where more than one leads there, and the installs on record that can be taken back."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QRadioButton, QVBoxLayout, QWidget

from gpuassist.install.records import Install
from gpuassist.model.outlook import WayPlan
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.install import WAYS, install_in_words
from gpuassist.ui.reasons import sentence_case
from gpuassist.ui.widgets.buttons import small
from gpuassist.ui.widgets.cards import Card, clear
from gpuassist.ui.widgets.paragraphs import paragraph

_SHOWN_AT_MOST = 5
_INDENT = 22  # below the words of a radio button


class WaysCard(Card):
    """Emits `chosen` with the place of the way that the user wants."""

    chosen = Signal(int)

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Ways to get there")), words(text("the first is the one that can do least harm")), parent)
        self._words = words
        self._ways: tuple[WayPlan, ...] = ()
        self._group = QButtonGroup(self)
        self._group.idClicked.connect(self._choose)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(12)
        self.body.addLayout(self._rows)
        self.hide()

    def button(self, place: int) -> QRadioButton:
        """The button of a way."""
        button = self._group.button(place)
        assert isinstance(button, QRadioButton)
        return button

    def show_ways(self, ways: tuple[WayPlan, ...]) -> None:
        """Offers these, the first of them chosen; no card where there is no choice."""
        if ways != self._ways:
            self._ways = ways
            for button in self._group.buttons():
                self._group.removeButton(button)
            clear(self._rows)
            for place, way in enumerate(ways):
                self._rows.addWidget(self._row(place, way))
        if ways:
            self.button(0).setChecked(True)
        self.setVisible(len(ways) > 1)

    def _row(self, place: int, way: WayPlan) -> QWidget:
        inside = QWidget(self)
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        button = QRadioButton(self._words(WAYS[way.way]), inside)
        button.setCursor(Qt.CursorShape.PointingHandCursor)
        self._group.addButton(button, place)
        column.addWidget(button)
        for said in (way.text, *way.notes):
            line = paragraph(sentence_case(self._words(said)), "muted", inside)
            line.setContentsMargins(_INDENT, 0, 0, 0)
            column.addWidget(line)
        return inside

    @Slot(int)
    def _choose(self, place: int) -> None:
        self.chosen.emit(place)


class EarlierCard(Card):
    """The installs of which something stands that gpuassist did; emits `back_wanted` with the id of one."""

    back_wanted = Signal(object)

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(words(text("Earlier installs")), parent=parent)
        self._words = words
        self._shown: tuple[Install, ...] = ()
        self._rows = QVBoxLayout()
        self._rows.setSpacing(8)
        self.body.addLayout(self._rows)
        self.hide()

    def show_installs(self, installs: tuple[Install, ...]) -> None:
        """Shows the newest of these; no card without any."""
        shown = installs[:_SHOWN_AT_MOST]
        if shown != self._shown:
            self._shown = shown
            clear(self._rows)
            for one in shown:
                self._rows.addWidget(self._row(one))
        self.setVisible(bool(shown))

    def _row(self, install: Install) -> QWidget:
        said = self._words(install_in_words(install))
        inside = QWidget(self)
        row = QHBoxLayout(inside)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(paragraph(said, "", inside), 1)
        back = small(self._words(text("Take it back…")), inside)
        back.setAccessibleName(f"{back.text()}: {said}")
        back.setProperty("install", install.id)
        back.clicked.connect(self._ask)
        row.addWidget(back)
        return inside

    @Slot()
    def _ask(self) -> None:
        button = self.sender()
        if button is not None:
            self.back_wanted.emit(button.property("install"))
