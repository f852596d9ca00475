"""Rows of facts: what it is, its value, and where that was read."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLabel, QWidget

from gpuassist.formats.visible import on_one_line
from gpuassist.model.words import Words
from gpuassist.ui.widgets.labels import Hairline, paragraph, source_label
from gpuassist.ui.widgets.layouts import bare, by_text, clear
from gpuassist.ui.widgets.term_names import term_name

_SOURCES_PART = 0.25
_SOURCE_LEAST = 92
_GAP = 16


class FactRow(Struct, frozen=True):
    """One row; `strong` for the value that matters most, `unknown` where the value is a reason."""

    label: str
    value: str
    source: str = ""
    strong: bool = False
    unknown: bool = False


class FactTable(QWidget):
    """Fact rows with a hairline between them; values wrap and can be selected, long sources are cut and copyable."""

    def __init__(
        self, words: Words, rows: Sequence[FactRow] = (), parent: QWidget | None = None, *, label_width: int = 116
    ) -> None:
        super().__init__(parent)
        self._words = words
        self._grid = bare(QGridLayout(self))
        self._grid.setHorizontalSpacing(_GAP)
        self._grid.setVerticalSpacing(0)
        self._label_width = label_width
        self._names: list[QLabel] = []
        self._values: list[_ValueAndSource] = []
        self._grid.setColumnStretch(1, 1)
        self.rows: tuple[FactRow, ...] = ()
        self.set_rows(rows)

    def set_rows(self, rows: Sequence[FactRow]) -> None:
        if tuple(rows) == self.rows:
            return
        clear(self._grid)
        self._names.clear()
        self._values.clear()
        self.rows = tuple(rows)
        for place, row in enumerate(self.rows):
            self._add(place * 2, row)
        self._share()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share()

    def minimumSizeHint(self) -> QSize:
        """Less than the grid's, which holds the names to the width that they have now."""
        return QSize(_widest(self._names) + _GAP + _widest(self._values), super().minimumSizeHint().height())

    def _share(self) -> None:
        """The names get what they were given, less where that leaves the values less than their half or their longest word, and no
        more than they need where a value would break beside them; never less than their own longest word.
        """
        room, least = self.width() - _GAP, _widest(self._names)
        wanted = max(least, min(by_text(self._label_width), self.width() // 2, room - _widest(self._values)))
        if room - wanted < max((one.natural for one in self._values), default=0):
            named = zip(self._names, self.rows, strict=True)  # a paragraph's own hint is narrower than its one line
            needed = max(name.fontMetrics().horizontalAdvance(on_one_line(row.label)) + 2 for name, row in named)
            wanted = max(least, min(wanted, needed))
        if wanted != self._grid.columnMinimumWidth(0):
            self._grid.setColumnMinimumWidth(0, wanted)
            self.updateGeometry()  # the grid tells nobody, and other names may be broken now

    def _add(self, at: int, row: FactRow) -> None:
        if at:
            self._grid.addWidget(Hairline(self), at - 1, 0, 1, 2)
        name = term_name(on_one_line(row.label), "muted", self)
        name.setContentsMargins(0, 6, 0, 6)
        self._grid.addWidget(name, at, 0)
        self._names.append(name)
        value = _ValueAndSource(self._words, row, self)
        self._grid.addWidget(value, at, 1)
        self._values.append(value)


def _widest(widgets: Sequence[QWidget]) -> int:
    return max((one.minimumSizeHint().width() for one in widgets), default=0)


class _ValueAndSource(QWidget):
    """The source stands at the right and gets what the value leaves, but never less than its part; below the value where the two
    do not fit side by side.
    """

    def __init__(self, words: Words, row: FactRow, parent: QWidget) -> None:
        super().__init__(parent)
        self._layout = bare(QBoxLayout(QBoxLayout.Direction.LeftToRight, self), _GAP)
        role = "unknown" if row.unknown else "strong" if row.strong else ""
        value = paragraph(on_one_line(row.value), role, self)
        value.setAccessibleName(on_one_line(f"{row.label}: {row.value}"))
        self._value = value
        self._value.setContentsMargins(0, 6, 0, 6)
        self._layout.addWidget(self._value, 1)
        self._natural = row.value
        self._source = source_label(words, row.source, self) if row.source else None
        if self._source is not None:
            self._layout.addWidget(self._source)

    def minimumSizeHint(self) -> QSize:
        return QSize(self._value.minimumSizeHint().width(), super().minimumSizeHint().height())

    @property
    def natural(self) -> int:
        """On one line, with as much of the source as it always has."""
        source = _GAP + min(self._source.sizeHint().width(), by_text(_SOURCE_LEAST)) if self._source is not None else 0
        return self._value.fontMetrics().horizontalAdvance(self._natural) + 4 + source

    def resizeEvent(self, event: QResizeEvent) -> None:
        if self._source is None:
            return
        whole, least = self._source.sizeHint().width(), by_text(_SOURCE_LEAST)
        below = self._value.minimumSizeHint().width() + _GAP + min(whole, least) > self.width()
        self._layout.setDirection(QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight)
        self._layout.setSpacing(0 if below else _GAP)
        self._value.setContentsMargins(0, 6, 0, 0 if below else 6)
        self._source.setContentsMargins(0, 0, 0, 6 if below else 0)
        room = self.width() - _GAP
        value = self._value.fontMetrics().horizontalAdvance(self._natural) + 4
        part = max(0, min(whole, max(int(room * _SOURCES_PART), least, room - value)))
        self._source.setFixedWidth(min(whole, self.width()) if below else part)
