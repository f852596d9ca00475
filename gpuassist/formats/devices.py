"""CUDA_VISIBLE_DEVICES as torch and the CUDA runtime read it (CUDA programming guide, environment variables; torch.cuda).

An index that is out of range, or a UUID that fits no GPU, ends the list: what stands after it is not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Union

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
    chosen, fault, element = _chosen(value, count, uuids)
    return VisibleDevices(len(chosen), fault, element)


def chosen_places(value: str, uuids: Sequence[str]) -> tuple[int, ...]:
    """The places among `uuids` (GPUs first, which an index may mean, then parts of GPUs) that the list leaves visible, in order."""
    gpus = sum(not uuid.startswith("MIG-") for uuid in uuids)
    return tuple(place for place in _chosen(value, gpus, uuids)[0] if place >= 0)


_Chosen = tuple[tuple[int, ...], Union[DeviceListFault, None], str]


def _chosen(value: str, count: int, uuids: Sequence[str]) -> _Chosen:
    elements = [element.strip() for element in value.split(",")]
    if not value.strip():
        return (), DeviceListFault.EMPTY, value
    if elements[0].startswith(("GPU-", "MIG-")):
        return _by_uuid(elements, uuids)
    return _by_index(elements, count)


def _by_uuid(elements: Sequence[str], uuids: Sequence[str]) -> _Chosen:
    """Places among the UUIDs; where there are none, as many places before the first."""
    prefix = elements[0][:4]
    seen: list[int] = []
    names: list[str] = []
    for element in elements:
        if not element.startswith(prefix):
            return tuple(seen), DeviceListFault.MIXED, element
        found = [(place, uuid) for place, uuid in enumerate(uuids) if uuid.startswith(element)] if uuids else [(-1, element)]
        if len(found) != 1:
            return tuple(seen), DeviceListFault.AMBIGUOUS_UUID if found else DeviceListFault.NO_SUCH_UUID, element
        if found[0][1] in names:
            return (), DeviceListFault.TWICE, element
        seen.append(found[0][0])
        names.append(found[0][1])
    return tuple(seen), None, ""


def _by_index(elements: Sequence[str], count: int) -> _Chosen:
    seen: list[int] = []
    for element in elements:
        number = _NUMBER.match(element)
        if number is None:
            fault = DeviceListFault.MIXED if element.startswith(("GPU-", "MIG-")) else DeviceListFault.NOT_A_DEVICE
            return tuple(seen), fault, element
        index = int(number[1] + number[2])  # of a longer one its beginning, which no machine has GPUs for either
        if not 0 <= index < count:
            return tuple(seen), DeviceListFault.EMPTY if index < 0 and not seen else DeviceListFault.OUT_OF_RANGE, element
        if index in seen:
            return (), DeviceListFault.TWICE, element
        seen.append(index)
    return tuple(seen), None, ""
