"""Machines with very many GPUs: twice as many are twice the work, counted in calls of functions and not in seconds."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import FrameType

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.chain import chains
from gpuassist.diagnose.judge import judge
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine, decode_machine
from tests.values import knowledge

ROOT = Path(__file__).parents[2]
RECORDED = sorted((ROOT / "resources/machines").glob("*.json"))
CASES = [
    ROOT / f"tests/cases/machines/{name}/facts.json"
    for name in ("debian-12-rtx-5090-driver-535", "three-cards-in-bad-states", "only-gpu-kept-for-virtual-machine")
]
FEW = 24


def with_gpus(path: Path, count: int) -> Machine:
    """The machine with as many GPUs, each with a number of its own."""
    machine = decode_machine(json.loads(path.read_bytes()))
    assert isinstance(machine.gpus, Known)
    known = machine.gpus.value
    gpus = tuple(replace(known[place % len(known)], index=Known(place, "NVML")) for place in range(count))
    return replace(machine, gpus=replace(machine.gpus, value=gpus))


def calls(machine: Machine) -> int:
    """How many it takes to judge it."""
    counted = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal counted
        counted += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        judge(machine, knowledge())
        chains(machine, knowledge())
    finally:
        sys.setprofile(before)
    return counted


@pytest.mark.parametrize("path", [*RECORDED[:6], *CASES], ids=lambda path: path.stem if path.stem != "facts" else path.parent.name)
def test_work_grows_as_their_number_does(path: Path) -> None:
    calls(with_gpus(path, 1))  # what is read and kept the first time
    few, twice, four = (calls(with_gpus(path, FEW * factor)) for factor in (1, 2, 4))
    assert four - twice < 2.5 * (twice - few)
