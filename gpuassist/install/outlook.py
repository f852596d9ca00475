"""A machine with a wish in place, judged, and the smallest change that makes every link of it hold."""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.chain import chains
from gpuassist.install import hypothetical
from gpuassist.install.conda import notes_on_conda
from gpuassist.install.configuration import place_of, rig_of
from gpuassist.install.driver import driver_notes, mending_steps
from gpuassist.install.outlook_notes import DRIVER_STAYS, blocked_by, links_of, notes_on, undetermined, without_gpu
from gpuassist.install.place import InstallPlace
from gpuassist.install.replacements import with_driver, with_toolkit
from gpuassist.install.steps import install_steps, install_ways
from gpuassist.install.toolkit_methods import of_conda
from gpuassist.install.torch import jetson_ways, left_by
from gpuassist.install.torch_source import Found, find
from gpuassist.knowledge.change import Blocker, Configuration, Constraints, Need, SmallestChange, Stock, VersionChange
from gpuassist.knowledge.choice import Obstacle
from gpuassist.knowledge.smallest import smallest_change
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import NOT_ASKED
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Method, Outlook
from gpuassist.model.plan import Step, Tool
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version

_JETPACK_6 = 540
_NVIDIAS_TORCH = "JetPack 6"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: `base` is the machine that the change starts from, `wished` the one with the whole wish in place,
    `demand` what the wish pins, `tool` what torch shall come by (none: what the environment that is there comes by).
    """

    goal: Text
    base: Machine
    wished: Machine
    demand: Constraints
    tool: Tool | None = None


def foresee(session: Session, question: Question) -> Outlook:
    """What the wish would take."""
    looked = begun(session, question)
    if looked.blocked_by or looked.undetermined:
        return looked
    # The outlook with the steps that the wish takes, or with what stands in the way.
    case = RuleInput(question.base, session.knowledge)
    knowledge, rig, demand = session.knowledge, rig_of(case), question.demand
    place = place_of(case, session.world.files.exists, question.tool)
    found = find(knowledge, rig, demand, question.tool, torch_of_conda=place.around.torch_of_conda)
    change = found.smallest.change
    if change is not None:
        return _with_steps(session, question, looked, found=found, change=change, place=place)
    if _is_jetpack_6(rig, found.smallest) and demand.torch is None and question.tool is not Tool.CONDA:
        after = chains(hypothetical.with_unknown_torch(question.base, _NVIDIAS_TORCH), knowledge, thorough=True)
        ways = jetson_ways(place, knowledge)
        return replace(looked, after=after, steps=ways[0].steps, ways=ways)
    # Whether the toolkit alone finds nothing that fits.
    if found.smallest.change is None and found.smallest.walls == (Blocker.TOOLKIT,):
        inside = by_conda(knowledge, case, looked, demand=demand, rig=rig, place=place)
        if inside is not None:
            return inside
    return replace(looked, blocked_by=found.missing or blocked_by(case, rig, demand, found.smallest))


def begun(session: Session, question: Question) -> Outlook:
    """How it looks with the wish in place, before any change, and what keeps it from being planned at all."""
    knowledge = session.knowledge
    case = RuleInput(question.base, knowledge)
    before = chains(question.wished, knowledge, thorough=True)
    links = links_of(RuleInput(question.wished, knowledge), before)
    missing = without_gpu(case, question.demand)
    unknown = () if missing else undetermined(case, question.demand)
    return Outlook(question.goal, before, before, (), missing, undetermined=unknown, links=links)


def _with_steps(
    session: Session, question: Question, looked: Outlook, *, found: Found, change: VersionChange, place: InstallPlace
) -> Outlook:
    knowledge = session.knowledge
    case, rig, must = RuleInput(question.base, knowledge), found.rig, question.demand.driver_need is Need.MUST
    broken = steps_that_mend(session, case, rig, change)
    mending = broken if must else ()
    mended = with_driver(knowledge, question.base, rig.driver) if mending and rig.driver is not None else question.base
    installs = install_ways(change, place, knowledge, found.record)
    ways = tuple(replace(one, steps=(*mending, *one.steps)) for one in installs)
    steps = ways[0].steps if ways else (*mending, *install_steps(change, place, knowledge))
    after = chains(_changed(knowledge, mended, change), knowledge, thorough=True)
    driver = driver_notes(session, case, change.driver, place)
    if found.record is not None:
        notes_on_torch: tuple[Text, ...] = notes_on_conda(found.record, place, knowledge)
    else:
        torch = found.smallest.change.torch if found.smallest.change else None
        notes_on_torch = left_by(torch, place, knowledge) if torch is not None else ()
    for_others = (
        text(
            "some steps need root, and your account is in none of the groups that may become root: the administrator of this "
            "machine can take them"
        ),
    )
    left_to_others = not place.system.administrator and any(one.needs_root for one in steps)
    notes = (
        *driver,
        *(for_others if left_to_others else ()),
        *notes_on(case, rig, question.demand, found.smallest),
        *((DRIVER_STAYS,) if broken and not must and Blocker.DRIVER not in change.left else ()),
        *notes_on_torch,
    )
    return replace(looked, after=after, steps=steps, notes=notes, ways=ways)


def _is_jetpack_6(rig: Configuration, found: SmallestChange) -> bool:
    """A Jetson for whose driver PyTorch's own builds are too new, and NVIDIA's index is not (JetPack 6 brings 540)."""
    return found.obstacle is Obstacle.JETSON_WHEELS and rig.driver is not None and rig.driver.major == _JETPACK_6


def steps_that_mend(session: Session, case: RuleInput, rig: Configuration, change: VersionChange) -> tuple[Step, ...]:
    """What brings the driver that is there to work, where it stays and does not."""
    if change.driver is not None or rig.driver is None:
        return ()
    now = chains(case.machine, session.knowledge)
    return mending_steps(case, now, place_of(case), session.knowledge.commands)


def _changed(knowledge: Knowledge, machine: Machine, change: VersionChange) -> Machine:
    if change.driver is not None:
        machine = with_driver(knowledge, machine, change.driver.version)
    if change.torch is not None:
        machine = hypothetical.with_torch(machine, change.torch.build, change.torch.python)
    if change.toolkit is not None:
        machine = with_toolkit(knowledge, machine, change.toolkit.release)
    return hypothetical.with_gcc(machine, change.gcc.version) if change.gcc is not None else machine


# A toolkit for a system whose own C library or compiler none fits that would: conda's, which brings both along.


def by_conda(
    knowledge: Knowledge, case: RuleInput, looked: Outlook, *, demand: Constraints, rig: Configuration, place: InstallPlace
) -> Outlook | None:
    """The outlook with conda's toolkit; None where something else stands in the way, or conda has none that fits."""
    if rig.glibc is None:
        return None
    found = smallest_change(replace(rig, glibc=None, gcc=None, toolkit=None, toolkits=()), demand, _stock(knowledge))
    change = found.change
    if change is None or change.toolkit is None or change.torch is not None or change.left:
        return None
    ways = tuple(one for one in install_ways(change, place, knowledge) if one.way is Method.CONDA)
    if not ways:
        return None
    # The machine as it is inside that environment, which has a C library of its own and the newest compiler that nvcc accepts.
    if change.driver is not None or change.toolkit is None:
        changed = case.machine
    else:
        made = with_toolkit(knowledge, case.machine, change.toolkit.release)
        record = knowledge.toolkit(change.toolkit.release)
        limit = record.gcc_limit if record is not None else None
        inside = replace(made, host=replace(made.host, glibc=NOT_ASKED))
        changed = hypothetical.with_gcc(inside, Version((limit,))) if limit is not None else inside
    after = chains(changed, knowledge, thorough=True)
    notes = (*looked.notes, _why(change.toolkit.release, rig.glibc))
    return replace(looked, after=after, steps=ways[0].steps, ways=ways, notes=notes)


def _stock(knowledge: Knowledge) -> Stock:
    toolkits = tuple(one for one in knowledge.toolkits() if of_conda(one.release))
    return Stock(knowledge.branches(), knowledge.torch_builds(), toolkits)


def _why(release: Version, glibc: Version) -> Text:
    return text(
        "the headers of CUDA {release} clash with this system's glibc {glibc}: conda's nvcc compiles with a C library and a "
        "compiler of its own",
        release=str(release),
        glibc=str(glibc),
    )
