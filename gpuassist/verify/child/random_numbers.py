"""The device's generator of random numbers: are they spread as they should be, independent, and the same from the same seed?

Each statistic is a sum of N independent (or uncorrelated) terms. Of N(0, 1) less than 1.3e-15 lies beyond 8 standard deviations,
both sides together; the sums here have at least 2**16 terms, and of the most skewed ones, x**4 of a normal x, 30 times as much lies
there (the third cumulant's factor exp(z**3 * skewness / (6 * sqrt(N))), skewness 10.1). A chi-square sum of d degrees exceeds
d + 2*sqrt(d*t) + 2*t, or falls below d - 2*sqrt(d*t), with a probability below exp(-t) (Laurent and Massart 2000); t = 32 makes
that 1.3e-14. All statistics of a check together raise a false alarm with a probability below 1e-12, and the seed is fixed: what a
device gives, it gives in every run.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Tuple

from .bench import FULL, SEED, Bench, Check, Measured, Wrong, require, same
from .running_error import FORMATS

SIGMAS = 8.0
CHI_SQUARE_T = 32.0


class Statistics:
    """How many standard deviations each figure lies from what it should be, as a part of what is allowed; the worst is told."""

    def __init__(self, bench: Bench) -> None:
        self._bench, self._worst, self._name, self.compared = bench, -1.0, "", 0

    def mean_of(self, name: str, terms: Any, *, expected: float, variance: float, grid: float = 0.0) -> None:
        """`terms` are in fp64 on the CPU, with that expectation, to `grid`, and that variance."""
        self._bench.tick()
        count = terms.numel()
        off = max(0.0, abs(float(terms.mean()) - expected) - grid)
        self._look(name, off / math.sqrt(variance / count) / SIGMAS)

    def chi_square(self, name: str, counts: Any, expected: float) -> None:
        """Counts that should all be the same but for chance."""
        freedom = counts.numel() - 1
        over = float(((counts.double() - expected) ** 2).sum() / expected) - freedom
        room = 2 * math.sqrt(freedom * CHI_SQUARE_T)
        self._look(name, over / (room + 2 * CHI_SQUARE_T) if over > 0 else -over / room)

    def _look(self, name: str, part: float) -> None:
        if not part <= self._worst:
            self._worst, self._name = (math.inf if math.isnan(part) else part), name

    def measured(self) -> Measured:
        """In standard deviations."""
        return Measured(self._worst * SIGMAS, SIGMAS, compared=self.compared, notes={"farthest": self._name})


@contextmanager
def _seeded(bench: Bench, seed: int) -> Iterator[None]:
    """Torch's own generators of the CPU and of this device start from the seed, and are put back where they were."""
    torch = bench.torch
    devices = [bench.device] if bench.on_gpu and bench.device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


def _drawn(bench: Bench, found: Statistics, draw: Callable[[], Any], alike: float = 1 / 16) -> Tuple[Any, Any]:
    """Drawn from two seeds, and twice from each: of the same seed all must be the same bit by bit, of the other they must not."""
    drawn = []
    for seed in (SEED, SEED + 1):
        twice = []
        for _ in range(2):
            with _seeded(bench, seed):
                twice.append(draw().to("cpu", copy=True))
        found.compared += 2 * same(bench, twice[1], twice[0])
        drawn.append(twice[0])
    # Two drawings of 24 bits agree in one place of 16 million, of bf16 in one of a few hundred; of dropout's in 10 of 16.
    places = int((drawn[0] == drawn[1]).sum())
    if places > alike * drawn[0].numel():
        raise Wrong("two seeds give the same number in {} of {} places".format(places, drawn[0].numel()))
    return drawn[0], drawn[1]


def moments(bench: Bench, kind: str) -> Measured:
    """Uniform numbers lie from 0 to 1 and have the mean 1/2 and the variance 1/12; normal ones have the moments 0, 1, 0 and 3.

    Uniform numbers of a short format may be those of a grid, cut and not rounded: half a step from what they should be.
    """
    require(bench, kind)
    torch, found, dtype = bench.torch, Statistics(bench), bench.dtype(kind)
    count = (1 << 22 if bench.on_gpu else 1 << 19) if bench.level == FULL else 1 << 16
    grid = FORMATS[kind].unit
    for x in _drawn(bench, found, lambda: torch.rand(count, device=bench.device, dtype=dtype)):
        if not (float(x.min()) >= 0 and float(x.max()) < 1):
            raise Wrong("a uniform number is {} or {}, and not from 0 to 1".format(float(x.min()), float(x.max())))
        centred = x.double() - 0.5
        found.mean_of("mean of uniform numbers", centred, expected=0.0, variance=1 / 12, grid=grid)
        found.mean_of("variance of uniform numbers", centred * centred, expected=1 / 12, variance=1 / 180, grid=grid)
    for part in _drawn(bench, found, lambda: torch.randn(count, device=bench.device, dtype=dtype)):
        _normal(found, part.double(), kind)
    return found.measured()


def _normal(found: Statistics, x: Any, kind: str) -> None:
    """The moments of N(0, 1); of N numbers one beyond sqrt(2*ln(N/1e-14)) has a probability below 1e-14 (Mill's ratio).

    A CPU makes those of a short format from uniform ones of that format, of which bf16 has 2**8: the tail that this cuts off holds
    2*2**-8*(1 + 8*ln(2)) = 0.05 of the variance, and eight roundings make 8*2**-8 of it.
    """
    farthest = float(x.abs().max())
    if not farthest <= math.sqrt(2 * math.log(x.numel() / 1e-14)):
        raise Wrong("a normal number is {} from 0".format(farthest))
    square, cut = x * x, 0.0 if kind in ("fp32", "fp64") else 0.05 + 8 * FORMATS["bf16"].unit
    found.mean_of("mean of normal numbers", x, expected=0.0, variance=1.0, grid=FORMATS[kind].unit)
    found.mean_of("variance of normal numbers", square, expected=1.0, variance=2.0, grid=cut)
    if not cut:
        found.mean_of("third moment of normal numbers", square * x, expected=0.0, variance=15.0)
        found.mean_of("fourth moment of normal numbers", square * square, expected=3.0, variance=96.0)


def independence(bench: Bench, _kind: str) -> Measured:
    """Neighbours do not follow from one another, each bit is set half of the time, each pair is as frequent as each other."""
    torch, found = bench.torch, Statistics(bench)
    count = 1 << 22 if bench.on_gpu else 1 << 18
    drawn = _drawn(bench, found, lambda: torch.rand(count, device=bench.device))
    for part in drawn:
        x = part.double() - 0.5
        for lag in (1, 2, 3, 4, 256, 1024):  # 4 numbers come of one call of the generator, 256 threads are a block
            found.mean_of("correlation of every {}th".format(lag), x[lag:] * x[:-lag], expected=0.0, variance=1 / 144)
        cells = (part * 16).long()
        pairs = torch.bincount(cells[0::2] * 16 + cells[1::2], minlength=256)
        found.chi_square("pairs", pairs, count / 2 / 256)
    found.mean_of("correlation of two seeds", (drawn[0].double() - 0.5) * (drawn[1].double() - 0.5), expected=0.0, variance=1 / 144)
    bits = _drawn(bench, found, lambda: torch.empty(count // 4, dtype=torch.int64, device=bench.device).random_(-(2**63), None))
    for number in range(63):
        found.mean_of("bit {}".format(number), ((bits[0] >> number) & 1).double(), expected=0.5, variance=0.25)
    found.mean_of("sign", (bits[0] < 0).double(), expected=0.5, variance=0.25)
    return found.measured()


def drawings(bench: Bench, _kind: str) -> Measured:
    """Permutations hold each number once; whole numbers of a range come equally often; dropout keeps its part, and scales it."""
    torch, found = bench.torch, Statistics(bench)
    count = 1 << 20 if bench.on_gpu else 1 << 17
    for part in _drawn(bench, found, lambda: torch.randperm(count, device=bench.device)):
        found.compared += same(bench, part.sort().values, torch.arange(count))
        # Spearman's coefficient of a random permutation has the variance 1/(N - 1): as if these products were independent.
        place = (torch.arange(count).double() + 0.5) / count - 0.5
        found.mean_of("order of a permutation", ((part.double() + 0.5) / count - 0.5) * place, expected=0.0, variance=1 / 144)
    for part in _drawn(bench, found, lambda: torch.randint(0, 1000, (count,), device=bench.device)):
        found.chi_square("whole numbers", torch.bincount(part, minlength=1000), count / 1000)
        if part.numel() != count or int(part.min()) < 0 or int(part.max()) >= 1000:
            raise Wrong("a whole number from 0 to 999 is {} or {}".format(int(part.min()), int(part.max())))
    ones = torch.ones(count, device=bench.device)
    for part in _drawn(bench, found, lambda: torch.nn.functional.dropout(ones, 0.75), alike=0.7):
        if bool(((part != 0) & (part != 4)).any()):
            raise Wrong("dropout gives other numbers than 0 and 4")
        found.mean_of("dropout", part.double() / 4, expected=0.25, variance=0.25 * 0.75)
    return found.measured()


CHECKS = (
    Check("random-moments", "fp32", moments),
    *(Check("random-moments", kind, moments, FULL) for kind in ("fp64", "fp16", "bf16")),
    Check("random-independence", "fp32", independence, FULL),
    Check("random-drawings", "int64", drawings, FULL),
)
