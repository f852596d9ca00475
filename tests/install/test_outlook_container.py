"""torch in NVIDIA's image on whole machines: the driver of the host, Jetson, and where there is no way."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.model.chain import Part, Status
from gpuassist.model.outlook import Method, Outlook
from gpuassist.model.plan import StepKind, Tool
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from tests.cli.made_session import live_session
from tests.values import GTX_1080_TI, RTX_5090, Env, Recipe, knowledge, machine

SESSION = live_session({})
BARE = Recipe(toolkits=(), nvcc="", driver="580.95.05", cuda="13.0", environments=(Env("train", "2.9.1+cu128", active=True),))
NOTHING_RUNS = replace(BARE, driver="", cuda="", bound="nouveau")


def plan(recipe: Recipe = BARE, goal: str = "torch") -> Outlook:
    return plan_goals(SESSION, machine(recipe), (parse_goal(goal, knowledge()),), Tool.DOCKER)


def told(outlook: Outlook) -> str:
    return " / ".join(ENGLISH(reason) for reason in (*outlook.blocked_by, *outlook.undetermined))


def test_a_container_is_the_one_way() -> None:
    outlook = plan()
    assert [way.way for way in outlook.ways] == [Method.CONTAINER]
    assert outlook.steps == outlook.ways[0].steps


def test_it_is_planned_though_a_torch_works_already() -> None:
    assert len(plan().steps) == 3


def test_the_chain_afterwards_holds_the_images_torch() -> None:
    (chain,) = plan().after
    assert ENGLISH(next(node.name for node in chain.nodes if node.part is Part.TORCH)).startswith("2.10.0")


def test_a_driver_comes_first_where_none_runs() -> None:
    kinds = [step.kind for step in plan(NOTHING_RUNS).steps]
    assert kinds[:2] == [StepKind.ROOT_COMMAND, StepKind.REBOOT]
    assert kinds[2:] == [StepKind.COMMAND] * 3


def test_a_driver_that_is_there_and_not_at_work_is_mended_first() -> None:
    outlook = plan(replace(BARE, libcuda="580.105.08"))
    assert ENGLISH(outlook.steps[0].text).startswith("Restart the computer")
    assert len(outlook.steps) == len(plan().steps) + 1
    assert outlook.steps == outlook.ways[0].steps
    assert all(joint.status is not Status.PROBLEM for chain in outlook.after for joint in chain.joints)


def test_a_driver_that_serves_one_gpu_alone_is_none() -> None:
    outlook = plan(replace(BARE, gpus=(GTX_1080_TI, RTX_5090)))
    assert outlook.steps == ()
    assert "GTX 1080 Ti, RTX 5090" in told(outlook)


@pytest.mark.parametrize(
    ("goal", "words"), [("torch==9.9", "has torch 9.9 for RTX 4090"), ("torch==1.2", "has torch 1.2 for RTX 4090")]
)
def test_a_torch_that_no_month_has(goal: str, words: str) -> None:
    assert words in told(plan(goal=goal))


def test_a_container_is_no_host() -> None:
    assert "on the host" in told(plan(replace(BARE, container="docker")))


def test_no_gpu_is_said_as_for_every_torch() -> None:
    assert "no NVIDIA GPU" in told(plan(replace(BARE, gpus=())))


def test_a_gpu_to_come_counts() -> None:
    outlook = plan_goals(
        SESSION, machine(BARE), (parse_goal("torch", knowledge()), parse_goal("gpu=RTX 5090", knowledge())), Tool.DOCKER
    )
    assert len(outlook.after) == 2
    assert not outlook.blocked_by


def test_goals_without_torch_have_nothing_to_do_with_containers() -> None:
    assert plan(goal="driver==580").steps == ()
    assert all(way.way is not Method.CONTAINER for way in plan(goal="cuda==12.8").ways)
