"""Which GPU it is that torch calls by an index: asked of the driver in this very process, so that both count alike.

torch tells the UUID since 2024 (pytorch/pytorch, pull request 125083: 2.4) and the PCI address later still. The driver's own calls
are as old as any CUDA that torch is built for, and make no context: a device that hangs or belongs to another worker is left alone.
"""

from __future__ import annotations

import ctypes
from typing import Any, Dict, List, Optional

# cuda.h, CUdevice_attribute
_MULTIPROCESSORS, _MAJOR, _MINOR = 16, 75, 76
_LIBRARY = "libcuda.so.1"


def identify(torch: Any, index: int) -> Dict[str, Any]:
    """`name`, `uuid` (`GPU-…`, of a part of a GPU `MIG-…`), `pci` (`0000:01:00.0`), `capability` (`8.9`), `memory_total_bytes`,
    `multiprocessors`, `mig` (whether it is a part of a GPU): each empty, 0 or false where nobody tells it.
    """
    told = _of_driver(index)
    if not told["name"] or not told["multiprocessors"]:
        told = _of_torch(torch, index, told)
    told["mig"] = told["uuid"].startswith("MIG-") or " MIG " in told["name"]
    if told["mig"]:
        told["uuid"] = "MIG-" + told["uuid"][4:]
    return told


def shown_by_driver() -> List[Dict[str, str]]:
    """UUID and PCI address of each GPU that CUDA shows this process, whatever torch makes of them; none where it shows none."""
    count = ctypes.c_int()
    try:
        driver = ctypes.CDLL(_LIBRARY)
        if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
            return []
    except (OSError, AttributeError):
        return []
    return [{name: _of_driver(index)[name] for name in ("uuid", "pci")} for index in range(count.value)]


def context_bytes(index: int, free: int) -> int:
    """What CUDA itself takes of a GPU's memory for a process: how much less than `free` is free while a second context of this
    process is there. 0 where it cannot be made.
    """
    device, context = ctypes.c_int(), ctypes.c_void_p()
    left, total = ctypes.c_size_t(), ctypes.c_size_t()
    try:
        driver = ctypes.CDLL(_LIBRARY)
        if driver.cuDeviceGet(ctypes.byref(device), index) or driver.cuCtxCreate_v2(ctypes.byref(context), 0, device):
            return 0
        told = _called(driver, "cuMemGetInfo_v2", ctypes.byref(left), ctypes.byref(total))
        driver.cuCtxDestroy_v2(context)
    except (OSError, AttributeError):
        return 0
    return max(0, free - int(left.value)) if told else 0


def _of_driver(index: int) -> Dict[str, Any]:
    told = {"name": "", "uuid": "", "pci": "", "capability": "", "memory_total_bytes": 0, "multiprocessors": 0}  # type: Dict[str, Any]
    try:
        driver = ctypes.CDLL(_LIBRARY)
        device = ctypes.c_int()
        if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), index):
            return told
    except (OSError, AttributeError):
        return told
    name, size = ctypes.create_string_buffer(256), ctypes.c_size_t()
    if _called(driver, "cuDeviceGetName", name, len(name), device):
        told["name"] = name.value.decode("utf-8", "replace")
    if _called(driver, "cuDeviceTotalMem_v2", ctypes.byref(size), device):
        told["memory_total_bytes"] = int(size.value)
    told["uuid"], told["pci"] = _uuid(driver, device), _address(driver, device)
    told["multiprocessors"] = _attribute(driver, device, _MULTIPROCESSORS) or 0
    major, minor = _attribute(driver, device, _MAJOR), _attribute(driver, device, _MINOR)
    told["capability"] = "" if major is None or minor is None else "{}.{}".format(major, minor)
    return told


def _uuid(driver: Any, device: Any) -> str:
    """Version 2 of the call, which drivers have since CUDA 11.4, tells that of a part of a GPU; the first that of the GPU."""
    raw = (ctypes.c_ubyte * 16)()
    if not any(_called(driver, function, ctypes.byref(raw), device) for function in ("cuDeviceGetUuid_v2", "cuDeviceGetUuid")):
        return ""
    digits = bytes(raw).hex()
    return "GPU-" + "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _address(driver: Any, device: Any) -> str:
    text = ctypes.create_string_buffer(32)
    return text.value.decode("ascii", "replace").lower() if _called(driver, "cuDeviceGetPCIBusId", text, len(text), device) else ""


def _attribute(driver: Any, device: Any, attribute: int) -> Optional[int]:
    value = ctypes.c_int()
    return int(value.value) if _called(driver, "cuDeviceGetAttribute", ctypes.byref(value), attribute, device) else None


def _called(driver: Any, function: str, *arguments: Any) -> bool:
    """Whether the driver has that call, and it succeeded."""
    try:
        return int(getattr(driver, function)(*arguments)) == 0
    except AttributeError:
        return False


def _of_torch(torch: Any, index: int, told: Dict[str, Any]) -> Dict[str, Any]:
    """The same from torch, which knows less the older it is."""
    about = torch.cuda.get_device_properties(index)
    uuid = str(getattr(about, "uuid", "") or "")
    found = dict(told, name=str(about.name), capability="{}.{}".format(about.major, about.minor))
    found["memory_total_bytes"], found["multiprocessors"] = int(about.total_memory), int(getattr(about, "multi_processor_count", 0))
    found["uuid"] = told["uuid"] or (uuid if uuid[:4] in ("", "GPU-", "MIG-") else "GPU-" + uuid)
    bus = [getattr(about, part, -1) for part in ("pci_domain_id", "pci_bus_id", "pci_device_id")]
    if not told["pci"] and all(isinstance(part, int) and part >= 0 for part in bus):
        found["pci"] = "{:04x}:{:02x}:{:02x}.0".format(*bus)
    return found
