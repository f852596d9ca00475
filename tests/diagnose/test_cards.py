"""The state of cards is told from facts: each on a machine that shows it, and not on its neighbour."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.judge import judge
from gpuassist.diagnose.rules.cards import RULES
from gpuassist.model.fact import Known
from gpuassist.model.finding import Finding
from gpuassist.model.gpu import GpuProcess, Holder, PcieLink, Recovery
from gpuassist.model.machine import Machine
from tests.rows import for_each
from tests.values import RTX_3090, RTX_4090, knowledge, machine

MIB = 1 << 20
QUIET = {"display_active": (False,), "persistence": (False,), "sleeps": (False,)}


def _found(told: dict[str, Any], **recipe: Any) -> tuple[Finding, ...]:
    return judge(machine(told=told, **recipe), knowledge(), RULES).findings


def _process(pid: int, used: int) -> GpuProcess:
    return GpuProcess(pid, "compute", Known(used * MIB, "NVML"))


@for_each(
    ("told", "expected"),
    [
        ({"compute_mode": ("exclusive process",)}, ["compute-mode-exclusive"]),
        ({"compute_mode": ("exclusive thread",)}, ["compute-mode-exclusive"]),
        ({"compute_mode": ("prohibited",)}, ["compute-mode-exclusive"]),
        ({"compute_mode": ("default",)}, []),
        ({"recovery": (Recovery.RESET,)}, ["gpu-reset-required"]),
        ({"recovery": (Recovery.REBOOT,)}, ["gpu-reset-required"]),
        ({"recovery": (Recovery("7"),)}, ["gpu-reset-required"]),
        ({"recovery": (Recovery.NONE,)}, []),
        ({"slowdowns": (("power brake",),)}, ["gpu-power-brake"]),
        ({"slowdowns": (("heat",),)}, ["gpu-overheating"]),
        ({"slowdowns": ((),)}, []),
        ({"pcie_link": (PcieLink(8, 16, 16.0, 16.0),)}, ["pcie-link-degraded"]),
        ({"pcie_link": (PcieLink(16, 16, 2.5, 16.0),)}, []),
        ({"pcie_link": (PcieLink(4, 4, 8.0, 8.0),)}, []),
        (QUIET, ["persistence-mode-off"]),
        ({**QUIET, "display_active": (True,)}, []),
        ({**QUIET, "persistence": (True,)}, []),
        ({**QUIET, "sleeps": (True,)}, []),
        ({"persistence": (False,), "display_active": (False,)}, []),
        ({}, []),
    ],
)
def test_state_of_a_card_is_told(told: dict[str, Any], expected: list[str]) -> None:
    assert [one.problem for one in _found(told)] == expected


def test_card_that_no_program_may_use_is_a_flag() -> None:
    (prohibited,) = _found({"compute_mode": ("prohibited",)})
    assert (prohibited.parameter("prohibited"), prohibited.parameter("index")) == ("yes", "0")
    (exclusive,) = _found({"compute_mode": ("exclusive process",)})
    assert exclusive.parameter("prohibited") == ""


@pytest.mark.parametrize("recipe", [{"wsl": 2, "driver": "566.36"}, {"container": "docker"}])
def test_persistence_is_not_asked_for_where_it_is_another_systems(recipe: dict[str, Any]) -> None:
    assert _found(QUIET, **recipe) == ()


@pytest.mark.parametrize(
    ("first", "others", "count"),
    [
        ((_process(1, 300), _process(2, 300)), ((_process(1, 9000),), (_process(2, 9000),)), "2"),
        ((_process(1, 300), _process(2, 300), _process(3, 9000)), ((_process(1, 9000),), (_process(2, 9000),)), "2"),
        ((_process(1, 300),), ((_process(1, 9000),), ()), ""),
        ((_process(1, 9000), _process(2, 9000)), ((_process(1, 9000),), (_process(2, 9000),)), ""),
        ((_process(1, 300), _process(2, 300)), ((), ()), ""),
        ((_process(1, 300), _process(2, 300)), ((_process(1, 300),), (_process(2, 300),)), ""),
    ],
)
def test_contexts_beside_the_work_are_counted(first: tuple[GpuProcess, ...], others: tuple[Any, ...], count: str) -> None:
    found = _found({"processes": (first, *others)}, gpus=(RTX_4090, RTX_3090, RTX_3090))
    assert [one.parameter("count") for one in found] == ([count] if count else [])


@pytest.mark.parametrize(
    ("state", "device", "expected"),
    [
        ("T", "/dev/nvidia0", ["gpu-memory-held-by-dead-process"]),
        ("S", "/dev/nvidia0", []),
        ("R", "/dev/nvidia0", []),
        ("T", "/dev/nvidiactl", []),
    ],
)
def test_program_that_was_stopped_on_a_gpu_is_told(state: str, device: str, expected: list[str]) -> None:
    holder = Holder(4711, "you", "python train.py", (device,), state=Known(state, "/proc/4711/stat"))
    one = replace(machine(), holders=Known((holder,), "/proc"))
    assert [one.problem for one in judge(one, knowledge(), RULES).findings] == expected


def test_one_of_two_equal_cards_has_its_number() -> None:
    (found,) = _found({"recovery": (Recovery.NONE, Recovery.RESET)}, gpus=(RTX_3090, RTX_3090))
    assert found.parameter("gpu") == "RTX 3090 (GPU 1)"


def test_machine_of_which_nothing_is_known_has_no_state() -> None:
    assert judge(Machine(), knowledge(), RULES).findings == ()
