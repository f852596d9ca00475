"""The process that reads what a profiler left: what a stranger wrote is not read where the user's window lives.

It holds no more memory than it is allowed, and what it cannot do it says in one line.
"""

from __future__ import annotations

import json
import os
import re
import resource
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator

import msgspec

from gpuassist.formats.profiles.flame_graph import FlameGraphReader, TooManyFramesError
from gpuassist.formats.profiles.python_profile import read_statistics
from gpuassist.formats.profiles.samples import read_begins_and_ends, read_speedscope
from gpuassist.formats.profiles.scalene import read_scalene, read_scalene_page
from gpuassist.formats.profiles.tables import read_any_text
from gpuassist.formats.profiles.trace_pieces import NoTraceError
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.profile import ProfileReading
from gpuassist.session.profiling.answers import ChildLine, NotRead, ReadNothing, ReadSoFar, ReadWhole
from gpuassist.system.parent_end import hear_of_parents_end

_PIECE = 1 << 20
_MEMORY_BYTES = 4 << 30
_TELL_EVERY_SECONDS = 0.1
_HEAD = 1 << 16
_MOST_WHOLE = 256 << 20  # what is read as a whole: cProfile's files and those of sampling profilers
_MOST_TEXT = 16 << 20
_JSON = lazy_regex(rb"\s*(?:\{|\[\s*(?:[{\]]|\d+,|\Z))")  # a line of a log begins with a bracket, too
_SAMPLERS = (b"speedscope", b'"elapsed_time_sec"', b'"alloc_samples"', b'"py-spy"')
_PICTURE = lazy_regex(rb"\s{0,99}(?:\xef\xbb\xbf)?<(?:\?xml|!DOCTYPE svg|!--|svg)", re.IGNORECASE)
_PAGE = lazy_regex(rb"\s{0,99}(?:\xef\xbb\xbf)?<(?:!DOCTYPE html|html|!--)", re.IGNORECASE)
_ENDINGS = {
    ".nsys-rep": NotRead.NSYS_REPORT,
    ".qdrep": NotRead.NSYS_REPORT,
    ".qdstrm": NotRead.NSYS_STREAM,
    ".ncu-rep": NotRead.NCU_REPORT,
}

Tell = Callable[[int, int], None]
Readings = tuple[ProfileReading, ...]


class UnreadError(Exception):
    """The file cannot be read; `why` says so."""

    def __init__(self, why: NotRead, words: str = "") -> None:
        super().__init__(words)
        self.why, self.words = why, words


def main() -> int:
    """Reports on the descriptor that is named first, of the file that is named second."""
    hear_of_parents_end()
    descriptor, path = int(sys.argv[-2]), sys.argv[-1]
    with os.fdopen(descriptor, "wb", buffering=0) as out:
        _limit_memory()

        def say(line: ChildLine) -> None:
            out.write(msgspec.json.encode(line) + b"\n")

        say(read(path, _telling(say)))
    return 0


def read(path: str, tell: Tell) -> ReadWhole | ReadNothing:
    """The profile in a file, or why there is none."""
    try:
        return ReadWhole(_readings(path, tell))
    except UnreadError as error:
        return ReadNothing(error.why, error.words)
    except OSError as error:
        return ReadNothing(NotRead.NO_FILE, error.strerror or str(error))
    except MemoryError:
        return ReadNothing(NotRead.MEMORY)
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        return ReadNothing(NotRead.NUMPY)
    except (ValueError, TypeError, RecursionError, zlib.error) as error:
        return ReadNothing(NotRead.DAMAGED, str(error)[:200])


def _limit_memory() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = _MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(_MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _telling(say: Callable[[ChildLine], None]) -> Tell:
    """Not more often than somebody looks."""
    last = 0.0

    def tell(done: int, of: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _TELL_EVERY_SECONDS:
            last = now
            say(ReadSoFar(done, of))

    return tell


def _readings(path: str, tell: Tell) -> Readings:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadError(NotRead.NO_FILE, os.strerror(21) if stat.S_ISDIR(status.st_mode) else "")
        head = file.read(_HEAD)
        file.seek(0)
        size = status.st_size
        known = next((why for ending, why in _ENDINGS.items() if path.endswith(ending)), None)
        if not head:
            raise UnreadError(NotRead.EMPTY)
        if head.startswith(b"SQLite format 3\0"):
            from gpuassist.session.profiling.nsys_export import read_export

            return (read_export(path, size, tell),)
        if b"memray" in head[:64] and b"\0" in head[:64]:  # also where it is packed
            raise UnreadError(NotRead.MEMRAY)
        if known is not None or head.startswith((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")):
            raise UnreadError(known or (NotRead.LINE_PROFILE if b"line_profiler" in head[:200] else NotRead.SNAPSHOT))
        if head.startswith(b"\x1f\x8b"):
            return (_trace(_unpacked(_pieces(file, size, tell))),)
        return _plain(file, head, size, tell)


def _plain(file: object, head: bytes, size: int, tell: Tell) -> Readings:
    if head[:1] in {b"{", b"\xfb"} and head[1:2] and head[1] & 0x7F in b"()":  # no JSON goes on so
        return (read_statistics(_whole(file, size)),)
    if _JSON.match(head) and b'"Total Time' not in head:
        if any(word in head for word in _SAMPLERS):
            document = json.loads(_whole(file, size))
            found = read_speedscope(document) or read_scalene(document) or read_begins_and_ends(document)
            if found is None:
                raise UnreadError(NotRead.NO_EVENTS)
            return (found,)
        return (_trace(_pieces(file, size, tell)),)
    if _PICTURE.match(head) and b"<svg" in head:
        return (_flame_graph(file, size, tell),)
    if _PAGE.match(head):
        return (_page(file, head, size),)
    if b"\0" in head:
        raise UnreadError(NotRead.NOTHING_KNOWN)
    words = b"".join(_pieces(file, min(size, _MOST_TEXT), tell)).decode("utf-8", "replace")
    readings = read_any_text(words)
    if not readings:
        raise UnreadError(NotRead.NOTHING_KNOWN)
    return readings


def _flame_graph(file: object, size: int, tell: Tell) -> ProfileReading:
    if size > _MOST_WHOLE:
        raise UnreadError(NotRead.TOO_LARGE)
    reader = FlameGraphReader()
    try:
        for piece in _pieces(file, size, tell):
            reader.feed(piece)
    except TooManyFramesError as error:
        raise UnreadError(NotRead.TOO_LARGE) from error
    found = reader.reading()
    if found is None:
        raise UnreadError(NotRead.PICTURE)
    return found


def _page(file: object, head: bytes, size: int) -> ProfileReading:
    """Of all the pages that profilers make scalene's alone holds what it shows as it was measured."""
    if b"<title>memray" in head:
        raise UnreadError(NotRead.MEMRAY_PAGE)
    found = read_scalene_page(_whole(file, size).decode("utf-8", "replace")) if b"calene" in head else None
    if found is None:
        raise UnreadError(NotRead.PAGE)
    return found


def _whole(file: object, size: int) -> bytes:
    if size > _MOST_WHOLE:
        raise UnreadError(NotRead.TOO_LARGE)
    return b"".join(_pieces(file, size, lambda done, of: None))


def _pieces(file: object, size: int, tell: Tell) -> Iterator[bytes]:
    """Up to the size that the file had: one that is still written does not grow under us."""
    done = 0
    while done < size and (piece := file.read(min(_PIECE, size - done))):  # type: ignore[attr-defined]
        done += len(piece)
        yield piece
        tell(done, size)


def _unpacked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Of a gzip file, whose members may follow each other; a damaged end is what is missing, and not an error."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    for piece in pieces:
        rest = piece
        while rest:
            made = unpacker.decompress(rest, _PIECE)
            if made:
                yield made
            rest = unpacker.unconsumed_tail
            if unpacker.eof:
                rest = unpacker.unused_data
                unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
                if rest and not rest.startswith(b"\x1f"):
                    return


def _trace(pieces: Iterator[bytes]) -> ProfileReading:
    from gpuassist.formats.profiles.trace import TraceReader

    reader = TraceReader()
    try:
        for piece in pieces:
            reader.feed(piece)
        return reader.reading()
    except NoTraceError as error:
        raise UnreadError(NotRead.NO_EVENTS, str(error)) from error
