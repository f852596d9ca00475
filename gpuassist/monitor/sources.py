"""Where samples come from: NVML, asked at most seven times a device, with names asked once and sleeping GPUs left asleep.

A source is used by one thread. Every refusal of NVML is an unknown fact of that GPU; where NVML itself is not there, the sample
says so in its `trouble`, and a later one tries again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.gpu_process import GpuProcess
from gpuassist.model.sample import GpuSample, ProcessSample, Sample
from gpuassist.model.text import Text, text
from gpuassist.system.nvml import NOT_SUPPORTED, Memory, Nvml, Refusal, ask
from gpuassist.system.pci import SleepWatch
from gpuassist.system.process_names import ProcessNames
from gpuassist.system.world import World

T = TypeVar("T")

TRY_AGAIN_SECONDS = 2.0
_SOURCE = "NVML"
_UNINITIALIZED, _NO_PERMISSION, _DRIVER_NOT_LOADED, _LIBRARY_NOT_FOUND, _GPU_IS_LOST, _MISMATCH = 1, 4, 9, 12, 15, 18
_TEMPERATURE_OF_GPU = 0  # nvmlTemperatureSensors_t


class Source(Protocol):
    """Gives one sample after the other."""

    def read(self) -> Sample:
        """All GPUs now."""

    def close(self) -> None:
        """Lets go of the driver, so that idle GPUs may sleep; `read` opens it again."""


class NvmlSource:
    """The GPUs of this machine."""

    def __init__(self, world: World) -> None:
        self._clock = world.clock
        self._names = ProcessNames(world.files)
        self._sleep = SleepWatch(world.files)
        self._nvml: Nvml | None = None
        self._devices: tuple[_Device, ...] = ()
        self._refused: Refusal | None = None
        self._try_again_at = 0.0

    def read(self) -> Sample:
        """See `Source.read`."""
        if self._nvml is None:
            sleepers = self._all_asleep()
            if sleepers or not self._open():
                return self._sample(sleepers)
        gpus = tuple(self._read(device) for device in self._devices)
        self._names.forget_others(frozenset(process.pid for gpu in gpus for process in _listed(gpu)))
        if any(device.uninitialized for device in self._devices):
            self.close()  # somebody else in this process shut NVML down: the next reading opens it again
        return self._sample(gpus)

    def close(self) -> None:
        """See `Source.close`."""
        if self._nvml is not None:
            self._nvml.close()
        self._nvml, self._devices = None, ()

    def _all_asleep(self) -> tuple[GpuSample, ...]:
        """The GPUs where every one of them sleeps: then NVML is not even initialised."""
        addresses = self._sleep.addresses()
        if not addresses or not all(map(self._sleep.asleep, addresses)):
            return ()
        self._refused = None
        return tuple(_unread(_Device(index, None, one, asleep=True), _ASLEEP) for index, one in enumerate(addresses))

    def _open(self) -> bool:
        if self._clock.monotonic() < self._try_again_at:
            return False
        nvml = Nvml()
        self._refused = nvml.open()
        if self._refused is None:
            devices = _devices(nvml, self._sleep)
            if not isinstance(devices, Refusal):
                self._nvml, self._devices = nvml, devices
                return True
            nvml.close()
            self._refused = devices
        self._try_again_at = self._clock.monotonic() + TRY_AGAIN_SECONDS
        return False

    def _sample(self, gpus: tuple[GpuSample, ...]) -> Sample:
        trouble = () if self._refused is None else (trouble_of(self._refused),)
        return Sample(self._clock.epoch(), self._clock.since_boot(), gpus, trouble)

    def _read(self, device: _Device) -> GpuSample:
        if device.asleep and self._sleep.asleep(device.address):
            return _unread(device, _ASLEEP)
        nvml = self._nvml
        assert nvml is not None
        device.wake()
        if isinstance(device.handle, Refusal):
            return _unread(device, _unknown(device.handle))
        handle, memory = device.handle, nvml.memory(device.handle)
        device.uninitialized = isinstance(memory, Refusal) and memory.code == _UNINITIALIZED
        return GpuSample(
            device.index,
            device.uuid,
            device.name,
            _made(memory, _total),
            _made(memory, _used),
            _made(memory, _free),
            _made(ask("nvmlDeviceGetUtilizationRates", handle), _busy),
            _made(ask("nvmlDeviceGetTemperature", handle, _TEMPERATURE_OF_GPU), int),
            _made(ask("nvmlDeviceGetPowerUsage", handle), _watts),
            self._processes(nvml.processes(handle)),
        )

    def _processes(self, listed: tuple[GpuProcess, ...] | Refusal) -> Fact[tuple[ProcessSample, ...]]:
        if isinstance(listed, Refusal):
            return _unknown(listed)
        now = self._clock.monotonic()
        return Known(tuple(self._process(process, now) for process in listed), _SOURCE)

    def _process(self, process: GpuProcess, now: float) -> ProcessSample:
        name = self._names.look(process.pid, now)
        return ProcessSample(process.pid, name.user, name.command, process.memory_used_bytes)


def trouble_of(refusal: Refusal) -> Text:
    """Why nothing can be read, in a sentence."""
    sentences = {
        _DRIVER_NOT_LOADED: text("NVIDIA's driver is not loaded, so there is nothing to watch"),
        _LIBRARY_NOT_FOUND: text("NVML, the driver's own library (libnvidia-ml.so.1), is not there: is NVIDIA's driver installed?"),
        _MISMATCH: text("the driver's kernel module and its library NVML are of different versions; a reboot makes them the same"),
        _NO_PERMISSION: text("this user may not use the GPUs (no permission on /dev/nvidia*)"),
    }
    return sentences.get(refusal.code, text("NVML could not be asked: {name} ({words})", name=refusal.name, words=refusal.words))


class _Device:
    """A GPU of this machine, with what does not change asked once: when it is first seen awake."""

    def __init__(self, index: int, handle: Any, address: str = "", *, asleep: bool = False) -> None:
        self.index, self.handle, self.address, self.asleep = index, handle, address, asleep
        self.uninitialized = False
        self.name: Fact[str] = _ASLEEP
        self.uuid: Fact[str] = _ASLEEP
        if not asleep:
            self._introduce()

    def wake(self) -> None:
        """It is awake by somebody else's doing, so it may be asked."""
        if self.asleep:
            self.asleep = False
            self.handle = ask("nvmlDeviceGetHandleByPciBusId", self.address)
            self._introduce()

    def _introduce(self) -> None:
        if isinstance(self.handle, Refusal):
            self.name = self.uuid = _unknown(self.handle)
            return
        self.name = _made(ask("nvmlDeviceGetName", self.handle), str)
        self.uuid = _made(ask("nvmlDeviceGetUUID", self.handle), str)


def _devices(nvml: Nvml, sleep: SleepWatch) -> tuple[_Device, ...] | Refusal:
    addresses = sleep.addresses()
    if not any(sleep.asleep(address) for address in addresses):
        handles = nvml.handles()
        return handles if isinstance(handles, Refusal) else tuple(_Device(index, one) for index, one in enumerate(handles))
    # A handle by index may wake any of them; one by address only its own (NVML manual, nvmlDeviceGetHandleByPciBusId).
    # NVML counts in the order of PCI addresses.
    return tuple(
        _Device(index, None, address, asleep=True)
        if sleep.asleep(address)
        else _Device(index, ask("nvmlDeviceGetHandleByPciBusId", address), address)
        for index, address in enumerate(addresses)
    )


_ASLEEP = Unknown(text("the GPU is asleep, and asking it would wake it"))


def _unread(device: _Device, why: Unknown) -> GpuSample:
    return GpuSample(device.index, device.uuid, device.name, why, why, why, why, why, why, why)


def _made(answer: Any, make: Callable[[Any], T]) -> Fact[T]:
    return _unknown(answer) if isinstance(answer, Refusal) else Known(make(answer), _SOURCE)


def _unknown(refusal: Refusal) -> Unknown:
    known = _REASONS.get(refusal.code)
    return known or Unknown(text("NVML refused it: {name} ({words})", name=refusal.name, words=refusal.words))


_REASONS = {
    NOT_SUPPORTED: Unknown(text("this GPU does not tell it")),
    _NO_PERMISSION: Unknown(text("this user may not read it")),
    _GPU_IS_LOST: Unknown(text("the GPU is lost: it has fallen off the bus, and only a reboot brings it back")),
}


def _total(memory: Memory) -> int:
    return memory.total_bytes


def _used(memory: Memory) -> int:
    return memory.used_bytes


def _free(memory: Memory) -> int:
    return memory.free_bytes


def _busy(rates: Any) -> int:
    return int(rates.gpu)


def _watts(milliwatts: int) -> float:
    return milliwatts / 1000


def _listed(gpu: GpuSample) -> tuple[ProcessSample, ...]:
    return gpu.processes.value if isinstance(gpu.processes, Known) else ()
