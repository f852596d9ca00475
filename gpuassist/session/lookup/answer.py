"""What the knowledge base answers: a record as JSON has it, or the nearest names; and how each kind of record is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from gpuassist.knowledge.compatibility import driver_floor, windows_driver_floor
from gpuassist.model.text import Text

if TYPE_CHECKING:
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.model.codec import Json
    from gpuassist.model.version import Version

    class _Dated(Protocol):
        @property
        def source(self) -> str: ...

        @property
        def checked(self) -> str: ...

    Document = dict[str, Json]

NEWER_THAN_KNOWN = "newer than what I know"
OLDER_THAN_KNOWN = "older than what I know"


class LookupStatus(str, Enum):
    """How an answer stands to the base: from a record of it, by rule for what is newer or older than all of them, or none."""

    KNOWN = "known"
    NEWER = "newer"
    OLDER = "older"
    UNKNOWN = "unknown"


class LookupAnswer(Struct, frozen=True):
    """An answer: its record (`source` and `checked` are fields of it), or none and then the nearest names that would have one.

    `title` is the answer in a line; `notes` say what follows by rule, and what the question leaves open.
    """

    standing: LookupStatus
    title: Text
    record: Document
    notes: tuple[Text, ...] = ()
    nearest: tuple[str, ...] = ()


class LookupKind(Struct, frozen=True):
    """One kind of record: how a question is answered, the names that can be asked for, and every record in order."""

    kind: str
    answer: Callable[[Knowledge, str], LookupAnswer]
    names: Callable[[Knowledge], Iterable[str]]
    records: Callable[[Knowledge], Iterable[Document]]


def unknown(title: Text, nearest: Iterable[object], *notes: Text) -> LookupAnswer:
    """No record, and what may have been meant."""
    return LookupAnswer(LookupStatus.UNKNOWN, title, {}, notes, tuple(map(str, nearest)))


def known(title: Text, record: Document, *notes: Text) -> LookupAnswer:
    return LookupAnswer(LookupStatus.KNOWN, title, record, notes)


def newer(title: Text, records: Iterable[_Dated], fields: Document, *notes: Text) -> LookupAnswer:
    """What follows by rule for something newer than all records."""
    return LookupAnswer(LookupStatus.NEWER, title, {**by_rule(NEWER_THAN_KNOWN, records), **fields}, notes)


def by_rule(why: str, records: Iterable[_Dated]) -> Document:
    """The provenance of an answer that no record gives: what follows from all of them, as of the day the last was looked at."""
    checked = max((one.checked for one in records), default="")
    return {"source": f"{why}; by rule from the records that are known", "checked": checked}


def provenance(*records: _Dated) -> Document:
    """The sources of an answer that several records give, each once, and the first day that one was looked at."""
    return {"source": "; ".join(dict.fromkeys(one.source for one in records)), "checked": min(one.checked for one in records)}


def fields(**values: object) -> Document:
    """As JSON has them: versions and architectures by their names, what an enum is by its value."""
    return {name: plain(value) for name, value in values.items()}


def own_fields(record: object, names: str) -> Document:
    """Those that are called in JSON as they are in the record."""
    return fields(**{name: getattr(record, name) for name in names.split()})


def not_known(names: str) -> Document:
    """Fields of which there is nothing to say."""
    return dict.fromkeys(names.split())


_FIRST_MAJOR_WITH_MINORS = 11  # before it each release had a driver of its own


def driver_floors(cudas: Iterable[Version]) -> Document:
    """The oldest driver of each CUDA major (before 11: of each release), on Linux and on Windows, as far as one is published."""
    named = {str(one.major if one.major >= _FIRST_MAJOR_WITH_MINORS else one.release): one for one in sorted(cudas)}
    windows = {name: floor for name, cuda in named.items() if (floor := windows_driver_floor(cuda))}
    return fields(
        driver_floors_linux={name: driver_floor(cuda) for name, cuda in named.items()} or None,
        driver_floors_windows=windows or None,
    )


def plain(value: object) -> Json:
    if isinstance(value, Enum):
        return str(value.value)
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, dict):
        return {str(name): plain(inner) for name, inner in value.items()}
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else str(value)


def several(documents: list[Document]) -> Document:
    """One record with what all share, and each of them in `others`."""
    first, others = documents[0], plain(documents)
    shared = {name: value if all(one[name] == value for one in documents) else None for name, value in first.items()}
    return {**shared, "others": others}
