"""Makes hostile inputs of honest ones, the same for the same seed: in its JSON where it is JSON, in its lines, in its bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

LARGEST = 64 << 10
_WORDS = (
    *(
        b"\x1b[31m",
        b"\x1b]0;title\x07",
        b"\x9b2J",
        "\u202e\u2066".encode(),
        b"\r",
        b"\0",
        b"\xff\xfe",
        b"\xc3\x28",
        "\u2028²٣".encode(),
    ),
    *(
        b"0",
        b"-1",
        b"18446744073709551616",
        b"9" * 400,
        b"9" * 5000,
        b"1e999",
        b"NaN",
        b"Infinity",
        b"0iB",
        b"0x",
        b"1.2.3.4.5",
        b"%s{}%",
    ),
    *(
        b"[" * 5000,
        b'{"a":' * 3000,
        b"(" * 3000,
        b"'",
        b'"',
        b"`",
        b"$(",
        b"${",
        b"<<EOF\n",
        b"\\\n",
        b"fi\n",
        b"}\n",
        b"end\n",
        b"\t",
    ),
    *(
        b"CUDA_VISIBLE_DEVICES=",
        b"export PATH=$PATH:\n",
        b"/usr/local/cuda-99.9/bin",
        b"../" * 9,
        b"GPU-",
        b"MIG-",
        b"MiB",
        b"a" * 4000,
    ),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1 << 64, -(1 << 63), int("9" * 400), 1e308, -0.0, float("nan"), float("inf")),
    *(
        "",
        "\0",
        "\x1b[2J",
        "\u202e",
        "\ud800",
        "\r\n",
        "9" * 5000,
        "²",
        "0" * 30,
        "../../etc/passwd",
        "%s{}",
        "x" * 5000,
        "12.4",
        "8.9",
    ),
    *([], {}, [[]], [None], {"": None}, {"value": None}, {"value": 1, "source": 2}, {"value": [], "source": "x"}),
)


class Mutator:
    """Inputs from a corpus; `dictionary` is what may be put in anywhere."""

    def __init__(self, corpus: Sequence[bytes], seed: int, dictionary: Sequence[bytes] = ()) -> None:
        self._corpus = tuple(corpus)
        self._random = random.Random(seed)
        self._dictionary = (*_WORDS, *dictionary)

    def next(self) -> bytes:
        """Another one."""
        return self.mutated(self._random.choice(self._corpus))

    def mutated(self, data: bytes) -> bytes:
        """Something near to this."""
        for _ in range(self._random.choice((1, 1, 2, 4, 8))):
            data = self._random.choice(self._ways(data))(data)[:LARGEST]
        return data

    def _ways(self, data: bytes) -> tuple[Callable[[bytes], bytes], ...]:
        ways = (self._lines, self._bytes, self._word, self._number)
        return (self._json, self._json, self._json, *ways) if data[:1] in {b"{", b"["} else ways

    def _json(self, data: bytes) -> bytes:
        try:
            document = json.loads(data)
        except (ValueError, RecursionError):
            return self._bytes(data)
        places = list(_places(document))
        if not places:
            return data
        for _ in range(self._random.choice((1, 1, 3))):
            holder, key = self._random.choice(places)
            self._replace(holder, key, places)
        try:
            return json.dumps(document, ensure_ascii=self._random.random() < 0.5).encode("utf-8", "surrogatepass")
        except (ValueError, RecursionError):  # it was put into itself
            return data

    def _replace(self, holder: Any, key: Any, places: list[tuple[Any, Any]]) -> None:
        try:
            old = holder[key]
        except (LookupError, TypeError):  # an earlier change took it away
            return
        what = self._random.randrange(5)
        if what == 0:
            del holder[key]
        elif what == 1 and isinstance(old, list):
            holder[key] = (old * self._random.choice((2, 50)))[:200]
        elif what == 2:
            other, name = self._random.choice(places)
            with_it = other[name] if (name in other if isinstance(other, dict) else name < len(other)) else None
            holder[key] = json.loads(json.dumps(with_it))
        elif what == 3 and isinstance(old, str):
            holder[key] = self._word(old.encode("utf-8", "replace")).decode("utf-8", "replace")
        else:
            holder[key] = self._random.choice(_VALUES)

    def _lines(self, data: bytes) -> bytes:
        lines = data.split(b"\n")
        first = self._random.randrange(len(lines))
        last = min(len(lines), first + self._random.choice((1, 1, 3, 20)))
        other = self._random.choice(self._corpus).split(b"\n")
        start = self._random.randrange(len(other))
        piece = other[start : start + self._random.choice((1, 3, 20))]
        ways = (
            [*lines[:first], *lines[last:]],
            [*lines[:last], *lines[first:]],
            [*lines[:first], *piece, *lines[last:]],
            [*lines[:first], *reversed(lines[first:last]), *lines[last:]],
            [*lines[:last], *(lines[first:last] * 30), *lines[last:]],
            lines[:last],
            lines[first:],
        )
        return self._random.choice((b"\n", b"\n", b"\n", b"\r\n", b"\r")).join(self._random.choice(ways))

    def _bytes(self, data: bytes) -> bytes:
        first = self._random.randrange(len(data) + 1)
        last = min(len(data), first + self._random.choice((0, 1, 1, 4, 64)))
        fresh = self._random.choice(
            (b"", self._random.randbytes(self._random.choice((1, 4))), data[first:last] * 2, bytes(reversed(data[first:last])))
        )
        return data[:first] + fresh + data[last:]

    def _word(self, data: bytes) -> bytes:
        first = self._random.randrange(len(data) + 1)
        return data[:first] + self._random.choice(self._dictionary) + data[first + self._random.choice((0, 0, 1, 8)) :]

    def _number(self, data: bytes) -> bytes:
        digits = [place for place in range(len(data)) if data[place : place + 1].isdigit()]
        if not digits:
            return self._word(data)
        first = last = self._random.choice(digits)
        while data[last : last + 1].isdigit():
            last += 1
        number = self._random.choice(
            (b"0", b"00", b"-1", b"7", b"99999999999", b"9" * 400, b"", b"1e9", b".", "²".encode(), "٣".encode())
        )
        return data[:first] + number + data[last:]


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every member of every list and object, as what holds it and its key."""
    found: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        one = waiting.pop()
        keys: Any = one if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else ()
        for key in keys:
            found.append((one, key))
            waiting.append(one[key])
    return found
