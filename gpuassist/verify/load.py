"""What NVML saw of the GPUs while checks ran: values, and what they come to over a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.system import nvml_sense

SOURCE = "NVML"
NOT_TOLD = Unknown(text("this GPU does not tell it"))
NOT_SEEN = Unknown(text("it was over before anybody looked"))
_RESTED = Unknown(text("the GPU was idle whenever it was looked at"))

# nvml.h, nvmlClocksThrottleReasons (clocks event reasons): what holds the clocks down, and that there is nothing to do.
_IDLE = 0x1
SLOWDOWNS = (
    (0x2, "application clocks"),
    (0x4, "power limit"),
    (0x8, "hardware slowdown"),
    (0x10, "sync boost"),
    (0x20, "heat"),
    (0x40, "heat, by the hardware"),
    (0x80, "power brake"),
    (0x100, "display clocks"),
)


class MigDevice(Struct, frozen=True):
    """A part of a GPU (MIG) as NVML lists it; `multiprocessors` is 0 where it does not tell."""

    uuid: str
    name: str
    multiprocessors: int = 0


class NvmlDevice(Struct, frozen=True):
    """A GPU as NVML lists it, with what does not change while checks run. `address` is `0000:01:00.0`, `pci_id` `10de:2684`, each
    empty where NVML does not tell; clocks in MHz, power in W, generations and lanes of the PCIe link as the GPU and its slot allow
    together, `gpu_generation_most` as the GPU alone does.
    """

    index: int
    uuid: str
    name: str
    address: str
    pci_id: str
    capability: tuple[int, ...] = ()
    memory_bytes: Fact[int] = NOT_TOLD
    cores: Fact[int] = NOT_TOLD
    clock_most: Fact[int] = NOT_TOLD
    memory_clock_most: Fact[int] = NOT_TOLD
    bus_width: Fact[int] = NOT_TOLD
    power_default: Fact[float] = NOT_TOLD
    generation_most: Fact[int] = NOT_TOLD
    width_most: Fact[int] = NOT_TOLD
    gpu_generation_most: Fact[int] = NOT_TOLD
    ecc: Fact[bool] = NOT_TOLD
    mig: Fact[bool] = NOT_TOLD
    mig_devices: tuple[MigDevice, ...] = ()


class Span(Struct, frozen=True):
    """A quantity over a time."""

    least: float
    mean: float
    most: float


class Slowdown(Struct, frozen=True):
    """What held the clocks down, one of `SLOWDOWNS`, and in which share of the looks at which the GPU was not idle."""

    reason: str
    share: float


class OtherProcess(Struct, frozen=True):
    """Somebody else's process on the GPU, with the most memory that it had."""

    pid: int
    memory_bytes: Fact[int]


class DeviceLoad(Struct, frozen=True):
    """A GPU over the time of some checks, from so many looks; clocks are those under load. `power_limit` is the lowest limit that
    was in force; `generation` (under load) and `width` of the PCIe link are the most that was seen, since the link rests between
    two copies; `uncorrected` counts errors of the memory that ECC found and could not correct, since the driver was loaded.
    """

    device: NvmlDevice
    looks: int
    celsius: Fact[Span] = NOT_SEEN
    clock: Fact[Span] = NOT_SEEN
    memory_clock: Fact[Span] = NOT_SEEN
    power: Fact[Span] = NOT_SEEN
    percent: Fact[Span] = NOT_SEEN
    power_limit: Fact[float] = NOT_SEEN
    generation: Fact[int] = NOT_SEEN
    width: Fact[int] = NOT_SEEN
    slowdowns: Fact[tuple[Slowdown, ...]] = NOT_SEEN
    others: Fact[tuple[OtherProcess, ...]] = NOT_SEEN
    uncorrected: Fact[int] = NOT_SEEN


class Look(Struct, frozen=True):
    """What NVML told at one moment (seconds of the clock that never jumps), by the index of the GPU."""

    at: float
    gpus: Mapping[int, Mapping[str, Any]]


def device(told: Mapping[str, Any]) -> NvmlDevice:
    """A GPU from what the child told of it; what cannot be true is unknown."""
    capability = told.get("capability")
    return NvmlDevice(
        _whole(told.get("index")) or 0,
        _words(told.get("uuid")),
        _words(told.get("name")),
        address(_words(told.get("address"))),
        _words(told.get("pci_id")),
        tuple(capability) if isinstance(capability, list) and all(map(_is_whole, capability)) else (),
        _above_zero(told.get("memory")),
        _above_zero(told.get("cores")),
        _above_zero(told.get("clock_most")),
        _above_zero(told.get("memory_clock_most")),
        _above_zero(told.get("bus_width")),
        _watts(told.get("power_default")),
        _above_zero(told.get("generation_most")),
        _above_zero(told.get("width_most")),
        _above_zero(told.get("gpu_generation_most")),
        _flag(told.get("ecc")),
        _flag(told.get("mig")),
        tuple(
            MigDevice(_words(one.get("uuid")), _words(one.get("name")), _whole(one.get("multiprocessors")) or 0)
            for one in told.get("mig_devices") or ()
        ),
    )


def address(told: str) -> str:
    """NVML's `00000000:01:00.0` as the PCI tree writes it, `0000:01:00.0`."""
    domain, colon, rest = told.partition(":")
    return f"{domain[-4:]}:{rest}".lower() if colon and len(domain) == 8 and domain.startswith("0000") else told.lower()


def load_of(one: NvmlDevice, looks: Iterable[Look], ours: Collection[int]) -> DeviceLoad:
    """What the looks of a time come to for a GPU; processes of `ours` are no others."""
    seen = [look.gpus[one.index] for look in looks if one.index in look.gpus]
    if not seen:
        return DeviceLoad(one, 0)
    # What a GPU that has nothing to do rests at says nothing of what it can.
    busy = [told for told in seen if not (_whole(told.get("reasons")) or 0) & _IDLE]
    counts = [count for told in seen if (count := _whole(told.get("uncorrected"))) is not None]
    watts = [_watts(told.get("power_limit")) for told in seen]
    return DeviceLoad(
        one,
        len(seen),
        _span(nvml_sense.celsius(told, SOURCE) for told in _given(seen, "celsius")),
        _span(_above_zero(told.get("clock")) for told in busy) if busy else _RESTED,
        _span(_above_zero(told.get("memory_clock")) for told in busy) if busy else _RESTED,
        _span(_watts(told.get("power")) for told in seen),
        _span(nvml_sense.percent(told, SOURCE) for told in _given(seen, "percent")),
        min((limit for limit in watts if isinstance(limit, Known)), key=lambda limit: limit.value, default=NOT_TOLD),
        _most(_above_zero(told.get("generation")) for told in busy) if busy else _RESTED,
        _most(_above_zero(told.get("width")) for told in seen),
        _slowdowns(_given(busy, "reasons")) if busy else Known((), SOURCE),
        _others([told["processes"] for told in seen if isinstance(told.get("processes"), list)], ours, one.memory_bytes),
        Known(max(counts), SOURCE) if counts else NOT_TOLD,
    )


def _slowdowns(masks: Sequence[int]) -> Fact[tuple[Slowdown, ...]]:
    if not masks:
        return NOT_TOLD
    counts = ((reason, sum(bool(mask & bit) for mask in masks)) for bit, reason in SLOWDOWNS)
    return Known(tuple(Slowdown(reason, count / len(masks)) for reason, count in counts if count), SOURCE)


def _others(lists: Sequence[Any], ours: Collection[int], total: Fact[int]) -> Fact[tuple[OtherProcess, ...]]:
    if not lists:
        return NOT_TOLD
    most: dict[int, int | None] = {}
    for pid, used in (pair for listed in lists for pair in listed if pair[0] not in ours):
        before = most.get(pid)
        most[pid] = used if before is None else before if used is None else max(before, used)
    found = (OtherProcess(pid, nvml_sense.process_memory(used, total, SOURCE)) for pid, used in sorted(most.items()))
    return Known(tuple(found), SOURCE)


def _span(facts: Iterable[Fact[Any]]) -> Fact[Span]:
    values = [float(one.value) for one in facts if isinstance(one, Known)]
    return Known(Span(min(values), sum(values) / len(values), max(values)), SOURCE) if values else NOT_TOLD


def _most(facts: Iterable[Fact[int]]) -> Fact[int]:
    return max((one for one in facts if isinstance(one, Known)), key=lambda one: one.value, default=NOT_TOLD)


def _given(seen: Iterable[Mapping[str, Any]], name: str) -> list[int]:
    return [value for told in seen if (value := _whole(told.get(name))) is not None]


def _whole(told: Any) -> int | None:
    return told if isinstance(told, int) and not isinstance(told, bool) and 0 <= told < 2**63 else None


def _is_whole(told: Any) -> bool:
    return _whole(told) is not None


def _above_zero(told: Any) -> Fact[int]:
    value = _whole(told)
    return Known(value, SOURCE) if value and value not in {2**32 - 1, 2**31 - 1} else NOT_TOLD


def _watts(told: Any) -> Fact[float]:
    value = _whole(told)
    return nvml_sense.watts(value, SOURCE) if value is not None else NOT_TOLD


def _flag(told: Any) -> Fact[bool]:
    return Known(told, SOURCE) if isinstance(told, bool) else NOT_TOLD


def _words(told: Any) -> str:
    return told if isinstance(told, str) else ""
