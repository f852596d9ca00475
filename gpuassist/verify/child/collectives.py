"""What all devices do together: sums, gathering, sending, by NCCL on GPUs and gloo on the CPU; each element of each is compared.

Every rank makes for itself what it should receive, from what each rank has: nothing that was sent stands for itself.
"""

from __future__ import annotations

import time
from typing import Any, Callable, List, NamedTuple, Optional, Tuple

from .bench import Bench, Measured, Skipped, Wrong, same
from .transfers import words

_BF16_RANKS = 256  # sums of -1, 0 and 1 that bf16 holds exactly


class Group(NamedTuple):
    """One rank's view: torch.distributed, its place, how many there are, and what checks work with."""

    dist: Any
    rank: int
    world: int
    bench: Bench

    def part(self, kind: str, rank: int, run: int) -> Any:
        """What a rank has in that run, made on this rank's device. Of floating formats -1, 0 and 1: even bf16 sums 256 exactly."""
        bench, count = self.bench, self.bench.size * self.bench.size
        if kind == "int64":
            return words(bench, count, bench.device).mul_(rank + 1).add_(run)
        places = bench.torch.arange(count, dtype=bench.torch.int64, device=bench.device)
        return (places * (rank + 1) + run).remainder_(3).sub_(1).to(bench.dtype(kind))

    def total(self, kind: str, run: int) -> Any:
        """What the parts of all ranks come to: whole numbers, which wrap alike or are exact."""
        summed = self.part(kind, 0, run).to(self.bench.torch.int64)
        for rank in range(1, self.world):
            summed += self.part(kind, rank, run).to(self.bench.torch.int64)
        return summed.to(self.bench.dtype(kind))


class Step(NamedTuple):
    """A run of a collective: what does it, what this rank then holds, and what it should hold."""

    act: Callable[[], Any]
    results: List[Any]
    expected: List[Any]


def _all_reduce(group: Group, kind: str, run: int) -> Step:
    if kind == "bf16" and group.world > _BF16_RANKS:
        raise Skipped("bf16 does not hold the sum over {} ranks exactly".format(group.world))
    held = group.part(kind, group.rank, run)
    return Step(lambda: group.dist.all_reduce(held), [held], [group.total(kind, run)])


def _all_gather(group: Group, kind: str, run: int) -> Step:
    parts = [group.part(kind, rank, run) for rank in range(group.world)]
    held = [part.bitwise_not() for part in parts]
    return Step(lambda: group.dist.all_gather(held, parts[group.rank]), held, parts)


def _broadcast(group: Group, kind: str, run: int) -> Step:
    source = run % group.world
    sent = group.part(kind, source, run)
    held = sent.clone() if source == group.rank else sent.bitwise_not()
    return Step(lambda: group.dist.broadcast(held, source), [held], [sent])


def _reduce_scatter(group: Group, kind: str, run: int) -> Step:
    """Rank r gets the sum of all ranks' r-th pieces; those differ by how much is added to each."""
    own = group.part(kind, group.rank, run)
    pieces = [own + 7 * place for place in range(group.world)]
    expected = group.total(kind, run) + 7 * group.rank * group.world
    held = expected.bitwise_not()
    return Step(lambda: group.dist.reduce_scatter(held, pieces), [held], [expected])


def _ring(group: Group, kind: str, run: int) -> Step:
    """Each rank sends to the next one and receives from the one before."""
    dist, world = group.dist, group.world
    before, after = (group.rank - 1) % world, (group.rank + 1) % world
    sent, expected = group.part(kind, group.rank, run), group.part(kind, before, run)
    held = expected.bitwise_not()

    def act() -> None:
        both = [dist.P2POp(dist.isend, sent, after), dist.P2POp(dist.irecv, held, before)]
        for work in dist.batch_isend_irecv(both):
            work.wait()

    return Step(act, [held], [expected])


def checked(group: Group, make: Callable[[Group, str, int], Step]) -> Callable[[Bench, str], Measured]:
    return lambda bench, kind: _collective(group, kind, make)


def _collective(group: Group, kind: str, make: Callable[[Group, str, int], Step]) -> Measured:
    """Runs it with other numbers each time. What is wrong is told after the last run: a rank that leaves early lets others wait."""
    bench, seconds, compared, moved = group.bench, 0.0, 0, 0
    wrong: Optional[Wrong] = None
    for run in range(bench.repeats + 1):
        step = make(group, kind, run)
        bench.synchronize()
        began = time.perf_counter()
        try:
            step.act()
        except (RuntimeError, ValueError) as error:
            if "does not support" in str(error) or "Invalid scalar type" in str(error):
                raise Skipped(str(error).strip().splitlines()[0]) from error
            raise
        bench.synchronize()
        seconds += time.perf_counter() - began if run else 0.0
        moved = step.results[0].numel() * step.results[0].element_size() * len(step.results)
        for result, expected in [(result, step.expected[place]) for place, result in enumerate(step.results)]:
            try:
                compared += same(bench, result, expected, run)
            except Wrong as found:
                wrong = wrong or found
    if wrong is not None:
        raise wrong
    return Measured(0.0, 0.0, moved * bench.repeats / max(seconds, 1e-9) / 1e9, "GB/s", compared)


COLLECTIVES: Tuple[Tuple[str, str, Callable[[Group, str, int], Step]], ...] = (
    ("all-reduce", "int64", _all_reduce),
    ("all-reduce", "fp32", _all_reduce),
    ("all-reduce", "bf16", _all_reduce),
    ("all-gather", "int64", _all_gather),
    ("broadcast", "int64", _broadcast),
    ("reduce-scatter", "int64", _reduce_scatter),
    ("send-receive", "int64", _ring),
)
NAMES: Tuple[Tuple[str, str], ...] = tuple((name, kind) for name, kind, _ in COLLECTIVES)
