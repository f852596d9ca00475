"""Made-up machines at work, and what each GPU waits for: written down before there was anything that decides it.

Each is two minutes of samples, a second apart, whose figures waver about the ones given; `None` is what this machine does not tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.sample import GpuSample, ProcessKind, ProcessSample, Sample
from gpuassist.model.text import text
from gpuassist.monitor.bottleneck import Bound
from gpuassist.monitor.host_load import HostLoad

GEN3, GEN4, GEN5 = 15_753_846_153, 31_507_692_307, 63_015_384_615  # bytes a second of sixteen lanes
_NOT_TOLD: Unknown = Unknown(text("not told"))
_GIGABYTE = 1e9


class Made:
    """One GPU and the program on it; `main`, `process` and `workers` are percent of a core."""

    def __init__(
        self,
        want: Bound,
        *,
        util: float | None = None,
        sm: float | None = None,
        tensor: float | None = None,
        watts: float | None = None,
        limit: float | None = None,
        received: float | None = None,
        sent: float | None = None,
        link: float | None = None,
        main: float | None = None,
        process: float | None = None,
        workers: Sequence[float] = (),
        disk: float = 0.0,
        swing: float = 0.08,
        throttle: str = "",
        kind: ProcessKind | None = ProcessKind.COMPUTE,
        parent: int | None = None,
        seconds: int = 120,
        command: str = "python train.py",
        idle: float | None = None,
        others: Sequence[Made] = (),
        asleep: bool = False,
    ) -> None:
        self.want, self.link, self.seconds, self.others = want, link, seconds, others
        self.gpu = (util, sm, tensor, watts, limit, received, sent)
        self.host = (main, process, tuple(workers), disk)
        self.swing, self.throttle, self.kind, self.parent = swing, throttle, kind, parent
        self.command, self.idle, self.asleep = command, idle, asleep

    def series(self, random: Random) -> Iterator[tuple[Sample, dict[int, HostLoad], dict[int, float]]]:
        """Samples, what the programs do on the processor, and the links' speeds."""
        links = {0: self.link} if self.link is not None else {}
        for second in range(self.seconds):
            all_of_them = (self, *self.others)
            gpus = tuple(one.sample(index, random) for index, one in enumerate(all_of_them))
            hosts = {100 + index: one.load(random) for index, one in enumerate(all_of_them) if one.kind is not None}
            yield Sample(1e9 + second, 1000.0 + second, gpus), hosts, links

    def sample(self, index: int, random: Random) -> GpuSample:
        util, sm, tensor, watts, limit, received, sent = self.gpu

        def about(value: float | None, most: float = 1e18) -> float | None:
            return None if value is None else max(0.0, min(most, value * (1 + random.uniform(-self.swing, self.swing))))

        whole = about(util, 100.0)
        processes: Fact[tuple[ProcessSample, ...]] = Known((), "nvml")
        if self.kind is not None:
            process = ProcessSample(
                100 + index,
                command=Known(self.command, "proc"),
                memory_used_bytes=Known(8 << 30, "nvml"),
                kind=Known(self.kind, "nvml"),
                cpu_percent=_fact(about(self.host[1])),
                idle_seconds=_fact(self.idle),
            )
            processes = Known((process,), "nvml")
        return GpuSample(
            index,
            memory_used_bytes=Known(9 << 30, "nvml"),
            memory_total_bytes=Known(24 << 30, "nvml"),
            utilization_percent=_NOT_TOLD if whole is None else Known(round(whole), "nvml"),
            power_watts=_fact(about(watts)),
            power_limit_watts=_fact(limit),
            processes=processes,
            pcie_received_bytes_per_second=_bytes(about(received)),
            pcie_sent_bytes_per_second=_bytes(about(sent)),
            throttle_reasons=Known((self.throttle,) if self.throttle and random.random() < 0.8 else (), "nvml"),
            sm_activity_percent=_fact(about(sm, 100.0)),
            tensor_activity_percent=_fact(about(tensor, 100.0)),
            parent=self.parent,
            asleep=self.asleep,
        )

    def load(self, random: Random) -> HostLoad:
        main, _, workers, disk = self.host
        return HostLoad(
            _fact(None if main is None else min(100.0, main * random.uniform(0.95, 1.03))),
            tuple(min(100.0, one * random.uniform(0.85, 1.1)) for one in workers),
            sum(random.random() < disk for _ in range(max(1, len(workers)))),
        )


def _fact(value: float | None) -> Fact[float]:
    return NOT_ASKED if value is None else Known(value, "made")


def _bytes(value: float | None) -> Fact[int]:
    return NOT_ASKED if value is None else Known(int(value), "made")


GPU, DATA, PYTHON, COPIES = Bound.GPU, Bound.DATA, Bound.PYTHON, Bound.COPIES
IDLE, OPEN = Bound.IDLE, Bound.UNDECIDED
G = _GIGABYTE

LOADS: dict[str, Made] = {
    # Busy.
    "H100, large model": Made(
        GPU,
        util=99,
        sm=93,
        tensor=48,
        watts=640,
        limit=700,
        received=0.4 * G,
        sent=0.1 * G,
        link=GEN5,
        main=100,
        process=102,
        workers=(20, 22, 18, 25),
    ),
    "H100, memory-bound decoding": Made(
        GPU, util=99, sm=88, tensor=6, watts=430, limit=700, received=0.1 * G, sent=0.1 * G, link=GEN5, main=100, process=110
    ),
    "RTX 4090 at its limit": Made(
        GPU,
        util=98,
        watts=425,
        limit=450,
        received=0.8 * G,
        sent=0.2 * G,
        link=GEN4,
        main=100,
        process=104,
        workers=(30, 28, 35, 31),
        throttle="sw_power_cap",
    ),
    "RTX 3060, main thread spins": Made(GPU, util=99, watts=158, limit=170, main=100, process=101),
    "RTX 3090, main thread sleeps": Made(
        GPU, util=97, watts=310, limit=350, received=1.0 * G, sent=0.1 * G, link=GEN4, main=12, process=18
    ),
    "T4 at its limit": Made(GPU, util=100, watts=69, limit=70, main=100, process=100, throttle="sw_power_cap"),
    "laptop held back by heat": Made(GPU, util=98, watts=62, limit=140, main=100, process=103, throttle="sw_thermal_slowdown"),
    "power cap below what is asked for": Made(GPU, util=100, watts=208, limit=300, main=35, process=40, throttle="sw_power_cap"),
    "memory-bound without GPM": Made(
        GPU, util=99, watts=230, limit=350, main=20, process=25, received=0.2 * G, sent=0.1 * G, link=GEN4
    ),
    "MIG instance at work": Made(GPU, sm=91, tensor=40, main=100, process=100, parent=0),
    "workers busy, and so is the GPU": Made(GPU, util=98, watts=330, limit=350, main=60, process=70, workers=(85, 88, 90, 84)),
    "another user's program, power at the limit": Made(GPU, util=99, watts=290, limit=300),
    # Waits for data.
    "four workers decode pictures": Made(
        DATA,
        util=38,
        watts=120,
        limit=350,
        received=0.9 * G,
        sent=0.1 * G,
        link=GEN4,
        main=15,
        process=25,
        workers=(99, 98, 99, 97),
        swing=0.6,
    ),
    "one worker": Made(DATA, util=12, watts=90, limit=450, main=8, process=15, workers=(99,), swing=0.7),
    "H100, workers busy": Made(
        DATA,
        util=55,
        sm=22,
        tensor=11,
        watts=230,
        limit=700,
        received=1 * G,
        sent=0.1 * G,
        link=GEN5,
        main=20,
        process=30,
        workers=(97, 99, 96, 99, 98, 97, 99, 96),
    ),
    "files on a slow disk": Made(
        DATA, util=18, watts=95, limit=350, main=6, process=10, workers=(12, 9, 14, 11), disk=0.7, swing=0.7
    ),
    "files from the network": Made(DATA, util=22, watts=100, limit=350, main=9, process=12, workers=(8, 6, 9, 7), swing=0.7),
    "the program reads by itself, from a disk": Made(DATA, util=15, watts=80, limit=300, main=14, process=16, disk=0.6, swing=0.7),
    "threads of its own decode": Made(DATA, util=30, watts=110, limit=350, main=10, process=640, swing=0.5),
    "GPM, workers busy, many kernels": Made(
        DATA, util=82, sm=34, tensor=9, main=25, process=35, workers=(99, 97, 98), watts=260, limit=700
    ),
    "workers busy, GPU in between": Made(
        DATA, util=60, watts=200, limit=350, main=20, process=30, workers=(98, 97, 99, 98), swing=0.4
    ),
    # Waits for Python.
    "many small kernels": Made(
        PYTHON, util=72, watts=120, limit=450, received=0.05 * G, sent=0.02 * G, link=GEN4, main=100, process=101
    ),
    "H100, tiny batches": Made(
        PYTHON, util=88, sm=18, tensor=2, watts=190, limit=700, received=0.02 * G, sent=0.02 * G, link=GEN5, main=100, process=100
    ),
    "100 % in use, and hardly warm": Made(
        PYTHON, util=99, watts=140, limit=450, received=0.05 * G, sent=0.02 * G, link=GEN4, main=100, process=100
    ),
    "Python between the steps": Made(PYTHON, util=25, watts=85, limit=350, main=99, process=100, swing=0.5),
    "reinforcement learning": Made(PYTHON, util=14, watts=75, limit=300, main=98, process=99, swing=0.5),
    "idle workers, busy main thread": Made(PYTHON, util=40, watts=120, limit=350, main=100, process=105, workers=(5, 4, 6, 5)),
    "no main thread told, one core of the process": Made(PYTHON, util=35, watts=110, limit=350, process=100),
    "MIG instance, tiny batches": Made(PYTHON, sm=15, tensor=1, main=100, process=100, parent=0),
    # Waits for copies.
    "weights offloaded, fourth generation": Made(
        COPIES, util=65, watts=120, limit=450, received=24.5 * G, sent=2 * G, link=GEN4, main=60, process=90
    ),
    "third generation, to the computer": Made(
        COPIES, util=40, watts=95, limit=300, received=1 * G, sent=11.5 * G, link=GEN3, main=100, process=100
    ),
    "four lanes in a case outside": Made(
        COPIES, util=45, watts=90, limit=285, received=3.3 * G, sent=0.2 * G, link=GEN3 / 4, main=70, process=80
    ),
    "H100, activations offloaded": Made(
        COPIES, util=70, sm=28, tensor=12, watts=260, limit=700, received=48 * G, sent=20 * G, link=GEN5, main=80, process=90
    ),
    "copies, with workers at rest": Made(
        COPIES, util=50, watts=110, limit=350, received=21 * G, sent=1 * G, link=GEN4, main=30, process=40, workers=(3, 2, 4, 3)
    ),
    # Nothing to do.
    "a server that nobody asks": Made(IDLE, util=0, watts=22, limit=350, main=0.5, process=1),
    "a notebook between cells": Made(
        IDLE, util=0, watts=20, limit=350, main=0.3, process=0.5, command="python -m ipykernel_launcher -f kernel.json", idle=900.0
    ),
    "only the desktop": Made(IDLE, util=6, watts=30, limit=350, kind=ProcessKind.GRAPHICS, main=4, process=6),
    "nobody on it": Made(IDLE, util=0, watts=12, limit=350, kind=None),
    "asleep": Made(IDLE, kind=None, asleep=True),
    # Not decidable.
    "utilisation alone": Made(OPEN, util=100),
    "utilisation and a busy main thread, no power": Made(OPEN, util=97, main=100, process=100),
    "another user's program, hardly warm": Made(OPEN, util=70, watts=110, limit=450),
    "a MIG instance that tells nothing": Made(OPEN, parent=0, main=100, process=100),
    "in between, main thread busy": Made(OPEN, util=97, watts=220, limit=350, main=100, process=100),
    "half a minute ago it began": Made(OPEN, util=98, watts=330, limit=350, main=100, process=100, seconds=12),
    "main thread half busy": Made(OPEN, util=45, watts=120, limit=350, main=62, process=70),
    "many threads, main thread not told": Made(OPEN, util=40, watts=120, limit=350, process=420),
    "nobody is listed, and it works": Made(OPEN, util=97, watts=150, limit=350, kind=None),
    "nobody is listed, and it works at its limit": Made(GPU, util=99, watts=330, limit=350, kind=None),
    "all wait for one another": Made(
        OPEN,
        util=100,
        watts=150,
        limit=400,
        main=100,
        process=100,
        others=(Made(OPEN, util=100, watts=360, limit=400, main=100, process=100),),
    ),
}
