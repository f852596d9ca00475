"""What the tests of these readers share."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timezone
from zoneinfo import ZoneInfo

from gpuassist.formats.package_logs.entries import LogPiece, Moments, pieces
from gpuassist.model.past import PackageEvent

BERLIN = ZoneInfo("Europe/Berlin")
UTC = Moments(timezone.utc)


def of(log: str | bytes, entry: bytes = b"\n", block: int = 1 << 20) -> Iterable[LogPiece]:
    """The pieces of a log that is read so many bytes at a time."""
    data = log.encode() if isinstance(log, str) else log
    return pieces((data[place : place + block] for place in range(0, len(data), block)), entry=entry)


def short(event: PackageEvent) -> tuple[str, str, str, str]:
    return event.action.value, event.package, event.before, event.after
