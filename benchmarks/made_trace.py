"""A Chrome trace as torch.profiler writes it, of any size: steps of sixty operators, each with its call and its kernel."""

from __future__ import annotations

import json
from pathlib import Path

_KERNELS = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int)",
    "ampere_sgemm_128x64_tn",
)
_OPERATORS = ("aten::addmm", "aten::relu", "aten::layer_norm", "aten::mul", "aten::_to_copy")
_SHAPES = '"Concrete Inputs": ["", ""], "Input type": ["float", ""], "Input Strides": [[768, 1], []], "Input Dims": [[32, 768], []]'
_GRID = '"queued": 0, "device": 0, "context": 1, "stream": 7, "registers per thread": 32, "grid": [96, 1, 1], "block": [256, 1, 1]'


def write(path: Path, size: int) -> int:
    """Of `size` bytes or a step more; how many events it has."""
    moment, count, written = 1_000_000.0, 0, 0
    with path.open("w", encoding="utf-8") as file:
        written += file.write('{\n  "schemaVersion": 1,\n  "deviceProperties": [{"id": 0}],\n  "traceEvents": [\n')
        while written < size:
            events = list(_step(moment, count))
            count += len(events)
            moment += 1600
            written += file.write(",\n".join(events) + ",\n")
        file.write(_event("cpu_op", "aten::end", moment, 1, "") + '\n  ],\n  "traceName": "made.json"\n}\n')
    return count + 1


def _step(begin: float, count: int) -> list[str]:
    made = [_event("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", begin, 300, "")]
    moment = begin + 310
    for place in range(60):
        number = f'"External id": {count + place}, "correlation": {count + place}'
        made.append(_event("cpu_op", _OPERATORS[place % 5], moment, 18, f"{number}, {_SHAPES}"))
        made.append(_event("cuda_runtime", "cudaLaunchKernel", moment + 8, 6, number))
        made.append(_event("kernel", _KERNELS[place % 2], moment + 14, 9, f"{number}, {_GRID}"))
        moment += 20
    made.append(_event("cpu_op", "aten::_local_scalar_dense", moment, 60, ""))
    made.append(_event("cuda_runtime", "cudaStreamSynchronize", moment + 5, 50, ""))
    return made


def _event(category: str, name: str, begin: float, length: float, args: str) -> str:  # noqa: PLR0917 -- as a row of the file
    pid, tid = (0, 7) if category == "kernel" else (77, 77)
    head = f'"ph": "X", "cat": "{category}", "name": {json.dumps(name)}, "pid": {pid}, "tid": {tid}'
    return f'  {{\n    {head},\n    "ts": {begin:.3f}, "dur": {length:.3f},\n    "args": {{\n      {args}\n    }}\n  }}'
