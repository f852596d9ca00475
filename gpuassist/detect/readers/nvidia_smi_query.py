"""What pasted `nvidia-smi -q`, `-L`, `--query-gpu=… --format=csv` and `--version` tell of driver and GPUs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.detect.readers.facts import named
from gpuassist.detect.readers.labels import is_report
from gpuassist.detect.readers.lines import Line, first, lines, lines_with
from gpuassist.detect.readers.nvidia_smi import ABSENT, KINDS, PRODUCT, PROGRAM, address, compute_mode, mebibytes
from gpuassist.model.driver import Driver, NvmlStatus
from gpuassist.model.fact import NOT_ASKED, Fact, Known, value_or
from gpuassist.model.gpu import Gpu, GpuProcess
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import ComputeCapability, Version

# The fields of a GPU as both of them name them.


_MEBIBYTES = lazy_regex(r"(\d{1,8})(?: ?MiB| ?MB)?")

_Field = tuple[re.Pattern[str], Callable[[re.Match[str]], Any]]
_NUMBER: _Field = (lazy_regex(r"\d{1,3}"), lambda found: int(found[0]))
_MEMORY: _Field = (_MEBIBYTES, lambda found: mebibytes(found[1]))
_SWITCH: _Field = (lazy_regex(r"(Enabled|Yes)|Disabled|No"), lambda found: found[1] is not None)
# What the value of each field looks like as a whole, and what is made of it; any other says nothing.
_VALUES: dict[str, _Field] = {
    "name": (lazy_regex(r".*"), lambda found: found[0]),
    "pci_address": (lazy_regex(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]"), lambda found: address(found[0])),
    "pci_id": (lazy_regex(r"0x([0-9A-Fa-f]{4})10DE", re.IGNORECASE), lambda found: f"10de:{found[1].lower()}"),
    "uuid": (lazy_regex(r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), lambda found: found[0]),
    "index": _NUMBER,
    "minor": _NUMBER,
    "memory_total_bytes": _MEMORY,
    "memory_used_bytes": _MEMORY,
    "compute_capability": (lazy_regex(r"\d{1,2}\.\d"), lambda found: ComputeCapability.parse(found[0])),
    "compute_mode": (lazy_regex(r"Default|Prohibited|Exclusive_(?:Process|Thread)"), lambda found: compute_mode(found[0])),
    "display_active": _SWITCH,
    "mig_enabled": _SWITCH,
}


def added(gpu: Gpu, name: str, line: Line, words: str) -> Gpu:
    """The GPU with the fact that a value of this field makes; as it is where the value says nothing."""
    pattern, made = _VALUES[name]
    found = None if words in ABSENT else pattern.fullmatch(words)
    return replace(gpu, **{name: line.known(made(found), PROGRAM)}) if found else gpu


# `-q`: a line for each value.


_GPU = lazy_regex(r"^\s*GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])$")
_VALUE = lazy_regex(r"^\s*(?P<label>[A-Z][\w ./()-]{0,60}?)\s*:\s(?P<value>.*)$")
_VERSION = lazy_regex(r"\d{1,4}\.\d[\d.]*")
# (section, label); a section is the last line above that has no value of its own, "" where any does.
_LABELS = {
    ("", "Product Name"): "name",
    ("", "GPU UUID"): "uuid",
    ("", "Minor Number"): "minor",
    ("", "Device Id"): "pci_id",
    ("", "Display Active"): "display_active",
    ("", "Compute Mode"): "compute_mode",
    ("MIG Mode", "Current"): "mig_enabled",
    ("FB Memory Usage", "Total"): "memory_total_bytes",
    ("FB Memory Usage", "Used"): "memory_used_bytes",
    ("Memory Usage", "Total"): "memory_total_bytes",
    ("Memory Usage", "Used"): "memory_used_bytes",
}
# 610 prints the old labels too, with the advice to use the new ones in place of a value.
_DRIVER = ("KMD Version", "Driver Version", "DRIVER version", "KMD version")
_CUDA = ("CUDA UMD Version", "CUDA Version")


def read(paste: Paste) -> Machine:
    """The GPUs that `-q` describes, the driver above them."""
    if "NVSMI LOG" not in paste.words and "Product Name" not in paste.words and "NVML version" not in paste.words:
        return Machine()
    every = lines(paste)
    version, cuda = _version(every, _DRIVER), _version(every, _CUDA)
    started = Known(NvmlStatus(0, "NVML_SUCCESS"), version.source) if isinstance(version, Known) else NOT_ASKED
    return Machine(
        gpus=named(gpu for block in _blocks(every) if (gpu := _gpu(block)).name != NOT_ASKED),
        driver=Driver(version=version, cuda_version=cuda, nvml_status=started),
    )


def _version(every: tuple[Line, ...], labels: tuple[str, ...]) -> Fact[Version]:
    def made(found: re.Match[str]) -> Version | None:
        told = found["label"] in labels and _VERSION.fullmatch(found["value"].strip())
        return Version.parse(found["value"]) if told else None

    return first(every, _VALUE, PROGRAM, made)


def _blocks(every: tuple[Line, ...]) -> Iterator[list[Line]]:
    """Each GPU's lines, its address first; a text that starts below an address has a GPU of no address."""
    block: list[Line] = []
    for line in every:
        if _GPU.match(line.words):
            yield block
            block = []
        block.append(line)
    yield block


def _gpu(block: list[Line]) -> Gpu:
    gpu, section = Gpu(), _Section("")
    for line in block:
        start, found = _GPU.match(line.words), _VALUE.match(line.words)
        if start:
            gpu = Gpu(pci_address=line.known(address(start[1]), PROGRAM))
        elif found:
            section = section.after(found["label"])
            name = _LABELS.get(("", found["label"])) or _LABELS.get((section.name, found["label"]))
            value = found["value"].strip()
            gpu = added(gpu, name, line, value) if name else _with_process(gpu, line, found["label"], value)
        elif line.words.strip():
            section = _Section(line.words.strip())
    return gpu


def _with_process(gpu: Gpu, line: Line, label: str, value: str) -> Gpu:
    """The GPU with one more process, or with what one more line tells of the last one."""
    if label == "Processes" and value == "None":
        return replace(gpu, processes=line.known((), PROGRAM))
    running = value_or(gpu.processes, ())
    if label == "Process ID" and value.isdecimal():
        return replace(gpu, processes=line.known((*running, GpuProcess(int(value), "")), PROGRAM))
    if not running or label not in {"Type", "Used GPU Memory"}:
        return gpu
    memory = _MEBIBYTES.fullmatch(value)
    last = running[-1]
    if label == "Type":
        last = replace(last, kind=KINDS.get(value, ""))
    elif memory:
        last = replace(last, memory_used_bytes=line.known(mebibytes(memory[1]), PROGRAM))
    return replace(gpu, processes=line.known((*running[:-1], last), PROGRAM))


class _Section(Struct, frozen=True):
    """A heading and the labels below it so far: one that comes again is of another section, whose heading is lost."""

    name: str
    labels: frozenset[str] = frozenset()

    def after(self, label: str) -> _Section:
        return _Section("") if label in self.labels else _Section(self.name, self.labels | {label})


# `--query-gpu`: rows, by their heading or by the command above them.


_COLUMNS = {
    "index": "index",
    "name": "name",
    "gpu_name": "name",
    "uuid": "uuid",
    "gpu_uuid": "uuid",
    "pci.bus_id": "pci_address",
    "gpu_bus_id": "pci_address",
    "pci.device_id": "pci_id",
    "memory.total": "memory_total_bytes",
    "memory.used": "memory_used_bytes",
    "compute_cap": "compute_capability",
    "compute_mode": "compute_mode",
    "mig.mode.current": "mig_enabled",
    "display_active": "display_active",
}
_COMMAND = lazy_regex(r"--query-gpu[= ]([\w.,]+)")
_HEADING = lazy_regex(r"^[a-z_.]+(?: \[\w+%?\])?(?:, [a-z_.]+(?: \[[\w%]+\])?)*$")
_UNIT = lazy_regex(r" \[[\w%]+\]$")
_DRIVER_VERSION = lazy_regex(r"\d{2,4}\.\d[\d.]*")
_KNOWN_ALONE = frozenset(("driver_version", "compute_cap"))
_ROWS_AT_MOST = 64


class _Table(Struct, frozen=True):
    columns: tuple[str, ...]
    rows: tuple[tuple[Line, tuple[str, ...]], ...]


def read_rows(paste: Paste) -> Machine:
    """GPUs and driver of the first such table that names GPUs."""
    if "--query-gpu" not in paste.words and not any(name in paste.words for name in ("driver_version", "compute_cap", "name,")):
        return Machine()
    tables = list(_tables(lines(paste)))
    every = (
        named(_each_once(gpu for row in table.rows if (gpu := _row_gpu(table.columns, *row)).name != NOT_ASKED)) for table in tables
    )
    gpus = next((told for told in every if isinstance(told, Known)), NOT_ASKED)
    driver = next((version for table in tables if isinstance(version := _driver(table), Known)), NOT_ASKED)
    return Machine(gpus=gpus, driver=Driver(version=driver))


def _each_once(gpus: Iterable[Gpu]) -> Iterator[Gpu]:
    """A list of processes names a GPU with each."""
    seen: set[str] = set()
    for gpu in gpus:
        uuid = value_or(gpu.uuid, "")
        if not uuid or uuid not in seen:
            yield gpu
        seen.add(uuid)


def _tables(every: tuple[Line, ...]) -> Iterator[_Table]:
    for place, line in enumerate(every):
        columns = _columns(line.words.strip())
        if columns:
            yield _Table(columns, tuple(_rows(every[place + 1 : place + 1 + _ROWS_AT_MOST], columns)))


def _columns(words: str) -> tuple[str, ...]:
    called = _COMMAND.search(words)
    if called:
        return tuple(called[1].split(","))
    if len(words) > 1000 or not _HEADING.match(words):
        return ()
    columns = tuple(_UNIT.sub("", column) for column in words.split(", "))
    several = len(columns) > 1 and sum(column in _COLUMNS or column == "driver_version" for column in columns) > 1
    return columns if several or columns[0] in _KNOWN_ALONE else ()


def _rows(below: tuple[Line, ...], columns: tuple[str, ...]) -> Iterator[tuple[Line, tuple[str, ...]]]:
    """Lines of as many values as there are columns; below a command its heading comes first."""
    for line in below:
        values = tuple(value.strip() for value in line.words.split(","))
        if len(values) != len(columns) or not line.words.strip() or _COMMAND.search(line.words):
            return
        if _columns(line.words.strip()) != columns:
            yield line, values


def _row_gpu(columns: tuple[str, ...], line: Line, values: tuple[str, ...]) -> Gpu:
    gpu = Gpu()
    for column, value in zip(columns, values, strict=True):
        name = _COLUMNS.get(column, "")
        if name and (name != "name" or PRODUCT.match(value)):
            gpu = added(gpu, name, line, value)
    return gpu


def _driver(table: _Table) -> Fact[Version]:
    if "driver_version" not in table.columns:
        return NOT_ASKED
    place = table.columns.index("driver_version")
    for line, values in table.rows:
        if _DRIVER_VERSION.fullmatch(values[place]):
            return line.known(Version.parse(values[place]), PROGRAM)
    return NOT_ASKED


# `-L`: the GPUs with their MIG devices, and what nvidia-smi says when NVML does not start.


_LISTED = lazy_regex(
    r"(?:^|[\s,;])GPU (?P<index>\d{1,2}): (?P<name>[A-Z][^:()\n]{1,60}?)\s*"
    r"(?:\((?P<marked>UUID: (?P<uuid>GPU-[0-9a-f-]{36})?[^)]*|S/N: [^)]*)\)?|$)"  # a UUID may have been made unreadable
)
_MIG = lazy_regex(r"^\s*MIG (?P<profile>\d\S{0,30})\s+Device\s+\d{1,2}: \(UUID: (?P<uuid>MIG-[\w/-]{8,80})\)")
_MAKERS = (
    "NVIDIA ",
    "GeForce ",
    "Tesla ",
    "Quadro ",
    "TITAN ",
    "GRID ",
    "A100",
    "A10",
    "A30",
    "A40",
    "H100",
    "GH200",
    "Orin ",
    "Xavier",
)
_STARTED_NOT = lazy_regex(r"Failed to initialize NVML: (?P<words>[A-Za-z/ ]{5,40})")
_STATUS = {
    "driver/library version mismatch": NvmlStatus(18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH"),
    "insufficient permissions": NvmlStatus(4, "NVML_ERROR_NO_PERMISSION"),
    "gpu is lost": NvmlStatus(15, "NVML_ERROR_GPU_IS_LOST"),
    "unknown error": NvmlStatus(999, "NVML_ERROR_UNKNOWN"),
}
_LIBRARY = lazy_regex(r"NVML library version: (\d{3}\.\d+(?:\.\d+)?)")


def read_list(paste: Paste) -> Machine:
    # The last refusal; that no driver answers is left to who can tell an absent one from one that is not loaded.
    told: Fact[NvmlStatus] = NOT_ASKED
    for line in lines_with(paste, "Failed to initialize NVML"):
        found = _STARTED_NOT.search(line.words)
        status = next((one for words, one in _STATUS.items() if found and found["words"].lower().startswith(words)), None)
        told = line.known(status, PROGRAM) if status else told
    version = first(lines_with(paste, "NVML library version"), _LIBRARY, PROGRAM, lambda found: found[1])
    return Machine(gpus=_listed_gpus(paste), driver=Driver(nvml_status=told, nvml_version=version))


def _listed_gpus(paste: Paste) -> Fact[tuple[Gpu, ...]]:
    """Each number's last line; a line without an UUID is one of nvidia-smi where it ends with a name of NVIDIA's."""
    found: dict[int, Gpu] = {}
    bare = not is_report(paste.words)  # which lists its GPUs without UUIDs
    for line in lines_with(paste, "GPU ", "MIG "):
        for row in _LISTED.finditer(line.words):
            if row["marked"] or (bare and row["name"].startswith(_MAKERS)):
                found.pop(int(row["index"]), None)
                found[int(row["index"])] = Gpu(
                    name=line.known(row["name"], PROGRAM),
                    index=line.known(int(row["index"]), PROGRAM),
                    uuid=line.known(row["uuid"], PROGRAM) if row["uuid"] else NOT_ASKED,
                )
        mig = _MIG.match(line.words)
        if mig and found:
            _, last = found.popitem()
            found[value_or(last.index, 0)] = replace(
                last,
                mig_enabled=line.known(value=True, program=PROGRAM),
                mig_uuids=line.known((*value_or(last.mig_uuids, ()), mig["uuid"]), PROGRAM),
            )
    return named(found[index] for index in sorted(found))
