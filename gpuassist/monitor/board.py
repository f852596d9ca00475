"""The GPUs as NVML tells of them, in plain numbers: asked at most seven times a device, with names asked once.

It runs in the child (`monitor.sampling_child`) and stands without dataclasses and typing, as `system.nvml` says. What the numbers
mean is decided by whoever asked (`monitor.sources`).
"""

from __future__ import annotations

from gpuassist.system.nvml import Nvml, Refusal, ask

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    Answer = dict[str, Any]

_UNINITIALIZED = 1
_TEMPERATURE_OF_GPU = 0  # nvmlTemperatureSensors_t


class Board:
    """Opens NVML when it is first asked."""

    def __init__(self) -> None:
        self._nvml: Nvml | None = None
        self._all: tuple[_Device, ...] | None = None
        self._by_address: dict[str, _Device] = {}

    def read(self, addresses: Sequence[Sequence[Any]] | None) -> Answer:
        """`{"gpus": [...]}` of every device, or of those with these indices and PCI addresses alone; `{"refused": ...}` where NVML
        itself gives nothing. A value that a device refuses is `{"code", "name", "words"}` in its place.
        """
        refused = self._opened()
        if refused is not None:
            return {"refused": _told(refused)}
        devices = self._every() if addresses is None else tuple(self._at(*one) for one in addresses)
        if isinstance(devices, Refusal):
            self.close()
            return {"refused": _told(devices)}
        assert self._nvml is not None
        gpus = [device.read(self._nvml) for device in devices]
        if any(device.uninitialized for device in devices):
            self.close()  # somebody else in this process shut NVML down: the next reading opens it again
        return {"gpus": gpus}

    def close(self) -> None:
        """Lets go of the driver, so that idle GPUs may sleep."""
        if self._nvml is not None:
            self._nvml.close()
        self._nvml, self._all = None, None
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

    def _every(self) -> Iterable[_Device] | Refusal:
        if self._all is None:
            assert self._nvml is not None
            handles = self._nvml.handles()
            if isinstance(handles, Refusal):
                return handles
            self._all = tuple(_Device(index, handle) for index, handle in enumerate(handles))
        return self._all

    def _at(self, index: int, address: str) -> _Device:
        # A handle by index may wake any of them; one by address only its own (NVML manual, nvmlDeviceGetHandleByPciBusId).
        if address not in self._by_address:
            self._by_address[address] = _Device(index, ask("nvmlDeviceGetHandleByPciBusId", address))
        return self._by_address[address]


class _Device:
    """One that is awake, with what does not change asked once."""

    def __init__(self, index: int, handle: Any) -> None:
        self.uninitialized = False
        self._handle = handle
        lost = isinstance(handle, Refusal)
        self._fixed = {
            "index": index,
            "name": _told(handle if lost else ask("nvmlDeviceGetName", handle)),
            "uuid": _told(handle if lost else ask("nvmlDeviceGetUUID", handle)),
        }

    def read(self, nvml: Nvml) -> Answer:
        handle = self._handle
        if isinstance(handle, Refusal):
            return {**self._fixed, "lost": _told(handle)}
        memory, rates = nvml.memory(handle), ask("nvmlDeviceGetUtilizationRates", handle)
        self.uninitialized = isinstance(memory, Refusal) and memory.code == _UNINITIALIZED
        processes = nvml.processes(handle)
        return {
            **self._fixed,
            "memory": _told(memory) if isinstance(memory, Refusal) else [memory.total_bytes, memory.used_bytes, memory.free_bytes],
            "percent": _told(rates) if isinstance(rates, Refusal) else int(rates.gpu),
            "celsius": _told(ask("nvmlDeviceGetTemperature", handle, _TEMPERATURE_OF_GPU)),
            "milliwatts": _told(ask("nvmlDeviceGetPowerUsage", handle)),
            "processes": _told(processes) if isinstance(processes, Refusal) else [[one.pid, one.used_bytes] for one in processes],
        }


def _told(answer: Any) -> Any:
    if isinstance(answer, Refusal):
        return {"code": answer.code, "name": answer.name, "words": answer.words}
    return answer
