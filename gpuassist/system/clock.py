"""The time, behind a port so that tests choose it."""

from __future__ import annotations

import time
from datetime import datetime, timezone


class Clock:
    """The real clock."""

    def now(self) -> datetime:
        return datetime.now(timezone.utc).astimezone()

    def epoch(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        """Seconds of a clock that never jumps."""
        return time.monotonic()

    def since_boot(self) -> float:
        """Seconds since the machine was started, the time that it slept included (`monotonic` stands still meanwhile)."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)


class LongerClock(Clock):
    """Another clock, whose machine was started so many seconds earlier: an axis on which yesterday has its place, too."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock, self._seconds = clock, seconds

    def now(self) -> datetime:
        return self._clock.now()

    def epoch(self) -> float:
        return self._clock.epoch()

    def monotonic(self) -> float:
        return self._clock.monotonic()

    def since_boot(self) -> float:
        return self._clock.since_boot() + self._seconds


def iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds")


def iso_of(epoch: float) -> str:
    """ISO 8601 of seconds since 1970, with the local zone."""
    return iso(datetime.fromtimestamp(epoch, timezone.utc).astimezone())
