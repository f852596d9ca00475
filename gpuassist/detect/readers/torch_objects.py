"""What torch prints of its objects whatever the code was: the properties of a device, and what it was built with."""

from __future__ import annotations

import re

from gpuassist.detect.readers.lines import Line, lines_with
from gpuassist.model.environment import Accelerator, Torch
from gpuassist.model.fact import NOT_ASKED
from gpuassist.model.gpu import Gpu
from gpuassist.model.paste import Paste
from gpuassist.model.version import ComputeCapability, Target, Version

_PROGRAM = "Python"
_PROPERTIES = re.compile(
    r"_CudaDeviceProperties\(name='(?P<name>[^'\n]{2,80})', major=(?P<major>\d{1,2}), minor=(?P<minor>\d)"
    r"(?:, total_memory=(?P<memory>\d{2,7})MB)?"
)
_RUNTIME = re.compile(r"^\s*- CUDA Runtime (?P<cuda>\d{1,2}\.\d{1,2})\s*$")
_FLAGS = re.compile(r"^\s*- NVCC architecture flags: (?P<flags>\S{10,4000})\s*$")
_CODE = re.compile(r"code=((?:sm|compute)_\d{2,3}[af]?)\b")


def properties(paste: Paste) -> tuple[Gpu, ...]:
    """The GPUs of which `torch.cuda.get_device_properties` shows name, capability and memory, each once."""
    found = (_gpu(line, match) for line in lines_with(paste, "_CudaDeviceProperties") for match in _PROPERTIES.finditer(line.words))
    return tuple(dict.fromkeys(found))


def _gpu(line: Line, match: re.Match[str]) -> Gpu:
    return Gpu(
        name=line.known(match["name"], _PROGRAM),
        compute_capability=line.known(ComputeCapability(int(match["major"]), int(match["minor"])), _PROGRAM),
        memory_total_bytes=line.known(int(match["memory"]) << 20, _PROGRAM) if match["memory"] else NOT_ASKED,
    )


def built_with(paste: Paste) -> Torch | None:
    """The torch of `torch.__config__.show()`; its version is not among what that says."""
    torch: Torch | None = None
    for line in lines_with(paste, "- CUDA Runtime ", "- NVCC architecture flags: "):
        runtime, flags = _RUNTIME.match(line.words), _FLAGS.match(line.words)
        if runtime:
            cuda = line.known(Version.parse(runtime["cuda"]), _PROGRAM)
            torch = Torch("", accelerator=line.known(Accelerator.CUDA, _PROGRAM), cuda=cuda)
        elif flags and torch is not None:
            targets = tuple(Target.parse(word) for word in dict.fromkeys(_CODE.findall(flags["flags"])))
            return Torch("", accelerator=torch.accelerator, cuda=torch.cuda, targets=line.known(targets, _PROGRAM))
    return torch
