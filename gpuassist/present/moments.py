"""Moments on record as they are told: day and minute by the user's own clock, in one form everywhere."""

from __future__ import annotations

from datetime import datetime, timezone


def minute(at: str) -> str:
    """`2026-11-22 11:13`; what is no moment is told as it stands there."""
    return _told(at, "%Y-%m-%d %H:%M")


def minute_abroad(at: str) -> str:
    """The same with how far that clock is from UTC, for who reads it elsewhere: `2026-11-22 11:13 +0100`."""
    return _told(at, "%Y-%m-%d %H:%M %z")


def minute_utc(at: str) -> str:
    """The same by UTC, which tells nobody where its user lives."""
    return _told(at, "%Y-%m-%d %H:%M", timezone.utc)


def _told(at: str, form: str, zone: timezone | None = None) -> str:
    try:
        found = datetime.fromisoformat(at[:-1] + "+00:00" if at.endswith("Z") else at)
        return found.astimezone(zone).strftime(form)
    except (ValueError, OverflowError, OSError):
        return at
