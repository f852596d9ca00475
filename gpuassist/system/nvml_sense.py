"""Which of NVML's answers can be true: the one place where its numbers become facts, whoever shows them.

A driver that is half replaced, a layout read with the wrong version and a card that falls off the bus answer with success and with
0xFFFFFFFF, more than all of the memory, or 17 EiB: an unknown with what was said in its reason, never a figure.
"""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import Text, text
from gpuassist.system.nvml import NONSENSE, Memory, Refusal

# Well above all that exists, well below what broken answers hold: B300 has 288 GB, a B200 takes 1,200 W, cards stop at 110 °C.
_MEMORY_AT_MOST = 1 << 44
_ALL_ONES = frozenset({2**32 - 1, 2**64 - 1})  # what drivers put where they have no number; no count of bytes in whole pages is one
_CELSIUS_AT_MOST = 200
_WATTS_AT_MOST = 5000
_MEGAHERTZ_AT_MOST = 20_000  # GDDR7's is told as 15,001
_FAN_AT_MOST = 200
_BYTES_A_SECOND_AT_MOST = 1 << 40  # sixteen lanes of PCIe 7 carry a quarter of it
_THROTTLE_REASONS = (
    (0x04, "sw_power_cap"),
    (0x08, "hw_slowdown"),
    (0x10, "sync_boost"),
    (0x20, "sw_thermal_slowdown"),
    (0x40, "hw_thermal_slowdown"),
    (0x80, "hw_power_brake_slowdown"),
    (0x200, "board_limit"),
    (0x400, "reliability"),
)
_MAJOR_AT_MOST, _MINOR_AT_MOST = 50, 9

NOT_TOLD = Unknown(text("NVML does not say how much memory this process uses"))


class MemoryFacts(Struct, frozen=True):
    """A device's memory in bytes."""

    total: Fact[int]
    used: Fact[int]
    free: Fact[int]

    @classmethod
    def unknown(cls, why: Unknown) -> MemoryFacts:
        return cls(why, why, why)


def memory(told: Memory, source: str) -> MemoryFacts:
    total, used, free = told.total_bytes, told.used_bytes, told.free_bytes
    if not 0 < total <= _MEMORY_AT_MOST:
        return MemoryFacts.unknown(
            Unknown(text("NVML says that this GPU has {count} bytes of memory, which cannot be", count=total))
        )
    known = Known(total, source)
    for count in (used, free):
        if (
            count in _ALL_ONES or not 0 <= count <= total
        ):  # what is free follows from what is used: where one is wrong, neither is to be trusted
            words = text(
                "NVML says that {count} of this GPU's {total} bytes are in use or free, which cannot be", count=count, total=total
            )
            return MemoryFacts(known, Unknown(words), Unknown(words))
    return MemoryFacts(known, Known(used, source), Known(free, source))


def process_memory(used: int | None, total: Fact[int], source: str) -> Fact[int]:
    """What one process has of a device's memory; None where NVML does not say."""
    if used is None:
        return NOT_TOLD
    most = total.value if isinstance(total, Known) else _MEMORY_AT_MOST
    if 0 <= used <= most and used not in _ALL_ONES:
        return Known(used, source)
    return Unknown(text("NVML says that this process uses {count} bytes of GPU memory, which cannot be", count=used))


def percent(told: int, source: str) -> Fact[int]:
    return Known(told, source) if 0 <= told <= 100 else _cannot_be(text("{number} %", number=told))


def celsius(told: int, source: str) -> Fact[int]:
    return Known(told, source) if 0 <= told <= _CELSIUS_AT_MOST else _cannot_be(text("{number} °C", number=told))


def watts(milliwatts: int, source: str) -> Fact[float]:
    told = milliwatts / 1000  # of which a GPU that answers takes some, and its limit is never none
    return Known(told, source) if 0 < told <= _WATTS_AT_MOST else _cannot_be(text("{number} W", number=told))


def memory_celsius(told: int, source: str) -> Fact[int]:
    """Of the memory chips: GPUs without a sensor there say 0."""
    return celsius(told, source) if told else Unknown(text("this GPU does not tell it"))


def megahertz(told: int, source: str) -> Fact[int]:
    return Known(told, source) if 0 <= told <= _MEGAHERTZ_AT_MOST else _cannot_be(text("{number} MHz", number=told))


def fan_percent(told: int, source: str) -> Fact[int]:
    """Of the highest intended speed, which NVML says may be exceeded (nvmlDeviceGetFanSpeed)."""
    return Known(told, source) if 0 <= told <= _FAN_AT_MOST else _cannot_be(text("{number} %", number=told))


def margin(told: int, source: str) -> Fact[int]:
    """Degrees until the clocks are held back; below 0 where they are."""
    return Known(told, source) if -_CELSIUS_AT_MOST <= told <= _CELSIUS_AT_MOST else _cannot_be(text("{number} °C", number=told))


def bytes_per_second(told: int, source: str) -> Fact[int]:
    return Known(told, source) if 0 <= told <= _BYTES_A_SECOND_AT_MOST else _cannot_be(text("{number} bytes/s", number=told))


def activity(told: float, source: str) -> Fact[float]:
    """Percent; NaN is neither above nor below anything."""
    return Known(round(told, 1), source) if 0 <= told <= 100 else _cannot_be(text("{number} %", number=told))


def throttle_reasons(told: int, source: str) -> Fact[tuple[str, ...]]:
    """What holds the clocks back, by nvml.h's names of its bits; not that there is nothing to do, nor limits that somebody set."""
    if not 0 <= told < 1 << 32:
        return _cannot_be(text("{number} as reasons", number=told))
    return Known(tuple(name for bit, name in _THROTTLE_REASONS if told & bit), source)


def capability(major: int, minor: int) -> tuple[int, int]:
    """A compute capability; raises `ValueError` for one that cannot be."""
    if not (0 < major <= _MAJOR_AT_MOST and 0 <= minor <= _MINOR_AT_MOST):
        raise ValueError(f"{major}.{minor}")
    return major, minor


def nonsense(refusal: Refusal) -> Text | None:
    """What is wrong with an answer that was refused by us, not by NVML; None of NVML's own refusals."""
    if refusal.code != NONSENSE:
        return None
    told = {
        "devices": text("NVML says that there are {count} GPUs, which cannot be", count=refusal.words),
        "processes": text(
            "NVML says that the list of this GPU's processes has {count} entries, which cannot be", count=refusal.words
        ),
        "process number": text("NVML lists a process with the number {count}, which cannot be", count=refusal.words),
        "MIG devices": text("NVML says that this GPU has {count} parts (MIG), which cannot be", count=refusal.words),
    }
    return told.get(refusal.name, text("NVML's answer cannot be true: {words}", words=refusal.words))


def _cannot_be(told: Text) -> Unknown:
    return Unknown(text("NVML says {told}, which cannot be", told=told))
