"""Copies between the host's memory and the device's: every word of every copy is compared.

What the device should have received it makes for itself as well, by arithmetic of whole numbers, which wraps alike everywhere, and
the two are compared word by word where the copy lies: no checksum stands between, so one flipped bit anywhere shows. Before each
copy every bit of its target is the opposite of what belongs there, so that a word which is not written shows too; that pattern is
looked at as well.
"""

from __future__ import annotations

import time
from typing import Any, Callable

from .bench import FULL, Bench, Check, Measured, Wrong, same

_FACTOR = 0x5851F42D4C957F2D  # odd: no two words are alike, and every bit changes from word to word
_AT_ONCE = 1 << 22  # words: what a card needs beside the two that are compared stays small


def words(bench: Bench, count: int, device: Any = "cpu", first: int = 1) -> Any:
    """The words that copies carry, the same on every device; `first` is the place of the first of them."""
    torch = bench.torch
    return torch.arange(first, first + count, dtype=torch.int64, device=device).mul_(_FACTOR)


def comparison(bench: Bench, _kind: str) -> Measured:
    """That comparing on the device, on which the other checks rely, sees each single bit: of 64 words, spread from the first to the
    last one, another bit each.
    """
    torch, count = bench.torch, bench.size * 256
    expected, changed = (words(bench, count, bench.device) for _ in range(2))
    for bit in range(64):
        place = (count - 1) * bit // 63
        flipped = 1 << bit if bit < 63 else -(1 << 63)
        changed[place : place + 1].bitwise_xor_(flipped)
        if torch.equal(changed, expected):
            raise Wrong("comparing {} words on the device does not see that bit {} of word {} differs".format(count, bit, place))
        changed[place : place + 1].bitwise_xor_(flipped)
        bench.tick()
    return Measured(0.0, 0.0, compared=64 * count + same(bench, changed, expected))


def copy_to_device(bench: Bench, _kind: str) -> Measured:
    """From memory as programs have it, which the driver copies through its own page-locked pieces."""
    values, expected = words(bench, _count(bench)), words(bench, _count(bench), bench.device)
    target = bench.torch.empty_like(expected)
    return _copied(bench, target, expected, lambda: _by_the_clock(bench, lambda: target.copy_(values)))


def copy_from_device(bench: Bench, _kind: str) -> Measured:
    """Back into memory as programs have it."""
    values, expected = words(bench, _count(bench), bench.device), words(bench, _count(bench))
    target = bench.torch.empty_like(expected)
    return _copied(bench, target, expected, lambda: _by_the_clock(bench, lambda: target.copy_(values)))


def pinned_to_device(bench: Bench, _kind: str) -> Measured:
    """From page-locked memory, asynchronously on a stream of its own, as a training program loads its batches."""
    values, expected = _pinned(bench, words(bench, _count(bench))), words(bench, _count(bench), bench.device)
    target = bench.torch.empty_like(expected)
    return _copied(bench, target, expected, lambda: _on_a_stream(bench, target, values))


def pinned_from_device(bench: Bench, _kind: str) -> Measured:
    """Into page-locked memory, asynchronously on a stream of its own."""
    values, expected = words(bench, _count(bench), bench.device), words(bench, _count(bench))
    target = _pinned(bench, bench.torch.empty_like(expected))
    return _copied(bench, target, expected, lambda: _on_a_stream(bench, target, values))


def copy_on_device(bench: Bench, _kind: str) -> Measured:
    """Within the device's memory, where each word is read once and written once: half a GiB where there is room, which no cache
    holds.
    """
    count = bench.size * bench.size
    values, expected = words(bench, count, bench.device), words(bench, count, bench.device)
    target = bench.torch.empty_like(expected)
    return _copied(bench, target, expected, lambda: _by_the_clock(bench, lambda: target.copy_(values)), passes=2)


def _count(bench: Bench) -> int:
    """8 MiB on a GPU in the quick run, whose words the CPU makes and compares within milliseconds, and 128 MiB in the full one."""
    return bench.size * bench.size // (16 if bench.on_gpu and bench.level != FULL else 4)


def _pinned(bench: Bench, values: Any) -> Any:
    with bench.torch.cuda.device(bench.device):  # or the first GPU would get a context of this process
        return values.pin_memory()


def _copied(bench: Bench, target: Any, expected: Any, copy: Callable[[], float], *, passes: int = 1) -> Measured:
    """Copies once, so that all it needs is there, then as often as the bench says; `copy` tells its seconds."""
    seconds, compared = 0.0, 0
    for number in range(bench.repeats + 1):
        bench.torch.bitwise_not(expected, out=target)
        bench.synchronize()
        compared += _opposite(bench, target, expected, number)
        took = copy()
        seconds += took if number else 0.0
        compared += same(bench, target, expected, number)
    moved = passes * expected.numel() * expected.element_size() * bench.repeats
    return Measured(0.0, 0.0, moved / max(seconds, 1e-9) / 1e9, "GB/s", compared)


def _opposite(bench: Bench, target: Any, expected: Any, number: int) -> int:
    """How many words were looked at; each must be -1 minus the expected one, which is the opposite of all its bits."""
    parts = zip(target.split(_AT_ONCE), expected.split(_AT_ONCE))
    try:
        return sum(same(bench, there, -1 - belonging, number) for there, belonging in parts)
    except Wrong as wrong:
        raise Wrong("what was written before the copy, {}".format(wrong)) from None


def _by_the_clock(bench: Bench, action: Callable[[], Any]) -> float:
    began = time.perf_counter()
    action()
    bench.synchronize()
    return time.perf_counter() - began


def _on_a_stream(bench: Bench, target: Any, values: Any) -> float:
    """By the device's own clock: the time of the copy alone."""
    cuda = bench.torch.cuda
    stream = cuda.Stream(bench.device)
    began, ended = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    with cuda.stream(stream):
        began.record()
        target.copy_(values, non_blocking=True)
        ended.record()
    ended.synchronize()
    return float(began.elapsed_time(ended)) / 1e3


CHECKS = (
    Check("comparison", "int64", comparison),
    Check("copy-to-device", "int64", copy_to_device),
    Check("copy-from-device", "int64", copy_from_device),
    Check("pinned-to-device", "int64", pinned_to_device, on_cpu=False),
    Check("pinned-from-device", "int64", pinned_from_device, on_cpu=False),
    Check("copy-on-device", "int64", copy_on_device, FULL),
)
