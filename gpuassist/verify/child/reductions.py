"""What looks at many elements for each of its results: sums, greatest elements, running sums, sorting. Whole numbers, so that each
result is exact in whatever order a device goes through them.
"""

from __future__ import annotations

from typing import Any

from .bench import FULL, Bench, Check, Measured, require
from .running_error import HALVES, Arithmetic, Comparison

# Up to here every whole number is one of the format's.
WHOLE = {"fp32": 1 << 24, "fp16": 1 << 11, "bf16": 1 << 8, "fp64": 1 << 53, "int64": 1 << 62, "int32": 1 << 30}


def reductions(bench: Bench, kind: str) -> Measured:
    """Sums, means, products, greatest and least elements and their places, along either side and over all."""
    require(bench, kind)
    torch, found, dtype = bench.torch, Comparison(bench), bench.dtype(kind)
    rows, columns = (256, min(bench.size * 4, 8192)) if bench.level == FULL else (128, 512)
    values = bench.whole(-7, 7, rows, columns)
    there = bench.to_device(values.to(dtype))
    # Summed in fp32, in which every partial sum is exact, and rounded once.
    found.exact("sum of rows", there.sum(dim=1), values.sum(dim=1).double().to(dtype))
    found.exact("sum of columns", there.sum(dim=0), values.sum(dim=0).double().to(dtype))
    found.exact("sum", there.sum(), values.sum().double().to(dtype))
    found.exact("mean", there[:, :256].mean(dim=1), (values[:, :256].sum(dim=1).double() / 256).to(dtype))  # 256 is a power of two
    most = there == 7
    found.exact("eq", most, values == 7)
    found.exact("any", most[:64].any(dim=0), (values == 7)[:64].any(dim=0))
    found.exact("count", most.sum(dim=1), (values == 7).sum(dim=1))
    if kind not in HALVES:  # torch 1 has no product of these on a CPU
        signs = (values % 2 * 2 - 1).to(dtype)
        found.exact("product", bench.to_device(signs).prod(dim=1), signs.double().prod(dim=1).to(dtype))
    _greatest(bench, kind, found, rows)
    _running(bench, kind, found, rows)
    real = bench.uniform(rows, columns).to(dtype)
    rules = Arithmetic(torch, kind)
    near = rules.stored(rules.total(rules.exact(real), 1))
    found.near("sum of real numbers", bench.to_device(real).sum(dim=1, keepdim=True), near)
    return found.measured()


def _greatest(bench: Bench, kind: str, found: Comparison, rows: int) -> None:
    """No two of a row are alike, so that the place of its greatest element is known."""
    values = _rows(bench, rows, min(WHOLE[kind], 1024))
    there = bench.to_device(values.to(bench.dtype(kind)))
    found.exact("numbers, as they came", there, values.to(bench.dtype(kind)))  # most of them do not show in what follows
    greatest, place = there.max(dim=1)
    found.exact("max", greatest, values.max(dim=1).values.to(bench.dtype(kind)))
    found.exact("place of the max", place, values.argmax(dim=1))
    found.exact("amin", there.amin(dim=1), values.amin(dim=1).to(bench.dtype(kind)))
    found.exact("argmin", there.argmin(dim=1), values.argmin(dim=1))


def _running(bench: Bench, kind: str, found: Comparison, rows: int) -> None:
    """The differences of whole numbers from -100 to 100: the sum of any stretch of them is at most 200."""
    sums = bench.whole(-100, 100, rows, 1000)
    steps = sums.clone()
    steps[:, 1:] -= sums[:, :-1]
    found.exact("cumsum", bench.to_device(steps.to(bench.dtype(kind))).cumsum(dim=1), sums.to(bench.dtype(kind)))


def _rows(bench: Bench, rows: int, length: int) -> Any:
    """In each row the numbers from 0 to `length` - 1, a power of two, in an order of its own: an odd multiple, shifted."""
    odd, shift = bench.whole(0, length // 2 - 1, rows, 1) * 2 + 1, bench.whole(0, length - 1, rows + 1, 1)[1:]
    return (bench.torch.arange(length) * odd + shift) % length


def sort(bench: Bench, kind: str) -> Measured:
    """A long list and many short rows, each of which a GPU sorts in another way; equal elements stay in their order."""
    require(bench, kind)
    torch, found, dtype = bench.torch, Comparison(bench), bench.dtype(kind)
    count = min(8 * WHOLE[kind], (1 << 20 if bench.on_gpu else 1 << 15) if bench.level == FULL else 1 << 14)
    order = torch.randperm(count, generator=bench.generator())
    groups = order // 8  # each number eight times
    there = bench.to_device(groups.to(dtype))
    values, places = torch.sort(there, stable=True)
    found.exact("sort", values, (torch.arange(count) // 8).to(dtype))
    found.exact("order of equal elements", places, _places(torch, order).view(-1, 8).sort(dim=1).values.flatten())
    kinds, inverse, counts = torch.unique(there, return_inverse=True, return_counts=True)
    found.exact("unique", kinds, torch.arange(count // 8).to(dtype))
    found.exact("unique's inverse", inverse, groups)
    found.exact("unique's counts", counts, torch.full((count // 8,), 8))
    edges = bench.to_device(torch.arange(count // 8).to(dtype))
    found.exact("searchsorted", torch.searchsorted(edges, there), groups)
    _short_rows(bench, kind, found)
    return found.measured()


def _places(torch: Any, order: Any) -> Any:
    places = torch.empty_like(order)
    places[order] = torch.arange(order.numel())
    return places


def _short_rows(bench: Bench, kind: str, found: Comparison) -> None:
    torch, dtype, length = bench.torch, bench.dtype(kind), min(WHOLE[kind], 1024)
    rows = 256 if bench.level == FULL else 16
    numbers = _rows(bench, rows, length)
    places = torch.empty_like(numbers).scatter_(1, numbers, torch.arange(length).expand(rows, length))
    there = bench.to_device(numbers.to(dtype))
    up = torch.arange(length).expand(rows, length)
    for name, (values, found_at), known, known_at in (
        ("sort of rows", torch.sort(there, dim=1), up, places),
        ("sort of rows downwards", torch.sort(there, dim=1, descending=True), up.flip(1), places.flip(1)),
        ("topk", torch.topk(there, 50, dim=1), up.flip(1)[:, :50], places.flip(1)[:, :50]),
    ):
        found.exact(name, values, known.to(dtype).contiguous())
        found.exact("places of " + name, found_at, known_at.contiguous())


CHECKS = (
    Check("reduction", "fp32", reductions),
    Check("sort", "fp32", sort),
    *(Check("reduction", kind, reductions, FULL) for kind in ("fp64", "fp16", "bf16")),
    *(Check("sort", kind, sort, FULL) for kind in ("fp64", "fp16", "bf16", "int32", "int64")),
)
