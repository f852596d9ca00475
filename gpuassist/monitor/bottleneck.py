"""What a GPU waits for: data, Python, copies, or nothing, because it is busy. Judged over the last minutes, or not at all.

What NVML calls utilisation is the share of time in which any kernel ran, be it of one block on one of a hundred multiprocessors. So
much of it proves nothing; little of it proves that the GPU stood still. How much of the GPU works tell the activity of its
multiprocessors (GPM, since Hopper) and, roughly, its power against the limit.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum

from msgspec import Struct

from gpuassist.model.fact import Fact, Known, value_or
from gpuassist.model.sample import GpuSample, ProcessKind, ProcessSample, Sample
from gpuassist.monitor.host_load import HostLoad

WINDOW_SECONDS = 120.0
LEAST_SECONDS = 20.0
_LEAST_LOOKS = 8
_LEAST_PERIOD_SECONDS = 0.9

# "0.8 or greater is necessary, but not sufficient, for effective use", "less than 0.5 likely indicates ineffective" use (NVIDIA's
# DCGM, feature overview, of the same figure).
_ACTIVE, _INACTIVE = 80.0, 50.0
# Of the limit. Matrix products are held back by it, small kernels take a quarter to a third of it.
_HOT, _COOL = 75.0, 50.0
_STANDS_STILL = 50.0  # in use for less of the time than not
_ALWAYS = 90.0
_DESKTOP = 25.0  # what drawing takes; with more, somebody computes whom the driver does not list, as in containers
_FULL_LINK = 60.0  # of what its lanes and speed allow, on average; copies reach about 80, and not all of the time
_FULL_CORE, _REST = 85.0, 50.0
_WORKS = 75.0  # a worker that has no time to rest
_OFTEN = 0.3  # of the looks
_NOTHING = 2.0
_HEAT = ("sw_thermal_slowdown", "hw_thermal_slowdown", "hw_slowdown", "hw_power_brake_slowdown")
_POWER = "sw_power_cap"


class Bound(str, Enum):
    """What holds a GPU's work up; `GPU` where nothing else does."""

    GPU = "gpu"
    DATA = "data"
    PYTHON = "python"
    COPIES = "copies"
    IDLE = "idle"
    UNDECIDED = "undecided"


class Lack(str, Enum):
    """What would have to be known."""

    TIME = "time"
    ACTIVITY = "activity"
    PROCESS = "process"
    MAIN_THREAD = "main-thread"
    LINK = "link"
    MIXED = "mixed"
    PEERS = "peers"


class Means(Struct, frozen=True):
    """The means of a stretch of time, in percent; None where it was not told often enough.

    Power is of its limit, copies (the greater direction) of what the link carries; `busy_workers` are those that never rest.
    """

    seconds: float = 0.0
    looks: int = 0
    utilization: float | None = None
    sm_activity: float | None = None
    tensor_activity: float | None = None
    power: float | None = None
    copies: float | None = None
    copied_bytes_per_second: float | None = None
    power_capped: float = 0.0
    too_hot: float = 0.0
    process: float | None = None
    main_thread: float | None = None
    workers: int = 0
    busy_workers: int = 0
    waits_for_disk: float = 0.0
    computes: bool = True
    rests: bool = False
    busier_peer: int | None = None
    peers: int = 0


class Bottleneck(Struct, frozen=True):
    """The verdict, what it rests on, and what is missing where it could not be given."""

    bound: Bound
    means: Means
    lacks: tuple[Lack, ...] = ()


class Bottlenecks:
    """Takes samples, with what their programs do on the processor; keeps as many as the verdict looks back."""

    def __init__(self, *, seconds: float = WINDOW_SECONDS) -> None:
        self._seconds = seconds
        self._looks: deque[tuple[Sample, Mapping[int, HostLoad]]] = deque()
        self.links: Mapping[int, float] = {}
        """What a GPU's link can carry in one direction, in bytes a second, by index."""

    def add(self, sample: Sample, loads: Mapping[int, HostLoad]) -> None:
        last = self._looks[-1][0].monotonic if self._looks else -math.inf
        if sample.monotonic - last < _LEAST_PERIOD_SECONDS:
            return  # a figure a second is as much as NVML has
        if sample.monotonic - last > self._seconds / 4:
            self._looks.clear()  # a pause: what was before it is another time
        self._looks.append((sample, loads))
        while self._looks[0][0].monotonic < sample.monotonic - self._seconds:
            self._looks.popleft()

    def judge(self, gpu: int) -> Bottleneck:
        """What this GPU waited for."""
        return judge(self.means(gpu))

    def means(self, gpu: int) -> Means:
        looks = [(one, loads) for sample, loads in self._looks for one in sample.gpus if one.index == gpu]
        if not looks:
            return Means()
        own = [one for one, _ in looks]
        newest = own[-1]
        who = _program(newest)
        seconds = self._looks[-1][0].monotonic - self._looks[0][0].monotonic
        power = None if newest.parent is not None else _mean(own, _power_share)
        rates = [_mean(own, lambda one: one.pcie_received_bytes_per_second), _mean(own, lambda one: one.pcie_sent_bytes_per_second)]
        copied = max((rate for rate in rates if rate is not None), default=None)
        link = self.links.get(gpu, 0.0)
        loads = [by_pid[who.pid] for _, by_pid in looks if who is not None and who.pid in by_pid]
        peer, peers = self._busier_peer(newest, who)
        return Means(
            seconds,
            len(own),
            _mean(own, lambda one: one.utilization_percent),
            _mean(own, lambda one: one.sm_activity_percent),
            _mean(own, lambda one: one.tensor_activity_percent),
            power,
            copied / link * 100 if copied is not None and link else None,
            copied,
            _share(own, (_POWER,)),
            _share(own, _HEAT),
            _mean([one for look in own for one in _same(look, who)], lambda one: one.cpu_percent),
            _mean(loads, lambda one: one.main_thread_percent),
            *_workers(loads),
            computes=who is not None or not isinstance(newest.processes, Known),
            rests=newest.asleep,
            busier_peer=peer,
            peers=peers,
        )

    def _busier_peer(self, gpu: GpuSample, who: ProcessSample | None) -> tuple[int | None, int]:
        """A GPU of the same job that has clearly more to do, and how many others the job has: they wait for one another."""
        if who is None:
            return None, 0
        newest = self._looks[-1][0]
        others = [one for one in newest.gpus if one.index != gpu.index and _is_same_job(_program(one), who)]
        works = {
            one.index: _mean([seen for sample, _ in self._looks for seen in sample.gpus if seen.index == one.index], _work)
            for one in (gpu, *others)
        }
        own = works.pop(gpu.index)
        busier = [index for index, work in works.items() if own is not None and work is not None and work > own + 25]
        return (busier[0] if busier else None), len(others)


def judge(means: Means) -> Bottleneck:
    """The verdict."""
    if means.rests or (not means.computes and (means.utilization or 0.0) < _DESKTOP):
        return Bottleneck(Bound.IDLE, means)
    if means.seconds < LEAST_SECONDS or means.looks < _LEAST_LOOKS:
        return Bottleneck(Bound.UNDECIDED, means, (Lack.TIME,))
    if _is_idle(means):
        return Bottleneck(Bound.IDLE, means)
    if _is_busy(means):
        return Bottleneck(Bound.GPU, means)
    slack = _has_slack(means)
    if slack is None:
        return Bottleneck(Bound.UNDECIDED, means, (Lack.ACTIVITY,))
    if means.copies is not None and means.copies >= _FULL_LINK:
        return Bottleneck(Bound.COPIES, means)
    if means.peers and (means.utilization or 0.0) >= _ALWAYS:
        return Bottleneck(Bound.UNDECIDED, means, (Lack.PEERS,))
    return _by_processor(means, slack=slack)


def _is_idle(means: Means) -> bool:
    still = means.utilization is not None and means.utilization <= _NOTHING and (means.sm_activity or 0.0) <= _NOTHING
    rests = (means.main_thread or 0.0) <= 2 * _NOTHING and (means.process or 0.0) <= _DESKTOP
    return still and rests and not means.busy_workers and means.waits_for_disk < _OFTEN


def _is_busy(means: Means) -> bool:
    if means.utilization is not None and means.utilization < _WORKS:
        return False
    if means.sm_activity is not None:
        return means.sm_activity >= _ACTIVE
    if means.power is not None and means.power >= _HOT:
        return True
    return max(means.power_capped, means.too_hot) >= 0.5 and (means.utilization or 0.0) >= _ALWAYS


def _has_slack(means: Means) -> bool | None:
    """Whether the GPU clearly has less to do than it could; None where nothing tells. False is in between."""
    if means.utilization is not None and means.utilization < _STANDS_STILL:
        return True
    if means.sm_activity is not None:
        return means.sm_activity < _INACTIVE
    return None if means.power is None else means.power < _COOL


def _by_processor(means: Means, *, slack: bool) -> Bottleneck:
    main = means.main_thread
    waits = main is not None and main < _REST
    if means.busy_workers and main is None:
        return Bottleneck(Bound.DATA if slack else Bound.UNDECIDED, means, () if slack else (Lack.MAIN_THREAD,))
    stood_still = means.utilization is not None and means.utilization < _ALWAYS
    if waits and means.busy_workers and (slack or stood_still):
        return Bottleneck(Bound.DATA, means)
    if waits and stood_still and slack:
        return Bottleneck(Bound.DATA, means)
    if not slack:
        # Nothing else works: what there is to do, the GPU does, though it is not at its limit.
        works = waits and not means.busy_workers and not stood_still
        return Bottleneck(Bound.GPU, means) if works else Bottleneck(Bound.UNDECIDED, means, (Lack.MIXED,))
    if main is None and means.process is None:
        return Bottleneck(Bound.UNDECIDED, means, (Lack.PROCESS,))
    if main is None and means.process is not None:
        one_core = _FULL_CORE <= means.process <= 100 + _REST
        return Bottleneck(Bound.PYTHON, means) if one_core else Bottleneck(Bound.UNDECIDED, means, (Lack.MAIN_THREAD,))
    if main is not None and main >= _FULL_CORE and not means.busy_workers:
        return Bottleneck(Bound.PYTHON, means)
    return Bottleneck(Bound.UNDECIDED, means, (Lack.MIXED, *((Lack.LINK,) if means.copies is None else ())))


def _program(gpu: GpuSample) -> ProcessSample | None:
    """The program that counts: of those that compute, the one with the most memory."""
    computing = [one for one in value_or(gpu.processes, ()) if value_or(one.kind, ProcessKind.COMPUTE) is not ProcessKind.GRAPHICS]
    return max(computing, key=lambda one: value_or(one.memory_used_bytes, 0), default=None)


def _same(gpu: GpuSample, who: ProcessSample | None) -> Iterator[ProcessSample]:
    yield from (one for one in value_or(gpu.processes, ()) if who is not None and one.pid == who.pid)


def _is_same_job(other: ProcessSample | None, who: ProcessSample) -> bool:
    if other is None:
        return False
    return other.pid == who.pid or (isinstance(who.command, Known) and other.command == who.command and other.user == who.user)


def _power_share(gpu: GpuSample) -> Fact[float]:
    if isinstance(gpu.power_watts, Known) and isinstance(gpu.power_limit_watts, Known) and gpu.power_limit_watts.value > 0:
        return Known(gpu.power_watts.value / gpu.power_limit_watts.value * 100, gpu.power_watts.source)
    return gpu.power_limit_watts if isinstance(gpu.power_watts, Known) else gpu.power_watts


def _work(gpu: GpuSample) -> Fact[float]:
    return gpu.sm_activity_percent if isinstance(gpu.sm_activity_percent, Known) else _power_share(gpu)


def _share(gpus: Sequence[GpuSample], reasons: tuple[str, ...]) -> float:
    known = [one.throttle_reasons.value for one in gpus if isinstance(one.throttle_reasons, Known)]
    return sum(any(reason in reasons for reason in one) for one in known) / len(known) if known else 0.0


def _workers(loads: Sequence[HostLoad]) -> tuple[int, int, float]:
    """How many there are, how many of them work without rest, and how often somebody waits for a disk."""
    counted = [one.workers_percent for one in loads if one.workers_percent]
    most = max(map(len, counted), default=0)
    busy = sum(percent >= _WORKS for one in counted for percent in one) / max(1, len(counted))
    return most, round(busy), sum(one.waits_for_disk > 0 for one in loads) / max(1, len(loads))


def _mean(ones: Sequence[object], figure: Callable[..., Fact[float] | Fact[int]]) -> float | None:
    known = [float(fact.value) for one in ones if isinstance(fact := figure(one), Known)]
    return sum(known) / len(known) if len(known) >= max(1, len(ones) // 3) else None
