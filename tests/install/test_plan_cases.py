"""What is planned for many machines is what a good engineer would say, and never a build that leaves out one of the GPUs."""

from __future__ import annotations

import re
import shlex
from typing import Any

import pytest

from gpuassist.install.replacements import with_added_gpu
from gpuassist.knowledge.compatibility import driver_serves_cuda, kernels_run
from gpuassist.knowledge.records import Channel
from gpuassist.model.chain import Part, Status
from gpuassist.model.fact import Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.outlook import GoalKind, Outlook
from gpuassist.model.plan import Tool
from gpuassist.model.version import ComputeCapability, Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from tests.cli.made_session import live_session
from tests.plans import cases, machine_of
from tests.rows import for_each
from tests.values import knowledge


class Case(dict[str, Any]):
    """Shown by its name where it fails."""

    def __repr__(self) -> str:
        return f"{self['topic']}: {self['name']}"


CASES = [Case(one) for one in cases()]
PLANNED: dict[tuple[str, str], Outlook] = {}
SESSION = live_session({})
BUILD = re.compile(r"torch==(\S+) torchvision .*?--(?:index-url https://download\.pytorch\.org/whl/|torch-backend=)(\w+)")
CONDA = re.compile(r"pytorch=([\d.]+)=\S+ .*?(?:cuda-version|pytorch-cuda|cudatoolkit)=([\d.]+)")

every_case = for_each("case", CASES)


def planned(case: dict[str, Any]) -> Outlook:
    """Planned once, and looked at by each test."""
    key = (case["topic"], case["name"])
    if key not in PLANNED:
        PLANNED[key] = plan(case)
    return PLANNED[key]


def plan(case: dict[str, Any]) -> Outlook:
    goals = tuple(parse_goal(words, knowledge()) for words in case["goal"])
    return plan_goals(SESSION, machine_of(case), goals, Tool(case["as"]) if "as" in case else None)


def commands(outlook: Outlook) -> list[str]:
    return [line for step in outlook.steps for line in step.commands]


@every_case
def test_commands_are_those_of_a_good_engineer(case: dict[str, Any]) -> None:
    outlook = planned(case)
    told = " / ".join(ENGLISH(reason) for reason in outlook.blocked_by)
    assert case.get("blocked", "") in told, told
    assert (commands(outlook), bool(told)) == (case.get("commands", []), "blocked" in case), told


@every_case
def test_other_ways_are_those_of_a_good_engineer(case: dict[str, Any]) -> None:
    ways = {one.way.value: [line for step in one.steps for line in step.commands] for one in planned(case).ways}
    for way, expected in case.get("ways", {}).items():
        assert ways[way] == expected


@every_case
def test_notes_name_what_a_good_engineer_would(case: dict[str, Any]) -> None:
    outlook = planned(case)
    told = " / ".join(ENGLISH(one) for one in (*outlook.notes, *(note for way in outlook.ways for note in way.notes)))
    assert [words for words in case.get("notes", []) if words not in told] == [], told
    assert [words for words in case.get("without", []) if words in told] == [], told


@every_case
def test_steps_are_those_of_the_first_way(case: dict[str, Any]) -> None:
    outlook = planned(case)
    assert [one.steps for one in outlook.ways[:1]] in ([], [outlook.steps])


@every_case
def test_programs_are_the_lines_that_are_shown(case: dict[str, Any]) -> None:
    for step in (step for way in planned(case).ways for step in way.steps):
        shown = [tuple(shlex.split(line)) for line in step.commands]
        if step.run is not None:
            assert [words for words in shown if words[0] != "." and words[:2] != ("conda", "activate")] == list(step.run.programs)
            assert not step.needs_root


@every_case
def test_every_suggested_build_runs_on_every_gpu(case: dict[str, Any]) -> None:
    outlook = planned(case)
    made = machine_of(case)
    capabilities = [capability_of(one) for one in value_or(outlook_gpus(case), ())]
    for release, tag in BUILD.findall("\n".join(commands(outlook))):
        builds = [one for one in knowledge().torch_builds(Version.parse(release)) if one.tag == tag]
        build = next(one for one in builds if one.machine == value_or(made.host.architecture, ""))
        assert all(kernels_run(capability, build.targets, cuda=build.cuda) for capability in capabilities), build
        assert build.cuda is not None
        assert driver_serves_cuda(driver_after(outlook), build.cuda)


@every_case
def test_every_build_of_condas_runs_on_every_gpu(case: dict[str, Any]) -> None:
    outlook = planned(case)
    capabilities = [capability_of(one) for one in value_or(outlook_gpus(case), ())]
    for version, cuda in CONDA.findall("\n".join(line for way in outlook.ways for step in way.steps for line in step.commands)):
        wanted = (Version.parse(version), Version.parse(cuda))
        records = [one for one in knowledge().conda() if (one.version, one.cuda) == wanted and one.targets is not None]
        assert all(driver_serves_cuda(driver_after(outlook), one.cuda) for one in records if one.cuda is not None)
        codes = [one.targets for one in records if one.channel is Channel.CONDA_FORGE and one.targets is not None]
        assert not codes or any(all(kernels_run(each, code, cuda=wanted[1]) for each in capabilities) for code in codes)


@every_case
def test_steps_lead_where_no_link_of_theirs_is_broken(case: dict[str, Any]) -> None:
    outlook = planned(case)
    if outlook.blocked_by or case["goal"][0].startswith("cuda"):
        return
    asked = {(Part.GPU, Part.DRIVER)}
    if any(goal.startswith("torch") for goal in case["goal"]):
        asked |= {(Part.DRIVER, Part.TORCH), (Part.GPU, Part.TORCH)}
    broken = [joint for chain in outlook.after for joint in chain.joints if joint.status is Status.PROBLEM]
    assert not [joint for joint in broken if (joint.first, joint.second) in asked]


@every_case
def test_each_gpu_has_its_links(case: dict[str, Any]) -> None:
    outlook = planned(case)
    told = {ENGLISH(link.first) for link in outlook.links}
    for place, chain in enumerate(outlook.before):
        assert f"GPU {place}: {ENGLISH(chain.nodes[0].name)}" in told


@every_case
def test_links_that_do_not_hold_say_why(case: dict[str, Any]) -> None:
    assert not [link for link in planned(case).links if link.holds is not True and not ENGLISH(link.reason)]


@every_case
def test_steps_that_need_root_say_so(case: dict[str, Any]) -> None:
    for step in planned(case).steps:
        assert step.needs_root or not any(line.startswith("sudo ") for line in step.commands)


@pytest.mark.parametrize("first", ["driver", "torch", "cuda", "gpu"])
def test_there_are_enough_of_each_kind(first: str) -> None:
    assert sum(case["goal"][0].startswith(first) for case in CASES) >= 9


def test_there_are_enough_of_them_and_none_twice() -> None:
    assert len({(case["topic"], case["name"]) for case in CASES}) == len(CASES) >= 60


def outlook_gpus(case: dict[str, Any]) -> Any:
    """The GPUs of the machine with those that are wished for."""
    base = machine_of(case)
    for words in case["goal"]:
        goal = parse_goal(words, knowledge())
        if goal.kind is GoalKind.GPU:
            base = with_added_gpu(knowledge(), base, goal.name)
    return base.gpus


def capability_of(gpu: Gpu) -> ComputeCapability:
    assert isinstance(gpu.compute_capability, Known)
    return gpu.compute_capability.value


def driver_after(outlook: Outlook) -> Version:
    name = next(node.name for node in outlook.after[0].nodes if node.part is Part.DRIVER)
    return Version.parse(ENGLISH(name))
