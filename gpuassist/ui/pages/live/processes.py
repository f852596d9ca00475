"""The processes on the GPUs as a table that is refreshed in place: a row stays its process's, however it is sorted."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from PySide6.QtCore import QModelIndex, QObject, Qt

from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.sample import ProcessSample, Sample
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.samples import size, told
from gpuassist.ui.widgets.rows import Cell, Row, RowsModel

PROCESS, USER, GPU, USED, PEAK = range(5)

# As wide as the columns are made, whatever comes.
COLUMN_SAMPLES = (Cell("python train.py"), Cell("a-user-name"), Cell("GPU ▾"), Cell("888.8 GiB"), Cell("888.8 GiB"))

Key = tuple[int, int]
"""A GPU's index and a process's number: one process may be on several GPUs."""


class ProcessRow(Struct, frozen=True):
    """One process on one GPU; `peak` is the most that it was seen with, 0 where that is not known."""

    gpu: int
    process: ProcessSample
    peak: int = 0

    @property
    def key(self) -> Key:
        """What makes it the same row in the next sample."""
        return self.gpu, self.process.pid


def process_rows(sample: Sample, peaks: Mapping[Key, int]) -> tuple[ProcessRow, ...]:
    return tuple(
        ProcessRow(gpu.index, process, peaks.get((gpu.index, process.pid), 0))
        for gpu in sample.gpus
        for process in value_or(gpu.processes, ())
    )


class ProcessesModel(RowsModel):
    """Sorted by a column; equal rows by GPU and number, so that nothing jumps that did not change."""

    def __init__(self, words: Words, parent: QObject | None = None) -> None:
        titles = (text("Process"), text("User"), text("GPU"), text("on the card"), text("peak"))
        super().__init__([words(title) for title in titles], (), parent)
        self._words = words
        self.processes: tuple[ProcessRow, ...] = ()
        self._column = GPU
        self._order = Qt.SortOrder.AscendingOrder

    def show_processes(self, processes: tuple[ProcessRow, ...]) -> None:
        """Shows the processes of another sample: rows go, come and move, and only cells that changed are told."""
        wanted = self._sorted(processes)
        staying = {row.key for row in wanted}
        for place in range(len(self.processes) - 1, -1, -1):
            if self.processes[place].key not in staying:
                self.beginRemoveRows(QModelIndex(), place, place)
                self.processes = (*self.processes[:place], *self.processes[place + 1 :])
                self.rows = (*self.rows[:place], *self.rows[place + 1 :])
                self.endRemoveRows()
        there = {row.key for row in self.processes}
        new = tuple(row for row in wanted if row.key not in there)
        if new:
            self.beginInsertRows(QModelIndex(), len(self.rows), len(self.rows) + len(new) - 1)
            self.processes = (*self.processes, *new)
            self.rows = (*self.rows, *(self._cells(row) for row in new))
            self.endInsertRows()
        self._move([row.key for row in wanted])
        before, self.processes = zip(self.processes, self.rows, strict=True), wanted
        self.set_rows([self._renewed(row, old, cells) for row, (old, cells) in zip(wanted, before, strict=True)])

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._column, self._order = column, order
        self.show_processes(self.processes)

    def _sorted(self, processes: tuple[ProcessRow, ...]) -> tuple[ProcessRow, ...]:
        steady = sorted(processes, key=lambda row: row.key)
        downwards = self._order is Qt.SortOrder.DescendingOrder
        return tuple(sorted(steady, key=lambda row: _sort_key(row, self._column), reverse=downwards))

    def _move(self, wanted: list[Key]) -> None:
        before = [row.key for row in self.processes]
        if before == wanted:
            return
        self.layoutAboutToBeChanged.emit()
        rows = dict(zip(before, zip(self.processes, self.rows, strict=True), strict=True))
        places = {key: place for place, key in enumerate(wanted)}
        self.processes = tuple(rows[key][0] for key in wanted)
        self.rows = tuple(rows[key][1] for key in wanted)
        for index in self.persistentIndexList():
            self.changePersistentIndex(index, self.index(places[before[index.row()]], index.column()))
        self.layoutChanged.emit()

    def _renewed(self, row: ProcessRow, old: ProcessRow, cells: Row) -> Row:
        # Mostly nothing changed, else the use alone: a thousand rows of fresh cells are 40 ms.
        if row == old:
            return cells
        if (row.process.command, row.process.user) != (old.process.command, old.process.user):
            return self._cells(row)
        return (*cells[:USED], self._used(row), cells[PEAK] if row.peak == old.peak else self._peak(row))

    def _cells(self, row: ProcessRow) -> Row:
        words, process = self._words, row.process
        command = process.command
        name = command.value if isinstance(command, Known) and command.value else words(text("process"))
        return (
            Cell(name, after=str(process.pid), tip=name if isinstance(command, Known) else words(command.reason)),
            Cell(words(told(process.user)), quiet=isinstance(process.user, Unknown), tip=_reason(words, process.user)),
            Cell(str(row.gpu)),
            self._used(row),
            self._peak(row),
        )

    def _peak(self, row: ProcessRow) -> Cell:
        return Cell(self._words(size(row.peak))) if row.peak else Cell("–", quiet=True)

    def _used(self, row: ProcessRow) -> Cell:
        used = row.process.memory_used_bytes
        if isinstance(used, Known):
            return Cell(self._words(size(used.value)))
        return Cell(self._words(text("not known")), quiet=True, tip=self._words(used.reason))


def _reason(words: Words, fact: Fact[str]) -> str:
    return words(fact.reason) if isinstance(fact, Unknown) else ""


def _sort_key(row: ProcessRow, column: int) -> tuple[int, str]:
    process = row.process
    if column == PROCESS:
        return 0, value_or(process.command, "")
    if column == USER:
        return 0, value_or(process.user, "")
    if column == GPU:
        return row.gpu, ""
    return (row.peak if column == PEAK else value_or(process.memory_used_bytes, -1)), ""
