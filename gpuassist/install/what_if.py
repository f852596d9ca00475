"""A machine as it would be: parts of it replaced by others, so that the same chain judges it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.install import hypothetical
from gpuassist.install.configuration import configuration_of
from gpuassist.install.drivers.packages import packages_of
from gpuassist.install.outlook import Question, foresee
from gpuassist.install.replacements import UnknownPartError, gpu_record, version_of, with_driver, with_toolkit, with_torch
from gpuassist.knowledge.change import Configuration, Constraints, Need
from gpuassist.knowledge.compatibility import is_jetson
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.chain import Chain, Part, Status
from gpuassist.model.fact import NOT_ASKED, Known, value_or
from gpuassist.model.machine import Distribution, Host, Machine
from gpuassist.model.outlook import Link, Outlook
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.system.clock import iso

NONE = "none"
_OLDEST_GCC = 6
_TITLE = text("what if")


class Wish(Struct, frozen=True):
    """Parts to imagine: empty as the machine has it, `none` where it shall not be there. `gpus` are names or PCI ids and replace
    all that are there; `driver` is a branch or a version, `torch` `2.7`, `2.7.1+cu128`; `distribution` `ubuntu 24.04`.
    """

    gpus: tuple[str, ...] = ()
    driver: str = ""
    toolkit: str = ""
    torch: str = ""
    python: str = ""
    gcc: str = ""
    distribution: str = ""


class Choices(Struct, frozen=True):
    """What each part can be: `gpus` are names by architecture, newest first; drivers, CUDA and torch newest first as well."""

    gpus: tuple[tuple[str, tuple[str, ...]], ...]
    drivers: tuple[str, ...]
    toolkits: tuple[str, ...]
    torches: tuple[str, ...]
    pythons: tuple[str, ...]
    gccs: tuple[str, ...]
    distributions: tuple[str, ...] = ()


def imagine(session: Session, wish: Wish, machine: Machine | None = None) -> Machine:
    """The machine with the wish in place, or one of nothing but the wish; raises `UnknownPartError` for an unknown part."""
    knowledge = session.knowledge
    made = machine if machine is not None else _blank(session, wish)
    if wish.gpus:
        names = () if wish.gpus == (NONE,) else wish.gpus
        made = hypothetical.with_gpus(
            made, tuple(hypothetical.gpu(gpu_record(knowledge, name), place) for place, name in enumerate(names))
        )
    if wish.driver:
        made = hypothetical.without_driver(made) if wish.driver == NONE else with_driver(knowledge, made, version_of(wish.driver))
    if wish.toolkit:
        made = (
            hypothetical.without_toolkit(made) if wish.toolkit == NONE else with_toolkit(knowledge, made, version_of(wish.toolkit))
        )
    if wish.gcc:
        made = hypothetical.without_gcc(made) if wish.gcc == NONE else hypothetical.with_gcc(made, version_of(wish.gcc))
    if wish.python and wish.python != NONE:
        made = hypothetical.with_python(made, version_of(wish.python))
    if wish.torch:
        made = hypothetical.without_torch(made) if wish.torch == NONE else with_torch(knowledge, made, wish.torch)
    return made


def choices(session: Session) -> Choices:
    """Everything that the knowledge can judge."""
    knowledge = session.knowledge
    builds = sorted(
        (one for one in knowledge.torch_builds() if one.cuda), key=lambda one: (one.newest, one.default, one.cuda), reverse=True
    )
    pythons = sorted({python for one in builds for python in one.pythons}, reverse=True)
    limits = [one.gcc_limit for one in knowledge.toolkits() if one.gcc_limit]
    names: dict[str, dict[str, None]] = {one.name: {} for one in reversed(knowledge.architectures())}
    for record in knowledge.gpus():
        names[record.architecture].setdefault(record.name)
    return Choices(
        gpus=tuple((architecture, tuple(found)) for architecture, found in names.items() if found),
        drivers=tuple(str(one.branch) for one in sorted(knowledge.branches(), key=lambda one: -one.branch)),
        toolkits=tuple(str(one.release) for one in sorted(knowledge.toolkits(), key=lambda one: one.release, reverse=True)),
        torches=tuple(dict.fromkeys(f"{one.newest}+{one.tag}" for one in builds)),
        pythons=tuple(str(one) for one in pythons),
        gccs=tuple(str(major) for major in range(max(limits, default=_OLDEST_GCC), _OLDEST_GCC - 1, -1)),
        distributions=tuple(release for family in Family for release in packages_of(family).releases),
    )


def outlook(session: Session, wish: Wish, machine: Machine | None = None) -> Outlook:
    """How the chains look with the wish in place, and the smallest change from there that makes every link hold."""
    made = imagine(session, wish, machine)
    configuration = configuration_of(RuleInput(made, session.knowledge))
    constraints = Constraints(
        torch_need=Need.MUST if configuration.torch is not None else Need.LEAVE,
        toolkit_need=Need.MUST if configuration.toolkit is not None else Need.LEAVE,
    )
    if not lacks_wheel(session.knowledge, configuration):
        return foresee(session, Question(_TITLE, made, made, constraints))
    # torch cannot be in that environment at all: first the same in a new one, and where that does not fit either, another.
    torch = configuration_of(RuleInput(made, session.knowledge)).torch
    bare = hypothetical.without_torch(made)
    pinned = replace(constraints, torch=torch.version, torch_tag=torch.tag) if torch else constraints
    answers = (foresee(session, Question(_TITLE, bare, made, one)) for one in (pinned, constraints))
    found = next((one for one in answers if not one.blocked_by), None)
    # The outlook with that said of the torch of each chain, and as a link of each GPU.
    outlook = found or foresee(session, Question(_TITLE, made, made, constraints))
    environment = hypothetical.environment_of(made)
    python = value_or(environment.python_version, Version(())) if environment else Version(())
    reason = text("no wheel for Python {python}", python=str(python.release))
    before, links = list[Chain](), list(outlook.links)
    for place, chain in enumerate(outlook.before):
        there = next(node.name for node in chain.nodes if node.part is Part.TORCH)
        nodes = (replace(one, detail=reason, status=Status.PROBLEM) if one.part is Part.TORCH else one for one in chain.nodes)
        before.append(replace(chain, nodes=tuple(nodes)))
        first = text("torch {name} for GPU {place}", name=there, place=chain.gpu or place)
        links.append(Link(first, text("Python {python}", python=str(python.release)), holds=False, reason=reason))
    return replace(outlook, before=tuple(before), links=tuple(links))


def distribution_of(words: str) -> Distribution:
    """The distribution that `ubuntu 24.04` means; raises `UnknownPartError`."""
    name, _, version = words.partition(" ")
    known = next((one for family in Family for one in packages_of(family).examples if one.id == name), None)
    if known is None:
        raise UnknownPartError(text("{name} is no distribution that gpuassist knows", name=name))
    return replace(known, version_id=version, name=f"{known.name} {version}".strip())


def _blank(session: Session, wish: Wish) -> Machine:
    """A machine of which only the day is known, the kind of its processor, and that it is no Jetson unless its GPU is one."""
    records = [gpu_record(session.knowledge, name) for name in wish.gpus if name != NONE]
    integrated = any(record.integrated for record in records)
    jetson = any(record.integrated and record.compute_capability and is_jetson(record.compute_capability) for record in records)
    host = Host(
        distribution=Known(distribution_of(wish.distribution), hypothetical.SOURCE) if wish.distribution else NOT_ASKED,
        architecture=Known("aarch64" if integrated else "x86_64", hypothetical.SOURCE),
        wsl=Known(0, hypothetical.SOURCE),
        container=Known("", hypothetical.SOURCE),
        jetson=Known(jetson, hypothetical.SOURCE),
    )
    made = Machine(taken_at=iso(session.world.clock.now()), host=host, gpus=Known((), hypothetical.SOURCE))
    made = replace(made, environments=Known((), hypothetical.SOURCE))
    return hypothetical.without_gcc(hypothetical.without_toolkit(hypothetical.without_driver(made)))


# A torch in an environment whose Python it has no wheel for, which only an imagined machine can have.


def lacks_wheel(knowledge: Knowledge, configuration: Configuration) -> bool:
    """Whether every known build of the torch that is there is for other Pythons."""
    if configuration.torch is None or configuration.python is None or not configuration.torch.version.parts:
        return False
    builds = [one for one in knowledge.torch_builds(configuration.torch.version) if one.machine == configuration.machine]
    return bool(builds) and all(configuration.python.release not in one.pythons for one in builds)
