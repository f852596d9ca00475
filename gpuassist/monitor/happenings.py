"""What happened between two samples: processes that came and went, GPUs lost and back, clocks held back, time that jumps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.sample import Event, EventKind, GpuSample, ProcessSample, Sample
from gpuassist.model.text import Text, text, verbatim
from gpuassist.monitor.readings import LOST, RESET_NEEDED
from gpuassist.system.process_names import script_name

THROTTLE_LASTS_SECONDS = 5.0
"""A reason that is gone for less than this has not ended: at a power cap it comes and goes with every sample."""

AGAIN_SILENT_SECONDS = 10.0
"""A driver that answers now and then, every few seconds, has not begun to answer."""

JUMP_SECONDS = 1.0  # time servers slew a clock by far less between two samples
SLEEP_SECONDS = 2.0

REASONS: dict[str, Text] = {
    "sw_power_cap": text("its power limit"),
    "hw_slowdown": text("the hardware (too hot, or power is short)"),
    "sync_boost": text("another GPU of its group"),
    "sw_thermal_slowdown": text("its temperature"),
    "hw_thermal_slowdown": text("its temperature (the hardware's own limit)"),
    "hw_power_brake_slowdown": text("the power supply (power brake)"),
    "board_limit": text("a limit of the board"),
    "reliability": text("its voltage limit"),
}


class Happenings:
    """Compares each sample with those before it. `awake` is the clock that stands still while the machine sleeps."""

    def __init__(self) -> None:
        self._clocks: tuple[float, float, float] | None = None
        self._seen: set[int] = set()
        self._present: dict[int, dict[int, tuple[float | None, str]]] = {}
        self._out: dict[int, Unknown] = {}
        self._silent: dict[int | None, float] = {}
        self._throttled: dict[tuple[int, str], float] = {}
        self._driver: tuple[str, ...] = ()

    def between(
        self, sample: Sample, awake: float, xids: Sequence[Sequence[int]] = (), *, silent: float = 0.0
    ) -> tuple[Event, ...]:
        """`silent`: for how long nothing at all has answered."""
        return (
            *self._clock(sample, awake),
            *self._silence(sample, silent),
            *(self._xid(sample, index, number) for index, number in xids),
            *(event for gpu in sample.gpus for event in self._gpu(sample, gpu)),
        )

    def driver(self, sample: Sample, identity: tuple[str, ...]) -> tuple[Event, ...]:
        """`identity` is the version of the loaded kernel module, and what tells that one from the same one loaded again."""
        before, self._driver = self._driver, identity or self._driver
        if not before or not identity or before == identity:
            return ()
        words = text("the driver was loaded again: {version}", version=identity[0])
        if before[0] != identity[0]:
            words = text("the driver is now {version}, before it was {old}", version=identity[0], old=before[0])
        return (Event(sample.monotonic, EventKind.DRIVER_RELOADED, words, code=identity[0]),)

    def _clock(self, sample: Sample, awake: float) -> Iterator[Event]:
        before, self._clocks = self._clocks, (sample.time, sample.monotonic, awake)
        if before is None:
            return
        passed, slept = sample.monotonic - before[1], (sample.monotonic - before[1]) - (awake - before[2])
        if slept >= SLEEP_SECONDS:
            yield Event(
                sample.monotonic,
                EventKind.SUSPENDED,
                text("the machine slept for {seconds:.0f} s", seconds=slept),
                code=f"{slept:.0f}",
            )
        jump = sample.time - before[0] - passed
        if abs(jump) >= JUMP_SECONDS:
            words = text("the clock was set forward by {seconds:.0f} s", seconds=jump)
            if jump < 0:
                words = text("the clock was set back by {seconds:.0f} s", seconds=-jump)
            yield Event(sample.monotonic, EventKind.CLOCK_SET, words, code=f"{jump:+.0f}")

    def _silence(self, sample: Sample, silent: float) -> Iterator[Event]:
        waits: dict[int | None, float] = {
            gpu.index: gpu.silent_seconds for gpu in sample.gpus if gpu.silent_seconds and gpu.parent is None
        }
        if waits and len(waits) == sum(gpu.parent is None for gpu in sample.gpus) > 1:
            waits = {None: min(waits.values())}
        if silent:
            waits = {None: silent}
        for gpu, seconds in waits.items():
            if sample.monotonic - self._silent.get(gpu, -math.inf) >= AGAIN_SILENT_SECONDS:
                words = text("no answer from the driver for {seconds:.0f} s", seconds=seconds)
                yield Event(sample.monotonic, EventKind.SILENT, words, gpu)
            self._silent[gpu] = sample.monotonic

    def _xid(self, sample: Sample, index: int, number: int) -> Event:
        return Event(sample.monotonic, EventKind.XID, text("Xid {number}", number=number), index, code=str(number))

    def _gpu(self, sample: Sample, gpu: GpuSample) -> Iterator[Event]:
        now, used = sample.monotonic, gpu.memory_used_bytes
        first = gpu.index not in self._seen  # what is so at first did not begin
        self._seen.add(gpu.index)
        if isinstance(used, Unknown) and used in {LOST, RESET_NEEDED}:
            if gpu.index not in self._out and not first:
                yield Event(now, EventKind.LOST, used.reason, gpu.index)
            self._out[gpu.index] = used
        elif isinstance(used, Known) and gpu.index in self._out:
            if self._out.pop(gpu.index) == RESET_NEEDED:
                yield Event(now, EventKind.RESET, text("the GPU was reset, and answers again"), gpu.index)
            else:
                yield Event(now, EventKind.BACK, text("the GPU is back"), gpu.index)
        if isinstance(gpu.processes, Known):
            yield from self._processes(sample, gpu.index, gpu.processes.value)
        if isinstance(gpu.throttle_reasons, Known):
            events = tuple(self._throttling(now, gpu.index, gpu.throttle_reasons.value))
            yield from () if first else events

    def _processes(self, sample: Sample, gpu: int, processes: tuple[ProcessSample, ...]) -> Iterator[Event]:
        now, booted = sample.monotonic, sample.time - sample.monotonic  # a clock that is set moves every start with it
        starts = {one.pid: one.started.value - booted if isinstance(one.started, Known) else None for one in processes}
        present = {one.pid: (starts[one.pid], value_or(one.command, "")) for one in processes}
        before = self._present.get(gpu)
        self._present[gpu] = present
        if before is None:
            return  # who was there at first did not come
        for pid, (started, command) in before.items():
            if pid not in present or _is_another(started, present[pid][0]):
                yield _process(now, EventKind.EXITED, gpu, (pid, command))
        for pid, (started, command) in present.items():
            if pid not in before or _is_another(before[pid][0], started):
                yield _process(now, EventKind.STARTED, gpu, (pid, command))

    def _throttling(self, now: float, gpu: int, reasons: tuple[str, ...]) -> Iterator[Event]:
        for reason in reasons:
            if (gpu, reason) not in self._throttled:
                words = text("the clocks are held back by {reason}", reason=REASONS.get(reason, verbatim(reason)))
                yield Event(now, EventKind.THROTTLED, words, gpu, code=reason)
            self._throttled[gpu, reason] = now
        for (index, reason), last in tuple(self._throttled.items()):
            if index == gpu and reason not in reasons and now - last >= THROTTLE_LASTS_SECONDS:
                del self._throttled[index, reason]
                words = text("the clocks are no longer held back by {reason}", reason=REASONS.get(reason, verbatim(reason)))
                yield Event(last, EventKind.THROTTLE_ENDED, words, gpu, code=reason)


def _is_another(started: float | None, now: float | None) -> bool:
    """The same number, given to another process."""
    return started is not None and now is not None and abs(now - started) > JUMP_SECONDS


def _process(now: float, kind: EventKind, gpu: int, who: tuple[int, str]) -> Event:
    pid, command = who
    known = script_name(command)
    name = verbatim(known) if known else text("process {pid}", pid=pid)
    words = text("{name} starts", name=name) if kind is EventKind.STARTED else text("{name} ends", name=name)
    return Event(now, kind, words, gpu, pid)
