"""Of events that lie in each other, thread by thread: the time of each that is its own, and the user's line above it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_PIECE = 1 << 17
_SLACK, _PART = 1e-3, 1e-6  # by which two clocks may differ


class EventRows(NamedTuple):
    """Events as columns: the number of a name, the thread, the begin and the length."""

    codes: NDArray[np.int32]
    threads: NDArray[np.int16]
    begins: NDArray[np.float64]
    lengths: NDArray[np.float64]


def own_times(rows: EventRows, lines: NDArray[np.bool_]) -> tuple[NDArray[np.float64], dict[int, int]]:
    """The own time of each code, and for codes the line (a code for which `lines` is true) below which it took most of it.

    What begins in another and ends after it lies in whatever holds all of it: `with record_function(...)` begins in `__enter__`.
    """
    codes, threads, begins, lengths = rows
    order = np.lexsort((-lengths, begins, threads))
    count = len(lines)
    own = np.bincount(codes, lengths, count).astype(float)
    below = dict[tuple[int, int], float]()
    is_line: list[bool] = lines.tolist()
    has_lines = bool(lines.any())
    stack_ends, stack_codes, stack_lines = list[float](), list[int](), list[int]()
    inside = [0.0] * count
    before = -1
    for place in range(0, len(order), _PIECE):
        part = order[place : place + _PIECE]
        part_rows = zip(codes[part].tolist(), threads[part].tolist(), begins[part].tolist(), lengths[part].tolist(), strict=True)
        for code, thread, begin, length in part_rows:
            if thread != before:
                stack_ends, stack_codes, stack_lines, before = [], [], [], thread
            end = begin + length
            until = end - _SLACK - length * _PART
            while stack_ends and (stack_ends[-1] <= begin or stack_ends[-1] < until):
                stack_ends.pop()
                stack_codes.pop()
                stack_lines.pop()
            line = -1
            if stack_ends:
                line = stack_lines[-1]
                inside[stack_codes[-1]] += length
            if has_lines:
                if line >= 0:
                    key = (code, line)
                    below[key] = below.get(key, 0.0) + length
                if is_line[code]:
                    line = code
            stack_ends.append(end)
            stack_codes.append(code)
            stack_lines.append(line)
    own -= np.array(inside)
    best = dict[int, tuple[float, int]]()
    for (code, line), length in below.items():
        if length > best.get(code, (0.0, -1))[0]:
            best[code] = (length, line)
    return np.maximum(own, 0.0), {code: line for code, (_, line) in best.items()}
