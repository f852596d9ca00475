"""What stands in the way is named with the part that must move, and with what would do."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from tests.cli.made_session import live_session
from tests.values import DEBIAN, GTX_1080_TI, RTX_4090, RTX_5090, Env, Recipe, knowledge, machine

SESSION = live_session({})
BARE = Recipe(toolkits=(), nvcc="", environments=())
NEW = Recipe(gpus=(RTX_5090,), driver="580.95.05", cuda="13.0", open_module=True, toolkits=(), nvcc="", environments=())
OLD = Recipe(gpus=(GTX_1080_TI,), driver="580.95.05", cuda="13.0", toolkits=(), nvcc="", environments=())
GTX_780 = "10de:1004"


def blocked(recipe: Recipe, *goals: str) -> list[str]:
    outlook = plan_goals(SESSION, machine(recipe), tuple(parse_goal(words, knowledge()) for words in goals))
    assert outlook.steps == () or not outlook.blocked_by
    return [ENGLISH(reason) for reason in outlook.blocked_by]


def notes(recipe: Recipe, *goals: str) -> list[str]:
    outlook = plan_goals(SESSION, machine(recipe), tuple(parse_goal(words, knowledge()) for words in goals))
    return [ENGLISH(note) for note in outlook.notes]


def test_split_rig_is_told_its_three_ways() -> None:
    found = blocked(Recipe(gpus=(GTX_1080_TI, RTX_5090), driver="580.95.05", open_module=True), "torch")
    assert found == [
        "no Linux driver serves GTX 1080 Ti and RTX 5090 at once: GTX 1080 Ti needs the proprietary kernel module, RTX 5090 "
        "the open one, and only one of them can be loaded",
        "either keep RTX 5090: take GTX 1080 Ti out, or give it to a virtual machine (vfio-pci), and use driver branch 595, with "
        "the open kernel modules",
        "either keep GTX 1080 Ti: take RTX 5090 out, or give it to a virtual machine (vfio-pci), and use driver branch 580, with "
        "the proprietary kernel module",
        "or use both under Windows with WSL2, whose driver knows no such split: branch 580",
    ]


def test_split_rig_is_told_whatever_driver_is_pinned() -> None:
    found = blocked(Recipe(gpus=(GTX_1080_TI, RTX_5090), driver="580.95.05", open_module=True), "driver==580")
    assert found[0].startswith("no Linux driver serves GTX 1080 Ti and RTX 5090 at once")


def test_gpus_of_two_ages_are_told_where_each_ended() -> None:
    found = blocked(Recipe(gpus=(GTX_780, RTX_4090), driver="", bound="nouveau", environments=()), "driver")
    assert found == [
        "no driver branch that gpuassist knows serves GTX 780 and RTX 4090 at once",
        "GTX 780 was served up to branch 470",
        "either keep RTX 4090: take GTX 780 out, or give it to a virtual machine (vfio-pci), and use driver branch 595, with the "
        "open kernel modules",
        "either keep GTX 780: take RTX 4090 out, or give it to a virtual machine (vfio-pci), and use driver branch 470, with the "
        "proprietary kernel module",
    ]


@pytest.mark.parametrize(
    ("recipe", "goal", "reasons"),
    [
        (
            OLD,
            "driver==595",
            ["driver 595 no longer serves GTX 1080 Ti, whose last branch is 580", "driver branch 580 serves GTX 1080 Ti"],
        ),
        (NEW, "driver==535", ["driver 535 is older than RTX 5090, whose first is 570.86.16", "driver branch 595 serves RTX 5090"]),
        (NEW, "torch==9.9", ["gpuassist knows no CUDA build of torch 9.9 for x86_64"]),
        (BARE, "cuda==77.1", ["CUDA 77.1 is no release that gpuassist knows"]),
        (OLD, "cuda==13.0", ["CUDA 13.0 does not build for GTX 1080 Ti (6.1)", "CUDA 9.0 to 12.9 do"]),
        (NEW, "cuda==12.4", ["CUDA 12.4 does not build for RTX 5090 (12.0)", "CUDA 12.8 and newer do"]),
    ],
)
def test_reasons_name_the_edge(recipe: Recipe, goal: str, reasons: list[str]) -> None:
    assert blocked(recipe, goal) == reasons


def test_torch_without_code_is_told_which_releases_have_it() -> None:
    first, second = blocked(NEW, "torch==2.6")
    assert first == "no build of torch 2.6 has code for RTX 5090 (12.0)"
    assert second.startswith("builds of torch 2.7 to ")


def test_build_that_was_asked_for_is_named() -> None:
    assert blocked(NEW, "torch==2.7.1+cu126")[0] == "no build of torch 2.7.1+cu126 has code for RTX 5090 (12.0)"


def test_c_library_is_named_where_it_is_in_the_way() -> None:
    debian = Recipe(
        gpus=(GTX_1080_TI,), driver="580.95.05", toolkits=(), nvcc="", environments=(), distribution=DEBIAN, glibc="2.41"
    )
    assert blocked(debian, "cuda==11.8") == ["the headers of CUDA 11.8 clash with this system's glibc 2.41"]


def test_machine_without_a_gpu_is_told_how_to_ask() -> None:
    found = blocked(Recipe(gpus=(), driver="", environments=()), "torch")
    assert found == ['there is no NVIDIA GPU in this computer; `gpuassist plan gpu="RTX 5090"` tells what one would take']


def test_torch_that_is_left_is_a_note() -> None:
    old = Recipe(gpus=(GTX_780,), driver="470.239.06", cuda="11.4", toolkits=(), nvcc="")
    assert not blocked(old, "driver==470")
    told = notes(Recipe(gpus=(GTX_780,), driver="550.54.14", toolkits=(), nvcc=""), "driver==470")
    assert any("torch stays as it is" in one for one in told)


def test_branch_that_has_ended_is_told_of_the_oldest_cards_too() -> None:
    told = notes(Recipe(gpus=(GTX_780,), driver="", bound="nouveau", toolkits=(), nvcc="", environments=()), "driver")
    assert any("branch 470 is the last that serves GTX 780; it ended in 2024-07" in one for one in told)


def test_driver_that_is_left_is_a_note() -> None:
    assert (
        "the driver stays as it is" in notes(Recipe(driver="", bound="nouveau", toolkits=(), nvcc="", environments=()), "cuda")[-1]
    )


def test_driver_that_is_left_and_broken_is_one_note() -> None:
    mixed = Recipe(gpus=(GTX_1080_TI, RTX_5090), driver="580.95.05", cuda="13.0", environments=())
    told = notes(mixed, "cuda==12.8")
    assert len(told) == len(set(told))
    assert "the driver stays as it is; to run what is compiled, see `gpuassist plan driver`" in told


def test_driver_that_is_there_and_not_at_work_is_a_note_beside_a_toolkit() -> None:
    mismatched = Recipe(libcuda="550.90.07", environments=())
    assert notes(mismatched, "cuda") == ["the driver stays as it is; to run what is compiled, see `gpuassist plan driver`"]


def test_torch_that_only_a_toolkit_moves_is_a_note() -> None:
    newer = Recipe(driver="580.95.05", cuda="13.0", environments=(Env("e", "2.11.0+cu130", active=True),), toolkits=(), nvcc="")
    assert "torch 2.11.0 runs with any toolkit, because it brings its own CUDA 13.0" in notes(newer, "cuda==11.8")[0]


def test_torch_that_an_old_driver_sets_back_is_a_note() -> None:
    old = Recipe(gpus=("10de:2204",), driver="470.256.02", cuda="11.4", environments=(Env("e", "2.8.0+cu128", active=True),))
    assert "torch 2.8.0 could stay with a newer driver" in notes(replace(old, toolkits=(), nvcc=""), "torch")[0]


def test_branch_with_support_has_no_note() -> None:
    assert notes(Recipe(driver="580.95.05", cuda="13.0", environments=(Env("e", "2.9.1+cu128", active=True),)), "driver") == []
