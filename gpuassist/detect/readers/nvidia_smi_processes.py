"""The table of processes below the GPUs of nvidia-smi, with or without the columns for MIG instances."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gpuassist.detect.readers.lines import Whole
from gpuassist.detect.readers.nvidia_smi_values import mebibytes
from gpuassist.model.fact import NOT_ASKED, Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.gpu_process import GpuProcess

_PROGRAM = "nvidia-smi"
_TITLE = re.compile(r"(?:Compute processes|Processes):")
# `|    0   N/A  N/A      1234      C   python      1000MiB |`; before CUDA 11 without the two columns, before 340 without a type.
_ROW = re.compile(
    r"(?:^|\|)[ \t]*(?P<gpu>\d{1,2})[ \t]+(?:(?:N/A|\d{1,3})[ \t]+(?:N/A|\d{1,3})[ \t]+)?(?P<pid>\d{1,8})[ \t]+"
    r"(?:(?P<kind>C\+G|M\+C|C|G)[ \t]+)?(?P<command>\S[^|\n]{0,200}?)[ \t]+"
    r"(?:(?P<memory>\d{1,7})\s?Mi?B|N/A|Not Supported)[ \t]*\|",
    re.MULTILINE,
)
_NONE = re.compile(r"No running (?:compute )?processes found")
KINDS = {"C": "compute", "G": "graphics", "C+G": "compute+graphics", "M+C": "compute"}  # M+C: under MPS
_END = re.compile(r"\+[-=]{20,}\+")


@dataclass(frozen=True, slots=True)
class Processes:
    """The processes of each GPU; `whole` where the table is there to its end, so that a GPU without one has none."""

    rows: dict[int, tuple[GpuProcess, ...]]
    whole: bool
    source: str

    def added(self, index: int, gpu: Gpu) -> Gpu:
        """The GPU with its processes, where the table tells them."""
        rows = self.rows.get(index, ())
        return replace(gpu, processes=Known(rows, self.source) if rows or self.whole else NOT_ASKED)


def processes(text: Whole, start: int, end: int) -> Processes:
    """What stands below the title `Processes:` between two places of a text."""
    title = _TITLE.search(text.words, start, end)
    if title is None:
        return Processes({}, whole=False, source="")
    source = f"pasted {_PROGRAM}, line {text.line(title.start())}"
    found: dict[int, tuple[GpuProcess, ...]] = {}
    place = title.end()
    for row in _ROW.finditer(text.words, title.end(), end):
        memory = text.known(mebibytes(row["memory"]), _PROGRAM, row.start()) if row["memory"] else NOT_ASKED
        found[int(row["gpu"])] = (*found.get(int(row["gpu"]), ()), GpuProcess(int(row["pid"]), KINDS.get(row["kind"], ""), memory))
        place = row.end()
    none = _NONE.search(text.words, title.end(), end)
    return Processes(found, whole=bool(none) or (bool(found) and _END.search(text.words, place, end) is not None), source=source)
