"""What the knowledge base answers: a record as JSON has it, or the nearest names; and how each kind of record is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from gpuassist.model.text import Text

if TYPE_CHECKING:
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.model.codec import Json

    class _Dated(Protocol):
        @property
        def checked(self) -> str: ...

    Document = dict[str, Json]


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
    names: Callable[[Knowledge], tuple[str, ...]]
    records: Callable[[Knowledge], Iterable[Document]]


def unknown(title: Text, nearest: Iterable[str], *notes: Text) -> LookupAnswer:
    """No record, and what may have been meant."""
    return LookupAnswer(LookupStatus.UNKNOWN, title, {}, notes, tuple(nearest))


def known(title: Text, record: Document, *notes: Text) -> LookupAnswer:
    """A record of the base."""
    return LookupAnswer(LookupStatus.KNOWN, title, record, notes)


def by_rule(why: str, records: Iterable[_Dated]) -> Document:
    """The provenance of an answer that no record gives: what follows from all of them, as of the day the last was looked at."""
    checked = max((one.checked for one in records), default="")
    return {"source": f"{why}; by rule from the records that are known", "checked": checked}
