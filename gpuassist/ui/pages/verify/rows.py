"""The table of checks as cells: with one device its figures, with several a column for each of them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from gpuassist.model.text import Text, labelled, text
from gpuassist.model.words import Words
from gpuassist.present.marks import Mark
from gpuassist.present.verification import measured, rate_words
from gpuassist.present.verify_table import (
    STANDING_MARKS,
    STANDING_WORDS,
    Column,
    Standing,
    TableRow,
    beside_passed,
    counts,
    in_short,
    standing,
    summary,
    worst,
)
from gpuassist.session.checks import GROUP_TITLES, check_label
from gpuassist.session.verify_progress import CheckLine
from gpuassist.ui.widgets.marks import ERROR, HUNG
from gpuassist.ui.widgets.rows import Cell, Row
from gpuassist.ui.wording import sentence_case

HEADINGS = (text("Check"), text("result"), text("error / allowed"), text("rate"))
# As wide as the columns of figures are made, whatever comes.
COLUMN_SAMPLES = (
    Cell("running 88 s", mark=Mark.ABSENT),
    Cell("8.8e-08 / 8.8e-08", mono=True),
    Cell("0.888 TFLOP/s", mono=True),
)
GLYPHS = {Standing.HUNG: HUNG, Standing.ERROR: ERROR}
_WORTH_TELLING_SECONDS = 2.0
_PAIR = 2
_NOT_ONE_OF_ITS = text("not a check of this device")


class Heading(Struct, frozen=True):
    """What stands above a column: in whole, `GPU 0` alone, or its number; and its tool tip."""

    words: str
    title: str
    number: str
    tip: str = ""


def headings_of(columns: Sequence[Column], words: Words) -> tuple[Heading, ...]:
    """One device: its figures; several: a column for each."""
    if len(columns) == 1:
        only = columns[0]
        tips = ("", words(only.tip), words(_OF_BOUND), "")
        return tuple(_heading(sentence_case(words(one)), tip=tip) for one, tip in zip(HEADINGS, tips, strict=True))
    mixed = len({one.name for one in columns}) > 1
    named = (_heading(words(one.title), one.name if mixed else "", words(one.tip)) for one in columns)
    return (_heading(words(HEADINGS[0])), *named)


def _heading(title: str, name: str = "", tip: str = "") -> Heading:
    return Heading("\n".join(filter(None, (title, name))), title, title.rpartition(" ")[2].rpartition(":")[2], tip)


def cells_of(rows: Sequence[TableRow], columns: Sequence[Column], words: Words, at: float) -> tuple[Row, ...]:
    """The rows of the table at this time of the clock that the progress was followed by."""
    made = _with_figures if len(columns) == 1 else _with_devices
    return tuple(made(row, columns, words, at) for row in rows)


def reason_of(line: CheckLine, words: Words) -> str:
    """Why it did not pass, in a line; empty where it did, or is not done."""
    return words(line.check.error) if line.check is not None and line.check.error is not None else ""


def state_words(line: CheckLine, words: Words, at: float) -> str:
    """`passed`, `running 3 s`."""
    state = standing(line)
    if state is Standing.RUNNING and at - line.since >= _WORTH_TELLING_SECONDS:
        return words(text("running {seconds} s", seconds=f"{at - line.since:.0f}"))
    return words(STANDING_WORDS[state])


def _with_figures(row: TableRow, columns: Sequence[Column], words: Words, at: float) -> Row:
    (lines,) = row.lines
    if row.planned is None:
        others = words(beside_passed(lines))
        return (_group_cell(row, words), _group_state(lines, columns[0], words), Cell("", after=others, tip=others), Cell(""))
    (line,) = lines
    why, check = reason_of(line, words), line.check
    distance = measured(check) if check is not None else None
    figures = Cell(words(distance), mono=True, quiet=True) if distance is not None else Cell("", after=why, tip=why)
    rate = Cell(rate_words(check) if check is not None else "", mono=True)
    return (_check_cell(row, columns, words), _state(line, columns[0], words, at), figures, rate)


def _with_devices(row: TableRow, columns: Sequence[Column], words: Words, at: float) -> Row:
    if row.planned is None:
        states = (_group_state(lines, one, words) for lines, one in zip(row.lines, columns, strict=True))
        return (_group_cell(row, words), *states)
    cells = (
        _state(lines[0], one, words, at) if lines else Cell("", tip=words(_NOT_ONE_OF_ITS))
        for lines, one in zip(row.lines, columns, strict=True)
    )
    return (_check_cell(row, columns, words), *cells)


def _check_cell(row: TableRow, columns: Sequence[Column], words: Words) -> Cell:
    """Its name and format; of what some of the devices did together, who."""
    assert row.planned is not None
    name, who = sentence_case(words(check_label(row.planned))), together(row, columns, words)
    after = who if who and len(row.members) < len(columns) else row.planned.dtype
    return Cell(name, after=after, tip=" · ".join(filter(None, (f"{name} {row.planned.dtype}", who))))


def together(row: TableRow, columns: Sequence[Column], words: Words) -> str:
    """`GPU 0, GPU 1` where these did it together; of more than a pair, how many."""
    if len(row.members) > _PAIR:
        return words(text("{count} GPUs", count=len(row.members)))
    return ", ".join(words(one.title) for one in columns if one.device in row.members)


def _group_cell(row: TableRow, words: Words) -> Cell:
    checks = max(map(len, row.lines), default=0)
    return Cell(words(GROUP_TITLES[row.group]), after=f"{checks}", tip=words(_FOLD if row.open else _OPEN))


def _group_state(lines: tuple[CheckLine, ...], column: Column, words: Words) -> Cell:
    state = worst(lines)
    if state is None:
        return Cell("", tip=words(_NOT_ONE_OF_ITS))
    tip = words(labelled(column.title, counts(lines)))
    return Cell(words(summary(lines)), in_short(lines), STANDING_MARKS[state], glyph=GLYPHS.get(state, ""), tip=tip)


def _state(line: CheckLine, column: Column, words: Words, at: float) -> Cell:
    state, said = standing(line), state_words(line, words, at)
    tip = ": ".join(filter(None, (words(column.title), said, reason_of(line, words))))
    return Cell(said, mark=STANDING_MARKS[state], glyph=GLYPHS.get(state, ""), tip=tip)


_OF_BOUND = text("The largest error of any element in any repetition, and the error that is allowed")
_FOLD: Text = text("Fold this group (Left)")
_OPEN: Text = text("Open this group (Right)")
