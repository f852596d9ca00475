"""Steps looked at before they run, by the real pip and the real uv against an index of small made-up wheels."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.install.preview import look_before
from gpuassist.model.fact import Known
from gpuassist.model.plan import Proves, Step, StepKind, StepProof, StepRun, Tool
from gpuassist.model.solve import Requirer
from gpuassist.model.text import text
from tests.solving import Place, changes, reason, said
from tests.values import GTX_1080_TI, RTX_5090, Recipe, machine
from tests.wheels import Wheel, torch

BOTH = pytest.mark.parametrize("tool", ["pip", "uv"])
ONE = pytest.mark.parametrize("tool", ["uv"])  # where it makes no difference: a look with pip takes a second
RUNTIME = Wheel("nvidia-cuda-runtime-cu12", "12.8.90")
VISION = {"0.23.0": "2.8.0", "0.24.1": "2.9.1"}
OLD, NEW = (Wheel("torchvision", one, (f"torch=={for_torch}",)) for one, for_torch in VISION.items())
RIG = machine(Recipe())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.offers(torch("2.9.1+cu128"), torch("2.9.1+cpu"), torch("2.8.0+cpu"), RUNTIME, OLD, NEW)
    return made


@BOTH
def test_what_comes_and_changes_is_told(place: Place, tool: str) -> None:
    place.has(torch("2.8.0+cpu"))
    looked = place.look(place.by(tool, "install torch==2.9.1"), RIG)
    assert changes(looked) == [("nvidia-cuda-runtime-cu12", "", "12.8.90"), ("torch", "2.8.0+cpu", "2.9.1+cu128")]
    assert (looked.stops, looked.warnings) == ((), ())


@ONE
def test_nothing_of_the_environment_is_touched(place: Place, tool: str) -> None:
    place.has(torch("2.8.0+cpu"), OLD)
    before = _files(place)
    place.look(place.by(tool, "uninstall torch", "install torch==2.9.1"), RIG)
    assert _files(place) == before


def _files(place: Place) -> dict[Path, int]:
    """When each was last written; uv locks the environment with a file that it leaves there."""
    files = (one for one in place.prefix.rglob("*") if one.is_file() and "pip" not in one.parts and one.name != ".lock")
    return {one: one.stat().st_mtime_ns for one in files}


@ONE
def test_no_scratch_is_left_behind(place: Place, tool: str) -> None:
    place.look(place.by(tool, "install torch==2.9.1"), RIG)
    assert list((place.home / ".cache" / "gpuassist").iterdir()) == []


@BOTH
def test_removal_alone_is_told_with_what_will_not_work_meanwhile(place: Place, tool: str) -> None:
    place.has(torch("2.8.0+cpu"), OLD)
    looked = place.look(place.by(tool, "uninstall torch nothing-of-the-kind"), RIG)
    assert changes(looked) == [("torch", "2.8.0+cpu", "")]
    assert looked.stops == ()
    assert said(looked.warnings) == ["torchvision 0.23.0 would break: it asks for torch==2.8.0, and torch would be gone"]


@BOTH
def test_build_of_the_same_release_is_exchanged_once_the_old_one_is_out(place: Place, tool: str) -> None:
    place.offers(torch("2.9.1+cu128"), RUNTIME)
    place.has(torch("2.9.1+cu130"), Wheel("nvidia-cuda-runtime", "13.0.48"))
    direct = place.look(place.by(tool, "install torch==2.9.1"), RIG)
    assert changes(direct) == []
    looked = place.look(place.by(tool, "uninstall torch", "install torch==2.9.1"), RIG)
    assert changes(looked) == [("nvidia-cuda-runtime-cu12", "", "12.8.90"), ("torch", "2.9.1+cu130", "2.9.1+cu128")]


@BOTH
def test_companion_that_would_break_stops_the_step(place: Place, tool: str) -> None:
    place.has(torch("2.8.0+cpu"), OLD)
    looked = place.look(place.by(tool, "install torch==2.9.1"), RIG)
    assert said(looked.stops) == ["torchvision 0.23.0 would break: it asks for torch==2.8.0, and torch would be 2.9.1+cu128"]
    assert looked.requires == (Requirer("torchvision", "0.23.0", "torch==2.8.0", met_before=True, met_after=False),)


@ONE
def test_companion_that_moves_along_stops_nothing(place: Place, tool: str) -> None:
    place.has(torch("2.8.0+cpu"), OLD)
    looked = place.look(place.by(tool, "install torch==2.9.1 torchvision"), RIG)
    assert ("torchvision", "0.23.0", "0.24.1") in changes(looked)
    assert looked.stops == ()


@ONE
def test_package_that_was_broken_before_is_no_reason_to_stop(place: Place, tool: str) -> None:
    place.has(torch("2.7.0+cpu"), OLD)
    assert place.look(place.by(tool, "install torch==2.9.1"), RIG).stops == ()


@BOTH
def test_pin_upstream_that_brings_a_cpu_build_is_named(place: Place, tool: str) -> None:
    place.offers(torch("2.9.1+cu128"), torch("2.8.0+cpu"), RUNTIME, Wheel("pinner", "1.0", ("torch<2.9",)))
    step = place.by(tool, "install pinner torch")
    looked = place.look(step, RIG)
    assert ("torch", "", "2.8.0+cpu") in changes(looked)
    (stop,) = said(looked.stops)
    assert stop.startswith("torch would come as 2.8.0+cpu, a build for the processor alone")
    assert "pinner 1.0 asks for torch<2.9" in stop or tool == "uv"  # uv does not say what the packages ask for


def test_installed_pin_that_keeps_a_cpu_build_is_named(place: Place) -> None:
    place.has(Wheel("pinner", "1.0", ("torch==2.8.0",)))
    looked = place.look(place.pip("install torch==2.8.0"), RIG)
    expected = "torch would come as 2.8.0+cpu, a build for the processor alone: pinner 1.0 asks for torch==2.8.0"
    assert said(looked.stops) == [expected]


@BOTH
def test_mirror_without_cuda_builds_stops_the_step(place: Place, tool: str) -> None:
    place.offers(torch("2.9.1+cpu"))
    step = replace(place.by(tool, "install torch"), proof=StepProof(Proves.TORCH, place.python, "2.9.1+cu128"))
    looked = place.look(step, RIG)
    assert len(looked.stops) == 1
    assert said(looked.stops)[0].startswith("torch would come as 2.9.1+cpu, a build for the processor alone")
    assert said(looked.warnings) == ["torch would be 2.9.1+cpu, not 2.9.1+cu128, which the plan is made for"]


@ONE
def test_torch_that_stays_a_cpu_build_stops_the_step(place: Place, tool: str) -> None:
    place.offers(torch("2.9.1+cpu"))
    place.has(torch("2.9.1+cpu"))
    step = replace(place.by(tool, "install torch==2.9.1"), proof=StepProof(Proves.TORCH, place.python, "2.9.1+cu128"))
    looked = place.look(step, RIG)
    assert changes(looked) == []
    assert said(looked.stops) == ["torch would stay as it is, 2.9.1+cpu, a build for the processor alone"]


@ONE
def test_cpu_build_that_is_wished_for_is_none_to_stop(place: Place, tool: str) -> None:
    step = replace(place.by(tool, "install torch==2.9.1+cpu"), proof=StepProof(Proves.TORCH, place.python, "2.9.1+cpu"))
    assert place.look(step, RIG).stops == ()


@ONE
def test_cpu_build_without_a_gpu_is_none_to_stop(place: Place, tool: str) -> None:
    assert place.look(place.by(tool, "install torch==2.9.1+cpu"), machine(Recipe(gpus=()))).stops == ()


@BOTH
def test_wheel_without_a_tag_and_without_parts_of_cuda_is_a_cpu_build(place: Place, tool: str) -> None:
    place.offers(torch("2.9.1", "filelock"), Wheel("filelock", "3.20"))
    looked = place.look(place.by(tool, "install torch"), RIG)
    assert "2.9.1 (cpu), a build for the processor alone" in said(looked.stops)[0]


@ONE
def test_wheel_without_a_tag_that_brings_parts_of_cuda_is_of_that_cuda(place: Place, tool: str) -> None:
    place.offers(torch("2.9.1"), RUNTIME)
    assert place.look(place.by(tool, "install torch"), machine(Recipe(gpus=(RTX_5090,)))).stops == ()
    looked = place.look(place.by(tool, "install torch"), machine(Recipe(gpus=(GTX_1080_TI,))))
    assert said(looked.stops) == ["torch 2.9.1 (cu128) holds no code that runs on GTX 1080 Ti (compute capability 6.1)"]


@ONE
def test_build_without_code_for_one_of_the_gpus_stops_the_step(place: Place, tool: str) -> None:
    looked = place.look(place.by(tool, "install torch==2.9.1"), machine(Recipe(gpus=(RTX_5090, GTX_1080_TI))))
    assert said(looked.stops) == ["torch 2.9.1+cu128 holds no code that runs on GTX 1080 Ti (compute capability 6.1)"]


@BOTH
def test_resolution_that_is_impossible_is_explained(place: Place, tool: str) -> None:
    words = reason(place.look(place.by(tool, "install torch==2.9.1 torchvision==0.23.0"), RIG))
    assert words.startswith(f"{tool} finds no set of packages that fits together")
    assert "torch==2.9.1" in words
    assert "torch==2.8.0" in words
    assert "\n" not in words


@ONE
def test_version_that_nobody_offers_is_explained(place: Place, tool: str) -> None:
    words = reason(place.look(place.by(tool, "install torch==99"), RIG))
    assert "fits together" in words
    assert "torch==99" in words


@BOTH
def test_wheels_for_other_pythons_are_explained(place: Place, tool: str) -> None:
    place.offers(Wheel("torch", "9.0+cu128", requires_python=">=4"))
    assert "Python" in reason(place.look(place.by(tool, "install torch==9.0+cu128"), RIG))


@ONE
def test_long_explanation_is_shortened(place: Place, tool: str) -> None:
    place.offers(*(Wheel("many", f"1.{number}", ("torch==2.8.0", "absent>=1")) for number in range(60)))
    assert len(reason(place.look(place.by(tool, "install many torch==2.9.1"), RIG))) < 750


@BOTH
def test_environment_that_is_not_there_is_looked_at_as_empty(place: Place, tool: str) -> None:
    place.has(torch("2.8.0+cpu"), OLD)
    python = str(place.root / "new" / "bin" / "python")
    run = StepRun(_new(place, tool, python), Tool(tool), str(place.root / "new"), python, creates=str(place.root / "new"))
    looked = look_before(place.session, RIG, Step(StepKind.COMMAND, text("Make it"), run=run))
    assert changes(looked) == [
        ("nvidia-cuda-runtime-cu12", "", "12.8.90"),
        ("torch", "", "2.9.1+cu128"),
        ("torchvision", "", "0.24.1"),
    ]
    assert not (place.root / "new").exists()


def _new(place: Place, tool: str, python: str) -> tuple[tuple[str, ...], ...]:
    directory = str(place.root / "new")
    if tool == "pip":
        return ((place.python, "-m", "venv", directory), (python, "-m", "pip", "install", "torch==2.9.1", "torchvision"))
    release = f"{sys.version_info.major}.{sys.version_info.minor}"
    if shutil.which("uv", path=place.variables["PATH"]) is None:
        pytest.skip("NOT RUN: needs uv: pip install uv")
    install = ("uv", "pip", "install", "--python", python, "torch==2.9.1", "torchvision")
    return (("uv", "venv", "--python", release, directory), install)


@ONE
def test_steps_before_that_are_not_done_count_as_done(place: Place, tool: str) -> None:
    python = str(place.root / "new" / "bin" / "python")
    make, install = _new(place, tool, python)
    first, second = (
        Step(StepKind.COMMAND, text("Do"), run=StepRun((one,), Tool(tool), str(place.root / "new"), python))
        for one in (make, install)
    )
    assert changes(place.look(first, RIG)) == []
    assert len(changes(place.look(second, RIG, earlier=(first,)))) == 3
    assert reason(place.look(second, RIG)).endswith("is not there yet, so nobody can tell what would come into it")


@BOTH
def test_torch_that_an_earlier_step_takes_out_is_gone(place: Place, tool: str) -> None:
    place.offers(torch("2.9.1+cu128"), RUNTIME)
    place.has(torch("2.9.1+cu130"))
    removal = place.by(tool, "uninstall torch")
    looked = place.look(place.by(tool, "install torch==2.9.1"), RIG, earlier=(removal,))
    assert ("torch", "2.9.1+cu130", "2.9.1+cu128") in changes(looked)


def test_python_of_the_distribution_is_closed_to_pip(place: Place) -> None:
    (place.prefix / "pyvenv.cfg").unlink()
    (place.site.parent / "EXTERNALLY-MANAGED").write_text("[externally-managed]\nError=no\n")
    assert reason(place.look(place.pip("install torch"), RIG)).startswith("the distribution keeps this Python for itself")


def test_second_installation_of_a_step_is_said_not_to_be_looked_at(place: Place) -> None:
    looked = place.look(place.pip("install torch==2.9.1", "install torchvision"), RIG)
    assert said(looked.warnings) == [f"nobody can tell what this does before it runs: {place.python} -m pip install torchvision"]


def test_program_that_nobody_knows_is_said_not_to_be_looked_at(place: Place) -> None:
    looked = place.look(place.step((place.python, "-m", "ensurepip")), RIG)
    assert changes(looked) == []
    assert said(looked.warnings) == [f"nobody can tell what this does before it runs: {place.python} -m ensurepip"]


def test_step_without_a_program_has_nothing_to_look_at(place: Place) -> None:
    looked = place.look(Step(StepKind.REBOOT, text("Restart the computer")), RIG)
    assert isinstance(looked.solve, Known)
    assert looked.solve.value.changes == ()


@BOTH
def test_index_that_is_not_there_is_no_missing_package(place: Place, tool: str) -> None:
    nowhere = "http://localhost:9/simple"
    place.variables.update(PIP_INDEX_URL=nowhere, PIP_RETRIES="1", UV_DEFAULT_INDEX=nowhere, UV_OFFLINE="0", UV_HTTP_RETRIES="0")
    step = place.by(tool, "install torch")
    assert "could not reach where it gets packages from" in reason(place.look(step, RIG))


def test_a_link_in_the_steps_own_environment_changes_no_package(place: Place) -> None:
    inside, outside = f"{place.prefix}/lib64", f"{place.home}/lib64"
    assert place.look(place.step(("ln", "-sfn", "lib", inside)), RIG).warnings == ()
    assert len(place.look(place.step(("ln", "-sfn", "lib", outside)), RIG).warnings) == 1
    assert len(place.look(place.step(("ln", "-sfn", "lib", f"{place.prefix}/../lib64")), RIG).warnings) == 1
