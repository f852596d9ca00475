"""Each name that NVML prints leads to the capability of the chips that are sold under it.

`printed_names.tsv` holds NVIDIA's own names since Kepler (g_nv_name_released.h of open-gpu-kernel-modules and nvGpus.h of
nvidia-installer, 595.45.04), one vGPU of each kind and board, MIG instances, and what systems on a chip print; `several` is a
name for chips of different capability.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpuassist.knowledge.records import GpuRecord
from tests.knowledge.shipped import KNOWLEDGE
from tests.rows import for_each

PRINTED = [line.split("\t") for line in (Path(__file__).parent / "printed_names.tsv").read_text("utf-8").splitlines()]

VIRTUAL = re.compile(r"-\d+[ABCMQE]*$")


def found(name: str) -> str:
    gpu = KNOWLEDGE.gpu_named(name)
    if gpu:
        return str(gpu.compute_capability)
    return "several" if KNOWLEDGE.gpus_named(name) else "nothing"


def test_list_of_names_is_long_enough() -> None:
    assert len({name for name, _ in PRINTED}) == len(PRINTED) > 800


def test_every_printed_name_leads_to_its_capability() -> None:
    assert {name: found(name) for name, capable in PRINTED if found(name) != capable} == {}


def test_vendor_in_front_changes_nothing() -> None:
    turned = [(name.removeprefix("NVIDIA ") if name.startswith("NVIDIA ") else f"NVIDIA {name}", name) for name, _ in PRINTED]
    assert [other for other, name in turned if found(other) != found(name)] == []


def test_case_changes_nothing() -> None:
    assert [name for name, _ in PRINTED[::5] if not found(name.lower()) == found(name.upper()) == found(name)] == []


def test_mig_instance_is_its_board() -> None:
    capable = [name for name, words in PRINTED if words in {"8.0", "9.0", "10.0"}]
    boards = [name for name in capable if "MIG" not in name and not VIRTUAL.search(name)]
    assert [name for name in boards if found(f"{name} MIG 1g.5gb") != found(name)] == []


@pytest.mark.parametrize(
    ("name", "pci_id"),
    [
        ("GeForce GT 1030", "10de:1d01"),
        ("GeForce GTX 750 Ti", "10de:1380"),
        ("NVIDIA GeForce RTX 3060", "10de:2503"),
        ("NVIDIA GeForce RTX 3050", "10de:2507"),
    ],
)
def test_name_lent_or_never_sold_confuses_nobody(name: str, pci_id: str) -> None:
    gpu, listed = KNOWLEDGE.gpu_named(name), KNOWLEDGE.gpu(pci_id)
    assert gpu is not None
    assert listed is not None
    assert gpu.compute_capability == listed.compute_capability


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("NVIDIA GeForce RTX 2050", "GeForce RTX 2050"),
        ("NVIDIA A100X", "A100X"),
        ("GeForce GTX 750 Ti", "GeForce GTX 750 Ti"),
        ("Jetson Thor", "Jetson AGX Thor"),
        ("RTX Spark N1X", "RTX Spark N1X (6144-core Blackwell RTX GPU)"),
    ],
)
def test_gpu_of_that_name_comes_before_those_that_bear_it_too(name: str, own: str) -> None:
    gpu = KNOWLEDGE.gpu_named(name)
    assert gpu is not None
    assert gpu.name == own


@pytest.mark.parametrize(
    ("name", "capable"),
    [
        ("GeForce GT 630", {"2.1", "3.0", "3.5"}),
        ("GeForce GT 640", {"2.1", "3.0", "3.5"}),
        ("GeForce GT 730", {"2.1", "3.0", "3.5"}),
        ("GeForce GTX 860M", {"3.0", "5.0"}),
        ("GeForce GTX 560 Ti", {"2.0", "2.1"}),
        ("GeForce 910M", {"3.5"}),
        ("Quadro M620", {"5.0"}),
        ("Quadro M3000M", {"5.2"}),
        ("NVIDIA GeForce RTX 2050", {"8.6"}),
        ("NVIDIA GeForce RTX 3050 A Laptop GPU", {"8.9"}),
        ("NVIDIA GeForce RTX 6090", set()),
    ],
)
def test_chip_decides_where_a_name_misleads(name: str, capable: set[str]) -> None:
    assert {str(gpu.compute_capability) for gpu in KNOWLEDGE.gpus_named(name)} == capable


@pytest.mark.parametrize("name", ["NVIDIA A40-12", "NVIDIA L40S-1-3", "NVIDIA RTXA6000-48", "GRID RTX T10-8"])
def test_virtual_gpu_for_games_is_its_board(name: str) -> None:
    assert found(name) in {"8.6", "8.9", "7.5"}


@pytest.mark.parametrize("name", ["NVIDIA Graphics Device", "GRID", "NVIDIA", "-8Q", "MIG 1g.5gb", "NVIDIA GeForce GPU", "-12"])
def test_words_without_a_product_are_no_gpu(name: str) -> None:
    assert found(name) == "nothing"


def sizes(gpu: GpuRecord | None) -> list[int]:
    return [size // 2**30 for size in gpu.memory_bytes] if gpu else []


@for_each(
    ("pci_id", "gib"),
    [
        ("10de:20b5", [80]),
        ("10de:20f1", [40]),
        ("10de:2330", [80]),
        ("10de:2235", [48]),
        ("10de:26b9", [48]),
        ("10de:27b8", [24]),
        ("10de:2335", [141]),
        ("10de:1db6", [32]),
        ("10de:1c03", [6]),
        ("10de:2342", [96]),
        ("10de:2684", [24]),
        ("10de:2206", [10]),
        ("10de:220a", [12]),
        ("10de:2bb3", []),
        ("10de:1b81", []),
        ("10de:2717", [16]),
    ],
)
def test_memory_is_known_where_the_product_fixes_it(pci_id: str, gib: list[int]) -> None:
    assert sizes(KNOWLEDGE.gpu(pci_id)) == gib
