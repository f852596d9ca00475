"""Which environment a torch comes to, by which tool, and what gpuassist itself can take of it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.install.place import InstallPlace, TorchSurroundings
from gpuassist.install.torch import InstallTarget, create, here, new
from gpuassist.knowledge.change import TorchMove
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.plan import Proves, StepProof, Tool
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.values import knowledge

version = Version.parse
VENV = InstallPlace(
    python="/home/you/train/bin/python", tool="pip", torch_there=True, around=TorchSurroundings("/home/you/train", "train")
)
AT_HOME = replace(VENV, around=TorchSurroundings(new="/home/you/torch-gpu"))


def build() -> TorchBuild:
    return next(one for one in knowledge().torch_builds(version("2.9")) if one.tag == "cu128" and one.machine == "x86_64")


def wishing(place: InstallPlace, tool: Tool | None) -> InstallPlace:
    return replace(place, around=replace(place.around, wished=tool))


@pytest.mark.parametrize(
    ("tool", "wished", "expected"),
    [
        ("pip", None, Tool.PIP),
        ("uv", None, Tool.UV),
        ("", None, Tool.PIP),
        ("pip", Tool.UV, Tool.UV),
        ("uv", Tool.PIP, Tool.PIP),
        ("uv", Tool.CONDA, Tool.UV),
        ("pip", Tool.DOCKER, Tool.PIP),
    ],
)
def test_which_tool_changes_what_is_there(tool: str, wished: Tool | None, expected: Tool) -> None:
    found = here(wishing(replace(VENV, tool=tool), wished))
    assert found == InstallTarget("/home/you/train/bin/python", expected, "/home/you/train")


def test_a_new_one_is_made_where_it_shall_be() -> None:
    found = new(AT_HOME, None)
    assert (found.prefix, found.python) == ("/home/you/torch-gpu", "/home/you/torch-gpu/bin/python")


@pytest.mark.parametrize(
    ("wished", "expected"), [(None, Tool.PIP), (Tool.UV, Tool.UV), (Tool.PIP, Tool.PIP), (Tool.CONDA, Tool.PIP)]
)
def test_which_tool_makes_a_new_one(wished: Tool | None, expected: Tool) -> None:
    assert new(wishing(AT_HOME, wished), None).tool is expected


def test_a_python_that_is_nowhere_comes_by_uv() -> None:
    assert new(AT_HOME, TorchMove(build(), version("3.13"))).tool is Tool.UV


def test_a_python_that_is_there_needs_no_uv() -> None:
    place = replace(AT_HOME, around=replace(AT_HOME.around, pythons=((version("3.13"), "/usr/bin/python3.13"),)))
    assert new(place, TorchMove(build(), version("3.13"))).tool is Tool.PIP


@pytest.mark.parametrize(
    ("python", "runs"), [("/home/you/train/bin/python", True), ("torch-gpu/bin/python", False), ("python3", False)]
)
def test_what_depends_on_the_terminal_is_not_run(python: str, runs: bool) -> None:
    assert (InstallTarget(python, Tool.PIP).run is not None) is runs


def test_a_run_names_its_environment_and_interpreter() -> None:
    run = here(VENV).run
    assert run is not None
    assert (run.tool, run.environment, run.interpreter) == (Tool.PIP, "/home/you/train", "/home/you/train/bin/python")
    assert (run.programs, run.creates) == ((), "")


def test_making_one_is_proved_and_can_be_taken_back_whole() -> None:
    made = create(new(AT_HOME, None), AT_HOME, knowledge().commands)
    assert made.proof == StepProof(Proves.ENVIRONMENT, "/home/you/torch-gpu")
    assert made.run is not None
    assert (made.run.creates, made.run.environment) == ("/home/you/torch-gpu", "/home/you/torch-gpu")


def test_making_one_somewhere_is_the_users() -> None:
    place = replace(AT_HOME, around=TorchSurroundings())
    made = create(new(place, None), place, knowledge().commands)
    assert (made.run, made.proof) == (None, None)
    assert made.commands


@pytest.mark.parametrize(
    ("move", "says"),
    [
        (None, "leave those that are there as they are"),
        (TorchMove(build()), "leave those that are there as they are"),
        (TorchMove(build(), version("3.13")), "with Python 3.13, because torch 2.9"),
    ],
)
def test_why_a_new_one_is_made_is_said(move: TorchMove | None, says: str) -> None:
    assert says in ENGLISH(create(new(AT_HOME, move), AT_HOME, knowledge().commands, move).text)


@pytest.mark.parametrize("tool", [Tool.PIP, Tool.UV])
def test_the_lines_name_the_new_directory(tool: Tool) -> None:
    place = wishing(AT_HOME, tool)
    made = create(new(place, None), place, knowledge().commands)
    assert any("/home/you/torch-gpu" in line for line in made.commands)
    assert made.needs_root is False
