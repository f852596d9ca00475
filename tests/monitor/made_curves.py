"""Curves of a program's memory, made up with noise, and what each is: written down before there was anything that names them.

Times are seconds, memory is in MiB. Samples see a step at a random place of it, torch's own peak sees all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

from gpuassist.monitor.growth import Shape

CARD = 24_576.0
MIB = float(1 << 20)
Moment = tuple[float, float | None, float, float | None]
"""Time, allocated, reserved (or used, where torch tells nothing), allocated at most."""

Level = Callable[[float, Random], float]


class Allocator:
    """What a caching allocator makes of what is wanted at a time: it keeps what it has, and takes more in blocks of 20 MiB."""

    def __init__(self, random: Random, *, noise: float = 0.0) -> None:
        self._random, self._noise = random, noise
        self._reserved = self._peak = 0.0
        self.extra = 0.0

    def look(self, time: float, level: float, swing: float) -> Moment:
        """`level` is there between steps, `swing` comes and goes with each."""
        swing *= 1 + self._random.uniform(-self._noise, self._noise)
        self._peak = max(self._peak, level + swing)
        self._reserved = max(self._reserved, 20.0 * int((level + swing) * 1.03 / 20 + 1))
        phase = self._random.random()
        return time, level + swing * min(1.0, 1.6 * phase), self._reserved + self.extra, self._peak

    def empty(self, kept: float) -> None:
        self._reserved = kept


def _steady(
    level: float, swing: float, seconds: float = 600, *, every: float = 1.0, noise: float = 0.03
) -> Callable[[Random], list[Moment]]:
    return _shaped(lambda _time, _random: level, swing, seconds, every=every, noise=noise)


def _shaped(
    level: Level, swing: float, seconds: float, *, every: float = 1.0, noise: float = 0.03, start: float = 20.0
) -> Callable[[Random], list[Moment]]:
    """A model that loads for `start` seconds, then steps on top of what `level` says of the time since."""

    def made(random: Random) -> list[Moment]:
        allocator, found, time = Allocator(random, noise=noise), [], 0.0
        begin = start * random.uniform(0.7, 1.3)
        while time < seconds:
            if time < begin:
                found.append(allocator.look(time, level(0.0, random) * time / begin, 0.0))
            else:
                found.append(allocator.look(time, level(time - begin, random), swing))
            time += every * random.uniform(0.9, 1.1)
        return found

    return made


def _outside(made: Callable[[Random], list[Moment]], *, noise: float = 0.0) -> Callable[[Random], list[Moment]]:
    """The same as NVML sees it: the context on top, and nothing of what is within."""

    def seen(random: Random) -> list[Moment]:
        return [(time, None, reserved + 450 + noise * random.uniform(-1, 1), None) for time, _, reserved, _ in made(random)]

    return seen


def _stairs(rise: float, every: float, begin: float = 60.0, noise: float = 0.4) -> Callable[[Random], Callable[[float], float]]:
    """Steps up of about that size, about every so many seconds."""

    def made(random: Random) -> Callable[[float], float]:
        times: list[tuple[float, float]] = []
        at = begin
        while at < 30_000 and len(times) < 400:
            times.append((at, rise * random.uniform(1 - noise, 1 + noise)))
            at += every * random.uniform(1 - noise, 1 + noise)
        return lambda time: sum(size for when, size in times if when <= time)

    return made


def _fragmenting(
    rise: float,
    every: float,
    seconds: float,
    *,
    noise: float = 0.03,
    begin: float = 60.0,
    level: Level = lambda _t, _r: 6000.0,
    tick: float = 1.0,
) -> Callable[[Random], list[Moment]]:
    def made(random: Random) -> list[Moment]:
        allocator, found, time = Allocator(random, noise=noise), [], 0.0
        stairs = _stairs(rise, every, begin)(random)
        while time < seconds:
            allocator.extra = 2.0 * round(stairs(time) / 2)
            found.append(allocator.look(time, min(1.0, time / 20) * level(time, random), 3000.0 if time > 20 else 0.0))
            time += tick
        return found

    return made


def _evaluating(add: float, period: float, length: float, slope: float = 0.0, ramp: bool = False, first: float = 0.0) -> Level:
    """Another level for `length` seconds of each `period`, or a climb to it."""

    def level(time: float, _random: Random) -> float:
        within = time - (first or period - length)
        phase = within % period if within >= 0 else period
        extra = 0.0
        if phase < length:
            extra = add * phase / length if ramp else add
        return 8000.0 + slope * time + extra

    return level


def _jump(
    at: float, size: float, *, stays: bool, seconds: float, noise: float = 0.03, period: float = 0.0
) -> Callable[[Random], list[Moment]]:
    def made(random: Random) -> list[Moment]:
        allocator, found = Allocator(random, noise=noise), []
        when = at + random.uniform(-30, 30)
        for second in range(int(seconds)):
            time = float(second)
            long = time >= when if stays else when <= time < when + 2
            if period and time > when:
                long = (time - when) % period < 2
            level = 6000.0 * min(1.0, time / 20)
            found.append(allocator.look(time, level, (3000.0 + (size if long else 0.0)) if time > 20 else 0.0))
        return found

    return made


def _bursts(random: Random) -> list[Moment]:
    """A server that answers now and then."""
    allocator, found = Allocator(random), []
    busy = 0.0
    for second in range(900):
        busy = random.uniform(3, 12) if random.random() < 0.05 else busy - 1
        found.append(allocator.look(float(second), 9000.0, 2500.0 if busy > 0 else 0.0))
    return found


def _notebook(random: Random) -> list[Moment]:
    """Somebody tries things: a few tensors, kept, with minutes between."""
    allocator, found, level = Allocator(random), [], 0.0
    cells = sorted(random.uniform(0, 1200) for _ in range(4))
    for second in range(1500):
        if cells and second >= cells[0]:
            cells.pop(0)
            level += random.uniform(100, 400)
        found.append(allocator.look(float(second), level, 0.0))
    return found


def _walk(random: Random) -> list[Moment]:
    """Wanders about, and comes back."""
    allocator, found, off = Allocator(random), [], 0.0
    for second in range(1200):
        off += random.gauss(0, 25) - 0.02 * off
        found.append(allocator.look(float(second), 8000.0 + off, 2000.0))
    return found


def _emptied(random: Random) -> list[Moment]:
    """empty_cache() after each epoch, and the cache fills again."""
    allocator, found = Allocator(random), []
    for second in range(900):
        if second % 150 == 149:
            allocator.empty(6000.0)
        found.append(allocator.look(float(second), 6000.0, 3000.0))
    return found


def _lengths(random: Random) -> list[Moment]:
    """Batches of any length: every now and then the longest so far."""
    allocator = Allocator(random)
    return [allocator.look(float(second), 6000.0, min(9000.0, random.lognormvariate(7.6, 0.25))) for second in range(1200)]


def _workspaces(random: Random) -> list[Moment]:
    """Each further stream takes cuBLAS's workspace once, and keeps it."""
    level, peak = 900.0, 0.0
    found: list[Moment] = []
    for second in range(300):
        level += 8.125 if second % 30 == 15 else 0.0
        peak = max(peak, level)
        found.append((float(second), level, 20.0 * int(level / 20 + 1), peak))
    return found


def _warm_up(random: Random) -> list[Moment]:
    """Algorithms are tried in the first minute: reserved climbs, and then no more."""
    allocator, found = Allocator(random), []
    for second in range(600):
        allocator.extra = 60.0 * min(15, second // 4)
        found.append(allocator.look(float(second), 6000.0, 3000.0))
    return found


def _shrunk(random: Random) -> list[Moment]:
    """Half is given back, and in a few minutes it is as it was."""
    allocator, found = Allocator(random), []
    for second in range(1000):
        level = 12_000.0 if second < 500 else 6000.0 + min(6000.0, (second - 500) * 14.0)
        found.append(allocator.look(float(second), level, 1000.0))
    return found


def _late_start(random: Random) -> list[Moment]:
    """The model is on the card, the data is read for minutes, and then it begins."""
    allocator, begin = Allocator(random), random.uniform(120, 200)
    return [allocator.look(float(second), min(6000.0, second * 300.0), 9000.0 if second > begin else 0.0) for second in range(260)]


def _resting(random: Random) -> list[Moment]:
    return [(float(second), 2048.0, 2068.0, 2048.0) for second in range(400)]


def _garbage(random: Random) -> list[Moment]:
    """Cycles that only the collector frees, every twenty to thirty seconds."""
    allocator, found, garbage = Allocator(random), [], 0.0
    for second in range(700):
        garbage += random.uniform(20, 60)
        if random.random() < 0.04:
            garbage = 0.0
        found.append(allocator.look(float(second), 7000.0 + garbage, 1500.0))
    return found


def _recovering(random: Random) -> list[Moment]:
    """A leak of which the collector finds a third now and then."""
    allocator, found, kept, garbage = Allocator(random), [], 0.0, 0.0
    for second in range(900):
        kept += random.uniform(4, 8)
        garbage += random.uniform(2, 4)
        if second % 45 == 44:
            garbage = 0.0
        found.append(allocator.look(float(second), 6000.0 + kept + garbage, 1500.0))
    return found


def _toy(random: Random) -> list[Moment]:
    """kept.append(torch.randn(...)) in a loop, from nothing on."""
    found: list[Moment] = []
    level = 0.0
    for second in range(420):
        level += random.uniform(18, 30)
        found.append((float(second), level, 20.0 * int(level / 20 + 1), level))
    return found


def _uneven(random: Random) -> list[Moment]:
    """More is kept at some steps than at others."""
    allocator, found, level = Allocator(random), [], 7000.0
    for second in range(600):
        level += max(0.0, random.gauss(8, 6))
        found.append(allocator.look(float(second), level, 2500.0))
    return found


NONE, KEPT, PIECES, JUMP, GROWTH = Shape.NONE, Shape.REFERENCES_KEPT, Shape.FRAGMENTATION, Shape.JUMP, Shape.GROWTH

CURVES: dict[str, tuple[Shape, Callable[[Random], list[Moment]]]] = {
    "steps of a second": (NONE, _steady(6000, 3000)),
    "long steps": (NONE, _steady(6000, 9000, 900, noise=0.1)),
    "ten samples a second": (NONE, _steady(6000, 3000, 200, every=0.1)),
    "hours of it": (NONE, _steady(6000, 3000, 14_400, every=10.0)),
    "loaded, then flat": (NONE, _shaped(lambda _t, _r: 14_000.0, 1500, 240, start=60)),
    "loads for minutes": (NONE, _shaped(lambda _t, _r: 18_000.0, 0, 130, start=150)),
    "model, optimizer, then flat": (
        NONE,
        _shaped(lambda t, _r: 4000.0 + (4000.0 if t > 15 else 0) + (2000.0 if t > 25 else 0), 3000, 300),
    ),
    "grows less and less": (NONE, _shaped(lambda t, _r: 6000.0 + 3000.0 * (1 - 2.718 ** (-t / 60)), 2000, 600)),
    "lower evaluations": (NONE, _shaped(_evaluating(-3000, 200, 40), 3000, 900)),
    "higher evaluations": (NONE, _shaped(_evaluating(3000, 220, 45), 2000, 800)),
    "the first evaluation is over": (NONE, _shaped(_evaluating(3000, 2000, 50, first=400), 2000, 520)),
    "the first evaluation": (NONE, _shaped(_evaluating(2500, 2000, 80, first=400), 2000, 455)),
    "evaluations that collect": (NONE, _shaped(_evaluating(4000, 250, 45, ramp=True), 2000, 870)),
    "within an evaluation that collects": (NONE, _shaped(_evaluating(4000, 250, 60, ramp=True), 2000, 1010)),
    "peaks every minute": (NONE, _jump(100, 4000, stays=False, seconds=500, period=60)),
    "epochs that fill a buffer": (NONE, _shaped(lambda t, _r: 6000.0 + 20.0 * (t % 180), 2000, 700)),
    "batches of any length": (NONE, _lengths),
    "algorithms are tried": (NONE, _warm_up),
    "garbage": (NONE, _garbage),
    "a notebook": (NONE, _notebook),
    "a server": (NONE, _bursts),
    "wanders about": (NONE, _walk),
    "empty_cache": (NONE, _emptied),
    "gives back": (NONE, _shaped(lambda t, _r: 12_000.0 - 8.0 * t, 1500, 600)),
    "cuBLAS's workspaces": (NONE, _workspaces),
    "twenty seconds": (NONE, _shaped(lambda t, _r: 3000.0 + 100 * t, 1000, 25, start=4)),
    "rests": (NONE, _resting),
    "loaded long before the first step": (NONE, _late_start),
    "as it was": (NONE, _shrunk),
    "keeps 2 MiB a step": (KEPT, _shaped(lambda t, _r: 6000.0 + 2.5 * t, 3000, 900)),
    "keeps much": (KEPT, _shaped(lambda t, _r: 5000.0 + 60.0 * t, 2000, 160)),
    "keeps something each epoch": (KEPT, _shaped(lambda t, _r: 6000.0 + 300.0 * (t // 30), 1500, 600)),
    "keeps, and evaluates": (KEPT, _shaped(_evaluating(-2500, 150, 25, slope=6.0), 3000, 900)),
    "keeps, with any length": (KEPT, _shaped(lambda t, _r: 6000.0 + 8.0 * t, 3000, 600, noise=0.3)),
    "keeps at long steps": (KEPT, _shaped(lambda t, _r: 6000.0 + 90.0 * (t // 10), 6000, 700)),
    "keeps from a later moment on": (KEPT, _shaped(lambda t, _r: 6000.0 + max(0.0, t - 1200) * 10.0, 3000, 1500)),
    "keeps from nothing on": (KEPT, _toy),
    "keeps, ten samples a second": (KEPT, _shaped(lambda t, _r: 6000.0 + 9.0 * t, 3000, 240, every=0.1)),
    "keeps for hours": (KEPT, _shaped(lambda t, _r: 6000.0 + 0.5 * t, 3000, 14_400, every=10.0)),
    "keeps two thirds": (KEPT, _recovering),
    "keeps unevenly": (KEPT, _uneven),
    "pieces": (PIECES, _fragmenting(24, 12, 700)),
    "large pieces": (PIECES, _fragmenting(220, 60, 900)),
    "pieces over hours": (PIECES, _fragmenting(60, 300, 10_800, tick=5.0)),
    "pieces, with noise": (PIECES, _fragmenting(40, 15, 800, noise=0.06)),
    "pieces, and evaluations": (PIECES, _fragmenting(40, 15, 800, level=lambda t, _r: 6000.0 - (2000.0 if t % 150 > 120 else 0.0))),
    "pieces from a later moment on": (PIECES, _fragmenting(50, 15, 1300, begin=700)),
    "one long sequence": (JUMP, _jump(400, 5000, stays=False, seconds=480)),
    "larger pictures from now on": (JUMP, _jump(500, 4000, stays=True, seconds=730)),
    "one long sequence, late": (JUMP, _jump(1500, 8000, stays=False, seconds=1700)),
    "one long sequence among any": (JUMP, _jump(400, 6000, stays=False, seconds=520, noise=0.12)),
    "half the card": (JUMP, _jump(300, 12_000, stays=False, seconds=360)),
    "from outside, grows": (GROWTH, _outside(_shaped(lambda t, _r: 6000.0 + 10.0 * t, 2000, 600))),
    "from outside, stairs": (GROWTH, _outside(_fragmenting(60, 15, 900))),
    "from outside, steady": (NONE, _outside(_steady(6000, 3000))),
    "from outside, loads": (NONE, _outside(_shaped(lambda _t, _r: 14_000.0, 1500, 240, start=60))),
    "from outside, wavers": (NONE, _outside(_steady(6000, 3000, 600), noise=60)),
    "from outside, less and less": (NONE, _outside(_shaped(lambda t, _r: 6000.0 + 3000.0 * (1 - 2.718 ** (-t / 60)), 2000, 700))),
    "from outside, the first step is late": (NONE, _outside(_late_start)),
    "from outside, one jump": (JUMP, _outside(_jump(400, 5000, stays=False, seconds=480))),
}


def all_curves(seed: int) -> Iterator[tuple[str, Shape, list[Moment]]]:
    for name, (shape, made) in CURVES.items():
        yield name, shape, made(Random(f"{seed} {name}"))
