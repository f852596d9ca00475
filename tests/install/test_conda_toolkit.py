"""Where the system's own C library fits no CUDA that would serve, conda's brings another along; elsewhere nothing changes."""

from __future__ import annotations

import pytest

from gpuassist.model.chain import Part, Status
from gpuassist.model.machine import Distribution
from gpuassist.model.outlook import Method, Outlook
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from tests.cli.made_session import live_session
from tests.values import GTX_1080_TI, RTX_5090, Recipe, knowledge, machine

SESSION = live_session({})
TRIXIE = Recipe(
    toolkits=(), nvcc="", environments=(), distribution=Distribution("debian", (), "13", "Debian 13"), glibc="2.41", gcc=("14.2.0",)
)


def plan(goal: str, **changes: object) -> Outlook:
    return plan_goals(SESSION, machine(TRIXIE, **changes), (parse_goal(goal, knowledge()),))


def test_conda_is_the_only_way() -> None:
    assert [one.way for one in plan("cuda==12.8").ways] == [Method.CONDA]


def test_note_says_what_clashes() -> None:
    assert any("clash with this system's glibc 2.41" in ENGLISH(one) for one in plan("cuda==12.8").notes)


def test_toolkit_and_compiler_fit_inside() -> None:
    (chain,) = plan("cuda==12.4").after
    status = {(one.first, one.second): one.status for one in chain.joints}
    assert status[(Part.TOOLKIT, Part.COMPILER)] is Status.RIGHT


def test_newest_that_serves_the_gpu_is_taken() -> None:
    found = plan("cuda", gpus=(GTX_1080_TI,), driver="580.95.05", cuda="13.0")
    assert any("cuda-version=12.9" in line for step in found.steps for line in step.commands)


@pytest.mark.parametrize(
    ("goal", "changes", "told"),
    [
        ("cuda==11.8", {}, "clash"),
        ("cuda==77.1", {}, "no release"),
        ("cuda==12.4", {"gpus": (RTX_5090,), "driver": "580.95.05", "cuda": "13.0", "open_module": True}, "does not build"),
    ],
)
def test_other_walls_stand(goal: str, changes: dict[str, object], told: str) -> None:
    outlook = plan(goal, **changes)
    assert (outlook.steps, outlook.ways) == ((), ())
    assert told in " ".join(ENGLISH(one) for one in outlook.blocked_by)


def test_older_c_library_takes_the_usual_way() -> None:
    assert next(one.way for one in plan("cuda==12.8", glibc="2.36").ways) is not Method.CONDA


def test_torch_is_no_part_of_it() -> None:
    found = plan("cuda==12.8")
    assert not any("torch" in line for step in found.steps for line in step.commands)
