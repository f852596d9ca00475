"""Events that look as the ones before them, taken from the bytes with one pattern each, by the thousand.

Pickle writes every event of a kind by the same opcodes: the same keys (references to the memo, as their strings came before), and
values of the same types. The machine reads the first of a kind opcode by opcode; `learn` makes a pattern of it. A pattern may guess
where a list of frames ends; what it took for one is read exactly before it counts, and each different one only once.
"""

from __future__ import annotations

import re
from itertools import islice
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from gpuassist.formats.torch_snapshot.byte_stream import ByteStream
from gpuassist.formats.torch_snapshot.columns import ACTIONS, EventColumns, Shared
from gpuassist.formats.torch_snapshot.stack_table import FrameNumber, StackNumber, StackTable
from gpuassist.model.memory_snapshot import NO_STACK, NO_TEXT, TraceAction

if TYPE_CHECKING:
    from gpuassist.model.memory_snapshot import Small, Whole

_INT = rb"(?:\x8a\x06.{6}|K.|M..|J.{4}|\x8a(?:\x07.{7}|\x05.{5}|\x08.{8}|\x04.{4}|\x03.{3}|\x02..|\x01.))"
_GET = rb"h.|j.{4}"
_TEXT = b"|".join(b"\\x%02x.{%d}" % (length, length) for length in (*range(256),))
_WORDS = rb"h.|j.{4}|\x8c(?:" + _TEXT + rb")\x94"
_PAIR = rb"h.|j.{4}|(?:" + _INT + rb"){2}\x86\x94"
_FRAMES = rb"\]\x94(?:\((?:[^e]{0,4096}e){1,24}?|h.a|j.{4}a)?|h.|j.{4}"
_FLAG = rb"[N\x88\x89]"
_FIELDS = frozenset({"addr", "device_free", "size", "time_us", "stream", "action"})
_SHAPES_AT_MOST = 32
_AT_FIRST, _AT_ONCE = 1 << 12, 1 << 16  # bytes
_CACHED_BYTES = 32 << 20
_CACHED_NUMBERS = 1 << 16
_LIST, _WORD, _NEAR, _FAR, _MARKED, _APPENDED = ord("]"), 0x8C, ord("h"), ord("j"), ord("("), ord("a")
_SPARE_BYTES = 1 << 16
_OTHER = int(TraceAction.OTHER)
_MISSING = object()


class _Shape:
    """How the events of one kind are written: which group of the pattern has which field, and which of them may fill the memo."""

    def __init__(self, keys: tuple[str, ...], kinds: tuple[str, ...], gets: list[bytes]) -> None:
        pattern = [rb"\}\x94\("]
        self.at: dict[str, int] = {}
        self.memoized: list[tuple[int, str]] = []
        self.at_once = _AT_FIRST
        for key, kind, get in zip(keys, kinds, gets, strict=True):
            fills_memo = kind in ("words", "pair", "frames")
            kept = fills_memo or key in _FIELDS
            pattern += [re.escape(get), b"(" if kept else b"(?:", _KINDS[kind], b")"]
            if kept:
                self.at[key] = len(self.at)
            if fills_memo:
                self.memoized.append((self.at[key], kind))
        event = b"".join(pattern) + rb"u(?=[}e\x95])(?:e\(|\x95.{8})*"
        self.pattern = re.compile(event + b"|(.+)", re.DOTALL)
        self.address = self.at.get("addr", self.at.get("device_free", -1))
        self.frames = self.at.get("frames", -1)
        self.before_frames = [field for field in self.memoized if field[0] < self.frames]
        self.after_frames = [field for field in self.memoized if field[0] > self.frames]


_KINDS = {"int": _INT, "words": _WORDS, "pair": _PAIR, "frames": _FRAMES, "flag": _FLAG}


class _Numbers(dict[bytes, int]):
    """The numbers of opcodes with their bytes: sizes and addresses come again and again."""

    def __missing__(self, raw: bytes) -> int:
        if len(self) >= _CACHED_NUMBERS:
            self.clear()
        number = self[raw] = _int(raw)
        return number


class QuickRows:
    """Reads events of the shapes that it has learned."""

    def __init__(self, stacks: StackTable, shared: Shared) -> None:
        self._stacks, self._shared = stacks, shared
        self._shapes: dict[tuple[Any, ...], _Shape | None] = {}
        self._in_order: list[_Shape] = []
        self._places: dict[str, int] = {}
        self._stack_of: dict[bytes, StackNumber] = {}
        self._stack_bytes = 0
        self._numbers = _Numbers()

    def note_place(self, words: str, place: int) -> None:
        """Where in the memo a string stands: keys are written as references to it."""
        if len(self._places) < _CACHED_NUMBERS:
            self._places.setdefault(words, place)

    def learn(self, event: Any) -> None:
        """Makes a pattern of an event that was read opcode by opcode."""
        if not isinstance(event, dict) or len(event) < 2 or len(self._shapes) >= _SHAPES_AT_MOST:
            return
        kinds = tuple(_kind(key, value) for key, value in event.items())
        known = (tuple(event), kinds)
        if known in self._shapes:
            return
        shape = None
        if "" not in kinds and {"action", "size"} <= event.keys() and all(key in self._places for key in event):
            shape = _Shape(*known, [_get(self._places[key]) for key in event])
            self._in_order.append(shape)
            self._shapes[known] = shape

    def read(self, stream: ByteStream, memo: list[Any], columns: EventColumns) -> None:
        """Takes events from where the stream is, as many as are of known shapes."""
        if len(stream.buffer) - stream.place < _SPARE_BYTES:
            stream.peek(_SPARE_BYTES)
        tried = 0
        while tried < len(self._in_order):
            shape = self._in_order[0]
            if self._read_of(shape, stream, memo, columns):
                tried = 0
            else:
                tried += 1
                self._in_order.append(self._in_order.pop(0))

    def _read_of(self, shape: _Shape, stream: ByteStream, memo: list[Any], columns: EventColumns) -> bool:
        """Some events of one shape; few at a time at first, so that little is done in vain where one is not understood."""
        start, end = stream.place, min(stream.place + shape.at_once, len(stream.buffer))
        rows = shape.pattern.findall(stream.buffer, start, end)
        left = len(rows[-1][-1]) if rows else 0
        if left:
            rows.pop()
        if not rows:
            shape.at_once = min(shape.at_once * 2, _AT_ONCE)  # one event may be longer than that
            return False
        by_field = list(zip(*rows, strict=True))
        stacks = self._follow(shape, by_field, memo)
        count = len(stacks)
        shape.at_once = min(shape.at_once * 2, _AT_ONCE) if count == len(rows) else _AT_FIRST
        if not count:
            return False
        if count == len(rows):
            stream.place = end - left
        else:
            matches = shape.pattern.finditer(stream.buffer, start, end)
            stream.place = next(islice(matches, count - 1, None)).end()
            by_field = [column[:count] for column in by_field]
        self._put_columns(shape, by_field, stacks, memo=memo, columns=columns)
        return True

    def _put_columns(
        self, shape: _Shape, by_field: list[tuple[bytes, ...]], stacks: list[int], *, memo: list[Any], columns: EventColumns
    ) -> None:
        at, count = shape.at, len(stacks)
        zeros = np.zeros(count, np.int64)
        actions = by_field[at["action"]]
        of_each = {raw: self._action_of(raw, memo) for raw in set(actions)}
        columns.extend(
            map(of_each.__getitem__, actions),
            self._wholes(by_field[shape.address]) if shape.address >= 0 else zeros - 1,
            self._wholes(by_field[at["size"]]),
            time=self._wholes(by_field[at["time_us"]]) if "time_us" in at else zeros,
            stack=stacks,
            stream=self._streams(by_field[at["stream"]]) if "stream" in at else np.full(count, self._shared.stream(0), np.int32),
            note=self._notes(by_field[at["user_metadata"]], memo) if "user_metadata" in at else np.full(count, NO_TEXT, np.int32),
        )

    def _follow(self, shape: _Shape, by_field: list[tuple[bytes, ...]], memo: list[Any]) -> list[int]:
        """Fills the memo as the machine would, and tells the stack of each event; ends before the first that is not understood."""
        if shape.frames < 0:
            every = self._beside_frames(by_field, shape.memoized, (None,))
            for several in every:
                memo.extend(several)
            return [NO_STACK] * len(every)
        lists = by_field[shape.frames]
        before = self._beside_frames(by_field, shape.before_frames, (None,))
        after = self._beside_frames(by_field, shape.after_frames, ())
        stacks: list[int] = []
        known = self._stack_of
        from_bytes = int.from_bytes
        put, put_all = memo.append, memo.extend
        for raw, first, last in zip(lists, before, after, strict=True):
            number = known.get(raw)
            put_all(first)
            if number is not None:
                put(number)
            elif raw[0] == _LIST:
                number = self._stack_in(raw, memo)
                if number is None:
                    del memo[len(memo) - len(first) :]
                    break
                put(number)
            else:
                place = from_bytes(raw[1:], "little")
                number = memo[place] if place < len(memo) else None
                if type(number) is not StackNumber:
                    number = self._stacks.of_list(number) if type(number) is list else None
                    if number is None:
                        del memo[len(memo) - len(first) :]
                        break
            if last:
                put_all(last)
            stacks.append(number)
        return stacks

    def _beside_frames(
        self, by_field: list[tuple[bytes, ...]], fields: list[tuple[int, str]], always: tuple[Any, ...]
    ) -> list[tuple[Any, ...]]:
        """What the fields of each event put in the memo behind `always`: nothing where they refer to something that is there."""
        several: list[tuple[Any, ...]] = []
        for at, kind in fields:
            column = by_field[at]
            of_each = {raw: self._put_by(raw, kind) for raw in set(column)}
            if len(of_each) == 1:
                always += next(iter(of_each.values()))
            elif any(of_each.values()):
                more = list(map(of_each.__getitem__, column))
                several = [always + each for each in more] if not several else list(map(add, several, more))
                always = ()
            if several and always:
                several = [each + always for each in several]
                always = ()
        return several or [always] * len(by_field[0])

    def _put_by(self, raw: bytes, kind: str) -> tuple[Any, ...]:
        if raw[0] in (_NEAR, _FAR):
            return ()
        return (self._words_in(raw) if kind == "words" else self._shared.tuple(_pair(raw)),)

    def _stack_in(self, raw: bytes, memo: list[Any]) -> StackNumber | None:
        """The stack of a list of frames that were all seen before."""
        frames: list[int] = []
        place = 3 if raw[2:3] == b"(" else 2
        end = len(raw) - 1 if len(raw) > 2 else 2
        while place < end:
            value, place = _referred(raw, place, memo)
            if type(value) is dict and "filename" in value:
                value = self._stacks.frame(value)
            if type(value) is not FrameNumber:
                return None
            frames.append(value)
        if place != end:
            return None
        if self._stack_bytes > _CACHED_BYTES:
            self._stack_of.clear()
            self._stack_bytes = 0
        self._stack_bytes += len(raw) + 100
        number = self._stack_of[raw] = self._stacks.stack(frames)
        return number

    def _words_in(self, raw: bytes) -> str:
        words = raw[2:-1].decode("utf-8", "replace")
        known = self._shared.words
        return known.setdefault(words, words) if len(known) < _CACHED_NUMBERS else words

    def _words_of(self, raw: bytes, memo: list[Any]) -> object:
        return self._words_in(raw) if raw[0] == _WORD else _referred(raw, 0, memo)[0]

    def _action_of(self, raw: bytes, memo: list[Any]) -> int:
        words = self._words_of(raw, memo)
        return ACTIONS.get(words, _OTHER) if isinstance(words, str) else _OTHER

    def _notes(self, column: tuple[bytes, ...], memo: list[Any]) -> Small:
        of_each = {raw: self._shared.text(self._words_of(raw, memo)) for raw in set(column)}
        return np.fromiter(map(of_each.__getitem__, column), np.int32, len(column))

    def _streams(self, column: tuple[bytes, ...]) -> Small:
        of_each = {raw: self._shared.stream(_int(raw)) for raw in set(column)}
        return np.fromiter(map(of_each.__getitem__, column), np.int32, len(column))

    def _wholes(self, column: tuple[bytes, ...]) -> Whole:
        length = len(column[0])
        joined = b"".join(column)
        if column[0][0] == 0x8A and len(joined) == length * len(column):
            table = np.frombuffer(joined, np.uint8).reshape(len(column), length)
            if (table[:, 0] == 0x8A).all() and (table[:, 1] == length - 2).all():
                wide = np.zeros((len(column), 8), np.uint8)
                wide[:, : length - 2] = table[:, 2:]
                numbers = wide.view(np.int64).ravel()
                shift = 8 * (10 - length)
                return np.right_shift(np.left_shift(numbers, shift), shift)
        return np.fromiter(map(self._numbers.__getitem__, column), np.int64, len(column))


def _kind(key: object, value: object) -> str:
    if key == "frames":
        return "frames" if type(value) in (list, StackNumber) else ""
    if type(value) is tuple:
        return "pair" if len(value) == 2 and all(type(one) is int for one in value) else ""
    return {int: "int", str: "words", bool: "flag", type(None): "flag"}.get(type(value), "")


def _get(place: int) -> bytes:
    return bytes((_NEAR, place)) if place < 256 else bytes((_FAR,)) + place.to_bytes(4, "little")


def _referred(raw: bytes, place: int, memo: list[Any]) -> tuple[Any, int]:
    """What a reference stands for, and where the next one begins."""
    if raw[place] == _NEAR:
        number, end = raw[place + 1], place + 2
    elif raw[place] == _FAR:
        number, end = int.from_bytes(raw[place + 1 : place + 5], "little"), place + 5
    else:
        return _MISSING, place + 1
    return (memo[number] if number < len(memo) and end <= len(raw) else _MISSING), end


def _int(raw: bytes) -> int:
    """The number of an opcode with its bytes."""
    first = raw[0]
    if first == 0x8A:
        return int.from_bytes(raw[2:], "little", signed=True)
    return int.from_bytes(raw[1:], "little", signed=first == ord("J"))


def _pair(raw: bytes) -> tuple[int, int]:
    length = 2 + raw[1] if raw[0] == 0x8A else {ord("K"): 2, ord("M"): 3}.get(raw[0], 5)
    return _int(raw[:length]), _int(raw[length:-2])
