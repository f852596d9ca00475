"""What torch says of its own memory: `memory_summary()`, `memory_stats()`, `mem_get_info()`, the bare figures, a snapshot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.formats.size import read_size
from gpuassist.model.lazy_regex import lazy_regex

_READ = 256 << 10  # characters from the first word of memory on
_SMALLEST = 1 << 20  # bytes: a card's own figures are not smaller
_MARKS = (
    "memory_allocated",
    "memory_reserved",
    "memory_cached",
    "mem_get_info",
    "CUDA memory summary",
    "allocated_bytes.all",
    "reserved_bytes.all",
    "active_allocated",
)
_BOTH = lazy_regex(r"\ballocated\b", re.IGNORECASE), lazy_regex(r"\b(?:reserved|cached)\b", re.IGNORECASE)
_SIZE = r"(?P<size>\d{1,20}(?:\.\d{1,20})?(?:e[+-]?\d{1,2})?(?:\s?(?:[KMGT]i?B|[Bb]ytes|[KMGT]B?|B)\b)?)"

WORKSPACES = (8_519_680, 33_554_432)
"""What torch from 2.0 on takes for cuBLAS at the first matrix product on a stream where CUBLAS_WORKSPACE_CONFIG is not set:
`:4096:2:16:8`, and 32 MiB on compute capability 9, in releases of 2026 on 10, 11 and 12 as well; later ones give it back at once
(parseChosenWorkspaceSize in aten/src/ATen/cuda/CublasHandlePool.cpp; pull requests 89027, 175344, 189312, 194311 of pytorch).
"""


class AllocatorFigures(Struct, frozen=True):
    """In bytes, None where the text does not say: what is in use and was at most, what torch has of the driver and had at most,
    what is free on the card and its size; `ooms` counts failed requests, `blocks` are the sizes of a snapshot's blocks in use.
    """

    allocated: int | None = None
    allocated_peak: int | None = None
    reserved: int | None = None
    reserved_peak: int | None = None
    free: int | None = None
    total: int | None = None
    device: int | None = None
    ooms: int | None = None
    blocks: tuple[int, ...] = ()

    @property
    def workspace(self) -> int:
        """How much of what is in use is cuBLAS's workspace, where the figures themselves show it; 0 elsewhere."""
        shown = [block for block in self.blocks if block == WORKSPACES[0]]
        if shown:
            return sum(shown)
        return self.allocated if self.allocated is not None and is_workspace(self.allocated) else 0


def is_workspace(count: int) -> bool:
    """Whether it is what cuBLAS has, on one stream or a few; 32 MiB alone is what many tensors have."""
    return count > 0 and count % WORKSPACES[0] == 0 and count // WORKSPACES[0] <= _MOST_STREAMS


_MOST_STREAMS = 4


@lru_cache(4)
def read_allocator(words: str) -> AllocatorFigures | None:
    """The last figures of each kind; None where the text has none of them."""
    start = min((place for mark in _MARKS if (place := words.find(mark)) >= 0), default=-1)
    if start < 0 and not (len(words) < _READ and all(one.search(words) for one in _BOTH)):
        return _card(words) if len(words) < 80 else None
    piece = words[max(0, start - 2000) : start + _READ] if start >= 0 else words
    found = AllocatorFigures()
    for reader in (_logged, _bare, _stats, _summary, _of_card, _snapshot):
        for name, size in reader(piece):
            found = replace(found, **{name: size})
    labels_alone = start < 0 and (found.allocated is None or found.reserved is None)  # of any program, maybe of something else
    return None if found == AllocatorFigures() or labels_alone else found


Figure = tuple[str, "int | tuple[int, ...]"]

# `memory_summary()`: a table of current, peak, and all that was ever taken and given back.
_ROW = lazy_regex(
    r"^[ \t]*\|[ \t]*(?P<label>Allocated memory|Active memory|GPU reserved memory)[ \t]*\|[ \t]*(?P<now>\d{1,12} [KMGTP]?i?B)[ \t]*"
    r"\|[ \t]*(?P<peak>\d{1,12} [KMGTP]?i?B)[ \t]*\|",
    re.MULTILINE,
)
_DEVICE = lazy_regex(r"CUDA memory summary, device ID (\d{1,2})")
_OOMS = lazy_regex(r"CUDA OOMs:\s{1,4}(\d{1,9})|num_ooms'(?::|,) (\d{1,9})")


def _summary(piece: str) -> Iterator[Figure]:
    for row in _ROW.finditer(piece):
        name = "reserved" if "reserved" in row["label"] else "allocated"
        if row["label"] == "Active memory":  # the same but for blocks that another stream still works on
            continue
        yield name, read_size(row["now"]) or 0
        yield f"{name}_peak", read_size(row["peak"]) or 0
    device, ooms = _DEVICE.search(piece), _OOMS.search(piece)
    if device:
        yield "device", int(device[1])
    if ooms:
        yield "ooms", int(ooms[1] or ooms[2])


# `memory_stats()`: a dictionary of bytes.
_STAT = lazy_regex(r"'(?P<name>allocated|reserved)_bytes\.all\.(?P<which>current|peak)'\s{0,2}[,:]\s{0,2}(?P<bytes>\d{1,20})")


def _stats(piece: str) -> Iterator[Figure]:
    for found in _STAT.finditer(piece):
        yield found["name"] if found["which"] == "current" else f"{found['name']}_peak", int(found["bytes"])


# The calls with what they printed, in any program's words: `torch.cuda.memory_allocated(): 5.00 GB`, `Reserved: 20971520`.
_CALL = lazy_regex(
    r"\b(?P<peak>max_)?memory_(?P<name>allocated|reserved|cached)(?:\([^()\n]{0,40}\))?"
    r"(?: ?/ ?(?P<divisor>1e9|1e6|1024(?: ?\*\* ?\d)?"
    r"|2 ?\*\* ?\d0|1024 ?/ ?1024(?: ?/ ?1024)?))?[)'\"\]]{0,4}(?:\s{0,3}(?:[:=]|->|is|returns?)\s{0,3}|\s{0,3}\n[ \t>]{0,8}"
    rf"(?:Out\[\d{{1,4}}\]: )?)(?P<sign>-)?{_SIZE}"
)
_LABEL = lazy_regex(
    r"^[ \t>*-]{0,8}(?:(?:GPU|CUDA|torch|PyTorch|Max|Peak|Current)\s){0,3}(?:memory\s)?(?P<name>allocated|reserved|cached)"
    rf"(?:\s(?:GPU\s)?memory)?(?:\s?\([^()\n]{{0,20}}\))?\s{{0,4}}[:=]\s{{0,4}}{_SIZE}[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_UNIT = r"\d{1,12}(?:\.\d{1,9})?\s?[KMGT]i?B"
_LOGGED = lazy_regex(
    rf"\ballocated\b[^\n\d]{{0,12}}(?P<allocated>{_UNIT})\b[^\n]{{0,60}}?\b(?:reserved|cached)\b[^\n\d]{{0,12}}(?P<reserved>{_UNIT})\b",
    re.IGNORECASE,
)
_POWERS = {"1e9": 10**9, "1e6": 10**6, "1024": 1 << 10, "1024**2": 1 << 20, "1024**3": 1 << 30, "2**20": 1 << 20, "2**30": 1 << 30}
_POWERS.update({"1024/1024": 1 << 20, "1024/1024/1024": 1 << 30})


def _bare(piece: str) -> Iterator[Figure]:
    for found in (*_CALL.finditer(piece), *_LABEL.finditer(piece)):
        groups = found.groupdict()
        peak = groups.get("peak") or re.match(r"[\s>*-]*(?:max|peak)\s", found[0], re.IGNORECASE)
        name = "allocated" if found["name"].lower() == "allocated" else "reserved"
        size = _bytes(found["size"], (groups.get("divisor") or "").replace(" ", ""))
        if size is not None:
            yield f"{name}_peak" if peak else name, size


def _logged(piece: str) -> Iterator[Figure]:
    """Both in one line of a log, each with its unit."""
    for found in _LOGGED.finditer(piece):
        yield "allocated", read_size(found["allocated"]) or 0
        yield "reserved", read_size(found["reserved"]) or 0


def _bytes(words: str, divisor: str) -> int | None:
    """A size with its unit, or whole bytes; a fraction without a unit can be anything."""
    if divisor:
        number = re.match(r"[\d.]{1,30}", words)
        return round(float(number[0]) * _POWERS[divisor]) if number and divisor in _POWERS and number[0].count(".") < 2 else None
    return int(words) if words.isdecimal() else read_size(words)


# `mem_get_info()`: what is free on the card, and the card.
_INFO = lazy_regex(r"mem_get_info[^\n]{0,60}\n?[^\n(]{0,40}\((?P<free>\d{1,20}), (?P<total>\d{1,20})\)")
_PAIR = lazy_regex(r"\s*\((?P<free>\d{7,20}), (?P<total>\d{9,20})\)\s*")


def _of_card(piece: str) -> Iterator[Figure]:
    for found in _INFO.finditer(piece):
        if int(found["free"]) <= int(found["total"]) >= _SMALLEST:
            yield "free", int(found["free"])
            yield "total", int(found["total"])


def _card(words: str) -> AllocatorFigures | None:
    """The pair alone; a card has gigabytes."""
    found = _PAIR.fullmatch(words)
    if found is None or int(found["free"]) > int(found["total"]) or int(found["total"]) < 1 << 29:
        return None
    return AllocatorFigures(free=int(found["free"]), total=int(found["total"]))


# `memory_snapshot()`: the blocks that are in use.
_BLOCK = lazy_regex(r"'(?:requested_)?size': (?P<size>\d{1,20}),[^{}\[\]]{0,200}?'state': 'active_allocated'")
_SEGMENT = lazy_regex(r"'total_size': (\d{1,20})")
_MOST_BLOCKS = 2000


def _snapshot(piece: str) -> Iterator[Figure]:
    blocks = tuple(int(found["size"]) for found in _BLOCK.finditer(piece))
    if blocks:
        yield "blocks", blocks[:_MOST_BLOCKS]
        yield "allocated", sum(blocks)
        yield "reserved", sum(int(found[1]) for found in _SEGMENT.finditer(piece))
