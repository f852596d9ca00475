"""A value over time kept as minima and maxima at ten scales: any window is drawn with two points a pixel, and no peak is lost.

Level 0 has buckets of an eighth of a second, each further level buckets of twice that. Buckets lie on a fixed grid of time: while a
plot scrolls, all but the newest stay what they are. Only buckets with a reading exist.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left

from msgspec import Struct

FINEST_SECONDS = 0.125  # a power of two, so that sums and borders of buckets are exact
LEVELS = 10  # the coarsest has buckets of 64 s: 2,048 of them are 36 hours
COLUMNS_AT_MOST = 2048

Share = tuple[int, int]
"""A process, by its number, and the bytes that it holds."""


class Window(Struct, frozen=True):
    """The last `seconds` of a history, drawn `columns` pixels wide; `until` is where they end, the newest reading unless given."""

    seconds: float
    columns: int
    until: float | None = None


class Curve(Struct, frozen=True):
    """Buckets of one width: when each begins, its smallest and greatest value, and the places where one follows a gap.

    The arrays hold doubles and are the reader's own (`numpy.frombuffer` makes them arrays of numpy without copying).
    """

    width: float
    times: array[float]
    low: array[float]
    high: array[float]
    breaks: tuple[int, ...]


class Pyramid:
    """The scales of one value; every level drops its oldest buckets beyond a fixed number."""

    def __init__(self) -> None:
        self._levels = tuple(_Level(FINEST_SECONDS * 2**number) for number in range(LEVELS))

    def add(self, time: float, value: float, shares: tuple[Share, ...], *, after_gap: bool = False) -> None:
        """Takes in a reading later than all before; `shares` is how the value is made up at that moment."""
        for level in self._levels:
            if not level.add(time, value, shares, after_gap=after_gap):
                return  # within what its bucket holds already, so within what every coarser one holds

    def revision(self, window: Window) -> int:
        """A number that changes when, and only when, the buckets that a window is drawn from do."""
        return self._level(window).revision

    def curve(self, window: Window, until: float) -> Curve:
        """The buckets of a window that ends at `until`, oldest first."""
        level = self._level(window)
        first, last = level.span(until - window.seconds, until)
        times = array("d", [number * level.width for number in level.numbers[first:last]])
        breaks = tuple(place for place in range(1, last - first) if level.breaks[first + place])
        return Curve(level.width, times, level.low[first:last], level.high[first:last], breaks)

    def shares(self, window: Window, until: float) -> list[tuple[Share, ...]]:
        """How the greatest value of each of these buckets was made up."""
        level = self._level(window)
        first, last = level.span(until - window.seconds, until)
        return level.shares[first:last]

    def _level(self, window: Window) -> _Level:
        wanted = window.seconds / max(1, min(window.columns, COLUMNS_AT_MOST))
        return next((level for level in self._levels if level.width >= wanted), self._levels[-1])


class _Level:
    """Buckets of one width. Appended to, and cut by half when twice as long as needed, so that every window is one slice."""

    __slots__ = ("breaks", "high", "low", "numbers", "revision", "shares", "width")

    def __init__(self, width: float) -> None:
        self.width = width
        self.numbers = array("q")
        self.low = array("d")
        self.high = array("d")
        self.breaks = bytearray()
        self.shares: list[tuple[Share, ...]] = []
        self.revision = 0

    def add(self, time: float, value: float, shares: tuple[Share, ...], *, after_gap: bool) -> bool:
        """Whether the reading changed a bucket."""
        number = int(time // self.width)
        if not self.numbers or number > self.numbers[-1]:
            if len(self.numbers) >= 2 * COLUMNS_AT_MOST:
                count = COLUMNS_AT_MOST - 1
                for kept in (self.numbers, self.low, self.high, self.breaks, self.shares):
                    del kept[:count]
            self.numbers.append(number)
            self.low.append(value)
            self.high.append(value)
            self.breaks.append(after_gap)
            self.shares.append(shares)
        elif not self._widen(value, shares):
            return False
        self.revision += 1
        return True

    def span(self, since: float, until: float) -> tuple[int, int]:
        """The places of the buckets that touch a stretch of time."""
        first = bisect_left(self.numbers, int(since // self.width))
        return first, bisect_left(self.numbers, int(until // self.width) + 1, first)

    def _widen(self, value: float, shares: tuple[Share, ...]) -> bool:
        if value > self.high[-1]:
            self.high[-1] = value
            self.shares[-1] = shares
            return True
        if value < self.low[-1]:
            self.low[-1] = value
            return True
        return False
