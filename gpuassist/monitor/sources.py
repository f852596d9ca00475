"""Where samples come from: NVML, asked in a process of its own at most seven times a device, and sleeping GPUs left asleep.

A source is used by one thread. Every refusal of NVML, and every answer of it that cannot be true, is an unknown fact of that GPU;
where NVML itself is not there, the sample says so in its `trouble`, and a later one tries again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.sample import GpuSample, ProcessSample, Sample
from gpuassist.model.text import Text, text
from gpuassist.monitor.remote import Addresses, BoardAnswers, RemoteBoard
from gpuassist.system import nvml_sense
from gpuassist.system.nvml import NOT_SUPPORTED, Memory, Refusal
from gpuassist.system.nvml_sense import MemoryFacts
from gpuassist.system.pci import SleepWatch
from gpuassist.system.process_names import ProcessNames
from gpuassist.system.world import World

T = TypeVar("T")

TRY_AGAIN_SECONDS = 2.0
_SOURCE = "NVML"
_NO_PERMISSION, _DRIVER_NOT_LOADED, _LIBRARY_NOT_FOUND, _GPU_IS_LOST, _MISMATCH = 4, 9, 12, 15, 18


class SampleSource(Protocol):
    """Gives one sample after the other."""

    def read(self) -> Sample:
        """All GPUs now."""

    def close(self) -> None:
        """Lets go of the driver, so that idle GPUs may sleep; `read` opens it again."""

    def interrupt(self) -> None:
        """From any thread: a reading that is under way returns as soon as it can."""


class NvmlSource:
    """The GPUs of this machine, by a board in a process of its own unless another is given."""

    def __init__(self, world: World, board: BoardAnswers | None = None) -> None:
        self._clock = world.clock
        self._names = ProcessNames(world.files, world.surroundings.uid)
        self._sleep = SleepWatch(world.files)
        self._board = board or RemoteBoard(world.clock, world.surroundings.variables)
        self._sleepers: dict[str, int] | None = None  # by address their places, as far as asked for since NVML was opened
        self._awake: Addresses = None
        self._trouble: tuple[Text, ...] = ()
        self._try_again_at = 0.0

    def read(self) -> Sample:
        if self._sleepers is None:
            # The GPUs where every one of them sleeps: then NVML is not even initialised.
            addresses = self._sleep.addresses()
            if not addresses or not all(map(self._sleep.asleep, addresses)):
                asleep: tuple[GpuSample, ...] = ()
            else:
                self._trouble = ()
                asleep = tuple(map(_sleeper, range(len(addresses))))
            if asleep or self._clock.monotonic() < self._try_again_at:
                return self._sample(asleep)
            self._awake, self._sleepers = self._by_state()
        for address in [address for address in self._sleepers if not self._sleep.asleep(address)]:
            index = self._sleepers.pop(address)  # awake by somebody else's doing, so it may be asked
            self._awake = (*(self._awake or ()), (index, address))
        answer = self._board.read(self._awake)
        if isinstance(answer, tuple):
            return self._failed(answer)
        refused = _refusal(answer.get("refused"))
        if refused is not None:
            self._try_again_at = self._clock.monotonic() + TRY_AGAIN_SECONDS
            return self._failed((trouble_of(refused),))
        self._trouble = ()
        return self._sample(self._gpus(answer["gpus"], self._sleepers))

    def close(self) -> None:
        self._board.close()
        self._sleepers = None

    def interrupt(self) -> None:
        self._board.interrupt()

    def _by_state(self) -> tuple[Addresses, dict[str, int]]:
        """Whom to ask, all where none sleeps, and who sleeps. NVML counts in the order of PCI addresses."""
        places = tuple(enumerate(self._sleep.addresses()))
        sleepers = {address: index for index, address in places if self._sleep.asleep(address)}
        return tuple(place for place in places if place[1] not in sleepers) if sleepers else None, sleepers

    def _failed(self, why: tuple[Text, ...]) -> Sample:
        self._trouble, self._sleepers = why, None
        return self._sample(())

    def _sample(self, gpus: tuple[GpuSample, ...]) -> Sample:
        return Sample(self._clock.epoch(), self._clock.since_boot(), gpus, self._trouble)

    def _gpus(self, told: list[Mapping[str, Any]], sleepers: Mapping[str, int]) -> tuple[GpuSample, ...]:
        gpus = sorted([*map(self._gpu, told), *map(_sleeper, sleepers.values())], key=lambda gpu: gpu.index)
        self._names.forget_others(
            frozenset(process.pid for gpu in gpus for process in (gpu.processes.value if isinstance(gpu.processes, Known) else ()))
        )
        return tuple(gpus)

    def _gpu(self, told: Mapping[str, Any]) -> GpuSample:
        uuid, name = _made(told["uuid"], _known), _made(told["name"], _known)
        lost = _refusal(told.get("lost"))
        if lost is not None:
            return _unread(told["index"], uuid, name, _unknown(lost))
        memory = _memory(told["memory"])
        return GpuSample(
            told["index"],
            uuid,
            name,
            memory.total,
            memory.used,
            memory.free,
            _made(told["percent"], nvml_sense.percent),
            _made(told["celsius"], nvml_sense.celsius),
            _made(told["milliwatts"], nvml_sense.watts),
            self._processes(told["processes"], memory.total),
        )

    def _processes(self, told: Any, total: Fact[int]) -> Fact[tuple[ProcessSample, ...]]:
        refused = _refusal(told)
        if refused is not None:
            return _unknown(refused)
        now = self._clock.monotonic()
        return Known(tuple(self._process(pid, nvml_sense.process_memory(used, total, _SOURCE), now) for pid, used in told), _SOURCE)

    def _process(self, pid: int, used: Fact[int], now: float) -> ProcessSample:
        name = self._names.look(pid, now)
        return ProcessSample(pid, name.user, name.command, used)


def trouble_of(refusal: Refusal) -> Text:
    """Why nothing can be read, in a sentence."""
    sentences = {
        _DRIVER_NOT_LOADED: text("NVIDIA's driver is not loaded, so there is nothing to watch"),
        _LIBRARY_NOT_FOUND: text("NVML, the driver's own library (libnvidia-ml.so.1), is not there: is NVIDIA's driver installed?"),
        _MISMATCH: text("the driver's kernel module and its library NVML are of different versions; a reboot makes them the same"),
        _NO_PERMISSION: text("this user may not use the GPUs (no permission on /dev/nvidia*)"),
    }
    other = text("NVML could not be asked: {name} ({words})", name=refusal.name, words=refusal.words)
    return nvml_sense.nonsense(refusal) or sentences.get(refusal.code, other)


_ASLEEP = Unknown(text("the GPU is asleep, and asking it would wake it"))


def _sleeper(index: int) -> GpuSample:
    return _unread(index, _ASLEEP, _ASLEEP, _ASLEEP)


def _unread(index: int, uuid: Fact[str], name: Fact[str], why: Unknown) -> GpuSample:
    return GpuSample(index, uuid, name, why, why, why, why, why, why, why)


def _refusal(told: Any) -> Refusal | None:
    return Refusal(told["code"], told["name"], told["words"]) if isinstance(told, dict) else None


def _made(told: Any, make: Callable[[Any, str], Fact[T]]) -> Fact[T]:
    refused = _refusal(told)
    return make(told, _SOURCE) if refused is None else _unknown(refused)


def _known(told: str, source: str) -> Fact[str]:
    return Known(str(told), source)


def _memory(told: Any) -> MemoryFacts:
    refused = _refusal(told)
    return nvml_sense.memory(Memory(*told), _SOURCE) if refused is None else MemoryFacts.unknown(_unknown(refused))


def _unknown(refusal: Refusal) -> Unknown:
    known = _REASONS.get(refusal.code)
    words = nvml_sense.nonsense(refusal) or text("NVML refused it: {name} ({words})", name=refusal.name, words=refusal.words)
    return known or Unknown(words)


_REASONS = {
    NOT_SUPPORTED: Unknown(text("this GPU does not tell it")),
    _NO_PERMISSION: Unknown(text("this user may not read it")),
    _GPU_IS_LOST: Unknown(text("the GPU is lost: it has fallen off the bus, and only a reboot brings it back")),
}
