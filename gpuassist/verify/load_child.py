"""The process that asks NVML while checks run: where a call hangs or the library crashes, this one is lost and nobody else.

It reads one request after the other (`system.frames`) and answers each: `{"ask": "devices"}` with what does not change,
`{"ask": "load"}` with what does. `{"refused": ...}` where NVML itself gives nothing; a value that a device refuses is null.
It stands without dataclasses and typing, as `system.nvml` says.
"""

from __future__ import annotations

import os
import sys

from gpuassist.system import frames
from gpuassist.system.nvml import MIG_DEVICES_AT_MOST, Nvml, Refusal, ask, import_alone
from gpuassist.system.parent_end import die_with_parent

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    from typing import Any

    Answer = dict[str, Any]

_REQUESTS, _ANSWERS = 0, 3  # see `system.piped_child`
_GRAPHICS, _SM, _MEMORY = 0, 1, 2  # nvml.h, nvmlClockType_t
_TEMPERATURE_OF_GPU = 0
_UNCORRECTED, _SINCE_LOADED = 1, 0  # nvml.h, nvmlMemoryErrorType_t and nvmlEccCounterType_t
_GENERATIONS_AT_MOST = 32

# What is asked of a device once, and what at each look: by the name under which it is told.
FIXED = (
    ("name", "nvmlDeviceGetName"),
    ("uuid", "nvmlDeviceGetUUID"),
    ("cores", "nvmlDeviceGetNumGpuCores"),
    ("bus_width", "nvmlDeviceGetMemoryBusWidth"),
    ("power_default", "nvmlDeviceGetPowerManagementDefaultLimit"),
    ("generation_most", "nvmlDeviceGetMaxPcieLinkGeneration"),
    ("width_most", "nvmlDeviceGetMaxPcieLinkWidth"),
    ("gpu_generation_most", "nvmlDeviceGetGpuMaxPcieLinkGeneration"),
)
CHANGING = (
    ("power", "nvmlDeviceGetPowerUsage"),
    ("power_limit", "nvmlDeviceGetEnforcedPowerLimit"),
    ("reasons", "nvmlDeviceGetCurrentClocksThrottleReasons"),  # the name that drivers of every age have
    ("generation", "nvmlDeviceGetCurrPcieLinkGeneration"),
    ("width", "nvmlDeviceGetCurrPcieLinkWidth"),
)


def main() -> int:
    die_with_parent(int(sys.argv[-1]))
    import_alone()
    nvml, handles = Nvml(), None
    refused = nvml.open()
    while (request := frames.read(_REQUESTS)) is not None:
        if refused is None and handles is None:
            found = nvml.handles()
            refused, handles = (found, None) if isinstance(found, Refusal) else (None, found)
        if handles is None:
            frames.write(_ANSWERS, {"refused": _refusal(refused)})
            continue
        look = _fixed if request["ask"] == "devices" else _changing
        gpus = [(index, one) for index, one in enumerate(handles) if not isinstance(one, Refusal)]
        frames.write(_ANSWERS, {"gpus": [{"index": index, **look(nvml, handle)} for index, handle in gpus]})
    nvml.close()
    os._exit(0)  # nothing is left to put in order, and to do so takes Python 5 ms for which somebody waits


def _fixed(nvml: Nvml, handle: Any) -> Answer:
    told = {name: _told(ask(function, handle)) for name, function in FIXED}
    info, memory = ask("nvmlDeviceGetPciInfo", handle), nvml.memory(handle)
    address = None if isinstance(info, Refusal) else info.busId
    told["address"] = address.decode("ascii", "replace") if isinstance(address, bytes) else address
    told["pci_id"] = None if isinstance(info, Refusal) else f"{info.pciDeviceId & 0xFFFF:04x}:{info.pciDeviceId >> 16:04x}"
    told["memory"] = None if isinstance(memory, Refusal) else memory.total_bytes
    told["clock_most"] = _told(ask("nvmlDeviceGetMaxClockInfo", handle, _SM))
    told["memory_clock_most"] = _told(ask("nvmlDeviceGetMaxClockInfo", handle, _MEMORY))
    for name, function in (("ecc", "nvmlDeviceGetEccMode"), ("mig", "nvmlDeviceGetMigMode")):
        modes = ask(function, handle)
        told[name] = None if isinstance(modes, Refusal) else bool(modes[0])
    capability = ask("nvmlDeviceGetCudaComputeCapability", handle)
    told["capability"] = None if isinstance(capability, Refusal) else [int(one) for one in capability]
    told["mig_devices"] = _mig_devices(handle) if told["mig"] else []
    return told


def _mig_devices(handle: Any) -> list[Answer]:
    count = ask("nvmlDeviceGetMaxMigDeviceCount", handle)
    devices = [] if isinstance(count, Refusal) else [_mig(handle, index) for index in range(min(count, MIG_DEVICES_AT_MOST))]
    return [device for device in devices if device is not None]


def _mig(handle: Any, index: int) -> Answer | None:
    device = ask("nvmlDeviceGetMigDeviceHandleByIndex", handle, index)
    if isinstance(device, Refusal):
        return None
    attributes = ask("nvmlDeviceGetAttributes", device)
    return {
        "uuid": _told(ask("nvmlDeviceGetUUID", device)),
        "name": _told(ask("nvmlDeviceGetName", device)),
        "multiprocessors": None if isinstance(attributes, Refusal) else int(attributes.multiprocessorCount),
    }


def _changing(nvml: Nvml, handle: Any) -> Answer:
    told = {name: _told(ask(function, handle)) for name, function in CHANGING}
    told["celsius"] = _told(ask("nvmlDeviceGetTemperature", handle, _TEMPERATURE_OF_GPU))
    told["clock"] = _told(ask("nvmlDeviceGetClockInfo", handle, _SM))
    told["memory_clock"] = _told(ask("nvmlDeviceGetClockInfo", handle, _MEMORY))
    told["uncorrected"] = _told(ask("nvmlDeviceGetTotalEccErrors", handle, _UNCORRECTED, _SINCE_LOADED))
    rates, processes = ask("nvmlDeviceGetUtilizationRates", handle), nvml.processes(handle)
    told["percent"] = None if isinstance(rates, Refusal) else int(rates.gpu)
    others = None if isinstance(processes, Refusal) else [one for one in processes if not descends(one.pid, int(sys.argv[-1]))]
    told["processes"] = None if others is None else [[one.pid, one.used_bytes] for one in others]
    return told


def descends(pid: int, ancestor: int) -> bool:
    """Whether a process is that one or was started by it, as the checks are by the gpuassist that wants to know; not one that has
    gone, or that this namespace does not show.
    """
    for _ in range(_GENERATIONS_AT_MOST):
        if pid == ancestor:
            return True
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:  # `PID (NAME) STATE PARENT`: proc(5)
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            return False
    return False


def _told(answer: Any) -> Any:
    return None if isinstance(answer, Refusal) else answer


def _refusal(refused: Refusal | None) -> Answer:
    return {"code": refused.code, "name": refused.name, "words": refused.words} if refused is not None else {}
