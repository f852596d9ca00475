"""The plot of a history as an SVG picture, without a window: for `--save`, for a report, and for whoever has no display.

One lane a GPU: used memory stacked by process with its capacity, or, where several runs are laid over each other, one line a run.
Each column shows the greatest value in it, so no peak is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise

from msgspec import Struct

from gpuassist.formats.visible import on_one_line
from gpuassist.model.fact import value_or
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.monitor.history import History
from gpuassist.monitor.pyramid import Curve, Window
from gpuassist.present.samples import clock, gpu_title, process_name

WIDTH, LANE_HEIGHT = 1200, 260
_LEFT, _RIGHT, _TOP, _BETWEEN, _BOTTOM = 70, 20, 40, 58, 40
PLOT_COLUMNS = WIDTH - _LEFT - _RIGHT
_BANDS = 6
# Okabe and Ito's colours, which those who see some of them alike can tell apart
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
_OTHERS, _INK, _FAINT, _PAPER = "#b8bec6", "#1d2733", "#d5dae0", "#ffffff"
_GIB = float(1 << 30)
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400)


class DrawnRun(Struct, frozen=True):
    """A history and what it is called."""

    name: str
    history: History


def picture(runs: Sequence[DrawnRun], window: Window, words: Words) -> str:
    """An SVG document. Of several runs the axis is the time since each one's start, of one the time of day."""
    gpus = sorted({gpu for run in runs for gpu in run.history.gpus})
    height = _TOP + max(1, len(gpus)) * (LANE_HEIGHT + _BETWEEN) + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="{_PAPER}"/>',
        _words(_LEFT, 20, " · ".join(run.name for run in runs), bold=True),
    ]
    for place, gpu in enumerate(gpus):
        parts.extend(_Lane(runs, gpu, window, _TOP + 24 + place * (LANE_HEIGHT + _BETWEEN)).draw(words))
    if not gpus:
        parts.append(_words(_LEFT, _TOP + 40, words(text("nothing is known of any GPU in it"))))
    return "\n".join((*parts, "</svg>", ""))


class _Lane:
    """One GPU."""

    def __init__(self, runs: Sequence[DrawnRun], gpu: int, window: Window, top: float) -> None:
        self._runs, self._gpu, self._window, self._top = runs, gpu, window, top
        self._until = runs[0].history.until if window.until is None else window.until
        self._since = self._until - window.seconds
        self._newest = next((one for run in runs if (one := run.history.newest(gpu)) is not None), None)
        assert self._newest is not None
        seen = max((max(run.history.curve(gpu, window).high, default=0.0) for run in runs), default=0.0)
        self._capacity = float(value_or(self._newest.memory_total_bytes, 0))
        self._most = max(self._capacity, seen, 1.0) * 1.04

    def draw(self, words: Words) -> Iterable[str]:
        assert self._newest is not None
        yield _words(_LEFT, self._top - 8, words(gpu_title(self._newest)), bold=True)
        yield from self._grid()
        legend: list[tuple[str, str]] = []
        if len(self._runs) == 1:
            areas, legend = self._stack(words)
            yield from areas
        for number, run in enumerate(self._runs):
            curve = run.history.curve(self._gpu, self._window)
            colour = _INK if len(self._runs) == 1 else COLOURS[number % len(COLOURS)]
            if len(self._runs) > 1:
                legend.append((run.name, colour))
            for first, last in _stretches(curve):
                path = " ".join(f"{self._x(curve, place)},{self._y(curve.high[place])}" for place in range(first, last))
                yield f'<polyline fill="none" stroke="{colour}" stroke-width="1.2" points="{path}"/>'
        if self._capacity:
            y = self._y(self._capacity)
            yield f'<line x1="{_LEFT}" y1="{y}" x2="{WIDTH - _RIGHT}" y2="{y}" stroke="{COLOURS[5]}" stroke-dasharray="6 4"/>'
        yield from self._legend(legend)

    def _stack(self, words: Words) -> tuple[list[str], list[tuple[str, str]]]:
        """Areas, and their legend."""
        history = self._runs[0].history
        stack = history.stack(self._gpu, self._window, bands=_BANDS)
        areas: list[str] = []
        legend: list[tuple[str, str]] = []
        below = [0.0] * len(stack.curve.times)
        bands = [(words(process_name(history.command(band.pid), band.pid)), band.values) for band in stack.bands]
        for number, (name, values) in enumerate((*bands, (words(text("others")), stack.others))):
            above = [low + value for low, value in zip(below, values, strict=True)]
            colour = COLOURS[number] if number < len(bands) else _OTHERS
            for first, last in _stretches(stack.curve):
                there = [f"{self._x(stack.curve, place)},{self._y(above[place])}" for place in range(first, last)]
                back = [f"{self._x(stack.curve, place)},{self._y(below[place])}" for place in reversed(range(first, last))]
                areas.append(f'<polygon fill="{colour}" fill-opacity="0.75" points="{" ".join((*there, *back))}"/>')
            below = above
            if max(values, default=0.0):
                legend.append((name, colour))
        return areas, legend

    def _grid(self) -> Iterable[str]:
        top, bottom = self._top, self._top + LANE_HEIGHT
        yield f'<rect x="{_LEFT}" y="{top}" width="{PLOT_COLUMNS}" height="{LANE_HEIGHT}" fill="none" stroke="{_FAINT}"/>'
        step = next((one for one in (1, 2, 4, 8, 16, 32, 64, 128, 256) if self._most / _GIB / one <= 6), 512)
        for gibibytes in range(0, int(self._most / _GIB) + 1, step):
            y = self._y(gibibytes * _GIB)
            yield f'<line x1="{_LEFT}" y1="{y}" x2="{WIDTH - _RIGHT}" y2="{y}" stroke="{_FAINT}"/>'
            yield _words(_LEFT - 6, y + 4, f"{gibibytes} GiB", anchor="end")
        span = next((one for one in _STEPS if self._window.seconds / one <= 8), _STEPS[-1])
        history = self._runs[0].history
        zero = -history.since if len(self._runs) > 1 else history.epoch_of_zero
        moment = -(-(self._since + zero) // span) * span - zero
        while moment <= self._until:
            x = self._at(moment)
            label = _elapsed(moment + zero) if len(self._runs) > 1 else clock(moment + zero, seconds=span < 60)
            yield f'<line x1="{x}" y1="{bottom}" x2="{x}" y2="{bottom + 4}" stroke="{_INK}"/>'
            yield _words(x, bottom + 17, label, anchor="middle")
            moment += span

    def _legend(self, entries: Sequence[tuple[str, str]]) -> Iterable[str]:
        x = float(_LEFT + 320)
        for name, colour in entries:
            shown = name if len(name) <= 28 else name[:27] + "…"
            yield f'<rect x="{x:g}" y="{self._top - 17:g}" width="10" height="10" fill="{colour}"/>'
            yield _words(x + 14, self._top - 8, shown)
            x += 30 + 7 * len(shown)

    def _x(self, curve: Curve, place: int) -> str:
        return f"{self._at(min(self._until, max(self._since, curve.times[place] + curve.width / 2))):.1f}"

    def _at(self, moment: float) -> float:
        return round(_LEFT + (moment - self._since) / self._window.seconds * PLOT_COLUMNS, 1)

    def _y(self, value: float) -> float:
        return round(self._top + LANE_HEIGHT * (1.0 - value / self._most), 1)


def _stretches(curve: Curve) -> Iterable[tuple[int, int]]:
    """The parts of a curve between its gaps."""
    borders = [0, *curve.breaks, len(curve.times)]
    return [(first, last) for first, last in pairwise(borders) if last > first]


def _elapsed(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def _words(x: float, y: float, words: str, *, anchor: str = "start", bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" fill="{_INK}" text-anchor="{anchor}"{weight}>{escape(on_one_line(words))}</text>'
