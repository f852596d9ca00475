"""One GPU's plot: pyqtgraph's axes around the bands. Imports pyqtgraph, so is imported late.

The x axis is time back from now: its marks stay where they are while the bands move, so it is painted once a window.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QWidget

from gpuassist.session.words import Words
from gpuassist.ui.plots.bands import HEADROOM, BandsItem, Flag, Picture
from gpuassist.ui.plots.raster import Columns
from gpuassist.ui.plots.ticks import memory_marks, time_marks
from gpuassist.ui.theme import SMALL_POINTS, colours, sans

_MARKS, _FEW_MARKS, _LOW = 4, 2, 120  # a plot lower than this has no room for more
_LEFT_AXIS_WIDTH = 40
_BOTTOM_AXIS_HEIGHT = 22
_HALF_A_MARK = 8  # below the lane's 0, which would be cut in half


class LanePlot(pg.PlotWidget):  # type: ignore[misc]  # pyqtgraph carries no types
    """Used memory of one GPU over the window; it neither zooms nor scrolls by the mouse."""

    _made = False  # pyqtgraph changes the style before there are axes to dress

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent, enableMenu=False)
        self._words = words
        self._scale = (0.0, 0.0, 0)  # the card's memory, the window's seconds, how many marks at most
        self._grid: tuple[float, ...] = ()
        self._item = BandsItem()
        self.addItem(self._item, ignoreBounds=True)
        self.setMouseEnabled(x=False, y=False)
        self.hideButtons()
        self.setAntialiasing(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self.plotItem.setContentsMargins(0, 4, 0, 0)
        self.getAxis("left").setWidth(_LEFT_AXIS_WIDTH)
        self._made = True
        self._dress()

    @property
    def columns_wanted(self) -> int:
        """How many pixels wide the bands are: what the history is asked for."""
        return max(16, int(self.getViewBox().width()))

    @property
    def picture(self) -> Picture | None:
        """What is shown."""
        return self._item.picture

    def show_scale(self, capacity: float, window: float) -> None:
        """The card's memory in bytes and the window in seconds."""
        wanted = (capacity, window, _FEW_MARKS if self.height() < _LOW else _MARKS)
        if wanted == self._scale:
            return
        self._scale = wanted
        self.setYRange(0, capacity * HEADROOM, padding=0)
        self.setXRange(-window, 0, padding=0)
        marks = memory_marks(capacity, wanted[2])
        self._grid = tuple(value for value, _ in marks[:-1])
        self.getAxis("left").setTicks([marks])
        self.getAxis("bottom").setTicks([[(place, self._words(name)) for place, name in time_marks(window)]])

    def show_bands(self, columns: Columns, series: tuple[int, ...], until: float, flags: Sequence[Flag]) -> None:
        """Shows these from now on; `show_scale` came before."""
        capacity, window, _ = self._scale
        self._item.show_picture(Picture(columns, until, window, capacity, series, self._grid, tuple(flags)))

    def show_time_axis(self, *, shown: bool) -> None:
        """Whether the marks of time stand below this lane."""
        axis = self.getAxis("bottom")
        axis.setHeight(_BOTTOM_AXIS_HEIGHT if shown else _HALF_A_MARK)
        axis.setStyle(showValues=shown)

    def bytes_at(self, position: QPointF) -> tuple[float, float]:
        """The time back from now and the bytes under a place of this widget."""
        point = self.getViewBox().mapSceneToView(position)
        return float(point.x()), float(point.y())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if self._made and event.type() in {QEvent.Type.PaletteChange, QEvent.Type.StyleChange}:
            self._dress()

    def _dress(self) -> None:
        # pyqtgraph knows nothing of style sheets and palettes.
        palette = colours()
        self.setBackground(palette.panel)
        for name in ("left", "bottom"):
            axis = self.getAxis(name)
            axis.setPen(QPen(QColor(palette.line), 1))
            axis.setTextPen(QPen(QColor(palette.muted)))
            axis.setStyle(tickFont=sans(SMALL_POINTS), tickLength=0, tickTextOffset=6)
        self._item.update()
