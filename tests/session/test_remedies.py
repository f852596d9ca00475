"""What doctor says of a driver, a toolkit or torch is what a plan says of it, on every machine that is recorded or can be made."""

from __future__ import annotations

from itertools import product

import pytest

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.diagnose.judge import judge
from gpuassist.model.finding import Action, Answer, Remedy
from gpuassist.model.machine import Machine
from gpuassist.session.inspect import answers_of, open_recording
from gpuassist.session.plan import parse_goal, plan_goals, toolkit_to_use
from tests.rows import for_each
from tests.session.test_recorded_machines import CASES, _facts
from tests.values import (
    ARCH,
    DEBIAN,
    FEDORA,
    GTX_1080_TI,
    RTX_4090,
    RTX_5090,
    UBUNTU_24,
    Env,
    Recipe,
    machine,
)

NO_DRIVER = Recipe(driver="", libcuda="", on_disk="", toolkits=(), nvcc="")
RECIPES = [
    Recipe(gpus=gpus, distribution=distribution, driver=driver, secure_boot=secure, environments=environments)
    for gpus, distribution, driver, secure, environments in product(
        ((RTX_4090,), (GTX_1080_TI,), (RTX_5090,) * 4, (GTX_1080_TI, RTX_5090)),
        (UBUNTU_24, DEBIAN, FEDORA, ARCH),
        ("", "470.256.02", "550.54.14", "595.45.04"),
        (False, True),
        ((), (Env("t", "2.5.1+cu124"),), (Env("t", "2.6.0+cpu"),), (Env("t", "2.11.0+cu130"),)),
    )
]


@pytest.fixture(scope="module")
def session() -> Session:
    return compose("en")


def planned(answers: tuple[Answer, ...]) -> list[Remedy]:
    return [remedy for answer in answers for remedy in answer.remedies if remedy.goal]


def differs(session: Session, machine: Machine, remedy: Remedy) -> bool:
    """Whether the plan for its goal has other commands, or the answer none though there are some."""
    outlook = plan_goals(session, machine, (parse_goal(remedy.goal, session.knowledge),))
    told = [line for use in remedy.commands for line in use.lines]
    return told != [line for step in outlook.steps for line in step.commands] or remedy.steps != outlook.steps


@for_each("case", CASES)
def test_recorded_machines_get_the_plans_own_steps(session: Session, case: object) -> None:
    inspection = open_recording(session, str(_facts(case)))  # type: ignore[arg-type]
    assert not [one.goal for one in planned(inspection.answers) if differs(session, inspection.machine, one)]
    assert all(one.steps or one.action is Action.NONE for one in planned(inspection.answers))


@for_each("recipe", RECIPES, every=7)
def test_made_machines_get_the_plans_own_steps(session: Session, recipe: Recipe) -> None:
    made = machine(recipe)
    answers = answers_of(session, made, judge(made, session.knowledge))
    assert not [one.goal for one in planned(answers) if differs(session, made, one)]


def test_the_words_name_the_toolkit_that_the_plan_switches_to(session: Session) -> None:
    ways = (("12.4", "13.0"), ("12.4", "12.8"), ("13.0",))
    torches = ((), (Env("t", "2.5.1+cu121", active=True),))
    for driver, environments, there in product(("550.54.14", "580.95.05"), torches, ways):
        toolkits = ("11.7.99", *(f"{version}.88" for version in there))
        made = machine(Recipe(driver=driver, environments=environments, toolkits=toolkits, nvcc="11.7"))
        answers = answers_of(session, made, judge(made, session.knowledge))
        answer = next(one for one in answers if one.id == "nvcc-arch-too-new")
        said = [version for version in there if f"CUDA {version} is already installed" in answer.explanation]
        steps = answer.remedies[0].steps
        switched = [version for version in map(toolkit_to_use, steps) if version]
        assert said == (switched if len(steps) == 1 else []), (driver, environments, there)  # no word of one that needs more
