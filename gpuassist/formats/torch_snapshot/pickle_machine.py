"""Pickle's stack machine for the plain values that a snapshot is made of, protocols 0 to 5 (Python's `pickletools`, PEP 574).

An opcode that imports, calls or builds anything is refused by name, and there is no code here that could do it. Lists of rows
(events, blocks) are handed to a sink as they come and are never kept.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from gpuassist.formats.torch_snapshot.byte_stream import LONGEST_WORDS, ByteStream, SnapshotError
from gpuassist.formats.torch_snapshot.opcode_names import REFUSED
from gpuassist.model.text import text

VALUES_AT_MOST = 1_000_000
"""Values beside rows: a real snapshot has some ten thousand segments and notes."""
_LONGEST_NUMBER = 64  # bytes; the work of reading a number grows with the square of its length
_MARKS_AT_MOST = 64  # how deep values lie in each other; torch's lie six deep
_GAP_AT_MOST = 1 << 20
TRACE, BLOCKS, NOTES = "trace", "blocks", "notes"
PASSED_OVER = frozenset({"host_segments", "host_traces"})  # of pinned memory of the host, as torch 2.14 has them


class RowSink(Protocol):
    """What takes the items of a list of rows."""

    def take(self, rows: RowList | SegmentList, items: list[Any], memo: list[Any], since: int) -> None:
        """Takes whole items; `memo` from `since` on is what they alone have put there."""

    def quickly(self, rows: RowList, stream: ByteStream, memo: list[Any]) -> None:
        """Takes as many items as it can from the bytes that come next."""


class RowList:
    """Stands where the list of an event's or a block's siblings would."""

    __slots__ = ("kind", "number")

    def __init__(self, kind: str, number: int) -> None:
        self.kind, self.number = kind, number


class ListOfLists(list[Any]):
    """`device_traces`: each of its lists is one of rows."""


class SegmentList(list[Any]):
    """`segments`: its items go to the sink as they come, as rows do."""


_LISTS: dict[str, Callable[[], Any]] = {
    "device_traces": ListOfLists,
    "segments": SegmentList,
    "blocks": lambda: RowList(BLOCKS, 0),
    "external_annotations": lambda: RowList(NOTES, 0),
    **{key: partial(RowList, key, 0) for key in PASSED_OVER},
}


class PickleMachine:
    """Reads one pickled value."""

    def __init__(self, stream: ByteStream, sink: RowSink) -> None:
        self._stream, self._sink = stream, sink
        self._stack: list[Any] = []
        self._under: list[list[Any]] = []
        self._memo: list[Any] = []
        self._far_memo: dict[int, Any] = {}
        self._since = 0  # the memo of the item that is being read begins here
        self._values = 0
        self._kept = 0  # of the values, those that are no part of an item
        self._segment_since = self._segment_kept = 0
        self._lists = 0
        self._done = False
        self._acts = {ord(opcode): getattr(self, f"_{name}") for opcode, name in _ACTS.items()}

    def value(self) -> Any:
        """The value; raises `SnapshotError`."""
        stream, acts = self._stream, self._acts
        while not self._done:
            opcode = stream.byte()
            act = acts.get(opcode)
            if act is None:
                raise self._refused(opcode)
            try:
                act()
            except (IndexError, KeyError, TypeError, ValueError, struct.error, OverflowError) as error:
                if isinstance(error, SnapshotError):
                    raise
                raise self._damaged() from error
        return self._stack[-1]

    def _refused(self, opcode: int) -> SnapshotError:
        name = REFUSED.get(opcode)
        if name is None:
            return self._damaged()
        at = self._stream.position - 1
        reason = text(
            "it asks for code to be run ({opcode} at byte {at}), which no memory snapshot does; nothing was run", opcode=name, at=at
        )
        return SnapshotError(reason)

    def _damaged(self) -> SnapshotError:
        return SnapshotError(text("it is no pickle, or a damaged one: it makes no sense at byte {at}", at=self._stream.position))

    # What is put on the stack

    def _put_value(self, value: Any) -> None:
        self._values += 1
        if self._values > VALUES_AT_MOST:
            raise SnapshotError(
                text("it holds more than {count} values that are neither events nor blocks: no snapshot does", count=VALUES_AT_MOST)
            )
        self._stack.append(value)

    def _none(self) -> None:
        self._put_value(None)

    def _true(self) -> None:
        self._stack.append(True)

    def _false(self) -> None:
        self._stack.append(False)

    def _byte(self) -> None:
        self._put_value(self._stream.byte())

    def _short(self) -> None:
        self._put_value(int.from_bytes(self._stream.take(2), "little"))

    def _int(self) -> None:
        self._put_value(int.from_bytes(self._stream.take(4), "little", signed=True))

    def _int_line(self) -> None:
        line = self._stream.line()
        if line in (b"00", b"01"):
            self._put_value(line == b"01")
        else:
            self._put_value(_number(line))

    def _long_line(self) -> None:
        self._put_value(_number(self._stream.line().rstrip(b"L")))

    def _long(self) -> None:
        self._put_value(self._long_of(self._stream.byte()))

    def _long_long(self) -> None:
        self._put_value(self._long_of(int.from_bytes(self._stream.take(4), "little", signed=True)))

    def _long_of(self, length: int) -> int:
        if not 0 <= length <= _LONGEST_NUMBER:
            raise self._damaged()
        return int.from_bytes(self._stream.take(length), "little", signed=True)

    def _float(self) -> None:
        self._put_value(struct.unpack(">d", self._stream.take(8))[0])

    def _float_line(self) -> None:
        line = self._stream.line()
        if len(line) > _LONGEST_NUMBER:
            raise self._damaged()
        self._put_value(float(line))

    def _words_line(self) -> None:
        self._put_value(self._stream.line().decode("raw-unicode-escape", "replace"))

    def _words(self) -> None:
        self._words_of(4)

    def _short_words(self) -> None:
        self._words_of(1)

    def _long_words(self) -> None:
        self._words_of(8)

    def _words_of(self, width: int) -> None:
        length = int.from_bytes(self._stream.take(width), "little")
        if length > LONGEST_WORDS:
            raise self._damaged()
        self._put_value(self._stream.take(length).decode("utf-8", "replace"))

    # Lists, tuples, dictionaries

    def _mark(self) -> None:
        if len(self._under) >= _MARKS_AT_MOST:
            raise SnapshotError(text("its values lie more than {count} deep in each other: no snapshot's do", count=_MARKS_AT_MOST))
        self._under.append(self._stack)
        self._stack = []

    def _items(self) -> list[Any]:
        items, self._stack = self._stack, self._under.pop()
        return items

    def _empty_list(self) -> None:
        self._put_value(self._new_list())

    def _list(self) -> None:
        items = self._items()
        made = self._new_list()
        self._put_value(made)
        self._add(made, items)

    def _new_list(self) -> Any:
        """A list of the kind that its place asks for."""
        before = self._stack[-1] if self._stack else None
        holder = self._under[-1][-1] if self._under and self._under[-1] else None
        if type(before) is ListOfLists or (type(holder) is ListOfLists and (before is None or type(before) is RowList)):
            self._lists += 1
            return RowList(TRACE, self._lists - 1)
        return _LISTS[before]() if type(before) is str and before in _LISTS else []

    def _append(self) -> None:
        item = self._stack.pop()
        self._add(self._stack[-1], [item])

    def _appends(self) -> None:
        items = self._items()
        self._add(self._stack[-1], items)

    def _add(self, holder: Any, items: list[Any]) -> None:
        if type(holder) is RowList or type(holder) is SegmentList:
            self._hand_over(holder, items)
        else:
            holder.extend(items) if isinstance(holder, list) else self._refuse_holder()

    def _hand_over(self, rows: RowList | SegmentList, items: list[Any]) -> None:
        of_segment = type(rows) is SegmentList
        self._sink.take(rows, items, self._memo, self._segment_since if of_segment else self._since)
        self._since = len(self._memo)
        self._values = self._segment_kept if of_segment else self._kept
        if of_segment:
            self._segment_since = self._since

    def _refuse_holder(self) -> None:
        raise self._damaged()

    def _empty_dict(self) -> None:
        rows = self._under[-1][-1] if self._under and self._under[-1] else None
        if type(rows) is RowList and (not self._stack or type(self._stack[-1]) is dict):
            if self._read_at_once(rows):
                return
        elif type(rows) is SegmentList:
            if self._stack:
                self._hand_over(rows, self._stack)
                self._stack.clear()
            self._segment_since, self._segment_kept = len(self._memo), self._values
        self._put_value({})

    def _read_at_once(self, rows: RowList) -> bool:
        """At the start of an item: those before it are whole, and from this one on some may be of a kind that is read at once."""
        if self._stack:
            self._hand_over(rows, self._stack)
            self._stack.clear()
        stream = self._stream
        stream.place -= 1
        here = stream.position
        self._sink.quickly(rows, stream, self._memo)
        self._since, self._kept = len(self._memo), self._values
        if stream.position != here:
            return True
        stream.place += 1
        return False

    def _dict(self) -> None:
        items = self._items()
        made: dict[Any, Any] = {}
        self._put_value(made)
        self._set(made, items)

    def _setitem(self) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._set(self._stack[-1], [key, value])

    def _setitems(self) -> None:
        items = self._items()
        self._set(self._stack[-1], items)

    def _set(self, holder: Any, items: list[Any]) -> None:
        if type(holder) is not dict or len(items) % 2:
            raise self._damaged()
        for key, value in zip(items[::2], items[1::2], strict=True):
            if not isinstance(key, (str, int)):
                raise self._damaged()
            holder[key] = value

    def _tuple(self) -> None:
        self._put_value(tuple(self._items()))

    def _no_tuple(self) -> None:
        self._put_value(())

    def _tuple_of(self, count: int) -> None:
        if len(self._stack) < count:
            raise self._damaged()
        items = tuple(self._stack[-count:])
        del self._stack[-count:]
        self._put_value(items)

    def _tuple_1(self) -> None:
        self._tuple_of(1)

    def _tuple_2(self) -> None:
        self._tuple_of(2)

    def _tuple_3(self) -> None:
        self._tuple_of(3)

    # The memo

    def _memoize(self) -> None:
        self._memo.append(self._stack[-1])

    def _put_line(self) -> None:
        self._put_at(_number(self._stream.line()))

    def _put(self) -> None:
        self._put_at(self._stream.byte())

    def _long_put(self) -> None:
        self._put_at(int.from_bytes(self._stream.take(4), "little"))

    def _put_at(self, place: int) -> None:
        value, memo = self._stack[-1], self._memo
        if 0 <= place < len(memo):
            memo[place] = value
        elif place == len(memo):
            memo.append(value)
        elif 0 <= place - len(memo) < _GAP_AT_MOST and len(self._far_memo) < _GAP_AT_MOST:
            self._far_memo[place] = value
        else:
            raise self._damaged()

    def _get_line(self) -> None:
        self._get_at(_number(self._stream.line()))

    def _get(self) -> None:
        self._get_at(self._stream.byte())

    def _long_get(self) -> None:
        self._get_at(int.from_bytes(self._stream.take(4), "little"))

    def _get_at(self, place: int) -> None:
        value = self._memo[place] if 0 <= place < len(self._memo) else self._far_memo[place]
        if value is None and place not in self._far_memo:
            raise self._damaged()  # an item that was handed over: nothing of torch's points back to one
        self._put_value(value)

    # The rest

    def _pop(self) -> None:
        if self._stack:
            self._stack.pop()
        else:
            self._items()

    def _pop_mark(self) -> None:
        self._items()

    def _twice(self) -> None:
        self._put_value(self._stack[-1])

    def _protocol(self) -> None:
        if self._stream.byte() > 5:
            raise self._damaged()

    def _frame(self) -> None:
        self._stream.take(8)

    def _stop(self) -> None:
        if len(self._stack) != 1 or self._under:
            raise self._damaged()
        self._done = True


def _number(line: bytes) -> int:
    if len(line) > _LONGEST_NUMBER:
        raise ValueError("a number of too many digits")
    return int(line)


_ACTS = {
    "N": "none", "\x88": "true", "\x89": "false", "K": "byte", "M": "short", "J": "int", "I": "int_line", "L": "long_line",
    "\x8a": "long", "\x8b": "long_long", "G": "float", "F": "float_line", "V": "words_line", "X": "words", "\x8c": "short_words",
    "\x8d": "long_words", "(": "mark", "]": "empty_list", "l": "list", "a": "append", "e": "appends", "}": "empty_dict",
    "d": "dict",
    "s": "setitem", "u": "setitems", "t": "tuple", ")": "no_tuple", "\x85": "tuple_1", "\x86": "tuple_2", "\x87": "tuple_3",
    "\x94": "memoize", "p": "put_line", "q": "put", "r": "long_put", "g": "get_line", "h": "get", "j": "long_get", "0": "pop",
    "1": "pop_mark", "2": "twice", "\x80": "protocol", "\x95": "frame", ".": "stop",
}  # fmt: skip
