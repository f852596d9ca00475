"""The lower part of the live table: the processes, in as many columns as there is room for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpuassist.cli.live_lettering import Lettering, Line
from gpuassist.cli.live_view import LiveView, TableScene
from gpuassist.cli.paragraphs import columns
from gpuassist.cli.streams import BOLD, DIM, REVERSE
from gpuassist.model.fact import Unknown
from gpuassist.model.sample import Sample
from gpuassist.model.text import Text, text
from gpuassist.present.process_means import SPAN_TITLES, Column, SpanColumn, span_cell
from gpuassist.present.process_table import (
    COLUMN_TITLES,
    GROUPING_WORDS,
    UNTOLD,
    Grouping,
    LiveRow,
    ProcessColumn,
    cell,
    is_told,
    why_no_processes,
)

Said = dict[tuple[tuple[str | int, ...], Column], str]
"""What rows say in columns, by the row's key."""

# In which order what has room is chosen: of processes, and of groups, whose sums and means are what they are there for.
_RANK: tuple[Column, ...] = (
    *(ProcessColumn.NAME, ProcessColumn.GPU, ProcessColumn.MEMORY, ProcessColumn.PID, ProcessColumn.GPU_PERCENT),
    *(ProcessColumn.USER, ProcessColumn.TORCH, ProcessColumn.SINCE),
    *(ProcessColumn.CPU_PERCENT, ProcessColumn.CONTAINER, ProcessColumn.RESIDENT),
    *(SpanColumn.MEAN, SpanColumn.GPU_MEAN, SpanColumn.PEAK, ProcessColumn.COMMAND),
)
_GROUP_RANK: tuple[Column, ...] = (
    *(ProcessColumn.NAME, ProcessColumn.MEMORY, SpanColumn.MEAN, ProcessColumn.GPU_PERCENT, SpanColumn.GPU_MEAN),
    *(ProcessColumn.PID, ProcessColumn.GPU, ProcessColumn.TORCH),
    *(ProcessColumn.CPU_PERCENT, ProcessColumn.RESIDENT, ProcessColumn.USER, ProcessColumn.CONTAINER, ProcessColumn.SINCE),
)
# What a name that can be read is worth more than.
_EXTRA = {
    *(ProcessColumn.CPU_PERCENT, ProcessColumn.CONTAINER, ProcessColumn.RESIDENT, ProcessColumn.COMMAND),
    *(SpanColumn.MEAN, SpanColumn.GPU_MEAN, SpanColumn.PEAK),
}
_ORDER: tuple[Column, ...] = (
    *(ProcessColumn.NAME, ProcessColumn.GPU, ProcessColumn.PID, ProcessColumn.USER),
    *(ProcessColumn.MEMORY, SpanColumn.PEAK, SpanColumn.MEAN, ProcessColumn.TORCH),
    *(ProcessColumn.GPU_PERCENT, SpanColumn.GPU_MEAN, ProcessColumn.CPU_PERCENT, ProcessColumn.RESIDENT),
    *(ProcessColumn.SINCE, ProcessColumn.CONTAINER, ProcessColumn.COMMAND),
)
_ALWAYS = {ProcessColumn.NAME, ProcessColumn.GPU, ProcessColumn.MEMORY, ProcessColumn.PID}
_TO_THE_LEFT = {ProcessColumn.NAME, ProcessColumn.GPU, ProcessColumn.USER, ProcessColumn.CONTAINER, ProcessColumn.COMMAND}
_SAID_BY_GROUP = {Grouping.USER: ProcessColumn.USER, Grouping.CONTAINER: ProcessColumn.CONTAINER}
_AT_MOST = {ProcessColumn.USER: 12, ProcessColumn.CONTAINER: 20, ProcessColumn.GPU: 8}
_TITLE_AT_LEAST, _NAME_COLUMN_AT_MOST, _COMMAND_AT_LEAST = 10, 28, 24
_FIRST = 3  # columns come before the one that rows are sorted by
_LOOKED_AT = 64  # rows by which columns are measured, where fewer are shown


class ProcessLines:
    """Lays out for one terminal."""

    def __init__(self, letters: Lettering) -> None:
        self._letters = letters

    def lines(self, scene: TableScene, width: int, height: int) -> list[Line]:
        """The heading and as many rows as there is room for, the chosen one among them."""
        view, rows = scene.view, scene.view.rows()
        sample = view.sample
        why = [] if sample is None else why_no_processes(sample, view.gpu)
        notes = [[(0, self._letters.fitted(words, width), DIM)] for words in why]
        if not rows:
            if not view.filter and (notes or _are_hidden(sample, view.gpu)):
                return notes
            nothing = (
                text("No process has these words: {words}", words=view.filter) if view.filter else text("No process is on the GPUs")
            )
            return [*notes, [(0, self._letters.fitted(nothing, width), DIM)]]
        view.listed = 0
        if height < 2:
            return []
        room = max(1, height - 1 - len(notes))
        view.page = room
        place = view.place()
        view.offset = max(0, min(view.offset, len(rows) - room, place) if view.chosen else 0)
        if place >= view.offset + room:
            view.offset = place - room + 1
        shown = rows[view.offset : view.offset + room]
        view.listed = len(shown)
        # Most rows are measured and drawn: what they say is said once.
        said: Said = {}
        chosen = self._columns(rows[: max(room, _LOOKED_AT)], width, scene, said)
        lines = [self._heading(chosen, view, width)]
        for row in shown:
            style = REVERSE if row.key == view.chosen else ""
            cells = [(column, wide, said.get((row.key, column)) or self._said(row, column, scene)) for column, wide in chosen]
            lines.append(self._row(cells, width, style=style))
        return [*lines, *notes]

    def _said(self, row: LiveRow, column: Column, scene: TableScene) -> str:
        return self._letters.say(_cell(row, column, scene))

    def _columns(self, rows: Sequence[LiveRow], width: int, scene: TableScene, said: Said) -> list[tuple[Column, int]]:
        grouping = scene.view.grouping
        order = scene.view.order
        rank = _RANK if grouping is Grouping.NONE else _GROUP_RANK
        rank = tuple(dict.fromkeys((*rank[:_FIRST], order, *rank[_FIRST:])))  # what rows are sorted by is to be seen
        extra = next((one for one in rank if one in _EXTRA and one is not order), None) if grouping is Grouping.NONE else None
        natural: dict[Column, int] = {}
        for column in rank:
            if column is _SAID_BY_GROUP.get(grouping) or (
                column not in _ALWAYS and not any(_is_told(row, column, scene) for row in rows)
            ):
                continue
            if column is ProcessColumn.COMMAND:
                natural[column] = _COMMAND_AT_LEAST
                continue
            told: Said = {(row.key, column): self._said(row, column, scene) for row in rows}
            said |= told
            wide = max(columns(self._title(column, scene.view)), *map(columns, told.values()))
            wide = min(wide, _AT_MOST.get(column, _NAME_COLUMN_AT_MOST)) if isinstance(column, ProcessColumn) else wide
            key = f"row {grouping.value} {column.value}"
            natural[column] = scene.view.widths[key] = max(wide, scene.view.widths.get(key, 0))
        room, widths = width, dict[Column, int]()
        for column in rank:
            if column is extra:
                room -= _grow(widths, natural, room)
            if column in natural:
                least = min(natural[column], _TITLE_AT_LEAST) if column is ProcessColumn.NAME else natural[column]
                if least <= room:
                    widths[column] = least
                    room -= least + 1
        room -= _grow(widths, natural, room)
        if ProcessColumn.COMMAND in widths:
            widths[ProcessColumn.COMMAND] += max(0, room)
        return [(column, widths[column]) for column in _ORDER if column in widths]

    def _title(self, column: Column, view: LiveView) -> str:
        titles = SPAN_TITLES[column] if isinstance(column, SpanColumn) else COLUMN_TITLES[column]
        title = self._letters.say(titles)
        if column is ProcessColumn.NAME and view.grouping is not Grouping.NONE:
            title = self._letters.say(GROUPING_WORDS[view.grouping])
        return f"{title}{'▾' if self._letters.unicode else '*'}" if column is view.order else title

    def _heading(self, chosen: Sequence[tuple[Column, int]], view: LiveView, width: int) -> Line:
        line: Line = [(0, " " * width, REVERSE)]
        at = 0
        for column, wide in chosen:
            words = self._letters.clip(self._title(column, view), wide)
            line.append((at + (0 if column in _TO_THE_LEFT else wide - columns(words)), words, REVERSE))
            at += wide + 1
        return line

    def _row(self, cells: Sequence[tuple[Column, int, str]], width: int, *, style: str) -> Line:
        line: Line = [(0, " " * width, style)] if style else []
        at = 0
        for column, wide, whole in cells:
            words = self._letters.clip(whole, wide)
            own = style or (
                BOLD if column in {ProcessColumn.NAME, ProcessColumn.MEMORY} else DIM if column is ProcessColumn.COMMAND else ""
            )
            line.append((at + (0 if column in _TO_THE_LEFT else wide - columns(words)), words, own))
            at += wide + 1
        return line


def _are_hidden(sample: Sample | None, only: int | None) -> bool:
    """Whether nobody knows of any process; the lines of GPUs whose memory is not known either say why."""
    gpus = [gpu for gpu in sample.gpus if only in {None, gpu.index}] if sample is not None else []
    return bool(gpus) and all(isinstance(gpu.processes, Unknown) for gpu in gpus)


def _cell(row: LiveRow, column: Column, scene: TableScene) -> Text:
    if isinstance(column, ProcessColumn):
        return cell(row, column, scene.epoch)
    return UNTOLD if scene.view.span is None else span_cell(row, column, scene.view.span)


def _is_told(row: LiveRow, column: Column, scene: TableScene) -> bool:
    return is_told(row, column) if isinstance(column, ProcessColumn) else _cell(row, column, scene) != UNTOLD


def _grow(widths: dict[Column, int], natural: Mapping[Column, int], room: int) -> int:
    """Gives the name what it wants of the room; returns how much that is."""
    if ProcessColumn.NAME not in widths:
        return 0
    more = max(0, min(room, natural[ProcessColumn.NAME] - widths[ProcessColumn.NAME]))
    widths[ProcessColumn.NAME] += more
    return more
