"""Small widgets in as many even columns as there is room for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

_GAP = 12


class EvenColumns(QWidget):
    """Holds widgets in reading order, each at least so wide."""

    def __init__(self, parent: QWidget | None = None, *, least: int) -> None:
        super().__init__(parent)
        self._least = least
        self._widgets: list[QWidget] = []
        self._columns = 0
        self._wanted: tuple[QWidget, ...] = ()
        self._shown: tuple[QWidget, ...] = ()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(_GAP)

    def add(self, widget: QWidget) -> None:
        """Holds one more, after the others."""
        self._widgets.append(widget)
        self._wanted = (*self._wanted, widget)
        widget.setParent(self)
        self._arrange()

    @property
    def columns(self) -> int:
        """How many stand side by side."""
        return self._columns

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def show_only(self, widgets: Sequence[QWidget]) -> None:
        """Hides the others, which then take no place."""
        self._wanted = tuple(widgets)
        for widget in self._widgets:
            widget.setVisible(widget in widgets)
        self._arrange()

    def _arrange(self) -> None:
        shown = self._wanted
        fitting = max(1, (self.width() + _GAP) // (self._least + _GAP))
        rows = -(-len(shown) // fitting)
        columns = -(-len(shown) // rows) if rows else 0  # so that the last row is nearly as full as the others
        if (columns, shown) == (self._columns, self._shown):
            return
        self._columns, self._shown = columns, shown
        for place, widget in enumerate(shown):
            self._grid.addWidget(widget, place // columns, place % columns)
        for column in range(len(self._widgets)):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
