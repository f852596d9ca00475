"""Which GPUs a command gets."""

from __future__ import annotations

import os
from itertools import count

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import Known, Unknown
from gpuassist.model.sample import GpuSample, ProcessKind, ProcessSample
from gpuassist.model.text import Text, verbatim
from gpuassist.session.device_choice import (
    ChosenDevices,
    DeviceWishError,
    FreeDevices,
    NamedDevices,
    choose,
    read_devices,
    read_free,
)
from gpuassist.system.claims import Claims
from tests.rows import for_each

GIB = 1 << 30
_machines = count()


class Machine:
    """GPUs that no other test claims."""

    def __init__(self, *gpus: GpuSample) -> None:
        self.name = f"{os.getpid()}-{next(_machines)}"
        self.gpus = tuple(
            replace(gpu, index=index, uuid=Known(f"GPU-{self.name}-{index}", "test")) for index, gpu in enumerate(gpus)
        )
        self.claims = Claims()

    def chosen(
        self, words: str, *, free: int = 0, waits: bool = False, shown: str | None = None, claims: Claims | None = None
    ) -> tuple[int, ...] | None:
        variables = {} if shown is None else {"CUDA_VISIBLE_DEVICES": shown}
        wish = read_devices(words.replace("GPU-", f"GPU-{self.name}-"))
        found = choose(wish, self.gpus, claims or self.claims, variables, free_bytes=free, waits=waits)
        assert isinstance(found, Text | ChosenDevices)
        return found.indices if isinstance(found, ChosenDevices) else None


def gpu(used: float, *kinds: ProcessKind, hidden: float = 0.0, asleep: bool = False) -> GpuSample:
    """A card of 24 GiB; its processes have all that is used, but for what is hidden."""
    each = int((used - hidden) * GIB / max(1, len(kinds)))
    processes = tuple(ProcessSample(9, memory_used_bytes=Known(each, "test"), kind=Known(kind, "test")) for kind in kinds)
    total, taken = 24 * GIB, int(used * GIB)
    facts = (Known(total, "test"), Known(taken, "test"), Known(total - taken, "test"))
    if asleep:
        return GpuSample(0, memory_used_bytes=Unknown(verbatim("asleep")), asleep=True)
    return GpuSample(
        0, memory_total_bytes=facts[0], memory_used_bytes=facts[1], memory_free_bytes=facts[2], processes=Known(processes, "test")
    )


C, G = ProcessKind.COMPUTE, ProcessKind.GRAPHICS


@for_each(
    "words, wish",
    [
        ("0,2", NamedDevices(("0", "2"))),
        ("GPU-a, GPU-b", NamedDevices(("GPU-a", "GPU-b"))),
        ("MIG-1", NamedDevices(("MIG-1",))),
        ("free:2", FreeDevices(2)),
        ("free", FreeDevices(1)),
        *((bad, None) for bad in ("free:", ",", "٣", "0,00")),
        *((bad, None) for bad in ("", "a", "0,GPU-a", "0,0", "free:0", "free:x", "free2x", "-1", "0,,1", "all")),
    ],
)
def test_words_for_gpus(words: str, wish: object) -> None:
    if wish is None:
        with pytest.raises(DeviceWishError):
            read_devices(words)
    else:
        assert read_devices(words) == wish


def test_part_of_a_uuid_becomes_the_drivers_own() -> None:
    machine = Machine(gpu(0.1), gpu(0.2))
    found = choose(NamedDevices((f"gpu-{machine.name}-1",)), machine.gpus, machine.claims, {}, free_bytes=0, waits=False)
    assert isinstance(found, ChosenDevices)
    assert found.variables["CUDA_VISIBLE_DEVICES"] == f"GPU-{machine.name}-1"
    machine.claims.close()


def test_sizes() -> None:
    assert (read_free("20GiB"), read_free("512 MiB")) == (20 * GIB, GIB // 2)
    for words in ("", "20", "much", "0GiB"):
        with pytest.raises(DeviceWishError):
            read_free(words)


@for_each(
    "gpus, words, more, indices",
    [
        ((gpu(0.3), gpu(0.3)), "free:1", {}, (0,)),
        ((gpu(5, C), gpu(0.3)), "free:1", {}, (1,)),
        ((gpu(5, C), gpu(0.3)), "free:2", {}, None),
        ((gpu(1, G, G), gpu(5, C)), "free:1", {}, (0,)),  # a desktop's own programs are no computing
        ((gpu(8, hidden=8), gpu(0.3)), "free:1", {}, (1,)),  # in a container, which is not told of others' processes
        ((gpu(5, C), gpu(2, C)), "free:1", {"free": 20 * GIB}, (1,)),
        ((gpu(5, C), gpu(2, C)), "free:2", {"free": 18 * GIB}, (0, 1)),
        ((gpu(0.3), gpu(0, asleep=True)), "free:2", {}, (0, 1)),
        ((gpu(0.3), gpu(0.2), gpu(0.1)), "free:2", {}, (1, 2)),
        ((gpu(0.3), gpu(0.2), gpu(0.1)), "free:1", {"shown": "0"}, (0,)),
        ((gpu(9, C), gpu(0.2)), "0,1", {}, (0, 1)),
        ((gpu(9, C), gpu(0.2)), "0,1", {"waits": True}, None),
        ((gpu(9, C), gpu(0.2)), "0", {"free": 20 * GIB}, None),
        ((gpu(9, C), gpu(0.2)), "GPU-1,GPU-0", {}, (1, 0)),
    ],
)
def test_what_is_chosen(gpus: tuple[GpuSample, ...], words: str, more: dict[str, int], indices: tuple[int, ...] | None) -> None:
    machine = Machine(*gpus)
    assert machine.chosen(words, **more) == indices  # type: ignore[arg-type]
    machine.claims.close()


@for_each("words, shown", [("2", None), ("GPU-7", None), ("free:3", None), ("free:2", "0"), ("free:1", "")])
def test_what_there_never_is(words: str, shown: str | None) -> None:
    with pytest.raises(DeviceWishError):
        Machine(gpu(0.1), gpu(0.2)).chosen(words, shown=shown)


def test_two_that_wait_never_take_one() -> None:
    machine = Machine(gpu(0.1), gpu(0.2), gpu(0.3))
    others = Claims()
    assert machine.chosen("free:2", waits=True) == (0, 1)
    assert machine.chosen("free:2", waits=True, claims=others) is None
    assert machine.chosen("1", waits=True, claims=others) is None
    assert machine.chosen("1", claims=others) == (1,)  # named, and not asked whether it is free
    assert machine.chosen("free:1", waits=True, claims=others) == (2,)
    machine.claims.close()
    others.close()


def test_what_a_program_is_shown_counts_as_nvml_does() -> None:
    machine = Machine(gpu(0.1), gpu(0.2))
    found = choose(FreeDevices(2), machine.gpus, machine.claims, {}, free_bytes=0, waits=False)
    assert isinstance(found, ChosenDevices)
    assert found.variables == {"CUDA_VISIBLE_DEVICES": "0,1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    machine.claims.close()
