"""The moment that somebody means who says since when: `2026-11-14`, `yesterday`, `3 days ago`, `14 November`."""

from __future__ import annotations

from datetime import datetime, time, timedelta

from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import Text, text

_LONGEST = 60
_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december")
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1), "week": timedelta(days=7)}
_UNITS |= {"month": timedelta(days=30), "year": timedelta(days=365)}
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_AGO = lazy_regex(r"(\d{1,5}|[a-z]+) (minute|hour|day|week|month|year)s? ago")
_DAY_MONTH = lazy_regex(r"(\d{1,2})(?:st|nd|rd|th|\.)? ([a-z]{3,9})\.?,?(?: (\d{4}))?")
_MONTH_DAY = lazy_regex(r"([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}))?")


class SinceError(Exception):
    """No moment of the past is meant; `reason` says why, with what can be said."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


def since_when(words: str, now: datetime) -> datetime:
    """The moment, in the zone of `now`; a day means its beginning, so that all that happened on it counts. Raises `SinceError`."""
    said = " ".join(words.lower().replace("_", " ").split())[:_LONGEST]
    try:
        found = None if not said.isascii() else _iso(said, now) or _named(said, now) or _ago(said, now) or _date(said, now)
    except (ValueError, OverflowError):
        found = None
    if found is None:
        raise SinceError(
            text(
                "{words} is no date that is known here: 2026-11-14, 2026-11-14T18:00, 14 November, yesterday, 3 days ago",
                words=words[:_LONGEST] or "''",
            )
        )
    if found > now:
        raise SinceError(text("{words} is still to come: what changed since then nobody can know", words=words[:_LONGEST]))
    return found


def _iso(said: str, now: datetime) -> datetime | None:
    if not said[:4].isdigit():
        return None
    ending = said.endswith("z")
    found = datetime.fromisoformat(said[:-1] + "+00:00" if ending else said)
    return found if found.tzinfo is not None else found.replace(tzinfo=now.tzinfo)


def _named(said: str, now: datetime) -> datetime | None:
    today = datetime.combine(now.date(), time(), now.tzinfo)
    if said in {"today", "this morning", "tonight", "last night"}:
        return today - timedelta(days=said == "last night")
    if said == "yesterday":
        return today - timedelta(days=1)
    if said in {"last week", "last month", "last year"}:
        return today - _UNITS[said.partition(" ")[2]]
    day = said.removeprefix("last ").removeprefix("on ")
    number = next((place for place, name in enumerate(_DAYS) if day in {name, name[:3]}), -1)
    return today - timedelta(days=(today.weekday() - number) % 7 or 7) if number >= 0 else None


def _ago(said: str, now: datetime) -> datetime | None:
    found = _AGO.fullmatch(said)
    if found is None:
        return None
    count = int(found[1]) if found[1].isdigit() else _NUMBERS.get(found[1], 0)
    if not count and found[1] != "0":
        return None
    return now - count * _UNITS[found[2]]


def _date(said: str, now: datetime) -> datetime | None:
    """A day of a month; without a year the last one that there was."""
    if found := _DAY_MONTH.fullmatch(said):
        day, name, year = found[1], found[2], found[3]
    elif found := _MONTH_DAY.fullmatch(said):
        name, day, year = found[1], found[2], found[3]
    else:
        return None
    month = next((number for number, one in enumerate(_MONTHS, 1) if name in {one, one[:3], one[:4]}), 0)
    if not month:
        return None
    meant = datetime(int(year or now.year), month, int(day), tzinfo=now.tzinfo)
    return meant if year or meant <= now else meant.replace(year=meant.year - 1)
