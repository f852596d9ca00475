"""The processes on the GPUs as a table that is refreshed in place: a row stays its process's, however it is sorted.

A cell is made anew only where what it shows has changed: else twelve columns of twenty processes are two milliseconds a sample.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from PySide6.QtCore import QModelIndex, QObject, Qt

from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.sample import ProcessSample
from gpuassist.model.text import Text, counted, text, verbatim
from gpuassist.model.words import Words
from gpuassist.monitor.means import Key, ProcessMean
from gpuassist.present.process_table import FIGURES, UNTOLD, LiveRow, ProcessColumn, cell, duration, idle_time
from gpuassist.present.samples import size
from gpuassist.ui.widgets.rows import Cell, Index, Row, RowsModel
from gpuassist.ui.wording import as_tip

COLOUR_ROLE = Qt.ItemDataRole.UserRole + 20
_IDLE_SECONDS = 60.0
_TIP_COMMANDS = 8
_LARGE = size(round(888.8 * 2**30))  # as wide as one gets


class LiveColumn(Struct, frozen=True):
    """A column: what it is called and explained as, how wide, whether figures stand in it, and which gives way first."""

    name: str
    title: Text
    tip: Text
    sample: str | Text
    numeric: bool = True
    gives_way: int = 0
    shared: ProcessColumn | None = None  # with the table in a terminal


COLUMNS: tuple[LiveColumn, ...] = (
    LiveColumn(
        "name",
        text("Process"),
        text("The script, if an interpreter runs one; the full command is in the tooltip"),
        "python_train.py 888888",
        numeric=False,
        shared=ProcessColumn.NAME,
    ),
    LiveColumn("gpu", text("GPU"), text("The GPU's index"), "0,1,2", shared=ProcessColumn.GPU),
    LiveColumn(
        "user", text("User"), text("The owner of the process"), "a-user-na", numeric=False, gives_way=4, shared=ProcessColumn.USER
    ),
    LiveColumn(
        "container",
        text("Container"),
        text("The container it runs in"),
        "docker 3f2a51c0",
        numeric=False,
        gives_way=6,
        shared=ProcessColumn.CONTAINER,
    ),
    LiveColumn(
        "memory",
        text("GPU memory"),
        text("The GPU memory it uses now, as reported by the driver"),
        _LARGE,
        shared=ProcessColumn.MEMORY,
    ),
    LiveColumn("peak", text("Peak"), text("The most GPU memory it was seen to use"), _LARGE, gives_way=5),
    LiveColumn("mean", text("Mean"), text("Its average GPU memory over the time shown"), _LARGE, gives_way=8),
    LiveColumn(
        "torch",
        text("torch"),
        text("Allocated and reserved memory, as counted by torch"),
        "88.8 of 88.8 GiB",
        gives_way=3,
        shared=ProcessColumn.TORCH,
    ),
    LiveColumn(
        "gpu-percent",
        text("GPU %"),
        text("Its share of the GPU's time, as reported by the driver"),
        "GPU %",
        gives_way=1,
        shared=ProcessColumn.GPU_PERCENT,
    ),
    LiveColumn(
        "gpu-mean",
        text("Mean %"),
        text("Its average share of the GPU's time over the time shown"),
        "Mean %",
        gives_way=9,
    ),
    LiveColumn("cpu-percent", text("CPU %"), text("100 % is one core"), "888 %", gives_way=2, shared=ProcessColumn.CPU_PERCENT),
    LiveColumn("resident", text("RAM"), text("Resident memory (RSS)"), "888 MiB", gives_way=5, shared=ProcessColumn.RESIDENT),
    LiveColumn("since", text("Since"), text("When it was started"), "88:88", gives_way=7, shared=ProcessColumn.SINCE),
)
NAMES = tuple(column.name for column in COLUMNS)


class RowFigures(Struct, frozen=True):
    """What the table adds to a sample: peaks and means by GPU and process."""

    peaks: Mapping[Key, int]
    mean: Callable[[Key], ProcessMean | None]
    now: float = 0.0


Made = tuple[LiveRow, list[int], list[ProcessMean], tuple[object, ...]]


class ProcessesModel(RowsModel):
    """Sorted by a column, the largest first; equal rows by GPU and number, so that nothing jumps that did not change."""

    def __init__(self, words: Words, colour_of: Callable[[int], int], parent: QObject | None = None) -> None:
        super().__init__([words(column.title) for column in COLUMNS], (), parent)
        self._words, self._colour_of = words, colour_of
        self.live: tuple[LiveRow, ...] = ()
        self._made_before: dict[tuple[str | int, ...], Made] = {}
        self._shown_as: dict[tuple[str | int, ...], tuple[object, ...]] = {}
        self.marked: int | None = None
        self.column, self.order = NAMES.index("memory"), Qt.SortOrder.DescendingOrder

    def show_processes(self, rows: Sequence[LiveRow], figures: RowFigures) -> None:
        """Shows the processes of another sample: rows go, come and move, and only cells that changed are told."""
        made = {row.key: self._made(row, figures) for row in rows}
        self._made_before = made
        values = {key: one[-1] for key, one in made.items()}
        wanted = self._sorted(rows, values)
        staying = {row.key for row in wanted}
        for place in range(len(self.live) - 1, -1, -1):
            if self.live[place].key not in staying:
                self.beginRemoveRows(QModelIndex(), place, place)
                self.live = (*self.live[:place], *self.live[place + 1 :])
                self.rows = (*self.rows[:place], *self.rows[place + 1 :])
                self.endRemoveRows()
        there = {row.key for row in self.live}
        new = tuple(row for row in wanted if row.key not in there)
        if new:
            self.beginInsertRows(QModelIndex(), len(self.rows), len(self.rows) + len(new) - 1)
            self.live = (*self.live, *new)
            self.rows = (*self.rows, *(self._cells(row, values[row.key], figures) for row in new))
            self.endInsertRows()
        self._move([row.key for row in wanted])
        before, self.live = dict(zip((row.key for row in self.live), self.rows, strict=True)), wanted
        shown = {key: (self._shown_as[key], cells) for key, cells in before.items() if key in self._shown_as}
        self.set_rows([self._cells(row, values[row.key], figures, shown.get(row.key)) for row in wanted])
        self._shown_as = values

    def _made(self, row: LiveRow, figures: RowFigures) -> Made:
        """The values of a row, and what they are made of: mostly nothing of that has changed."""
        keys = [(part.gpu, part.process.pid) for part in row.parts]
        peaks = [figures.peaks.get(key, 0) for key in keys]
        means = [mean for mean in map(figures.mean, keys) if mean is not None]
        before = self._made_before.get(row.key)
        if before is not None and before[:-1] == (row, peaks, means):
            return before
        return row, peaks, means, _values(row, peaks, means)

    def sort_by(self, column: int) -> None:
        """By another column: figures from the largest on, words from A on; by the same again the other way round."""
        if column == self.column:
            down = self.order is Qt.SortOrder.DescendingOrder
            self.order = Qt.SortOrder.AscendingOrder if down else Qt.SortOrder.DescendingOrder
        else:
            largest_first = COLUMNS[column].numeric and COLUMNS[column].name != "gpu"
            self.column = column
            self.order = Qt.SortOrder.DescendingOrder if largest_first else Qt.SortOrder.AscendingOrder

        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(COLUMNS) - 1)

    def told_columns(self) -> tuple[bool, ...]:
        """Which columns anything was ever asked for: one that nobody fills is left away."""
        parts = [part.process for row in self.live for part in row.parts]
        asked: dict[str, Callable[[ProcessSample], Fact[object]]] = {
            **({"user": lambda one: one.user, "memory": lambda one: one.memory_used_bytes} if parts else {}),
            "container": lambda one: one.container if isinstance(one.container, Known) and one.container.value else _NOBODY,
            "torch": lambda one: one.torch if isinstance(one.torch, Known) else _NOBODY,
            "gpu-percent": lambda one: one.gpu_percent,
            "gpu-mean": lambda one: one.gpu_percent if isinstance(one.gpu_percent, Known) else _NOBODY,
            "cpu-percent": lambda one: one.cpu_percent,
            "resident": lambda one: one.resident_bytes,
            "since": lambda one: one.started,
        }
        return tuple(
            column.name not in asked or any(_is_asked(asked[column.name](process)) for process in parts) for column in COLUMNS
        )

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == COLOUR_ROLE and index.column() == 0 and index.row() < len(self.live):
            pids = {part.process.pid for part in self.live[index.row()].parts}
            numbers = {self._colour_of(pid) for pid in pids}
            return numbers.pop() if len(numbers) == 1 else None
        return super().data(index, role)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if role == Qt.ItemDataRole.ToolTipRole and orientation is Qt.Orientation.Horizontal and 0 <= section < len(COLUMNS):
            return as_tip(self._words(COLUMNS[section].tip))
        heading = super().headerData(section, orientation, role)
        if role == Qt.ItemDataRole.DisplayRole and orientation is Qt.Orientation.Horizontal and section == self.column:
            # Qt's own arrow covers the end of words that stand at the right.
            return f"{'↓' if self.order is Qt.SortOrder.DescendingOrder else '↑'} {heading}"
        return heading

    def _sorted(self, rows: Sequence[LiveRow], values: Mapping[tuple[str | int, ...], tuple[object, ...]]) -> tuple[LiveRow, ...]:
        steady = sorted(rows, key=lambda row: tuple((isinstance(part, str), part) for part in row.key))
        downwards = self.order is Qt.SortOrder.DescendingOrder

        def worth(row: LiveRow) -> tuple[int, float, str]:
            value = values[row.key][self.column]
            unknown = value is None or value == ""
            # What is not known comes last either way.
            last = (0 if unknown else 1) if downwards else (1 if unknown else 0)
            if isinstance(value, tuple):
                value = value[0] if value else 0
            if isinstance(value, (int, float)):
                return last, float(value), ""
            return last, 0.0, str(value or "").lower()

        return tuple(sorted(steady, key=worth, reverse=downwards))

    def _move(self, wanted: list[tuple[str | int, ...]]) -> None:
        before = [row.key for row in self.live]
        if before == wanted:
            return
        self.layoutAboutToBeChanged.emit()
        rows = dict(zip(before, zip(self.live, self.rows, strict=True), strict=True))
        places = {key: place for place, key in enumerate(wanted)}
        self.live = tuple(rows[key][0] for key in wanted)
        self.rows = tuple(rows[key][1] for key in wanted)
        for index in self.persistentIndexList():
            self.changePersistentIndex(index, self.index(places[before[index.row()]], index.column()))
        self.layoutChanged.emit()

    def _cells(
        self, row: LiveRow, values: tuple[object, ...], figures: RowFigures, before: tuple[tuple[object, ...], Row] | None = None
    ) -> Row:
        if before is None:
            return tuple(self._cell(row, place, value, figures) for place, value in enumerate(values))
        shown, cells = before
        if shown == values:
            return cells
        return tuple(
            cells[place] if value == shown[place] else self._cell(row, place, value, figures) for place, value in enumerate(values)
        )

    def _cell(self, row: LiveRow, place: int, value: object, figures: RowFigures) -> Cell:
        column, words = COLUMNS[place], self._words
        if column.name == "name":
            return self._name_cell(row)
        if column.name in {"peak", "mean"}:
            assert value is None or isinstance(value, int)
            return Cell(words(size(value << 20) if value else UNTOLD), quiet=not value, right=True)
        if column.name == "gpu-mean":
            assert value is None or isinstance(value, int)
            return Cell(words(text("{percent} %", percent=value) if value is not None else UNTOLD), quiet=value is None, right=True)
        assert column.shared is not None
        said = cell(row, column.shared, figures.now)
        quiet = said == UNTOLD
        return Cell(words(said), quiet=quiet, right=column.numeric, tip=self._why(row, column.shared) if quiet else "")

    def _name_cell(self, row: LiveRow) -> Cell:
        words, single = self._words, row.single
        commands = list(dict.fromkeys(value_or(part.process.command, "") for part in row.parts))
        if single is None:
            count = len({part.process.pid for part in row.parts})
            after = words(counted("{count} process", "{count} processes", count))
            return Cell(words(row.title), after, tip="\n".join(commands[:_TIP_COMMANDS]))
        process = single.process
        beside = [str(process.pid)] if known_by_name(row) else []
        idle = value_or(idle_time(process), 0.0)
        if idle >= _IDLE_SECONDS:
            beside.append(words(text("idle {time}", time=duration(idle))))
        if process.pid == self.marked:
            beside.append(words(text("marked")))
        told = process.command
        return Cell(words(row.title), " · ".join(beside), tip=told.value if isinstance(told, Known) else words(told.reason))

    def _why(self, row: LiveRow, column: ProcessColumn) -> str:
        """Why a figure is not known, where all say the same."""
        facts = {_FACTS[column](part.process) for part in row.parts} if column in _FACTS else set()
        reasons = {fact.reason for fact in facts if isinstance(fact, Unknown)}
        return self._words(reasons.pop()) if len(reasons) == 1 else ""


_NOBODY: Fact[object] = Unknown(verbatim(""), asked=False)
_FACTS: dict[ProcessColumn, Callable[[ProcessSample], Fact[object]]] = {
    ProcessColumn.USER: lambda one: one.user,
    ProcessColumn.CONTAINER: lambda one: one.container,
    ProcessColumn.MEMORY: lambda one: one.memory_used_bytes,
    ProcessColumn.TORCH: lambda one: one.torch,
    ProcessColumn.GPU_PERCENT: lambda one: one.gpu_percent,
    ProcessColumn.CPU_PERCENT: lambda one: one.cpu_percent,
    ProcessColumn.RESIDENT: lambda one: one.resident_bytes,
    ProcessColumn.SINCE: lambda one: one.started,
}


def _is_asked(fact: Fact[object]) -> bool:
    return isinstance(fact, Known) or fact.asked


def _values(row: LiveRow, peaks: Sequence[int], means: Sequence[ProcessMean]) -> tuple[object, ...]:
    """What each cell of a row is made of, to as much as is shown of it: cells are made anew, and rows sorted, by that."""
    first = row.parts[0].process
    memory = [mean.memory_bytes for mean in means if mean.memory_bytes is not None]
    busy = [mean.gpu_percent for mean in means if mean.gpu_percent is not None]
    torch = [part.process.torch.value for part in row.parts if isinstance(part.process.torch, Known)]
    idle = int(value_or(idle_time(first), 0.0) // _IDLE_SECONDS)
    told = {
        # Sorted by its words; what else stands in the cell has it made anew.
        "name": _Named(_title(row), (first.pid, len(row.parts), idle, value_or(first.command, ""))),
        "gpu": tuple(sorted({part.gpu for part in row.parts})),
        "user": _joined(row, lambda process: process.user),
        "container": _joined(row, lambda process: process.container),
        "memory": _figure(row, ProcessColumn.MEMORY, 1 << 20),
        "peak": (sum(peaks) >> 20) or None,
        "mean": int(sum(memory)) >> 20 if memory else None,
        "torch": (sum(one.reserved_bytes for one in torch) >> 20, sum(one.allocated_bytes for one in torch) >> 20)
        if torch
        else None,
        "gpu-percent": _figure(row, ProcessColumn.GPU_PERCENT, 1),
        "gpu-mean": round(sum(busy)) if busy else None,
        "cpu-percent": _figure(row, ProcessColumn.CPU_PERCENT, 1),
        "resident": _figure(row, ProcessColumn.RESIDENT, 1 << 20),
        "since": _figure(row, ProcessColumn.SINCE, 1),
    }
    return tuple(told[name] for name in NAMES)


class _Named(Struct, frozen=True):
    title: str
    beside: tuple[object, ...]

    def __str__(self) -> str:
        return self.title


def known_by_name(row: LiveRow) -> bool:
    """Whether what it is called says more than its number."""
    return "pid" not in dict(row.title.parameters)


def _title(row: LiveRow) -> str:
    return str(dict(row.title.parameters).get("words", row.title.message))


def _figure(row: LiveRow, column: ProcessColumn, unit: int) -> int | None:
    value = FIGURES[column](row)
    return None if value is None else round(value / unit)


def _joined(row: LiveRow, of: Callable[[ProcessSample], Fact[str]]) -> str:
    return ", ".join(dict.fromkeys(value_or(of(part.process), "") for part in row.parts))
