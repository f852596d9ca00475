"""Whole numbers whose sums are exact in a format, and large tensors made of small ones, so that every element of a large result is
known without a large computation on the CPU.
"""

from __future__ import annotations

import math
from typing import Any, Iterable, Optional, Tuple

from .bench import Bench, Measured

# Up to where a format holds every whole number. Sums of fp8 products keep 13 bits of fraction on compute capability 8.9 and 9.0
# (pytorch.org/blog, "Some Matrix Multiplication Engines Are Not As Accurate As We Thought").
EXACT = {
    "fp64": 2**53,
    "fp32": 2**24,
    "tf32": 2**24,
    "fp16": 2**11,
    "bf16": 2**8,
    "complex64": 2**24,
    "complex128": 2**53,
    "int8": 2**31 - 1,
    "fp8": 2**13,
    "fp8-e5m2": 2**13,
}
# How great an input may be where that is less: all the bits of fraction that the format has.
INPUT = {"tf32": 2**11 - 1, "int8": 127, "fp8": 15, "fp8-e5m2": 7}


def greatest(kind: str, products: int) -> int:
    """The greatest whole number of which that many products have an exact sum, and exact partial sums in whatever order.

    At least 1: sums over more products than the format has numbers are still rounded once, from an exact one. A complex product is
    counted as four, so that Gauss's way with three is exact as well.
    """
    counted = 4 * products if kind.startswith("complex") else products
    return max(1, min(math.isqrt(EXACT[kind] // counted), INPUT.get(kind, 2**30)))


def numbers(bench: Bench, kind: str, most: int, *shape: int, salt: int = 0) -> Any:
    """Whole numbers from -most to most on the CPU, as fp64 or complex128."""
    torch, seed = bench.torch, sum(shape) + 1000 * salt
    real = torch.randint(-most, most + 1, shape, generator=bench.generator(seed)).double()
    if not kind.startswith("complex"):
        return real
    imaginary = torch.randint(-most, most + 1, shape, generator=bench.generator(seed + 500)).double()
    return torch.complex(real, imaginary)


def spread(bench: Bench, there: Any, side: int, count: int, *, salt: Optional[int] = None) -> Any:
    """`count` slices of a tensor on the device along one side: those that it has, each as often, shuffled, each with a sign of its
    own; alike for every tensor that has as many slices there, for the same side or the same `salt`.

    The order is sent each time anew: one that arrived wrong must not spoil a result and its reference alike.
    """
    torch, salt = bench.torch, side if salt is None else salt
    order = torch.randperm(count, generator=bench.generator(salt)) % there.shape[side]
    signs = torch.randint(0, 2, (count,), generator=bench.generator(salt + 100)) * 2 - 1
    shape = [1] * there.dim()
    shape[side] = count
    taken = torch.index_select(there, side, bench.to_device(order))
    return taken.mul_(bench.to_device(signs.reshape(shape).to(there.dtype)))


def worst(found: Iterable[Tuple[float, float]], compared: int = 0) -> Measured:
    """Of several distances with their bounds the one that is nearest to its bound, or farthest over it."""
    error, bound = max(found, key=lambda one: one[0] / one[1] if math.isfinite(one[0]) else math.inf)
    return Measured(error, bound, compared=compared)
