"""A machine with a wish in place, judged, and the smallest change that makes every link of it hold."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.case import InstalledTorch, RuleInput
from gpuassist.diagnose.chain import chains
from gpuassist.install import hypothetical
from gpuassist.install.conda import notes_on_conda
from gpuassist.install.driver_at_work import mending_steps
from gpuassist.install.driver_notes import driver_notes, root_notes
from gpuassist.install.outlook_notes import DRIVER_STAYS, blocked_by, links_of, notes_on, undetermined, without_gpu
from gpuassist.install.place import InstallPlace, around, system_of, waiting_module
from gpuassist.install.replacements import with_driver, with_toolkit
from gpuassist.install.steps import install_steps, install_ways
from gpuassist.install.toolkit_methods import of_conda
from gpuassist.install.torch import jetson_ways, left_by
from gpuassist.install.torch_source import Found, find
from gpuassist.knowledge.change import Blocker, Configuration, Constraints, Need, SmallestChange, Stock, TorchThere, VersionChange
from gpuassist.knowledge.choice import Obstacle
from gpuassist.knowledge.compatibility import kernels_run
from gpuassist.knowledge.families import families_of, surroundings_of
from gpuassist.knowledge.smallest import smallest_change
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.environment import Accelerator, Torch
from gpuassist.model.fact import NOT_ASKED, Fact, Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Method, Outlook
from gpuassist.model.plan import Step, Tool
from gpuassist.model.text import Text, text
from gpuassist.model.toolkit import Origin
from gpuassist.model.version import ComputeCapability, Version, VersionError

_NO_TORCH = Torch("")
_JETPACK_6 = 540
_NVIDIAS_TORCH = "JetPack 6"


def _nowhere(path: str) -> bool:
    return not path


class Question(Struct, frozen=True):
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
    notes = (
        *driver,
        *root_notes(place, steps),
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


def rig_of(case: RuleInput) -> Configuration:
    """The machine as far as its parts must fit."""
    host = case.machine.host
    gcc, torch = case.gcc, torch_of(case)
    environment = torch.environment if torch else hypothetical.environment_of(case.machine)
    waiting = waiting_module(case)
    driver = case.driver if waiting is None else waiting.version
    opened = case.open_module if waiting is None else waiting.open_flavour
    # The toolkits that are no part of a Python environment.
    outside = (one for one in case.toolkits if value_or(one.origin, Origin.LOCAL) not in {Origin.CONDA, Origin.WHEEL})
    return Configuration(
        gpus=case.wishes,
        capabilities=_capabilities(case),
        today=case.machine.taken_at[:10],
        machine=value_or(host.architecture, "x86_64"),
        driver=_known(driver),
        open_module=opened.value if isinstance(opened, Known) else None,
        one_module=not case.wsl,
        driver_fixed=case.jetson,
        torch=_torch_there(torch) if torch else None,
        python=_known(environment.python_version) if environment else None,
        toolkit=case.known(case.toolkit) if case.toolkit is not None else None,
        toolkits=tuple(known for known in map(case.known, outside) if known is not None),
        gcc=_known(gcc.version) if gcc else None,
        gccs=tuple(version for version, _ in _compilers(case)),
        glibc=_known(host.glibc),
    )


def torch_of(case: RuleInput) -> InstalledTorch | None:
    """The torch that is meant: one that computes on every GPU before others, a CUDA build before one for the processor alone."""
    capabilities = _capabilities(case)
    runs = (one for one in case.cuda_torches if _runs(one, capabilities))
    return next(runs, next(iter(case.cuda_torches or case.torches), None))


def place_of(case: RuleInput, exists: Callable[[str], bool] = _nowhere, wished: Tool | None = None) -> InstallPlace:
    """Where the steps are done, by which tool; a new environment is made where nothing `exists`."""
    torch = torch_of(case)
    environment = torch.environment if torch else hypothetical.environment_of(case.machine)
    tool = torch.tool if torch else InstalledTorch(environment, _NO_TORCH).tool if environment else ""
    surroundings = surroundings_of(case.machine)
    return InstallPlace(
        families=families_of(case.machine),
        repository=surroundings["repository"],
        repository_architecture=surroundings["repository_architecture"],
        python=value_or(environment.interpreter, "python3") if environment else "python3",
        tool=tool,
        torch_there=torch is not None,
        driver_there=isinstance(case.driver, Known),
        compilers=tuple((version.major, path) for version, path in _compilers(case)),
        system=system_of(case),
        around=replace(around(case.machine, environment, torch.torch if torch else None, exists), wished=wished),
    )


def _changed(knowledge: Knowledge, machine: Machine, change: VersionChange) -> Machine:
    if change.driver is not None:
        machine = with_driver(knowledge, machine, change.driver.version)
    if change.torch is not None:
        machine = hypothetical.with_torch(machine, change.torch.build, change.torch.python)
    if change.toolkit is not None:
        machine = with_toolkit(knowledge, machine, change.toolkit.release)
    return hypothetical.with_gcc(machine, change.gcc.version) if change.gcc is not None else machine


def _torch_there(one: InstalledTorch) -> TorchThere | None:
    words = value_or(one.torch.version, "")
    try:
        version = Version.parse(words)
    except VersionError:
        version = Version(())
    targets = one.torch.targets
    return TorchThere(
        version,
        words.partition("+")[2],
        _known(one.torch.cuda),
        targets.value if isinstance(targets, Known) else None,
        cpu=value_or(one.torch.accelerator, Accelerator.CUDA) is not Accelerator.CUDA,
    )


def _compilers(case: RuleInput) -> tuple[tuple[Version, str], ...]:
    every = value_or(case.machine.compilers, ())
    return tuple((one.version.value, one.path) for one in every if one.family == "g++" and isinstance(one.version, Known))


def _known(fact: Fact[Version]) -> Version | None:
    return fact.value if isinstance(fact, Known) else None


def _capabilities(case: RuleInput) -> tuple[ComputeCapability, ...]:
    return tuple(sorted({card.capability.value for card in case.cards if isinstance(card.capability, Known)}))


def _runs(one: InstalledTorch, capabilities: tuple[ComputeCapability, ...]) -> bool:
    targets = value_or(one.torch.targets, ())
    return all(kernels_run(capability, targets, cuda=_known(one.torch.cuda)) for capability in capabilities)


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
