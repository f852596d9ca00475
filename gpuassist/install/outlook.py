"""A machine with a wish in place, judged, and the smallest change that makes every link of it hold."""

from __future__ import annotations

import math

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.chain import chains
from gpuassist.diagnose.forward_compatibility import package_for
from gpuassist.install import hypothetical
from gpuassist.install.blockers import blocked_by, out_of_the_question, undetermined
from gpuassist.install.conda import conda_ways, notes_on_conda
from gpuassist.install.configuration import configuration_of, place_of
from gpuassist.install.driver import driver_notes, driver_steps, fabric_notes
from gpuassist.install.driver_repair import mending_steps
from gpuassist.install.drivers.packages import add_repository
from gpuassist.install.drivers.wsl import linux_driver_removal
from gpuassist.install.outlook_notes import DRIVER_STAYS, links_of, notes_on
from gpuassist.install.place import InstallPlace, step
from gpuassist.install.replacements import with_driver, with_toolkit
from gpuassist.install.toolkit_methods import gcc_steps, of_conda, own_toolkit, toolkit_steps, toolkit_ways
from gpuassist.install.torch import jetson_ways, left_by, torch_ways
from gpuassist.knowledge.change import Blocker, Configuration, Constraints, Need, SmallestChange, Stock, VersionChange
from gpuassist.knowledge.choice import Obstacle
from gpuassist.knowledge.commands import use
from gpuassist.knowledge.compatibility import DriverFit
from gpuassist.knowledge.conda import LAST_OF_PYTORCH, conda_builds, of_channel, record_of
from gpuassist.knowledge.records import Channel, CondaRecord
from gpuassist.knowledge.smallest import smallest_change
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import NOT_ASKED, Known
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Method, Outlook, WayPlan
from gpuassist.model.plan import Step, Tool
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.version import Version


class Question(Struct, frozen=True):
    """What is asked: `base` is the machine that the change starts from, `wished` the one with the whole wish in place,
    `constraints` what the wish pins, `tool` what torch shall come by (none: what the environment that is there comes by).
    """

    goal: Text
    base: Machine
    wished: Machine
    constraints: Constraints
    tool: Tool | None = None


def foresee(session: Session, question: Question) -> Outlook:
    looked = begun(session, question)
    hidden = _hidden_driver(session, question) if looked.undetermined else ()
    if hidden:
        return replace(looked, undetermined=(), steps=hidden)
    if looked.blocked_by or looked.undetermined:
        return looked
    # The outlook with the steps that the wish takes, or with what stands in the way.
    case = RuleInput(question.base, session.knowledge)
    knowledge, constraints = session.knowledge, question.constraints
    place = place_of(case, session.world.files.exists, question.tool)
    configuration = replace(configuration_of(case), own_toolkit=own_toolkit(place, knowledge))
    found = find(knowledge, configuration, constraints, question.tool, torch_of_conda=place.around.torch_of_conda)
    change = found.smallest.change
    if change is not None:
        return _with_steps(session, question, looked, found=found, change=change, place=place)
    # A Jetson for which PyTorch's own builds are too new, or have no code, and NVIDIA's are for its system.
    board = case.jetpack
    wanting = found.smallest.obstacle in {Obstacle.JETSON_WHEELS, Obstacle.NO_BUILD_FOR_GPU}
    if board is not None and wanting and any(case.jetson_torch) and _any_torch(constraints, question.tool):
        made = hypothetical.with_unknown_torch(question.base, f"JetPack {board.release}")
        if configuration.torch is None:
            looked = begun(session, replace(question, wished=made))
        after = chains(made, knowledge, thorough=True)
        ways = jetson_ways(place, knowledge, board)
        return replace(looked, after=after, steps=ways[0].steps, ways=ways)
    if Blocker.TOOLKIT in found.smallest.blockers:
        inside = by_conda(session, question, looked, configuration=configuration, place=place)
        if inside is not None:
            return inside
    return replace(looked, blocked_by=found.missing or blocked_by(case, configuration, constraints, found.smallest))


def _any_torch(constraints: Constraints, tool: Tool | None) -> bool:
    """Whether torch is wanted by wheels, and any release of it will do."""
    return constraints.torch_need is Need.MUST and constraints.torch is None and tool is not Tool.CONDA


def _hidden_driver(session: Session, question: Question) -> tuple[Step, ...]:
    """Under WSL2, what a Linux driver keeps from answering is seen once that is out of the way; none where nothing hides it."""
    case = RuleInput(question.base, session.knowledge)
    if not case.linux_driver_in_wsl or isinstance(case.driver, Known):
        return ()
    place, commands = place_of(case), session.knowledge.commands
    again = step((use("doctor"),), place, commands, (text("Then look again: Windows' driver can answer now"), None))
    return linux_driver_removal(place, commands), again


def begun(session: Session, question: Question) -> Outlook:
    """How it looks with the wish in place, before any change, and what keeps it from being planned at all."""
    knowledge = session.knowledge
    case = RuleInput(question.base, knowledge)
    before = chains(question.wished, knowledge, thorough=True)
    links = links_of(RuleInput(question.wished, knowledge), before)
    missing = out_of_the_question(case, question.constraints)
    unknown = () if missing else undetermined(case, question.constraints)
    return Outlook(question.goal, before, before, (), missing, undetermined=unknown, links=links)


def _with_steps(
    session: Session, question: Question, looked: Outlook, *, found: Found, change: VersionChange, place: InstallPlace
) -> Outlook:
    knowledge = session.knowledge
    case, configuration = RuleInput(question.base, knowledge), found.configuration
    must = question.constraints.driver_need is Need.MUST
    broken = steps_that_mend(session, case, configuration, change, whole=_driver_alone(question.constraints))
    mending = broken if must else ()
    mended = (
        with_driver(knowledge, question.base, configuration.driver)
        if mending and configuration.driver is not None
        else question.base
    )
    installs = install_ways(change, place, knowledge, found.record)
    ways = tuple(replace(one, steps=(*mending, *one.steps)) for one in installs)
    steps = ways[0].steps if ways else (*mending, *install_steps(change, place, knowledge))
    after = chains(_changed(knowledge, mended, change), knowledge, thorough=True)
    driver = driver_notes(session, case, change.driver, place)
    if found.record is not None:
        notes_on_torch: tuple[Text, ...] = notes_on_conda(found.record, place, knowledge)
        if configuration.torch is None and change.torch is not None:  # what is asked for is conda's build, and no wheel
            wished = hypothetical.with_torch(question.base, change.torch.build)
            looked = replace(looked, before=chains(wished, knowledge, thorough=True))
    else:
        torch = found.smallest.change.torch if found.smallest.change else None
        notes_on_torch = left_by(torch, place, knowledge) if torch is not None else ()
    if change.driver is not None and change.torch is not None and place.system.part:
        after_driver = text(
            "which torch fits is not sure before the driver of the virtual GPU is there, whose branch its host decides: this build "
            "is for branch {branch}; ask for `gpuassist plan torch` again then",
            branch=change.driver.version.major,
        )
        notes_on_torch = (after_driver, *notes_on_torch)
    for_others = (
        text(
            "some steps need root, and your account is in none of the groups that may become root: the administrator of this "
            "machine can take them"
        ),
    )
    compat = _compatibility(session, case, change, configuration)
    left_to_others = not place.system.administrator and any(one.needs_root for one in steps)
    notes = (
        *driver,
        *(fabric_notes(case, place, knowledge.commands) if change.driver is None else ()),
        *(for_others if left_to_others else ()),
        *notes_on(case, configuration, question.constraints, found.smallest),
        *((DRIVER_STAYS,) if broken and not must and Blocker.DRIVER not in change.left else ()),
        *compat,
        *notes_on_torch,
    )
    return replace(looked, after=after, steps=steps, notes=notes, ways=ways)


def _compatibility(session: Session, case: RuleInput, change: VersionChange, configuration: Configuration) -> tuple[Text, ...]:
    """Where another driver is for torch's sake alone, the way that keeps the one which is there."""
    place, commands = place_of(case), session.knowledge.commands
    torch = change.torch.build.cuda if change.torch is not None else configuration.torch.cuda if configuration.torch else None
    package = package_for(case, torch) if change.driver is not None and torch is not None and place.repository else None
    if package is None or any(case.fit(card) is not DriverFit.FINE for card in case.cards):
        return ()
    uses = (add_repository(place), use("cuda-compat-install", package=package.name, version=str(package.cuda)))
    lines = [line for one in uses for line in commands.render(one.key, place.families, one.parameters)]
    told = text(
        "for data-centre GPUs alone there is a way without another driver and its restart: the package {package}, whose library "
        "programs find through LD_LIBRARY_PATH, which has to be set wherever they start: {commands}",
        package=package.name,
        commands=verbatim(" && ".join(f"`{line}`" for line in lines)),
    )
    return (told,)


def _driver_alone(constraints: Constraints) -> bool:
    return Need.MUST not in {constraints.torch_need, constraints.toolkit_need}


def steps_that_mend(
    session: Session, case: RuleInput, configuration: Configuration, change: VersionChange, *, whole: bool = False
) -> tuple[Step, ...]:
    """What brings the driver that is there to work, where it stays and does not; under WSL2 what keeps Windows' from it."""
    if case.linux_driver_in_wsl:
        return (linux_driver_removal(place_of(case), session.knowledge.commands),)
    if change.driver is not None or configuration.driver is None:
        return ()
    now = chains(case.machine, session.knowledge)
    return mending_steps(session, case, now, place_of(case), whole=whole)


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
    session: Session, question: Question, looked: Outlook, *, configuration: Configuration, place: InstallPlace
) -> Outlook | None:
    """The outlook with conda's toolkit; None where something else stands in the way, or conda has none that fits. A driver comes
    first where none is there yet.
    """
    if configuration.glibc is None:
        return None
    knowledge, constraints = session.knowledge, question.constraints
    architecture = place.repository_architecture
    toolkits = tuple(one for one in knowledge.toolkits() if of_conda(one.release, architecture, knowledge))
    stock = Stock(knowledge.branches(), knowledge.torch_builds(), toolkits)
    inside = replace(configuration, glibc=None, gcc=None, toolkit=None, toolkits=(), own_toolkit=None)
    first = configuration.driver is None and place.system.administrator
    needs = (Need.MUST, constraints.driver_need) if first else (constraints.driver_need,)
    tried = (smallest_change(inside, replace(constraints, driver_need=need), stock).change for need in needs)
    change = next((one for one in tried if one is not None), None)
    if change is None or change.toolkit is None or not {Blocker.DRIVER}.issuperset(change.left):
        return None
    if change.torch is not None and question.tool is Tool.CONDA:
        return None
    ways = install_ways(change, place, knowledge, inside=Method.CONDA)
    if not ways:
        return None
    # The machine as it is inside that environment, which has a C library of its own and the newest compiler that nvcc accepts.
    made = _changed(knowledge, question.base, replace(change, gcc=None))
    record = knowledge.toolkit(change.toolkit.release)
    limit = record.gcc_limit if record is not None else None
    made = replace(made, host=replace(made.host, glibc=NOT_ASKED))
    after = chains(hypothetical.with_gcc(made, Version((limit,))) if limit is not None else made, knowledge, thorough=True)
    why = text(
        "the headers of CUDA {release} clash with this system's glibc {glibc}: conda's nvcc compiles with a C library and a "
        "compiler of its own",
        release=str(change.toolkit.release),
        glibc=str(configuration.glibc),
    )
    case = RuleInput(question.base, knowledge)
    driver = driver_notes(session, case, change.driver, place)
    stays = (DRIVER_STAYS,) if Blocker.DRIVER in change.left else ()
    of_torch = left_by(change.torch, place, knowledge) if change.torch is not None else ()
    return replace(looked, after=after, steps=ways[0].steps, ways=ways, notes=(*looked.notes, *driver, why, *stays, *of_torch))


# A change arranged into steps: driver and restart first, because all else stands on it, then torch, toolkit and host compiler.


def install_steps(change: VersionChange, place: InstallPlace, knowledge: Knowledge) -> tuple[Step, ...]:
    """The steps of a change, in the order in which they are done; of several ways those of the best."""
    ways = install_ways(change, place, knowledge)
    return ways[0].steps if ways else (*_before(change, place, knowledge), *_after(change, place, knowledge))


def install_ways(
    change: VersionChange,
    place: InstallPlace,
    knowledge: Knowledge,
    record: CondaRecord | None = None,
    *,
    inside: Method | None = None,
) -> tuple[WayPlan, ...]:
    """Each way to the torch of a change, or else to its toolkit, with all steps of the change; empty where both stay. `record` is
    that of conda's build where torch is to come from there, `inside` the only way that leads to the toolkit where that is so.
    """
    before = _before(change, place, knowledge)
    if change.torch is None:
        # Those to a toolkit that is not there yet; conda's brings a host compiler of its own.
        if change.toolkit is None or change.toolkit.root:
            return ()
        gcc = gcc_steps(change.gcc, place, knowledge.commands) if change.gcc is not None else ()
        ways = toolkit_ways(change.toolkit, place, knowledge, change.driver)
        return tuple(
            replace(one, steps=(*before, *one.steps, *(() if one.way is Method.CONDA else gcc)))
            for one in ways
            if inside in {None, one.way}
        )
    torch = change.torch
    after = _after(change, place, knowledge)
    if inside is not None:
        only = install_ways(replace(change, torch=None, driver=None), place, knowledge, inside=inside)
        if not only:
            return ()
        after = only[0].steps
    ways = torch_ways(torch, place, knowledge) if record is None else conda_ways(torch, record, place, knowledge)
    return tuple(replace(one, steps=(*before, *one.steps, *after)) for one in ways)


def _before(change: VersionChange, place: InstallPlace, knowledge: Knowledge) -> tuple[Step, ...]:
    return driver_steps(change.driver, place, knowledge.commands) if change.driver is not None else ()


def _after(change: VersionChange, place: InstallPlace, knowledge: Knowledge) -> tuple[Step, ...]:
    toolkit = toolkit_steps(change.toolkit, place, knowledge, change.driver) if change.toolkit is not None else ()
    gcc = gcc_steps(change.gcc, place, knowledge.commands) if change.gcc is not None else ()
    return (*toolkit, *gcc)


# Where the builds of torch come from that a plan chooses from: PyTorch's indexes, or the channels of conda.


class TorchSource(Struct, frozen=True):
    """A machine as it counts for a source, what that has, and the records behind it where it is a channel of conda's."""

    configuration: Configuration
    stock: Stock
    records: tuple[CondaRecord, ...] = ()


class Found(Struct, frozen=True):
    """The smallest change, and where its torch comes from; `record` is none where that is an index of wheels."""

    smallest: SmallestChange
    configuration: Configuration
    record: CondaRecord | None = None
    missing: tuple[Text, ...] = ()


def find(
    knowledge: Knowledge, configuration: Configuration, constraints: Constraints, tool: Tool | None, *, torch_of_conda: bool
) -> Found:
    """The smallest change with a torch by that tool. Where none is asked for, a torch that conda installed is followed by another
    of conda's, if that takes no more than a wheel does.
    """
    if constraints.torch_need is not Need.MUST or not (tool is Tool.CONDA or (tool is None and torch_of_conda)):
        return Found(smallest_change(configuration, constraints, _wheels(knowledge, constraints)), configuration)
    found = _by_conda(knowledge, configuration, constraints, torch_of_conda=torch_of_conda)
    if tool is Tool.CONDA:
        return found
    wheels = Found(smallest_change(configuration, constraints, _wheels(knowledge, constraints)), configuration)
    return wheels if _cost(wheels.smallest) < _cost(found.smallest) or found.smallest.change is None else found


def _cost(smallest: SmallestChange) -> float:
    return smallest.change.cost if smallest.change is not None else math.inf


def _by_conda(knowledge: Knowledge, configuration: Configuration, constraints: Constraints, *, torch_of_conda: bool) -> Found:
    """Of the two channels the one that takes less."""
    sources = _channels(knowledge, configuration if torch_of_conda else replace(configuration, torch=None), constraints)
    answers = [(one, smallest_change(one.configuration, constraints, one.stock)) for one in sources]
    reached = [(one, answer) for one, answer in answers if answer.change is not None]
    if not reached:
        return Found(answers[0][1], configuration, missing=_missing(knowledge, sources, constraints))
    source, best = min(reached, key=lambda pair: _cost(pair[1]))
    move = best.change.torch if best.change else None
    return Found(best, source.configuration, record_of(source.records, move.build, tegra=configuration.tegra) if move else None)


def _wheels(knowledge: Knowledge, constraints: Constraints) -> Stock:
    """A patch that is asked for counts as the newest of its release."""
    wanted, builds = constraints.torch, knowledge.torch_builds()
    release = knowledge.torch_release(wanted) if wanted is not None and len(wanted.parts) > 2 else None
    if wanted is not None and release is not None and wanted in release.patches:
        builds = tuple(replace(one, newest=wanted) if one.release == wanted.release else one for one in builds)
    return Stock(knowledge.branches(), builds, knowledge.toolkits())


def _channels(knowledge: Knowledge, configuration: Configuration, constraints: Constraints) -> tuple[TorchSource, ...]:
    """PyTorch's own channel first for a release that it has: conda-forge for all others. Each makes the Python that it needs."""
    old = constraints.torch is not None and constraints.torch.release <= LAST_OF_PYTORCH.release
    sources = []
    for channel in (Channel.PYTORCH, Channel.CONDA_FORGE) if old else (Channel.CONDA_FORGE, Channel.PYTORCH):
        records = of_channel(knowledge.conda(), channel)
        builds = conda_builds(records, knowledge.torch_builds(), wanted=constraints.torch, tegra=configuration.tegra)
        stock = Stock(knowledge.branches(), builds, knowledge.toolkits())
        sources.append(TorchSource(replace(configuration, python=None), stock, records))
    return tuple(sources)


def _missing(knowledge: Knowledge, sources: tuple[TorchSource, ...], constraints: Constraints) -> tuple[Text, ...]:
    """That conda has no such release at all, where that is why."""
    if constraints.torch is None or any(source.stock.builds for source in sources):
        return ()
    newest = max(one.version for one in of_channel(knowledge.conda(), Channel.CONDA_FORGE))
    return (
        text(
            "gpuassist knows no torch {wanted} with CUDA in conda's channels, where {newest} is the newest; pip and uv have newer "
            "ones",
            wanted=str(constraints.torch),
            newest=str(newest),
        ),
    )
