"""What a pasted `nvidia-smi -q` tells of driver and GPUs, and `nvidia-smi --version` of the driver."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.detect.readers.lines import Line, lines
from gpuassist.detect.readers.nvidia_smi import KINDS, address, mebibytes
from gpuassist.detect.readers.nvidia_smi_fields import MEBIBYTES, PROGRAM, added
from gpuassist.model.driver import Driver, NvmlStatus
from gpuassist.model.fact import NOT_ASKED, Fact, Known, value_or
from gpuassist.model.gpu import Gpu, GpuProcess
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version

_GPU = lazy_regex(r"^\s*GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])$")
_VALUE = lazy_regex(r"^\s*(?P<label>[A-Z][\w ./()-]{0,60}?)\s*:\s(?P<value>.*)$")
_VERSION = lazy_regex(r"\d{1,4}\.\d[\d.]*")
# (section, label); a section is the last line above that has no value of its own, "" where any does.
_FIELDS = {
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
    found = [gpu for block in _blocks(every) if (gpu := _gpu(block)).name != NOT_ASKED]
    first = found[0].name if found else NOT_ASKED
    return Machine(
        gpus=Known(tuple(found), first.source) if isinstance(first, Known) else NOT_ASKED,
        driver=Driver(version=version, cuda_version=cuda, nvml_status=started),
    )


def _version(every: tuple[Line, ...], labels: tuple[str, ...]) -> Fact[Version]:
    for line in every:
        found = _VALUE.match(line.words)
        if found and found["label"] in labels and _VERSION.fullmatch(found["value"].strip()):
            return line.known(Version.parse(found["value"]), PROGRAM)
    return NOT_ASKED


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
            name = _FIELDS.get(("", found["label"])) or _FIELDS.get((section.name, found["label"]))
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
    memory = MEBIBYTES.fullmatch(value)
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
