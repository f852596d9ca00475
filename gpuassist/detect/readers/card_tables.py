"""What nvidia-smi's tables of links and loads show: `topo -m`, `nvlink -s`, `dmon`."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gpuassist.detect.readers.lines import Line, lines, lines_with
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.paste import Paste

_MOST = 64  # GPUs
_LINK = lazy_regex(r"(?:X|SYS|NODE|PHB|PXB|PIX|PIX\*|C2C|NV\d{1,2}|N/A)$")
_GPU = lazy_regex(r"GPU\d{1,2}$")


class GpuLink(Struct, frozen=True):
    """How two GPUs are joined, in the letters of `topo -m` (NV4, PHB, SYS), and the line that says so."""

    first: int
    second: int
    kind: str
    line: int


def topology(paste: Paste) -> tuple[GpuLink, ...]:
    """Each pair of GPUs once."""
    heading: list[str] = []
    found: dict[tuple[int, int], GpuLink] = {}
    for line in lines_with(paste, "GPU"):
        words = line.words[:2000].replace("\x1b[4m", " ").replace("\x1b[0m", " ").split()
        if len(words) > 1 and all(_GPU.match(word) for word in words[:2]):
            heading = list(_until(words))
        elif heading and words and _GPU.match(words[0]) and len(words) > len(heading):
            first = int(words[0][3:])
            for name, kind in zip(heading, words[1:], strict=False):
                second = int(name[3:])
                if _LINK.match(kind) and kind != "X" and first < _MOST:
                    found.setdefault((min(first, second), max(first, second)), GpuLink(first, second, kind, line.number))
    return tuple(found.values())


def _until(words: list[str]) -> Iterator[str]:
    for word in words:
        if not _GPU.match(word):
            return
        yield word


class LinkedGpu(Struct, frozen=True):
    """The NVLinks of a GPU: how many are up, how many are not, and the speed of one in GB/s as it is printed."""

    index: int
    active: int
    inactive: int
    speed: str


_NVLINK_GPU = lazy_regex(r"^\s{0,4}GPU (?P<index>\d{1,2}): \S")
_NVLINK = lazy_regex(r"^\s{1,12}Link \d{1,2}: (?:(?P<speed>\d{1,4}(?:\.\d{1,4})?) GB/s|<inactive>)\s*$")


def nvlinks(paste: Paste) -> tuple[LinkedGpu, ...]:
    """The GPUs that have links."""
    found: list[LinkedGpu] = []
    index = -1
    if "Link " not in paste.words:
        return ()
    for line in lines_with(paste, "GPU ", "Link "):
        gpu, link = _NVLINK_GPU.match(line.words), _NVLINK.match(line.words)
        if gpu:
            index = int(gpu["index"])
        elif link and index >= 0:
            last = found.pop() if found and found[-1].index == index else LinkedGpu(index, 0, 0, "")
            up = link["speed"] is not None
            found.append(LinkedGpu(index, last.active + up, last.inactive + (not up), link["speed"] or last.speed))
    return tuple(found)


class GpuLoad(Struct, frozen=True):
    """A row of `dmon`: the columns that it shows, by their names (sm, mem, pwr, gtemp, fb, pclk …)."""

    index: int
    values: tuple[tuple[str, str], ...]
    line: int


_DMON = lazy_regex(r"^\s*#\s*gpu\s+(?!pid\b)(?:[a-z_0-9]{1,8}\s*){1,30}$")


def loads(paste: Paste) -> tuple[GpuLoad, ...]:
    """The last row of each GPU: a list goes on and on."""
    found: dict[int, GpuLoad] = {}
    columns: list[str] = []
    start = next((line.number for line in lines_with(paste, "# gpu") if _DMON.match(line.words[:300])), 0)
    for line in lines(paste)[start - 1 :] if start else ():
        if _DMON.match(line.words[:300]):
            columns = line.words.replace("#", " ").split()
            continue
        row = _row(line, columns)
        if row is not None:
            found[row.index] = row
    return tuple(found.values())


def _row(line: Line, columns: list[str]) -> GpuLoad | None:
    words = line.words[:300].split()
    if len(words) != len(columns) or not words or not all(word == "-" or word.replace(".", "", 1).isdecimal() for word in words):
        return None
    told = tuple((name, word) for name, word in zip(columns[1:], words[1:], strict=True) if word != "-")
    return GpuLoad(int(words[0]), told, line.number) if words[0].isdecimal() else None
