"""No two entries of the knowledge contradict, and none stands without the others that it names."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from gpuassist.knowledge.compatibility import DriverFit, driver_serves_gpu
from gpuassist.knowledge.records import GpuRecord, ModuleFlavour
from gpuassist.model.version import Version
from tests.knowledge.shipped import KNOWLEDGE

IDS = Path("/usr/share/misc/pci.ids")
# What pci.ids lists of NVIDIA's in that range beside GPUs since Kepler: sound, USB and storage of cards and of Tegra systems,
# bridges, ports and switches, a neural processor, prototypes in programmable logic; and the GT218, which is older.
NO_GPU = re.compile(r"\b(Audio|USB|UCSI|[Hh]ost|[Bb]ridge|Controller|RP|NVSwitch|Root|Endpoint|SATA|NPU)\b|^GK11x|^GT218")
FIRST_KEPLER = 0x0FC0


def by_chip() -> dict[str, list[GpuRecord]]:
    found: dict[str, list[GpuRecord]] = defaultdict(list)
    for gpu in KNOWLEDGE.gpus():
        found[gpu.chip].append(gpu)
    return found


def test_gpus_of_one_chip_have_one_capability() -> None:
    for gpus in by_chip().values():
        assert len({(gpu.architecture, gpu.compute_capability, gpu.integrated) for gpu in gpus}) == 1


def test_every_gpu_has_a_known_chip_of_its_architecture() -> None:
    chips = {(chip.chip, one.name): chip for one in KNOWLEDGE.architectures() for chip in one.chips}
    for gpu in KNOWLEDGE.gpus():
        assert chips[gpu.chip, gpu.architecture].compute_capability == gpu.compute_capability


def test_every_chip_belongs_to_a_gpu() -> None:
    known = by_chip()
    assert [chip.chip for one in KNOWLEDGE.architectures() for chip in one.chips if chip.chip not in known] == []


def test_name_and_chip_lead_to_one_capability() -> None:
    capable: dict[tuple[str, str], set[str]] = defaultdict(set)
    for gpu in KNOWLEDGE.gpus():
        for name in (gpu.name, *gpu.aliases):
            capable[name, gpu.chip].add(str(gpu.compute_capability))
    assert [key for key, found in capable.items() if len(found) > 1] == []


def test_aliases_repeat_neither_the_name_nor_each_other() -> None:
    for gpu in KNOWLEDGE.gpus():
        assert gpu.name not in gpu.aliases
        assert len(gpu.aliases) == len(set(gpu.aliases))


def test_names_are_words() -> None:
    every = [name for gpu in KNOWLEDGE.gpus() for name in (gpu.name, *gpu.aliases)]
    assert [name for name in every if not name or name != name.strip() or "  " in name or len(name) > 100] == []


def test_memory_is_a_whole_number_of_gibibytes_in_order() -> None:
    for gpu in KNOWLEDGE.gpus():
        assert all(size > 0 and size % 2**30 == 0 for size in gpu.memory_bytes)
        assert list(gpu.memory_bytes) == sorted(set(gpu.memory_bytes))


def test_memory_is_known_of_every_data_centre_gpu_since_volta() -> None:
    known = ("Tesla V100", "A100", "A40", "A30", "A10", "H100", "H200", "H20", "L4", "L40", "L40S", "B200")
    for name in known:
        gpus = [gpu for gpu in KNOWLEDGE.gpus_named(name) if not gpu.unlisted]
        assert any(gpu.memory_bytes for gpu in gpus), name


def test_own_flavour_differs_from_the_architecture_only_for_grace_hopper() -> None:
    flavours = {one.name: one.module for one in KNOWLEDGE.architectures()}
    special = [gpu for gpu in KNOWLEDGE.gpus() if gpu.module is not flavours[gpu.architecture]]
    assert {gpu.module for gpu in special} == {ModuleFlavour.OPEN_REQUIRED}
    assert all("GH200" in gpu.name or "Grace Hopper" in gpu.name for gpu in special)


def test_last_branch_serves_its_architecture_and_the_next_does_not() -> None:
    numbers = [branch.branch for branch in KNOWLEDGE.branches()]
    for one in KNOWLEDGE.architectures():
        if one.last_branch is not None:
            after = numbers[numbers.index(one.last_branch) + 1]
            fits = [driver_serves_gpu(Version((number,)), one) for number in (one.last_branch, after)]
            assert fits == [DriverFit.FINE, DriverFit.DROPPED]


def test_first_drivers_are_of_known_branches() -> None:
    known = {branch.branch for branch in KNOWLEDGE.branches()}
    firsts = [chip.first_driver for one in KNOWLEDGE.architectures() for chip in one.chips if chip.first_driver]
    assert {first.major for first in firsts} <= known


def test_toolkits_and_their_drivers_know_the_same_cuda() -> None:
    for toolkit in KNOWLEDGE.toolkits():
        branch = KNOWLEDGE.branch(toolkit.native_driver.major) if toolkit.native_driver else None
        assert branch is None or branch.cuda is None or branch.cuda >= toolkit.release


def ids_of_nvidia() -> list[tuple[str, str]]:
    """The devices in the system's list, where that is not newer than the one that the knowledge is from."""
    words = IDS.read_text("utf-8", "replace") if IDS.is_file() else ""
    version = re.search(r"Version: ([0-9.]+)", words)
    if version is None or version[1] > "2026.10.24":
        return []
    nvidia = re.split(r"\n(?=[0-9a-f]{4}  )", words.split("\n10de  ")[1])[0]
    return re.findall(r"^\t([0-9a-f]{4})  (.*)$", nvidia, re.MULTILINE)


@pytest.mark.skipif(not ids_of_nvidia(), reason="no list of PCI ids on this machine that the knowledge should know")
def test_every_gpu_since_kepler_that_the_system_knows_is_known() -> None:
    since = [(device, words) for device, words in ids_of_nvidia() if int(device, 16) >= FIRST_KEPLER and not NO_GPU.search(words)]
    assert len(since) > 600
    assert [(device, words) for device, words in since if KNOWLEDGE.gpu(f"10de:{device}") is None] == []
