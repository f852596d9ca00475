"""Every link of every GPU is told with its name: those that hold, those that do not, and those that nobody can tell."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.chain import chains
from gpuassist.install.outlook_notes import links_of
from gpuassist.model.machine import Machine
from gpuassist.model.words import ENGLISH
from tests.values import GTX_1080_TI, RTX_3090, RTX_4090, RTX_5090, Env, Recipe, knowledge, machine, without

PARTS = {"driver", "torch", "nvcc", "g++"}


def told(made: Machine) -> dict[tuple[str, str], bool | None]:
    found = links_of(RuleInput(made, knowledge()), chains(made, knowledge(), thorough=True))
    return {(ENGLISH(one.first), ENGLISH(one.second)): one.holds for one in found}


def reason(made: Machine, second: str) -> str:
    found = links_of(RuleInput(made, knowledge()), chains(made, knowledge(), thorough=True))
    return next(ENGLISH(one.reason) for one in found if second in ENGLISH(one.second) and one.holds is not True)


def test_links_of_a_sound_machine_all_hold() -> None:
    assert told(machine(Recipe())) == {
        ("GPU 0: RTX 4090", "driver 550.54.14 for GPU 0"): True,
        ("driver 550.54.14 for GPU 0", "torch 2.5.1+cu124 for GPU 0"): True,
        ("torch 2.5.1+cu124 for GPU 0", "nvcc 12.4 for GPU 0"): True,
        ("nvcc 12.4 for GPU 0", "g++ 11.4 for GPU 0"): True,
        ("GPU 0: RTX 4090", "torch 2.5.1+cu124 for GPU 0"): True,
        ("GPU 0: RTX 4090", "nvcc 12.4 for GPU 0"): True,
    }


def test_each_gpu_has_links_of_its_own() -> None:
    found = told(machine(Recipe(gpus=(RTX_4090, RTX_3090))))
    assert {first for first, _ in found if first.startswith("GPU")} == {"GPU 0: RTX 4090", "GPU 1: RTX 3090"}
    assert len(found) == 12


def test_links_of_parts_that_are_not_there_are_left_out() -> None:
    found = told(machine(Recipe(toolkits=(), nvcc="", environments=())))
    assert found == {("GPU 0: RTX 4090", "driver 550.54.14 for GPU 0"): True}


def test_warning_is_a_link_that_does_not_hold() -> None:
    made = machine(Recipe(toolkits=("13.0.88",), nvcc="13.0", driver="580.95.05", cuda="13.0"))
    assert told(made)["torch 2.5.1+cu124 for GPU 0", "nvcc 13.0 for GPU 0"] is False


@pytest.mark.parametrize(
    ("recipe", "part", "why"),
    [
        (Recipe(gpus=(RTX_5090,)), "driver", "driver 550.54.14 is older than this GPU"),
        (Recipe(gpus=(RTX_5090,)), "torch", "torch has no code for 12.0"),
        (Recipe(gpus=(RTX_5090,)), "nvcc", "nvcc 12.4 cannot build for 12.0"),
        (Recipe(driver="470.57"), "torch", "too old for CUDA 12.4"),
        (Recipe(gcc=("14.2.0",)), "g++", "accepts gcc up to 13"),
        (Recipe(glibc="2.41"), "g++", "its headers clash with glibc 2.41"),
        (Recipe(gpus=(GTX_1080_TI,), driver="595.45.04"), "driver", "driver 595.45.04 no longer serves this GPU"),
        (Recipe(toolkits=("13.0.88",), nvcc="13.0", environments=()), "nvcc", "too old for programs of CUDA 13.0"),
        (Recipe(environments=(Env("e", "2.9.1+cpu", active=True),)), "torch", "a CPU build: it does not use the driver"),
    ],
)
def test_links_that_do_not_hold_say_why(recipe: Recipe, part: str, why: str) -> None:
    assert reason(machine(recipe), part) == why


def test_what_cannot_be_told_is_null_with_a_reason() -> None:
    made = without(machine(Recipe()), ["driver.loaded", "driver.version"])
    assert told(made)["driver not known for GPU 0", "torch 2.5.1+cu124 for GPU 0"] is None
    assert reason(made, "driver") == "what is known of them does not tell"
