"""The figures of "out of memory" messages: what was asked for, what the card has, and who holds how much of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

from msgspec import Struct

from gpuassist.formats.size import SIZE, read_size, shown_size
from gpuassist.model.lazy_regex import lazy_regex

_NEAR = 1500  # characters between words of one message; torch 2.5 prints 700 and as many lines of processes as there are
_BEFORE = 400
_MOST_READ = 256 << 10  # characters of regions: a log repeats itself
_MOST = 20
_NO_SIZE = 1 << 60
_ANCHOR = (
    r"out\s+of\s+memory|tried\s+to\s+allocate|total\s+capac|by\s+pytorch|already\s+allocated|failed\s+to\s+allocate|bad_alloc"
    r"|oom\s+when|trying\s+to\s+allocate|out\s+of\s+memory\s+allocating|allocation\s+on\s+device|cannot\s+allocate"
    r"|memory\s+on\s+device|requested\s+bytes|requested\s+buffer|amount\s+of\s+gpu\s+memory|kv\s+cache\s+memory|cudamalloc"
)
_LOWER, _ANY_CASE = lazy_regex(_ANCHOR), lazy_regex(_ANCHOR, re.IGNORECASE)
_WORDS = ("memory", "alloc", "total", "pytorch", "oom", "requested")  # each anchor holds one of them
_PIECE = 16 << 10
# What stands before each line of a quoted, boxed or logged message.
_PREFIX = lazy_regex(
    r"^[ \t]*(?:[>|│┃#*]+[ \t]?|\[?rank\s?\d+\]?:[ \t]*|\(\w+ pid=\d+[^)\n]{0,60}\)[ \t]*|\d+:[ \t])+", re.MULTILINE
)
_BITS = {
    "double": 64,
    "float": 32,
    "half": 16,
    "bfloat16": 16,
    "int64": 64,
    "int32": 32,
    "int16": 16,
    "int8": 8,
    "uint8": 8,
    "bool": 8,
}


class Platform(str, Enum):
    """Whose device ran out of memory."""

    CUDA = "CUDA"
    HIP = "HIP"
    XPU = "XPU"
    MPS = "MPS"
    OTHER = "other"


class ProcessUse(Struct, frozen=True):
    """A process that the message names."""

    pid: int
    used_bytes: int


class OutOfMemory(Struct, frozen=True):
    """One message; sizes in bytes, None where it does not give them.

    `allocated` are live tensors, those in private pools (`private`) among them; `unallocated` is held by the allocator and used
    by no tensor; `own` is all that the failing process has, with CUDA's context; `allowed` is a limit that the program set
    itself; `boundless`: more was asked for than any figure says; `old`: in the words of a torch before 2.1.
    """

    platform: Platform = Platform.CUDA
    device: int | None = None
    requested: int | None = None
    total: int | None = None
    free: int | None = None
    allocated: int | None = None
    private: int | None = None
    unallocated: int | None = None
    own: int | None = None
    allowed: int | None = None
    processes: tuple[ProcessUse, ...] = ()
    boundless: bool = False
    old: bool = False

    @property
    def reserved(self) -> int | None:
        """All that the allocator took from the device."""
        return None if self.allocated is None else self.allocated + (self.unallocated or 0)

    @property
    def figures(self) -> int:
        named = (self.requested, self.total, self.free, self.allocated, self.unallocated, self.own, self.allowed)
        return sum(1 for one in named if one is not None) + len(self.processes)


@lru_cache(maxsize=4)
def read_messages(words: str) -> tuple[OutOfMemory, ...]:
    """The messages of a text that give at least one figure, in its order."""
    found: list[OutOfMemory] = []
    for region in _regions(words):
        # Without anything that wrapping and quoting put into it: no white space at all.
        for piece in _pieces("".join(_PREFIX.sub("", region).split())):
            message = _read(piece)
            if message.figures or message.boundless:
                found.append(message)
            if len(found) == _MOST:
                return tuple(found)
    return tuple(found)


def principal(words: str) -> OutOfMemory | None:
    """The message that tells most; of equals the first, since what comes after is often a retry."""
    return max(read_messages(words), key=lambda one: one.figures, default=None)


def message_of(figures: OutOfMemory) -> str:
    """These figures in torch's words, for whoever reads them as its message: of an error that nobody printed."""
    words = ["CUDA out of memory."]
    if figures.requested is not None:
        words.append(f"Tried to allocate {shown_size(figures.requested)}.")
    if figures.total is not None and figures.free is not None:
        device = figures.device or 0
        words.append(
            f"GPU {device} has a total capacity of {shown_size(figures.total)} of which {shown_size(figures.free)} is free."
        )
    words += [f"Process {one.pid} has {shown_size(one.used_bytes)} memory in use." for one in figures.processes]
    if figures.own is not None:
        words.append(f"Including non-PyTorch memory, this process has {shown_size(figures.own)} memory in use.")
    if figures.allocated is not None:
        unused = shown_size(figures.unallocated or 0)
        words.append(
            f"Of the allocated memory {shown_size(figures.allocated)} is allocated by PyTorch, and {unused} is reserved by"
            f" PyTorch but unallocated."
        )
    return " ".join(words)


def _anchors(words: str) -> Iterator[tuple[int, int]]:
    """Piece by piece, for one long search lets no other thread run; in lower case, which is searched eight times as fast."""
    start = 0
    while start < len(words):
        end = words.find("\n", start + _PIECE) + 1 or len(words)
        piece = words[start:end]
        lowered = piece.lower()
        if any(word in lowered for word in _WORDS):
            found = _LOWER.finditer(lowered) if len(lowered) == len(piece) else _ANY_CASE.finditer(piece)
            yield from ((start + one.start(), start + one.end()) for one in found)
        start = end


def _regions(words: str) -> Iterator[str]:
    """The parts of the text that speak of memory; a message may be wrapped anywhere, so that only nearness holds it together."""
    start = end = -1
    read = 0
    for first, last in _anchors(words):
        if start >= 0 and first > end:
            yield words[start:end]
            read += end - start
            start = -1
        if read > _MOST_READ:
            return
        if start < 0:
            start = max(first - _BEFORE, end, 0)
        end = last + _NEAR
        if end - start > _MOST_READ:
            break
    if start >= 0:
        yield words[start : min(end, start + _MOST_READ)]


def _pieces(region: str) -> Iterator[str]:
    """One piece a message: each starts at its head, or where a region starts with half a message."""
    starts = [0, *(head.start() for head in HEAD.finditer(region))]
    for start, end in zip(starts, [*starts[1:], len(region)], strict=True):
        if end > start:
            yield region[start : min(end, start + 6000)]


def _read(piece: str) -> OutOfMemory:
    sizes = {name: size for name, pattern in FIGURES if (size := read_size(_told(pattern, piece))) is not None}
    sizes.update({name: int(number) for name, pattern in INTEGERS if (number := _told(pattern, piece))})
    if share := SHARE.search(piece):
        sizes.update(free=read_size(f"{share[1]}GiB") or 0, total=read_size(f"{share[2]}GiB") or 0)
    reserved = sizes.pop("reserved", None)
    allocated = sizes.get("allocated")
    if reserved is not None and allocated is not None:
        sizes["unallocated"] = max(0, reserved - allocated)
    if "requested" not in sizes and (tensor := TENSOR.search(piece)):
        sizes["requested"] = _tensor_bytes(tensor[1], tensor[2])
    # What is not known, or without limit, is printed as a number of all ones: 17179869184.00 GiB.
    sizes = {name: size for name, size in sizes.items() if size < _NO_SIZE or name == "requested"}
    listed = (ProcessUse(int(one[1]), read_size(one[2]) or 0) for one in PROCESS.finditer(piece))
    processes = tuple(one for one in listed if one.used_bytes < _NO_SIZE)
    return OutOfMemory(
        platform=_platform(piece),
        processes=tuple(dict.fromkeys(processes)),
        boundless="triedtoallocatemorethan1eb" in piece.lower(),
        old="alreadyallocated;" in piece.lower(),
        **sizes,
    )


def _told(pattern: re.Pattern[str], piece: str) -> str:
    """What the one group that took part in it holds; empty where the pattern does not fit."""
    found = pattern.search(piece)
    return next(one for one in found.groups() if one) if found else ""


def _platform(piece: str) -> Platform:
    found = OTHER_PLATFORM.search(piece)
    if found is None:
        return Platform.CUDA
    name = found[1].upper()[:3]
    return Platform(name) if name in {"HIP", "XPU", "MPS"} else Platform.OTHER


def _tensor_bytes(shape: str, kind: str) -> int:
    count = 1
    for extent in shape.split(",")[:12]:
        count *= int(extent or 1)
    return count * _BITS.get(kind.lower(), 32) // 8


# Where each figure of an "out of memory" message stands, in the words of every program, all white space taken out.


_S = f"({SIZE})"
_N = r"(\d{1,20})"


def _pattern(pattern: str) -> re.Pattern[str]:
    return lazy_regex(pattern, re.IGNORECASE)


HEAD = _pattern(
    r"MPSbackendoutofmemory(?:\([^()]{0,200}\))?\.?(?:triedtoallocate)?"
    r"|(?:(?:CUDA|HIP|XPU|NPU|MUSA|MLU|GCU)outofmemory)?[.,:]?(?<!you)triedtoallocate"
    r"|allocationondevice\d*would|oomwhenallocatingtensor|failedtoallocate[\d.]+[kmg]?i?b?\(\d+bytes\)|outofmemoryallocating"
    r"|outofmemorywhiletryingtoallocate|failedtoallocaterequestfor|allocating[\d.]+mi?bondevice\d|outofmemoryerrorongpu"
    r"|freememoryondevice"
)
"""Where a message begins."""

OTHER_PLATFORM = _pattern(r"(HIP|XPU|NPU|MUSA|MLU|GCU|MPS)(?:backend)?outofmemory")

# torch 1.0 to 1.3, 1.4 to 2.0, 2.1 and later; then cudaMallocAsync; then other programs.
FIGURES: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "requested",
        _pattern(
            rf"(?<!you)triedtoallocate{_S}|requested:{_S}|requestedsize:{_S}|tryingtoallocate{_S}|outofmemoryallocating{_S}"
            rf"|failedtoallocaterequestfor{_S}|allocating{_S}ondevice\d|cannotallocate{_S}memory|requestedbuffer(?:of)?size{_S}"
            rf"|amountofgpumemory\({_S}\)|desiredgpumemoryutilization\([\d.]+,{_S}\)|{_S}kvcacheisneeded"
        ),
    ),
    (
        "total",
        _pattern(rf"{_S}totalcapaci?ty|totalcapaci?tyof{_S}|devicelimit:{_S}"),
    ),
    (
        "free",
        _pattern(
            rf"{_S}free[;,)]|ofwhich{_S}isfree|free\(accordingto\w{{2,8}}\):{_S}|availablememoryisonly{_S}"
            rf"|availablekvcachememory\({_S}\)"
        ),
    ),
    (
        "allocated",
        _pattern(rf"{_S}alreadyallocated|allocatedmemory{_S}isallocated|currentlyallocated:{_S}|{_S}memoryhasbeenallocated"),
    ),
    ("private", _pattern(rf"with{_S}allocatedinprivatepools")),
    ("unallocated", _pattern(rf"{_S}isreservedbypytorchbutunallocated|{_S}cached\)")),
    ("reserved", _pattern(rf"{_S}reservedintotal")),
    ("own", _pattern(rf"thisprocesshas{_S}memoryinuse")),
    ("allowed", _pattern(rf"{_S}allowed;|pytorchlimit\([^()]{{0,80}}\):{_S}|limitsetto:{_S}")),
)

# Plain numbers of bytes, and the device.
INTEGERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("device", _pattern(r"GPU(\d{1,3})(?:;|hasatotal|,[\d.]+gbmemory)|ondevice(?:ordinal)?(\d{1,3})|device:GPU:(\d{1,3})")),
    ("requested", _pattern(rf"failedtoallocate[\d.]+[kmg]?i?b?\({_N}bytes\)|requestedbytesof{_N}|bufferofsize{_N}(?!\d*\.)")),
    ("free", _pattern(rf"availablememoryof{_N}issmaller")),
    ("allocated", _pattern(rf"limit:\d+inuse:{_N}")),
)

SHARE = _pattern(r"freememoryondevice(?:cuda:\d{1,3})?\((\d{1,9}\.\d{1,4})/(\d{1,9}\.\d{1,4})GiB\)")
"""What is free and what the card has, of vLLM, with one unit for both."""

PROCESS = _pattern(rf"process{_N}has{_S}memoryinuse")

TENSOR = _pattern(r"oomwhenallocatingtensorwithshape\[([\d,]{1,120})\]andtype(\w{3,9}?)(?:on/|on|$)")
