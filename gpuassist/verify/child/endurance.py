"""What takes minutes: most of the free memory, word by word, and products without a pause until the GPU is as hot as it gets."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

from .bench import FULL, Bench, Check, Measured, Skipped, Wrong, precision, same, tera
from .products import LARGE_K, exact
from .transfers import words

_LARGE, _SMALL, _MIB = 256 << 20, 32 << 20, 1 << 20
_WORD = 8
_SPARE = 512 * _MIB  # for whoever else draws on the GPU, and for comparing
_SPARE_OF_THE_HOST = 4096 * _MIB  # where it is the memory of all programs
_CPU_SECONDS = 2.0
_TENTHS = 10
_AT_ONCE = 4


class Pattern(NamedTuple):
    """What is written into memory: `write(tensor, first)`, where `first` is the address of its first word, counted in words."""

    name: str
    write: Callable[[Any, int], Any]


def _patterns(bench: Bench) -> Tuple[Pattern, ...]:
    """With the opposite of each, every bit is once set and once not, beside neighbours that are the same, the other, or mixed.

    Each word's own address shows where two addresses lead to the same memory.
    """
    torch = bench.torch

    def addresses(tensor: Any, first: int) -> Any:
        return torch.arange(first, first + tensor.numel(), out=tensor)

    return (
        Pattern("addresses", addresses),
        Pattern("mixed bits", lambda tensor, first: tensor.copy_(words(bench, tensor.numel(), bench.device, first))),
        Pattern("all bits alike", lambda tensor, _: tensor.fill_(0)),
        Pattern("every other bit", lambda tensor, _: tensor.fill_(0x5555555555555555)),
    )


def memory(bench: Bench, _kind: str) -> Measured:
    """Moving inversions: all blocks are written; then, from the first to the last, each is compared and its opposite written; then,
    from the last to the first, the opposite is compared and the pattern written; then all are compared once more.

    What a block should hold is made anew each time it is compared, so that a fault in that memory shows as well.
    """
    free, total = (int(one) for one in bench.torch.cuda.mem_get_info(bench.device))
    size, count = _plan(free, _spare(bench, free))
    began = time.monotonic()
    passes, compared = _tested(bench, size, count)
    bench.torch.cuda.empty_cache()
    covered = (count + 1) * size
    notes = {
        "covered_bytes": covered,
        "memory_share": round(covered / total, 3),
        "passes": passes,
        "seconds": round(time.monotonic() - began, 1),
    }
    return Measured(0.0, 0.0, compared=compared, notes=notes)


def _spare(bench: Bench, free: int) -> int:
    """A tenth of what is free, and never little; half of it where the GPU shares the memory of the host."""
    properties = bench.torch.cuda.get_device_properties(bench.device)
    if getattr(properties, "is_integrated", 0):
        return max(free // 2, _SPARE_OF_THE_HOST)
    return max(free // 10, _SPARE)


def _plan(free: int, spare: int) -> Tuple[int, int]:
    """How large a block is, and how many there are beside the one to compare with."""
    size = _LARGE if free - spare >= 8 * _LARGE else _SMALL
    count = (free - spare) // size - 1
    if count < 1:
        words_of = "{} MiB of the GPU's memory are free: too few to test some and to leave {} MiB"
        raise Skipped(words_of.format(free // _MIB, spare // _MIB), "memory")
    return size, count


class Memory(NamedTuple):
    """What is tested, and a block to compare with."""

    blocks: List[Any]
    scratch: Any


def _tested(bench: Bench, size: int, count: int) -> Tuple[int, int]:
    """How often all of it was gone through, and how many words were looked at."""
    scratch, *blocks = [bench.torch.empty(size // _WORD, dtype=bench.torch.int64, device=bench.device) for _ in range(count + 1)]
    held, began, passes, compared = Memory(blocks, scratch), time.monotonic(), 0, 0
    while not passes or time.monotonic() - began < bench.endure:
        for pattern in _patterns(bench):
            compared += _inversions(bench, pattern, held, passes)
        passes += 1
    return passes, compared


def _inversions(bench: Bench, pattern: Pattern, held: Memory, number: int) -> int:
    blocks, scratch = held
    places = range(len(blocks))
    for place in places:
        _write(bench, pattern, blocks[place], place)
    compared = 0
    for opposite, order, then in ((False, places, True), (True, places[::-1], False), (False, places, None)):
        for place in order:
            _write(bench, pattern, scratch, place, opposite=opposite)
            compared += _compare(bench, held, place, when="{}, pass {}".format(pattern.name, number + 1))
            if then is not None:
                _write(bench, pattern, blocks[place], place, opposite=then)
    return compared


def _write(bench: Bench, pattern: Pattern, tensor: Any, place: int, *, opposite: bool = False) -> None:
    pattern.write(tensor, place * tensor.numel())
    if opposite:
        tensor.bitwise_not_()
    bench.tick()


def _compare(bench: Bench, held: Memory, place: int, *, when: str) -> int:
    """How many words were looked at; raises `Wrong` with the bits that differ."""
    blocks, expected = held
    alike = bool(bench.torch.equal(blocks[place], expected))
    bench.tick()
    if alike:
        return int(expected.numel())
    found, wanted = blocks[place].cpu(), expected.cpu()
    wrong = (found != wanted).nonzero().flatten()
    if not wrong.numel():
        raise Wrong("{}: block {}: comparing on the device found a difference, comparing on the CPU none".format(when, place))
    first = int(wrong[0])
    read, meant = (int(one[first]) % 2**64 for one in (found, wanted))
    told = "{}: {} words of block {} of {} differ, the first at byte {:#x} of what is tested: {:#018x} and not {:#018x}, bits {:#x}"
    offset = (place * expected.numel() + first) * _WORD
    raise Wrong(told.format(when, wrong.numel(), place + 1, len(blocks), offset, read, meant, read ^ meant))


def load(bench: Bench, _kind: str) -> Measured:
    """Products of whole numbers in the format that a GPU works hardest in, each result compared; the rate over time shows whether
    the GPU had to slow down.
    """
    kind = _hardest(bench)
    wanted = bench.endure if bench.on_gpu else min(bench.endure, _CPU_SECONDS)
    rates: List[float] = []
    product, seconds, compared = exact(bench, kind, LARGE_K, lambda left, right: left @ right), 0.0, 0
    began = time.monotonic()
    with precision(bench.torch, tf32=kind == "tf32"):
        compared += same(bench, product.multiply(), product.expected)
        while not rates or time.monotonic() - began < wanted:
            bench.synchronize()
            before = time.perf_counter()
            results = [product.multiply() for _ in range(_AT_ONCE)]
            bench.synchronize()
            took = max(time.perf_counter() - before, 1e-9)
            for result in results:
                compared += same(bench, result, product.expected, len(rates) * _AT_ONCE + 1)
            seconds += took
            rates.append(tera(_AT_ONCE * product.operations, took))
    mean = tera(_AT_ONCE * product.operations * len(rates), seconds)
    notes = dict(_over_time(rates), format=kind, products=len(rates) * _AT_ONCE + 1, seconds=round(time.monotonic() - began, 1))
    return Measured(0.0, 0.0, mean, "TFLOP/s", compared, notes)


def _hardest(bench: Bench) -> str:
    major = bench.capability()[0]
    if not bench.on_gpu or getattr(bench.torch.version, "hip", None):
        return "fp32"
    return "bf16" if major >= 8 else "fp16" if major >= 7 else "fp32"


def _over_time(rates: List[float]) -> Dict[str, Any]:
    """The mean of the first and of the last tenth, and the lowest mean of a tenth; of equally many products, not of equal times."""
    step = max(1, len(rates) // _TENTHS)
    # the rate of several equally long pieces of work is the harmonic mean
    tenths = [step / sum(1 / rate for rate in rates[at : at + step]) for at in range(0, len(rates) - step + 1, step)]
    first, last, lowest = (float("{:.4g}".format(one)) for one in (tenths[0], tenths[-1], min(tenths)))
    return {"first_tenth": first, "last_tenth": last, "lowest_tenth": lowest}


CHECKS = (
    Check("memory-pattern", "int64", memory, FULL, on_cpu=False),
    Check("sustained-load", "fastest", load, FULL),
)
