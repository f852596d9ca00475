"""Min/max buckets to small pictures of colour numbers, one column a pixel: what the plot paints.

A column is filled up to the greatest use seen in its bucket, so that a peak of one sample is still a full column; the part above
the least use is marked as faint. Qt's own fills of the same cost 35 ms a frame at 600 points where this costs under one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from gpuassist.monitor.history import Stack
from gpuassist.monitor.pyramid import Curve

FAINT_FROM = 16  # so at most fifteen bands, the rest among them
GAP = 2 * FAINT_FROM - 1  # where nothing was read between two readings

Floats = NDArray[np.float64]
Numbers = NDArray[np.uint8]
Places = NDArray[np.int64]


class RasterColumns(Struct, frozen=True):
    """Cells of one GPU on a regular grid of time, oldest first, NaN where nothing was read.

    The least and the greatest value, and what each band (a process) had then; bands are stacked in their order from the bottom.
    `since` is when the first cell begins.
    """

    since: float
    step: float
    lows: Floats
    highs: Floats
    bands: tuple[Floats, ...] = ()


def columns_of(stack: Stack) -> RasterColumns:
    """The stack's buckets, of which only those with a reading exist, as cells without holes."""
    return cells_of(stack.curve, [band.values for band in stack.bands])


def cells_of(curve: Curve, bands: Sequence[Any] = ()) -> RasterColumns:
    """A reading holds until the next one, but never over a gap."""
    if not len(curve.times):
        return RasterColumns(0.0, curve.width, np.empty(0), np.empty(0), tuple(np.empty(0) for _ in bands))
    numbers = np.rint(np.asarray(curve.times) / curve.width).astype(np.int64)
    source = _held(numbers - numbers[0], curve.breaks)
    return RasterColumns(
        float(numbers[0]) * curve.width,
        curve.width,
        _taken(curve.low, source),
        _taken(curve.high, source),
        tuple(_taken(band, source) for band in bands),
    )


def on_pixels(columns: RasterColumns, step: float, first: int, end: int) -> RasterColumns:
    """Each cell repeated for as many pixels as it is wide, from the pixel `first` up to `end`: NaN where there is no cell."""
    count = len(columns.highs)
    # No cell is narrower than a pixel, so none is lost by whole ones.
    edges = np.floor((columns.since + columns.step * np.arange(count + 1)) / step).astype(np.int64)
    pixels = np.diff(np.clip(edges, first, end))
    before = int(np.clip(edges[0], first, end)) - first if count else end - first

    def spread(values: Floats) -> Floats:
        made = np.full(end - first, np.nan)
        repeated = np.repeat(values, pixels)
        made[before : before + len(repeated)] = repeated
        return made

    return RasterColumns(
        first * step, step, spread(columns.lows), spread(columns.highs), tuple(spread(band) for band in columns.bands)
    )


def paint(columns: RasterColumns, height: int, capacity: float) -> Numbers:
    """The picture, top row first: 0 is nothing, 1 the topmost band, counted downwards; the bottom one is what no band explains.

    `FAINT_FROM` is added above the least use of the column; a column without a reading between two with one is a `GAP`.
    """
    empty = np.isnan(columns.highs)
    tops = [_to_rows(top, height, capacity) for top in _stacked(columns, empty)]
    lows = _to_rows(_without(columns.lows, empty), height, capacity)
    rows = np.arange(height, 0, -1, dtype=np.uint16)[:, np.newaxis]
    picture = np.zeros((height, len(columns.highs)), np.uint8)
    for top in tops:
        picture += rows <= top
    faint = (picture > 0) & (rows > lows)
    picture += faint.view(np.uint8) * np.uint8(FAINT_FROM)
    if empty.any() and not empty.all():
        read = np.flatnonzero(~empty)
        empty[: read[0]] = empty[read[-1] :] = False
        picture[:, empty] = GAP
    return picture


def paint_lines(lines: Sequence[RasterColumns], height: int, top: float) -> Numbers:
    """Curves, of which the first is 1: each column from its least to its greatest value, and joined to the one before."""
    rows = np.arange(height, 0, -1, dtype=np.int32)[:, np.newaxis]
    picture = np.zeros((height, len(lines[0].highs)), np.uint8)
    for number, line in enumerate(lines, start=1):
        known = ~np.isnan(line.highs)
        lows = np.maximum(_to_rows(_without(line.lows, ~known), height, top).astype(np.int32), 1)
        highs = np.maximum(_to_rows(_without(line.highs, ~known), height, top).astype(np.int32), 1)
        joined = known[1:] & known[:-1]
        from_, to = lows.copy(), highs.copy()
        from_[1:][joined] = np.minimum(lows[1:], highs[:-1] + 1)[joined]
        to[1:][joined] = np.maximum(highs[1:], lows[:-1] - 1)[joined]
        picture[(rows <= to) & (rows >= from_ - 1) & known] = number  # two pixels thick
    return picture


def _without(values: Floats, empty: NDArray[np.bool_]) -> Floats:
    # numpy's own nan_to_num looks for infinities, too, and takes five times as long.
    return np.where(empty, 0.0, values)


def _stacked(columns: RasterColumns, empty: NDArray[np.bool_]) -> list[Floats]:
    # No stack may rise above what the card itself showed, and none stands in a gap.
    highs = _without(columns.highs, empty)
    bands = [_without(band, empty) for band in columns.bands]
    level = np.maximum(highs - sum(bands), 0)
    tops = [level]
    for band in bands:
        level = np.minimum(level + band, highs)
        tops.append(level)
    return tops


def _to_rows(values: Floats, height: int, capacity: float) -> NDArray[np.uint16]:
    scaled = np.ceil(values * (height / max(capacity, 1.0)))
    rows: NDArray[np.uint16] = np.minimum(np.maximum(scaled, 0.0), height).astype(np.uint16)
    return rows


def _held(places: Places, breaks: tuple[int, ...]) -> Places:
    # For each cell the bucket that it shows, -1 for none.
    source = np.full(int(places[-1]) + 1, -1, np.int64)
    source[places] = np.arange(len(places))
    np.maximum.accumulate(source, out=source)
    for after in breaks:
        source[places[after - 1] + 1 : places[after]] = -1
    return source


def _taken(values: Any, source: Places) -> Floats:
    taken: Floats = np.asarray(values, dtype=np.float64)[source]
    taken[source < 0] = np.nan
    return taken
