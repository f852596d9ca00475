"""Elements picked, placed and added up by their index, and tables of embeddings; whole numbers, so that each result is exact
however many additions meet in one element.
"""

from __future__ import annotations

from typing import Any, Callable, Tuple

from .bench import FULL, Bench, Check, Measured, require
from .running_error import Comparison


def indexing(bench: Bench, kind: str) -> Measured:
    """Each operation against the same on the CPU in int64."""
    require(bench, kind)
    found = Comparison(bench)
    rows, columns = (1024, min(bench.size, 2048)) if bench.level == FULL else (128, 128)
    values = bench.whole(-9, 9, rows, columns)
    _picked(bench, kind, found, values)
    _placed(bench, kind, found, values)
    _moved(bench, kind, found, values)
    return found.measured()


def _picked(bench: Bench, kind: str, found: Comparison, values: Any) -> None:
    torch, dtype = bench.torch, bench.dtype(kind)
    rows, columns = values.shape
    index, line = bench.whole(0, columns - 1, rows, columns), bench.whole(0, rows - 1, rows)
    chosen = bench.whole(0, 1, rows, columns) == 1
    there, index_there, line_there, chosen_there = map(bench.to_device, (values.to(dtype), index, line, chosen))
    negative = -there
    for name, result, expected in (
        ("gather", there.gather(1, index_there), values.gather(1, index)),
        ("index_select", there.index_select(0, line_there), values.index_select(0, line)),
        ("index", there[line_there, index_there[:, 0]], values[line, index[:, 0]]),
        ("masked_select", there.masked_select(chosen_there), values.masked_select(chosen)),
        ("masked_fill", there.masked_fill(chosen_there, 3), values.masked_fill(chosen, 3)),
        ("where", torch.where(chosen_there, there, negative), torch.where(chosen, values, -values)),
        ("neg", negative, -values),
    ):
        found.exact(name, result, expected.to(dtype))
    found.exact("nonzero", chosen_there.nonzero(), chosen.nonzero())
    found.exact("index, as it came", index_there, index)  # where it points to an equal number a wrong one would not show


def _placed(bench: Bench, kind: str, found: Comparison, values: Any) -> None:
    """Into a tenth of the rows and columns, so that many meet. |sum| <= 9 * 128 a row's worth; int64 has the exact one."""
    torch, dtype = bench.torch, bench.dtype(kind)
    rows, columns = values.shape
    narrow = columns // 8
    index, line = bench.whole(0, narrow - 1, rows, columns), bench.whole(0, rows // 8, rows)
    there, index_there, line_there = map(bench.to_device, (values.to(dtype), index, line))
    zeros, short = torch.zeros(rows, narrow, dtype=torch.int64), torch.zeros(rows // 8 + 1, columns, dtype=torch.int64)
    places = bench.torch.arange(columns).flip(0).expand(rows, columns).contiguous()
    for name, result, expected in (
        ("scatter_add", _zeros(bench, zeros, dtype).scatter_add(1, index_there, there), zeros.scatter_add(1, index, values)),
        ("index_add", _zeros(bench, short, dtype).index_add(0, line_there, there), short.index_add(0, line, values)),
        (
            "index_put",
            _zeros(bench, short, dtype).index_put((line_there,), there, accumulate=True),
            short.index_put((line,), values, accumulate=True),
        ),
        ("scatter", torch.empty_like(there).scatter(1, bench.to_device(places), there), values.flip(1)),
    ):
        found.exact(name, result, expected.to(dtype))
    found.exact("bincount", torch.bincount(line_there), torch.bincount(line))


def _zeros(bench: Bench, like: Any, dtype: Any) -> Any:
    return bench.torch.zeros(like.shape, dtype=dtype, device=bench.device)


def _moved(bench: Bench, kind: str, found: Comparison, values: Any) -> None:
    torch, dtype = bench.torch, bench.dtype(kind)
    there = bench.to_device(values.to(dtype))
    moves: Tuple[Tuple[str, Callable[[Any], Any]], ...] = (
        ("transposed", lambda x: x.t().contiguous()),
        ("flip", lambda x: x.flip(0, 1)),
        ("roll", lambda x: x.roll((3, -5), (0, 1))),
        ("cat", lambda x: torch.cat((x, x.flip(1)), dim=1)),
        ("triu", lambda x: x.triu(2)),
        ("repeat_interleave", lambda x: x[:16].repeat_interleave(3, dim=0)),
    )
    for name, move in moves:
        found.exact(name, move(there), move(values).to(dtype))


def embedding(bench: Bench, kind: str) -> Measured:
    """Rows of a table, and their gradient: whole numbers, of which many meet in one row."""
    require(bench, kind)
    torch, found, dtype = bench.torch, Comparison(bench), bench.dtype(kind)
    words, width, length = (1000, 128, 8192) if bench.level == FULL else (64, 32, 512)
    table, index = bench.whole(-9, 9, words, width), bench.whole(0, words - 1, length)
    upstream = bench.whole(-1, 1, length, width)
    weight = bench.to_device(table.to(dtype)).requires_grad_()
    place = bench.to_device(index)
    result = torch.nn.functional.embedding(place, weight)
    found.exact("embedding", result, table[index].to(dtype))
    result.backward(bench.to_device(upstream.to(dtype)))
    expected = torch.zeros(words, width, dtype=torch.int64).index_add(0, index, upstream)
    found.exact("gradient", weight.grad, expected.to(dtype))
    return found.measured()


CHECKS = (
    Check("indexing", "fp32", indexing),
    *(Check("indexing", kind, indexing, FULL) for kind in ("fp64", "fp16", "bf16", "int64")),
    *(Check("embedding", kind, embedding, FULL) for kind in ("fp32", "fp16", "bf16")),
)
