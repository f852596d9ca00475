"""The table of a pasted nvidia-smi, of every generation: driver, GPUs, memory, processes; what is cut off stays unasked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.detect.readers.facts import latest_first
from gpuassist.detect.readers.lines import Whole, source, whole
from gpuassist.model.driver import Driver, NvmlStatus
from gpuassist.model.fact import NOT_ASKED, Fact, Known
from gpuassist.model.gpu import Gpu, GpuProcess
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Host, Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version

PROGRAM = "nvidia-smi"

# `NVIDIA-SMI 470.57.02    Driver Version: 470.57.02    CUDA Version: 11.4`; from 610 on `KMD Version` and `CUDA UMD Version`.
# A version at the end of a line may be the beginning of one that the terminal broke there.
_DRIVER = r"(?:Driver|KMD)\s+Version:\s*(?P<driver>\d+\.[\d.]*\d|N/A|ERR!)(?=[ \t|*]|\n(?![\d.]))"
_CUDA = r"[\s|*]{1,60}CUDA\s+(?:UMD\s+)?Version:\s*(?P<cuda>\d+\.\d+|N/A|ERR!)(?![\d.])"
_HEADER = lazy_regex(rf"NVIDIA-SMI[ \t]+(?P<program>\d+\.[\d.]+)\s[ \t|*]{{0,60}}{_DRIVER}(?:{_CUDA})?")
_HALF_HEADER = lazy_regex(rf"(?P<program>(?!))?{_DRIVER}{_CUDA}")  # in prose, without the program's own version
# `|   0  NVIDIA A30          Off  | 00000000:01:00.0 Off |`; 0000:01:00.0 before 384, `0.` before 300, TCC/WDDM under Windows,
# no address where the GPU is part of the processor's chip.
_ROW = lazy_regex(
    r"(?:^|\|)[ \t]*(?P<index>\d{1,2})\.?[ \t]+(?P<name>[A-Za-z][^|\n]{0,60}?)"
    r"(?:[ \t]+(?P<mode>On|Off|N/A|ERR!|WDDM|TCC|MCDM))?\s{0,200}\|"
    r"\s{0,200}(?P<address>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]\b|N/A)(?:\s+(?P<display>On|Off|N/A|ERR!)\b)?",
    re.MULTILINE,
)
_MEMORY = lazy_regex(r"(?<![\d.])(\d{1,7})\s?Mi?B\s*/\s*(\d{1,7})\s?Mi?B")
_MODE = lazy_regex(r"\b(Default|E\. ?Process|E\. ?Thread|Prohibited)\b")
_MIG = lazy_regex(r"\|\s*(Enabled|Disabled)\b\*?\s*\|")
_RULE = lazy_regex(r"\+[-=]{5,}")
_ROW_AT_MOST = 700  # characters: three lines, or four where the terminal broke them
_NAMELESS = frozenset(("ERR!", "N/A", "Unknown", "[N/A]", "Unknown Error"))


def read(paste: Paste) -> tuple[Machine, ...]:
    """What each table shows, the last before the others: it is how things stand now."""
    if not any(literal in paste.words for literal in ("NVIDIA-SMI", "Bus-Id", "MiB /", "CUDA Version:")):
        return ()
    text = whole(paste)
    return tuple(
        Machine(host=Host(wsl=_wsl(table)), gpus=_gpus(table), driver=_driver(table))
        for table in latest_first(_tables(text), lambda table: text.words[table.start : table.end])
    )


class _Table(Struct, frozen=True):
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
        # nvidia-smi loads libcuda to ask for its CUDA version, and prints N/A where there is none.
        libcuda=table.text.known((), PROGRAM, header.start("cuda")) if header["cuda"] == "N/A" else NOT_ASKED,
        nvml_status=started,
    )


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


# Values as nvidia-smi spells them.


ABSENT = frozenset(("N/A", "[N/A]", "ERR!", "[Not Supported]", "[Unknown Error]", "Unknown Error", "Not Supported", ""))
# GPUs of Jetson modules, which are called by the chip that they are part of.
ON_CHIP = lazy_regex(r"(?:NVIDIA )?(?:Orin|Xavier|Thor|Tegra)\b")
# How NVIDIA's products are called where nothing else says that a word is the name of a GPU.
PRODUCT = lazy_regex(
    r"(?:NVIDIA|GeForce|Tesla|Quadro|TITAN|GRID|RTX|GTX|Graphics Device|Orin|Xavier|Thor|GH\d|GB\d|[ABHLPTV]\d{1,3}[A-Z]?\b)"
)

_MODES = {"Default": "default", "Prohibited": "prohibited"}


def address(words: str) -> str:
    """As sysfs writes it: `00000000:01:00.0` is 0000:01:00.0."""
    domain, _, rest = words.lower().partition(":")
    return f"{int(domain, 16):04x}:{rest}"


def mebibytes(number: str) -> int:
    """In bytes; what old versions call MB are mebibytes too."""
    return int(number) << 20


def compute_mode(words: str) -> str:
    """`E. Process` and `Exclusive_Process` are one mode."""
    return _MODES.get(words) or ("exclusive thread" if "hread" in words else "exclusive process")


# The table of processes below the GPUs of nvidia-smi, with or without the columns for MIG instances.


_TITLE = lazy_regex(r"(?:Compute processes|Processes):")
# `|    0   N/A  N/A      1234      C   python      1000MiB |`; before CUDA 11 without the two columns, before 340 without a type.
PROCESS_ROW = lazy_regex(
    r"(?:^|\|)[ \t]*(?P<gpu>\d{1,2})[ \t]+(?:(?:N/A|\d{1,3})[ \t]+(?:N/A|\d{1,3})[ \t]+)?(?P<pid>\d{1,8})[ \t]+"
    r"(?:(?P<kind>C\+G|M\+C|C|G)[ \t]+)?(?P<command>\S[^|\n]{0,200}?)[ \t]+"
    r"(?:(?P<memory>\d{1,7})\s?Mi?B|N/A|Not Supported)[ \t]*\|",
    re.MULTILINE,
)
NO_PROCESSES = lazy_regex(r"No running (?:compute )?processes found")
KINDS = {"C": "compute", "G": "graphics", "C+G": "compute+graphics", "M+C": "compute"}  # M+C: under MPS
_END = lazy_regex(r"\+[-=]{20,}\+")
_EMPTY = lazy_regex(r"\|={20,}\|\s{1,200}\+-{20,}\+")  # as in a container, which shows no processes


class ProcessTable(Struct, frozen=True):
    """The processes of each GPU; `whole` where the table is there to its end, so that a GPU without one has none."""

    rows: dict[int, tuple[GpuProcess, ...]]
    whole: bool
    source: str

    def added(self, index: int, gpu: Gpu) -> Gpu:
        """The GPU with its processes, where the table tells them."""
        rows = self.rows.get(index, ())
        return replace(gpu, processes=Known(rows, self.source) if rows or self.whole else NOT_ASKED)


def processes(text: Whole, start: int, end: int) -> ProcessTable:
    """What stands below the title `Processes:` between two places of a text."""
    title = _TITLE.search(text.words, start, end)
    if title is None:
        return ProcessTable({}, whole=False, source="")
    place_told = source(PROGRAM, text.line(title.start()))
    found: dict[int, tuple[GpuProcess, ...]] = {}
    place = title.end()
    for row in PROCESS_ROW.finditer(text.words, title.end(), end):
        memory = text.known(mebibytes(row["memory"]), PROGRAM, row.start()) if row["memory"] else NOT_ASKED
        found[int(row["gpu"])] = (*found.get(int(row["gpu"]), ()), GpuProcess(int(row["pid"]), KINDS.get(row["kind"], ""), memory))
        place = row.end()
    none = NO_PROCESSES.search(text.words, title.end(), end) or (not found and _EMPTY.search(text.words, title.end(), end))
    return ProcessTable(
        found, whole=bool(none) or (bool(found) and _END.search(text.words, place, end) is not None), source=place_told
    )
