"""Min/max buckets to a small picture of colour numbers, one column a bucket: what the plot's own item paints.

A column is filled up to the greatest use seen in its bucket, so that a peak of one sample is still a full column; the part above
the least use is marked as faint. pyqtgraph's own fills cost 35 ms a frame at 600 points where this costs under one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from gpuassist.monitor.history import Stack

FAINT_FROM = 16  # so at most fifteen bands, the rest among them

Floats = NDArray[np.float64]
Numbers = NDArray[np.uint8]
Places = NDArray[np.int64]


class RasterColumns(Struct, frozen=True):
    """Cells of one GPU on a regular grid of time, oldest first, NaN where nothing was read.

    The least and the greatest use of the card, and what each band (a process) had then; bands are stacked in their order from the
    bottom. `since` is when the first cell begins.
    """

    since: float
    step: float
    lows: Floats
    highs: Floats
    bands: tuple[Floats, ...]


def columns_of(stack: Stack) -> RasterColumns:
    """The stack's buckets, of which only those with a reading exist, as cells without holes.

    A reading holds until the next one, but never over a gap.
    """
    curve = stack.curve
    bands = [band.values for band in stack.bands]
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


def widened(columns: RasterColumns, pixels: Places) -> RasterColumns:
    """Each cell repeated for as many pixels as it is wide."""
    return RasterColumns(
        columns.since,
        columns.step,
        np.repeat(columns.lows, pixels),
        np.repeat(columns.highs, pixels),
        tuple(np.repeat(band, pixels) for band in columns.bands),
    )


def paint(columns: RasterColumns, height: int, capacity: float) -> Numbers:
    """The picture, top row first: 0 is nothing, 1 the topmost band, counted downwards; the bottom one is what no band explains.

    `FAINT_FROM` is added above the least use of the column.
    """
    tops = _to_rows(_stacked(columns), height, capacity)
    lows = _to_rows(columns.lows, height, capacity)
    rows = np.arange(height, 0, -1, dtype=np.uint16)[:, np.newaxis]
    width = len(columns.highs)
    # QImage wants each row to begin at a multiple of four bytes.
    picture = np.zeros((height, -(-width // 4) * 4), np.uint8)
    inside = picture[:, :width]
    for top in tops:
        inside += rows <= top
    faint = (inside > 0) & (rows > lows)
    inside += faint.view(np.uint8) * np.uint8(FAINT_FROM)
    return picture


def _stacked(columns: RasterColumns) -> list[Floats]:
    # No stack may rise above what the card itself showed, and none stands in a gap.
    highs = np.nan_to_num(columns.highs)
    bands = [np.nan_to_num(band) for band in columns.bands]
    level = np.maximum(highs - sum(bands), 0)
    tops = [level]
    for band in bands:
        level = np.minimum(level + band, highs)
        tops.append(level)
    return tops


def _to_rows(values: Any, height: int, capacity: float) -> NDArray[np.uint16]:
    scaled = np.ceil(np.nan_to_num(np.asarray(values)) * (height / max(capacity, 1.0)))
    rows: NDArray[np.uint16] = np.clip(scaled, 0, height).astype(np.uint16)
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
