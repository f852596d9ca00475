"""Which GPUs a look asks about: its thread has little time, and torch's answer for each takes a part of it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from gpuassist.monitor.inside import gpuassist_memory as inside

GPUS = 4
_NAMES = ("allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes")


class Torch:
    """GPUs that were started, what each holds, and which were asked about."""

    def __init__(self) -> None:
        self.started = set(range(GPUS - 1))
        self.held = dict.fromkeys(range(GPUS), 0)
        self.asked: list[int] = []
        self.cuda = SimpleNamespace(is_initialized=lambda: True, device_count=lambda: GPUS)
        self._C = SimpleNamespace(_cuda_hasPrimaryContext=lambda one: one in self.started, _cuda_memoryStats=self._stats)

    def _stats(self, ordinal: int) -> dict[str, Any]:
        self.asked.append(ordinal)
        held = {"current": self.held[ordinal], "peak": self.held[ordinal]}
        return {**{name: {"all": held} for name in _NAMES}, "num_ooms": 0, "num_alloc_retries": 0}


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> Torch:
    monkeypatch.setattr(inside, "_identity", lambda ordinal: bytes(40))
    return Torch()


@pytest.fixture
def looks(torch: Torch) -> Callable[..., list[int]]:
    """Looks so often as the thread does, and says who was asked about in the last of these looks."""
    watch = inside._Watch(torch)

    def look(count: int, *, whole: bool = False) -> list[int]:
        for _ in range(count):
            torch.asked = []
            watch._look(whole=whole)
            watch._looks += 1
        return torch.asked

    return look


def test_of_many_gpus_those_that_rest_are_left_out_until_the_next_whole_look(torch: Torch, looks: Callable[..., list[int]]) -> None:
    assert looks(1, whole=True) == [0, 1, 2]
    assert looks(1) == [0, 1, 2]
    torch.held[1] = 7
    looks(inside.LOOKS_A_WRITE)
    torch.held[1] = 8
    looks(1)
    assert looks(1) == [1]
    torch.held[2] = 5
    assert looks(1, whole=True) == [0, 1, 2]
    assert looks(1) == [1, 2]


def test_one_or_two_gpus_are_looked_at_always(torch: Torch, looks: Callable[..., list[int]]) -> None:
    torch.started = {0, 3}
    looks(1, whole=True)
    assert looks(3 * inside.LOOKS_A_WRITE) == [0, 3]


def test_a_gpu_that_is_started_later_is_found_in_a_whole_look(torch: Torch, looks: Callable[..., list[int]]) -> None:
    looks(1, whole=True)
    torch.started.add(3)
    assert looks(1) == [0, 1, 2]
    assert looks(1, whole=True) == [0, 1, 2, 3]
    assert looks(1) == [0, 1, 2, 3]
