"""Each way to another torch: what is shown, what gpuassist itself would run, and what shows that it worked."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.install.place import InstallPlace, TorchSurroundings
from gpuassist.install.torch import jetson_ways, left_by, torch_ways
from gpuassist.knowledge.change import TorchMove
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.environment import Package
from gpuassist.model.outlook import Method, WayPlan
from gpuassist.model.plan import Proves, StepProof, StepRun, Tool
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.values import knowledge

TRAIN, NEW = "/home/you/train", "/home/you/torch-gpu"
JETPACK_6 = next(one for one in knowledge().jetpacks() if one.release.major == 6)
PACKAGES = (Package("torch", "2.6.0"), Package("torchaudio", "2.6.0"), Package("nvidia-nccl-cu12", "2.21.5"))
AROUND = TorchSurroundings(TRAIN, "train", NEW, PACKAGES, f"{TRAIN}/lib/python3.11/site-packages/torch")
THERE = InstallPlace(python=f"{TRAIN}/bin/python", tool="pip", torch_there=True, around=AROUND)
WITHOUT = replace(THERE, torch_there=False, around=replace(AROUND, packages=()))
UV = replace(THERE, tool="uv")
SYSTEM = InstallPlace(python="/usr/bin/python3", around=TorchSurroundings(new=NEW))
version = Version.parse


def build(release: str, tag: str) -> TorchBuild:
    return next(one for one in knowledge().torch_builds(version(release)) if one.tag == tag and one.machine == "x86_64")


MOVE = TorchMove(build("2.7", "cu128"))


def way(kind: Method, place: InstallPlace = THERE, move: TorchMove = MOVE) -> WayPlan:
    return next(one for one in torch_ways(move, place, knowledge()) if one.way is kind)


def lines(one: WayPlan) -> list[str]:
    return [line for step in one.steps for line in step.commands]


@pytest.mark.parametrize(
    ("place", "ways"),
    [
        (THERE, [Method.NEW, Method.CLEAN, Method.IN_PLACE]),
        (UV, [Method.NEW, Method.CLEAN, Method.IN_PLACE]),
        (WITHOUT, [Method.IN_PLACE, Method.NEW]),
        (SYSTEM, [Method.NEW]),
        (replace(UV, around=replace(AROUND, wished=Tool.PIP)), [Method.NEW]),
    ],
    ids=["torch there", "by uv", "no torch", "the system's Python", "pip where there is none"],
)
def test_ways_in_their_order(place: InstallPlace, ways: list[Method]) -> None:
    assert [one.way for one in torch_ways(MOVE, place, knowledge())] == ways


def test_another_python_means_a_new_environment() -> None:
    move = replace(MOVE, python=version("3.12"))
    assert [one.way for one in torch_ways(move, THERE, knowledge())] == [Method.NEW]


def test_a_new_environment_is_made_and_can_be_taken_back_whole() -> None:
    made, installed = way(Method.NEW).steps
    programs = ((f"{TRAIN}/bin/python", "-m", "venv", NEW),)
    assert made.run == StepRun(programs, Tool.PIP, NEW, f"{NEW}/bin/python", NEW)
    assert made.proof == StepProof(Proves.ENVIRONMENT, NEW)
    assert installed.run is not None
    assert (installed.run.environment, installed.run.creates) == (NEW, "")


def test_an_installed_torch_is_proved_by_its_own_version() -> None:
    for one in torch_ways(MOVE, THERE, knowledge()):
        place = NEW if one.way is Method.NEW else TRAIN
        assert one.steps[-1].proof == StepProof(Proves.TORCH, f"{place}/bin/python", "2.7.1+cu128")


def test_a_clean_out_takes_the_libraries_too_and_asks_nothing() -> None:
    removal = way(Method.CLEAN).steps[0]
    assert removal.commands == (f"{TRAIN}/bin/python -m pip uninstall --yes torch torchaudio nvidia-nccl-cu12",)
    assert removal.proof == StepProof(Proves.ABSENT, f"{TRAIN}/lib/python3.11/site-packages/torch")


def test_in_place_one_step_exchanges_torch() -> None:
    (step,) = way(Method.IN_PLACE).steps
    assert step.commands[0] == f"{TRAIN}/bin/python -m pip uninstall --yes torch torchaudio"
    assert step.run is not None
    assert len(step.run.programs) == 2
    assert (step.run.environment, step.run.interpreter) == (TRAIN, f"{TRAIN}/bin/python")


def test_uv_removes_and_installs_by_uv() -> None:
    (step,) = way(Method.IN_PLACE, UV).steps
    assert [line.split()[:3] for line in step.commands] == [["uv", "pip", "uninstall"], ["uv", "pip", "install"]]
    assert step.run is not None
    assert step.run.tool is Tool.UV


def test_a_place_that_depends_on_the_terminal_is_left_to_the_user() -> None:
    steps = torch_ways(MOVE, InstallPlace(), knowledge())[0].steps
    assert [step.run for step in steps] == [None, None]


def test_every_line_names_the_environment_that_it_changes() -> None:
    for one in torch_ways(MOVE, THERE, knowledge()):
        assert all(NEW in line if one.way is Method.NEW else TRAIN in line for line in lines(one))


def test_an_interpreter_that_is_there_makes_an_environment_of_its_python() -> None:
    around = replace(AROUND, pythons=((version("3.13.1"), "/usr/bin/python3.13"), (version("3.12.4"), "/usr/bin/python3.12")))
    move = TorchMove(build("2.4", "cu124"), version("3.12"))
    assert lines(way(Method.NEW, replace(THERE, around=around), move))[0] == f"/usr/bin/python3.12 -m venv {NEW}"


@pytest.mark.parametrize(
    ("wished", "first"),
    [(None, "uv venv --python 3.12 "), (Tool.UV, "uv venv --python 3.12 "), (Tool.PIP, "uv venv --seed --python 3.12 ")],
)
def test_a_python_that_is_not_there_comes_by_uv(wished: Tool | None, first: str) -> None:
    move = TorchMove(build("2.4", "cu124"), version("3.12"))
    found = lines(way(Method.NEW, replace(THERE, around=replace(AROUND, wished=wished)), move))
    assert found[0] == first + NEW
    assert ("-m pip install" in found[-1]) is (wished is Tool.PIP)


def test_a_build_that_uv_does_not_know_by_name_is_named_by_its_index() -> None:
    place = replace(THERE, around=replace(AROUND, wished=Tool.UV))
    line = lines(way(Method.NEW, place, TorchMove(build("2.15", "cu134"))))[-1]
    assert line.endswith(" torch==2.15.0+cu134 torchvision --index https://download.pytorch.org/whl/cu134")


def test_uv_takes_the_name_of_every_other_build() -> None:
    found = shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if found is None:
        pytest.skip("NOT RUN: needs uv: pip install uv")
    told = subprocess.run([found, "pip", "install", "--help"], capture_output=True, text=True, timeout=100, check=True).stdout
    assert {one.tag for one in knowledge().torch_builds()} - set(re.findall(r"\bcu\d+|\bcpu\b", told)) <= {"cu134"}


@pytest.mark.parametrize("wished", [Tool.CONDA, Tool.DOCKER])
def test_another_wish_leaves_wheels_to_the_environments_own_tool(wished: Tool) -> None:
    place = replace(THERE, around=replace(AROUND, wished=wished))
    assert lines(way(Method.IN_PLACE, place)) == lines(way(Method.IN_PLACE))


def test_what_is_not_pytorchs_comes_after_torch() -> None:
    around = replace(AROUND, packages=(*PACKAGES, Package("bitsandbytes", "0.44.0")))
    *_, last = way(Method.NEW, replace(THERE, around=around)).steps
    assert last.commands == (f"{NEW}/bin/python -m pip install 'bitsandbytes>=0.45.1'",)


def test_what_will_not_work_is_said() -> None:
    around = replace(AROUND, packages=(*PACKAGES, Package("flash-attn", "2.7.0")))
    (told,) = left_by(MOVE, replace(THERE, around=around), knowledge())
    assert "flash-attn 2.7.0 is built for the torch that is there" in ENGLISH(told)


def test_the_packages_that_do_not_come_along_are_said_of_the_environment() -> None:
    assert "packages of train" in ENGLISH(way(Method.NEW).notes[0])
    assert way(Method.NEW, SYSTEM).notes == ()


def test_uv_is_named_where_nothing_shows_that_it_is_there() -> None:
    wished = replace(WITHOUT, around=replace(WITHOUT.around, wished=Tool.UV))
    assert all("takes uv" in ENGLISH(one.notes[0]) for one in torch_ways(MOVE, wished, knowledge()))
    assert not any("takes uv" in ENGLISH(note) for one in torch_ways(MOVE, UV, knowledge()) for note in one.notes)


def test_uvs_projects_are_said_to_undo_what_is_done_by_hand() -> None:
    for kind in (Method.CLEAN, Method.IN_PLACE):
        assert "uv.lock" in ENGLISH(way(kind, UV).notes[-1])
        assert not any("uv.lock" in ENGLISH(note) for note in way(kind).notes)


@pytest.mark.parametrize(
    ("family", "python", "said"),
    [
        (Family.UBUNTU, "/usr/bin/python3", True),
        (Family.DEBIAN, "python3", True),
        (Family.FEDORA, "/usr/bin/python3", False),
        (Family.UBUNTU, "/home/you/.pyenv/versions/3.12.4/bin/python", False),
    ],
)
def test_debians_python_may_lack_venv(family: Family, python: str, said: bool) -> None:
    notes = way(Method.NEW, replace(SYSTEM, python=python, families=(family, Family.ANY))).notes
    assert any("python3-venv" in ENGLISH(note) for note in notes) is said


@pytest.mark.parametrize("place", [THERE, UV, WITHOUT, SYSTEM])
def test_jetson_goes_by_pip_everywhere(place: InstallPlace) -> None:
    for one in jetson_ways(place, knowledge(), JETPACK_6):
        assert all(step.run is None or step.run.tool is Tool.PIP for step in one.steps)
        assert "-m pip install torch torchvision --index-url" in one.steps[-1].commands[-1]
