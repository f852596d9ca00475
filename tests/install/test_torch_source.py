"""Where a torch comes from: wheels in the patch that is asked for, or the channel of conda's that takes less."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.install.configuration import configuration_of
from gpuassist.install.outlook import Found, find
from gpuassist.knowledge.change import Configuration, Constraints, Need
from gpuassist.knowledge.records import Channel
from gpuassist.model.plan import Tool
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.values import Env, Recipe, knowledge, machine

version = Version.parse
BARE = Recipe(toolkits=(), nvcc="", environments=(Env("train", "", active=True),))


def rig(recipe: Recipe = BARE) -> Configuration:
    return configuration_of(RuleInput(machine(recipe), knowledge()))


def found(torch: str = "", tool: Tool | None = None, *, of_conda: bool = False, at: Configuration | None = None) -> Found:
    demand = Constraints(torch=version(torch) if torch else None, torch_need=Need.MUST)
    return find(knowledge(), at or rig(), demand, tool, torch_of_conda=of_conda)


def newest(one: Found) -> str:
    change = one.smallest.change
    return str(change.torch.build.newest) if change and change.torch else ""


@pytest.mark.parametrize(("torch", "expected"), [("2.1", "2.1.2"), ("2.1.1", "2.1.1"), ("2.1.0", "2.1.0"), ("2.1.7", "2.1.2")])
def test_wheels_in_the_patch_that_is_asked_for(torch: str, expected: str) -> None:
    assert newest(found(torch)) == expected


@pytest.mark.parametrize("tool", [None, Tool.PIP, Tool.UV])
def test_wheels_have_no_record_of_condas(tool: Tool | None) -> None:
    assert found("2.6", tool).record is None


@pytest.mark.parametrize(
    ("torch", "channel"),
    [
        ("", Channel.CONDA_FORGE),
        ("2.9", Channel.CONDA_FORGE),
        ("2.5", Channel.PYTORCH),
        ("2.3.1", Channel.PYTORCH),
        ("2.2", Channel.PYTORCH),
    ],
)
def test_the_old_channel_for_what_it_has(torch: str, channel: Channel) -> None:
    record = found(torch, Tool.CONDA).record
    assert record is not None
    assert record.channel is channel


def test_the_other_channel_where_the_first_has_no_build_for_the_gpu() -> None:
    kepler = rig(replace(BARE, gpus=("10de:1004",), driver="470.239.06", cuda="11.4"))
    record = found("2.5.1", Tool.CONDA, at=kepler).record
    assert record is not None
    assert (record.channel, record.cuda) == (Channel.CONDA_FORGE, version("11.8"))


def test_condas_environments_have_the_python_that_a_build_needs() -> None:
    future = rig(replace(BARE, environments=(Env("train", "", "3.15", active=True),)))
    change = found("2.9", Tool.CONDA, at=future).smallest.change
    assert change is not None
    assert change.torch is not None
    assert change.torch.python is None


def test_a_torch_by_pip_does_not_count_where_conda_is_asked_for() -> None:
    works = rig(Recipe(toolkits=(), nvcc=""))
    assert newest(found("", Tool.CONDA, at=works)) != ""
    assert newest(found("", None, at=works)) == ""


def test_condas_own_torch_that_works_stays() -> None:
    works = rig(Recipe(toolkits=(), nvcc=""))
    assert newest(found("", Tool.CONDA, at=works, of_conda=True)) == ""


def test_condas_torch_is_followed_by_condas_without_a_word() -> None:
    assert found("2.9", None, of_conda=True).record is not None
    assert found("2.15", None, of_conda=True, at=rig(replace(BARE, driver="580.95.05", cuda="13.0"))).record is None


def test_a_release_that_conda_has_not_is_said() -> None:
    (told,) = found("2.15", Tool.CONDA).missing
    assert "no torch 2.15 with CUDA in conda's channels" in ENGLISH(told)


def test_other_goals_than_torch_do_not_ask_conda() -> None:
    demand = Constraints(driver_need=Need.MUST, torch_need=Need.KEEP)
    assert find(knowledge(), rig(), demand, Tool.CONDA, torch_of_conda=True).record is None
