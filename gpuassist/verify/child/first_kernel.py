"""Whether a device runs anything at all: what it says here, everything else would only repeat."""

from __future__ import annotations

from .bench import Bench, Check, Measured, same

NAME = "first-kernel"
_COUNT = 1 << 16


def first_kernel(bench: Bench, _kind: str) -> Measured:
    """The context is made, memory is taken, a kernel of torch's own runs, and every value comes back: whole numbers, exact."""
    counted = bench.torch.arange(_COUNT, device=bench.device)
    result = (counted * 3 + 1).cpu()
    bench.synchronize()
    return Measured(0.0, 0.0, compared=same(bench, result, bench.torch.arange(_COUNT) * 3 + 1))


CHECKS = (Check(NAME, "int64", first_kernel),)
