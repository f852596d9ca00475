"""Moments as logs and kept machines write them, as values that compare."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone, tzinfo

# What a log writes while a machine is looked at is of that look; and clocks of two hosts of one home are a little apart.
SLACK = timedelta(minutes=5)
_OLDEST = datetime(1970, 1, 1, tzinfo=timezone.utc)


def moment(words: str, zone: tzinfo = timezone.utc) -> datetime | None:
    """Of ISO 8601; one without an offset is of `zone`. None where it is none, or of no year that a machine has."""
    try:
        found = datetime.fromisoformat(words[:-1] + "+00:00" if words.endswith("Z") else words)
        found = found if found.tzinfo is not None else found.replace(tzinfo=zone)
        # Near the first and the last year there is a zone in which it is none any more.
        return found if _OLDEST < found < _OLDEST.replace(year=9000) else None
    except (ValueError, OverflowError):
        return None


def zone_of(words: str) -> tzinfo:
    """The zone that a moment is written in; UTC where it names none."""
    found = moment(words)
    return (found.tzinfo if found is not None else None) or timezone.utc
