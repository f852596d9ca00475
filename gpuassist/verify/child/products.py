"""Matrix products: of real numbers against fp64, and large ones of whole numbers, exact and timed."""

from __future__ import annotations

import math
from typing import Any, Callable, List, NamedTuple, Tuple

from .bench import (
    FULL,
    U_BF16,
    U_FP16,
    U_FP32,
    U_FP64,
    U_TENSOR_CORE,
    U_TF32_INPUT,
    Bench,
    Check,
    Measured,
    Skipped,
    distance,
    implemented,
    precision,
    release,
    repeated,
    require,
    sum_bound,
    tera,
)
from .exact import greatest, numbers, spread

LARGE_K = 1024
# Of what numbers are drawn and turned, the left and the right matrix (one of them alone may be e5m2, the right one has to lie by
# columns), and the result. torch does not multiply fp8 by signs.
EIGHT_BITS = {
    "int8": ("int8", "int8", "int8", "int32"),
    "fp8": ("fp32", "fp8", "fp8", "fp32"),
    "fp8-e5m2": ("fp32", "fp8-e5m2", "fp8", "fp32"),
}
# As many products of fp8 numbers with all their bits as their sums hold.
FP8_K = 32


def matmul(bench: Bench, kind: str) -> Measured:
    """All bits of the multipliers: real numbers of modest size, each element against fp64. Then speed: a large product of whole
    numbers whose partial sums are exact, repeated, each element the expected one.

    fp32 is at the same time the proof that TF32 is off: its bound is so small that TF32 breaks it.
    """
    require(bench, kind)
    torch, n, k = bench.torch, min(bench.size, 512), min(bench.size, 512) // 2
    left, right = (_real(bench, kind, *shape) for shape in ((n, k), (k, n)))
    wide = torch.complex128 if left.is_complex() else torch.float64
    reference = left.to(wide) @ right.to(wide)
    norms = float(left.to(wide).norm(dim=1).max() * right.to(wide).norm(dim=0).max())
    bound = product_bound(kind, k, norms, float(reference.abs().max()))
    with precision(torch, tf32=kind == "tf32"):
        a, b = bench.to_device(left), bench.to_device(right)
        result = implemented(bench, kind, lambda: a @ b)
        error = distance(bench, result, reference)
        rate, compared = _large(bench, kind, LARGE_K, lambda left, right: left @ right)
    return Measured(error, bound, rate, "TFLOP/s", reference.numel() + compared)


def _real(bench: Bench, kind: str, *shape: int) -> Any:
    if not kind.startswith("complex"):
        return bench.uniform(*shape).to(bench.dtype(kind))
    real, imaginary = bench.uniform(2, *shape)
    return bench.torch.complex(real, imaginary).to(bench.dtype(kind))


class Exact(NamedTuple):
    """A product whose result is known bit by bit, on the device, and how many operations it takes."""

    multiply: Callable[[], Any]
    expected: Any
    operations: float


def _large(bench: Bench, kind: str, most_k: int, product: Callable[[Any, Any], Any]) -> Tuple[float, int]:
    """The rate, and how many elements were compared."""
    large = exact(bench, kind, most_k, product)
    runs = repeated(bench, large.multiply, large.expected)
    return tera(large.operations, runs.seconds), runs.compared


def exact(bench: Bench, kind: str, most_k: int, product: Callable[[Any, Any], Any]) -> Exact:
    """A large product of whole numbers.

    k is 1,024: of bf16, where not even ones have exact sums, their standard deviation is 21, and bf16 holds whole numbers up to
    256, twelve times that. 64 rows and 512 columns are multiplied on the CPU; all others are these in another order, with other
    signs.
    """
    torch = bench.torch
    n, k = _whole_tiles(bench.size), _whole_tiles(min(bench.size, most_k))
    most = greatest(kind, k)
    rows, columns = numbers(bench, kind, most, min(n, 64), k), numbers(bench, kind, most, k, min(n, 512), salt=1)
    drawn, first, second, made = (bench.dtype(one) for one in EIGHT_BITS.get(kind, (kind,) * 4))
    a = spread(bench, bench.to_device(rows.to(drawn)), 0, n).to(first)
    b = spread(bench, bench.to_device(columns.to(drawn)), 1, n)
    b = (b.t().contiguous().t() if kind in EIGHT_BITS else b).to(second)
    known = bench.to_device((rows @ columns).to(made))
    expected = spread(bench, spread(bench, known, 0, n), 1, n)
    bench.tick()
    return Exact(lambda: product(a, b), expected, (8.0 if torch.is_complex(known) else 2.0) * n * n * k)


def _whole_tiles(side: int) -> int:
    """As int8 and fp8 need it: a multiple of 32."""
    return max(32, side // 32 * 32)


def product_bound(kind: str, k: int, norms: float, peak: float) -> float:
    """How far a product over k may be from fp64's, for the greatest norms and the greatest element of the result."""
    if kind == "fp32":  # so small that TF32, were it not switched off, breaks it up to k = 2,048
        return sum_bound(k, U_FP32, norms)
    if kind == "fp64":  # the reference is rounded as much as the result
        return 2 * sum_bound(k, U_FP64, norms)
    if kind.startswith("complex"):  # each part is a sum of 2k real products, and |ab| is at least the sum of theirs
        unit = U_FP32 if kind == "complex64" else 2 * U_FP64
        return math.sqrt(2) * sum_bound(2 * k, unit, norms)
    summed = k * U_TENSOR_CORE * norms
    if kind == "tf32":  # both inputs are cut to 10 bits of fraction
        return 2 * U_TF32_INPUT * norms + summed
    return summed + {"fp16": U_FP16, "bf16": U_BF16}[kind] * (peak + summed)  # summed in fp32, then rounded once


def int8_matmul(bench: Bench, kind: str) -> Measured:
    """Sums of int8 products in int32: no error is possible."""
    torch = bench.torch
    if not hasattr(torch, "_int_mm"):
        raise Skipped("torch {} has no int8 products".format(torch.__version__))
    if bench.on_gpu and bench.capability() < (7, 5):
        raise Skipped("a GPU of compute capability below 7.5 has no int8 tensor cores")
    rate, compared = _large(bench, kind, LARGE_K, torch._int_mm)
    return Measured(0.0, 0.0, rate, "TOP/s", compared)


def fp8_matmul(bench: Bench, kind: str) -> Measured:
    """A product over 32 of numbers with all bits that fp8 has, and a large one; both exact."""
    _require_fp8(bench)
    one = bench.to_device(bench.torch.ones(()))

    def product(left: Any, right: Any) -> Any:
        # By name the scales are taken by every release: 2.1 to 2.4 have them as options, later ones demand them.
        made = bench.torch._scaled_mm(left, right, scale_a=one, scale_b=one, out_dtype=bench.torch.float32)
        return made[0] if isinstance(made, tuple) else made  # 2.1 to 2.4 give the greatest element as well

    _, all_bits = _large(bench, kind, FP8_K, product)
    rate, compared = _large(bench, kind, LARGE_K, product)
    return Measured(0.0, 0.0, rate, "TFLOP/s", all_bits + compared)


def _require_fp8(bench: Bench) -> None:
    """Compute capability 8.9 came to torch with 2.3 (pytorch pull request 118881), to cuBLAS with CUDA 12.1 update 1."""
    torch = bench.torch
    if not hasattr(torch, "float8_e4m3fn") or not hasattr(torch, "_scaled_mm") or getattr(torch.version, "hip", None):
        raise Skipped("torch {} has no products of these fp8 formats".format(torch.__version__))
    if not bench.on_gpu:
        return
    if bench.capability() < (8, 9):
        raise Skipped("a GPU of compute capability below 8.9 has no fp8 arithmetic")
    built_for = tuple(int(part) for part in (torch.version.cuda or "0.0").split(".")[:2])
    if bench.capability() < (9, 0) and (release(torch) < (2, 3) or built_for < (12, 1)):
        raise Skipped("fp8 products on compute capability 8.9 need torch 2.3 and CUDA 12.1 or later")


def batched_matmul(bench: Bench, kind: str) -> Measured:
    """Many small products of whole numbers in one call, in every layout that needs no copy; each element of each is exact."""
    require(bench, kind)
    torch, dtype, batch, n, k, m = bench.torch, bench.dtype(kind), 17, 96, 64, 80
    most = greatest(kind, 2 * k)  # half of what is exact is left for what baddbmm adds
    left, right = numbers(bench, kind, most, batch, n, k), numbers(bench, kind, most, batch, k, m, salt=1)
    added = numbers(bench, kind, min(most, 100), batch, n, m, salt=2)
    known = left @ right
    expected, summed = bench.to_device(known.to(dtype)), bench.to_device((2 * added - known).to(dtype))
    shared = bench.to_device((left @ right[0]).to(dtype))
    a, b, c = (bench.to_device(one.to(dtype)) for one in (left, right, added))
    transposed = [bench.to_device(one.to(dtype).transpose(1, 2).contiguous()).transpose(1, 2) for one in (left, right)]
    wide = bench.to_device(left.to(dtype).repeat_interleave(2, dim=2))
    forms: List[Tuple[Callable[[], Any], Any]] = [
        (lambda: torch.bmm(a, b), expected),
        (lambda: torch.bmm(transposed[0], b), expected),
        (lambda: torch.bmm(a, transposed[1]), expected),
        (lambda: torch.bmm(transposed[0], transposed[1]), expected),
        (lambda: torch.bmm(wide[:, :, ::2], b), expected),
        (lambda: torch.bmm(wide[:, :, 1::2], b), expected),
        (lambda: torch.baddbmm(c, a, b, beta=2, alpha=-1), summed),
        (lambda: torch.matmul(a, b[0]), shared),
    ]
    with precision(torch, tf32=kind == "tf32"):
        runs = implemented(bench, kind, lambda: [repeated(bench, action, wanted) for action, wanted in forms])
    compared = sum(one.compared for one in runs)
    return Measured(0.0, 0.0, compared=compared)


CHECKS = (
    Check("matmul", "fp32", matmul),
    Check("matmul", "fp16", matmul),
    Check("matmul", "bf16", matmul),
    Check("matmul", "tf32", matmul, FULL, on_cpu=False),
    Check("matmul", "fp64", matmul, FULL),
    Check("matmul", "fp8", fp8_matmul, FULL, on_cpu=False),
    Check("matmul", "fp8-e5m2", fp8_matmul, FULL, on_cpu=False),
    Check("matmul", "int8", int8_matmul, FULL, on_cpu=False),
    Check("batched-matmul", "fp32", batched_matmul, FULL),
    Check("batched-matmul", "fp16", batched_matmul, FULL),
    Check("batched-matmul", "bf16", batched_matmul, FULL),
    Check("batched-matmul", "tf32", batched_matmul, FULL, on_cpu=False),
    Check("batched-matmul", "fp64", batched_matmul, FULL),
    Check("matmul", "complex64", matmul, FULL),
    Check("matmul", "complex128", matmul, FULL),
    Check("batched-matmul", "complex64", batched_matmul, FULL),
)
