"""The knowledge files as tables of records, one a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic

from gpuassist.knowledge import build, memory_costs, messages, rates
from gpuassist.knowledge.build import Build, ChipNamed, R
from gpuassist.knowledge.rows import Row, Rows, Source, damaged_line, parse
from gpuassist.model.text import Text, text

if TYPE_CHECKING:
    from gpuassist.knowledge.qt_libraries import QtLibrary
    from gpuassist.knowledge.resident_programs import ResidentProgram

Read = Callable[[str], bytes]


class RecordTable(Generic[R]):
    """The records of one kind: the file is read on first use, each record built when somebody asks for it; a line that is not such
    a record is left out and named in `damaged`.
    """

    def __init__(self, read: Read, kind: str, build: Build[R]) -> None:
        self._read = read
        self._file = f"knowledge/{kind}.json"
        self._build = build
        self._built: dict[int, R | None] = {}

    def all(self) -> tuple[R, ...]:
        """Every record, in the order of the file."""
        return self.at(range(len(self._rows.rows)))

    def at(self, places: Iterable[int]) -> tuple[R, ...]:
        return tuple(record for place in places if (record := self._record(place)) is not None)

    def first(self, field: str, value: str) -> R | None:
        """The first record whose field has that value."""
        if field not in self._indexes:
            rows = reversed(list(enumerate(self._rows.rows)))
            self._indexes[field] = {str(row.fields.get(field, "")): place for place, row in rows}
        place = self._indexes[field].get(value)
        return None if place is None else self._record(place)

    def keyed(self, *fields: str) -> Mapping[tuple[str, ...], R]:
        """The records by these fields, each built when it is asked for."""
        places = {tuple(str(row.fields.get(field, "")) for field in fields): place for place, row in enumerate(self._rows.rows)}
        return _Keyed(places, self._record)

    def words(self, field: str, more: str) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Each place with the texts of one field and of a list of another, as far as they are texts."""
        for place, row in enumerate(self._rows.rows):
            others = row.fields.get(more, [])
            given = (row.fields.get(field), *(others if isinstance(others, list) else ()))
            yield place, tuple(one for one in given if isinstance(one, str))

    def values(self, *fields: str) -> Iterator[tuple[int, tuple[Any, ...]]]:
        """Each place with these fields as they stand there, "" for one that is left out; builds no record."""
        for place, row in enumerate(self._rows.rows):
            yield place, tuple(row.fields.get(field, "") for field in fields)

    def damaged(self) -> tuple[Text, ...]:
        """The lines that could not be used; builds every record to find out."""
        self.all()
        return self.noticed()

    def noticed(self) -> tuple[Text, ...]:
        """Those of them that were met so far; reads nothing."""
        if "_rows" not in vars(self):
            return ()
        rows = self._rows.rows
        unfit = (rows[place].line for place, record in sorted(self._built.items()) if record is None)
        return (*self._rows.damaged, *(damaged_line(self._file, line) for line in unfit))

    def _record(self, place: int) -> R | None:
        if place not in self._built:
            try:
                self._built[place] = self._build(self._rows.rows[place], self._rows.sources)
            except ValueError:
                self._built[place] = None
        return self._built[place]

    @cached_property
    def _rows(self) -> Rows:
        try:
            return parse(self._file, self._read(self._file))
        except OSError as error:
            return Rows(self._file, {}, (), (text("{file} cannot be read: {reason}", file=self._file, reason=str(error)),))

    @cached_property
    def _indexes(self) -> dict[str, dict[str, int]]:
        return {}


class _Keyed(Mapping[tuple[str, ...], R]):
    def __init__(self, places: Mapping[tuple[str, ...], int], record: Callable[[int], R | None]) -> None:
        self._places = places
        self._record = record

    def __getitem__(self, key: tuple[str, ...]) -> R:
        record = self._record(self._places[key])
        if record is None:
            raise KeyError(key)
        return record

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def _resident_program(row: Row, sources: dict[str, Source]) -> ResidentProgram:
    # Only a change of start-up files asks for them, and every start that judges a machine makes these tables.
    from gpuassist.knowledge.resident_programs import resident_program

    return resident_program(row, sources)


def _qt_library(row: Row, sources: dict[str, Source]) -> QtLibrary:
    from gpuassist.knowledge.qt_libraries import qt_library  # for the window alone

    return qt_library(row, sources)


class KnowledgeFiles:
    """Reads none of them before one is asked for; `chip_named` joins a GPU with its chip."""

    def __init__(self, read: Read, chip_named: ChipNamed) -> None:
        self.architectures = RecordTable(read, "architectures", build.architecture)
        self.gpus = RecordTable(read, "gpus", lambda row, sources: build.gpu(row, sources, chip_named))
        self.drivers = RecordTable(read, "drivers", build.branch)
        self.windows_drivers = RecordTable(read, "windows_drivers", build.windows_branch)
        self.jetpacks = RecordTable(read, "jetpacks", build.jetpack)
        self.baseboards = RecordTable(read, "baseboards", build.baseboard)
        self.server_gpus = RecordTable(read, "server_gpus", build.server_gpu)
        self.gpu_rates = RecordTable(read, "gpu_rates", rates.gpu_rates)
        self.sm_rates = RecordTable(read, "sm_rates", rates.sm_rates)
        self.activation_costs = RecordTable(read, "activation_costs", memory_costs.activation_cost)
        self.memory_costs = RecordTable(read, "memory_costs", memory_costs.memory_cost)
        self.estimate_cards = RecordTable(read, "estimate_cards", memory_costs.estimate_card)
        self.reached_rates = RecordTable(read, "reached_rates", rates.reached_rate)
        self.driver_packages = RecordTable(read, "driver_packages", build.driver_package)
        self.compat_packages = RecordTable(read, "compat_packages", build.compat_package)
        self.toolkits = RecordTable(read, "toolkits", build.toolkit)
        self.runfiles = RecordTable(read, "runfiles", build.runfile)
        self.repositories = RecordTable(read, "repositories", build.repository)
        self.early_toolkits = RecordTable(read, "early_toolkits", build.early_toolkits)
        self.wheels = RecordTable(read, "wheels", build.wheel)
        self.torch = RecordTable(read, "torch", build.torch)
        self.torch_releases = RecordTable(read, "torch_releases", build.torch_release)
        self.bad_pairs = RecordTable(read, "bad_pairs", build.bad_pair)
        self.images = RecordTable(read, "images", build.image)
        self.image_tags = RecordTable(read, "image_tags", build.image_tag)
        self.systems = RecordTable(read, "systems", build.system)
        self.gcc_packages = RecordTable(read, "gcc_packages", build.gcc_packages)
        self.python_packages = RecordTable(read, "python_packages", build.python_package)
        self.conda = RecordTable(read, "conda", build.conda)
        self.conda_packages = RecordTable(read, "conda_packages", build.conda_package)
        self.engines = RecordTable(read, "engines", build.engine)
        self.engine_releases = RecordTable(read, "engine_releases", build.engine_release)
        self.commands = RecordTable(read, "commands", build.command)
        self.xids = RecordTable(read, "xids", build.xid)
        self.message_marks = RecordTable(read, "message_marks", messages.language_marks)
        self.messages = {one: RecordTable(read, f"messages/{one}", messages.foreign_message) for one in messages.LANGUAGES}
        self.resident_programs = RecordTable(read, "resident_programs", _resident_program)
        self.qt_libraries = RecordTable(read, "qt_libraries", _qt_library)
        self.codes = RecordTable(read, "codes", build.code)
        self.code_states = RecordTable(read, "code_states", build.code_state)

    def damaged(self) -> tuple[Text, ...]:
        """Every line of every file that could not be used; reads them all."""
        return tuple(words for table in self._tables() for words in table.damaged())

    def noticed(self) -> tuple[Text, ...]:
        """Those of them that were met so far; reads nothing."""
        return tuple(words for table in self._tables() for words in table.noticed())

    def _tables(self) -> Iterator[RecordTable[Any]]:
        for given in vars(self).values():
            yield from given.values() if isinstance(given, dict) else (given,)
