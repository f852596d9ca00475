"""Lines such as `Nvidia driver version: 550.54` of a report on an environment, in the wordings of all programs that make one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from msgspec import Struct

from gpuassist.detect.readers.lines import Line
from gpuassist.model.lazy_regex import lazy_regex


class Field(str, Enum):
    """What a line tells."""

    TORCH = "torch"
    CUDA = "torch's CUDA"
    ROCM = "torch's ROCm"
    SYSTEM = "system"
    PLATFORM = "platform"
    COMPILER = "compiler"
    C_LIBRARY = "C library"
    PYTHON = "Python"
    NVCC = "nvcc"
    CUDA_HOME = "CUDA_HOME"
    GPUS = "GPUs"
    GPU = "GPU"
    DRIVER = "driver"
    FLAGS = "flags"
    PIP = "pip"
    CONDA = "conda"


# torch.utils.collect_env (0.4 to 2.15; vLLM's pads its labels), mmcv's and detectron2's collect_env (the latter has columns and no
# colons), `transformers-cli env`, `accelerate env`, Lightning's, sglang's check_env.
_LABELS = {
    "pytorch version": Field.TORCH,
    "pytorch version (gpu?)": Field.TORCH,
    "pytorch_version": Field.TORCH,
    "pytorch": Field.TORCH,
    "torch": Field.TORCH,
    "torch version": Field.TORCH,
    "cuda used to build pytorch": Field.CUDA,
    "pytorch cuda version": Field.CUDA,
    "torch cuda version": Field.CUDA,
    "rocm used to build pytorch": Field.ROCM,
    "os": Field.SYSTEM,
    "operating system": Field.SYSTEM,
    "platform": Field.PLATFORM,
    "python platform": Field.PLATFORM,
    "gcc version": Field.COMPILER,
    "gcc": Field.COMPILER,
    "libc version": Field.C_LIBRARY,
    "python version": Field.PYTHON,
    "python": Field.PYTHON,
    "cuda runtime version": Field.NVCC,
    "nvcc": Field.NVCC,
    "cuda compiler": Field.NVCC,
    "cuda_home": Field.CUDA_HOME,
    "gpu models and configuration": Field.GPUS,
    "gpu type": Field.GPUS,
    "using gpu type": Field.GPUS,
    "nvidia driver version": Field.DRIVER,
    "driver version": Field.DRIVER,
    "cuda driver version": Field.DRIVER,
    "- nvcc architecture flags": Field.FLAGS,
}
_WORDS = "|".join(sorted((re.escape(one).replace(r"\ ", " ") for one in _LABELS), key=len, reverse=True))
_LABELLED = lazy_regex(rf"^[\s*•`-]{{0,12}}?(?P<label>{_WORDS})`?[ \t]{{0,60}}(?::|[ \t]{{2}})[ \t]*(?P<value>.*)$", re.IGNORECASE)
_NUMBERED = lazy_regex(r"^[\s*•-]{0,12}GPU ?(?P<numbers>\d{1,3}(?:, ?\d{1,3}){0,63})(?::[ \t]*|[ \t]{2,})(?P<value>\S.*)$")
_HEADING = lazy_regex(r"^[\s*•-]{0,40}GPU:$")
_NAMED = lazy_regex(r"^[\s*•-]{1,60}(?P<name>(?:NVIDIA|GeForce|Tesla|Quadro|TITAN|GRID|[AH]\d{2,3})\b[^:]{0,60})$")
_PACKAGE = lazy_regex(r"^[\s>]{0,8}\[(?P<tool>pip3?|conda)\][ \t]+(?P<value>\S.*)$")
_LONGEST = 4000  # characters of a line: torch's flags are below 2000
_SURE = (
    "PyTorch version",
    "CUDA used to build",
    "CUDA runtime version",
    "Nvidia driver version",
    "GPU models and configuration",
    "pyTorch_version",
    "PyTorch version (GPU?)",
    "PyTorch built with",
    "sys.platform",
    "[pip3] torch",
    "[pip] torch",
    "GPU type",
    "NVCC architecture flags",
    "CUDA Driver Version",
)


class Told(Struct, frozen=True):
    """One line of such a report: what it tells, and the rest of the line; `numbers` are those of the GPUs that it names."""

    field: Field
    line: Line
    value: str
    numbers: tuple[int, ...] = ()


def values(block: Iterable[Told], field: Field) -> Iterator[Line]:
    """What stands behind the label, as lines of their own."""
    return (Line(told.line.number, told.value) for told in block if told.field is field)


def is_report(words: str) -> bool:
    """Whether there is such a report in a text at all: `Python: 3.8` alone says nothing."""
    return any(literal in words for literal in _SURE)


def labelled(every: tuple[Line, ...]) -> Iterator[Told]:
    below = 0  # a heading `GPU:` of Lightning's, and how many names came since
    for line in every:
        told = _label(line) if len(line.words) < _LONGEST else None
        named = _NAMED.match(line.words) if below and told is None else None
        if told is not None:
            yield told
        if named:
            yield Told(Field.GPU, line, named["name"], (below - 1,))
        below = below + 1 if named else int(_HEADING.match(line.words) is not None)


def _label(line: Line) -> Told | None:
    found = _LABELLED.match(line.words)
    if found:
        return Told(_LABELS[found["label"].lower()], line, found["value"].strip())
    found = _NUMBERED.match(line.words) if "GPU" in line.words else None
    if found:
        return Told(Field.GPU, line, found["value"].strip(), tuple(int(one) for one in found["numbers"].split(",")))
    found = _PACKAGE.match(line.words) if "[" in line.words[:12] else None
    if found:
        return Told(Field.CONDA if found["tool"] == "conda" else Field.PIP, line, found["value"].strip())
    return None
