"""The layouts that `nsys stats` has for a table: columns, boxes, values with commas or tabs between, JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex

MOST_ROWS = 5000

_HEAD = lazy_regex(r"^(?:\| *)?\"?Time ?\(%\)\"?(?:,| {0,40}\||\s{1,40}) {0,40}\"?Total Time\b")
_LIST = lazy_regex(r"\[\s*(?:\{|$)")  # the lines that nsys prints as it works begin with a bracket, too: `[1/8] [====100%] …`
_SPACES = lazy_regex(r"\s{2,}")
_ROW = lazy_regex(r"^\s*(?P<share>\d{1,3}(?:\.\d)?)\s{1,40}(?P<total>\d[\d,.]{0,25})\s{1,40}(?P<calls>\d[\d,]{0,20})\s(?P<rest>.*)")
_FIGURE = lazy_regex(r"\s*(?:[\d,]+(?:\.\d+)?|N/A|nan|inf)(?=\s)")
_WORDS_BEFORE = ("Category", "Style", "Source")
_LONGEST_HEAD = 600
_LONGEST_ROW = 8000


class StatisticsTable(Struct, frozen=True):
    """Columns by their titles, and the cells of each row that is whole."""

    titles: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(lines: Sequence[str]) -> Iterator[StatisticsTable]:
    """Those with a share and a total time; what is by size is no time, and has another head."""
    place = 0
    while place < len(lines):
        line, last = lines[place], place
        made: StatisticsTable | None = None
        if _LIST.match(line):
            last = _end_of_list(lines, place)
            made = _of_json("\n".join(lines[place : last + 1]))
        elif _HEAD.match(line[:_LONGEST_HEAD].lstrip()):
            below = (lines[one] for one in range(place + 1, min(len(lines), place + 2 + MOST_ROWS)))
            made = _under(line[:_LONGEST_HEAD].strip(), below)
            last += len(made.rows)
        if made is not None and made.rows:
            yield made
        place = last + 1


def _under(head: str, below: Iterable[str]) -> StatisticsTable:
    if head.startswith("|"):
        titles = tuple(one.strip() for one in head.strip("|").split("|"))
        return StatisticsTable(titles, tuple(_boxed(below, len(titles))))
    delimiter = "\t" if "\t" in head else ","
    if delimiter in head:
        titles = tuple(_values(head, delimiter))
        return StatisticsTable(titles, tuple(_separated(below, delimiter, len(titles))))
    titles = tuple(_SPACES.split(head))
    before = _words_before(titles)
    return StatisticsTable((*titles[:3], *titles[-1 - before :]), tuple(_columns(below, before)))


def _words_before(titles: tuple[str, ...]) -> int:
    """How many columns of words stand before the name."""
    return sum(one in _WORDS_BEFORE for one in titles)


def _boxed(lines: Iterable[str], count: int) -> Iterator[tuple[str, ...]]:
    for line in lines:
        plain = line[:_LONGEST_ROW].strip()
        if plain.startswith("|"):
            cells = plain[1:].removesuffix("|").split("|", count - 1)
            if cells[0].strip().startswith("Time"):  # the head of another
                return
            if len(cells) == count:
                yield tuple(one.strip() for one in cells)
        elif plain.strip("+- "):
            return


def _separated(lines: Iterable[str], delimiter: str, count: int) -> Iterator[tuple[str, ...]]:
    for line in lines:
        cells = _values(line[:_LONGEST_ROW].strip("\r\n"), delimiter)
        if not cells or len(cells) != count or cells[0].startswith("Time"):
            return
        yield tuple(cells)


def _values(line: str, delimiter: str) -> list[str]:
    try:
        return [one.strip() for one in next(csv.reader([line], delimiter=delimiter), [])]
    except csv.Error:
        return []


def _columns(lines: Iterable[str], words_before: int) -> Iterator[tuple[str, ...]]:
    """Share, total, calls and the words; averages and deviations, of which each release has others, are passed over."""
    for line in lines:
        plain = line.strip()
        if not plain.strip("- "):
            if not plain:
                return
            continue
        found = _ROW.match(line[:_LONGEST_ROW])
        if found is None:
            return
        place = 0
        while (figure := _FIGURE.match(found["rest"], place)) is not None:
            place = figure.end()
        words = found["rest"][place:].strip().split(None, words_before)
        if len(words) > words_before:
            yield (found["share"], found["total"], found["calls"], *words[:words_before], words[-1])
        elif words_before == 0:
            yield (found["share"], found["total"], found["calls"], "")


def _end_of_list(lines: Sequence[str], place: int) -> int:
    """The line that ends what begins here: the first that begins with the bracket, or this one."""
    if lines[place].rstrip().endswith("]"):
        return place
    return next((one for one in range(place + 1, len(lines)) if lines[one].startswith("]")), len(lines) - 1)


def _of_json(whole: str) -> StatisticsTable | None:
    if '"Total Time' not in whole:
        return None
    try:
        rows = json.loads(whole)
    except (ValueError, RecursionError):
        return None
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict):
        return None
    titles = tuple(rows[0])
    wanted = (one for one in rows[:MOST_ROWS] if isinstance(one, dict))
    return StatisticsTable(titles, tuple(tuple(_cell(one.get(title)) for title in titles) for one in wanted))


def _cell(value: object) -> str:
    return str(value) if isinstance(value, (str, int, float)) else ""
