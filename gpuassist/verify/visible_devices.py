"""Which of the GPUs that NVML lists CUDA should show, in which order, and what it means where torch sees others.

NVML counts GPUs by their PCI address. CUDA does so where CUDA_DEVICE_ORDER is PCI_BUS_ID; else it puts the fastest first by a rule
that is not published (CUDA programming guide, environment variables), so that of GPUs of several kinds an index says nothing. Of a
GPU in MIG mode an application sees one part, and which one is not said unless the list names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from msgspec import Struct

from gpuassist.formats.devices import DeviceListFault, chosen_places, read_visible_devices
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import Text, counted, enumerated, text
from gpuassist.verify.load import MigDevice, NvmlDevice

PCI_ORDER = "PCI_BUS_ID"


class VisibleDevice(Struct, frozen=True):
    """A GPU that CUDA should show, or a part of one."""

    device: NvmlDevice
    part: MigDevice | None = None

    @property
    def uuid(self) -> str:
        return self.part.uuid if self.part is not None else self.device.uuid


class Visible(Struct, frozen=True):
    """How many CUDA should show; which, in CUDA's order, where that can be said (`devices`, else why not); and what is wrong with
    the list, at which element of it.
    """

    count: Fact[int]
    devices: Fact[tuple[VisibleDevice, ...]]
    fault: DeviceListFault | None = None
    element: str = ""


class SeenDevice(Struct, frozen=True):
    """What torch sees under an index: its UUID (without `GPU-` as torch prints it, or with) and PCI address, as far as known."""

    uuid: str = ""
    pci: str = ""


def visible(devices: Sequence[NvmlDevice], value: str | None, order: str) -> Visible:
    """What CUDA should show under a CUDA_VISIBLE_DEVICES (None: not set) and a CUDA_DEVICE_ORDER (empty: not set)."""
    whole = [VisibleDevice(one) for one in devices]
    parts = [VisibleDevice(one, part) for one in devices for part in one.mig_devices]
    every, by_index = [*whole, *parts], value is None or not value.strip().startswith(("GPU-", "MIG-"))
    if value is None:
        chosen, fault, element = whole, None, ""
    else:
        read = read_visible_devices(value, len(whole), [one.uuid for one in every])
        chosen = [every[place] for place in chosen_places(value, [one.uuid for one in every])]
        fault, element = read.fault, read.element
    if any(one.part is None and one.device.mig.is_true for one in chosen) or sum(one.part is not None for one in chosen) > 1:
        return Visible(_OF_MIG, _OF_MIG, fault, element)
    count = Known(len(chosen), _SOURCE)
    if by_index and order != PCI_ORDER and len({one.device.name for one in whole}) > 1 and chosen:
        return Visible(count, _ORDER_UNKNOWN, fault, element)
    return Visible(count, Known(tuple(chosen), _SOURCE), fault, element)


def disagreements(should: Visible, value: str | None, count: int, seen: Sequence[SeenDevice] = ()) -> tuple[Text, ...]:
    """What is to be said where torch sees `count` GPUs, these ones: a list that ends early, too few, too many, others."""
    return tuple(_sentences(should, value, count, seen))


def _sentences(should: Visible, value: str | None, count: int, seen: Sequence[SeenDevice]) -> Iterator[Text]:
    if should.fault is not None and value is not None:
        yield _of_list(should.fault, value, should.element)
    expected = should.count
    if isinstance(expected, Known) and count != expected.value:
        sentence, missing = _of_count(value, count, expected.value), _missing(should, count, seen)
        yield text("{sentence}; missing: {names}", sentence=sentence, names=missing) if missing is not None else sentence
    elif isinstance(should.devices, Known):
        for index, (one, other) in enumerate(zip_longest(should.devices.value, seen)):
            if one is not None and other is not None and _same(one, other) is False:
                yield text(
                    "cuda:{index} is {seen}, and should be NVML's GPU {nvml} ({address})",
                    index=index,
                    seen=other.pci or other.uuid,
                    nvml=one.device.index,
                    address=one.device.address,
                )


def nvml_index(device: SeenDevice, devices: Sequence[NvmlDevice]) -> Fact[int]:
    """NVML's index of a GPU that torch sees; of a part of a GPU that of the GPU."""
    for one in devices:
        if _same(VisibleDevice(one), device) or any(_same(VisibleDevice(one, part), device) for part in one.mig_devices):
            return Known(one.index, _SOURCE)
    return Unknown(text("NVML lists no GPU with that UUID or PCI address"))


def _same(one: VisibleDevice, seen: SeenDevice) -> bool | None:
    """By the UUID where both tell it, else by the address; None where neither can be compared."""
    if seen.uuid and one.uuid:
        return _bare(seen.uuid) == _bare(one.uuid)
    return seen.pci.lower() == one.device.address if seen.pci and one.device.address else None


def _bare(uuid: str) -> str:
    return uuid.lower().removeprefix("gpu-").removeprefix("mig-")


def _of_count(value: str | None, count: int, expected: int) -> Text:
    """With what the variable says, which may be why."""
    if value is None:
        return counted(
            "CUDA shows {count} GPU of {expected} that NVML lists, and CUDA_VISIBLE_DEVICES is not set",
            "CUDA shows {count} GPUs of {expected} that NVML lists, and CUDA_VISIBLE_DEVICES is not set",
            count,
            expected=expected,
        )
    return counted(
        "CUDA shows {count} GPU; with CUDA_VISIBLE_DEVICES={value} it should show {expected} of those that NVML lists",
        "CUDA shows {count} GPUs; with CUDA_VISIBLE_DEVICES={value} it should show {expected} of those that NVML lists",
        count,
        expected=expected,
        value=value or "''",
    )


def _missing(should: Visible, count: int, seen: Sequence[SeenDevice]) -> Text | None:
    """The GPUs that torch should see and does not, where it is known of each whether it sees it."""
    wanted = should.devices.value if isinstance(should.devices, Known) else ()
    if len(seen) != count or any(_same(one, other) is None for one in wanted for other in seen):
        return None
    missing = [one.device for one in wanted if not any(_same(one, other) for other in seen)]
    return enumerated(f"{one.index} ({one.name}, {one.address})" for one in missing) if missing else None


def _of_list(fault: DeviceListFault, value: str, element: str) -> Text:
    sentences = {
        DeviceListFault.EMPTY: text("CUDA_VISIBLE_DEVICES hides every GPU ({value})", value=value or "''"),
        DeviceListFault.TWICE: text(
            "CUDA_VISIBLE_DEVICES names {element} twice, and CUDA then shows no GPU at all", element=element
        ),
        DeviceListFault.AMBIGUOUS_UUID: text(
            "CUDA_VISIBLE_DEVICES ends at {element}, which begins the UUIDs of several GPUs", element=element
        ),
        DeviceListFault.MIXED: text(
            "CUDA_VISIBLE_DEVICES ends at {element}: it may hold indices, UUIDs or MIG UUIDs, and not several of them",
            element=element,
        ),
    }
    ends = text("CUDA_VISIBLE_DEVICES ends at {element}, which is no GPU of this machine", element=element)
    return sentences.get(fault, ends)


_SOURCE = "NVML, CUDA_VISIBLE_DEVICES"
_OF_MIG = Unknown(text("a GPU is in MIG mode, and CUDA shows one part of it"))
_ORDER_UNKNOWN = Unknown(text("without CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA puts the GPU first that it takes for the fastest"))
