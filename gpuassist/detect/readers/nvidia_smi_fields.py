"""The fields of a GPU as `nvidia-smi -q` and `--query-gpu` name them, each with how its value becomes a fact."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from gpuassist.detect.readers.lines import Line
from gpuassist.detect.readers.nvidia_smi import ABSENT, address, compute_mode, mebibytes
from gpuassist.model.gpu import Gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import ComputeCapability

PROGRAM = "nvidia-smi"

MEBIBYTES = lazy_regex(r"(\d{1,8})(?: ?MiB| ?MB)?")
_ADDRESS = lazy_regex(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]")
_DEVICE = lazy_regex(r"0x([0-9A-Fa-f]{4})10DE", re.IGNORECASE)
_UUID = lazy_regex(r"GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CAPABILITY = lazy_regex(r"\d{1,2}\.\d")
_NUMBER = lazy_regex(r"\d{1,3}")
_YES = {"Enabled": True, "Yes": True, "Disabled": False, "No": False}

Make = Callable[[str], Any]


def added(gpu: Gpu, name: str, line: Line, words: str) -> Gpu:
    """The GPU with the fact that a value of this field makes; as it is where the value says nothing."""
    value = None if words in ABSENT else MAKERS[name](words)
    return gpu if value is None else replace(gpu, **{name: line.known(value, PROGRAM)})


def _memory(words: str) -> int | None:
    found = MEBIBYTES.fullmatch(words)
    return mebibytes(found[1]) if found else None


def _address(words: str) -> str | None:
    return address(words) if _ADDRESS.fullmatch(words) else None


def _pci_id(words: str) -> str | None:
    found = _DEVICE.fullmatch(words)
    return f"10de:{found[1].lower()}" if found else None


def _uuid(words: str) -> str | None:
    return words if _UUID.fullmatch(words) else None


def _capability(words: str) -> ComputeCapability | None:
    return ComputeCapability.parse(words) if _CAPABILITY.fullmatch(words) else None


def _number(words: str) -> int | None:
    return int(words) if _NUMBER.fullmatch(words) else None


def _mode(words: str) -> str | None:
    return compute_mode(words) if words in {"Default", "Prohibited", "Exclusive_Process", "Exclusive_Thread"} else None


MAKERS: dict[str, Make] = {
    "name": str,
    "pci_address": _address,
    "pci_id": _pci_id,
    "uuid": _uuid,
    "index": _number,
    "minor": _number,
    "memory_total_bytes": _memory,
    "memory_used_bytes": _memory,
    "compute_capability": _capability,
    "compute_mode": _mode,
    "display_active": _YES.get,
    "mig_enabled": _YES.get,
}
