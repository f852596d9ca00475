"""The GPUs as NVML tells of them, in plain numbers: memory first, what changes slowly seldom, and names and limits once.

It runs in the child (`monitor.sampling_child`) and stands without dataclasses and typing, as `system.nvml` says. What the numbers
mean is decided by whoever asked (`monitor.sources`).

Three crews ask: `memory` for that alone, `figures` for processes and load at every reading and for what is worth a second or a
minute, `slow` for the one call that measures for 20 ms and that nobody waits for. A call that does not return holds up its piece.
"""

from __future__ import annotations

import time

from gpuassist.monitor.crew import Crew
from gpuassist.monitor.device import WatchedGpu
from gpuassist.system.nvml import Nvml, Refusal, ask
from gpuassist.system.nvml_activity import Events

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    Answer = dict[str, Any]

MEMORY_SECONDS = 1.0
"""How long a reading waits for memory, beyond which it tells what there is."""

FIGURES_SECONDS = 0.6
EVENTS_SECONDS = 0.9


class Board:
    """Opens NVML when it is first asked."""

    waited = 0.0  # a call of NVML itself in this very process is waited for by whoever asks

    def __init__(self) -> None:
        self._nvml: Nvml | None = None
        self._all: tuple[WatchedGpu, ...] | None = None
        self._by_address: dict[str, WatchedGpu] = {}
        self._events = Events()
        self._happened: list[list[int]] = []
        self._events_of: tuple[WatchedGpu, ...] = ()
        self._events_at = 0.0
        self._crews: tuple[Crew, Crew, Crew] = _crews()

    def read(self, addresses: Sequence[Sequence[Any]] | None, wanted: Sequence[str] = ()) -> Answer:
        """`{"gpus": [...], "events": [...]}` of every device, or of those with these indices and PCI addresses alone; `{"refused":
        ...}` where NVML itself gives nothing. A value that a device refuses is `{"code", "name", "words"}` in its place, one that
        it does not answer `{"silent": seconds}`. `wanted` names what is asked beside the figures that are always told: `curves`,
        `shares`, `activity`. Events are `[index, xid]`.
        """
        refused = self._opened()
        if refused is not None:
            return {"refused": told(refused)}
        devices = self._every() if addresses is None else tuple(self._at(*one) for one in addresses)
        if isinstance(devices, Refusal):
            self.close()
            return {"refused": told(devices)}
        memory, figures, slow = self._crews
        now = time.monotonic()
        memory.give((device, device.read_memory) for device in devices)
        memory.wait(MEMORY_SECONDS)
        figures.give(((device, "often"), device.read_often) for device in devices)
        figures.give(((device, "seldom"), device.seldom(tuple(wanted))) for device in devices if device.is_due(now, wanted))
        figures.give(self._listening(devices, now))
        slow.give((device, device.read_throughput) for device in devices if device.wants_throughput(now, wanted))
        figures.wait(FIGURES_SECONDS)
        answer = {"gpus": [one for device in devices for one in device.told(figures.late((device, "seldom")))]}
        happened, self._happened = self._happened, []
        if any(device.uninitialized for device in devices):
            self.close()  # somebody else in this process shut NVML down: the next reading opens it again
        return {**answer, "events": happened}

    def close(self) -> None:
        """Lets go of the driver, so that idle GPUs may sleep; not while a call does not return, which it would wait for."""
        crews, self._crews = self._crews, _crews()
        for crew in crews:
            crew.close()
        if self._nvml is not None and not any(crew.at_work for crew in crews):
            self._events.close()
            for device in (*(self._all or ()), *self._by_address.values()):
                device.close()
            self._nvml.close()
        self._nvml, self._all, self._events, self._events_of = None, None, Events(), ()
        self._by_address.clear()

    def interrupt(self) -> None:
        """A call of NVML in this very process cannot be interrupted."""

    def _opened(self) -> Refusal | None:
        if self._nvml is None:
            nvml = Nvml()
            refused = nvml.open()
            if refused is not None:
                return refused
            self._nvml = nvml
        return None

    def _every(self) -> tuple[WatchedGpu, ...] | Refusal:
        if self._all is None:
            assert self._nvml is not None
            handles = self._nvml.handles()
            if isinstance(handles, Refusal):
                return handles
            self._all = tuple(
                self._device(index, handle, ("nvmlDeviceGetHandleByIndex", index)) for index, handle in enumerate(handles)
            )
        return self._all

    def _at(self, index: int, address: str) -> WatchedGpu:
        # A handle by index may wake any of them; one by address only its own (NVML manual, nvmlDeviceGetHandleByPciBusId).
        if address not in self._by_address:
            way = ("nvmlDeviceGetHandleByPciBusId", address)
            self._by_address[address] = self._device(index, ask(*way), way)
        return self._by_address[address]

    def _device(self, index: int, handle: Any, way: tuple[str, Any]) -> WatchedGpu:
        assert self._nvml is not None
        return WatchedGpu(self._nvml.another(), index, handle, way)

    def _listening(self, devices: tuple[WatchedGpu, ...], now: float) -> list[tuple[str, Any]]:
        if now - self._events_at < EVENTS_SECONDS:
            return []
        self._events_at = now
        events = self._events

        def listen() -> None:
            if devices != self._events_of:
                events.close()
                events.open([(device.index, device.handle) for device in devices if not isinstance(device.handle, Refusal)])
                self._events_of = devices
            self._happened += events.read()

        return [("events", listen)]


def _crews() -> tuple[Crew, Crew, Crew]:
    return Crew("memory"), Crew("figures"), Crew("throughput")


def told(answer: Any) -> Any:
    """An answer as it is sent."""
    return {"code": answer.code, "name": answer.name, "words": answer.words} if isinstance(answer, Refusal) else answer
