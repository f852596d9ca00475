"""The GPUs of a pasted gpustat: names, memory, processes, and the driver's version in its heading."""

from __future__ import annotations

import re

from gpuassist.detect.readers.lines import Line, first, lines
from gpuassist.model.driver import Driver
from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.gpu import Gpu, GpuProcess
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version

PROGRAM = "gpustat"
# `[0] Tesla T4 | 27'C,  90 %,   0 %,   27 / 250 W |   103 / 16384 MB | me:python/1234(101M)`; what it calls MB are mebibytes.
_ROW = lazy_regex(
    r"^[ \t]{0,8}\[(?P<index>\d{1,2})\] (?P<name>[A-Z][^|\n]{2,70}?)[ \t]*\|[^|\n]{0,90}[%C][^|\n]{0,60}\|"
    r"[ \t]*(?P<used>\d{1,7}|\?\?)[ \t]*/[ \t]*(?P<total>\d{2,7}|\?\?)[ \t]*MB\b[ \t]*(?:\|(?P<processes>[^\n]{0,2000}))?$"
)
_PROCESS = lazy_regex(r"/(?P<pid>\d{1,8})\((?P<used>\d{1,7}|\?)M\)")
_HEADING = lazy_regex(r"\s(?P<driver>\d{3}\.\d{1,3}(?:\.\d{1,3})?)$")


def read(paste: Paste) -> Machine:
    if " MB" not in paste.words:
        return Machine()
    rows = [(line, found) for line in lines(paste) if " MB" in line.words and (found := _ROW.match(line.words[:3000]))]
    if not rows:
        return Machine()
    last = max(place for place, (_, found) in enumerate(rows) if found["index"] == rows[0][1]["index"])
    table = rows[last:]
    start = table[0][0]
    gpus = start.known(tuple(_gpu(line, found) for line, found in table), PROGRAM)
    above = lines(paste)[max(0, start.number - 2) : start.number - 1]
    version = first(above, _HEADING, PROGRAM, lambda found: Version.parse(found["driver"]))
    return Machine(gpus=gpus, driver=Driver(version=version))


def _gpu(line: Line, found: re.Match[str]) -> Gpu:
    # The processes with their numbers (`-p`); gpustat leaves out those of others that it may not see, so none is not told.
    words = found["processes"] or ""
    processes = tuple(GpuProcess(int(one["pid"]), "", _mebibytes(line, one["used"])) for one in _PROCESS.finditer(words))
    return Gpu(
        name=line.known(found["name"], PROGRAM),
        index=line.known(int(found["index"]), PROGRAM),
        memory_total_bytes=_mebibytes(line, found["total"]),
        memory_used_bytes=_mebibytes(line, found["used"]),
        processes=line.known(processes, PROGRAM) if processes else NOT_ASKED,
    )


def _mebibytes(line: Line, words: str) -> Fact[int]:
    return line.known(int(words) << 20, PROGRAM) if words.isdigit() else NOT_ASKED
