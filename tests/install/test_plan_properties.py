"""Whatever the machine, the release and the tool: a plan says what it shows, runs what it shows, and fits every GPU."""

from __future__ import annotations

import json
import re
import shlex

from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.cli.plan import document
from gpuassist.knowledge.compatibility import driver_serves_cuda, kernels_run
from gpuassist.model.chain import Part
from gpuassist.model.environment import Manager, Package
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Method, Outlook
from gpuassist.model.plan import Proves, Step, Tool
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from tests.cli.made_session import live_session
from tests.values import GTX_1080_TI, RTX_3090, RTX_4090, RTX_5090, Env, Recipe, knowledge, machine

SESSION = live_session({})
FEW = settings(max_examples=25)  # each is a whole plan
WHEEL = re.compile(r"torch==(\d[\d.]*)\S* .*?(?:whl/|--torch-backend=)(cu\d+)")
OPERATORS = re.compile(r"[|;&<>`]|\$\(")
BEFORE = ("2.6.0+cu124", "2.9.1+cpu", "2.9.1+cu128", "2.14.1+cu130", "")
BESIDE = (
    "torchaudio 2.6.0",
    "xformers 0.0.29.post3",
    "flash-attn 2.7.4",
    "bitsandbytes 0.44.1",
    "triton 3.2.0",
    "jax 0.5.0",
    "numpy 2.2.0",
)
DRIVERS = (
    ("470.239.06", "11.4"),
    ("535.183.01", "12.2"),
    ("550.54.14", "12.4"),
    ("580.95.05", "13.0"),
    ("595.45.04", "13.2"),
    ("", ""),
)


@st.composite
def environments(draw: st.DrawFn) -> Env:
    packages = draw(st.sets(st.sampled_from(BESIDE)))
    made = tuple(Package(*one.split()) for one in sorted(packages))
    manager = draw(st.sampled_from([Manager.VENV, Manager.UV, Manager.CONDA, Manager.SYSTEM]))
    python = draw(st.sampled_from(["3.8", "3.10", "3.12", "3.15"]))
    return Env("train", draw(st.sampled_from(BEFORE)), python, manager, active=True, packages=made)


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    gpus = draw(st.sets(st.sampled_from([RTX_4090, RTX_5090, GTX_1080_TI, RTX_3090, "10de:1db4"]), min_size=1, max_size=2))
    driver, cuda = draw(st.sampled_from(DRIVERS))
    every = (draw(environments()),) if draw(st.booleans()) else ()
    wsl = draw(st.sampled_from([0, 0, 2]))
    return machine(
        Recipe(
            gpus=tuple(sorted(gpus)),
            driver=driver,
            cuda=cuda,
            open_module=RTX_5090 in gpus,
            wsl=wsl,
            toolkits=(),
            nvcc="",
            environments=every,
        )
    )


goals = st.sampled_from(["torch", "torch==2.3.1", "torch==2.6", "torch==2.9", "torch==2.15", "torch==2.5.0+cu121"])
tools = st.sampled_from([None, *Tool])


def plan(made: Machine, goal: str, tool: Tool | None) -> Outlook:
    return plan_goals(SESSION, made, (parse_goal(goal, knowledge()),), tool)


def steps(outlook: Outlook) -> list[Step]:
    """Those of every way, each once."""
    return list(dict.fromkeys(step for way in outlook.ways for step in way.steps))


def driver_after(outlook: Outlook) -> Version:
    return Version.parse(ENGLISH(next(node.name for node in outlook.after[0].nodes if node.part is Part.DRIVER)))


@FEW
@given(machines(), goals, tools)
def test_the_steps_are_those_of_the_first_way(made: Machine, goal: str, tool: Tool | None) -> None:
    outlook = plan(made, goal, tool)
    assert not (outlook.steps and outlook.blocked_by)
    assert [one.steps for one in outlook.ways[:1]] in ([], [outlook.steps])
    assert len({one.way for one in outlook.ways}) == len(outlook.ways)


@FEW
@given(machines(), goals, tools)
def test_what_would_run_is_what_is_shown(made: Machine, goal: str, tool: Tool | None) -> None:
    for step in steps(plan(made, goal, tool)):
        if step.run is None:
            continue
        lines = [line for line in step.commands if not line.startswith((". ", "conda activate "))]
        assert [shlex.join(words) for words in step.run.programs] == [shlex.join(shlex.split(line)) for line in lines]
        assert not any(OPERATORS.search(re.sub(r"'[^']*'", "", line)) for line in lines)
        assert not step.needs_root


@FEW
@given(machines(), goals, tools)
def test_every_place_is_absolute_and_of_the_user(made: Machine, goal: str, tool: Tool | None) -> None:
    for step in steps(plan(made, goal, tool)):
        if step.run is not None:
            assert step.run.environment.startswith("/home/you/")
            assert step.run.interpreter.startswith(step.run.environment)
            assert step.run.creates in {"", step.run.environment}


@FEW
@given(machines(), goals, st.sampled_from([None, Tool.PIP, Tool.UV]))
def test_wheels_run_on_every_gpu_under_the_driver(made: Machine, goal: str, tool: Tool | None) -> None:
    outlook = plan(made, goal, tool)
    capabilities = [one.compute_capability for one in value_or(made.gpus, ())]
    for version, tag in WHEEL.findall("\n".join(line for step in steps(outlook) for line in step.commands)):
        every = knowledge().torch_builds(Version.parse(version))
        build = next(one for one in every if one.tag == tag and one.machine == "x86_64")
        assert build.cuda is not None
        assert driver_serves_cuda(driver_after(outlook), build.cuda)
        assert all(isinstance(one, Known) and kernels_run(one.value, build.targets, cuda=build.cuda) for one in capabilities)


@FEW
@given(machines(), goals, tools)
def test_a_new_environment_stands_nowhere_where_one_is(made: Machine, goal: str, tool: Tool | None) -> None:
    there = {one.prefix for one in value_or(made.environments, ())}
    for way in plan(made, goal, tool).ways:
        created = [step.run.creates for step in way.steps if step.run is not None and step.run.creates]
        assert there.isdisjoint(created)
        assert bool(created) is (way.way is Method.NEW)


@FEW
@given(machines(), goals, tools)
def test_other_ways_change_no_other_environment(made: Machine, goal: str, tool: Tool | None) -> None:
    there = {one.prefix for one in value_or(made.environments, ())}
    for way in plan(made, goal, tool).ways:
        changed = {step.run.environment for step in way.steps if step.run is not None}
        assert way.way is Method.NEW or changed <= there


@FEW
@given(machines(), goals, tools)
def test_what_a_step_installs_is_proved_there(made: Machine, goal: str, tool: Tool | None) -> None:
    for step in steps(plan(made, goal, tool)):
        if step.proof is not None and step.proof.proves is Proves.TORCH:
            assert step.run is not None
            assert step.proof.place == step.run.interpreter


@FEW
@given(machines(), goals, tools)
def test_the_document_holds_all_of_it(made: Machine, goal: str, tool: Tool | None) -> None:
    outlook = plan(made, goal, tool)
    told = json.loads(json.dumps(document(outlook, ENGLISH)))
    assert [way["way"] for way in told["ways"]] == [way.way.value for way in outlook.ways]
    assert [len(way["steps"]) for way in told["ways"]] == [len(way.steps) for way in outlook.ways]
    assert all(words and "{" not in words for way in told["ways"] for words in (way["text"], *way["notes"]))
    assert all("{" not in words for words in (*told["notes"], *told["blocked_by"], *told["undetermined"]))
