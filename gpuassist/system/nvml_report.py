"""Everything NVML knows of this machine, a JSON line a fact on standard output: run as a child that may hang and be killed.

A line is written as soon as its answer is there, and every device is asked on a thread of its own: what hangs loses itself alone.
`{"gpu": 0, "fact": "nvmlDeviceGetName", "value": ...}`, or `"code"`, `"name"`, `"words"` in place of the value.
"""

from __future__ import annotations

import ctypes
import json
import sys
import threading
from typing import Any

from gpuassist.system import nvml as port
from gpuassist.system.nvml import FUNCTION_NOT_FOUND, NOT_SUPPORTED, SUCCESS, Nvml, Refusal, ask, import_alone, nonsense, refusal

Handle = Any

INIT = "nvmlInit"
SYSTEM = ("nvmlSystemGetDriverVersion", "nvmlSystemGetCudaDriverVersion_v2")
LIBRARY_VERSION = "nvmlSystemGetNVMLVersion"  # answers after a refused nvmlInit too, which names both sides of a mismatch
LIBRARY = "library"  # the file that was loaded: a stub or a stray copy on LD_LIBRARY_PATH betrays itself so
PLAIN = (
    "nvmlDeviceGetName",
    "nvmlDeviceGetUUID",
    "nvmlDeviceGetCudaComputeCapability",
    "nvmlDeviceGetMinorNumber",
    "nvmlDeviceGetDisplayActive",
    "nvmlDeviceGetComputeMode",
    "nvmlDeviceGetPersistenceMode",
    "nvmlDeviceGetCurrentClocksThrottleReasons",  # the name that drivers of every age have
)
COUNT, HANDLE, PCI, MIG_MODE = "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex", "nvmlDeviceGetPciInfo", "nvmlDeviceGetMigMode"
FABRIC = "nvmlDeviceGetGpuFabricInfo"
FIELDS, RECOVERY = "nvmlDeviceGetFieldValues", 230  # nvml.h, NVML_FI_DEV_GET_GPU_RECOVERY_ACTION
MEMORY, MIG_DEVICES, PROCESSES = "nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMigDeviceHandleByIndex", "running processes"

_line = threading.Lock()


def main() -> int:
    """Writes the report; a call that never returns keeps it here until it is killed."""
    import_alone()
    nvml = Nvml()
    refused = nvml.open()
    _tell(INIT, refused if refused else SUCCESS)
    _tell(LIBRARY_VERSION, ask(LIBRARY_VERSION))
    _tell(LIBRARY, _library())
    if refused is None:
        for function in SYSTEM:
            _tell(function, ask(function))
        count = port.device_count()  # which bounds the threads below as well
        _tell(COUNT, count)
        indices = range(0 if isinstance(count, Refusal) else count)
        threads = [threading.Thread(target=_tell_device, args=(index,), daemon=True) for index in indices]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        nvml.close()
    return 0


def _library() -> str:
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            lines = [line.rstrip("\n").split(None, 5) for line in maps]
    except OSError:
        return ""
    return next((words[5] for words in lines if len(words) > 5 and "libnvidia-ml" in words[5]), "")


def _tell_device(index: int) -> None:
    handle = ask(HANDLE, index)
    if isinstance(handle, Refusal):
        _tell(HANDLE, handle, index)
        return
    nvml = Nvml()  # its buffer is not for two threads; a second nvmlInit only counts up
    nvml.open()
    info = ask(PCI, handle)
    if not isinstance(info, Refusal):
        address = info.busId.decode("ascii", "replace") if isinstance(info.busId, bytes) else info.busId
        info = {"address": address, "id": f"{info.pciDeviceId & 0xFFFF:04x}:{info.pciDeviceId >> 16:04x}"}
    _tell(PCI, info, index)
    for function in PLAIN:
        _tell(function, ask(function, handle), index)
    memory = nvml.memory(handle)
    sizes = (
        memory
        if isinstance(memory, Refusal)
        else {"total": memory.total_bytes, "used": memory.used_bytes, "free": memory.free_bytes}
    )
    _tell(MEMORY, sizes, index)
    modes = ask(MIG_MODE, handle)
    mode: Any = modes
    if not isinstance(modes, Refusal):
        mode = bool(modes[0])
    elif modes.code in {NOT_SUPPORTED, FUNCTION_NOT_FOUND}:  # neither a GPU without MIG nor a driver from before it can have it on
        mode = False
    _tell(MIG_MODE, mode, index)
    if mode is not True:
        mig_devices = mode or []
    else:
        count = ask("nvmlDeviceGetMaxMigDeviceCount", handle)
        if isinstance(count, Refusal):
            mig_devices = count
        elif count > port.MIG_DEVICES_AT_MOST:
            mig_devices = nonsense("MIG devices", count)
        else:
            devices = [ask(MIG_DEVICES, handle, index) for index in range(count)]
            names = [ask("nvmlDeviceGetUUID", device) for device in devices if not isinstance(device, Refusal)]
            mig_devices = [name for name in names if not isinstance(name, Refusal)]
    _tell(MIG_DEVICES, mig_devices, index)
    _tell(FABRIC, _fabric(handle), index)
    listed = nvml.processes(handle)
    _tell(PROCESSES, listed if isinstance(listed, Refusal) else [[one.pid, one.kind, one.used_bytes] for one in listed], index)
    values = ask(FIELDS, handle, [RECOVERY])
    if isinstance(values, Refusal):
        recovery = values
    else:
        refused = values[0].nvmlReturn
        recovery = refusal(refused, "the recovery action") if refused else values[0].value.uiVal
    _tell(FIELDS, recovery, index)
    nvml.close()


def _fabric(handle: Handle) -> Any:
    """How far the GPU is registered with the switches that join it to others (nvml.h, NVML_GPU_FABRIC_STATE_...)."""
    import pynvml

    try:
        info = pynvml.c_nvmlGpuFabricInfo_t()
    except AttributeError:  # bindings from before there were such switches
        return refusal(FUNCTION_NOT_FOUND, FABRIC)
    told = ask(FABRIC, handle, ctypes.byref(info))
    if isinstance(told, Refusal):
        return 0 if told.code in {NOT_SUPPORTED, FUNCTION_NOT_FOUND} else told
    return int(info.state)


def _tell(fact: str, answer: Any, gpu: int | None = None) -> None:
    line: dict[str, Any] = {"gpu": gpu, "fact": fact}
    if isinstance(answer, Refusal):
        line.update(code=answer.code, name=answer.name, words=answer.words)
    else:
        line["value"] = answer
    with _line:
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    sys.exit(main())
