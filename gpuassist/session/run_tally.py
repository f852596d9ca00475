"""What a run took of the GPUs: added up from samples while it lasts, and from what its programs' torch said last."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from gpuassist.model.fact import Known, value_or
from gpuassist.model.sample import GpuSample, Sample
from gpuassist.monitor.inside.gpuassist_memory import RUN
from gpuassist.monitor.rings import Ring, read_run, remove_ring
from gpuassist.system.files import Files
from gpuassist.system.process_names import started_ticks

_ENVIRONMENT_AT_MOST_BYTES = 1 << 17
_IDLE_PERCENT = 1
FOLD_SECONDS = 60.0
_GAP_SECONDS = 5.0  # power is not added up over a longer time without a sample


class GpuShare(Struct, frozen=True):
    """The most that the run had of a GPU at one moment; `index` and `total_bytes` are None where NVML tells neither."""

    index: int | None
    peak_bytes: int
    total_bytes: int | None = None


class TorchTotals(Struct, frozen=True):
    """Over all programs of a run; `peaks` is the most that one of them had reserved, by the GPU's 32 hexadecimal digits.

    `snapshots` is what they told of torch's snapshots: paths, and why there is none.
    """

    ooms: int = 0
    retries: int = 0
    peaks: Mapping[str, int] = {}
    last_out_of_memory: float | None = None
    snapshots: tuple[str, ...] = ()

    def with_ring(self, ring: Ring) -> TorchTotals:
        """These and what a program said last."""
        devices = ring.state.devices if ring.state is not None else ()
        peaks = dict(self.peaks)
        for device in devices:
            peaks[device.uuid] = max(peaks.get(device.uuid, 0), device.memory.reserved_peak_bytes)
        notes = ring.notes(0)
        failures = [note.monotonic for note in notes if note.is_out_of_memory]
        return TorchTotals(
            self.ooms + sum(device.memory.ooms for device in devices),
            self.retries + sum(device.memory.retries for device in devices),
            peaks,
            max([*failures, *([] if self.last_out_of_memory is None else [self.last_out_of_memory])], default=None),
            (*self.snapshots, *(note.words for note in notes if note.is_snapshot)),
        )


class RunTally:
    """Fed by one thread; read by another once that has ended."""

    def __init__(self, files: Files, directory: str, idle_seconds: float) -> None:
        self._files, self._mark = files, f"{RUN}={directory}".encode() if directory else b""
        self._idle_seconds = idle_seconds
        self._mine: dict[tuple[int, int], bool] = {}
        self._seen: dict[int, GpuSample] = {}
        self._peaks: dict[int, int] = {}
        self._last: float | None = None
        self._busy_at: float | None = None
        self._told_idle = False
        self.joules: float | None = None

    def add(self, sample: Sample) -> None:
        passed = sample.monotonic - self._last if self._last is not None else 0.0
        self._last = sample.monotonic
        used = [gpu for gpu in sample.gpus if self._take(gpu)]
        for gpu in used:
            if isinstance(gpu.power_watts, Known) and passed <= _GAP_SECONDS:
                self.joules = (self.joules or 0.0) + gpu.power_watts.value * passed
        is_busy = any(value_or(gpu.utilization_percent, 100) > _IDLE_PERCENT for gpu in used)
        if is_busy or (used and self._busy_at is None):
            self._busy_at, self._told_idle = sample.monotonic, False

    def became_idle(self) -> bool:
        """Whether its GPUs have stood still for so long, once each time; before it is on any it is not idle."""
        if not self._idle_seconds or self._busy_at is None or self._last is None or self._told_idle:
            return False
        self._told_idle = self._last - self._busy_at >= self._idle_seconds
        return self._told_idle

    def gpus(self, torch_peaks: Mapping[str, int]) -> tuple[GpuShare, ...]:
        """By index; where torch told of more than was seen from outside, once a second, that counts."""
        left = dict(torch_peaks)
        found = []
        for index, gpu in sorted(self._seen.items()):
            digits = value_or(gpu.uuid, "").lower().partition("-")[2].replace("-", "")
            peak = max(self._peaks[index], left.pop(digits, 0))
            found.append(GpuShare(index, peak, value_or(gpu.memory_total_bytes, 0) or None))
        return (*found, *(GpuShare(None, peak) for peak in left.values() if peak))

    def _take(self, gpu: GpuSample) -> bool:
        mine = [one for one in value_or(gpu.processes, ()) if self._is_mine(one.pid)]
        if mine:
            self._seen[gpu.index] = gpu
            had = sum(value_or(one.memory_used_bytes, 0) for one in mine)
            self._peaks[gpu.index] = max(self._peaks.get(gpu.index, 0), had)
        return bool(mine)

    def _is_mine(self, pid: int) -> bool:
        """Whether the command started it, however far below, and wherever it has gone since."""
        key = pid, started_ticks(self._files, pid)
        if key not in self._mine:
            variables = self._files.head(f"/proc/{pid}/environ", _ENVIRONMENT_AT_MOST_BYTES)
            self._mine[key] = bool(self._mark) and self._mark in variables.split(b"\0")
        return self._mine[key]


class TorchTally:
    """What the programs of a run said last; of a run that starts thousands no more files stay than there are programs alive."""

    def __init__(self, files: Files, directory: str) -> None:
        self._files, self._directory = files, directory
        self._folded_at = 0.0
        self.totals = TorchTotals()

    def fold(self, now: float) -> None:
        """Adds up once in a while what programs said that have ended, and takes their files away; by one thread."""
        if now - self._folded_at < FOLD_SECONDS:
            return
        self._folded_at = now
        for ring in read_run(self._files, self._directory):
            if started_ticks(self._files, ring.pid) != ring.started:
                self.totals = self.totals.with_ring(ring)
                remove_ring(self._files, self._directory, ring)
            ring.close()

    def end(self) -> TorchTotals:
        """All of them, also of those that go on."""
        totals = self.totals
        for ring in read_run(self._files, self._directory):
            totals = totals.with_ring(ring)
            ring.close()
        return totals
