"""Moments on record as they are told: day and minute by the user's own clock, in one form everywhere."""

from __future__ import annotations

from datetime import datetime


def minute(at: str) -> str:
    """`2026-11-22 11:13`; what is no moment is told as it stands there."""
    try:
        found = datetime.fromisoformat(at[:-1] + "+00:00" if at.endswith("Z") else at)
        return found.astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return at
