"""Where samples come from: NVML, asked in a process of its own, each thing as often as it changes, and sleeping GPUs left asleep.

A source is used by one thread. Every refusal of NVML, and every answer of it that cannot be true, is an unknown fact of that GPU
(`monitor.readings`); where NVML itself is not there, the sample says so in its `trouble`, and a later one tries again. A GPU keeps
its index while a source lives: NVML counts those that it finds, so that a lost one would give its place to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from itertools import count
from typing import Any, Protocol, runtime_checkable

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.fact import Known
from gpuassist.model.sample import GpuSample, Sample
from gpuassist.model.text import Text, text
from gpuassist.monitor.device import ACTIVITY, CURVES, MIG_INDEX, SHARES
from gpuassist.monitor.happenings import Happenings
from gpuassist.monitor.readings import ASLEEP, LOST, MISMATCH, RESET_NEEDED, GpuReadings, refusal_of, trouble_of, unread
from gpuassist.monitor.remote import Addresses, BoardAnswers, RemoteBoard
from gpuassist.system.pci import SleepWatch
from gpuassist.system.process_names import TICKS_A_SECOND
from gpuassist.system.world import World

TRY_AGAIN_SECONDS = 2.0
MISMATCH_SECONDS = 10.0  # each try starts a process
REOPEN_SECONDS = 120.0
"""Between two looks whether a lost GPU is there again: each starts a process, which opens every GPU that nobody else holds."""

_MODULE = "/sys/module/nvidia"
NO_GPU = text("NVIDIA's driver answers, but it drives no GPU")
_SOURCE = "NVML"


class Detail(str, Enum):
    """What is asked of a GPU beside memory, load, temperature, power and what holds its clocks back: each costs calls."""

    CURVES = CURVES
    """Clocks, fan, temperature of the memory, margin, PCIe."""

    SHARES = SHARES
    """What part of a GPU's time each process uses."""

    ACTIVITY = ACTIVITY
    """What the multiprocessors and the tensor cores do, where the driver counts it (since Hopper)."""


EVERYTHING = frozenset(Detail)


class SampleSource(Protocol):
    """Gives one sample after the other."""

    def read(self) -> Sample:
        """All GPUs now."""

    def close(self) -> None:
        """Lets go of the driver, so that idle GPUs may sleep; `read` opens it again."""

    def interrupt(self) -> None:
        """From any thread: a reading that is under way returns as soon as it can."""


@runtime_checkable
class OwnPace(Protocol):
    """A source whose samples come by themselves, and that has to be told how often."""

    def sample_at(self, hz: float) -> None:
        """From any thread: so many samples a second from the next one on."""


class PastSample(Struct, frozen=True):
    """What was before anybody looked; more than `gap_seconds` before it without another is a gap."""

    sample: Sample
    gap_seconds: float


@runtime_checkable
class RememberingSource(SampleSource, Protocol):
    """One that knows what was before it was asked, or while it could not be."""

    def past(self) -> Iterator[PastSample]:
        """What is new of that, oldest first; asked before each `read`, and mostly nothing."""


class NvmlSource:
    """The GPUs of this machine, by a board in a process of its own unless another is given.

    `wanted` may be set at any time, by any thread: what is not in it is no longer asked.
    """

    def __init__(self, world: World, board: BoardAnswers | None = None, *, wanted: frozenset[Detail] = EVERYTHING) -> None:
        self.wanted = wanted
        self._clock, self._files = world.clock, world.files
        self._sleep = SleepWatch(world.files)
        self._reader = GpuReadings(world.files, world.surroundings.uid, under_wsl=world.files.exists("/dev/dxg"))
        self._board = board or RemoteBoard(world.clock, world.surroundings.variables)
        self._happenings = Happenings()
        self._sleepers: dict[str, int] | None = None  # by address their places, as far as asked for since NVML was opened
        self._awake: Addresses = None
        self._places: dict[str, tuple[int, str]] = {}  # by uuid the index that it has here, and its name
        self._totals: dict[str, Known[int]] = {}  # by uuid
        self._trouble: tuple[Text, ...] = ()
        self._found: dict[int, int] = {}
        self._try_again_at = 0.0
        self._whole_at = world.clock.monotonic()

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
                return self._sample(asleep or self._reader.module())
            self._awake, self._sleepers = self._by_state()
        for address in [address for address in self._sleepers if not self._sleep.asleep(address)]:
            index = self._sleepers.pop(address)  # awake by somebody else's doing, so it may be asked
            self._awake = (*(self._awake or ()), (index, address))
        answer = self._board.read(self._awake, sorted(one.value for one in self.wanted))
        if isinstance(answer, tuple):
            return self._failed(answer, silent=self._board.waited)
        refused = refusal_of(answer.get("refused"))
        if refused is not None:
            pause = TRY_AGAIN_SECONDS
            if refused.code == MISMATCH:
                # This process has the library of the old driver for good; a new one loads that which is there now.
                self._board.close()
                pause = MISMATCH_SECONDS
            self._try_again_at = self._clock.monotonic() + pause
            return self._failed((trouble_of(refused),))
        self._trouble = ()
        gpus = self._gpus(answer["gpus"], self._sleepers)
        now = self._clock.monotonic()
        if not any(gpu.memory_used_bytes in {LOST, RESET_NEEDED} for gpu in gpus):
            self._whole_at = now
        elif now - self._whole_at >= REOPEN_SECONDS:
            self._board.close()  # NVML knows those alone that were there when it was opened
            self._whole_at, self._sleepers = now, None
        return self._sample(gpus, answer.get("events", ()))

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

    def _failed(self, why: tuple[Text, ...], *, silent: float = 0.0) -> Sample:
        self._trouble, self._sleepers = why, None
        module = self._reader.module()
        self._trouble = () if module else why
        return self._sample(module, silent=silent)

    def _sample(self, gpus: tuple[GpuSample, ...], xids: Any = (), *, silent: float = 0.0) -> Sample:
        sample = Sample(self._clock.epoch(), self._clock.since_boot(), gpus, self._trouble)
        placed = [(self._found.get(told, told), number) for told, number in xids]
        events = self._happenings.between(sample, self._clock.monotonic(), placed, silent=silent)
        if gpus and not self._trouble:
            events = (*self._happenings.driver(sample, self._driver()), *events)
        return replace(sample, events=events) if events else sample

    def _driver(self) -> tuple[str, ...]:
        """The loaded kernel module: its version, and the number of its directory, which each loading of it gives anew."""
        version = self._files.text(f"{_MODULE}/version", 64).strip()
        try:
            return (version, str(self._files.status(_MODULE).st_ino)) if version else ()
        except OSError:
            return ()

    def _gpus(self, told: list[Mapping[str, Any]], sleepers: Mapping[str, int]) -> tuple[GpuSample, ...]:
        now, booted = self._clock.monotonic(), self._clock.epoch() - self._clock.since_boot()

        def began(ticks: float) -> float:
            return booted + ticks / TICKS_A_SECOND

        indices = self._indices(told)
        gpus = [self._gpu(one, indices, now, began) for one in told]
        taken = {gpu.index for gpu in gpus} | set(sleepers.values())
        gone = [
            unread(index, Known(uuid, _SOURCE), Known(name, _SOURCE), LOST)
            for uuid, (index, name) in self._places.items()
            if index not in taken
        ]
        every = [self._with_total(gpu) for gpu in (*gpus, *gone, *map(_sleeper, sleepers.values()))]
        every.sort(key=lambda gpu: gpu.index)
        self._reader.names.forget_others(
            frozenset(process.pid for gpu in every for process in (gpu.processes.value if isinstance(gpu.processes, Known) else ()))
        )
        return tuple(every)

    def _gpu(self, told: Mapping[str, Any], indices: Mapping[int, int], now: float, began: Callable[[float], float]) -> GpuSample:
        if "parent" not in told:
            return self._reader.gpu(told, indices[told["index"]], now, began)
        parent = indices[told["parent"]]
        return replace(self._reader.gpu(told, MIG_INDEX * (parent + 1) + told["place"], now, began), parent=parent)

    def _with_total(self, gpu: GpuSample) -> GpuSample:
        """A GPU that is lost or silent has as much memory as before, which is the height of its plot."""
        if not isinstance(gpu.uuid, Known):
            return gpu
        if isinstance(gpu.memory_total_bytes, Known):
            self._totals[gpu.uuid.value] = gpu.memory_total_bytes
            return gpu
        return replace(gpu, memory_total_bytes=self._totals.get(gpu.uuid.value, gpu.memory_total_bytes))

    def _indices(self, told: list[Mapping[str, Any]]) -> dict[int, int]:
        """The index that each GPU has here, by that which NVML gives it now."""
        whole = {one["index"]: one.get("uuid") for one in told if "parent" not in one}
        before = self._places
        found: dict[int, int] = {}
        for index, uuid in whole.items():  # two of the same name would be one
            if isinstance(uuid, str) and uuid in before and before[uuid][0] not in found.values():
                found[index] = before[uuid][0]
        for index, uuid in whole.items():
            if index in found:
                continue
            named = isinstance(uuid, str)  # one that does not say its name is rather one that was there than a new one
            taken = {*found.values(), *(place for place, _ in self._places.values() if named)}
            found[index] = next(place for place in count(index) if place not in taken)
        for one in told:
            uuid, name = one.get("uuid"), one.get("name")
            if "parent" not in one and isinstance(uuid, str) and uuid not in self._places:
                self._places[uuid] = (found[one["index"]], name if isinstance(name, str) else "")
        self._found = found
        return found


def _sleeper(index: int) -> GpuSample:
    return unread(index, ASLEEP, ASLEEP, ASLEEP, asleep=True)
