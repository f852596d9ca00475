"""Samples as Prometheus reads them: in dcgm-exporter's names, units and labels, and what it has no name for as `gpuassist_…`.

What is not known is not there: no number stands for it. Of processes only sums by GPU leave, no name and no command line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock
from typing import TYPE_CHECKING

from gpuassist import __version__
from gpuassist.formats import dcgm
from gpuassist.formats.visible import on_one_line
from gpuassist.model.fact import Known, value_or
from gpuassist.model.sample import Event, EventKind, GpuSample, Sample, TorchMemory
from gpuassist.monitor.device import MIG_INDEX
from gpuassist.system.clock import Clock

if TYPE_CHECKING:  # a tenth of a second, for whoever exports
    from prometheus_client.core import Metric

_PERIODS_AT_MOST, _OLD_AT_LEAST_SECONDS = 3.0, 5.0
_PROFILE = re.compile(r"\bMIG (\d{1,2}g\.\d{1,4}gb[\w.+]{0,8})$")
_MIB = float(dcgm.MEBIBYTE)
# A GPU that is cut into instances tells these of them, as with dcgm-exporter, so that a sum counts nothing twice.
_OF_INSTANCES = ("DCGM_FI_DEV_FB_", "gpuassist_memory_", "gpuassist_processes", "gpuassist_torch_")
_XIDS_AT_MOST = 64  # kinds of error of one GPU

Figure = Callable[[GpuSample], float | None]
Counts = dict[tuple[int, str], float]


def _fact(name: str, factor: float = 1.0) -> Figure:
    def figure(gpu: GpuSample) -> float | None:
        fact = getattr(gpu, name)
        return fact.value * factor if isinstance(fact, Known) else None

    return figure


def _reserved(gpu: GpuSample) -> float | None:
    total, used, free = (value_or(one, None) for one in (gpu.memory_total_bytes, gpu.memory_used_bytes, gpu.memory_free_bytes))
    if total is None or used is None or free is None or gpu.shares_memory:
        return None
    return (total - used - free) / _MIB if total >= used + free else None


def _sum(name: str) -> Figure:
    def figure(gpu: GpuSample) -> float | None:
        told = _torch(gpu)
        return float(sum(getattr(one, name) for one in told)) if told else None

    return figure


def _peak(gpu: GpuSample) -> float | None:
    return float(max((one.allocated_peak_bytes for one in _torch(gpu)), default=-1)) if _torch(gpu) else None


def _programs(gpu: GpuSample) -> float | None:
    return float(len(_torch(gpu))) if isinstance(gpu.processes, Known) else None


def _processes(gpu: GpuSample) -> float | None:
    return float(len(gpu.processes.value)) if isinstance(gpu.processes, Known) else None


def _silent(gpu: GpuSample) -> float | None:
    return gpu.silent_seconds or None


def _torch(gpu: GpuSample) -> list[TorchMemory]:
    return [one.torch.value for one in value_or(gpu.processes, ()) if isinstance(one.torch, Known)]


# Help of dcgm-exporter's own is its default-counters.csv's.
_GAUGES: tuple[tuple[str, str, Figure], ...] = (
    (dcgm.FB_USED, "Framebuffer memory used (in MiB).", _fact("memory_used_bytes", 1 / _MIB)),
    (dcgm.FB_FREE, "Framebuffer memory free (in MiB).", _fact("memory_free_bytes", 1 / _MIB)),
    (dcgm.FB_RESERVED, "Framebuffer memory reserved (in MiB).", _reserved),
    (dcgm.GPU_UTIL, "GPU utilization (in %).", _fact("utilization_percent")),
    (dcgm.GPU_TEMP, "GPU temperature (in C).", _fact("temperature_celsius")),
    (dcgm.MEMORY_TEMP, "Memory temperature (in C).", _fact("memory_celsius")),
    (dcgm.POWER_USAGE, "Power draw (in W).", _fact("power_watts")),
    (dcgm.SM_CLOCK, "SM clock frequency (in MHz).", _fact("sm_clock_mhz")),
    (dcgm.MEM_CLOCK, "Memory clock frequency (in MHz).", _fact("memory_clock_mhz")),
    (dcgm.SM_ACTIVE, "The ratio of cycles an SM has at least 1 warp assigned.", _fact("sm_activity_percent", 0.01)),
    (dcgm.TENSOR_ACTIVE, "Ratio of cycles the tensor (HMMA) pipe is active.", _fact("tensor_activity_percent", 0.01)),
    ("gpuassist_memory_total_bytes", "Memory of the GPU.", _fact("memory_total_bytes")),
    ("gpuassist_power_limit_watts", "Power that the GPU may draw.", _fact("power_limit_watts")),
    ("gpuassist_slowdown_celsius", "Temperature at which the GPU slows down.", _fact("slowdown_celsius")),
    ("gpuassist_fan_percent", "Speed of the fan.", _fact("fan_percent")),
    ("gpuassist_pcie_received_bytes_per_second", "Rate over PCIe to the GPU.", _fact("pcie_received_bytes_per_second")),
    ("gpuassist_pcie_sent_bytes_per_second", "Rate over PCIe from the GPU.", _fact("pcie_sent_bytes_per_second")),
    ("gpuassist_silent_seconds", "For how long the driver has not answered for this GPU.", _silent),
    ("gpuassist_processes", "Processes on the GPU.", _processes),
    ("gpuassist_torch_programs", "Programs on the GPU whose torch tells its memory (gpuassist run).", _programs),
    ("gpuassist_torch_allocated_bytes", "Memory that torch's tensors hold, of all such programs.", _sum("allocated_bytes")),
    ("gpuassist_torch_reserved_bytes", "Memory that torch has taken from the driver.", _sum("reserved_bytes")),
    ("gpuassist_torch_active_bytes", "Memory in blocks that torch uses.", _sum("active_bytes")),
    (
        "gpuassist_torch_inactive_split_bytes",
        "Memory in free pieces of blocks that cannot be given back.",
        _sum("inactive_split_bytes"),
    ),
    ("gpuassist_torch_allocated_peak_bytes", "The greatest peak of any one such program.", _peak),
)


class SampleMetrics:
    """A collector of prometheus_client's: `take` is called with each sample, `collect` whenever somebody asks.

    `labels` stand on every figure: the host's name, a pod, a job.
    """

    def __init__(self, labels: Mapping[str, str], clock: Clock, *, hz: float) -> None:
        self._labels = {name: on_one_line(words) for name, words in labels.items() if words}
        self._clock = clock
        self._patience = max(_OLD_AT_LEAST_SECONDS, _PERIODS_AT_MOST / hz)
        self._lock = Lock()
        self._sample: Sample | None = None
        self._samples = 0
        self._last_xids: dict[int, str] = {}
        self._xids: Counts = {}
        self._throttled: Counts = {}
        self._ooms = _Counters("ooms")
        self._retries = _Counters("retries")

    def take(self, sample: Sample) -> None:
        with self._lock:
            self._sample = sample
            self._samples += 1
            for event in sample.events:
                self._count(event)
            self._ooms.add(sample)
            self._retries.add(sample)

    def collect(self) -> Iterator[Metric]:
        """All families; of a sample that is old nothing but that it is."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        with self._lock:
            sample, samples, xids, throttled = self._sample, self._samples, dict(self._xids), dict(self._throttled)
            last, ooms, retries = dict(self._last_xids), dict(self._ooms.counts), dict(self._retries.counts)
        fresh = sample is not None and self._clock.since_boot() - sample.monotonic <= self._patience
        gpus = sample.gpus if sample is not None and fresh else ()
        common = self._labels
        yield _one(
            GaugeMetricFamily("gpuassist_build_info", "Which gpuassist tells this."), {**common, "version": __version__}, 1.0
        )
        yield _one(GaugeMetricFamily("gpuassist_up", "Whether the driver tells of any GPU now."), common, float(bool(gpus)))
        yield _one(CounterMetricFamily("gpuassist_samples", "Samples since this exporter was started."), common, float(samples))
        if sample is not None:
            told = GaugeMetricFamily("gpuassist_last_sample_timestamp_seconds", "When the newest sample was taken.")
            yield _one(told, common, sample.time)
        for name, words, figure in _GAUGES:
            yield from self._gauge(GaugeMetricFamily(name, words), ((gpu, figure(gpu)) for gpu in gpus), gpus)
        last_of = GaugeMetricFamily(dcgm.XID_ERRORS, "Value of the last XID error encountered.")
        yield from self._gauge(last_of, ((gpu, float(last[gpu.index]) if gpu.index in last else None) for gpu in gpus), gpus)
        for name, words, label, counts in (
            ("gpuassist_xid_errors", "Xid errors since this exporter was started.", "xid", xids),
            ("gpuassist_throttled", "Times that the clocks began to be held back.", "reason", throttled),
            ("gpuassist_torch_out_of_memory", "Allocations of torch that failed for good.", "", ooms),
            ("gpuassist_torch_retries", "Allocations of torch that came after all cached memory was given back.", "", retries),
        ):
            yield from self._counter(CounterMetricFamily(name, words), label, counts, gpus)

    def _gauge(
        self, family: Metric, figures: Iterable[tuple[GpuSample, float | None]], gpus: tuple[GpuSample, ...]
    ) -> Iterator[Metric]:
        for gpu, figure in figures:
            if figure is not None and not _is_told_by_instances(family.name, gpu, gpus):
                family.add_sample(family.name, self._labels_of(gpu, gpus), figure)
        if family.samples:
            yield family

    def _counter(self, family: Metric, label: str, counts: Counts, gpus: tuple[GpuSample, ...]) -> Iterator[Metric]:
        by_index = {gpu.index: gpu for gpu in gpus}
        for (index, kind), number in sorted(counts.items()):
            if index in by_index and not _is_told_by_instances(family.name, by_index[index], gpus):
                more = {label: kind} if label else {}
                family.add_sample(f"{family.name}_total", {**self._labels_of(by_index[index], gpus), **more}, number)
        if family.samples:
            yield family

    def _labels_of(self, gpu: GpuSample, gpus: tuple[GpuSample, ...]) -> dict[str, str]:
        """A MIG instance stands under its GPU's number, with a UUID of its own."""
        number = gpu.parent if gpu.parent is not None else gpu.index
        number = number if number < MIG_INDEX else number // MIG_INDEX - 1
        name = value_or(gpu.name, "")
        profile = _PROFILE.search(name)
        parent = next((one for one in gpus if one.index == gpu.parent), None)
        model = value_or(parent.name, name) if parent is not None else name
        told = {
            "gpu": str(number),
            "UUID": on_one_line(value_or(gpu.uuid, "")),
            "device": f"nvidia{number}",
            "modelName": on_one_line(model),
            "GPU_I_PROFILE": profile[1] if profile else "",
        }
        return {**{label: words for label, words in told.items() if words}, **self._labels}

    def _count(self, event: Event) -> None:
        if event.gpu is None:
            return
        if event.kind is EventKind.XID and event.code.isascii() and event.code.isdigit():
            self._last_xids[event.gpu] = event.code
            _rise(self._xids, (event.gpu, event.code))
        elif event.kind is EventKind.THROTTLED:
            _rise(self._throttled, (event.gpu, event.code))


class _Counters:
    """What torch counts in each program, added up by GPU so that it never falls when a program ends."""

    def __init__(self, field: str) -> None:
        self.counts: Counts = {}
        self._field = field
        self._seen: dict[tuple[int, int, int], int] | None = None

    def add(self, sample: Sample) -> None:
        before, seen = self._seen, dict[tuple[int, int, int], int]()
        for gpu in sample.gpus:
            for process in value_or(gpu.processes, ()):
                if not isinstance(process.torch, Known):
                    continue
                key = (gpu.index, process.pid, round(value_or(process.started, 0.0)))
                seen[key] = now = getattr(process.torch.value, self._field)
                # What was counted before the first sample is not ours; of who comes later all of it is.
                risen = now - (now if before is None else before.get(key, 0))
                self.counts[gpu.index, ""] = self.counts.get((gpu.index, ""), 0.0) + max(0, risen)
        if sample.gpus:
            self._seen = {**(before or {}), **seen} if len(before or {}) < _XIDS_AT_MOST * 64 else seen


def _is_told_by_instances(name: str, gpu: GpuSample, gpus: tuple[GpuSample, ...]) -> bool:
    return name.startswith(_OF_INSTANCES) and any(one.parent == gpu.index for one in gpus)


def _rise(counts: Counts, key: tuple[int, str]) -> None:
    if key in counts or sum(index == key[0] for index, _ in counts) < _XIDS_AT_MOST:
        counts[key] = counts.get(key, 0.0) + 1.0


def _one(family: Metric, labels: Mapping[str, str], figure: float) -> Metric:
    suffix = "_total" if family.type == "counter" else ""
    family.add_sample(f"{family.name}{suffix}", dict(labels), figure)
    return family
