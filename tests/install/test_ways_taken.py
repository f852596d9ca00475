"""Each way to another torch really taken, by pip and by uv, from an index of made-up wheels that the user's settings name."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.detect.package_settings import probe
from gpuassist.formats.packages import python_packages
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Method, WayPlan
from gpuassist.model.plan import Tool
from gpuassist.model.shell import StartupFile
from gpuassist.model.text import text
from gpuassist.session.plan import parse_goal, plan_goals
from tests.solving import Place, make_environment
from tests.values import Env, Recipe, knowledge, machine
from tests.wheels import Wheel, index, torch

LIST = "import importlib.metadata, json; print(json.dumps({one.name: one.version for one in importlib.metadata.distributions()}))"
OLD = (
    torch("2.6.0+cu124", "nvidia-cublas-cu12==12.4.5.8"),
    Wheel("torchvision", "0.21.0", ("torch==2.6.0",)),
    Wheel("torchaudio", "2.6.0", ("torch==2.6.0",)),
    Wheel("nvidia-cublas-cu12", "12.4.5.8"),
    Wheel("numpy", "2.2.0"),
)
OFFERED = (
    torch("2.7.1+cu126", "nvidia-cublas-cu12==12.6.4.1"),
    torch("2.7.1+cpu"),
    Wheel("torchvision", "0.22.1+cu126", ("torch==2.7.1",)),
    Wheel("torchvision", "0.23.0+cu126", ("torch==2.8.0",)),
    Wheel("torchaudio", "2.7.1+cu126", ("torch==2.7.1",)),
    Wheel("nvidia-cublas-cu12", "12.6.4.1"),
)
NEW = {"torch": "2.7.1+cu126", "torchvision": "0.22.1+cu126", "torchaudio": "2.7.1+cu126", "nvidia-cublas-cu12": "12.6.4.1"}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """An environment with the older torch, and an index whose address ends in the build's tag."""
    address = index(tmp_path / "whl" / "cu126", OFFERED)
    made = Place(tmp_path, {"PIP_INDEX_URL": address, "UV_DEFAULT_INDEX": address, "UV_LINK_MODE": "copy"})
    made.has(*OLD)
    return made


def planned(place: Place, tool: Tool) -> dict[Method, WayPlan]:
    outlook = plan_goals(place.session, machine_at(place), (parse_goal("torch==2.7", knowledge()),), tool)
    return {way.way: way for way in outlook.ways}


def machine_at(place: Place) -> Machine:
    """A made-up machine whose one environment is the real one, with the settings that are read there."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    made = machine(Recipe(toolkits=(), nvcc="", environments=(Env("train", "2.6.0+cu124", python, active=True),)))
    (environment,) = value_or(made.environments, ())
    files = Known((StartupFile(f"{place.home}/.bashrc", exists=True),), "test")
    return replace(
        made,
        environments=Known((_real(environment, place),), "test"),
        shell=replace(made.shell, startup_files=files),
        package_settings=probe(place.session.world, Unknown(text("no terminal here"))),
    )


def _real(environment: PythonEnvironment, place: Place) -> PythonEnvironment:
    packages = tuple(python_packages(one.name for one in place.site.iterdir()))
    return replace(environment, prefix=str(place.prefix), interpreter=Known(place.python, "test"), packages=Known(packages, "test"))


def take(place: Place, way: WayPlan) -> dict[str, str]:
    """Runs the programs of every step; what then lies in the environment of the last, of what was made up here."""
    for step in way.steps:
        assert step.run is not None
        for program in step.run.programs:
            if program[1:3] == ("-m", "venv"):  # which takes its time to install pip
                make_environment(Path(program[3]))
                continue
            subprocess.run(
                program, env=place.variables, capture_output=True, text=True, timeout=100, check=True, stdin=subprocess.DEVNULL
            )
    run = way.steps[-1].run
    assert run is not None
    done = subprocess.run(
        [run.interpreter, "-c", LIST], env=place.variables, capture_output=True, text=True, timeout=100, check=True
    )
    found: dict[str, str] = json.loads(done.stdout)
    return {name: version for name, version in found.items() if name not in {"pip", "setuptools", "wheel"}}


def needs(tool: Tool, place: Place) -> Tool:
    if tool is Tool.UV and shutil.which("uv", path=place.variables["PATH"]) is None:
        pytest.skip("NOT RUN: needs uv: pip install uv")
    return tool


tools = pytest.mark.parametrize("tool", [Tool.PIP, Tool.UV], ids=["pip", "uv"])


def test_the_settings_own_index_is_the_one_that_is_used(place: Place) -> None:
    ways = planned(place, Tool.PIP)
    assert not [line for way in ways.values() for step in way.steps for line in step.commands if "download.pytorch.org" in line]


@tools
def test_a_new_environment_leaves_the_old_as_it_is(place: Place, tool: Tool) -> None:
    before = place.installed()
    assert take(place, planned(place, needs(tool, place))[Method.NEW]) == NEW
    assert place.installed() == before


@tools
def test_a_clean_out_leaves_nothing_of_the_old(place: Place, tool: Tool) -> None:
    way = planned(place, needs(tool, place))[Method.CLEAN]
    assert take(place, replace(way, steps=way.steps[:1])) == {"numpy": "2.2.0"}
    assert take(place, way) == {**NEW, "numpy": "2.2.0"}


@tools
def test_in_place_torch_and_what_belongs_to_it_are_exchanged(place: Place, tool: Tool) -> None:
    assert take(place, planned(place, needs(tool, place))[Method.IN_PLACE]) == {**NEW, "numpy": "2.2.0"}
