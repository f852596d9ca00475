"""What a rate is of what a GPU should reach, and what is said to have held it back: only what was seen, and a finding only where
somebody can change it.
"""

from __future__ import annotations

from typing import Any

import pytest

from gpuassist.model.fact import Known, Unknown
from gpuassist.model.words import ENGLISH
from gpuassist.session.rates import GpuSeen, expectation_of
from gpuassist.verify.expectation import MEMORY, PCIE, Expectation, HeldBackBy, MeasuredRate, PeakKind
from gpuassist.verify.load import DeviceLoad
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each
from tests.verify.loads import GIB, load, look

RTX_4090 = GpuSeen("NVIDIA GeForce RTX 4090", "10de:2684", (8, 9), 24564 << 20, 128)
LAPTOP = GpuSeen("NVIDIA GeForce RTX 4090 Laptop GPU", "10de:2757", (8, 9), 16 * GIB, 76)
H100 = GpuSeen("NVIDIA H100 80GB HBM3", "10de:2330", (9, 0), 81559 << 20, 132)
PART = GpuSeen("NVIDIA A100-SXM4-80GB MIG 3g.40gb", "10de:20b2", (8, 0), 40 * GIB, 42, mig=True)


def of(seen: GpuSeen, kind: str, rate: float, seen_load: DeviceLoad | None = None) -> Expectation:
    return expectation_of(KNOWLEDGE, MeasuredRate(kind, rate), seen, seen_load)


def causes(found: Expectation) -> list[HeldBackBy]:
    return [reason.cause for reason in found.reasons]


def peak(found: Expectation) -> tuple[float, PeakKind]:
    assert isinstance(found.peak, Known)
    return round(found.peak.value.rate, 1), found.peak.value.kind


def share(found: Expectation) -> float:
    assert isinstance(found.share, Known)
    return found.share.value


def test_a_narrow_link_and_a_lowered_power_limit_are_named_and_nothing_else() -> None:
    found = of(RTX_4090, "fp16", 61.1, load(look(width=1, power_limit=150_000)))
    assert peak(found) == (165.2, PeakKind.NVIDIA)
    assert share(found) == pytest.approx(0.37, abs=0.001)
    assert causes(found) == [HeldBackBy.POWER_LIMIT, HeldBackBy.LINK_WIDTH]
    assert found.held_back
    words = ENGLISH(found.words)
    assert [piece in words for piece in ("37 %", "RTX 4090", "150 W of 450 W", "PCIe x1 of x16")] == [True] * 4


@for_each(
    "told, cause, a_finding",
    [
        ({"power_limit": 300_000}, HeldBackBy.POWER_LIMIT, True),
        ({"reasons": 0x20}, HeldBackBy.HEAT, True),
        ({"reasons": 0x40}, HeldBackBy.HEAT, True),
        ({"reasons": 0x80}, HeldBackBy.POWER_BRAKE, True),
        ({"reasons": 0x2}, HeldBackBy.CLOCKS_SET, True),
        ({"reasons": 0x4}, HeldBackBy.POWER_DRAW, False),  # every GPU at work comes there
        ({"width": 8}, HeldBackBy.LINK_WIDTH, True),
        ({"generation": 2}, HeldBackBy.LINK_GENERATION, True),
        ({"processes": [[77, 6 * GIB]]}, HeldBackBy.OTHER_PROGRAMS, True),
    ],
)
def test_each_cause_comes_from_what_was_seen(told: dict[str, Any], cause: HeldBackBy, a_finding: bool) -> None:
    found = of(RTX_4090, "fp16", 60.0, load(look(**told)))
    assert causes(found) == [cause]
    assert found.held_back is a_finding


def test_a_slow_rate_without_a_cause_is_a_number() -> None:
    found = of(RTX_4090, "fp16", 20.0, load())
    assert (causes(found), found.held_back) == ([], False)
    assert of(RTX_4090, "fp16", 20.0).held_back is False


def test_a_cause_without_a_slow_rate_is_a_number() -> None:
    found = of(RTX_4090, "fp16", 150.0, load(look(power_limit=400_000)))
    assert (causes(found), found.held_back) == ([HeldBackBy.POWER_LIMIT], False)


def test_what_others_measured_is_the_bar_where_it_is_published() -> None:
    limited = load(look(power_limit=500_000), pci_id="10de:2330", power_default=700_000)
    low, usual = of(H100, "bf16", 600.0, limited), of(H100, "bf16", 800.0, limited)
    assert low.usual is not None
    assert (low.held_back, usual.held_back) == (True, False)


def test_a_desktop_on_the_gpu_is_no_cause() -> None:
    assert causes(of(RTX_4090, "fp16", 60.0, load(look(processes=[[1, GIB], [2, GIB // 2], [3, None]])))) == []


def test_the_start_of_a_short_product_counts_as_such() -> None:
    short = MeasuredRate("fp16", 66.0, 0.0005, 0.0003)
    found = expectation_of(KNOWLEDGE, short, RTX_4090, load(look(power_limit=440_000)))
    assert HeldBackBy.SHORT in causes(found)
    assert not found.held_back  # without its start it would be 165
    long = MeasuredRate("fp16", 66.0, 0.5, 0.0003)
    assert HeldBackBy.SHORT not in causes(expectation_of(KNOWLEDGE, long, RTX_4090))


def test_a_laptop_is_measured_by_the_clock_at_which_it_ran() -> None:
    found = of(LAPTOP, "fp16", 60.0, load(look(clock=1900), pci_id="10de:2757"))
    assert peak(found) == (round(76 * 512 * 1900 / 1e6, 1), PeakKind.CLOCK_SEEN)
    assert (causes(found), found.held_back) == ([HeldBackBy.LAPTOP], False)
    assert isinstance(of(LAPTOP, "fp16", 60.0).peak, Unknown)


def test_a_part_of_a_gpu_has_its_part_of_the_peak() -> None:
    found = of(PART, "fp16", 100.0, load(pci_id="10de:20b2", memory=80 * GIB, ecc=True, mig=True))
    assert peak(found) == (round(312 * 42 / 108, 1), PeakKind.NVIDIA)
    assert (set(causes(found)), found.held_back) == ({HeldBackBy.PART, HeldBackBy.ECC}, False)
    assert isinstance(of(PART, MEMORY, 900.0).peak, Unknown)


def test_a_gpu_in_no_table_is_measured_by_its_capability_and_clock() -> None:
    unlisted = GpuSeen("NVIDIA GeForce RTX 4095", "10de:fffe", (8, 9), 24 * GIB, 100)
    assert peak(of(unlisted, "fp16", 100.0, load(look(clock=2500)))) == (128.0, PeakKind.CLOCK_SEEN)
    idle = load(look(reasons=0x1), clock_most=3000)
    assert peak(of(unlisted, "fp16", 100.0, idle)) == (153.6, PeakKind.CLOCK_ALLOWED)


@for_each(
    "seen, kind",
    [
        (GpuSeen("NVIDIA GeForce RTX 6090", "10de:fffe", (13, 0), 24 * GIB, 100), "fp16"),
        (GpuSeen("NVIDIA A10G", "10de:2237", (8, 6), 24 * GIB, 80), "fp16"),  # its tensor cores are cut down
        (GpuSeen("TITAN RTX", "10de:1e02", (7, 5), 24 * GIB, 72), "fp16"),
        (GpuSeen("NVIDIA GeForce GTX 1660 Ti", "10de:2182", (7, 5), 6 * GIB, 24), "fp16"),
        (GpuSeen("NVIDIA GeForce RTX 4090", "10de:2684", (8, 9), 24 * GIB, 128), "fp4"),
    ],
)
def test_what_nobody_published_is_not_known(seen: GpuSeen, kind: str) -> None:
    found = of(seen, kind, 10.0, load(pci_id=seen.pci_id))
    assert isinstance(found.peak, Unknown)
    assert not found.held_back


def test_a_card_above_its_boost_clock_exceeds_its_peak() -> None:
    assert share(of(RTX_4090, "fp16", 172.0)) > 1


def test_copies_are_measured_by_what_slot_and_gpu_can_together() -> None:
    narrow = of(RTX_4090, PCIE, 1.7, load(look(width=1)))
    assert peak(narrow) == (31.5, PeakKind.LINK)
    assert narrow.held_back
    assert causes(narrow) == [HeldBackBy.LINK_WIDTH]
    old_slot = of(RTX_4090, PCIE, 12.0, load(look(generation=3), generation_most=3))
    assert peak(old_slot)[0] == 15.8
    assert (causes(old_slot), old_slot.held_back) == ([HeldBackBy.SLOT], False)


def test_copies_faster_than_the_link_was_seen_say_that_it_was_faster() -> None:
    found = of(RTX_4090, PCIE, 25.0, load(look(generation=1)))
    assert (causes(found), found.held_back) == ([], False)


def test_without_nvml_the_slot_is_the_one_that_the_card_is_made_for() -> None:
    assert peak(of(RTX_4090, PCIE, 25.0)) == (31.5, PeakKind.LINK)
    assert peak(of(RTX_4090, MEMORY, 900.0)) == (1008.4, PeakKind.NVIDIA)
