"""Which stretch of the history is shown: it follows the newest reading, or stands where the user went. Without Qt.

While it follows, a history that is shorter than what was asked for is stretched over the plot, in steps, so that between two of
them the picture only moves.
"""

from __future__ import annotations

LEAST_SECONDS, MOST_SECONDS = 10.0, 24 * 3600.0
# fmt: off
_STRETCHES = (10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 450, 600, 900, 1200, 1800, 2700, 3600, 5400, 7200, 10800, 14400, 21600,
              28800, 43200, 64800)
# fmt: on
_AT_THE_EDGE = 0.01  # of the window: so near to now it follows again


class TimeView:
    """`seconds` as asked for; `since` and `newest` are the history's ends, told before anything is asked."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.since = self.newest = 0.0
        self._until: float | None = None

    @property
    def follows(self) -> bool:
        return self._until is None

    @property
    def until(self) -> float:
        """The right edge."""
        return self.newest if self._until is None else self._until

    @property
    def span(self) -> float:
        """The seconds from edge to edge."""
        return self.seconds if self._until is not None else min(self.seconds, stretched(self.newest - self.since))

    @property
    def shows_all(self) -> bool:
        """Whether the whole history is in sight."""
        return self.follows and self.span >= stretched(self.newest - self.since)

    def extend(self, since: float, newest: float) -> None:
        """The history goes from here to there now; what it no longer has cannot be shown."""
        self.since, self.newest = since, newest
        if self._until is not None:
            self._until = min(newest, max(self._until, since))

    def show(self, seconds: float) -> None:
        """So much time, with the right edge where it is."""
        self.seconds = min(MOST_SECONDS, max(LEAST_SECONDS, seconds))

    def zoom(self, factor: float, at: float | None = None) -> None:
        """So many times as much time; the moment `at` stays where it is, else the right edge."""
        span = self.span
        # Out from all there is goes on from what was asked for, so that all of it is shown still when there is more.
        seconds = min(MOST_SECONDS, max(LEAST_SECONDS, (span if factor < 1 else max(span, self.seconds)) * factor))
        if at is None:
            self.seconds = seconds
        elif seconds != span:
            until = at + (self.until - at) * seconds / span
            self.seconds = seconds
            self._stand(until)

    def pan(self, seconds: float) -> None:
        """Forward, or back where that is negative."""
        span = self.span
        self.seconds = span  # what is stretched stays as it looks
        self._stand(self.until + seconds)

    def stand(self, until: float | None = None) -> None:
        """Stays where it is, or at this moment."""
        self.seconds, self._until = self.span, self.until if until is None else min(until, self.newest)

    def follow(self) -> None:
        self._until = None

    def go_back(self) -> None:
        """To where the history begins."""
        self.seconds = self.span
        self._stand(self.since + self.seconds)

    def _stand(self, until: float) -> None:
        # Half a window may be empty at the beginning, nothing at the end.
        until = max(until, self.since + self.seconds / 2)
        self._until = None if until >= self.newest - self.seconds * _AT_THE_EDGE else until


def stretched(seconds: float) -> float:
    """The step that so much history is shown in; at least two thirds of it are filled."""
    return next((step for step in _STRETCHES if step >= seconds), MOST_SECONDS)
