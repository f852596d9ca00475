"""What is asked of a memory snapshot on the command line."""

from __future__ import annotations

from msgspec import Struct


class SnapshotWish(Struct, frozen=True):
    """What is asked of a snapshot; `first` and `end` are the events that are read, the last ones where `first` is negative."""

    path: str
    other: str | None
    first: int
    end: int | None
    between: tuple[int, int] | None
    address: int | None
    as_document: bool
