"""torch comes into a new environment where nothing but an interpreter is there that environments are made from."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.model.environment import Manager, PythonEnvironment
from gpuassist.model.fact import NOT_ASKED, Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Method, WayPlan
from gpuassist.model.plan import Tool
from gpuassist.model.version import Version
from gpuassist.session.plan import parse_goal, plan_goals
from tests.cli.made_session import live_session
from tests.values import Recipe, knowledge, machine

SESSION = live_session({})
BASES = {
    "system": (Manager.SYSTEM, "/usr", "python3.12"),
    "pyenv": (Manager.PYENV, "/home/you/.pyenv/versions/3.12.1", "3.12.1"),
    "uv": (Manager.UV, "/home/you/.local/share/uv/python/cpython-3.12.4-linux-x86_64-gnu", "cpython-3.12.4"),
    "conda": (Manager.CONDA, "/home/you/miniforge3", "base"),
}
OWN = {
    "venv": (Manager.VENV, "/home/you/train/.venv", "train"),
    "uv venv": (Manager.UV, "/home/you/train/.venv", "train"),
    "conda environment": (Manager.CONDA, "/home/you/miniforge3/envs/train", "train"),
}


def environment(manager: Manager, prefix: str, name: str) -> PythonEnvironment:
    python = Known(f"{prefix}/bin/python3", "test")
    return PythonEnvironment(
        prefix,
        name,
        Known(manager, "test"),
        python,
        Known(Version.parse("3.12.4"), "test"),
        Known(value=False, source="test"),
        Known((), "test"),
    )


def with_environment(*environments: PythonEnvironment) -> Machine:
    return replace(machine(Recipe(environments=())), environments=Known(environments, "test"))


def ways(made: Machine, tool: Tool | None = None) -> tuple[WayPlan, ...]:
    return plan_goals(SESSION, made, (parse_goal("torch", knowledge()),), tool).ways


@pytest.mark.parametrize("tool", [None, Tool.PIP, Tool.UV, Tool.CONDA])
@pytest.mark.parametrize("name", BASES)
def test_interpreter_that_environments_are_made_from_is_never_the_first_way(name: str, tool: Tool | None) -> None:
    _, prefix, _ = BASES[name]
    first = ways(with_environment(environment(*BASES[name])), tool)[0]
    assert first.way is Method.NEW
    into = [line for step in first.steps for line in step.commands if "install torch" in line]
    assert not any(line.startswith(f"{prefix}/bin/") or f"--python {prefix}/bin/" in line for line in into)
    told = [one.message for one in first.notes]
    assert any("activate" in message and "{directory}" in message for message in told)


@pytest.mark.parametrize("name", OWN)
def test_environment_of_a_project_stays_first(name: str) -> None:
    assert ways(with_environment(environment(*OWN[name])))[0].way is Method.IN_PLACE


def test_no_environment_at_all_gets_one() -> None:
    first = ways(with_environment())[0]
    assert first.way is Method.NEW
    assert first.steps[0].commands[0] == "python3 -m venv /home/you/torch-gpu"


@pytest.mark.parametrize(("name", "expected"), [(name, True) for name in BASES] + [(name, False) for name in OWN])
def test_what_is_nobodys_project_is_told_from_what_is(name: str, *, expected: bool) -> None:
    assert environment(*{**BASES, **OWN}[name]).is_base is expected


def test_environment_of_unknown_make_is_a_projects() -> None:
    assert not replace(environment(*OWN["venv"]), manager=NOT_ASKED).is_base
    assert value_or(environment(*OWN["venv"]).torch, None) == ()
