"""Fourier transforms (cuFFT) of real numbers, against fp64.

A transform whose length is a product of small primes passes a stage for each. A stage multiplies by roots of unity and sums p
numbers: relative to the Euclidean norm it adds less than 8u for p = 2 (Higham, Accuracy and Stability, section 24.1). For p numbers
each part of a sum is one of 2p products, so that the difference is at most sqrt(2)(p + 2)u|F||x|, with one u more for the roots
themselves, and the norm of |F| is sqrt(p) times that of F: sqrt(2p)(p + 3)u. Stages of 4, 8 or 16 at once round less often.
"""

from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple, Tuple

from .bench import FULL, U_FP32, U_FP64, Bench, Check, Measured, distance, repeated
from .exact import worst

STAGE_OF_2 = 8.0
# Powers of 2, 3 and 5, and each of the first five primes once. Primes over 127, of which cuFFT makes a convolution, have no check.
OTHER_LENGTHS = (1000, 2310, 3888)


def stages(length: int) -> float:
    """How far a transform may be from the exact one, in u times the Euclidean norm of the result."""
    total, prime = 0.0, 2
    while length > 1:
        while length % prime == 0:
            total += STAGE_OF_2 if prime == 2 else math.sqrt(2 * prime) * (prime + 3)
            length //= prime
        prime += 1
    return total


def _unit(kind: str) -> float:
    return 2 * U_FP64 if kind in ("complex128", "fp64") else U_FP32  # fp64 is rounded as much on either side


def _signal(bench: Bench, kind: str, *shape: int) -> Any:
    if not kind.startswith("complex"):
        return bench.uniform(*shape).to(bench.dtype(kind))
    real, imaginary = bench.uniform(2, *shape)
    return bench.torch.complex(real, imaginary).to(bench.dtype(kind))


def _wide(bench: Bench, values: Any) -> Any:
    return values.to(bench.torch.complex128 if values.is_complex() else bench.torch.float64)


class Compared(NamedTuple):
    """How far a transform is from fp64's, how far it may be, how many elements were looked at, and how long it took."""

    error: float
    bound: float
    elements: int
    seconds: float


def _compared(bench: Bench, kind: str, transform: Callable[[Any], Any], *shape: int) -> Compared:
    """Transforms all sides but the first. Each run must give the very same: a transform adds in one order."""
    values = _signal(bench, kind, *shape)
    there, reference, length = bench.to_device(values), transform(_wide(bench, values)), values[0].numel()
    runs = repeated(bench, lambda: transform(there))
    # Of what is transformed together no element is farther off than the norm of all differences.
    norm = math.sqrt(length) * float(_wide(bench, values).flatten(1).norm(dim=1).max())
    bound = stages(length) * _unit(kind) * norm
    return Compared(distance(bench, runs.first, reference), bound, runs.compared + reference.numel(), runs.seconds)


def fft(bench: Bench, kind: str) -> Measured:
    """Many transforms of a power of two, and their rate by the usual count of 5 n log2(n) operations."""
    batch, n = 32, 4096
    found = _compared(bench, kind, bench.torch.fft.fft, batch, n)
    return Measured(found.error, found.bound, 5e-9 * batch * n * math.log2(n) / found.seconds, "GFLOP/s", found.elements)


def other_lengths(bench: Bench, kind: str) -> Measured:
    """Lengths that are no power of two."""
    found = [_compared(bench, kind, bench.torch.fft.fft, 16, n) for n in OTHER_LENGTHS]
    return worst([one[:2] for one in found], sum(one.elements for one in found))


def two_sides(bench: Bench, kind: str) -> Measured:
    """Of images: both sides are transformed."""
    found = _compared(bench, kind, bench.torch.fft.fft2, 4, 128, 96)
    return Measured(found.error, found.bound, compared=found.elements)


def real(bench: Bench, kind: str) -> Measured:
    """Of real numbers to half a spectrum, and back: what went in must come out."""
    torch, shape = bench.torch, (32, 4096)
    forth = _compared(bench, kind, torch.fft.rfft, *shape)
    error, bound, count = _there_and_back(bench, kind, lambda there: torch.fft.irfft(torch.fft.rfft(there), n=shape[1]), *shape)
    return worst([forth[:2], (error, bound)], forth.elements + count)


def inverse(bench: Bench, kind: str) -> Measured:
    """Forth and back: what went in must come out, also of a length that is no power of two."""
    fourier = bench.torch.fft
    found = [_there_and_back(bench, kind, lambda there: fourier.ifft(fourier.fft(there)), 32, n) for n in (4096, 1000)]
    return worst([one[:2] for one in found], sum(one[2] for one in found))


def _there_and_back(bench: Bench, kind: str, action: Callable[[Any], Any], *shape: int) -> Tuple[float, float, int]:
    """The error, its bound and how many elements were looked at: forth and back each add what they add to the values' norm, which
    they keep but for a factor.
    """
    values = _signal(bench, kind, *shape)
    there = bench.to_device(values)
    runs = repeated(bench, lambda: action(there))
    bound = 2 * stages(shape[1]) * _unit(kind) * float(_wide(bench, values).norm(dim=1).max())
    return distance(bench, runs.first, values), bound, runs.compared + values.numel()


CHECKS = (
    Check("fft", "complex64", fft),
    Check("fft", "complex128", fft, FULL),
    Check("fft-real", "fp32", real, FULL),
    Check("fft-inverse", "complex64", inverse, FULL),
    Check("fft-2d", "complex64", two_sides, FULL),
    Check("fft-other-lengths", "complex64", other_lengths, FULL),
    Check("fft-real", "fp64", real, FULL),
    Check("fft-2d", "complex128", two_sides, FULL),
)
