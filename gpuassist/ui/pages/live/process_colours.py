"""Whose colour is whose: a process keeps its colour and its place in the stack for as long as the window is open."""

from __future__ import annotations

from collections.abc import Callable

from gpuassist.model.fact import value_or
from gpuassist.model.sample import Sample
from gpuassist.ui.plots.colour_table import COLOURS

REMEMBERED = 4096


class ProcessColours:
    """Gives numbers of colours: no two processes that are on one GPU at one time have the same while there are enough.

    What has the same name gets the same colour where that is so: the ranks of one run, and a program that was started again.
    """

    def __init__(self) -> None:
        self._colours: dict[int, int] = {}
        self._by_name: dict[str, int] = {}
        self._present: frozenset[tuple[int, int]] = frozenset()
        self._orders: dict[int, int] = {}

    def take(self, sample: Sample, name_of: Callable[[int], str]) -> None:
        """Sees who is there now; `name_of` tells what a process is known by."""
        present = frozenset((gpu.index, process.pid) for gpu in sample.gpus for process in value_or(gpu.processes, ()))
        if present == self._present:
            return
        self._present = present
        where: dict[int, set[int]] = {}
        for gpu, pid in sorted(present):
            where.setdefault(pid, set()).add(gpu)
        for pid, gpus in where.items():
            if pid not in self._colours:
                beside = {other for other in where if other in self._colours and where[other] & gpus}
                self._give(pid, name_of(pid), {self._colours[other] for other in beside})

    def colour_of(self, pid: int) -> int:
        if pid not in self._colours:
            self._give(pid, "", set())
        return self._colours[pid]

    def order_of(self, pid: int) -> int:
        """Where it stands in every stack, from the bottom: whoever came first stands lowest."""
        return self._orders.get(pid, len(self._orders))

    def _give(self, pid: int, name: str, taken: set[int]) -> None:
        if len(self._colours) >= REMEMBERED:
            oldest = next(iter(self._colours))
            del self._colours[oldest], self._orders[oldest]
        wanted = self._by_name.get(name) if name else None
        if wanted is None or wanted in taken:
            # Other names' colours are left to them as long as there are others.
            free = [number for number in range(COLOURS) if number not in taken]
            fresh = [number for number in free if number not in self._by_name.values()]
            wanted = (fresh or free or [pid % COLOURS])[0]
        self._colours[pid] = wanted
        self._orders[pid] = max(self._orders.values(), default=-1) + 1
        if name:
            self._by_name.setdefault(name, wanted)
