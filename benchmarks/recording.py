"""A day of eight GPUs with twenty processes: what its history takes in memory, and what recording it takes of disk and processor.

The samples are noisy: every figure of hardware and the memory of most processes change from each to the next, which is
the most that can be kept. Memory is the proportional share (PSS) of a child that does nothing else.
"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
from msgspec.structs import replace

from benchmarks.timing import report
from gpuassist.model.fact import Known
from gpuassist.model.sample import GpuSample, ProcessKind, ProcessSample, Sample, TorchMemory
from gpuassist.monitor.history import History, Series
from gpuassist.monitor.sample_file import SampleReader
from gpuassist.monitor.sample_writer import BLOCK_SAMPLES, SampleWriter

GROWTH_LIMIT, DISK_LIMIT, CPU_LIMIT = 2.0, 0.05, 1.0
GPUS, PROCESSES = 8, 20
DAY, FULL_AFTER = 24 * 3600, 42 * 3600  # the coarsest buckets of the memory are full after 41 hours
STEP = 8  # seconds between two samples of the simulated days: fewer of them fill the same buckets
_MIB = 1 << 20


def main() -> bool:
    """Prints the ratios and figures."""
    growth, full = map(
        float, subprocess.run([sys.executable, "-m", __name__], stdout=subprocess.PIPE, check=True, text=True).stdout.split()
    )
    detail = f"a full history takes {full:.1f} MiB: {GPUS} GPUs, {len(Series)} series each"
    kept = [report("growth of a full history in a simulated day, in MiB", growth, GROWTH_LIMIT, detail), _recording()]
    return all(kept)


def samples(count: int, seconds: float = 1.0, gpus: int = GPUS) -> Iterator[Sample]:
    """What NVML and torch would tell, as noisy as they could."""
    chance = random.Random(1)
    fixed = [
        GpuSample(index, Known(f"GPU-{index}", "NVML"), Known("NVIDIA H100 80GB HBM3", "NVML"), known(80 << 30))
        for index in range(gpus)
    ]
    for number in range(count):
        moment = 1000.0 + number * seconds + chance.random() / 100
        yield Sample(1.8e9 + moment, moment, tuple(_gpu(one, chance) for one in fixed))


def known(value: int) -> Known[int]:
    return Known(value, "NVML")


def _gpu(fixed: GpuSample, chance: random.Random) -> GpuSample:
    used = chance.randrange(20 << 30, 79 << 30)
    pids = range(1000 * fixed.index, 1000 * fixed.index + PROCESSES // GPUS + (fixed.index < PROCESSES % GPUS))
    return replace(
        fixed,
        memory_used_bytes=known(used),
        memory_free_bytes=known((80 << 30) - used),
        utilization_percent=known(chance.randrange(80, 101)),
        temperature_celsius=known(chance.randrange(60, 70)),
        memory_celsius=known(chance.randrange(70, 80)),
        power_watts=Known(chance.randrange(500_000, 700_000) / 1000, "NVML"),
        sm_clock_mhz=known(chance.choice((1950, 1965, 1980))),
        memory_clock_mhz=known(2619),
        fan_percent=known(chance.randrange(30, 40)),
        pcie_received_bytes_per_second=known(chance.randrange(10**9)),
        pcie_sent_bytes_per_second=known(chance.randrange(10**9)),
        sm_activity_percent=Known(chance.random() * 100, "NVML"),
        tensor_activity_percent=Known(chance.random() * 100, "NVML"),
        processes=Known(tuple(_process(pid, used // len(pids), chance) for pid in pids), "NVML"),
    )


def _process(pid: int, used: int, chance: random.Random) -> ProcessSample:
    allocated = used - chance.randrange(1 << 28) // 512 * 512
    return ProcessSample(
        pid,
        Known("you", "/proc"),
        Known(f"/home/you/venv/bin/python -u train.py --config configs/experiment_{pid}.yaml --batch-size 64", "/proc"),
        known(used),
        Known(ProcessKind.COMPUTE, "NVML"),
        gpu_percent=known(chance.randrange(101)),
        cpu_percent=Known(round(chance.random() * 100, 1), "/proc"),
        resident_bytes=known(chance.randrange(1 << 21) * 4096),
        started=Known(1.7e9 + pid, "/proc"),
        torch=Known(TorchMemory(allocated, used, used, used, allocated, 1 << 20), "gpuassist run"),
    )


def _recording() -> bool:
    count = 8 * BLOCK_SAMPLES
    made = list(samples(count))
    with tempfile.TemporaryDirectory() as directory:
        path = f"{directory}/run.db"
        writer, began = SampleWriter(path, 1.0), time.process_time()
        for one in made:
            writer.write([one])
        ours = (time.process_time() - began) / count
        writer.close(2.0)
        with closing(sqlite3.connect(path)) as connection:  # without the half MiB that small blocks come and go in
            pages, free, size = (
                connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
            )
        size = (pages - free) * size / count
        began = time.process_time()
        assert list(SampleReader(path).samples()) == made
        reading = (time.process_time() - began) / count
    began = time.process_time()
    plain = sum(len(msgspec.json.encode(one)) for one in made) / count
    detail = (
        f"{size:.0f} of {plain:.0f} bytes a sample, {size * DAY / _MIB:.0f} MiB a day at 1 Hz; read in {reading * 1e6:.0f} us each"
    )
    kept = report("size of a recording / its samples as JSON", size / plain, DISK_LIMIT, detail)
    share = ours * 100
    return report("percent of a core that recording at 1 Hz takes", share, CPU_LIMIT, f"{ours * 1000:.2f} ms a sample") and kept


def _child() -> None:
    """Fills a history, goes on for a day, and prints by how much it grew and what it took, in MiB."""
    empty, history = _pss(), History(gap_seconds=60)
    full = 0.0
    for number, one in enumerate(samples((FULL_AFTER + DAY) // STEP, STEP)):
        if number == FULL_AFTER // STEP:
            full = _pss()
        history.add(one)
    print((_pss() - full) / _MIB, (full - empty) / _MIB)


def _pss() -> float:
    for line in Path("/proc/self/smaps_rollup").read_text("utf-8").splitlines():
        if line.startswith("Pss:"):
            return float(line.split()[1]) * 1024
    raise OSError("no Pss in /proc/self/smaps_rollup")


if __name__ == "__main__":
    _child()
