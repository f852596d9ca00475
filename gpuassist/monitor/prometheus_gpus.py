"""What dcgm-exporter's series tell, as GPUs: who is who over time, on which machine, and its figures as facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count

from msgspec import Struct

from gpuassist.formats import dcgm
from gpuassist.formats.prometheus import LabelledSeries
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.sample import Event, EventKind, GpuSample, Sample
from gpuassist.model.text import text
from gpuassist.monitor.device import MIG_INDEX
from gpuassist.monitor.readings import NO_FACTS

GPUS_AT_MOST = 64
"""As many as can be looked at together: eight machines of eight."""

_PROCESSES = Unknown(text("the server knows GPUs, and not their processes"))
_NOT_TOLD = Unknown(text("dcgm-exporter does not tell it"))
_GONE = Unknown(text("the server has no figures of it now: its exporter does not answer, or the GPU is lost"))
_NOBODY = Unknown(text("its labels name no pod and no job"))
_SOURCE = "Prometheus"

FiguresAt = Mapping[str, float]


class RemoteGpu(Struct, frozen=True):
    """Which GPU a series is about: MIG instances of one have its UUID, so that `instance` tells them apart."""

    host: str
    number: int
    uuid: str
    instance: str


class RemoteGpus:
    """Gives each GPU an index that stays, and makes samples of the series."""

    def __init__(self) -> None:
        self._indices: dict[RemoteGpu, int] = {}
        self._labels: dict[RemoteGpu, Mapping[str, str]] = {}
        self._known: dict[RemoteGpu, tuple[Mapping[str, str], Mapping[str, Fact[object]]]] = {}
        self._xids: dict[RemoteGpu, float] = {}

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(sorted({gpu.host for gpu in self._indices}))

    def meet(self, rows: Iterable[LabelledSeries]) -> None:
        """Takes in who is there; those that nobody met are none later."""
        found = {remote_gpu(row.labels): row.labels for row in rows}
        self._labels.update(found)
        fresh = sorted(found.keys() - self._indices.keys(), key=lambda gpu: (gpu.host, gpu.number, _small(gpu.instance), gpu.uuid))
        for gpu in fresh[: GPUS_AT_MOST - len(self._indices)]:
            self._indices[gpu] = self._index(gpu, alone=len({one.host for one in (*self._indices, *found)}) == 1)

    def samples(self, rows: Iterable[LabelledSeries], *, offset: float, axis: float) -> Iterator[Sample]:
        """One for each moment at which anything was told, oldest first. The server's clock less `offset` is ours, and that plus
        `axis` the history's axis.
        """
        moments: dict[float, dict[RemoteGpu, dict[str, float]]] = {}
        for row in rows:
            gpu = remote_gpu(row.labels)
            if gpu not in self._indices:
                continue
            name, points = dcgm.as_known(row.name, row.points)
            for time, figure in points:
                moments.setdefault(time, {}).setdefault(gpu, {})[name] = figure
        for time in sorted(moments):
            yield self.sample(moments[time], time - offset, time - offset + axis)

    def sample(self, told: Mapping[RemoteGpu, FiguresAt], time: float, monotonic: float) -> Sample:
        """Of one moment; a GPU that tells nothing then is there all the same."""
        gpus = [self._gpu(gpu, index, told.get(gpu)) for gpu, index in self._indices.items()]
        events = tuple(self._events(told, monotonic))
        return Sample(time, monotonic, tuple(sorted(gpus, key=lambda gpu: gpu.index)), (), events)

    def _events(self, told: Mapping[RemoteGpu, FiguresAt], monotonic: float) -> Iterator[Event]:
        """The exporter tells the last error that a GPU had: one that is another than before has happened."""
        for gpu, figures in told.items():
            number = figures.get(dcgm.XID_ERRORS, 0.0)  # gpuassist tells none until there was one
            if dcgm.is_blank(number) or gpu not in self._indices:
                continue
            before = self._xids.get(gpu, number)
            self._xids[gpu] = number
            if number not in {before, 0.0}:
                code = f"{number:.0f}"
                yield Event(monotonic, EventKind.XID, text("Xid {number}", number=code), self._indices[gpu], code=code)

    def _gpu(self, gpu: RemoteGpu, index: int, told: FiguresAt | None) -> GpuSample:
        every = dict(self._lasting(gpu))
        if told:
            every.update(_figures(told))
        else:
            every.update((name, _GONE) for name, fact in every.items() if fact is _NOT_TOLD)
        return GpuSample(index, **every, number=_number(gpu) if len(self.hosts) > 1 else "")  # type: ignore[arg-type]

    def _lasting(self, gpu: RemoteGpu) -> Mapping[str, Fact[object]]:
        """What is so in every sample of it until its labels change, and for the rest that nobody tells it."""
        labels = self._labels.get(gpu, {})
        known = self._known.get(gpu)
        if known is not None and known[0] is labels:
            return known[1]
        model, profile = labels.get("modelName", ""), labels.get("GPU_I_PROFILE", "")
        name = f"{model} MIG {profile}" if profile else model
        workload = dcgm.workload_of(labels)
        who: dict[str, Fact[object]] = {
            "uuid": _label(gpu.uuid, "UUID"),
            "name": _label(name, "modelName"),
            "host": _label(gpu.host, "Hostname"),
            "workload": Known(workload, _SOURCE) if workload else _NOBODY,
        }
        lasting: dict[str, Fact[object]] = {**dict.fromkeys(_FACTS, _NOT_TOLD), **who, "processes": _PROCESSES}
        self._known[gpu] = (labels, lasting)
        return lasting

    def _index(self, gpu: RemoteGpu, *, alone: bool) -> int:
        """As its own machine counts it where there is but one; of many machines they are counted through."""
        taken = set(self._indices.values())
        wanted = gpu.number if alone else len(taken)
        if alone and _small(gpu.instance) >= 0:
            wanted = MIG_INDEX * (gpu.number + 1) + _small(gpu.instance)
        return next(index for index in count(wanted) if index not in taken)


def _number(gpu: RemoteGpu) -> str:
    """As its own machine numbers it."""
    return f"{gpu.number}:{gpu.instance}" if gpu.instance else str(gpu.number)


def remote_gpu(labels: Mapping[str, str]) -> RemoteGpu:
    """Whom the labels of a series name."""
    uuid = labels.get("UUID") or labels.get("uuid") or ""
    return RemoteGpu(dcgm.host_of(labels), max(0, _small(labels.get("gpu", ""))), uuid, labels.get("GPU_I_ID", ""))


def by_gpu(rows: Iterable[LabelledSeries]) -> dict[RemoteGpu, dict[str, float]]:
    """The newest figure of each metric of each GPU."""
    found: dict[RemoteGpu, dict[str, float]] = {}
    for row in rows:
        name, points = dcgm.as_known(row.name, row.points[-1:])
        for _, figure in points:
            found.setdefault(remote_gpu(row.labels), {})[name] = figure
    return found


def _figures(told: FiguresAt) -> dict[str, Fact[object]]:
    used, free, kept = (dcgm.mebibytes(told, name) for name in (dcgm.FB_USED, dcgm.FB_FREE, dcgm.FB_RESERVED))
    return {
        "memory_total_bytes": dcgm.total(used, free, kept),
        "memory_used_bytes": used,
        "memory_free_bytes": free,
        "utilization_percent": dcgm.percent(told, dcgm.GPU_UTIL),
        "temperature_celsius": dcgm.celsius(told, dcgm.GPU_TEMP),
        "power_watts": dcgm.watts(told, dcgm.POWER_USAGE),
        "memory_celsius": dcgm.celsius(told, dcgm.MEMORY_TEMP),
        "sm_clock_mhz": dcgm.megahertz(told, dcgm.SM_CLOCK),
        "memory_clock_mhz": dcgm.megahertz(told, dcgm.MEM_CLOCK),
        "sm_activity_percent": dcgm.ratio(told, dcgm.SM_ACTIVE),
        "tensor_activity_percent": dcgm.ratio(told, dcgm.TENSOR_ACTIVE),
    }


def _label(words: str, name: str) -> Fact[str]:
    return Known(words, name) if words else _UNLABELLED


def _small(words: str) -> int:
    """A number below `MIG_INDEX`; -1 where the words are none."""
    return int(words) if words.isascii() and words.isdigit() and len(words) < len(str(MIG_INDEX)) else -1


_UNLABELLED = Unknown(text("its labels do not say it"))
_FACTS = tuple(name for name in GpuSample.__struct_fields__ if name not in NO_FACTS)
