"""Goals as people type them, and what several at once ask of a machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuassist.detect.recording import RecordingError
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu
from gpuassist.model.outlook import Goal, GoalKind, Outlook
from gpuassist.model.plan import Step, StepKind, Tool
from gpuassist.model.text import verbatim
from gpuassist.model.version import ComputeCapability, Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import ANY, GoalError, InstallWish, look, parse_goal, plan_goals, toolkit_to_use
from tests.cli.made_session import live_session
from tests.rows import for_each
from tests.values import GTX_1080_TI, RTX_4090, RTX_5090, Env, Recipe, knowledge, machine, without

SESSION = live_session({})
NO_TOOLKIT = Recipe(toolkits=(), nvcc="")
EXAMPLES = Path(__file__).resolve().parent.parent.parent / "resources" / "machines"
version = Version.parse


def plan(recipe: Recipe, *goals: str) -> Outlook:
    return plan_goals(SESSION, machine(recipe), tuple(parse_goal(words, knowledge()) for words in goals))


def refused(words: str) -> str:
    with pytest.raises(GoalError) as error:
        parse_goal(words, knowledge())
    return ENGLISH(error.value.reason)


def lines(outlook: Outlook) -> list[str]:
    return [line for step in outlook.steps for line in step.commands]


@for_each(
    ("words", "goal"),
    [
        ("driver", Goal(GoalKind.DRIVER)),
        ("driver==580", Goal(GoalKind.DRIVER, version("580"))),
        ("driver = 580.95.05", Goal(GoalKind.DRIVER, version("580.95.05"))),
        ("driver==550.54.14-0ubuntu1", Goal(GoalKind.DRIVER, version("550.54.14"))),
        ("cuda", Goal(GoalKind.CUDA)),
        ("cuda==12.8", Goal(GoalKind.CUDA, version("12.8"))),
        ("cuda==12", Goal(GoalKind.CUDA, version("12"))),
        ("CUDA==12.4.1", Goal(GoalKind.CUDA, version("12.4.1"))),
        ("torch", Goal(GoalKind.TORCH)),
        ("torch==2.6", Goal(GoalKind.TORCH, version("2.6"))),
        ("torch==2.1.0+cu121", Goal(GoalKind.TORCH, version("2.1.0"), "cu121")),
        ("torch==2.6.0a0+git123", Goal(GoalKind.TORCH, version("2.6.0"))),
        ('gpu="RTX 5090"', Goal(GoalKind.GPU, name=RTX_5090)),
        ("gpu=RTX 5090", Goal(GoalKind.GPU, name=RTX_5090)),
        ("gpu=='NVIDIA GeForce RTX 4090'", Goal(GoalKind.GPU, name=RTX_4090)),
        ("gpu=10de:2b85", Goal(GoalKind.GPU, name=RTX_5090)),
        (" torch ", Goal(GoalKind.TORCH)),
        ("vllm", Goal(GoalKind.ENGINE, name="vllm")),
        ("vLLM == 0.11.0", Goal(GoalKind.ENGINE, version("0.11.0"), "vllm", "0.11.0")),
        ("xformers==0.0.33.post2", Goal(GoalKind.ENGINE, version("0.0.33"), "xformers", "0.0.33.post2")),
        ("torch_tensorrt", Goal(GoalKind.ENGINE, name="torch-tensorrt")),
        ("isaacgym", Goal(GoalKind.ENGINE, name="isaac-gym")),
        ("jax[cuda12]", Goal(GoalKind.ENGINE, name="jax[cuda12]")),
        ("cupy-cuda12x=13.6.0", Goal(GoalKind.ENGINE, version("13.6.0"), "cupy-cuda12x", "13.6.0")),
    ],
)
def test_goals_as_people_type_them(words: str, goal: Goal) -> None:
    assert parse_goal(words, knowledge()) == goal


@for_each(
    ("words", "said"),
    [
        ("trch", "did you mean torch?"),
        ("pytorch==2.6", "did you mean torch?"),
        ("toolkit", "did you mean cuda?"),
        ("nvcc==12", "did you mean cuda?"),
        ("drivers", "did you mean driver?"),
        ("xformer", "did you mean xformers?"),
        ("flash-atn==2.8.3", "did you mean flash-attn?"),
        ("vllm==", "vllm==VERSION does"),
        ("vllm==new", "is no goal"),
        ("engine", "is no goal"),
        ("engine==2", "is no goal"),
        ("RTX 5090", 'a GPU to buy is gpu="RTX 5090"'),
        ("everything", "goals are driver, driver==580"),
        ("", "goals are driver, driver==580"),
        ("torch>=2.6", "did you mean torch?"),
        ("torch==", "names no version"),
        ("cuda==new", "names no version: cuda==VERSION does"),
        ("gpu", "gpu needs a name"),
        ("gpu=", "gpu needs a name"),
        ("gpu=Voodoo 5", "Voodoo 5 is no GPU that gpuassist knows"),
        ("gpu=RTX 5909", "near it are GeForce RTX 5090"),
        ("gpu=GT 730", "say which by its PCI id"),
    ],
)
def test_what_is_no_goal_is_told_what_would_be(words: str, said: str) -> None:
    assert said in refused(words)


def test_goal_is_named_in_the_answer() -> None:
    outlook = plan(NO_TOOLKIT, 'gpu="RTX 5090"', "torch==2.7.1+cu128", "driver")
    assert ENGLISH(outlook.goal) == 'gpu="GeForce RTX 5090" torch==2.7.1+cu128 driver'


def test_gpus_that_are_wished_for_come_beside_those_there() -> None:
    outlook = plan(NO_TOOLKIT, "gpu=RTX 3090", "gpu=RTX 5090")
    assert [ENGLISH(chain.nodes[0].name) for chain in outlook.before] == ["RTX 4090", "RTX 3090", "RTX 5090"]


def test_driver_and_torch_are_planned_together() -> None:
    found = lines(plan(NO_TOOLKIT, "driver==580", "torch==2.9"))
    assert found[0] == "sudo apt install nvidia-driver-580-open"
    assert "torch==2.9.1" in found[-1]


def test_before_shows_the_wish_in_place() -> None:
    outlook = plan(NO_TOOLKIT, "driver==470")
    assert ENGLISH(outlook.before[0].nodes[1].name) == "470"
    assert any(link.holds is False for link in outlook.links)


def test_before_of_a_torch_that_no_gpu_runs_shows_pips_own_build() -> None:
    outlook = plan(Recipe(gpus=(RTX_5090,), driver="580.95.05", open_module=True, toolkits=(), nvcc=""), "torch==2.6")
    names = [ENGLISH(node.name) for node in outlook.before[0].nodes]
    assert any(name.startswith("2.6.0+") for name in names), names


def test_after_shows_the_steps_done() -> None:
    outlook = plan(Recipe(gpus=(RTX_5090,), toolkits=(), nvcc=""), "torch")
    assert [ENGLISH(node.name) for node in outlook.after[0].nodes][1:3] == ["595", "2.15.0+cu132"]


def test_unknown_gpus_leave_the_answer_open() -> None:
    found = plan_goals(SESSION, without(machine(NO_TOOLKIT), ["gpus"]), (Goal(GoalKind.TORCH),))
    assert (found.steps, [ENGLISH(one) for one in found.undetermined]) == (
        (),
        ["the GPUs of this machine: not readable in this test"],
    )


def test_unknown_driver_leaves_the_answer_open() -> None:
    asleep = without(machine(NO_TOOLKIT), ["driver.loaded", "driver.version"])
    assert "the driver's version" in ENGLISH(plan_goals(SESSION, asleep, (Goal(GoalKind.TORCH),)).undetermined[0])


def test_unknown_driver_does_not_matter_where_one_is_pinned() -> None:
    asleep = without(machine(NO_TOOLKIT), ["driver.loaded", "driver.version"])
    found = plan_goals(SESSION, asleep, (Goal(GoalKind.DRIVER, version("580")),))
    assert lines(found)[0] == "sudo apt install nvidia-driver-580-open"


def test_unknown_capability_leaves_torch_open() -> None:
    made = machine(NO_TOOLKIT)
    strange = Gpu(
        pci_id=Known("10de:ffff", "test"), name=Known("NVIDIA Something New", "test"), kernel_driver=Known("nvidia", "test")
    )
    found = plan_goals(SESSION, replace(made, gpus=Known((strange,), "test")), (Goal(GoalKind.TORCH),))
    assert "the compute capability of Something New" in ENGLISH(found.undetermined[0])


@pytest.mark.parametrize(
    ("driver", "cuda", "line"),
    [("550.54.14", "12.4", "sudo apt install nvidia-driver-595-open"), ("580.95.05", "13.0", "torch==2.10.0")],
)
def test_gpu_newer_than_known_is_judged_by_its_capability(driver: str, cuda: str, line: str) -> None:
    # Builds with PTX for 12.0 run on it, where the driver is new enough to compile that.
    capability = Known(ComputeCapability(13, 0), "test")
    strange = Gpu(pci_id=Known("10de:ffff", "test"), name=Known("NVIDIA Something New", "test"), compute_capability=capability)
    made = machine(replace(NO_TOOLKIT, driver=driver, cuda=cuda))
    found = plan_goals(SESSION, replace(made, gpus=Known((strange,), "test")), (Goal(GoalKind.TORCH),))
    assert line in " ".join(lines(found))


def test_ended_branch_is_a_note_and_no_step() -> None:
    outlook = plan(NO_TOOLKIT, "driver")
    assert outlook.steps == ()
    assert "`gpuassist plan driver==newest`" in ENGLISH(outlook.notes[0])


def test_secure_boot_is_a_note_beside_a_new_driver() -> None:
    recipe = Recipe(gpus=(GTX_1080_TI,), driver="595.45.04", secure_boot=True, environments=(), toolkits=(), nvcc="")
    assert "Secure Boot is on" in ENGLISH(plan(recipe, "driver").notes[0])


def test_toolkit_that_does_not_fit_is_a_note_beside_torch() -> None:
    recipe = Recipe(toolkits=("13.0.88",), nvcc="13.0", driver="580.95.05", cuda="13.0")
    assert any("`gpuassist plan cuda`" in ENGLISH(note) for note in plan(recipe, "torch").notes)


def test_first_torch_that_runs_on_every_gpu_is_the_one_that_counts() -> None:
    two = (Env("old", "2.6.0+cu124", active=True), Env("new", "2.9.1+cu128", active=True))
    recipe = Recipe(gpus=(RTX_5090,), driver="580.95.05", open_module=True, toolkits=(), nvcc="", environments=two)
    assert plan(recipe, "torch").steps == ()


def test_recording_is_looked_at_instead_of_this_machine() -> None:
    seen = look(SESSION, str(EXAMPLES / "08-healthy.json"))
    assert seen.note


def test_recording_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordingError):
        look(SESSION, str(tmp_path / "nothing.json"))


VERSIONS = st.sampled_from(["", ANY, "2.7.1+cu128", "12.8", "580"])


@given(
    st.builds(InstallWish, VERSIONS, VERSIONS, VERSIONS, st.sampled_from(["", *(one.value for one in Tool)]), no_root=st.booleans())
)
def test_every_goal_of_a_wish_is_one_of_the_terminal(wish: InstallWish) -> None:
    for goal in wish.goals:
        parse_goal(goal, knowledge())


def test_a_wish_spells_its_goals_as_in_the_terminal() -> None:
    assert InstallWish(driver="580", torch=ANY).goals == ("driver==580", "torch")


def test_what_torch_comes_by() -> None:
    assert (InstallWish(torch=ANY, tool="uv").as_tool, InstallWish(torch=ANY).as_tool) == (Tool.UV, None)


@pytest.mark.parametrize(
    ("commands", "version"),
    [(("gpuassist use cuda 12.8",), "12.8"), (("gpuassist use cuda 12.8 --yes",), "12.8"), (("sudo reboot",), ""), ((), "")],
)
def test_which_toolkit_a_step_uses(commands: tuple[str, ...], version: str) -> None:
    assert toolkit_to_use(Step(StepKind.EDIT, verbatim("use"), commands)) == version
