"""What a new terminal tells every CUDA program is told where it matters, and only there."""

from __future__ import annotations

from typing import Any

import pytest

from gpuassist.diagnose.judge import judge
from gpuassist.diagnose.rules.variables import RULES
from gpuassist.model.finding import Finding
from tests.values import GTX_1080_TI, RTX_3090, RTX_4090, RTX_5090, knowledge, machine, without

RTX_2080 = "10de:1e82"


def _found(**recipe: Any) -> tuple[Finding, ...]:
    return judge(machine(**recipe), knowledge(), RULES).findings


def _problems(**recipe: Any) -> list[str]:
    return [one.problem for one in _found(**recipe)]


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"CUDA_LAUNCH_BLOCKING": "1"}, ["launch-blocking-left-on"]),
        ({"CUDA_LAUNCH_BLOCKING": "0"}, []),
        ({"CUDA_LAUNCH_BLOCKING": ""}, []),
        ({"NVIDIA_TF32_OVERRIDE": "0"}, ["tf32-off"]),
        ({"NVIDIA_TF32_OVERRIDE": "1"}, []),
        ({"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}, []),
        ({"PYTORCH_ALLOC_CONF": "a:1", "PYTORCH_CUDA_ALLOC_CONF": "a:1"}, []),
        ({"PYTORCH_ALLOC_CONF": "a:1", "PYTORCH_CUDA_ALLOC_CONF": "a:2"}, ["allocator-variable-renamed"]),
        ({}, []),
    ],
)
def test_variable_is_told_where_it_matters(variables: dict[str, str], expected: list[str]) -> None:
    assert _problems(variables=variables) == expected


def test_old_gpu_has_no_tf32_to_miss() -> None:
    assert _problems(gpus=(RTX_2080,), variables={"NVIDIA_TF32_OVERRIDE": "0"}) == []


@pytest.mark.parametrize(
    ("gpus", "first"),
    [
        ((RTX_2080, RTX_4090), "RTX 4090"),
        ((GTX_1080_TI, RTX_2080, RTX_4090), "RTX 4090"),
        ((RTX_4090, RTX_2080, RTX_3090), ""),
        ((RTX_3090, RTX_2080, RTX_4090), "RTX 4090"),
        ((GTX_1080_TI, RTX_2080), ""),
        ((RTX_3090, RTX_4090), "RTX 4090"),
    ],
)
def test_faster_gpu_in_a_later_slot_is_told(gpus: tuple[str, ...], first: str) -> None:
    found = _found(gpus=gpus, driver="550.54.14")
    assert [(one.problem, one.parameter("first")) for one in found] == [("device-order-differs", first)]


@pytest.mark.parametrize("gpus", [(RTX_4090,), (RTX_4090, RTX_4090), (RTX_4090, RTX_2080), (RTX_4090, GTX_1080_TI)])
def test_order_that_is_the_same_is_not_told(gpus: tuple[str, ...]) -> None:
    assert _problems(gpus=gpus, driver="550.54.14") == []


def test_order_that_is_set_is_left_alone() -> None:
    gpus = (RTX_2080, RTX_4090)
    assert _problems(gpus=gpus, variables={"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}) == []
    (found,) = _found(gpus=gpus, variables={"CUDA_DEVICE_ORDER": "FASTEST_FIRST"})
    assert found.parameter("order") == "FASTEST_FIRST"


@pytest.mark.parametrize("missing", ["shell.new_terminal", "gpus"])
def test_unknown_facts_say_nothing(missing: str) -> None:
    one = without(machine(gpus=(RTX_2080, RTX_5090)), [missing])
    assert judge(one, knowledge(), RULES).findings == ()
