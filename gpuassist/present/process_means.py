"""What a row of processes had over the time that is shown: its peak, and its means. A group is the sum of its processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum

from msgspec import Struct

from gpuassist.model.text import Text, text
from gpuassist.monitor.means import Key, ProcessMean
from gpuassist.present.process_table import ORDERS, UNTOLD, LiveRow, ProcessColumn
from gpuassist.present.samples import size


class SpanColumn(str, Enum):
    """What a cell of a row tells that one sample alone does not."""

    PEAK = "peak"
    MEAN = "mean"
    GPU_MEAN = "gpu-mean"


Column = ProcessColumn | SpanColumn

SPAN_TITLES = {
    SpanColumn.PEAK: text("peak"),
    SpanColumn.MEAN: text("mean"),
    SpanColumn.GPU_MEAN: text("mean %"),
}


SPAN_ORDERS: tuple[Column, ...] = (*ORDERS[:3], SpanColumn.MEAN, SpanColumn.GPU_MEAN, *ORDERS[3:])
"""What rows may be sorted by where a time is shown, in the order in which it is offered."""


class SpanFigures(Struct, frozen=True):
    """The peaks since the watch began, and the means over the time that is shown."""

    peaks: Mapping[Key, int]
    mean: Callable[[Key], ProcessMean | None]


def no_mean(_: Key) -> ProcessMean | None:
    """Where no time is shown."""
    return None


def span_figure(row: LiveRow, column: SpanColumn, figures: SpanFigures) -> float | None:
    """Bytes, or percent; none where nothing is known. The peaks of a group need not have been at one moment: none is told of it."""
    keys = [(part.gpu, part.process.pid) for part in row.parts]
    if column is SpanColumn.PEAK:
        return (figures.peaks.get(keys[0], 0) or None) if len(keys) == 1 else None
    means = [mean for mean in map(figures.mean, keys) if mean is not None]
    found = [mean.memory_bytes if column is SpanColumn.MEAN else mean.gpu_percent for mean in means]
    known = [value for value in found if value is not None]
    return sum(known) if known else None


def sorted_by(rows: Iterable[LiveRow], column: SpanColumn, figures: SpanFigures) -> tuple[LiveRow, ...]:
    """The largest first; those of which nothing is known last, and in their order."""
    worth = ((span_figure(row, column, figures), row) for row in rows)
    return tuple(row for _, row in sorted(worth, key=lambda one: (one[0] is None, -(one[0] or 0.0))))


def span_cell(row: LiveRow, column: SpanColumn, figures: SpanFigures) -> Text:
    """What a row says in such a column."""
    value = span_figure(row, column, figures)
    if value is None:
        return UNTOLD
    return text("{percent} %", percent=round(value)) if column is SpanColumn.GPU_MEAN else size(int(value))
