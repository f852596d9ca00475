"""CUDA_VISIBLE_DEVICES as torch and the CUDA runtime read it (CUDA programming guide, environment variables; torch.cuda).

An index that is out of range, or a UUID that fits no GPU, ends the list: what stands after it is not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from gpuassist.model.lazy_regex import lazy_regex

_NUMBER = lazy_regex(r"([+-]?)0*(\d{1,9})")


class DeviceListFault(str, Enum):
    """Why a list does not mean what its writer meant."""

    EMPTY = "empty"
    NOT_A_DEVICE = "not-a-device"
    OUT_OF_RANGE = "out-of-range"
    TWICE = "twice"
    NO_SUCH_UUID = "no-such-uuid"
    AMBIGUOUS_UUID = "ambiguous-uuid"
    MIXED = "mixed"


class VisibleDevices(Struct, frozen=True):
    """How many devices the list leaves visible, and at which element it fails, if at all."""

    visible: int
    fault: DeviceListFault | None = None
    element: str = ""


def read_visible_devices(value: str, count: int, uuids: Sequence[str] = ()) -> VisibleDevices:
    """The list on a machine with `count` GPUs; without `uuids` those in the list are taken on trust."""
    elements = [element.strip() for element in value.split(",")]
    if not value.strip():
        return VisibleDevices(0, DeviceListFault.EMPTY, value)
    if elements[0].startswith(("GPU-", "MIG-")):
        prefix = elements[0][:4]
        seen: list[str] = []
        for element in elements:
            if not element.startswith(prefix):
                return VisibleDevices(len(seen), DeviceListFault.MIXED, element)
            found = [uuid for uuid in uuids if uuid.startswith(element)] if uuids else [element]
            if len(found) != 1:
                return VisibleDevices(len(seen), DeviceListFault.AMBIGUOUS_UUID if found else DeviceListFault.NO_SUCH_UUID, element)
            if found[0] in seen:
                return VisibleDevices(0, DeviceListFault.TWICE, element)
            seen.append(found[0])
        return VisibleDevices(len(seen))
    return _by_index(elements, count)


def _by_index(elements: Sequence[str], count: int) -> VisibleDevices:
    seen: list[int] = []
    for element in elements:
        number = _NUMBER.match(element)
        if number is None:
            fault = DeviceListFault.MIXED if element.startswith(("GPU-", "MIG-")) else DeviceListFault.NOT_A_DEVICE
            return VisibleDevices(len(seen), fault, element)
        index = int(number[1] + number[2])  # of a longer one its beginning, which no machine has GPUs for either
        if not 0 <= index < count:
            return VisibleDevices(
                len(seen), DeviceListFault.EMPTY if index < 0 and not seen else DeviceListFault.OUT_OF_RANGE, element
            )
        if index in seen:
            return VisibleDevices(0, DeviceListFault.TWICE, element)
        seen.append(index)
    return VisibleDevices(len(seen))
