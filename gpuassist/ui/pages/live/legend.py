"""Whose colour is whose, in one line: as many names as there is room for, and how many more there are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpuassist.formats.visible import on_one_line
from gpuassist.ui.plots.colour_table import LINES, series_colour
from gpuassist.ui.plots.plot_fonts import FIGURES, lettering
from gpuassist.ui.theme import colours
from gpuassist.ui.wording import as_tip

_SWATCH, _LINE, _GAP, _BETWEEN, _WIDEST = 11, 2, 6, 14, 170

LegendEntry = tuple[int, str]
"""A colour's number and a name."""


class Legend(QWidget):
    """Painted at the right edge of its room; all names are in its tip."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.entries: tuple[LegendEntry, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_entries(self, entries: tuple[LegendEntry, ...]) -> None:
        if entries != self.entries:
            self.entries = tuple((number, on_one_line(name)) for number, name in entries)
            names = "\n".join(name for _, name in self.entries)
            self.setAccessibleName(names)
            self.setToolTip(as_tip(names))
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, lettering(FIGURES)[1].height() + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self), colours()
        font, metrics = lettering(FIGURES)
        painter.setFont(font)
        names = [metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, _WIDEST) for _, name in self.entries]
        widths = [_SWATCH + _GAP + metrics.horizontalAdvance(name) + _BETWEEN for name in names]
        shown, left_out = self._fitting(widths, metrics.horizontalAdvance("+99") + _BETWEEN)
        more = f"+{left_out}" if left_out else ""
        x = self.width() - sum(widths[place] for place in shown) + _BETWEEN
        x -= metrics.horizontalAdvance(more) + _BETWEEN if more else 0
        for place in shown:
            number = self.entries[place][0]
            high = _LINE if number in LINES else _SWATCH
            swatch = QRectF(x, (self.height() - high) / 2, _SWATCH, high)
            painter.fillRect(swatch, QColor(series_colour(palette, number)))
            painter.setPen(QColor(palette.text))
            room = QRectF(x + _SWATCH + _GAP, 0, widths[place], self.height())
            painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, names[place])
            x += widths[place]
        if more:
            painter.setPen(QColor(palette.muted))
            painter.drawText(QRectF(x, 0, 60, self.height()), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, more)
        painter.end()

    def _fitting(self, widths: Sequence[int], for_more: int) -> tuple[list[int], int]:
        """The places of what there is room for, and how many are left out.

        Processes are left out first, the last of them first: without its word nobody knows what the grey is, or a line.
        """
        shown = list(range(len(widths)))
        leaving = [place for place in shown if self.entries[place][0] < 0] + [
            place for place in shown if self.entries[place][0] >= 0
        ]
        while shown and sum(widths[place] for place in shown) - _BETWEEN + (len(shown) < len(widths)) * for_more > self.width():
            shown.remove(leaving.pop())
        return shown, len(widths) - len(shown)


def legend_entries(pids: Sequence[int], colour_of: Callable[[int], int], name_of: Callable[[int], str]) -> tuple[LegendEntry, ...]:
    """One for each name and colour; of one name and several colours the number tells which is which."""
    named: dict[str, dict[int, list[int]]] = {}
    for pid in pids:
        named.setdefault(name_of(pid), {}).setdefault(colour_of(pid), []).append(pid)
    return tuple(
        (colour, name if len(of_colours) == 1 else f"{name} {', '.join(map(str, same))}")
        for name, of_colours in named.items()
        for colour, same in of_colours.items()
    )
