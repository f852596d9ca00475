"""Chrome traces as Kineto writes them, of made events; times in microseconds."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

_CPU, _GPU = (77, 77), (0, 7)


def event(category: str, name: str, begin: float, length: float, **rest: Any) -> dict[str, Any]:
    """One that takes time; on the processor's thread, or on the GPU's stream."""
    pid, tid = _GPU if category in {"kernel", "gpu_memcpy", "gpu_memset"} else _CPU
    made = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": begin, "dur": length}
    return {**made, "args": {"External id": 1, "Input Dims": [[2, 3], []]}, **rest}


def trace(events: Iterable[dict[str, Any]], **rest: Any) -> bytes:
    """The whole file, each event over several lines as Kineto has it."""
    head = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}]}
    return json.dumps({**head, "traceEvents": list(events), "traceName": "trace.json", **rest}, indent=2).encode()


def step(begin: float) -> list[dict[str, Any]]:
    """100 µs: 10 for data, two kernels of 30 and 20, a copy of which 10 are alone, operators with a call, 15 of nothing."""
    return [
        event("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", begin, 10),
        event("cpu_op", "aten::addmm", begin + 10, 15),
        event("cuda_runtime", "cudaLaunchKernel", begin + 20, 5),
        event("kernel", "ampere_sgemm_128x64_tn", begin + 25, 30),
        event("cpu_op", "aten::relu", begin + 30, 5),
        event("kernel", "void at::native::vectorized_elementwise_kernel<4>", begin + 55, 20),
        event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", begin + 70, 15),
    ]


def steps(count: int) -> list[dict[str, Any]]:
    """As many of them, and the moment at which the last is over."""
    made = [one for number in range(count) for one in step(1_000_000 + 100.0 * number)]
    return [
        {"ph": "M", "name": "process_name", "pid": 77, "args": {"name": "python"}},
        *made,
        event("cpu_op", "end", 1_000_000 + 100 * count, 0),
    ]
