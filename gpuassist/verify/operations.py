# ruff: noqa: UP006, UP035
"""The tensor operations that verify a device, each with the bound that rounding sets to its error; `child.py` runs them.

Tolerances are derived, not tuned. `u` is the unit roundoff of a format. A sum of k products that is rounded at every step differs
from the exact one by at most k*u*sum|a||b|; with unbiased rounding the errors cancel, and it exceeds 8*sqrt(k)*u*sum|a||b| with
probability below 2k*exp(-32) (Higham and Mary 2019, A new approach to probabilistic rounding error analysis). sum|a||b| is at most
the product of the two Euclidean norms. Inputs are rounded to the format first: the fp64 reference has the very same inputs.
This file runs in the user's interpreter, imports nothing of gpuassist, and uses no syntax newer than Python 3.8.
"""

from __future__ import annotations

import gc
import math
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator, NamedTuple, Optional, Tuple

SEED = 20261121
U_FP64, U_FP32, U_FP16, U_BF16 = 2.0**-53, 2.0**-24, 2.0**-11, 2.0**-8
# Tensor cores cut instead of rounding: an error of a whole last place, and one that does not cancel.
U_TENSOR_CORE, U_TF32_INPUT = 2.0**-23, 2.0**-10
CANCELLING = 8.0
BLOCK_BYTES = 256 << 20
DTYPES = {"fp64": "float64", "fp32": "float32", "tf32": "float32", "fp16": "float16", "bf16": "bfloat16"}


class Bench(NamedTuple):
    """What a check works with: torch, the device, and how large and how often."""

    torch: Any
    device: Any
    size: int
    repeats: int

    @property
    def on_gpu(self) -> bool:
        return str(self.device) != "cpu"


class Measured(NamedTuple):
    """How far a result is from its reference, how far it may be, and how fast it came."""

    error: float
    tolerance: float
    rate: Optional[float] = None
    unit: str = ""


Check = Tuple[str, str, Callable[[Bench, str], Measured]]


class Skipped(Exception):  # noqa: N818 -- not an error: this device cannot be asked that
    """Why a check does not apply to a device."""


def checks_of(level: str) -> Tuple[Check, ...]:
    """Name, number format and function of every check, in the order they run."""
    return QUICK + FULL if level == "full" else QUICK


def synchronize(bench: Bench) -> None:
    if bench.on_gpu:
        bench.torch.cuda.synchronize(bench.device)


def _uniform(bench: Bench, *shape: int) -> Any:
    generator = bench.torch.Generator().manual_seed(SEED + sum(shape))
    return bench.torch.rand(*shape, generator=generator) * 2 - 1


def _distance(result: Any, reference: Any) -> float:
    return float((result.cpu().double() - reference).abs().max())


def _timed(bench: Bench, action: Callable[[], Any]) -> Tuple[Any, float]:
    """What `action` gives, and how long it takes once everything that it loads the first time is loaded."""
    result = action()
    synchronize(bench)
    began = time.perf_counter()
    for _ in range(bench.repeats):
        result = action()
    synchronize(bench)
    return result, max((time.perf_counter() - began) / bench.repeats, 1e-9)


@contextmanager
def _precision(torch: Any, *, tf32: bool) -> Iterator[None]:
    """Sets how torch may shorten products for the time of a check, and puts back what was set."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    wanted = [(matmul, "allow_tf32", tf32), (cudnn, "allow_tf32", tf32)]
    reduced = ("allow_fp16_reduced_precision_reduction", "allow_bf16_reduced_precision_reduction")
    wanted += [(matmul, name, False) for name in reduced if hasattr(matmul, name)]
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in wanted]
    try:
        for owner, name, value in wanted:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def matmul(bench: Bench, kind: str) -> Measured:
    """A product whose inner side is half its outer ones; of a large one the first 64 rows are compared."""
    _require(bench, kind)
    torch, n, k = bench.torch, bench.size, bench.size // 2
    left, right = (_uniform(bench, *shape).to(getattr(torch, DTYPES[kind])) for shape in ((n, k), (k, n)))
    rows = min(n, 64) if bench.on_gpu else n
    reference = left[:rows].double() @ right.double()
    norms = float(left.double().norm(dim=1).max() * right.double().norm(dim=0).max())
    a, b = left.to(bench.device), right.to(bench.device)
    with _precision(torch, tf32=kind == "tf32"):
        result, seconds = _timed(bench, lambda: a @ b)
        error = _distance(result[:rows], reference)
    return Measured(error, _matmul_bound(kind, k, norms, float(reference.abs().max())), _tera(2.0 * n * n * k, seconds), "TFLOP/s")


def _matmul_bound(kind: str, k: int, norms: float, peak: float) -> float:
    if kind == "fp32":  # so small that TF32, were it not switched off, breaks it up to k = 2,048
        return CANCELLING * math.sqrt(k) * U_FP32 * norms
    if kind == "fp64":  # the reference is rounded as much as the result
        return 2 * CANCELLING * math.sqrt(k) * U_FP64 * norms
    summed = k * U_TENSOR_CORE * norms
    if kind == "tf32":  # both inputs are cut to 10 bits of fraction
        return 2 * U_TF32_INPUT * norms + summed
    return summed + {"fp16": U_FP16, "bf16": U_BF16}[kind] * (peak + summed)  # summed in fp32, then rounded once


def _require(bench: Bench, kind: str) -> None:
    if kind not in ("bf16", "tf32") or getattr(bench.torch.version, "hip", None):
        return
    if not bench.on_gpu and kind == "tf32":
        raise Skipped("TF32 is a format of GPUs")
    if bench.on_gpu and bench.torch.cuda.get_device_capability(bench.device)[0] < 8:
        raise Skipped(f"a GPU of compute capability below 8.0 has no {kind} arithmetic")


def _tera(operations: float, seconds: float) -> float:
    return operations / seconds / 1e12


def elementwise(bench: Bench, _kind: str) -> Measured:
    """exp(-x*x) + sin(x). exp and sin are within 2 ulp = 4u, the rounded square adds at most u/e, the sum 2u: below 16u."""
    x = _uniform(bench, bench.size * 256) * 4
    on_device = x.to(bench.device)
    reference = (-x.double() * x.double()).exp() + x.double().sin()
    return Measured(_distance((-on_device * on_device).exp() + on_device.sin(), reference), 16 * U_FP32)


def reduction(bench: Bench, _kind: str) -> Measured:
    """Sums of small integers: below 2**24 every partial sum is exact in fp32, in whatever order, so no error is allowed."""
    generator = bench.torch.Generator().manual_seed(SEED)
    values = bench.torch.randint(-7, 8, (256, bench.size * 4), generator=generator)
    on_device = values.to(bench.device).float()
    along = _distance(on_device.sum(dim=1), values.sum(dim=1).double())
    return Measured(max(along, _distance(on_device.sum(dim=0), values.sum(dim=0).double())), 0.0)


def convolution(bench: Bench, _kind: str) -> Measured:
    """Stride 2, because Winograd and FFT algorithms, which round otherwise, only do stride 1 (cuDNN's list of algorithms)."""
    torch, channels, side = bench.torch, 16, min(bench.size // 4, 256)
    images, filters = _uniform(bench, 4, channels, side, side), _uniform(bench, 32, channels, 3, 3)
    convolve = torch.nn.functional.conv2d
    reference = convolve(images.double(), filters.double(), stride=2, padding=1)
    x, w = images.to(bench.device), filters.to(bench.device)
    with _precision(torch, tf32=False):
        result, seconds = _timed(bench, lambda: convolve(x, w, stride=2, padding=1))
    error = _distance(result, reference)
    k = channels * 9
    norms = math.sqrt(k) * float(filters.double().flatten(1).norm(dim=1).max())  # every |x| is at most 1
    return Measured(error, CANCELLING * math.sqrt(k) * U_FP32 * norms, _tera(2.0 * reference.numel() * k, seconds), "TFLOP/s")


def backward(bench: Bench, _kind: str) -> Measured:
    """The gradient of |xw|^2/2 by w is x'(xw): an error d in every element of z = xw counts |column of x|*sqrt(n)*d in it."""
    torch, n = bench.torch, min(bench.size, 1024)
    x, w = _uniform(bench, n, n // 2), _uniform(bench, n // 2, n // 4)
    on_device = x.to(bench.device)
    weights = w.to(bench.device, copy=True).requires_grad_()
    with _precision(torch, tf32=False):
        ((on_device @ weights) ** 2).sum().div(2).backward()
    z = x.double() @ w.double()
    inner = CANCELLING * math.sqrt(n // 2) * U_FP32 * float(x.double().norm(dim=1).max() * w.double().norm(dim=0).max())
    columns, outer = float(x.double().norm(dim=0).max()), float(z.norm(dim=0).max())
    # 2u more for the square's own gradient and the division
    tolerance = columns * (math.sqrt(n) * inner + (CANCELLING * math.sqrt(n) + 2) * U_FP32 * outer)
    return Measured(_distance(weights.grad, x.double().t() @ z), tolerance)


def _noise(bench: Bench) -> Any:
    count = bench.size * bench.size // (1 if bench.on_gpu else 4)
    generator = bench.torch.Generator().manual_seed(SEED)
    return bench.torch.randint(-(2**62), 2**62, (count,), generator=generator)


def _checksum(torch: Any, values: Any) -> int:
    # Weighted by place, so that exchanged values show too; int64 wraps alike everywhere.
    return int((values * torch.arange(1, values.numel() + 1, device=values.device)).sum())


def copy_to_device(bench: Bench, _kind: str) -> Measured:
    """The device's own checksum of what it received."""
    values = _noise(bench)
    there, seconds = _timed(bench, lambda: values.to(bench.device, copy=True))
    differs = _checksum(bench.torch, there) != _checksum(bench.torch, values)
    return Measured(float(differs), 0.0, values.numel() * 8 / seconds / 1e9, "GB/s")


def copy_from_device(bench: Bench, _kind: str) -> Measured:
    """There and back, compared value by value."""
    values = _noise(bench)
    there = values.to(bench.device, copy=True)
    back, seconds = _timed(bench, lambda: there.to("cpu", copy=True))
    differing = int((back != values).sum())
    return Measured(float(differing), 0.0, values.numel() * 8 / seconds / 1e9, "GB/s")


def memory_returned(bench: Bench, _kind: str) -> Measured:
    """Bytes still allocated after work of which nothing is kept; the first round makes the libraries' own workspaces."""
    if not bench.on_gpu:
        raise Skipped("torch counts what it allocates on GPUs only")
    allocated = [_allocated_after_work(bench) for _ in range(2)]
    return Measured(float(abs(allocated[1] - allocated[0])), 0.0)


def _allocated_after_work(bench: Bench) -> int:
    square = bench.torch.ones(bench.size, bench.size, device=bench.device)
    (square @ square).sum().item()
    del square
    gc.collect()
    bench.torch.cuda.empty_cache()
    return int(bench.torch.cuda.memory_allocated(bench.device))


def fft(bench: Bench, _kind: str) -> Measured:
    """Each of log2(n) stages adds less than 8u relative to the Euclidean norm (Higham, Accuracy and Stability, section 24.1)."""
    torch, n = bench.torch, 4096
    values = torch.complex(_uniform(bench, 64, n), _uniform(bench, 65, n)[1:])
    reference = torch.fft.fft(values.to(torch.complex128))
    result = torch.fft.fft(values.to(bench.device)).cpu().to(torch.complex128)
    return Measured(float((result - reference).abs().max()), math.log2(n) * 8 * U_FP32 * float(reference.norm(dim=1).max()))


def solve(bench: Bench, _kind: str) -> Measured:
    """A diagonally dominant system with a known integer solution. Its condition is at most 5/3, and the backward error of Gaussian
    elimination at most 3nu(2n-1) (Higham, Accuracy and Stability, theorems 9.4 and 9.9)."""
    torch, n = bench.torch, min(bench.size, 512)
    generator = torch.Generator().manual_seed(SEED)
    matrix = torch.randint(-1, 2, (n, n), generator=generator).double() + 4 * n * torch.eye(n, dtype=torch.float64)
    solution = torch.randint(-9, 10, (n, 4), generator=generator).double()
    result = torch.linalg.solve(matrix.to(bench.device), (matrix @ solution).to(bench.device))
    return Measured(_distance(result, solution), 5 / 3 * 3 * n * U_FP64 * (2 * n - 1) * float(solution.abs().max()))


def memory_pattern(bench: Bench, _kind: str) -> Measured:
    """Fills most of the free memory with two patterns, each bit once set and once not, and counts what reads back otherwise."""
    if not bench.on_gpu:
        raise Skipped("it is made for the memory of GPUs")
    torch = bench.torch
    free = torch.cuda.mem_get_info(bench.device)[0]
    values = torch.arange(BLOCK_BYTES // 8, device=bench.device) * 0x5851F42D4C957F2D
    blocks = [torch.empty_like(values) for _ in range(max(1, int(free * 0.8) // BLOCK_BYTES - 3))]
    wrong = 0
    began = time.perf_counter()
    for pattern in (values, ~values):
        for block in blocks:
            block.copy_(pattern)
        wrong += sum(int((block != pattern).sum()) for block in blocks)
    seconds = time.perf_counter() - began
    return Measured(float(wrong), 0.0, 4 * len(blocks) * BLOCK_BYTES / seconds / 1e9, "GB/s")


QUICK = (
    ("matmul", "fp32", matmul),
    ("matmul", "fp16", matmul),
    ("matmul", "bf16", matmul),
    ("elementwise", "fp32", elementwise),
    ("reduction", "fp32", reduction),
    ("convolution", "fp32", convolution),
    ("backward", "fp32", backward),
    ("copy-to-device", "int64", copy_to_device),
    ("copy-from-device", "int64", copy_from_device),
    ("memory-returned", "fp32", memory_returned),
)
FULL = (
    ("matmul", "tf32", matmul),
    ("matmul", "fp64", matmul),
    ("fft", "complex64", fft),
    ("solve", "fp64", solve),
    ("memory-pattern", "int64", memory_pattern),
)
