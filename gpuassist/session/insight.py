"""What the samples of a watch mean: which programs grow and how, what the GPUs wait for, what ran out of memory, what the user
asked to be told of.

Fed every sample on the thread that takes them; its answers may be read from any. What happens stands among the sample's events, so
that it is drawn, recorded and printed as all others are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.sample import Event, GpuSample, ProcessKind, ProcessSample, Sample
from gpuassist.monitor.alerts import Alerts, Threshold
from gpuassist.monitor.bottleneck import Bottleneck, Bottlenecks
from gpuassist.monitor.growth import NOTHING, Growth, GrowthWatch, Shape
from gpuassist.monitor.host_load import HostLoad, HostLoads
from gpuassist.session.failure_moment import FailureMoment, FailureMoments
from gpuassist.system.files import Files

if TYPE_CHECKING:
    from logging import Logger

JUDGE_SECONDS = 10.0
_HOST_SECONDS = 2.0
_GONE_SECONDS = 10.0
_SMALL = 256 << 20  # programs with less fill no card
_MUCH = 4 << 30  # more than any desktop has
_PROGRAMS_AT_MOST = 128
_LINKS_SECONDS = 600.0  # a card in a case outside may come and go

Key = tuple[int, int]
"""A GPU's index and a process on it; 0 stands for all of them where the driver does not tell them apart."""


class ProgramGrowth(Struct, frozen=True):
    """A program whose memory grows, and how."""

    gpu: int
    pid: int
    command: str
    growth: Growth


class Insight:
    """Takes samples in their order, on one thread. What is read of it is replaced whole, so that nobody waits for anybody."""

    def __init__(self, files: Files, thresholds: Sequence[Threshold] = ()) -> None:
        self.moments: tuple[FailureMoment, ...] = ()
        """The newest moments of an out-of-memory, oldest first."""
        self.growths: tuple[ProgramGrowth, ...] = ()
        """The programs whose memory grows in a way that has a name, those first whose card is full soonest."""
        self.bottlenecks: Mapping[int, Bottleneck] = {}
        """What each GPU waited for in the last minutes."""
        self.thresholds = tuple(thresholds)
        """Of what the user wants to be told; it may be replaced at any time."""
        self._files = files
        self._hosts = HostLoads(files)
        self._hosts_looked = self._links_looked = -_LINKS_SECONDS
        self._loads: Mapping[int, HostLoad] = {}
        self._waits = Bottlenecks()
        self._failures = FailureMoments()
        self._alerts = Alerts()
        self._watches: dict[Key, tuple[GrowthWatch, bool]] = {}
        self._seen: dict[Key, float] = {}
        self._named: dict[Key, Growth] = {}
        self._judged = self._credit = 0.0
        self._turn = 0
        self._failed: set[type[Exception]] = set()

    def take(self, sample: Sample) -> Sample:
        """The sample with the events that follow from it."""
        try:
            events = self._events(sample)
        except Exception as error:  # noqa: BLE001 -- the border: a sample is worth more than what is said of it
            if type(error) not in self._failed:
                self._failed.add(type(error))
                _log().error("a sample could not be judged", exc_info=error)
            return sample
        return replace(sample, events=(*sample.events, *events)) if events else sample

    def replay(self, sample: Sample) -> None:
        """One that was recorded: what happened is told in it already, and its programs have gone."""
        self._failures.replay(sample, self._until_now)
        self.moments = tuple(self._failures.all)
        self._follow(sample, least=_SMALL)

    def _events(self, sample: Sample) -> tuple[Event, ...]:
        self._look_around(sample)
        self._waits.add(sample, self._loads)
        failures = self._failures.look(sample, self._until_now)
        if failures or sample.events or len(self.moments) != len(self._failures.all):
            self.moments = tuple(self._failures.all)
        if self._alerts.thresholds != self.thresholds:
            self._alerts.set(self.thresholds)
        alerts = self._alerts.look(sample)
        if sample.gpus:
            self._follow(sample)
            self._judge_some(sample)
        return (*failures, *alerts)

    def _look_around(self, sample: Sample) -> None:
        now = sample.monotonic
        if now - self._hosts_looked >= _HOST_SECONDS:
            self._hosts_looked = now
            self._loads = self._hosts.look(_visible(sample), now)
        awake = {gpu.uuid.value for gpu in sample.gpus if isinstance(gpu.uuid, Known) and _copies(gpu)}
        if awake and now - self._links_looked >= _LINKS_SECONDS:
            from gpuassist.session.gpu_links import links_by_uuid

            self._links_looked = now
            links = links_by_uuid(self._files, awake)
            by_index = {gpu.index: links.get(value_or(gpu.uuid, ""), 0.0) for gpu in sample.gpus}
            self._waits.links = {index: carries for index, carries in by_index.items() if carries}

    def _until_now(self, gpu: int, pid: int) -> tuple[Growth, int]:
        """What a program's memory did, and how much of it is cuBLAS's workspace."""
        watch, _ = self._watches.get((gpu, pid), (None, False))
        if watch is None:
            return NOTHING, 0
        # Before it fails torch gives back all that it has cached, which hides what was.
        found = watch.judge(0.0)
        return (found if found.shape is not Shape.NONE else self._named.get((gpu, pid), NOTHING)), int(watch.workspace_bytes)

    def _follow(self, sample: Sample, *, least: int = 0) -> None:
        """Whoever has less than that is not begun with, which makes many small ones cheap where a day is read at once."""
        present = set()
        for gpu in sample.gpus:
            for key, process in _programs(gpu):
                if least and key not in self._watches and _held_bytes(gpu, process) < least:
                    continue
                present.add(key)
                self._add(key, sample.monotonic, gpu, process)
                self._seen[key] = sample.monotonic
        # What a program said last may come after it has gone.
        for key in [key for key, seen in self._seen.items() if key not in present and sample.monotonic - seen > _GONE_SECONDS]:
            del self._seen[key]
            self._watches.pop(key, None)
            self._named.pop(key, None)

    def _judge_some(self, sample: Sample) -> None:
        """Each program and each GPU once in ten seconds, a few with each sample: all at once would be felt elsewhere."""
        programs = {key: (gpu, process) for gpu in sample.gpus for key, process in _programs(gpu)}
        turns = [*programs, *((gpu.index, None) for gpu in sample.gpus)]
        passed = min(JUDGE_SECONDS, sample.monotonic - self._judged)
        self._judged = sample.monotonic
        self._credit += len(turns) * passed / JUDGE_SECONDS
        count = min(len(turns), int(self._credit))
        self._credit -= int(self._credit)
        growths = {(one.gpu, one.pid): one for one in self.growths if (one.gpu, one.pid) in programs}
        for place in range(self._turn, self._turn + count):
            gpu, pid = turns[place % len(turns)]
            if pid is None:
                there = {one.index: self.bottlenecks[one.index] for one in sample.gpus if one.index in self.bottlenecks}
                self.bottlenecks = {**there, gpu: self._waits.judge(gpu)}
                continue
            growths.pop((gpu, pid), None)
            self._named.pop((gpu, pid), None)
            found = self._judge(programs[gpu, pid][0], (gpu, pid), programs[gpu, pid][1])
            if found is not None:
                growths[gpu, pid] = found
                self._named[gpu, pid] = found.growth
        self._turn = (self._turn + count) % max(1, len(turns))
        self.growths = tuple(sorted(growths.values(), key=lambda one: one.growth.seconds_until_full or math.inf))

    def _add(self, key: Key, now: float, gpu: GpuSample, process: ProcessSample | None) -> None:
        torch = process.torch if process is not None else None
        used = process.memory_used_bytes if process is not None else gpu.memory_used_bytes
        inside = isinstance(torch, Known)
        watch, was_inside = self._watches.get(key, (None, inside))
        if watch is None or (inside and not was_inside):
            if len(self._watches) >= _PROGRAMS_AT_MOST and watch is None:
                return
            watch = GrowthWatch(inside=inside)
            self._watches[key] = (watch, inside)
        if isinstance(torch, Known):
            figures = torch.value
            watch.add(now, figures.reserved_bytes, figures.allocated_bytes, figures.allocated_peak_bytes)
        elif not was_inside and isinstance(used, Known):  # torch that is silent for a while is not asked from outside
            watch.add(now, used.value)

    def _judge(self, gpu: GpuSample, key: Key, process: ProcessSample | None) -> ProgramGrowth | None:
        free = value_or(gpu.memory_free_bytes, None)
        used = _held_bytes(gpu, process)
        if key not in self._watches or (used < _SMALL and free is not None and used < free):
            return None
        found = self._watches[key][0].judge(float(free) if free is not None else math.inf)
        if found.shape is Shape.NONE:
            return None
        return ProgramGrowth(gpu.index, key[1], value_or(process.command, "") if process is not None else "", found)


def _held_bytes(gpu: GpuSample, process: ProcessSample | None) -> int:
    return value_or(process.memory_used_bytes if process is not None else gpu.memory_used_bytes, 0)


def _copies(gpu: GpuSample) -> bool:
    return isinstance(gpu.pcie_received_bytes_per_second, Known) and not gpu.asleep


def _programs(gpu: GpuSample) -> Iterator[tuple[Key, ProcessSample | None]]:
    """Those that compute; all together where the driver names no memory of any, as under WSL, or none of them, as in containers."""
    listed = [one for one in value_or(gpu.processes, ()) if value_or(one.kind, ProcessKind.COMPUTE) is not ProcessKind.GRAPHICS]
    told = [one for one in listed if isinstance(one.memory_used_bytes, Known) or isinstance(one.torch, Known)]
    if told:
        yield from (((gpu.index, one.pid), one) for one in told)
    elif isinstance(gpu.processes, Unknown) or listed or value_or(gpu.memory_used_bytes, 0) >= _MUCH:
        yield (gpu.index, 0), None


def _visible(sample: Sample) -> Iterator[int]:
    """Programs on GPUs that are this machine's own here: of another container's, the number would be anybody's."""
    found = {
        one.pid
        for gpu in sample.gpus
        for one in value_or(gpu.processes, ())
        if isinstance(one.user, Known) and value_or(one.kind, ProcessKind.COMPUTE) is not ProcessKind.GRAPHICS
    }
    yield from sorted(found)


def _log() -> Logger:
    import logging  # which a start pays for only where something fails

    return logging.getLogger(__name__)
