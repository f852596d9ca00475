"""A memory snapshot of realistic shape, as torch's pickler writes one: written in pieces, so that it may be larger than memory.

The keys, their order, the kinds of values and what is shared are those of `torch.cuda.memory._snapshot()` (torch 2.10): every
allocation has a list of frames of its own, whose frames are shared; a free refers to the list of its allocation or has its own.
"""

from __future__ import annotations

import pickle
import random
import struct
from typing import BinaryIO

_BATCH = 1000  # items that pickle writes between two marks
DEPTH = 34  # lines of a stack: a training step through a few modules


class _Writer:
    """Pickle's protocol 4 with a memo of our own, since events are not kept."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._pickler_memo = file, 0
        self._pieces: list[bytes] = []
        self._size = 0
        self.texts: dict[str, int] = {}

    def raw(self, *pieces: bytes) -> None:
        self._pieces += pieces
        self._size += sum(map(len, pieces))

    def boundary(self) -> None:
        """Where a frame may end: 64 KiB, as pickle has it."""
        if self._size >= 1 << 16:
            self.flush()

    def flush(self) -> None:
        body = b"".join(self._pieces)
        self._file.write(b"\x95" + struct.pack("<Q", len(body)) + body)
        self._pieces, self._size = [], 0

    def memoize(self) -> int:
        self.raw(b"\x94")
        self._pickler_memo += 1
        return self._pickler_memo - 1

    def get(self, place: int) -> bytes:
        return b"h" + bytes((place,)) if place < 256 else b"j" + struct.pack("<I", place)

    def text(self, words: str) -> None:
        place = self.texts.get(words)
        if place is None:
            encoded = words.encode()
            self.raw(b"\x8c" + bytes((len(encoded),)) + encoded)
            self.texts[words] = self.memoize()
        else:
            self.raw(self.get(place))

    def fresh(self, words: str) -> None:
        """A string that is a new object each time, as torch makes those of the user's metadata."""
        encoded = words.encode()
        self.raw(b"\x8c" + bytes((len(encoded),)) + encoded)
        self.memoize()

    def number(self, value: int) -> None:
        if 0 <= value < 256:
            self.raw(b"K" + bytes((value,)))
        elif 0 <= value < 65536:
            self.raw(b"M" + struct.pack("<H", value))
        elif -(1 << 31) <= value < 1 << 31:
            self.raw(b"J" + struct.pack("<i", value))
        else:
            body = pickle.encode_long(value)
            self.raw(b"\x8a" + bytes((len(body),)) + body)


class _Stacks:
    """Frames that are shared, and lists of them: most from the modules of a model, some deeper."""

    def __init__(self, writer: _Writer, count: int, randomness: random.Random) -> None:
        self._writer = writer
        self._frames: dict[int, int] = {}
        self._stacks = [self._made(number, randomness) for number in range(count)]

    @staticmethod
    def _made(number: int, randomness: random.Random) -> list[int]:
        inner = [1000 + number, 3000 + number % 40, 5000 + number % 12]
        return inner + [7000 + (number % 7) * 100 + depth for depth in range(randomness.randint(DEPTH - 20, DEPTH + 20))]

    def write(self, number: int) -> int:
        """A list of frames; the place of it in the memo."""
        writer = self._writer
        writer.raw(b"]")
        place = writer.memoize()
        writer.raw(b"(")
        for frame in self._stacks[number % len(self._stacks)]:
            known = self._frames.get(frame)
            if known is not None:
                writer.raw(writer.get(known))
            else:
                self._frame(frame)
        writer.raw(b"e")
        return place

    def _frame(self, frame: int) -> None:
        writer = self._writer
        writer.raw(b"}")
        self._frames[frame] = writer.memoize()
        own = frame < 3000
        writer.raw(b"(")
        for key, value in (
            ("name", f"function_{frame % 97}"),
            (
                "filename",
                f"/home/me/project/part_{frame % 23}.py"
                if own
                else f"/opt/venv/lib/python3.12/site-packages/torch/nn/{frame % 61}.py",
            ),
        ):
            writer.text(key)
            writer.text(value)
        writer.text("line")
        writer.number(frame % 1700)
        writer.raw(b"u")


def write_snapshot(file: BinaryIO, size: int, *, seed: int = 1, stacks: int = 800) -> int:
    """Writes a snapshot of at least `size` bytes: steps that allocate and free, a few tensors that stay. Returns its events."""
    randomness = random.Random(seed)
    file.write(b"\x80\x04")
    writer = _Writer(file)
    described = _Stacks(writer, stacks, randomness)
    writer.raw(b"}")
    writer.memoize()
    writer.raw(b"(")
    writer.text("segments")
    writer.raw(b"]")
    writer.memoize()
    writer.text("device_traces")
    writer.raw(b"]")
    writer.memoize()
    writer.raw(b"]")
    writer.memoize()
    count = _events(file, writer, described, size=size, randomness=randomness)
    writer.raw(b"a")
    writer.text("allocator_settings")
    writer.raw(b"}")
    writer.memoize()
    writer.raw(b"(")
    for key, value in (("PYTORCH_CUDA_ALLOC_CONF", ""), ("expandable_segments", "False")):
        writer.text(key)
        writer.text(value)
    writer.raw(b"u", b"u", b".")
    writer.flush()
    return count


def _events(file: BinaryIO, writer: _Writer, described: _Stacks, *, size: int, randomness: random.Random) -> int:
    count, address, time = 0, 0x7F30_0000_0000, 1_700_000_000_000_000
    living: list[tuple[int, int, int]] = []
    while file.tell() < size or count % _BATCH:
        if count % _BATCH == 0:
            writer.raw(b"(")
        time += randomness.randint(1, 900)
        if len(living) < 40 or (len(living) < 4000 and randomness.random() < 0.36):
            bytes_ = randomness.choice((512, 4096, 1 << 20, 12 << 20, randomness.randint(1, 1 << 27), 3 << 30))
            place = _event(writer, "alloc", address, bytes_, time=time, described=described, stack=count)
            living.append((address, bytes_, place))
            address += (bytes_ + 511) // 512 * 512
            count += 1
        else:
            place_of = randomness.randrange(max(len(living) - 200, 0), len(living))
            at, bytes_, place = living.pop(place_of)
            own = randomness.random() < 0.5
            _event(writer, "free_requested", at, bytes_, time=time, described=described, stack=-count if own else place)
            count += 1
            if count % _BATCH == 0:
                writer.raw(b"e(")
            _event(writer, "free_completed", at, bytes_, time=time, described=described, stack=place)
            count += 1
        if count % _BATCH == 0:
            writer.raw(b"e")
    return count


def _event(writer: _Writer, action: str, address: int, size: int, *, time: int, described: _Stacks, stack: int) -> int:
    """One event; for an allocation or a negative number a stack of its own, else a reference to that of its allocation."""
    writer.raw(b"}")
    writer.memoize()
    writer.raw(b"(")
    for key, value in (("action", action), ("addr", address), ("size", size), ("stream", 0), ("time_us", time)):
        writer.text(key)
        if isinstance(value, str):
            writer.text(value)
        else:
            writer.number(value)
    writer.text("compile_context")
    writer.fresh("N/A")
    writer.text("user_metadata")
    writer.text("")
    writer.text("frames")
    place = stack
    if action == "alloc" or stack < 0:
        place = described.write(abs(stack) * 7919)
    else:
        writer.raw(writer.get(stack))
    writer.raw(b"u")
    writer.boundary()
    return place
