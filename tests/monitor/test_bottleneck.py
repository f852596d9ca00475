"""What GPUs wait for, by made-up machines whose verdict was written down first."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

from gpuassist.monitor.bottleneck import Bottleneck, Bottlenecks, Bound, Lack, Means, judge
from tests.monitor.made_loads import LOADS, Made
from tests.rows import for_each


def judged(made: Made, seed: str) -> Bottleneck:
    seen = Bottlenecks()
    for sample, loads, links in made.series(Random(seed)):
        seen.links = links
        seen.add(sample, loads)
    return seen.judge(0)


@for_each("name", LOADS)
def test_every_machine_waits_for_what_it_was_made_to_wait_for(name: str) -> None:
    assert judged(LOADS[name], f"20 {name}").bound is LOADS[name].want


def test_what_cannot_be_told_says_what_is_missing() -> None:
    lacks = {name: judged(made, name).lacks for name, made in LOADS.items() if made.want is Bound.UNDECIDED}
    assert all(lacks.values())
    assert lacks["utilisation alone"] == (Lack.ACTIVITY,)
    assert lacks["another user's program, hardly warm"] == (Lack.PROCESS,)
    assert lacks["half a minute ago it began"] == (Lack.TIME,)
    assert lacks["all wait for one another"] == (Lack.PEERS,)


@for_each("name", [name for name, made in LOADS.items() if made.want is Bound.GPU])
def test_utilisation_alone_never_means_busy(name: str) -> None:
    means = judged(LOADS[name], name).means
    alone = replace(means, utilization=100.0, sm_activity=None, power=None, power_capped=0.0, too_hot=0.0)
    assert judge(alone).bound is not Bound.GPU


@for_each("name", LOADS)
def test_without_any_figure_nothing_is_claimed(name: str) -> None:
    means = judged(LOADS[name], name).means
    assert judge(Means(means.seconds, means.looks)).bound in {Bound.UNDECIDED}


def test_a_pause_begins_anew_and_looks_are_a_second_apart() -> None:
    seen = Bottlenecks()
    series = list(LOADS["RTX 4090 at its limit"].series(Random(1)))
    for sample, loads, _ in series:
        seen.add(sample, loads)
        seen.add(replace(sample, monotonic=sample.monotonic + 0.1), loads)
    assert seen.means(0).looks == len(series)
    seen.add(replace(series[0][0], monotonic=2000.0), {})
    assert seen.judge(0).lacks == (Lack.TIME,)
    assert seen.judge(7).bound is Bound.UNDECIDED
