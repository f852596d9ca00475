"""Samples in few bytes: a block holds some of them column by column, and needs nothing but itself to be read.

A column is one field of one GPU, or of one process on it, over all samples of the block. Whole numbers stand as differences, words
and reasons once each with their number, so that what hardly changes costs hardly anything after `zlib`: eight GPUs with twenty
processes take 17 KiB as JSON, and a twentieth of that here. What comes out equals what went in, to the last bit of a float.

Fields stand under their names: one that a reader does not know is left out, one that is missing has its default.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate, pairwise, repeat
from string import Formatter
from typing import Any, get_args, get_type_hints

import msgspec
from msgspec import Struct, msgpack
from msgspec.structs import replace

from gpuassist.model.fact import Known, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.sample import Event, GpuSample, ProcessSample, Sample
from gpuassist.model.text import Text, verbatim
from gpuassist.model.words import ENGLISH

SAMPLES_AT_MOST = 4096  # in one block: what a writer keeps to, and what a reader believes
_YEAR_9999 = 253_000_000_000.0  # in seconds since 1970: later ones cannot be written as a date
_BYTES_AT_MOST = 64 << 20  # of an unpacked block
_ROWS_AT_MOST = 1 << 23  # of all GPUs, or of all processes on one
_WHOLE_AT_MOST = 1 << 62  # so that a difference of two fits in msgpack's 64 bits
_PER_UNIT = 1000  # figures of hardware are thousandths (milliwatts), so most floats are whole numbers of them
_THOUSANDTHS_AT_MOST = 1e15

_DAMAGE = (zlib.error, msgspec.MsgspecError, LookupError, TypeError, ValueError, ArithmeticError, RecursionError, AttributeError)


class BlockError(ValueError):
    """Bytes that are no block, or a damaged one."""


def packed(samples: Sequence[Sample]) -> bytes:
    """The samples as one block; at least one and at most `SAMPLES_AT_MOST`."""
    packer = _Packer()
    gpus = packer.grouped([sample.gpus for sample in samples], lambda gpu: gpu.index, packer.gpu)
    document = {
        "count": len(samples),
        "time": array("d", [sample.time for sample in samples]).tobytes(),
        "monotonic": array("d", [sample.monotonic for sample in samples]).tobytes(),
        "gpus": gpus,
        "trouble": packer.column([sample.trouble for sample in samples]),
        "events": packer.column([sample.events for sample in samples]),
    }
    document["words"] = list(packer.words)
    return zlib.compress(msgpack.encode(document))


def unpacked(data: bytes) -> list[Sample]:
    """The samples of a block; raises `BlockError`."""
    try:
        unpacking = zlib.decompressobj()
        raw = unpacking.decompress(data, _BYTES_AT_MOST)
        if not unpacking.eof:
            raise BlockError("cut off, or larger than any of ours")
        document = msgpack.decode(raw)
        count = document["count"]
        if not 0 < count <= SAMPLES_AT_MOST:
            raise BlockError(f"{count} samples")
        return _Unpacker(document["words"]).samples(document, count)
    except _DAMAGE as error:
        raise error if isinstance(error, BlockError) else BlockError(f"{type(error).__name__}: {error}") from error


class _Packer:
    """Makes columns. A column is `[facts, values]`: for each row the word that says what kind of fact it is (its source, or why
    it is unknown), none where no row is a fact; and the values of those that are known.
    """

    def __init__(self) -> None:
        self.words: dict[str, int] = {}
        self._sources: dict[str, int] = {}
        self._unknown: dict[int, int] = {}

    def grouped(self, rows: Sequence[Sequence[Any]], key_of: Any, packed_by: Any) -> dict[str, Any]:
        """Rows of several things at a time (GPUs, processes) by thing: who was there in which order, and each one's columns."""
        members: dict[tuple[int, int], list[Any]] = {}
        rosters: dict[tuple[int, ...], int] = {}
        places: dict[tuple[int, int], int] = {}
        order = []
        for row in rows:
            seen: dict[int, int] = {}
            roster = []
            for one in row:
                key = (key_of(one), seen.setdefault(key_of(one), 0))
                seen[key[0]] += 1  # the same number twice in a row is another thing
                members.setdefault(key, []).append(one)
                roster.append(places.setdefault(key, len(places)))
            order.append(rosters.setdefault(tuple(roster), len(rosters)))
        return {"order": _differences(order), "rosters": list(rosters), "members": [packed_by(rows) for rows in members.values()]}

    def gpu(self, rows: Sequence[GpuSample]) -> dict[str, Any]:
        document = self.struct(rows, skip="processes")
        listed = [gpu.processes.value if isinstance(gpu.processes, Known) else () for gpu in rows]
        there = [Known(None, gpu.processes.source) if isinstance(gpu.processes, Known) else gpu.processes for gpu in rows]
        document["processes"] = [self.column(there), self.grouped(listed, lambda process: process.pid, self.struct)]
        return document

    def struct(self, rows: Sequence[Any], skip: str = "") -> dict[str, Any]:
        return {name: self.column([getattr(row, name) for row in rows]) for name in rows[0].__struct_fields__ if name != skip}

    def column(self, rows: Sequence[Any]) -> list[Any]:
        kinds = set(map(type, rows))
        if kinds <= {Known, Unknown}:
            facts = _differences([self._fact(row) for row in rows])
            return [facts, self._values([row.value for row in rows if type(row) is Known])]
        return [None, self._values(rows)]

    def _fact(self, fact: Any) -> int:
        if type(fact) is Known:
            word = self._sources.get(fact.source)
            if word is None:
                word = self._sources[fact.source] = self._word(fact.source)
            return word
        word = self._unknown.get(id(fact))  # the samples are alive meanwhile, and most share these objects
        if word is None:
            word = self._unknown[id(fact)] = self._word([fact.reason, fact.asked])
        return word

    def _values(self, values: Sequence[Any]) -> Any:
        kinds = set(map(type, values))
        if kinds == {int} and max(values) < _WHOLE_AT_MOST and min(values) > -_WHOLE_AT_MOST:
            return ["int", _differences(values)]
        if kinds == {float}:
            return _floats(values)
        if len(kinds) == 1 and values[0] is not None and issubclass(next(iter(kinds)), Struct):
            return ["struct", self.struct(values)]
        return ["word", _differences([self._word(value) for value in values])] if values else None

    def _word(self, value: Any) -> int:
        # JSON in ASCII: halves of characters, which stand for bytes of a name that are not UTF-8, are kept so, and any whole number
        return self.words.setdefault(json.dumps(msgspec.to_builtins(value)), len(self.words))


def _floats(values: Sequence[float]) -> list[Any]:
    raw = array("d", values).tobytes()
    if all(-_THOUSANDTHS_AT_MOST < value < _THOUSANDTHS_AT_MOST for value in values):
        whole = [round(value * _PER_UNIT) for value in values]
        if array("d", [number / _PER_UNIT for number in whole]).tobytes() == raw:
            return ["thousandths", _differences(whole)]
    return ["float", raw]


def _differences(numbers: Sequence[int]) -> int | list[int] | None:
    if not numbers:
        return None
    if numbers.count(numbers[0]) == len(numbers):
        return numbers[0]
    return [numbers[0], *(later - earlier for earlier, later in pairwise(numbers))]


def _whole(told: Any, count: int) -> Sequence[int]:
    numbers = list(accumulate(told)) if isinstance(told, list) else [told] * count
    if len(numbers) != count or not all(type(number) is int for number in numbers[:1]):
        raise BlockError(f"{len(numbers)} numbers for {count} rows")
    return numbers


class _Unpacker:
    """The other way round. Values that stay the same from row to row are one object."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._made: dict[tuple[int, Hashable], Any] = {}

    def samples(self, document: Mapping[str, Any], count: int) -> list[Sample]:
        times, monotonics = array("d", document["time"]), array("d", document["monotonic"])
        if not all(0.0 <= time < _YEAR_9999 for time in times):
            raise BlockError("a time that no clock shows")
        gpus = self._grouped(document["gpus"], count, self._gpu)
        troubles = [tuple(map(_harmless, row)) for row in self._column(document["trouble"], count, tuple[Text, ...])]
        events = [tuple(map(_told, row)) for row in self._column(document["events"], count, tuple[Event, ...])]
        return [Sample(*row) for row in zip(times, monotonics, gpus, troubles, events, strict=True)]

    def _grouped(self, document: Mapping[str, Any], count: int, made_by: Any) -> list[tuple[Any, ...]]:
        order, rosters = _whole(document["order"], count), document["rosters"]
        if sum(len(rosters[number]) for number in order) > _ROWS_AT_MOST:
            raise BlockError("more rows than any of ours")
        counts = [0] * len(document["members"])
        for number in order:
            for place in rosters[number]:
                counts[place] += 1
        made = [iter(made_by(member, rows)) for member, rows in zip(document["members"], counts, strict=True)]
        return [tuple([next(made[place]) for place in rosters[number]]) for number in order]

    def _gpu(self, document: Mapping[str, Any], count: int) -> list[GpuSample]:
        there, processes = document["processes"]
        facts = self._column(there, count, Any)
        lists = self._grouped(processes, count, lambda member, rows: self._struct(ProcessSample, member, rows, {}))
        before: Any = None
        told: list[Any] = []
        for fact, listed in zip(facts, lists, strict=True):
            if isinstance(fact, Known):
                before = Known(listed, fact.source)
            told.append(before if isinstance(fact, Known) else fact)
        return self._struct(GpuSample, document, count, {"processes": told})

    def _struct(self, kind: Any, document: Mapping[str, Any], count: int, given: Mapping[str, Any]) -> list[Any]:
        columns = []
        for field in _fields(kind):
            if field.name in given:
                columns.append(given[field.name])
            elif field.name in document:
                columns.append(self._column(document[field.name], count, _held(kind, field.name)))
            elif field.default is msgspec.NODEFAULT:
                raise BlockError(f"the field {field.name} of {kind.__name__} is missing")
            else:
                columns.append([field.default] * count)
        return [kind(*row) for row in zip(*columns, strict=True)]

    def _column(self, column: Sequence[Any], count: int, kind: Any) -> list[Any]:
        facts, values = column
        if facts is None:
            return list(self._values(values, count, kind))
        if not isinstance(facts, list):  # the same for every row, as in most columns
            shape = self._shape(facts)
            return self._known(values, count, kind, shape) if type(shape) is str else [shape] * count
        numbers = _whole(facts, count)
        shapes = {number: self._shape(number) for number in set(numbers)}
        known = sum(1 for number in numbers if type(shapes[number]) is str)
        told = iter(self._values(values, known, kind))
        rows: list[Any] = []
        value: Any = _NOTHING
        number_before = -1
        for number in numbers:
            shape = shapes[number]
            if type(shape) is not str:
                rows.append(shape)
                number_before = number
                continue
            now = next(told)
            if number != number_before or now is not value:
                rows.append(Known(now, shape))
            else:
                rows.append(rows[-1])
            number_before, value = number, now
        return rows

    def _known(self, values: Any, count: int, kind: Any, source: str) -> list[Any]:
        """A column without an unknown one."""
        rows: list[Any] = []
        fact, before = None, _NOTHING
        for value in self._values(values, count, kind):
            if value is not before:
                fact, before = Known(value, source), value
            rows.append(fact)
        if len(rows) != count:
            raise BlockError(f"{len(rows)} values for {count} rows")
        return rows

    def _shape(self, number: int) -> str | Unknown:
        """The source of a known fact, or the unknown one."""
        told = json.loads(self._words[number])
        return (
            told
            if isinstance(told, str)
            else self._once(number, Unknown, lambda: Unknown(_harmless(msgspec.convert(told[0], Text)), told[1]))
        )

    def _values(self, told: Any, count: int, kind: Any) -> Iterable[Any]:
        if told is None:
            return repeat(_NOTHING, 0)
        way, values = told
        if way == "int":
            return _shared(_whole(values, count)) if isinstance(values, list) else _whole(values, count)
        if way == "thousandths":
            return [number / _PER_UNIT for number in _whole(values, count)]
        if way == "float":
            return array("d", values)
        if way == "struct":
            return self._struct(kind, values, count, {})
        if way == "word":
            if not isinstance(values, list):
                return repeat(self._word(values, kind), count)
            return [self._word(number, kind) for number in _whole(values, count)]
        raise BlockError(f"a column of {way}")

    def _word(self, number: int, kind: Any) -> Any:
        return self._once(number, kind, lambda: msgspec.convert(json.loads(self._words[number]), kind))

    def _once(self, number: int, kind: Hashable, make: Any) -> Any:
        key = (number, kind)
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]


def _told(event: Event) -> Event:
    words = _harmless(event.text)
    return event if words is event.text else replace(event, text=words)


def _harmless(words: Text) -> Text:
    """A text of ours, or what it says as it is written: `str.format` would follow a stranger's slots into any object, and pad
    them to any length.
    """
    names = {name for name, _ in words.parameters}
    try:
        for message in (words.message, words.plural):
            for _, name, form, conversion in Formatter().parse(message):
                if name is not None and (name not in names or conversion or not _FORM.fullmatch(form or "")):
                    return verbatim(words.message)
        inner = tuple((name, _harmless(value) if isinstance(value, Text) else value) for name, value in words.parameters)
        if inner != words.parameters:
            words = Text(words.message, inner, words.plural)
        ENGLISH(words)
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError):
        return verbatim(words.message)
    return words


_FORM = lazy_regex(r"(0?\d)?,?(\.\d)?[a-z]?")
_NOTHING = object()


def _shared(numbers: Sequence[int]) -> Sequence[int]:
    """Equal numbers that follow each other as one object."""
    shared: list[int] = []
    for number in numbers:
        shared.append(shared[-1] if shared and shared[-1] == number else number)
    return shared


@cache
def _fields(kind: Any) -> tuple[msgspec.structs.FieldInfo, ...]:
    return msgspec.structs.fields(kind)  # which reads the annotations anew each time


@cache
def _held(kind: Any, name: str) -> Any:
    """What a field holds: of a fact, its value."""
    hint = get_type_hints(kind)[name]
    known = next((one for one in get_args(hint) if getattr(one, "__origin__", None) is Known), None)
    return hint if known is None else get_args(known)[0]
