"""What the memory of a program does over time: grows with every step, by pieces, by one jump, or nothing of the kind.

Most programs grow at times and mean no harm: while they load, at their first steps, in evaluations, until the longest batch has
come. So a shape is named only where it went on for a while, where it is new (higher than ever before), and where it does not slow
down; a reader who is warned for nothing stops reading.

Fed one reading at a time, it keeps the last twenty minutes by the second and everything before in coarser bins, with the least
and the most of each, so that neither its memory nor its work grows with the time watched.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from enum import Enum
from itertools import pairwise

from msgspec import Struct

from gpuassist.formats.allocator import WORKSPACES

_MIB = 1 << 20
_RECENT_BINS = 1200
_COARSE_BINS = 480
_WINDOWS_SECONDS = (90.0, 120.0, 180.0, 300.0, 600.0, 1200.0)
_PARTS = 12  # of a window: as many levels are compared
_SLOPES_AGREE = 0.6  # a half of the window against the other: what slows down ends by itself
_LEAST_GROWTH = 48 * _MIB
_LOADS_SECONDS = 240.0  # a model is loaded for minutes, in a straight line from nothing
_LOADS_BYTES_PER_SECOND = 32 * _MIB  # what a slow disk gives
_EARLY_SECONDS = 180.0  # what lasts less than that is told of only where the card would soon be full
_SOON_SECONDS = 600.0
_STAIRS_SECONDS = 120.0
_JUMP_SECONDS = 300.0  # for which a jump is news
_PASSES_SECONDS = 8.0  # a step with a long sequence; what lasts longer is a phase
_STAYS_SECONDS = 120.0  # an evaluation is mostly over by then
_STEP_SECONDS = 20.0  # of a larger input, each step reaches higher; between two evaluations none does
_HORIZON = 15.0  # times as long as it was seen: nobody knows more of the future
_DAY = 86_400.0


class Shape(str, Enum):
    """What a curve of memory looks like; `GROWTH` where torch's own figures are missing, which would tell the first two apart."""

    NONE = "none"
    REFERENCES_KEPT = "references-kept"
    FRAGMENTATION = "fragmentation"
    JUMP = "jump"
    GROWTH = "growth"


class Growth(Struct, frozen=True):
    """A shape, since when (for a jump, when), how much it has added, and how fast.

    `seconds_until_full` is None where the rate is too uneven, or was seen for too short a time, to say.
    """

    shape: Shape
    since: float = 0.0
    grown_bytes: float = 0.0
    bytes_per_second: float = 0.0
    seconds_until_full: float | None = None


NOTHING = Growth(Shape.NONE)


class _Bin(Struct):
    """A stretch of time: least and most allocated (of used memory where torch is silent), most reserved, torch's own peak."""

    start: float
    low: float
    high: float
    reserved: float
    peak: float

    def take(self, other: _Bin) -> None:
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.reserved, self.peak = max(self.reserved, other.reserved), max(self.peak, other.peak)


class GrowthWatch:
    """The memory of one program on one GPU. `inside`: torch itself tells its figures; else only what is used is known."""

    def __init__(self, *, inside: bool) -> None:
        self._inside = inside
        self._recent: deque[_Bin] = deque(maxlen=_RECENT_BINS)
        self._coarse: list[_Bin] = []
        self._width = 1.0
        self._last: float | None = None
        self.workspace_bytes = 0.0

    def add(self, time: float, reserved: float, allocated: float = 0.0, peak: float = 0.0) -> None:
        """A reading; from outside `reserved` is what is used, and there is nothing else."""
        if self._inside:
            # Taken once for each stream and kept on purpose (formats/allocator.py): no growth of the program's own.
            rise = allocated - self._last if self._last is not None else 0.0
            self._last = allocated
            if rise in WORKSPACES:
                self.workspace_bytes += rise
            allocated -= self.workspace_bytes
        else:
            allocated = peak = reserved
        new = _Bin(time, allocated, allocated, reserved, peak)
        _put(self._recent, new, 1.0)
        _put(self._coarse, new, self._width)
        if len(self._coarse) > _COARSE_BINS:
            self._coarse = _halved(self._coarse)
            self._width *= 2

    def judge(self, free: float) -> Growth:
        """What it does now; `free` is what the card still has."""
        if not self._recent:
            return NOTHING
        recent = list(self._recent)
        now = recent[-1].start
        jump = self._jump(recent)
        if jump is not None:
            return jump
        spans = [seconds for seconds in _WINDOWS_SECONDS if now - recent[0].start >= seconds * 0.98]
        windows = [(recent, seconds) for seconds in spans]
        if now - self._coarse[0].start > _WINDOWS_SECONDS[-1]:
            whole = now - self._coarse[0].start
            windows += [(self._coarse, part * whole) for part in (0.25, 0.5, 0.95)]
        for bins, seconds in windows:
            window = _Stretch(bins, now - seconds, now, self._before(now - seconds), inside=self._inside)
            found = window.growth(free)
            if found is not None:
                return found
        return NOTHING

    def _before(self, moment: float) -> list[_Bin]:
        return [one for one in self._coarse if one.start + self._width <= moment]

    def _jump(self, bins: list[_Bin]) -> Growth | None:
        """One step up that nothing before was like, which passed at once or stayed: an evaluation does neither."""
        now = bins[-1].start
        first = next(place for place, one in enumerate(bins) if one.start >= now - _JUMP_SECONDS)
        places = range(max(2, first), len(bins))
        if not places:
            return None
        at = max(places, key=lambda place: bins[place].reserved - bins[place - 2].reserved)
        while at > 2 and bins[at - 1].reserved > bins[at - 2].reserved:  # it began a reading earlier
            at -= 1
        when, rise = bins[at].start, max(one.reserved for one in bins[at : at + 2]) - bins[at - 1].reserved
        before = [one for one in bins[:at] if one.start >= when - (60.0 if self._inside else _JUMP_SECONDS)]
        level = bins[at - 1].reserved
        if rise < max(256 * _MIB, 0.1 * level) or before[0].start > when - (55.0 if self._inside else 0.9 * _JUMP_SECONDS):
            return None
        crest, floor = max(one.high for one in before), min(one.low for one in before)
        if (
            level - before[0].reserved > 0.25 * rise
            or bins[-1].reserved - max(one.reserved for one in bins[at : at + 3]) > 0.5 * rise
        ):
            return None  # it was growing before, or grew on
        if self._inside:
            if crest - floor < 0.02 * level:
                return None  # nothing was computed before: the first step
            if bins[min(at + 2, len(bins) - 1)].peak - bins[at - 1].peak < 0.5 * rise:
                return None
            beyond = [one.start for one in bins[at:] if one.high > crest + 0.3 * rise]
            lasts = max(beyond, default=when) - when
            quiet = now - max(beyond, default=when)
            if any(later - sooner > _STEP_SECONDS for sooner, later in pairwise([when, *beyond])):
                return None  # it comes and goes
            passed = lasts <= _PASSES_SECONDS <= quiet
            stays = lasts >= _STAYS_SECONDS and quiet < _STEP_SECONDS
            if not passed and not stays:
                return None
        return Growth(Shape.JUMP, when, rise)


class _Stretch:
    """The last part of a curve, as twelve levels one after the other."""

    def __init__(self, bins: Sequence[_Bin], start: float, end: float, before: list[_Bin], *, inside: bool) -> None:
        self._start, self._seconds, self._inside, self._before = start, end - start, inside, before
        self._bins = [one for one in bins if one.start >= start]
        parts: list[list[_Bin]] = [[] for _ in range(_PARTS)]
        for one in self._bins:
            parts[min(_PARTS - 1, int((one.start - start) / self._seconds * _PARTS))].append(one)
        self._whole = all(parts)
        self._parts = parts

    def growth(self, free: float) -> Growth | None:
        if not self._whole:
            return None
        if self._inside:
            return self._kept(free) or self._pieces(free)
        return self._from_outside(free)

    def _kept(self, free: float) -> Growth | None:
        """What is allocated is higher with every step: neither the least nor the most of it comes down again."""
        floors = [_quantile([one.low for one in part], 0.15) for part in self._parts]
        crests = [_quantile([one.high for one in part], 0.9) for part in self._parts]
        earlier = [
            max((value for value in ones), default=0.0) for ones in ([b.low for b in self._before], [b.high for b in self._before])
        ]
        for guide, other, high in ((floors, crests, earlier[0]), (crests, floors, earlier[1])):
            slope = _slope(guide)
            if self._climbs(guide, high) and _slope(other) >= 0.4 * slope:
                # What torch has cached counts for nothing: it lies in gaps, and some of that stays to the end.
                return self._told(Shape.REFERENCES_KEPT, guide, free)
        return None

    def _climbs(self, levels: list[float], earlier: float) -> bool:
        grown = levels[-1] - levels[0]
        step = grown / (_PARTS - 1)
        rises = [later - sooner for sooner, later in pairwise(levels)]
        if grown < _LEAST_GROWTH or max(rises) > 0.4 * grown or min(rises) < -0.4 * grown:
            return False  # by one step, or given back in between: what is collected until an epoch ends
        if sum(rises[-(_PARTS // 4) :]) < 0.12 * grown:
            return False  # it has ended: a buffer that is full
        if sum(rise > 0.1 * step for rise in rises) < _PARTS - 3 or sum(rise < -0.25 * step for rise in rises) > 1:
            return False
        if self._loads(levels):
            return False
        if earlier > levels[-1] - 0.5 * grown and self._before:
            return False
        return _agree(levels)

    def _loads(self, levels: list[float]) -> bool:
        """Whether it goes straight up from nothing, for no longer than a model takes to load."""
        rate = _slope(levels) / self._seconds * _PARTS
        begun = self._before[0].start if self._before else self._start
        at_first = levels[0] - rate * (self._start - begun)
        return (
            rate >= _LOADS_BYTES_PER_SECOND
            and at_first < 0.25 * levels[-1]
            and self._start + self._seconds - begun < _LOADS_SECONDS
        )

    def _pieces(self, free: float) -> Growth | None:
        """What is reserved climbs by stairs, and what is needed does not."""
        reserved = self._stairs()
        if reserved is None:
            return None
        rise = reserved[-1] - reserved[0]
        needed = self._bins[-1].peak - self._bins[0].peak
        crests = [_quantile([one.high for one in part], 0.9) for part in self._parts]
        if needed > 0.3 * rise or crests[-1] - crests[0] > 0.3 * rise:
            return None
        return self._told(Shape.FRAGMENTATION, reserved, free)

    def _stairs(self) -> list[float] | None:
        """The most of each part, where it goes up again and again and never down."""
        levels = [max(one.reserved for one in part) for part in self._parts]
        rises = [later - sooner for sooner, later in pairwise(levels)]
        grown = levels[-1] - levels[0]
        if self._seconds < _STAIRS_SECONDS or grown < max(_LEAST_GROWTH, 0.01 * levels[-1]) or min(rises) < -0.05 * grown:
            return None
        if self._loads(levels):
            return None
        third = (_PARTS - 1) // 3
        if sum(rise > 0 for rise in rises) < 4 or max(rises) > 0.5 * grown or sum(rises[-third:]) < 0.15 * grown:
            return None
        if max((one.reserved for one in self._before), default=0.0) > levels[-1] - 0.5 * grown:
            return None
        return levels if _agree(levels) else None

    def _from_outside(self, free: float) -> Growth | None:
        levels = self._stairs()
        return self._told(Shape.GROWTH, levels, free) if levels is not None else None

    def _told(self, shape: Shape, levels: list[float], free: float) -> Growth | None:
        part = self._seconds / _PARTS
        rate = _slope(levels) / part
        left: float | None = max(0.0, free) / rate if rate > 0 else None
        if self._seconds < _EARLY_SECONDS and (left is None or left > _SOON_SECONDS):
            return None
        # Each third by itself has to say about the same: else there is no rate.
        third = _PARTS // 3
        rates = [(levels[place + third - 1] - levels[place]) / (third - 1) / part for place in range(0, _PARTS, third)]
        if left is not None and (min(rates) < rate / 2 or max(rates) > rate * 2 or left > min(_DAY, _HORIZON * self._seconds)):
            left = None
        return Growth(shape, self._start, levels[-1] - levels[0], rate, left)


def _put(bins: deque[_Bin] | list[_Bin], new: _Bin, width: float) -> None:
    start = new.start // width * width
    if bins and bins[-1].start >= start:
        bins[-1].take(new)
    else:
        bins.append(_Bin(start, new.low, new.high, new.reserved, new.peak))


def _halved(bins: list[_Bin]) -> list[_Bin]:
    for one, other in zip(bins[::2], bins[1::2], strict=False):
        one.take(other)
    return bins[::2]


def _quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _slope(levels: list[float]) -> float:
    """For each part, by Theil and Sen: one level that is off changes nothing."""
    return _quantile(
        [(later - sooner) / (b - a) for a, sooner in enumerate(levels) for b, later in enumerate(levels) if b > a], 0.5
    )


def _agree(levels: list[float]) -> bool:
    half = _PARTS // 2
    first, second = _slope(levels[: half + 1]), _slope(levels[half - 1 :])
    return second >= _SLOPES_AGREE * first and first >= _SLOPES_AGREE * second
