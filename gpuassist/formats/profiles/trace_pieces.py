"""Events of a Chrome trace out of bytes that come in pieces, with no more held than a piece or two.

A piece is cut at the last `},` after which the part before it is a list of whole events: msgspec says whether it is, and reads only
the fields that are wanted. What it refuses is read event by event by Python's own reader, and what that refuses is stepped over.
"""

from __future__ import annotations

import json
from typing import Any, Union

import msgspec

from gpuassist.model.lazy_regex import lazy_regex

PIECE_BYTES = 4 << 20
_LONGEST_EVENT = 8 << 20
_LONGEST_HEAD = 64 << 20  # before the events: what the devices are, or a flow of other keys
_TRIES = 12
_BEGIN = lazy_regex(rb'"traceEvents"\s*:\s*\[')
_LIST = lazy_regex(rb"\A\s*\[\s*\{")
_BETWEEN = lazy_regex(r"[\s,]*")


class TraceEvent(msgspec.Struct, gc=False):
    """What is read of one: times in microseconds."""

    ph: str = ""
    cat: str = ""
    name: str = ""
    ts: float = 0.0
    dur: float = 0.0
    pid: Union[int, float, str, None] = None
    tid: Union[int, float, str, None] = None


class NoTraceError(ValueError):
    """The bytes are no Chrome trace."""


class TracePieces:
    """Takes pieces, gives events. `unreadable` counts what had to be stepped over, `ended` says that the list was closed."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._begun = False
        self._before = 0
        self._events = msgspec.json.Decoder(list[TraceEvent])
        self.unreadable = 0
        self.ended = False

    def feed(self, piece: bytes) -> list[TraceEvent]:
        """The events that are whole now; raises `NoTraceError` where it becomes clear that there are none."""
        if self.ended:
            return []
        self._held += piece
        if not self._begun and not self._begin():
            return []
        if len(self._held) < PIECE_BYTES:
            return []
        return self._whole()

    def close(self) -> list[TraceEvent]:
        """The rest, after the last piece; raises `NoTraceError` where there was no list of events."""
        if not self._begun:
            raise NoTraceError("no list of events")
        return [] if self.ended else self._slowly(last=True)

    def _begin(self) -> bool:
        found = _LIST.match(self._held) if not self._before else None
        place = found.end() - 1 if found is not None else -1
        if found is None:
            key = _BEGIN.search(self._held)
            if key is None:
                self._before += max(0, len(self._held) - 64)
                del self._held[:-64]
                if self._before > _LONGEST_HEAD:
                    raise NoTraceError("no list of events")
                return False
            place = key.end()
        del self._held[:place]
        self._begun = True
        return True

    def _whole(self) -> list[TraceEvent]:
        """Those before the last cut that makes whole events of what stands before it."""
        cut = len(self._held)
        for _ in range(_TRIES):
            cut = self._held.rfind(b"},", 0, cut)
            if cut < 0:
                break
            try:
                events = self._events.decode(b"".join((b"[", memoryview(self._held)[: cut + 1], b"]")))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue
            del self._held[: cut + 2]
            return events
        return self._slowly(last=False)

    def _slowly(self, *, last: bool) -> list[TraceEvent]:
        """One after another; what follows the last whole one is kept, unless nothing more comes."""
        words = self._held.decode("latin-1")  # places stay those of bytes; strings are decoded for themselves
        reader = json.JSONDecoder(parse_int=_number)
        events = list[TraceEvent]()
        place = missed = 0
        while True:
            found = _BETWEEN.match(words, place)
            place = found.end() if found is not None else place
            if place >= len(words):
                break
            if words[place] == "]":
                self.ended = True
                break
            try:
                event, place = reader.raw_decode(words, place)
            except (ValueError, RecursionError):
                if not last and len(words) - place < _LONGEST_EVENT:
                    break
                after = words.find("},", place + 1)
                missed += 1
                if after < 0:
                    place = len(words)
                    break
                place = after + 1
                continue
            made = _event(event)
            self.unreadable += missed + (made is None)
            missed = 0
            if made is not None:
                events.append(made)
        if self.ended or not last:  # else it is the part of an event with which a file ends that was cut off
            self.unreadable += missed
        del self._held[:place]
        return events


def _number(digits: str) -> int | float:
    return float(digits) if len(digits) > 18 else int(digits)


def _event(value: Any) -> TraceEvent | None:
    if not isinstance(value, dict):
        return None
    try:
        return TraceEvent(
            _words(value.get("ph")),
            _words(value.get("cat")),
            _words(value.get("name")),
            float(value.get("ts") or 0.0),
            float(value.get("dur") or 0.0),
            _owner(value.get("pid")),
            _owner(value.get("tid")),
        )
    except (TypeError, ValueError, OverflowError):
        return None


def _words(value: object) -> str:
    return value.encode("latin-1", "replace").decode("utf-8", "replace") if isinstance(value, str) else ""


def _owner(value: object) -> int | float | str | None:
    return value if isinstance(value, (int, float, str)) else None
