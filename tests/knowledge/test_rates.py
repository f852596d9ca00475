"""What GPUs should reach: every product has its place in the list of GPUs, and NVIDIA's figures are what the arithmetic gives."""

from __future__ import annotations

import pytest

from gpuassist.knowledge.rates import (
    FORMATS,
    GpuRates,
    ProductLine,
    ReachedRate,
    SmRates,
    line_of,
    rates_of,
    reached_of,
    sm_rates_of,
)
from gpuassist.model.version import ComputeCapability
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

GIB = 2**30
# Figures that are no arithmetic over the boost clock: GH100 and GB100 clock their tensor cores by themselves (NVIDIA H100
# whitepaper, table 3), L40 and L20 sum in fp32 at half the rate of their line (their datasheets).
OF_THEIR_OWN = {"GH100", "GB100", "GB110"}
HALVED = {"L40", "L20"}


def _capability(rates: GpuRates) -> ComputeCapability | None:
    return next(one.compute_capability for one in KNOWLEDGE.gpus() if (one.name, one.chip) == (rates.gpu, rates.chip))


def _computed(rates: GpuRates, kind: str) -> float:
    capability = _capability(rates)
    assert capability is not None
    found = sm_rates_of(capability, line_of(rates.gpu, rates.chip), KNOWLEDGE.sm_rates())
    return found.of(kind) * rates.multiprocessors * rates.boost_mhz / 1e6 if found is not None else 0


@for_each("rates", KNOWLEDGE.gpu_rates())
def test_every_product_is_in_the_list_of_gpus_by_name_and_chip(rates: GpuRates) -> None:
    assert [one for one in KNOWLEDGE.gpus() if (one.name, one.chip) == (rates.gpu, rates.chip)]


def test_a_product_chip_and_memory_stand_once() -> None:
    keys = [(one.gpu, one.chip, one.memory_gb) for one in KNOWLEDGE.gpu_rates()]
    assert len(keys) == len(set(keys))


@for_each("rates", [one for one in KNOWLEDGE.gpu_rates() if one.chip not in OF_THEIR_OWN and one.gpu not in HALVED])
def test_what_nvidia_says_is_what_the_arithmetic_gives(rates: GpuRates) -> None:
    for kind, told in rates.rates:
        computed = _computed(rates, kind)
        assert not told or not computed or computed == pytest.approx(told, rel=0.025), kind


@for_each(
    "gpu, kind, rate",
    [
        ("GeForce RTX 4090", "fp16", 165.2),
        ("GeForce RTX 4090", "fp32", 82.6),
        ("GeForce RTX 5080", "fp16", 112.6),  # 84 multiprocessors, 2,617 MHz, 512
        ("GeForce RTX 3080", "fp16", 59.5),  # NVIDIA Ampere GA102 whitepaper, table 2 (10 GB)
        ("RTX A6000", "fp16", 154.8),
        ("Tesla T4", "fp16", 65.1),
        ("GeForce GTX 1080 Ti", "fp32", 11.3),  # NVIDIA Turing Architecture In-Depth, table 1
        ("GeForce RTX 2080 Ti", "fp16", 53.8),
    ],
)
def test_boards_that_are_known_well(gpu: str, kind: str, rate: float) -> None:
    found = min((one for one in KNOWLEDGE.gpu_rates() if one.gpu == gpu), key=lambda one: one.memory_gb)
    assert _computed(found, kind) == pytest.approx(rate, rel=0.02)


@for_each("rates", KNOWLEDGE.sm_rates())
def test_a_line_is_given_where_lines_differ(rates: SmRates) -> None:
    same = [one for one in KNOWLEDGE.sm_rates() if one.capability == rates.capability]
    assert len(same) == len({one.line for one in same})
    assert (rates.line is ProductLine.EVERY) == (len(same) == 1)
    assert set(dict(rates.operations)) <= set(FORMATS)


@for_each("reached", KNOWLEDGE.reached_rates())
def test_a_published_share_is_of_a_peak_that_is_known(reached: ReachedRate) -> None:
    found = sm_rates_of(reached.capability, reached.line, KNOWLEDGE.sm_rates())
    known = found is not None and found.of(reached.format)
    given = [one for one in KNOWLEDGE.gpu_rates() if one.rate(reached.format) and _capability(one) == reached.capability]
    assert known or given
    assert reached_of(reached.capability, reached.line, reached.format, KNOWLEDGE.reached_rates()) == reached


@for_each(
    "name, chip, line",
    [
        ("NVIDIA GeForce RTX 4090", "", ProductLine.GEFORCE),
        ("NVIDIA GeForce GTX 1660 Ti", "", ProductLine.NO_TENSOR_CORES),
        ("NVIDIA T1000", "TU117", ProductLine.NO_TENSOR_CORES),
        ("NVIDIA RTX 6000 Ada Generation", "", ProductLine.PROFESSIONAL),
        ("Tesla T4", "TU104", ProductLine.PROFESSIONAL),
        ("NVIDIA L40S", "", ProductLine.PROFESSIONAL),
        ("NVIDIA A10", "", ProductLine.PROFESSIONAL),
        ("TITAN RTX", "TU102", ProductLine.EVERY),
        ("NVIDIA Graphics Device", "", ProductLine.EVERY),
    ],
)
def test_the_line_follows_from_the_name(name: str, chip: str, line: ProductLine) -> None:
    assert line_of(name, chip) is line


@for_each(
    "pci_id, memory, gpu, memory_gb",
    [
        ("10de:2684", 24564 << 20, "GeForce RTX 4090", 24.0),
        ("10de:2684", 49140 << 20, "GeForce RTX 4090", 24.0),  # a card whose memory was doubled computes as it did
        ("10de:1b80", 0, "GeForce GTX 1080", 8.0),
        ("10de:20b2", 81920 << 20, "A100 SXM4 80GB", 80.0),
        ("10de:2330", 81559 << 20, "H100 SXM5 80GB", 80.0),
    ],
)
def test_a_gpu_is_found_by_its_pci_id(pci_id: str, memory: int, gpu: str, memory_gb: float) -> None:
    record = KNOWLEDGE.gpu(pci_id)
    assert record is not None
    found = rates_of(record, memory, KNOWLEDGE.gpu_rates())
    assert found is not None
    assert (found.gpu, found.memory_gb) == (gpu, memory_gb)


def test_of_two_sizes_the_one_that_it_has() -> None:
    record = KNOWLEDGE.gpu("10de:2206")  # GeForce RTX 3080, 10 GB; there is one of 12 GB with more multiprocessors
    assert record is not None
    small = rates_of(record, 10 * GIB, KNOWLEDGE.gpu_rates())
    assert small is not None
    assert small.multiprocessors == 68
    assert rates_of(record, 0, KNOWLEDGE.gpu_rates()) is None
    assert rates_of(record, 20 * GIB, KNOWLEDGE.gpu_rates()) is None
