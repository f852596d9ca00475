"""Walks through what torch's allocator does, so that it can be watched: `gpuassist run --demo allocator`.

Allocate, delete, empty, fragment, run out of memory; each step says in a line what it did and what the figures are then. On a GPU
it takes a quarter of its free memory at most and 2 GiB at most, by a limit that torch sets for this process, so that nobody else's
program runs out; without one it takes half a GiB of the process's own memory.
"""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False  # as type checkers know it
if TYPE_CHECKING:
    from typing import Any

MIB = 1 << 20
GPU_LIMIT, CPU_LIMIT = 2048 * MIB, 512 * MIB
HALF_A_PETABYTE = 1 << 49


class DemoGpu:
    """Figures of torch's allocator."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        free, total = torch.cuda.mem_get_info()
        self.limit = min(free // 4, GPU_LIMIT)
        torch.cuda.set_per_process_memory_fraction(self.limit / total)
        self.name = torch.cuda.get_device_name()

    def block(self, size: int) -> Any:
        return self.torch.empty(size, dtype=self.torch.uint8, device="cuda")

    def empty(self) -> None:
        self.torch.cuda.empty_cache()

    def too_much(self) -> Any:
        return self.block(self.limit // 2)

    def figures(self) -> str:
        cuda = self.torch.cuda
        return f"allocated {cuda.memory_allocated() // MIB} MiB, reserved {cuda.memory_reserved() // MIB} MiB"


class DemoCpu:
    """The process's own memory: torch keeps none of it for later, so that deleting and emptying are one."""

    def __init__(self, torch: Any) -> None:
        self.torch, self.limit, self.name = torch, CPU_LIMIT, "the CPU"

    def block(self, size: int) -> Any:
        return self.torch.ones(size, dtype=self.torch.uint8)

    def empty(self) -> None:
        pass

    def too_much(self) -> Any:
        return self.torch.empty(HALF_A_PETABYTE, dtype=self.torch.uint8)

    def figures(self) -> str:
        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[1])
        return f"process memory {pages * 4096 // MIB} MiB"


def main(seconds: float) -> int:
    """Each step stands for so many seconds."""
    try:
        import torch
    except ImportError as error:
        print(f"{sys.executable} cannot import torch ({error}); name an environment that can with --python", file=sys.stderr)
        return 1
    where = DemoGpu(torch) if torch.cuda.is_available() else DemoCpu(torch)
    print(f"On {where.name}, with at most {where.limit // MIB} MiB. Watch it: gpuassist monitor", flush=True)
    for name, step in (
        ("allocate", allocate),
        ("delete", delete),
        ("empty", empty),
        ("fragment", fragment),
        ("out of memory", run_out),
    ):
        mark(name)
        said = step(where)
        print(f"{name:<14} {where.figures():<44} {said}", flush=True)
        time.sleep(seconds)
    kept.clear()
    return 0


kept: list[Any] = []


def allocate(where: DemoGpu | DemoCpu) -> str:
    kept.extend(where.block(where.limit // 8) for _ in range(4))
    return "four tensors, half of the limit"


def delete(where: DemoGpu | DemoCpu) -> str:
    kept.clear()
    return (
        "deleted: torch keeps what it reserved, for the next ones" if isinstance(where, DemoGpu) else "deleted: given back at once"
    )


def empty(where: DemoGpu | DemoCpu) -> str:
    where.empty()
    return (
        "torch.cuda.empty_cache(): given back to the driver"
        if isinstance(where, DemoGpu)
        else "nothing is kept that could be emptied"
    )


def fragment(where: DemoGpu | DemoCpu) -> str:
    large = where.block(where.limit // 4 * 3)
    del large  # what torch keeps of it is cut into pieces by what comes next
    pieces = [where.block(where.limit // 64) for _ in range(48)]
    kept.extend(pieces[::2])
    return "every second of 48 tensors deleted: holes, of which none fits a large one"


def run_out(where: DemoGpu | DemoCpu) -> str:
    try:
        kept.append(where.too_much())
    except RuntimeError as error:
        return str(error).splitlines()[0]
    return "nothing failed"


def mark(words: str) -> None:
    told = sys.modules.get("gpuassist_memory")
    if told is not None:
        told.mark(words)


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 4.0))
