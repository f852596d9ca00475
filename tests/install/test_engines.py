"""Whatever the engine and the machine: no command can exchange the torch that is there, and what is installed fits."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from packaging.requirements import Requirement
from packaging.version import Version as PipVersion

from gpuassist.install.engine_choice import EngineWish
from gpuassist.install.engines import foresee_engine
from gpuassist.knowledge.compatibility import driver_serves_cuda, kernels_run
from gpuassist.knowledge.engines import EngineHost, engine_fit, releases_named
from gpuassist.model.environment import Manager
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Method, Outlook, WayPlan
from gpuassist.model.plan import Proves, Tool
from gpuassist.model.text import verbatim
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from tests.cli.made_session import live_session
from tests.install.test_plan_properties import FEW, driver_after, machines
from tests.rows import for_each
from tests.values import RTX_4090, RTX_5090, Env, Recipe, knowledge, machine

SESSION = live_session({})
KEYS = [one.key for one in knowledge().engines()]
engines = st.sampled_from(KEYS)
tools = st.sampled_from([None, Tool.PIP, Tool.UV])


def plan(made: Machine, goal: str, tool: Tool | None = None) -> Outlook:
    return plan_goals(SESSION, made, (parse_goal(goal, knowledge()),), tool)


def installs(way: WayPlan) -> list[tuple[str, list[Requirement]]]:
    """Each interpreter that something is installed for, with what is asked for there."""
    found = []
    for line in (line for step in way.steps for line in step.commands):
        words = shlex.split(line)
        if "install" not in words or not (words[:3] == ["uv", "pip", "install"] or words[1:3] == ["-m", "pip"]):
            continue
        python = words[words.index("--python") + 1] if words[0] == "uv" else words[0]
        asked = [one for one in words[words.index("install") + 1 :] if not one.startswith(("-", "http", "/", "isaacgym/", "./"))]
        found.append((python, [Requirement(one) for one in asked]))
    return found


def exchanges(way: WayPlan, python: str, torch: str) -> list[str]:
    """The lines after which pip's resolver could have put another torch into the environment: those that do not pin that one."""
    bad = []
    for line in (line for step in way.steps for line in step.commands):
        words = shlex.split(line)
        if python not in words:
            continue
        if words[0] == python and words[1:3] == ["-m", "venv"]:
            continue
        if words[:2] == ["uv", "venv"]:
            continue
        pins = [Requirement(one) for one in words if one.startswith("torch==")]
        kept = any(pin.name == "torch" and pin.specifier.contains(PipVersion(torch), prereleases=True) for pin in pins)
        if not kept or {"uninstall", "--upgrade", "-U", "--force-reinstall", "--ignore-installed", "--pre"} & set(words):
            bad.append(line)
    return bad


@FEW
@given(machines(), engines, tools)
def test_no_command_can_exchange_the_torch_that_is_there(made: Machine, key: str, tool: Tool | None) -> None:
    for environment in value_or(made.environments, ()):
        for torch in value_or(environment.torch, ()):
            python, version = value_or(environment.interpreter, ""), value_or(torch.version, "")
            for way in plan(made, key, tool).ways:
                assert exchanges(way, python, version) == []


@FEW
@given(machines(), engines, tools)
def test_each_way_works_in_the_place_that_it_names(made: Machine, key: str, tool: Tool | None) -> None:
    there = {value_or(one.interpreter, "") for one in value_or(made.environments, ())}
    for way in plan(made, key, tool).ways:
        places = {python for python, _ in installs(way)}
        assert len(places) == 1
        assert (places <= there) is (way.way is Method.IN_PLACE)


@FEW
@given(machines(), engines, tools)
def test_what_is_installed_fits_the_machine(made: Machine, key: str, tool: Tool | None) -> None:
    outlook = plan(made, key, tool)
    engine = knowledge().engine(key)
    assert engine is not None
    capabilities = tuple(
        one.compute_capability.value for one in value_or(made.gpus, ()) if isinstance(one.compute_capability, Known)
    )
    for way in outlook.ways[:1]:
        _, asked = installs(way)[-1]
        pins = {one.name: next(iter(one.specifier)).version for one in asked if one.specifier}
        torch = Version.parse(pins["torch"]) if "torch" in pins else None
        named = [one for one in releases_named(knowledge().engine_releases(key), "") if one.newest in pins.values()]
        host = EngineHost("x86_64", capabilities, driver_after(outlook), torch=torch)
        misfits = [engine_fit(engine, one, host) for one in named]
        assert not named or any(one.holds is not False for one in misfits), misfits


@FEW
@given(machines(), engines)
def test_torch_beside_an_engine_computes_on_every_gpu(made: Machine, key: str) -> None:
    outlook = plan(made, key)
    engine = knowledge().engine(key)
    proofs = [step.proof for step in outlook.steps if step.proof is not None and step.proof.proves is Proves.TORCH]
    if engine is None or not engine.asks_torch or not proofs:
        return
    version, _, tag = proofs[-1].wanted.partition("+")
    every = [one for one in knowledge().torch_builds(Version.parse(version)) if (one.tag, one.machine) == (tag, "x86_64")]
    for build in every:
        assert build.cuda is not None
        assert driver_serves_cuda(driver_after(outlook), build.cuda)
        capabilities = [one.compute_capability for one in value_or(made.gpus, ())]
        assert all(isinstance(one, Known) and kernels_run(one.value, build.targets, cuda=build.cuda) for one in capabilities)


@FEW
@given(machines(), engines, st.sampled_from([None, *Tool]))
def test_each_answer_is_one_of_three(made: Machine, key: str, tool: Tool | None) -> None:
    outlook = plan(made, key, tool)
    assert [bool(outlook.steps), bool(outlook.blocked_by), bool(outlook.undetermined)].count(True) == 1


@FEW
@given(machines(), engines)
def test_a_step_of_an_engine_is_proved_by_the_torch_it_leaves(made: Machine, key: str) -> None:
    for way in plan(made, key).ways:
        if way.way is Method.IN_PLACE and not any("venv" in line for step in way.steps for line in step.commands):
            torches = [value_or(one.version, "") for env in value_or(made.environments, ()) for one in value_or(env.torch, ())]
            wanted = [step.proof.wanted for step in way.steps if step.proof is not None and step.proof.proves is Proves.TORCH]
            assert not torches or wanted[-1] in torches


@for_each("goal", ["vllm==0.99", "xformers==9.9", "torch-tensorrt==1999.1", "jax[cuda13]==0.4.30", "flash-attn==2.8.3.post2"])
def test_a_release_that_the_table_lacks_is_not_known(goal: str) -> None:
    outlook = plan(machine(Recipe(environments=(Env("train", "2.9.1+cu128", "3.11"),))), goal)
    assert (outlook.steps, outlook.blocked_by, len(outlook.undetermined)) == ((), (), 1)


def test_a_torch_of_an_image_is_no_release_that_wheels_are_for() -> None:
    made = machine(Recipe(environments=(Env("train", "2.9.1+cu128", "3.11", active=True),)))
    (environment,) = value_or(made.environments, ())
    (torch,) = value_or(environment.torch, ())
    image = "2.9.0a0+50eac811a6.nv25.9"
    inside = replace(environment, torch=Known((replace(torch, version=Known(image, "test")),), "test"))
    changed = replace(made, environments=Known((inside,), "test"))
    for key in ("xformers", "vllm", "torch-tensorrt"):
        assert [one.way for one in plan(changed, key).ways] == [Method.NEW]
    beside = plan(changed, "jax").ways
    for way in beside:
        assert exchanges(way, value_or(environment.interpreter, ""), image) == []


@for_each("manager", [Manager.SYSTEM, Manager.PYENV, Manager.UV])
def test_an_interpreter_that_environments_are_made_from_is_left_alone(manager: Manager) -> None:
    made = machine(Recipe(environments=(Env("train", "", "3.12", manager, active=True),)))
    for key in ("xformers", "jax", "vllm"):
        assert [one.way for one in plan(made, key).ways] == [Method.NEW]


def test_an_engine_with_a_torch_that_is_named_gets_that_torch() -> None:
    made = machine(Recipe(driver="580.95.05", cuda="13.0", environments=(Env("train", "2.9.1+cu128", "3.12"),)))
    outlook = plan_goals(SESSION, made, tuple(parse_goal(words, knowledge()) for words in ("vllm", "torch==2.8")))
    assert [str(pin) for _, asked in installs(outlook.ways[0]) for pin in asked if pin.name == "torch"] == ["torch==2.8.0"]
    assert [str(pin) for _, asked in installs(outlook.ways[0]) for pin in asked if pin.name == "vllm"] == ["vllm==0.11.0"]


def test_what_runs_on_no_such_gpu_names_the_engine_that_does() -> None:
    old = machine(Recipe(gpus=(RTX_5090,), driver="580.95.05", cuda="13.0", open_module=True))
    told = [ENGLISH(one) for one in plan(old, "isaacgym").blocked_by]
    assert any("2.4.1" in one and "sm_120" in one for one in told)
    assert any("plan isaac-lab" in one for one in told)
    assert plan(old, "isaac-lab").steps != ()


def test_a_new_environment_is_made_in_a_place_that_is_free() -> None:
    made = machine(Recipe(environments=(Env("train", "2.9.1+cpu", "3.11", active=True), Env("vllm", "", "3.11"))))
    engine = knowledge().engine("vllm")
    assert engine is not None
    outlook = foresee_engine(SESSION, EngineWish(verbatim("vllm"), made, engine))
    (way,) = (one for one in outlook.ways if one.way is Method.NEW)
    assert {python.rpartition("/bin/")[0].rpartition("/")[2] for python, _ in installs(way)} == {"vllm-2"}


def test_gpus_that_are_imagined_count() -> None:
    made = machine(Recipe(gpus=(RTX_4090,), environments=(Env("train", "2.5.1+cu124", "3.11", active=True),)))
    goals = tuple(parse_goal(words, knowledge()) for words in ('gpu="RTX 5090"', "xformers"))
    assert [one.way for one in plan_goals(SESSION, made, goals).ways] == [Method.NEW]
