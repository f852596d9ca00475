"""What a goal would take on a machine: `driver`, `cuda==12.8`, `torch==2.6`, `gpu=RTX 5090`, alone or several at once; `vllm`."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.detect.recording import read_recording
from gpuassist.diagnose.case import RuleInput
from gpuassist.install import hypothetical
from gpuassist.install.configuration import configuration_of
from gpuassist.install.outlook import Question, foresee
from gpuassist.install.outlook_container import foresee_container
from gpuassist.install.replacements import UnknownPartError, gpu_record, with_added_gpu, with_driver, with_toolkit
from gpuassist.knowledge.asked_gpus import asked_gpus
from gpuassist.knowledge.change import Configuration, Constraints, Need
from gpuassist.knowledge.choice import BuildHost, choose_torch
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Unknown, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import NEWEST, Goal, GoalKind, Outlook
from gpuassist.model.plan import Step, Tool
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.version import Version, VersionError

_GOAL = lazy_regex(r"\s*(?P<kind>\w+)\s*(?:={1,2}\s*(?P<value>.*?)\s*)?", re.DOTALL)
_ENGINE = lazy_regex(r"\s*(?P<name>[A-Za-z][\w.-]{0,60}(?:\[[\w,-]{0,40}\])?)\s*(?:={1,2}\s*(?P<release>\d[\w.!+-]{0,40})?\s*)?")
_BUILD = lazy_regex(r"\+(cu\d+|cpu)\Z")  # `+git123` of a build of one's own names none that can be installed
_ALSO = {"pytorch": "torch", "toolkit": "cuda", "nvcc": "cuda", "card": "gpu", "nvidia": "driver"}


_KEEPING = frozenset({GoalKind.HOLD, GoalKind.RELEASE})

PARTS = {GoalKind.DRIVER: "driver", GoalKind.CUDA: "toolkit", GoalKind.TORCH: "torch"}
"""The fields of an `InstallWish` by the goals that they hold."""

_USE_CUDA = "gpuassist use cuda "

ANY = "any"
"""Whichever version fits."""


class InstallWish(Struct, frozen=True):
    """What shall be there: empty where it stays as it is, `any` where whichever version fits will do."""

    driver: str = ""
    toolkit: str = ""
    torch: str = ""
    tool: str = ""
    no_root: bool = False

    @property
    def goals(self) -> tuple[str, ...]:
        """The goals as they are typed in a terminal, and stand on record."""
        values = ((kind.value, getattr(self, part)) for kind, part in PARTS.items())
        return tuple(kind if value == ANY else f"{kind}=={value}" for kind, value in values if value)

    @property
    def as_tool(self) -> Tool | None:
        """What torch shall come by, where that was chosen."""
        return Tool(self.tool) if self.tool else None


class GoalError(UnknownPartError):
    """Words that are no goal; `reason` says what would be one."""


def parse_goal(words: str, knowledge: Knowledge) -> Goal:
    """The goal that somebody typed; raises `GoalError` with the nearest that would be one."""
    found = _GOAL.fullmatch(words)
    kind = next((one for one in GoalKind if found and one.value == found["kind"].lower()), None)
    if found is None or kind is None or kind is GoalKind.ENGINE:
        return _engine_goal(words, knowledge)
    value = (found["value"] or "").strip("\"'“” ")
    if kind is GoalKind.GPU:
        if not value:
            raise GoalError(text('gpu needs a name: gpu="RTX 5090", or a PCI id, gpu=10de:2b85'))
        try:
            return Goal(GoalKind.GPU, name=gpu_record(knowledge, value).pci_id or value)
        except UnknownPartError as error:
            raise GoalError(error.reason) from error
    if found["value"] is None:
        return Goal(kind)
    if kind in _KEEPING:
        raise GoalError(text("{kind} is about the driver that is there, and takes no version", kind=kind.value))
    if kind is GoalKind.DRIVER and value.lower() in {NEWEST, "latest"}:
        return Goal(kind, name=NEWEST)
    try:
        version = Version.parse(value)
    except VersionError:
        raise GoalError(text("{words} names no version: {kind}==VERSION does", words=words, kind=kind.value)) from None
    built = _BUILD.search(value) if kind is GoalKind.TORCH else None
    return Goal(kind, version, built[1] if built else "")


def _engine_goal(words: str, knowledge: Knowledge) -> Goal:
    """`vllm`, `xformers==0.0.33.post2`, `jax[cuda12]`."""
    found = _ENGINE.fullmatch(words)
    engine = knowledge.engine(found["name"]) if found else None
    if found is None or engine is None:
        raise GoalError(_nearest(words, knowledge))
    release = found["release"] or ""
    if "=" in words and not release:
        raise GoalError(text("{words} names no version: {kind}==VERSION does", words=words, kind=engine.key))
    typed = found["name"].lower()
    packages = {one.package for one in knowledge.engine_releases(engine.key)}
    bases = {one.partition("[")[0] for one in packages}
    variant = ("[" in typed and typed in packages) or (len(bases) > 1 and typed in bases)
    return Goal(GoalKind.ENGINE, Version.parse(release) if release else None, typed if variant else engine.key, release)


def look(session: Session, recording: str = "") -> Machine:
    """The live machine, or the one in a file; raises `RecordingError` where the file holds none."""
    if recording:
        return read_recording(session.world.files, recording)
    from gpuassist.detect.machine import detect  # a recording needs no probe, and their code is a fifth of a start

    return detect(session.world, session.knowledge, lambda progress: None)


def plan_goals(
    session: Session, machine: Machine, goals: tuple[Goal, ...], tool: Tool | None = None, *, no_root: bool = False
) -> Outlook:
    """What goals would take at once: the one function whose steps hold every command line for a driver (or a branch of it), a
    toolkit or torch. Each GPU among the goals is one more beside those that are there; `tool` is what torch shall come by, and
    `no_root` plans for a user who may not become root.
    """
    knowledge = session.knowledge
    base = hypothetical.without_root(machine) if no_root else machine
    for goal in goals:
        if goal.kind is GoalKind.GPU:
            base = with_added_gpu(knowledge, base, goal.name)
    case = RuleInput(base, knowledge)
    configuration = configuration_of(case)
    goals = tuple(_of_the_board(base, goal) for goal in goals)
    constraints = Constraints(torch_need=Need.LEAVE, toolkit_need=Need.LEAVE, driver_need=Need.SHOULD)
    for goal in goals:
        constraints = _joined(constraints, goal, configuration, case)
    title = verbatim(" ".join(_spelled(goal, knowledge) for goal in goals))
    if any(goal.kind in _KEEPING for goal in goals):
        return _plan_holding(session, base, title, goals)
    if any(goal.kind is GoalKind.ENGINE for goal in goals):
        return _plan_engine(session, base, title, goals=goals, tool=tool)
    made = base
    for goal in goals:
        if goal.kind is GoalKind.DRIVER and goal.version is not None and not _is(configuration.driver, goal.version):
            made = with_driver(knowledge, made, goal.version)
        elif goal.kind is GoalKind.CUDA and goal.version is not None:
            made = with_toolkit(knowledge, made, goal.version)
        elif goal.kind is GoalKind.TORCH:
            made = _with_wished_torch(knowledge, made, configuration, goal)
    question = Question(title, base, made, constraints, tool)
    contained = tool is Tool.DOCKER and constraints.torch_need is Need.MUST
    return foresee_container(session, question) if contained else foresee(session, question)


def _plan_holding(session: Session, base: Machine, title: Text, goals: tuple[Goal, ...]) -> Outlook:
    """Keeping the driver that is there, or letting go of it; what is to be changed besides is another plan."""
    from gpuassist.install.hold_plan import foresee_hold, foresee_release

    if len(goals) > 1:
        return Outlook(title, (), (), (), blocked_by=(text("plan {goal} by itself", goal=goals[0].kind.value),))
    foresee_it = foresee_hold if goals[0].kind is GoalKind.HOLD else foresee_release
    return foresee_it(session, base, title)


def _plan_engine(session: Session, base: Machine, title: Text, *, goals: tuple[Goal, ...], tool: Tool | None) -> Outlook:
    """One engine, alone, on a GPU that is imagined, or with a torch that is named."""
    from gpuassist.install.engine_choice import EngineWish  # 5 ms that every other plan does without
    from gpuassist.install.engines import foresee_engine

    knowledge = session.knowledge
    first = next(goal for goal in goals if goal.kind is GoalKind.ENGINE)
    others = [goal for goal in goals if goal.kind not in {GoalKind.ENGINE, GoalKind.GPU, GoalKind.TORCH}]
    engine = knowledge.engine(first.name)
    if engine is None or others or sum(goal.kind is GoalKind.ENGINE for goal in goals) > 1:
        why = text("plan an engine by itself, or with a torch or a GPU: `gpuassist plan {engine}`", engine=first.name)
        return Outlook(title, (), (), (), blocked_by=(why,))
    torch = next((goal.version for goal in goals if goal.kind is GoalKind.TORCH), None)
    package = first.name if first.name != engine.key else ""
    return foresee_engine(session, EngineWish(title, base, engine, package, first.spelled, torch=torch, tool=tool))


def toolkit_to_use(step: Step) -> str:
    """The CUDA version that a step makes the one of new shells, which the page Repair does; empty for another step."""
    line = next((line for line in step.commands if line.startswith(_USE_CUDA)), "")
    return line.removeprefix(_USE_CUDA).split(" ")[0]


def _of_the_board(machine: Machine, goal: Goal) -> Goal:
    """A Jetson has one CUDA, that of its system, unless another is asked for."""
    cuda = machine.driver.cuda_version
    board = machine.host.jetson.is_true
    if goal.kind is not GoalKind.CUDA or goal.version is not None or not board or isinstance(cuda, Unknown):
        return goal
    return replace(goal, version=cuda.value.release)


def _joined(constraints: Constraints, goal: Goal, configuration: Configuration, case: RuleInput) -> Constraints:
    if goal.kind is GoalKind.DRIVER:
        wanted = case.numbered(goal.version) if goal.version is not None else None
        other = wanted != goal.version and goal.version is not None and not _is(value_or(case.driver, None), goal.version)
        moves = wanted is not None and (other or not _is(configuration.driver, wanted))
        torch = Need.SHOULD if moves and configuration.torch is not None and not configuration.torch.cpu else Need.KEEP
        return replace(
            constraints,
            driver=wanted,
            driver_number=goal.version if other else None,
            newest_driver=goal.name == NEWEST,
            driver_need=Need.MUST,
            torch_need=_more(constraints.torch_need, torch),
        )
    if goal.kind is GoalKind.TORCH:
        toolkit = _more(constraints.toolkit_need, Need.LINE)
        pinned = replace(constraints, torch=goal.version, torch_tag=goal.name)
        return replace(pinned, driver_need=Need.MUST, torch_need=Need.MUST, toolkit_need=toolkit)
    if goal.kind is GoalKind.CUDA:
        cuda = configuration.torch.cuda if configuration.torch is not None else None
        other = goal.version is not None and cuda is not None and cuda.major != goal.version.major
        torch = _more(constraints.torch_need, Need.SHOULD if other else Need.KEEP)
        return replace(constraints, toolkit=goal.version, torch_need=torch, toolkit_need=Need.MUST)
    torch = _more(constraints.torch_need, Need.MUST if configuration.torch is not None else Need.LEAVE)
    return replace(constraints, driver_need=Need.MUST, torch_need=torch, toolkit_need=_more(constraints.toolkit_need, Need.SHOULD))


def _more(one: Need, other: Need) -> Need:
    order = (Need.LEAVE, Need.KEEP, Need.LINE, Need.SHOULD, Need.MUST)
    return max(one, other, key=order.index)


def _with_wished_torch(knowledge: Knowledge, machine: Machine, configuration: Configuration, goal: Goal) -> Machine:
    """The machine with the build that fits all its GPUs, and driver and Python where one does; else with the one that pip takes."""
    there = configuration.torch
    if there is not None and (goal.version is None or (_is(there.version, goal.version) and goal.name in {"", there.tag})):
        return machine
    builds = [one for one in knowledge.torch_builds(goal.version) if goal.name in {"", one.tag}]
    choice = choose_torch(
        builds,
        configuration.capabilities,
        BuildHost(configuration.machine, configuration.driver, configuration.python, glibc=configuration.glibc),
        release=goal.version,
    )
    here = (one for one in builds if one.machine == value_or(machine.host.architecture, "x86_64"))
    build = choice.build or max(here, key=lambda one: (one.release, one.default), default=None)
    if build is None:
        return hypothetical.with_unknown_torch(machine, str(goal.version)) if goal.version else machine
    return hypothetical.with_torch(machine, build)


def _is(version: Version | None, wanted: Version) -> bool:
    return version is not None and version.parts[: len(wanted.parts)] == wanted.parts


def _spelled(goal: Goal, knowledge: Knowledge) -> str:
    if goal.kind is GoalKind.GPU:
        record = knowledge.gpu(goal.name)
        return f'gpu="{record.name if record else goal.name}"'
    if goal.kind is GoalKind.ENGINE:
        return f"{goal.name}=={goal.spelled}" if goal.spelled else goal.name
    if goal.version is None:
        return f"{goal.kind.value}=={goal.name}" if goal.name else str(goal.kind.value)
    return f"{goal.kind.value}=={goal.version}" + (f"+{goal.name}" if goal.name else "")


def _nearest(words: str, knowledge: Knowledge) -> Text:
    first = re.match(r"\s*(\w*)", words)
    kind = first[1].lower() if first else ""
    goals = text(
        'driver, driver==580, driver==newest, cuda, cuda==12.8, torch, torch==2.6, gpu="RTX 5090", hold, release or an engine such '
        "as vllm"
    )
    if asked_gpus(knowledge, words):
        return text('{words} is no goal; a GPU to buy is gpu="{words}"', words=words)
    from difflib import get_close_matches

    kinds = [one.value for one in GoalKind if one is not GoalKind.ENGINE]
    named = re.split(r"[=<>!~\s\[]", words.strip(), maxsplit=1)[0].lower()
    near = _ALSO.get(kind) or next(iter(get_close_matches(kind, kinds, 1)), "")
    near = near or next(iter(get_close_matches(named, [one.key for one in knowledge.engines()], 1, 0.75)), "")
    if near:
        return text("{words} is no goal; did you mean {near}? Goals are {goals}", words=words, near=near, goals=goals)
    return text("{words} is no goal; goals are {goals}", words=words, goals=goals)
