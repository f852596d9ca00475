"""Cards in two columns where there is room, in one where there is not."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from gpuassist.ui.widgets.scroll_page import SPACING

TWO_FROM = 860  # narrower ones break most values of a card into two lines


class Columns(QWidget):
    """Holds widgets in reading order; those of a row are equally high."""

    def __init__(self, parent: QWidget | None = None, *, two_from: int = TWO_FROM) -> None:
        super().__init__(parent)
        self._two_from = two_from
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(SPACING)
        self._widgets: tuple[QWidget, ...] = ()
        self._count = 0
        self._wide = True

    def set_widgets(self, widgets: tuple[QWidget, ...]) -> None:
        """Holds other widgets; the old ones go."""
        for widget in self._widgets:
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._widgets = ()
        self.expect(len(widgets))
        for widget in widgets:
            self.add(widget)

    def expect(self, count: int) -> None:
        """Keeps the places of so many widgets, so that those that are there do not move when the others come."""
        self._count = count

    def add(self, widget: QWidget) -> None:
        """Holds one more, after the others."""
        # As wide as its column and no wider than it: two columns stay equal whatever they hold.
        widget.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._widgets = (*self._widgets, widget)
        self._count = max(self._count, len(self._widgets))
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        wide = self.width() >= self._two_from
        if wide != self._wide:
            self._wide = wide
            self._arrange()

    def _arrange(self) -> None:
        columns = 2 if self._wide and self._count > 1 else 1
        for place, widget in enumerate(self._widgets):
            alone = columns == 2 and place == self._count - 1 and place % 2 == 0
            self._grid.addWidget(widget, place // columns, place % columns, 1, 2 if alone else 1)
        self._grid.setColumnStretch(0, 1)
        self._grid.setColumnStretch(1, 1 if columns == 2 else 0)
