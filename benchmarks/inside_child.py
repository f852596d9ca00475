"""A watched program that allocates on every GPU all the time, and says what the watching took of it."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import gpuassist_memory as told  # type: ignore[import-not-found]
import torch

taken: dict[str, Any] = {"looks": 0}
tell, look, starts = told._Watch._tell, told._Watch._look, told._cuda_starts


def timed_tell(watch: Any) -> None:
    try:
        tell(watch)
    finally:
        taken["thread_seconds"] = time.thread_time()


def counted_look(watch: Any, **options: Any) -> Any:
    taken["looks"] += 1
    return look(watch, **options)


def timed_start() -> None:
    began = time.perf_counter()
    starts()
    taken["start_seconds"] = time.perf_counter() - began


told._Watch._tell, told._Watch._look, told._cuda_starts = timed_tell, counted_look, timed_start
gpus = torch.cuda.device_count()
kept: list[Any] = [[] for _ in range(gpus)]
began = time.perf_counter()
while time.perf_counter() - began < float(sys.argv[1]):
    for index, mine in enumerate(kept):
        if len(mine) == 8:
            mine.clear()
        mine.append(torch.empty(1 << 20, dtype=torch.uint8, device=f"cuda:{index}"))
    time.sleep(0.01)
taken["seconds"] = time.perf_counter() - began
told._watch._end()
print(json.dumps({**taken, "gpus": gpus}))
