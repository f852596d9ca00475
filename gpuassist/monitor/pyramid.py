"""A value over time kept as minima and maxima at fourteen scales: any window is drawn with two points a pixel, and no peak is lost.

Level 0 has buckets of an eighth of a second, each further level buckets of twice that. Buckets lie on a fixed grid of time: while a
plot scrolls, all but the newest stay what they are. Only buckets with a reading exist.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left

from msgspec import Struct

FINEST_SECONDS = 0.125  # a power of two, so that sums and borders of buckets are exact
LEVELS = 14  # the coarsest has buckets of 1,024 s: 24 hours in 84 columns
COLUMNS_AT_MOST = 2048
SECONDS_AT_MOST = FINEST_SECONDS * (1 << 32)  # 17 years: the numbers of buckets have 32 bits

_SLACK = 8  # an eighth more buckets than needed are kept before the oldest are dropped, so that this is seldom done


class Window(Struct, frozen=True):
    """The last `seconds` of a history, drawn `columns` pixels wide; `until` is where they end, the newest reading unless given.

    `width` is that of the buckets, where a part is wanted of a window that has been drawn already.
    """

    seconds: float
    columns: int
    until: float | None = None
    width: float = 0.0


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
    """The scales of one value; every level drops its oldest buckets beyond a fixed number, `columns`. Each keeps `parts` of its
    greatest value: bytes that only whoever gives them can read. One of `figures` holds them to seven digits, in half the room.
    """

    def __init__(self, columns: int = COLUMNS_AT_MOST, *, figures: bool = False) -> None:
        self._columns = columns
        self._levels = tuple(_Level(FINEST_SECONDS * 2**number, columns, figures=figures) for number in range(LEVELS))
        self._rounded: array[float] = array("f" if figures else "d", (0.0,))

    def add(self, time: float, value: float, parts: bytes = b"", *, after_gap: bool = False) -> None:
        """Takes in a reading later than all before, at 0 or later and before `SECONDS_AT_MOST`; `parts` is how the value is made up
        at that moment.
        """
        self._rounded[0] = value  # else one that is rounded down would be greater than its own bucket for ever
        value = self._rounded[0]
        number = int(time // FINEST_SECONDS)
        for level in self._levels:
            if not level.add(number, value, parts, after_gap=after_gap):
                return  # within what its bucket holds already, so within what every coarser one holds
            number >>= 1

    def revision(self, window: Window) -> int:
        """A number that changes when, and only when, the buckets that a window is drawn from do."""
        return self._level(window, window.until).revision

    def width(self, window: Window) -> float:
        """That of the buckets which a window is drawn from."""
        return self._level(window, window.until).width

    def curve(self, window: Window, until: float) -> Curve:
        """The buckets of a window that ends at `until`, oldest first."""
        level = self._level(window, until)
        first, last = level.span(until - window.seconds, until)
        times = array("d", [number * level.width for number in level.numbers[first:last]])
        breaks = tuple(place for place in range(1, last - first) if level.breaks[first + place])
        return Curve(level.width, times, array("d", level.low[first:last]), array("d", level.high[first:last]), breaks)

    def greatest(self, window: Window, until: float) -> float:
        """The greatest value of these buckets; 0 where there are none."""
        level = self._level(window, until)
        first, last = level.span(until - window.seconds, until)
        return max(level.high[first:last], default=0.0)

    def parts(self, window: Window, until: float) -> list[bytes]:
        """How the greatest value of each of these buckets was made up."""
        level = self._level(window, until)
        first, last = level.span(until - window.seconds, until)
        return level.parts[first:last]

    def _level(self, window: Window, until: float | None) -> _Level:
        """The finest whose buckets are no narrower than a column; of what is long past, the finest that still has it."""
        wanted = window.width or window.seconds / max(1, min(window.columns, self._columns))
        since = math.inf if until is None or window.width else until - window.seconds
        return next((level for level in self._levels if level.width >= wanted and level.has(since)), self._levels[-1])


class _Level:
    """Buckets of one width. Appended to, and cut when some are more than needed, so that every window is one slice."""

    __slots__ = ("_columns", "_dropped", "breaks", "high", "low", "numbers", "parts", "revision", "width")

    def __init__(self, width: float, columns: int, *, figures: bool) -> None:
        self.width, self._columns = width, columns
        self._dropped = -math.inf  # until when
        self.numbers = array("I")
        self.low: array[float] = array("f" if figures else "d")
        self.high: array[float] = array("f" if figures else "d")
        self.breaks = bytearray()
        self.parts: list[bytes] = []  # stays empty while there are none
        self.revision = 0

    def add(self, number: int, value: float, parts: bytes, *, after_gap: bool) -> bool:
        """Whether the reading changed a bucket; the `number` is that of its bucket."""
        if not self.numbers or number > self.numbers[-1]:
            if len(self.numbers) > self._columns + self._columns // _SLACK:
                count = len(self.numbers) - self._columns - 1
                self._dropped = (self.numbers[count - 1] + 1) * self.width
                for kept in (self.numbers, self.low, self.high, self.breaks, self.parts):
                    del kept[:count]
            self.numbers.append(number)
            self.low.append(value)
            self.high.append(value)
            self.breaks.append(after_gap)
            if parts or self.parts:
                self.parts.extend([b""] * (len(self.numbers) - len(self.parts) - 1))
                self.parts.append(parts)
        elif not self._widen(value, parts):
            return False
        self.revision += 1
        return True

    def has(self, since: float) -> bool:
        """Whether nothing was dropped of what came from then on."""
        return since >= self._dropped

    def span(self, since: float, until: float) -> tuple[int, int]:
        """The places of the buckets that touch a stretch of time."""
        first = bisect_left(self.numbers, int(since // self.width))
        return first, bisect_left(self.numbers, int(until // self.width) + 1, first)

    def _widen(self, value: float, parts: bytes) -> bool:
        if value > self.high[-1]:
            self.high[-1] = value
            if parts or self.parts:
                self.parts.extend([b""] * (len(self.numbers) - len(self.parts)))
                self.parts[-1] = parts
            return True
        if value < self.low[-1]:
            self.low[-1] = value
            return True
        return False
