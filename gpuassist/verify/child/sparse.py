"""Sparse matrices times dense ones (cuSPARSE): whole numbers, exact in whatever order, and real ones against fp64."""

from __future__ import annotations

from typing import Any, Callable, Tuple

from .bench import FULL, U_FP32, U_FP64, Bench, Check, Measured, Skipped, distance, precision, repeated, sum_bound
from .exact import greatest, numbers

DENSITY = 0.06


def _shape(bench: Bench) -> Tuple[int, int, int]:
    n = min(bench.size, 512)
    return n, n - n // 4, 48


def _kept(bench: Bench, rows: int, columns: int) -> Any:
    """Which elements are there: about one in sixteen, but all of the first row, and none of the second."""
    kept = bench.torch.rand(rows, columns, generator=bench.generator()) < DENSITY
    kept[0], kept[1] = True, False
    return kept


def _csr(bench: Bench, dense: Any, kept: Any) -> Any:
    torch = bench.torch
    starts = torch.zeros(dense.shape[0] + 1, dtype=torch.int64)
    starts[1:] = kept.sum(1).cumsum(0)
    parts = (bench.to_device(one) for one in (starts, kept.nonzero()[:, 1].contiguous(), dense[kept]))
    return torch.sparse_csr_tensor(*parts, size=tuple(dense.shape))


def _coo(bench: Bench, dense: Any, kept: Any) -> Any:
    places = bench.to_device(kept.nonzero().t().contiguous())
    return bench.torch.sparse_coo_tensor(places, bench.to_device(dense[kept]), tuple(dense.shape))


def times_dense(made: Callable[[Bench, Any, Any], Any]) -> Callable[[Bench, str], Measured]:
    """A check of that layout: times a matrix and a vector of whole numbers, each repetition exact; then times real numbers."""

    def run(bench: Bench, kind: str) -> Measured:
        torch, dtype = bench.torch, bench.dtype(kind)
        if not bench.on_gpu and made is _csr and not torch.backends.mkl.is_available():
            raise Skipped("this torch has no compressed sparse matrices on a CPU: it was built without MKL")
        rows, columns, width = _shape(bench)
        kept = _kept(bench, rows, columns)
        most = greatest(kind, columns)
        dense, right = numbers(bench, kind, most, rows, columns), numbers(bench, kind, most, columns, width, salt=1)
        expected = (dense * kept) @ right
        with precision(torch, tf32=False):
            matrix, there = made(bench, dense.to(dtype), kept), bench.to_device(right.to(dtype))
            runs = repeated(bench, lambda: matrix @ there, bench.to_device(expected.to(dtype)))
            vector = there[:, 5].contiguous()
            by_vector = repeated(bench, lambda: matrix @ vector, bench.to_device(expected[:, 5].to(dtype)))
            error, bound, count = _real_numbers(bench, kind, kept, made)
        return Measured(error, bound, compared=runs.compared + by_vector.compared + count)

    return run


def _real_numbers(bench: Bench, kind: str, kept: Any, made: Callable[[Bench, Any, Any], Any]) -> Tuple[float, float, int]:
    dense, right = bench.uniform(*kept.shape).to(bench.dtype(kind)), bench.uniform(kept.shape[1], 48).to(bench.dtype(kind))
    reference = (dense.double() * kept) @ right.double()
    norms = float((dense.double() * kept).norm(dim=1).max() * right.double().norm(dim=0).max())
    result = made(bench, dense, kept) @ bench.to_device(right)
    unit = 2 * U_FP64 if kind == "fp64" else U_FP32  # fp64 is rounded as much on either side
    return distance(bench, result, reference), sum_bound(kept.shape[1], unit, norms), reference.numel()


CHECKS: Tuple[Check, ...] = (
    Check("sparse-csr", "fp32", times_dense(_csr)),
    Check("sparse-coo", "fp32", times_dense(_coo), FULL),
    Check("sparse-csr", "fp64", times_dense(_csr), FULL),
    Check("sparse-coo", "fp64", times_dense(_coo), FULL),
)
