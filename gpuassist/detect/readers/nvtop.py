"""The NVIDIA GPUs of a pasted screen of nvtop, several of which may stand side by side, or of its snapshot in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.detect.readers.facts import named
from gpuassist.detect.readers.lines import Line, lines, lines_with
from gpuassist.model.fact import value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste

PROGRAM = "nvtop"
_DEVICE = lazy_regex(r"\bDevice (?P<index>\d{1,2}) \[(?P<name>[^\[\]\n]{3,80})\]")
_MEMORY = lazy_regex(
    r"\bMEM\[[| ]{0,200}(?P<used>\d{1,4}\.\d{1,3})(?P<used_unit>[KMG]i)/(?P<total>\d{1,4}\.\d{1,3})(?P<unit>[KMG]i)\]"
)
_NAMED = lazy_regex(r"^\s*\"device_name\": \"(?P<name>[^\"\n]{3,80})\"")
_UNITS = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
_OF_OTHERS = ("AMD", "Radeon", "Intel", "Apple", "Adreno", "Arc")
_BELOW = 4  # lines from a device's heading down to its bars


def read(paste: Paste) -> Machine:
    """Its GPUs but for those of other makers, each once: a screen is drawn again and again."""
    shown = tuple(_shown(paste)) if "Device" in paste.words else ()
    gpus = tuple({value_or(gpu.index, 0): gpu for gpu in shown}.values()) or tuple(_snapshot(paste))
    return Machine(gpus=named(gpus))


def _shown(paste: Paste) -> Iterator[Gpu]:
    every = lines(paste)
    for place, line in enumerate(every):
        devices = tuple(_DEVICE.finditer(line.words)) if "Device" in line.words else ()
        bars = _bars(every[place + 1 : place + 1 + _BELOW]) if devices else ()
        for at, found in enumerate(devices):
            if _of_nvidia(found["name"]):
                gpu = Gpu(name=line.known(found["name"], PROGRAM), index=line.known(int(found["index"]), PROGRAM))
                yield _with_memory(gpu, *bars[at]) if len(bars) == len(devices) else gpu


def _bars(below: tuple[Line, ...]) -> tuple[tuple[Line, re.Match[str]], ...]:
    """The bars of memory in the line that has them, in the order of the devices above."""
    for line in below:
        found = tuple((line, bar) for bar in _MEMORY.finditer(line.words))
        if found:
            return found
    return ()


def _with_memory(gpu: Gpu, line: Line, found: re.Match[str]) -> Gpu:
    used = round(float(found["used"]) * _UNITS[found["used_unit"]])
    total = round(float(found["total"]) * _UNITS[found["unit"]])
    return replace(gpu, memory_used_bytes=line.known(used, PROGRAM), memory_total_bytes=line.known(total, PROGRAM))


def _snapshot(paste: Paste) -> Iterator[Gpu]:
    for line in lines_with(paste, '"device_name"'):
        found = _NAMED.match(line.words)
        if found and _of_nvidia(found["name"]):
            yield Gpu(name=line.known(found["name"], PROGRAM))


def _of_nvidia(name: str) -> bool:
    return not any(word in name.split() for word in _OF_OTHERS)
