"""What numbers in NVIDIA's messages mean: Xid events of the kernel log, and return codes of NVML."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class XidCause(str, Enum):
    """Where an Xid event may come from; several where it does not tell."""

    APPLICATION = "application"
    DRIVER = "driver"
    FIRMWARE = "firmware"
    HARDWARE = "hardware"
    GPU_MEMORY = "gpu-memory"
    LINK = "link"
    BUS = "bus"
    POWER = "power"
    SYSTEM_MEMORY = "system-memory"
    THERMAL = "thermal"


class XidRecord(Struct, frozen=True):
    """An Xid event by its number. `name` is NVIDIA's mnemonic; `ended` where no driver sends that number any more, or it is only
    reserved; `causes` is empty where it is, and for events that report no fault.
    """

    number: int
    name: str
    meaning: str
    action: str
    causes: tuple[XidCause, ...]
    ended: bool
    source: str
    checked: str


class NvmlCodeRecord(Struct, frozen=True):
    """A return code of NVML, with what it means to the one who asked and what helps."""

    code: int
    name: str
    meaning: str
    action: str
    source: str
    checked: str
