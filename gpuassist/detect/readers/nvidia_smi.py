"""The table of a pasted nvidia-smi, of every generation: driver, GPUs, memory, processes; what is cut off stays unasked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gpuassist.detect.readers.lines import Whole, whole
from gpuassist.detect.readers.nvidia_smi_processes import processes
from gpuassist.detect.readers.nvidia_smi_values import ABSENT, ON_CHIP, address, compute_mode, mebibytes
from gpuassist.detect.readers.repeated import latest_first
from gpuassist.model.driver import Driver, Library, NvmlStatus
from gpuassist.model.fact import NOT_ASKED, Fact
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Host, Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version

PROGRAM = "nvidia-smi"

# `NVIDIA-SMI 470.57.02    Driver Version: 470.57.02    CUDA Version: 11.4`; from 610 on `KMD Version` and `CUDA UMD Version`.
# A version at the end of a line may be the beginning of one that the terminal broke there.
_DRIVER = r"(?:Driver|KMD)\s+Version:\s*(?P<driver>\d+\.[\d.]*\d|N/A|ERR!)(?=[ \t|*]|\n(?![\d.]))"
_CUDA = r"[\s|*]{1,60}CUDA\s+(?:UMD\s+)?Version:\s*(?P<cuda>\d+\.\d+|N/A|ERR!)(?![\d.])"
_HEADER = re.compile(rf"NVIDIA-SMI[ \t]+(?P<program>\d+\.[\d.]+)\s[ \t|*]{{0,60}}{_DRIVER}(?:{_CUDA})?")
_HALF_HEADER = re.compile(rf"(?P<program>(?!))?{_DRIVER}{_CUDA}")  # in prose, without the program's own version
# `|   0  NVIDIA A30          Off  | 00000000:01:00.0 Off |`; 0000:01:00.0 before 384, `0.` before 300, TCC/WDDM under Windows,
# no address where the GPU is part of the processor's chip.
_ROW = re.compile(
    r"(?:^|\|)[ \t]*(?P<index>\d{1,2})\.?[ \t]+(?P<name>[A-Za-z][^|\n]{0,60}?)"
    r"(?:[ \t]+(?P<mode>On|Off|N/A|ERR!|WDDM|TCC|MCDM))?\s{0,200}\|"
    r"\s{0,200}(?P<address>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]\b|N/A)(?:\s+(?P<display>On|Off|N/A|ERR!)\b)?",
    re.MULTILINE,
)
_MEMORY = re.compile(r"(?<![\d.])(\d{1,7})\s?Mi?B\s*/\s*(\d{1,7})\s?Mi?B")
_MODE = re.compile(r"\b(Default|E\. ?Process|E\. ?Thread|Prohibited)\b")
_MIG = re.compile(r"\|\s*(Enabled|Disabled)\b\*?\s*\|")
_RULE = re.compile(r"\+[-=]{5,}")
_ROW_AT_MOST = 700  # characters: three lines, or four where the terminal broke them
_NAMELESS = frozenset(("ERR!", "N/A", "Unknown", "[N/A]", "Unknown Error"))


def read(paste: Paste) -> tuple[Machine, ...]:
    """What each table shows, the last before the others: it is how things stand now."""
    if not any(literal in paste.words for literal in ("NVIDIA-SMI", "Bus-Id", "MiB /", "CUDA Version:")):
        return ()
    text = whole(paste)
    return tuple(
        Machine(host=Host(wsl=_wsl(table)), gpus=_gpus(table), driver=_driver(table))
        for table in latest_first(_tables(text), _words)
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """A piece of the text that starts with a header; before the first header there may be the rest of a table."""

    text: Whole
    start: int
    end: int
    header: re.Match[str] | None

    def find(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        return pattern.finditer(self.text.words, self.start, self.end)


def _tables(text: Whole) -> Iterator[_Table]:
    headers = list(_HEADER.finditer(text.words)) or list(_HALF_HEADER.finditer(text.words))
    ends = [header.start() for header in headers] + [len(text.words)]
    yield _Table(text, 0, ends[0], None)
    for header, end in zip(headers, ends[1:], strict=True):
        yield _Table(text, header.start(), end, header)


def _words(table: _Table) -> str:
    return table.text.words[table.start : table.end]


def _driver(table: _Table) -> Driver:
    header = table.header
    if header is None:
        return Driver()
    started = table.text.known(NvmlStatus(0, "NVML_SUCCESS"), PROGRAM, header.start())
    told = header["driver"] not in ABSENT
    if header["cuda"] is None or header["cuda"] in ABSENT:
        cuda: Fact[Version] = NOT_ASKED
    else:
        cuda = table.text.known(Version.parse(header["cuda"]), PROGRAM, header.start("cuda"))
    return Driver(
        version=table.text.known(Version.parse(header["driver"]), PROGRAM, header.start("driver")) if told else NOT_ASKED,
        cuda_version=cuda,
        libcuda=_libcuda(table, header),
        nvml_status=started,
    )


def _libcuda(table: _Table, header: re.Match[str]) -> Fact[tuple[Library, ...]]:
    """nvidia-smi loads libcuda to ask for its CUDA version, and prints N/A where there is none."""
    return table.text.known((), PROGRAM, header.start("cuda")) if header["cuda"] == "N/A" else NOT_ASKED


def _wsl(table: _Table) -> Fact[int]:
    """Only under WSL are the program and the driver of different versions, Linux' and Windows' own; else NVML refuses."""
    header = table.header
    if header is None or header["program"] is None or header["driver"] in ABSENT:
        return NOT_ASKED
    program, driver = Version.parse(header["program"]), Version.parse(header["driver"])
    both_recent = min(program.major, driver.major) >= 450  # WSL's first driver was 455
    differs = both_recent and len(driver.parts) == 2 and program.parts[:2] != driver.parts
    return table.text.known(2, PROGRAM, header.start()) if differs else NOT_ASKED


def _gpus(table: _Table) -> Fact[tuple[Gpu, ...]]:
    rows = [row for row in table.find(_ROW) if row["address"] not in ABSENT or ON_CHIP.match(row["name"])]
    if not rows:
        return NOT_ASKED
    running = processes(table.text, table.start, table.end)
    ends = [row.start() for row in rows[1:]] + [table.end]
    found = {int(row["index"]): _gpu(table, row, end) for row, end in zip(rows, ends, strict=True)}
    listed = tuple(running.added(index, gpu) for index, gpu in found.items())
    return table.text.known(listed, PROGRAM, rows[0].start("index"))


def _gpu(table: _Table, row: re.Match[str], end: int) -> Gpu:
    text = table.text
    rule = _RULE.search(text.words, row.end(), end)
    end = min(end, rule.start() if rule else end, row.end() + _ROW_AT_MOST)

    memory, mode = _MEMORY.search(text.words, row.end(), end), _MODE.search(text.words, row.end(), end)
    mig = _MIG.search(text.words, memory.end() if memory else row.end(), end)
    name = " ".join(row["name"].split()).removesuffix(" (nvgpu)")
    return Gpu(
        pci_address=NOT_ASKED if row["address"] in ABSENT else text.known(address(row["address"]), PROGRAM, row.start("address")),
        name=NOT_ASKED if name in _NAMELESS else text.known(name, PROGRAM, row.start("name")),
        index=text.known(int(row["index"]), PROGRAM, row.start("index")),
        memory_used_bytes=text.known(mebibytes(memory[1]), PROGRAM, memory.start()) if memory else NOT_ASKED,
        memory_total_bytes=text.known(mebibytes(memory[2]), PROGRAM, memory.start()) if memory else NOT_ASKED,
        display_active=text.known(row["display"] == "On", PROGRAM, row.start("display"))
        if row["display"] in {"On", "Off"}
        else NOT_ASKED,
        compute_mode=text.known(compute_mode(mode[1]), PROGRAM, mode.start()) if mode else NOT_ASKED,
        mig_enabled=text.known(mig[1] == "Enabled", PROGRAM, mig.start()) if mig else NOT_ASKED,
    )
