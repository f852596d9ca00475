"""A day of eight GPUs as a Prometheus server tells it: from the bytes of its answers to a history that can be drawn.

The floor is reading the same bytes with Python's own `json` and nothing done with them.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable

from benchmarks.timing import report
from gpuassist.formats.dcgm import METRICS
from gpuassist.formats.prometheus import LabelledSeries, read_answer
from gpuassist.monitor.history import History
from gpuassist.monitor.prometheus_gpus import RemoteGpus

RATIO_LIMIT = 60.0
GPUS, SERIES = 8, METRICS[:7]
DAY = 24 * 3600
_NAME = "a day of eight GPUs from a Prometheus server to a history, as a multiple of reading its JSON"
STEP, LAST_STEP = 120, 15  # seconds, as `PrometheusSource` asks for a day and for its last hour


def main() -> bool:
    """Prints the ratio."""
    answers = (_answer(0, DAY - 3600, STEP), _answer(DAY - 3600, DAY, LAST_STEP))
    floor = _least(lambda: [json.loads(one) for one in answers])
    taken = _least(lambda: _history(answers))
    points = sum(len(row.points) for one in answers for row in read_answer(one))
    detail = f"{taken:.2f} s for {points} figures in {sum(map(len, answers)) / 1e6:.1f} MB, json alone {floor * 1000:.0f} ms"
    return report(
        "a day of eight GPUs from a Prometheus server to a history, as a multiple of reading its JSON",
        taken / floor,
        RATIO_LIMIT,
        detail,
    )


def _least(work: Callable[[], object]) -> float:
    """The processor's seconds of the quickest of three."""
    times = []
    for _ in range(3):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def _history(answers: tuple[bytes, ...]) -> History:
    history, gpus = History(gap_seconds=2.5 * STEP), RemoteGpus()
    for one in answers:
        rows: tuple[LabelledSeries, ...] = read_answer(one)
        gpus.meet(rows)
        for sample in gpus.samples(rows, offset=0.0, axis=0.0):
            history.add(sample)
    return history


def _answer(begin: int, end: int, step: int) -> bytes:
    chance = random.Random(1)
    result = [
        {
            "metric": {
                "__name__": name,
                "gpu": str(gpu),
                "UUID": f"GPU-{gpu}",
                "Hostname": "n1",
                "modelName": "NVIDIA H100 80GB HBM3",
            },
            "values": [[time, str(chance.randrange(100))] for time in range(begin, end, step)],
        }
        for name in SERIES
        for gpu in range(GPUS)
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}).encode()
