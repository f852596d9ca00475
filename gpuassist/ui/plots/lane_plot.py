"""One GPU's plot: pyqtgraph's axes around the bands. Imports pyqtgraph, so is imported late.

The x axis is time back from now: its marks stay where they are while the bands move, so it is painted once a window.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QPen
from PySide6.QtWidgets import QWidget

from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.ui.plots.bands import HEADROOM, BandsItem, Flag, Picture
from gpuassist.ui.plots.raster import RasterColumns
from gpuassist.ui.theme import SMALL_POINTS, colours, sans

# Where the plot's axes are marked and how: whole steps of GiB, and time back from now.


GIB = 1 << 30
_STEPS_GIB = (0.25, 0.5, 1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256)
_STEPS_SECONDS = (5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200)
_MARKS_AT_MOST = 6
# What a card calls 24 GB it reports as 23.99 GiB and 80 GB as 79.6: the mark at the top carries the rounded figure.
_TOP_MARK_NEAR = 0.04

Mark = tuple[float, str]


def memory_marks(capacity_bytes: float, at_most: int = 4) -> tuple[Mark, ...]:
    """Marks from 0 to the card's capacity, in GiB."""
    capacity = capacity_bytes / GIB
    step = next((step for step in _STEPS_GIB if capacity / step <= at_most), _STEPS_GIB[-1])
    below = [index * step for index in range(int(capacity / step) + 1) if capacity - index * step > step * 0.4]
    nearest = round(capacity / step) * step
    top = nearest if abs(nearest - capacity) <= _TOP_MARK_NEAR * capacity else capacity
    return (*((value * GIB, f"{value:g}") for value in below), (capacity_bytes, f"{top:.3g}"))


def time_marks(window_seconds: float) -> tuple[tuple[float, Text], ...]:
    """Marks from the window's left edge to now, in seconds (now is 0)."""
    step = next((step for step in _STEPS_SECONDS if window_seconds / step <= _MARKS_AT_MOST), _STEPS_SECONDS[-1])
    count = int(window_seconds / step)
    return tuple((-index * step, ago(index * step)) for index in range(count, -1, -1))


def ago(seconds: float) -> Text:
    """How long ago, in the unit that reads best."""
    if seconds < 1:
        return text("now")
    if seconds < 120 and seconds % 60:
        return text("−{seconds} s", seconds=round(seconds))
    if seconds < 7200 and seconds % 3600:
        return text("−{minutes} min", minutes=round(seconds / 60))
    return text("−{hours} h", hours=f"{seconds / 3600:g}")


_MARKS, _FEW_MARKS, _LOW = 4, 2, 120  # a plot lower than this has no room for more
_LEFT_AXIS_WIDTH = 40
_BOTTOM_AXIS_HEIGHT = 22
_HALF_A_MARK = 8  # below the lane's 0, which would be cut in half


class LanePlot(pg.GraphicsView):  # type: ignore[misc]  # pyqtgraph carries no types
    """Used memory of one GPU over the window; it neither zooms nor scrolls by the mouse.

    Made of pyqtgraph's parts and not of its PlotItem, which brings menus and forms of its own that nobody would see.
    """

    _made = False  # pyqtgraph changes the style before there are axes to dress

    def __init__(self, words: Words, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self._scale = (0.0, 0.0, 0)  # the card's memory, the window's seconds, how many marks at most
        self._grid: tuple[float, ...] = ()
        self.marks: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self._item = BandsItem()
        self._box = pg.ViewBox(enableMenu=False, enableMouse=False)
        self._box.setMouseEnabled(x=False, y=False)
        self._box.addItem(self._item, ignoreBounds=True)
        self._bytes, self._time = pg.AxisItem("left"), pg.AxisItem("bottom")
        grid = pg.GraphicsLayout()
        grid.setContentsMargins(0, 4, 0, 0)
        grid.setSpacing(0)
        grid.addItem(self._bytes, 0, 0)
        grid.addItem(self._box, 0, 1)
        grid.addItem(self._time, 1, 1)
        self._bytes.linkToView(self._box)
        self._time.linkToView(self._box)
        self._bytes.setWidth(_LEFT_AXIS_WIDTH)
        self.setCentralItem(grid)
        self._parts = grid  # the scene keeps no Python reference
        self.show_time_axis(shown=True)
        self.setAntialiasing(False)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)
        self._made = True
        self._dress()

    @property
    def columns_wanted(self) -> int:
        """How many pixels wide the bands are: what the history is asked for."""
        return max(16, int(self._box.width()))

    @property
    def picture(self) -> Picture | None:
        return self._item.picture

    def show_scale(self, capacity: float, window: float) -> None:
        """The card's memory in bytes and the window in seconds."""
        wanted = (capacity, window, _FEW_MARKS if self.height() < _LOW else _MARKS)
        if wanted == self._scale:
            return
        self._scale = wanted
        self._box.setRange(xRange=(-window, 0), yRange=(0, capacity * HEADROOM), padding=0)
        memory = memory_marks(capacity, wanted[2])
        time = tuple((place, self._words(name)) for place, name in time_marks(window))
        self._grid = tuple(value for value, _ in memory[:-1])
        self.marks = tuple(name for _, name in memory), tuple(name for _, name in time)
        self._bytes.setTicks([memory])
        self._time.setTicks([time])

    def show_bands(self, columns: RasterColumns, series: tuple[int, ...], until: float, flags: Sequence[Flag]) -> None:
        """Shows these from now on; `show_scale` came before."""
        capacity, window, _ = self._scale
        self._item.show_picture(Picture(columns, until, window, capacity, series, self._grid, tuple(flags)))

    def show_time_axis(self, *, shown: bool) -> None:
        """Whether the marks of time stand below this lane."""
        self._time.setHeight(_BOTTOM_AXIS_HEIGHT if shown else _HALF_A_MARK)
        self._time.setStyle(showValues=shown)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if self._made and event.type() in {QEvent.Type.PaletteChange, QEvent.Type.StyleChange}:
            self._dress()

    def _dress(self) -> None:
        # pyqtgraph knows nothing of style sheets and palettes.
        palette = colours()
        self.setBackground(palette.panel)
        for axis in (self._bytes, self._time):
            axis.setPen(QPen(QColor(palette.line), 1))
            axis.setTextPen(QPen(QColor(palette.muted)))
            axis.setStyle(tickFont=sans(SMALL_POINTS), tickLength=0, tickTextOffset=6)
        self._item.update()
