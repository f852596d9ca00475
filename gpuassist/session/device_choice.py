"""Which GPUs a command gets: those that its user names, or free ones that nobody else who waits takes as well.

Every run holds a claim on each GPU that it chose, as long as it lasts (`system.claims`), and whoever chooses holds one on choosing:
what he sees as free is still free when he takes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Union

from msgspec import Struct

from gpuassist.formats.devices import chosen_places
from gpuassist.formats.size import read_size, shown_size
from gpuassist.model.fact import Known, value_or
from gpuassist.model.sample import GpuSample, ProcessKind
from gpuassist.model.text import Text, counted, joined, listed, text
from gpuassist.system.claims import Claims

_CHOOSING = "choosing"
_IN_USE_SHARE = 0.1  # of a GPU's memory, held by nobody that is listed: a driver's own part is less
_VARIABLE = "CUDA_VISIBLE_DEVICES"
_ORDER = "CUDA_DEVICE_ORDER"


class DeviceWishError(ValueError):
    """Words that name no GPUs, or GPUs that are not there."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


class NamedDevices(Struct, frozen=True):
    """By NVML's index, or by UUID."""

    names: tuple[str, ...]


class FreeDevices(Struct, frozen=True):
    """So many that nobody uses."""

    count: int


DeviceWish = Union[NamedDevices, FreeDevices]


class ChosenDevices(Struct, frozen=True):
    """GPUs by index, and the variables that show a program these alone, in this order."""

    indices: tuple[int, ...]
    variables: Mapping[str, str]


def read_devices(words: str) -> DeviceWish:
    """`0,2`, `GPU-…`, `free:2`; raises `DeviceWishError`."""
    if words.startswith("free"):
        number = "1" if words == "free" else words.removeprefix("free:")
        if not _is_number(number) or not 0 < int(number) < 1000:
            raise DeviceWishError(text("{words} names no number of GPUs: free:2 would be two", words=words))
        return FreeDevices(int(number))
    if not words.strip():  # of `--devices "$GPUS"` where GPUS is not set: all of them were hardly meant
        raise DeviceWishError(text("--devices needs GPUs, as 0,2 or GPU-… or free:2, and got nothing"))
    names = tuple(str(int(name)) if _is_number(name) else name for name in map(str.strip, words.split(",")))
    kinds = {"index" if _is_number(one) else one[:4] for one in names}
    if len(kinds) != 1 or not kinds <= {"index", "GPU-", "MIG-"}:
        raise DeviceWishError(text("{words} names no GPUs: 0,2 or GPU-… or free:2 would", words=words))
    if len(set(names)) < len(names):
        raise DeviceWishError(text("{words} names a GPU twice, and CUDA then shows no GPU at all", words=words))
    return NamedDevices(names)


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal()


def read_free(words: str) -> int:
    """Bytes; raises `DeviceWishError`."""
    size = read_size(words)
    if not size:
        raise DeviceWishError(text("{words} is no size of memory: 20GiB would be one", words=words))
    return size


def choose(
    wish: DeviceWish, gpus: Sequence[GpuSample], claims: Claims, variables: Mapping[str, str], *, free_bytes: int, waits: bool
) -> ChosenDevices | Text:
    """GPUs that the wish means and that are claimed now, or why there are none yet; raises `DeviceWishError` where there never are.

    Named ones are taken whether they are in use or not, unless it `waits` or asks for free memory.
    """
    if not claims.take(_CHOOSING):
        return text("another `gpuassist run` is choosing GPUs at this moment")
    try:
        if isinstance(wish, NamedDevices):
            return _named(wish, gpus, claims, free_bytes if waits or free_bytes else None)
        shown = _shown(gpus, variables.get(_VARIABLE))
        if wish.count > len(shown):
            raise DeviceWishError(_too_few(shown, variables.get(_VARIABLE)))
        return _free(wish, shown, claims, free_bytes)
    finally:
        claims.give_back(_CHOOSING)


def _named(wish: NamedDevices, gpus: Sequence[GpuSample], claims: Claims, free_bytes: int | None) -> ChosenDevices | Text:
    found = tuple(_by_name(name, gpus) for name in wish.names)
    if free_bytes is not None:
        reasons = tuple(reason for gpu in found if (reason := _why_not_free(gpu, free_bytes)) is not None)
        if reasons:
            return joined(reasons)
    taken = [gpu for gpu in found if not claims.take(_claim(gpu))]
    if taken and free_bytes is not None:
        claims.give_back(*map(_claim, found))
        return joined(tuple(map(_taken, taken)))
    if len({gpu.index for gpu in found}) < len(found):  # by two beginnings of one UUID
        raise DeviceWishError(text("{words} names a GPU twice, and CUDA then shows no GPU at all", words=",".join(wish.names)))
    # Of a UUID that was typed in part, or in other letters, the driver's own form.
    pairs = zip(wish.names, found, strict=True)
    return _chosen(found, tuple(name if _is_number(name) else value_or(gpu.uuid, name) for name, gpu in pairs))


def _by_name(name: str, gpus: Sequence[GpuSample]) -> GpuSample:
    if _is_number(name):
        found = [gpu for gpu in gpus if gpu.parent is None and gpu.index == int(name)]
    else:
        found = [gpu for gpu in gpus if value_or(gpu.uuid, "").lower().startswith(name.lower())]
    if len(found) == 1:
        return found[0]
    if found:
        raise DeviceWishError(text("{name} begins the UUIDs of several GPUs", name=name))
    known = listed(str(gpu.index) for gpu in gpus if gpu.parent is None)
    raise DeviceWishError(text("there is no GPU {name} here; there are: {known}", name=name, known=known))


def _free(wish: FreeDevices, shown: Sequence[GpuSample], claims: Claims, free_bytes: int) -> ChosenDevices | Text:
    reasons: list[Text] = []
    found: list[GpuSample] = []
    for gpu in sorted(shown, key=lambda one: (-value_or(one.memory_free_bytes, 0), one.index)):
        reason = _why_not_free(gpu, free_bytes)
        if reason is None and not claims.take(_claim(gpu)):
            reason = _taken(gpu)
        if reason is not None:
            reasons.append(reason)
            continue
        found.append(gpu)
        if len(found) == wish.count:
            found.sort(key=lambda one: one.index)
            return _chosen(found, tuple(str(one.index) for one in found))
    claims.give_back(*map(_claim, found))
    return joined(tuple(reasons))


def _too_few(shown: Sequence[GpuSample], value: str | None) -> Text:
    if value is None:
        return counted("there is {count} GPU here to choose from", "there are {count} GPUs here to choose from", len(shown))
    return counted(
        "CUDA_VISIBLE_DEVICES={value} leaves {count} GPU to choose from",
        "CUDA_VISIBLE_DEVICES={value} leaves {count} GPUs to choose from",
        len(shown),
        value=value,
    )


def _shown(gpus: Sequence[GpuSample], value: str | None) -> tuple[GpuSample, ...]:
    """Those among which may be chosen: what a batch system or the user's own shell has hidden stays so."""
    whole = tuple(gpu for gpu in gpus if gpu.parent is None)
    if value is None:
        return whole
    places = chosen_places(value, [value_or(gpu.uuid, "") for gpu in whole])
    return tuple(whole[place] for place in places)


def _why_not_free(gpu: GpuSample, free_bytes: int) -> Text | None:
    """Why it is not to be had: with a size asked for too little of it is left, without one somebody computes on it."""
    if gpu.asleep:
        return None  # nobody has it open
    if not isinstance(gpu.memory_used_bytes, Known):
        return text("GPU {index}: {reason}", index=gpu.index, reason=gpu.memory_used_bytes.reason)
    if free_bytes:
        left = value_or(gpu.memory_free_bytes, 0)
        return None if left >= free_bytes else text("GPU {index} has {size} left", index=gpu.index, size=shown_size(left))
    processes = value_or(gpu.processes, ())
    computing = [one for one in processes if value_or(one.kind, ProcessKind.COMPUTE) is not ProcessKind.GRAPHICS]
    if computing:
        return text("GPU {index} is in use by process {pid}", index=gpu.index, pid=computing[0].pid)
    unnamed = gpu.memory_used_bytes.value - sum(value_or(one.memory_used_bytes, 0) for one in processes)
    if unnamed > _IN_USE_SHARE * value_or(gpu.memory_total_bytes, 0):
        return text("GPU {index} has {size} in use", index=gpu.index, size=shown_size(gpu.memory_used_bytes.value))
    return None


def _chosen(gpus: Sequence[GpuSample], names: tuple[str, ...]) -> ChosenDevices:
    # Indices where they were asked for: not every program reads UUIDs. They count as NVML's do only in this order.
    return ChosenDevices(tuple(gpu.index for gpu in gpus), {_VARIABLE: ",".join(names), _ORDER: "PCI_BUS_ID"})


def _claim(gpu: GpuSample) -> str:
    return f"gpu/{value_or(gpu.uuid, str(gpu.index))}"


def _taken(gpu: GpuSample) -> Text:
    return text("GPU {index} is taken by another `gpuassist run`", index=gpu.index)
