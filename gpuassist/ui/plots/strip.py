"""A picture over time that is moved along: a pixel of an hour's plot is seconds wide, and nearly all of them stay what they were.

Painted anew at every sample, eight lanes cost 10 ms; moved, they cost under one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QImage, QPainter

from gpuassist.ui.plots.raster import Numbers
from gpuassist.ui.plots.time_grid import TimeGrid

Pixels = NDArray[np.uint32]
Columns = Callable[[int, int], tuple[Numbers, float]]
"""Paints the pixels from one number up to another; with the time from which on they may still change."""


class Strip:
    """Pixels as numbers of colours, and as those colours; as high as asked for and as wide as the grid."""

    def __init__(self, *, opaque: bool = True) -> None:
        # What hides what is below is copied, not blended: a tenth of the time.
        self._format = QImage.Format.Format_RGB32 if opaque else QImage.Format.Format_ARGB32_Premultiplied
        self.numbers: Numbers = np.zeros((0, 0), np.uint8)
        self._pixels: Pixels = np.zeros((0, 0), np.uint32)
        self._table: Pixels = np.zeros(256, np.uint32)
        self._colours: object = None
        self._image: QImage | None = None
        self._made_of: object = None
        self._grid = TimeGrid(1.0, 0.0, 1)
        self._changes_from = 0.0

    def forget(self) -> None:
        """The next `show` paints everything."""
        self._made_of = None

    def colour(self, table: Sequence[int]) -> None:
        """What the numbers look like from now on."""
        if table != self._colours:
            self._colours = table
            self._table[: len(table)] = table
            self._pixels[:] = self._table[self.numbers]

    def show(self, grid: TimeGrid, height: int, made_of: object, paint: Columns) -> int:
        """Moves to this grid and paints what is new; everything where it is `made_of` something else, or of another size. Says from
        which pixel on it looks otherwise.
        """
        wanted = (made_of, grid.span, grid.width, height)
        moved = grid.first - self._grid.first
        if wanted != self._made_of or abs(moved) >= grid.width:
            self._made_of, self._grid = wanted, grid
            self.numbers = np.zeros((max(1, height), grid.width), np.uint8)
            self._pixels = np.full(self.numbers.shape, self._table[0], np.uint32)
            self._image = None
            self._paint(grid.first, grid.last + 1, paint)
            return 0
        before, self._grid = self._grid, grid
        changes_from = min(math.floor(self._changes_from / grid.step), before.last)
        for kept in (self.numbers, self._pixels):
            if moved > 0:
                kept[:, :-moved] = kept[:, moved:]
            elif moved < 0:
                kept[:, -moved:] = kept[:, :moved]
        if moved < 0:
            newest = self._changes_from
            self._paint(grid.first, grid.first - moved, paint)
            self._changes_from = newest
        first = max(grid.first, changes_from)
        self._paint(first, grid.last + 1, paint)
        return 0 if moved else first - grid.first

    def draw(self, painter: QPainter, target: QRectF, parts: Iterable[QRect]) -> None:
        """Draws what of `target` lies within these parts."""
        rows, width = self.numbers.shape
        if not rows or not width:
            return
        if self._image is None:
            self._image = QImage(self._pixels.data, width, rows, 4 * width, self._format)
        across, down = width / target.width(), rows / target.height()
        for part in parts:
            wanted = target.intersected(QRectF(part))
            if not wanted.isEmpty():
                x, y = (wanted.x() - target.x()) * across, (wanted.y() - target.y()) * down
                painter.drawImage(wanted, self._image, QRectF(x, y, wanted.width() * across, wanted.height() * down))

    def _paint(self, first: int, end: int, paint: Columns) -> None:
        if first < end:
            columns, self._changes_from = paint(first, end)
            at = slice(first - self._grid.first, end - self._grid.first)
            self.numbers[:, at] = columns
            self._pixels[:, at] = self._table[columns]
