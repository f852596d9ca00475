"""What looks at a GPU come to over a time."""

from __future__ import annotations

from gpuassist.model.fact import Known, Unknown
from gpuassist.verify.load import OtherProcess, Slowdown, Span, address
from tests.verify.loads import GIB, SELF, load, look


def test_a_quantity_is_told_by_its_least_mean_and_most() -> None:
    seen = load(look(celsius=50, power=100_000), look(celsius=70, power=300_000))
    assert seen.looks == 2
    assert seen.celsius == Known(Span(50, 60, 70), "NVML")
    assert seen.power == Known(Span(100, 200, 300), "NVML")


def test_the_lowest_power_limit_counts_and_the_fastest_link() -> None:
    seen = load(look(power_limit=450_000, generation=1), look(power_limit=150_000, generation=3))
    assert (seen.power_limit, seen.generation) == (Known(150.0, "NVML"), Known(3, "NVML"))


def test_each_slowdown_has_its_share_of_the_looks() -> None:
    seen = load(look(reasons=0x24), look(reasons=0x4), look(), look())
    assert seen.slowdowns == Known((Slowdown("power limit", 0.5), Slowdown("heat", 0.25)), "NVML")


def test_what_an_idle_gpu_rests_at_is_no_clock_under_load() -> None:
    seen = load(look(reasons=0x1, clock=210, generation=1), look(clock=2600), look(reasons=0x1, clock=210, generation=1))
    assert (seen.clock, seen.generation) == (Known(Span(2600, 2600, 2600), "NVML"), Known(4, "NVML"))
    rested = load(look(reasons=0x1, clock=210, generation=1))
    assert isinstance(rested.clock, Unknown)
    assert isinstance(rested.generation, Unknown)


def test_other_processes_are_told_with_the_most_that_they_had_and_ours_are_not() -> None:
    seen = load(look(processes=[[SELF, GIB], [7, GIB]]), look(processes=[[7, 3 * GIB], [8, None]]))
    assert isinstance(seen.others, Known)
    assert seen.others.value[0] == OtherProcess(7, Known(3 * GIB, "NVML"))
    assert (seen.others.value[1].pid, isinstance(seen.others.value[1].memory_bytes, Unknown)) == (8, True)


def test_what_nobody_told_and_what_cannot_be_is_unknown() -> None:
    seen = load(look(celsius=None, clock=None, power_limit=2**32 - 1, processes=None, reasons=None, width=0))
    facts = (seen.celsius, seen.clock, seen.power_limit, seen.others, seen.slowdowns, seen.width)
    assert all(isinstance(fact, Unknown) for fact in facts)


def test_a_time_without_a_look_leaves_everything_unknown() -> None:
    seen = load(look(index=5))
    assert seen.looks == 0
    assert isinstance(seen.celsius, Unknown)


def test_an_address_is_written_as_the_pci_tree_does() -> None:
    assert address("00000000:0A:00.0") == "0000:0a:00.0"
    assert address("00010000:0A:00.0") == "00010000:0a:00.0"
    assert address("") == ""
