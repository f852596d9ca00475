"""The GPUs of a pasted `nvidia-smi -L` with their MIG devices, and what nvidia-smi says when NVML does not start."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.detect.readers.labels import is_report
from gpuassist.detect.readers.lines import Line, lines_with
from gpuassist.model.driver import Driver, NvmlStatus
from gpuassist.model.fact import NOT_ASKED, Fact, Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste

_PROGRAM = "nvidia-smi"
_GPU = lazy_regex(
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


def read(paste: Paste) -> Machine:
    """The GPUs, and NVML's refusal."""
    # The last refusal; that no driver answers is left to who can tell an absent one from one that is not loaded.
    told: Fact[NvmlStatus] = NOT_ASKED
    for line in lines_with(paste, "Failed to initialize NVML"):
        found = _STARTED_NOT.search(line.words)
        status = next((one for words, one in _STATUS.items() if found and found["words"].lower().startswith(words)), None)
        told = line.known(status, _PROGRAM) if status else told
    return Machine(gpus=_gpus(paste), driver=Driver(nvml_status=told, nvml_version=_library(paste)))


def _gpus(paste: Paste) -> Fact[tuple[Gpu, ...]]:
    """Each number's last line; a line without an UUID is one of nvidia-smi where it ends with a name of NVIDIA's."""
    found: dict[int, Gpu] = {}
    bare = not is_report(paste.words)  # which lists its GPUs without UUIDs
    for line in lines_with(paste, "GPU ", "MIG "):
        for row in _GPU.finditer(line.words):
            if row["marked"] or (bare and row["name"].startswith(_MAKERS)):
                found.pop(int(row["index"]), None)
                found[int(row["index"])] = Gpu(
                    name=line.known(row["name"], _PROGRAM),
                    index=line.known(int(row["index"]), _PROGRAM),
                    uuid=line.known(row["uuid"], _PROGRAM) if row["uuid"] else NOT_ASKED,
                )
        mig = _MIG.match(line.words)
        if mig and found:
            _, last = found.popitem()
            found[value_or(last.index, 0)] = _with_instance(last, line, mig["uuid"])
    every = tuple(found[index] for index in sorted(found))
    return Known(every, every[0].name.source) if every and isinstance(every[0].name, Known) else NOT_ASKED


def _with_instance(gpu: Gpu, line: Line, uuid: str) -> Gpu:
    enabled: Fact[bool] = line.known(True, _PROGRAM)  # noqa: FBT003 -- the fact's value
    return replace(gpu, mig_enabled=enabled, mig_uuids=line.known((*value_or(gpu.mig_uuids, ()), uuid), _PROGRAM))


def _library(paste: Paste) -> Fact[str]:
    for line in lines_with(paste, "NVML library version"):
        found = _LIBRARY.search(line.words)
        if found:
            return line.known(found[1], _PROGRAM)
    return NOT_ASKED
