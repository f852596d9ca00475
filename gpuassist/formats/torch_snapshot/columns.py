"""Rows of a snapshot as they are gathered: a few bytes a field, and no object."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from gpuassist.model.memory_snapshot import (
    NO_TEXT,
    BlockState,
    BlockTable,
    HeldBlocks,
    SegmentTable,
    TraceAction,
    TraceEvents,
)

if TYPE_CHECKING:
    from gpuassist.model.memory_snapshot import Codes, Small, Whole

_LARGEST = 1 << 53  # beyond every address and every number of bytes that there is; sums of hostile ones stay numbers
ACTIONS = {action.name.lower(): int(action) for action in TraceAction if action is not TraceAction.OTHER} | {
    "free": int(TraceAction.FREE_COMPLETED)  # as the viewer of torch 2.0 calls it
}
STATES = {
    "inactive": int(BlockState.INACTIVE),
    "active_allocated": int(BlockState.ACTIVE),
    "active_pending_free": int(BlockState.AWAITING_FREE),
    "active_awaiting_free": int(BlockState.AWAITING_FREE),  # as torch's own documentation has it
}


def whole(value: object) -> int:
    """A number as it is kept: what is none, or none that can be, is 0."""
    if isinstance(value, int):
        return value if -_LARGEST < value < _LARGEST else 0
    return 0


class Numbering:
    """What comes again and again, as numbers from 0 on."""

    def __init__(self) -> None:
        self.known: dict[object, int] = {}

    def __call__(self, value: object) -> int:
        number = self.known.get(value)
        if number is None:
            number = self.known[value] = len(self.known)
        return number


class Shared:
    """What tables of one snapshot number together."""

    def __init__(self) -> None:
        self.streams = Numbering()
        self.texts = Numbering()
        self.words: dict[str, str] = {}
        self._tuples: dict[tuple[object, ...], tuple[object, ...]] = {}

    def stream(self, value: object) -> int:
        return self.streams(whole(value))

    def tuple(self, value: tuple[object, ...]) -> tuple[object, ...] | None:
        """The same tuple of numbers once; none of one that holds anything else, which nothing of torch's points back to."""
        if len(value) > 4 or not all(type(one) is int for one in value):
            return None
        return self._tuples.setdefault(value, value) if len(self._tuples) < 100_000 else value

    def text(self, value: object) -> int:
        return self.texts(value) if isinstance(value, str) and value else NO_TEXT


class EventColumns:
    """The events of one device."""

    def __init__(self) -> None:
        self.action = array("B")
        self.address, self.size, self.time = array("q"), array("q"), array("q")
        self.stack, self.stream, self.note = array("i"), array("i"), array("i")

    def __len__(self) -> int:
        return len(self.action)

    def add(self, action: int, address: int, size: int, *, time: int, stack: int, stream: int, note: int) -> None:
        self.action.append(action)
        self.address.append(address)
        self.size.append(size)
        self.time.append(time)
        self.stack.append(stack)
        self.stream.append(stream)
        self.note.append(note)

    def extend(
        self, action: Iterable[int], address: Whole, size: Whole, *, time: Whole, stack: Iterable[int], stream: Small, note: Small
    ) -> None:
        self.action.extend(action)
        address, size = np.clip(address, -_LARGEST, _LARGEST), np.clip(size, 0, _LARGEST)
        for column, more in (
            (self.address, address),
            (self.size, size),
            (self.time, time),
            (self.stream, stream),
            (self.note, note),
        ):
            column.frombytes(more.tobytes())
        self.stack.extend(stack)

    def drop(self, start: int, end: int) -> None:
        for column in (self.action, self.address, self.size, self.time, self.stack, self.stream, self.note):
            del column[start:end]

    def table(self) -> TraceEvents:
        return TraceEvents(
            codes(self.action),
            wholes(self.address),
            wholes(self.size),
            wholes(self.time),
            smalls(self.stack),
            smalls(self.stream),
            smalls(self.note),
        )


class HeldColumns:
    """Allocations without their events."""

    def __init__(self) -> None:
        self.address, self.size, self.stack = array("q"), array("q"), array("i")

    def add(self, address: int, size: int, stack: int) -> None:
        self.address.append(address)
        self.size.append(size)
        self.stack.append(stack)

    def table(self) -> HeldBlocks:
        return HeldBlocks(wholes(self.address), wholes(self.size), smalls(self.stack))


class BlockColumns:
    """The blocks of all segments."""

    def __init__(self) -> None:
        self.address, self.size, self.requested = array("q"), array("q"), array("q")
        self.state, self.stack = array("B"), array("i")

    def __len__(self) -> int:
        return len(self.size)

    def add(self, address: int, size: int, *, requested: int, state: int, stack: int) -> None:
        self.address.append(address)
        self.size.append(size)
        self.requested.append(requested)
        self.state.append(state)
        self.stack.append(stack)

    def drop_from(self, row: int) -> None:
        for column in (self.address, self.size, self.requested, self.state, self.stack):
            del column[row:]

    def table(self, alive: Codes | None = None) -> BlockTable:
        return BlockTable(
            wholes(self.address),
            wholes(self.size),
            wholes(self.requested),
            codes(self.state),
            smalls(self.stack),
            np.ones(len(self), np.uint8) if alive is None else alive,
        )


class SegmentColumns:
    """The segments of all devices."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, ...]] = []
        self.first_block = [0]

    def add(self, row: tuple[int, ...], blocks: int) -> None:
        self.rows.append(row)
        self.first_block.append(blocks)

    def table(self) -> SegmentTable:
        columns = np.array(self.rows, np.int64).reshape(len(self.rows), 12).T.copy()
        device, address, size, allocated, active, requested, stream, owner, pool, large, expandable, stack = columns
        return SegmentTable(
            device.astype(np.int32),
            address,
            size,
            allocated,
            active,
            requested,
            stream.astype(np.int32),
            owner,
            pool,
            large.astype(np.uint8),
            expandable.astype(np.uint8),
            stack.astype(np.int32),
            np.array(self.first_block, np.int64),
        )


def wholes(column: array[int]) -> Whole:
    return np.frombuffer(column, np.int64) if column else np.zeros(0, np.int64)


def smalls(column: array[int]) -> Small:
    return np.frombuffer(column, np.int32) if column else np.zeros(0, np.int32)


def codes(column: array[int]) -> Codes:
    return np.frombuffer(column, np.uint8) if column else np.zeros(0, np.uint8)
