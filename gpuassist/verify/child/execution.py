"""What programs rely on beside arithmetic: the order of work, the device's clock, recorded work, and memory that comes back."""

from __future__ import annotations

import gc
import os
import time
from typing import Any, List, Tuple

from .bench import FULL, Bench, Check, Measured, Skipped, Wrong, same

_ROUNDS = 4
_LINKS = 32
_WORDS = 256  # for each of a matrix's side: so many that adding to them takes longer than asking for the next addition
# Of an elapsed time (CUDA runtime API, cudaEventElapsedTime: "a resolution of around 0.5 microseconds"), in milliseconds.
_RESOLUTION = 0.5e-3
_ROUNDING = 2.0**-23  # elapsed times are fp32
_CLOCKS_APART = 1e-3  # two quartz clocks differ by far less


def streams(bench: Bench, _kind: str) -> Measured:
    """Two streams hand a counter on, each waiting for the other's event: whoever reads too early reads an old count.

    One adds 1 to every element many times, the other copies what came of it and puts the opposite in its place, and so on.
    """
    torch, cuda, count = bench.torch, bench.torch.cuda, bench.size * _WORDS
    counter, expected = (torch.arange(count, dtype=torch.int64, device=bench.device) for _ in range(2))
    copies = [torch.empty_like(counter) for _ in range(_ROUNDS)]
    one, other = cuda.Stream(bench.device), cuda.Stream(bench.device)
    events = [cuda.Event(enable_timing=True) for _ in range(2 * _ROUNDS + 1)]
    bench.synchronize()
    before = time.perf_counter()
    events[0].record(one)
    for turn, copy in enumerate(copies):
        with cuda.stream(one):
            for _ in range(_LINKS):
                counter.add_(1)
            events[2 * turn + 1].record(one)
        with cuda.stream(other):
            other.wait_event(events[2 * turn + 1])
            copy.copy_(counter)
            counter.bitwise_not_()
            events[2 * turn + 2].record(other)
        one.wait_event(events[2 * turn + 2])
    bench.synchronize()
    around = (time.perf_counter() - before) * 1e3
    compared = 0
    for turn, copy in enumerate(copies):
        expected = expected + _LINKS
        compared += same(bench, copy, expected, turn)
        expected = expected.bitwise_not()
    _plausible(events, around)
    return Measured(0.0, 0.0, compared=compared + same(bench, counter, expected, _ROUNDS))


def _plausible(events: List[Any], around: float) -> None:
    """The device's times: every part took some, the parts make up the whole, and the whole lies within the host's own time."""
    parts = [float(events[place].elapsed_time(events[place + 1])) for place in range(len(events) - 1)]
    whole = float(events[0].elapsed_time(events[-1]))
    if min(parts) <= 0.0:
        raise Wrong("by the device's clock, work took {} ms".format(min(parts)))
    apart = abs(sum(parts) - whole)
    if apart > (len(parts) + 1) * (_RESOLUTION + _ROUNDING * whole):
        raise Wrong("by the device's clock, the parts of some work took {} ms and the whole {} ms".format(sum(parts), whole))
    if whole > around * (1 + _CLOCKS_APART) + 2 * _RESOLUTION:
        raise Wrong("work took {} ms by the device's clock, and {} ms by the host's".format(whole, around))


def graph(bench: Bench, _kind: str) -> Measured:
    """Work recorded once and replayed with other inputs each time: a product, a sum and a multiple of whole numbers, all exact.

    k is 64 and the numbers are at most 7, so every partial sum is below 2**24.
    """
    cuda, n = bench.torch.cuda, min(bench.size, 512)
    inputs = [bench.whole(-7, 7, n, 64 + turn)[:, :64].double() for turn in range(_ROUNDS)]
    weights, offset = bench.whole(-7, 7, 64, n).double(), bench.whole(-99, 99, n).double()
    wanted = [bench.to_device(((one @ weights + offset) * 3).float()) for one in inputs]
    given = [bench.to_device(one.float()) for one in inputs]
    w, b, x = bench.to_device(weights.float()), bench.to_device(offset.float()), given[0].clone()
    with cuda.device(bench.device):
        side = cuda.Stream(bench.device)
        side.wait_stream(cuda.current_stream(bench.device))
        with cuda.stream(side):  # what libraries make at the first call cannot be recorded
            result = (x @ w + b) * 3
        cuda.current_stream(bench.device).wait_stream(side)
        compared = same(bench, result, wanted[0])
        recorded = cuda.CUDAGraph()
        with cuda.graph(recorded):
            result = (x @ w + b) * 3
        halves = bench.torch.full_like(result, 0.5)  # which no whole number is
        for number in range(1, 1 + max(bench.repeats, _ROUNDS)):
            x.copy_(given[number % _ROUNDS])
            result.fill_(0.5)
            compared += same(bench, result, halves, number)
            recorded.replay()
            compared += same(bench, result, wanted[number % _ROUNDS], number)
        del result
        recorded.reset()
    return Measured(0.0, 0.0, compared=compared)


def memory_returned(bench: Bench, _kind: str) -> Measured:
    """The allocator's own account in bytes: what is allocated grows by what is asked for and falls back to what it was, and what
    was reserved for that is given back to the driver. The first round makes what the libraries keep.
    """
    _counts(bench)
    compared, off = 0, 0
    gc.disable()  # or what a check before this one left to it might be given back in between
    try:
        for number in range(2):
            before, grown, freed, compared_now = _round(bench, number)
            compared += compared_now
            if grown[0] - before[0] < compared_now * 8:
                raise Wrong("{} bytes were allocated, and torch counts {}".format(compared_now * 8, grown[0] - before[0]))
            off = max(0, freed[0] - before[0], freed[1] - before[1]) if number else 0
    finally:
        gc.enable()
    return Measured(float(off), 0.0, compared=compared)


def _round(bench: Bench, number: int) -> Tuple[Tuple[int, int], Tuple[int, int], Tuple[int, int], int]:
    """Allocated and reserved bytes before, with and after some tensors, every element of which is looked at."""
    torch, count = bench.torch, bench.size * _WORDS
    before = _held(bench)
    kept = [torch.full((count,), number * 8 + place, dtype=torch.int64, device=bench.device) for place in range(4)]
    looked = [(one - number * 8 - place).count_nonzero().item() for place, one in enumerate(kept)]
    if any(looked):
        raise Wrong("in run {}: {} elements of memory just written differ".format(number + 1, sum(looked)))
    grown = int(torch.cuda.memory_allocated(bench.device)), int(torch.cuda.memory_reserved(bench.device))
    del kept
    return before, grown, _held(bench), 4 * count


def _held(bench: Bench) -> Tuple[int, int]:
    cuda = bench.torch.cuda
    bench.synchronize()
    cuda.empty_cache()
    return int(cuda.memory_allocated(bench.device)), int(cuda.memory_reserved(bench.device))


def _counts(bench: Bench) -> None:
    # torch then asks the driver for each tensor and counts nothing (CUDA semantics, memory management).
    if os.environ.get("PYTORCH_NO_CUDA_MEMORY_CACHING"):
        raise Skipped("torch's allocator is switched off by PYTORCH_NO_CUDA_MEMORY_CACHING")


def memory_across_streams(bench: Bench, _kind: str) -> Measured:
    """A tensor that another stream still reads is freed, and its memory must not be given to the next one before that.

    The other stream first adds 1 to something else many times, so that it reads long after the tensor was freed.
    """
    torch, cuda, count = bench.torch, bench.torch.cuda, bench.size * _WORDS
    numbers, expected = (torch.arange(count, dtype=torch.int64, device=bench.device) for _ in range(2))
    compared, other = 0, cuda.Stream(bench.device)
    for turn in range(_ROUNDS):
        delay, read = torch.zeros_like(numbers), torch.empty_like(numbers)
        freed = numbers + turn
        other.wait_stream(cuda.current_stream(bench.device))
        with cuda.stream(other):
            for _ in range(_LINKS):
                delay.add_(1)
            read.copy_(freed)
        freed.record_stream(other)
        del freed
        following = torch.full_like(numbers, -1)
        bench.synchronize()
        compared += same(bench, read, expected + turn, turn)
        compared += same(bench, delay, torch.full_like(numbers, _LINKS), turn)
        compared += same(bench, following, torch.full_like(numbers, -1), turn)
    return Measured(0.0, 0.0, compared=compared)


CHECKS = (
    Check("streams", "int64", streams, on_cpu=False),
    Check("memory-returned", "int64", memory_returned, on_cpu=False),
    # The last: after a failure torch's allocator stays out of order.
    Check("cuda-graph", "fp32", graph, on_cpu=False, optional=True),
    Check("memory-across-streams", "int64", memory_across_streams, FULL, on_cpu=False),
)
