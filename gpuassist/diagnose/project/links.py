"""Each link from a project to the machine: holds, broken or not known, with the line that asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from msgspec import Struct

from gpuassist.diagnose.case import KnownGpu, RuleInput
from gpuassist.diagnose.project.engines import engine_checks
from gpuassist.diagnose.project.pick import COMPANIONS, Pick, Stock, applies, exact_of, pick, range_of, specifier, takes, torch_of
from gpuassist.diagnose.project.sets import CONDA, PIP, Project, InstallSet, include_troubles, sets_of
from gpuassist.formats.project.values import PythonWish, Spot
from gpuassist.knowledge.choice import choose_driver
from gpuassist.knowledge.companions import bad_pairs_among
from gpuassist.knowledge.compatibility import CodePath, driver_floor, driver_serves_cuda, kernels_run, way_to_run
from gpuassist.knowledge.images import ImageReading
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.environment import Manager
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.project import CheckId, CheckState, ProjectCheck
from gpuassist.model.text import Text, enumerated, text
from gpuassist.model.version import ComputeCapability, Version

HOLDS, BROKEN, UNKNOWN = CheckState.HOLDS, CheckState.BROKEN, CheckState.UNKNOWN
_WHEEL_MAJOR = lazy_regex(r"nvidia-[a-z0-9-]+-cu(1[0-9])")
_CUPY = lazy_regex(r"cupy-cuda(\d{2})(?:x|\d)")
_PYTHON_IMAGE = lazy_regex(r"(?:.*/)?python:(\d\.\d{1,2})(?:[.-].*)?")
MAKERS = frozenset({Manager.SYSTEM, Manager.PYENV, Manager.UV})


class Mend(str, Enum):
    """What mends a link that is broken: other words in the project's files, or something on the machine."""

    TORCH = "torch"
    ARCHITECTURE = "architecture"
    IMAGE = "image"
    DEVICES = "devices"
    DRIVER = "driver"
    TOOLKIT = "toolkit"
    NONE = "none"


class Link(Struct, frozen=True):
    """A check, with the set that it is about and what mends it; `driver` and `toolkit` are what that takes on the machine."""

    check: ProjectCheck
    mend: Mend = Mend.NONE
    of: InstallSet | None = None
    pick: Pick | None = None
    driver_for: Version | None = None


class Ground(Struct, frozen=True):
    """The machine as a project stands on it: `driver` is the one that serves its GPUs, there or (`driver_missing`) to be installed."""

    case: RuleInput
    driver: Version | None
    driver_cuda: Version | None
    driver_missing: bool

    @property
    def machine(self) -> str:
        return value_or(self.case.machine.host.architecture, "x86_64")

    @property
    def capabilities(self) -> tuple[ComputeCapability, ...]:
        return tuple(sorted({card.capability.value for card in self.case.cards if isinstance(card.capability, Known)}))

    def cards_of(self, capability: ComputeCapability) -> Text:
        return enumerated(card.name for card in self.case.cards if value_or(card.capability, None) == capability)


def ground_of(case: RuleInput) -> Ground:
    """What of the machine a project is judged by."""
    there = value_or(case.driver, None)
    ruled_out = any(case.ruled_out(card) for card in case.cards)
    if there is not None and not ruled_out:
        cuda = value_or(case.machine.driver.cuda_version, None)
        branch = case.knowledge.branch(there.major)
        return Ground(case, there, cuda or (branch.cuda if branch is not None else None), driver_missing=False)
    unread = isinstance(case.machine.driver.loaded, Unknown) and there is None
    best = choose_driver(case.knowledge.branches(), case.wishes, today=case.machine.taken_at[:10], one_module=not case.wsl).best
    if unread or best is None or not case.cards:
        return Ground(case, there, None, driver_missing=there is None and not unread)
    return Ground(case, Version((best.branch,)), best.cuda, driver_missing=True)


def links_of(project: Project, ground: Ground) -> tuple[Link, ...]:
    """Every link; the same words of the same line once."""
    from gpuassist.diagnose.project.compiling import compiling_links
    from gpuassist.diagnose.project.images import image_links

    sets = sets_of(project)
    picks = [(one, stock_of(one, ground, project), pick(one, stock_of(one, ground, project))) for one in sets]
    links = [
        *_troubles(project),
        *_machine(ground, picks, project),
        *(link for one, stock, found in picks for link in set_links(one, stock, found, ground)),
        *image_links(project, ground),
        *compiling_links(project, picks, ground),
        *_devices(project),
    ]
    kept: dict[tuple[object, ...], Link] = {}
    for link in links:
        check = link.check
        kept.setdefault((check.id, check.state, check.file, check.line, check.text), link)
    return tuple(kept.values())


def _check(id_: CheckId, state: CheckState, words: Text, spot: Spot | None = None) -> ProjectCheck:
    return ProjectCheck(id_, state, words, spot.file if spot else "", spot.line if spot else 0)


def _troubles(project: Project) -> Iterator[Link]:
    every = [*project.troubles, *(one for reading in project.readings.values() for one in reading.troubles), *include_troubles(project)]
    for one in every:
        yield Link(_check(CheckId(one.about), UNKNOWN, one.reason, one.spot))


# The machine itself


def _machine(ground: Ground, picks: Sequence[tuple[InstallSet, Stock, Pick | None]], project: Project) -> Iterator[Link]:
    """The GPUs and their driver, where anything of the project asks for them."""
    asks = any(found is not None for _, _, found in picks) or any(
        reading.images or reading.extensions or reading.architectures for reading in project.readings.values()
    )
    case = ground.case
    if not asks:
        return
    if isinstance(case.machine.gpus, Unknown):
        yield Link(_check(CheckId.DRIVER, UNKNOWN, text("the GPUs of this machine: {reason}", reason=case.machine.gpus.reason)))
    elif not case.cards and not case.wsl and not case.jetson:
        yield Link(_check(CheckId.DRIVER, BROKEN, text("there is no NVIDIA GPU in this computer")))
    elif isinstance(case.driver, Unknown):
        if ground.driver_missing:
            yield Link(_check(CheckId.DRIVER, BROKEN, text("no NVIDIA driver runs here")), Mend.DRIVER)
        else:
            yield Link(_check(CheckId.DRIVER, UNKNOWN, text("the driver: {reason}", reason=case.driver.reason)))
    else:
        yield _driver_itself(ground, case.driver.value)
    for card in case.cards:
        if isinstance(card.capability, Unknown):
            words = text("the compute capability of {gpu}: {reason}", gpu=card.name, reason=card.capability.reason)
            yield Link(_check(CheckId.ARCHITECTURE, UNKNOWN, words))


def _driver_itself(ground: Ground, driver: Version) -> Link:
    bad = [card for card in ground.case.cards if ground.case.ruled_out(card)]
    names = enumerated(card.name for card in bad or ground.case.cards)
    if bad:
        words = text("driver {driver} does not run {gpus}", driver=str(driver), gpus=names)
        return Link(_check(CheckId.DRIVER, BROKEN, words), Mend.DRIVER)
    return Link(_check(CheckId.DRIVER, HOLDS, text("driver {driver} runs {gpus}", driver=str(driver), gpus=names)))


# What is installed


def stock_of(one: InstallSet, ground: Ground, project: Project) -> Stock:
    return Stock(ground.case.knowledge, ground.machine, python_of(one, ground), ground.driver_cuda)


def python_of(one: InstallSet, ground: Ground) -> Version | None:
    """The Python that a set is installed for: its pin, that of the image, else the machine's where the project takes it."""
    if one.image is not None:
        found = _PYTHON_IMAGE.fullmatch(one.image.name)
        if found is not None:
            return Version.parse(found[1])
        reading = ground.case.knowledge.image(one.image.name) if one.image.name else None
        return reading.python if isinstance(reading, ImageReading) else None
    pinned = next((wish for wish in one.pythons if wish.pinned), None)
    if pinned is not None:
        return _number(pinned.versions)
    if one.tool == CONDA:
        return None
    here = _pythons_here(ground)
    ranges = [wish for wish in one.pythons if not wish.pinned]
    fitting = [python for python in here if all(_in_range(wish, python) for wish in ranges)]
    return fitting[0] if fitting else None


def _number(versions: str) -> Version | None:
    words = versions.lstrip("=~>").removesuffix(".*")
    parts = words.split(".")
    return Version(tuple(map(int, parts))) if all(part.isdigit() and len(part) < 6 for part in parts) and len(parts) > 1 else None


def _in_range(wish: PythonWish, python: Version) -> bool:
    range_ = range_of(wish.versions)
    full = str(python) if len(python.parts) > 2 else f"{python}.0"
    return range_ is None or takes(range_, full)


def _pythons_here(ground: Ground) -> list[Version]:
    """The Pythons of this machine: that of the environment that counts first, then those that environments can be made of."""
    environments = value_or(ground.case.machine.environments, ())
    active = [one for one in environments if one.active.is_true]
    rest = [one for one in environments if value_or(one.manager, Manager.VENV) in MAKERS or one.torch]
    found = [one.python_version.value for one in (*active, *rest) if isinstance(one.python_version, Known)]
    return list(dict.fromkeys(found))


def set_links(one: InstallSet, stock: Stock, found: Pick | None, ground: Ground) -> Iterator[Link]:
    """All that one set asks for; also for a set that is only tried."""
    yield from _python(one, found, ground)
    if found is not None:
        yield from _torch(one, found, stock, ground)
        yield from _companions(one, found, stock)
        yield from _wheels(one, found, stock)
        yield from _pairs(one, found, stock, ground)
    yield from _cupy(one, ground)
    for check in engine_checks(one, found, stock, ground.case):
        yield Link(check, of=one, pick=found)


def _python(one: InstallSet, found: Pick | None, ground: Ground) -> Iterator[Link]:
    if found is not None and found.about_python and found.why is not None:
        spot = next((wish.spot for wish in one.pythons if wish.pinned), found.spot)
        yield Link(_check(CheckId.PYTHON, BROKEN, found.why, spot), Mend.TORCH, one, found)
        return
    pinned = next((wish for wish in one.pythons if wish.pinned), None)
    ranges = [wish for wish in one.pythons if not wish.pinned]
    python = python_of(one, ground)
    for wish in ranges:
        if range_of(wish.versions) is None:
            words = text("this is no range of Pythons: {words}", words=wish.spelled[:80])
            yield Link(_check(CheckId.PYTHON, UNKNOWN, words, wish.spot))
        elif pinned is not None and python is not None and not _in_range(wish, python):
            words = text("Python {python} is pinned, and the project asks for {range}", python=str(python), range=wish.spelled)
            yield Link(_check(CheckId.PYTHON, BROKEN, words, pinned.spot), Mend.NONE, one)
        elif pinned is None and one.image is None and python is None:
            here = _pythons_here(ground)
            names = ", ".join(str(each.release) for each in here)
            if here:
                words = text("it asks for Python {range}; found here: {pythons}", range=wish.spelled, pythons=names)
                yield Link(_check(CheckId.PYTHON, BROKEN if one.tool == PIP else UNKNOWN, words, wish.spot), Mend.NONE, one)
            else:
                words = text("it asks for Python {range}; which Pythons are here is not known", range=wish.spelled)
                yield Link(_check(CheckId.PYTHON, UNKNOWN, words, wish.spot), Mend.NONE, one)
    if found is not None and found.build is not None and python is not None:
        spot = pinned.spot if pinned is not None else ranges[0].spot if ranges else found.spot
        words = text("torch {version} has a wheel for Python {python}", version=found.spelled, python=str(python.release))
        yield Link(_check(CheckId.PYTHON, HOLDS, words, spot), of=one)


def _torch(one: InstallSet, found: Pick, stock: Stock, ground: Ground) -> Iterator[Link]:
    build, spot = found.build, found.spot
    if found.about_python:
        return
    if build is None:
        yield from _without_build(one, found, stock, ground)
        return
    if build.cuda is None:
        words = text("{index} has torch {version} for the processor alone: it uses no GPU", index=found.index, version=found.spelled)
        yield Link(_check(CheckId.TORCH_BUILD, BROKEN, words, spot), Mend.TORCH, one, found)
        return
    words = text("torch {version} comes from {index}", version=found.spelled, index=found.index)
    yield Link(_check(CheckId.TORCH_BUILD, HOLDS, words, spot), of=one, pick=found)
    yield from _architectures(one, found, build, ground)
    yield _driver(one, found, build, ground)


def _without_build(one: InstallSet, found: Pick, stock: Stock, ground: Ground) -> Iterator[Link]:
    why = found.why or text("which torch this installs is not known")
    version = found.version
    if not found.broken and version is not None:
        for capability in ground.capabilities:
            first = first_release(stock, capability)
            if first is not None and version.release < first and version.release < Version((1, 12)):
                yield Link(_check(CheckId.ARCHITECTURE, BROKEN, _cannot(ground, capability, first, found), found.spot), Mend.TORCH, one, found)
                return
    state = BROKEN if found.broken else UNKNOWN
    yield Link(_check(CheckId.TORCH_BUILD, state, why, found.spot), Mend.TORCH if found.broken else Mend.NONE, one, found)


def first_release(stock: Stock, capability: ComputeCapability) -> Version | None:
    """The first torch release with code for a GPU, as far as builds are known."""
    return min((each.release for each in stock.builds if kernels_run(capability, each.targets, cuda=each.cuda)), default=None)


def last_release(stock: Stock, capability: ComputeCapability) -> Version | None:
    return max((each.release for each in stock.builds if kernels_run(capability, each.targets, cuda=each.cuda)), default=None)


def _cannot(ground: Ground, capability: ComputeCapability, first: Version, found: Pick) -> Text:
    spelled = found.asked.spelled if found.asked is not None and not found.locked else ""
    pinned = spelled.lstrip("= ") or found.spelled
    return text(
        "cannot fit: {gpu} needs sm_{code} from torch {first} on, and the project pins {pinned}",
        gpu=ground.cards_of(capability),
        code=f"{capability.major}{capability.minor}",
        first=str(first),
        pinned=pinned,
    )


def _architectures(one: InstallSet, found: Pick, build: TorchBuild, ground: Ground) -> Iterator[Link]:
    stock = Stock(ground.case.knowledge, ground.machine)
    for capability in ground.capabilities:
        way = way_to_run(capability, build.targets, cuda=build.cuda, driver_cuda=ground.driver_cuda)
        name, code = ground.cards_of(capability), f"{capability.major}{capability.minor}"
        if way in {CodePath.NATIVE, CodePath.COMPILED_BY_DRIVER}:
            words = text("torch {version} has code for {gpu} (sm_{code})", version=found.spelled, gpu=name, code=code)
            yield Link(_check(CheckId.ARCHITECTURE, HOLDS, words, found.spot), of=one, pick=found)
            continue
        first, last = first_release(stock, capability), last_release(stock, capability)
        if way is CodePath.DRIVER_TOO_OLD_TO_COMPILE:
            words = text("the driver is too old to compile the code of torch {version} for {gpu}", version=found.spelled, gpu=name)
        elif first is not None and found.version is not None and found.version.release < first:
            words = _cannot(ground, capability, first, found)
        elif last is not None and found.version is not None and found.version.release > last:
            words = text(
                "cannot fit: torch {version} has no code for {gpu} (sm_{code}) any more, the last release with it is {last}",
                version=found.spelled, gpu=name, code=code, last=str(last),
            )  # fmt: skip
        else:
            words = text("the build {version} has no code for {gpu} (sm_{code})", version=found.spelled, gpu=name, code=code)
        yield Link(_check(CheckId.ARCHITECTURE, BROKEN, words, found.spot), Mend.TORCH, one, found)


def _driver(one: InstallSet, found: Pick, build: TorchBuild, ground: Ground) -> Link:
    assert build.cuda is not None
    floor = driver_floor(build.cuda)
    facts = {"version": found.spelled, "floor": str(floor)}
    if ground.driver is None:
        words = text("torch {version} needs driver {floor} or newer; which one is here is not known", **facts)
        return Link(_check(CheckId.DRIVER, UNKNOWN, words, found.spot), of=one, pick=found)
    if driver_serves_cuda(ground.driver, build.cuda) or ground.case.jetson and _jetson_serves(ground, build):
        words = text("torch {version} runs with driver {driver}: it needs {floor}", driver=str(ground.driver), **facts)
        return Link(_check(CheckId.DRIVER, HOLDS, words, found.spot), of=one, pick=found)
    words = text("torch {version} needs driver {floor} or newer, and driver {driver} is older", driver=str(ground.driver), **facts)
    return Link(_check(CheckId.DRIVER, BROKEN, words, found.spot), Mend.TORCH, one, found, build.cuda)


def _jetson_serves(ground: Ground, build: TorchBuild) -> bool:
    """A Jetson's driver counts otherwise: what it says of its own CUDA decides."""
    return build.cuda is not None and ground.driver_cuda is not None and ground.driver_cuda.major >= build.cuda.major


# What is pinned beside torch


def _companions(one: InstallSet, found: Pick, stock: Stock) -> Iterator[Link]:
    """torchvision and its like whose wheels ask for another torch, or are of another CUDA."""
    for each in one.named(*COMPANIONS):
        pinned = exact_of(each)
        if not pinned or not applies(each, stock) or found.version is None:
            continue
        public, _, tag = pinned.partition("+")
        torch = torch_of(stock.knowledge, each.name, public)
        if torch is not None and torch != found.version:
            words = text(
                "{name} {version} is made for torch {torch}, and torch {other} is asked for",
                name=each.name, version=pinned, torch=str(torch), other=str(found.version),
            )  # fmt: skip
            yield Link(_check(CheckId.TORCH_BUILD, BROKEN, words, each.spot), Mend.TORCH, one, found)
        elif tag and found.tag and tag != found.tag:
            words = text("{name} is of {tag}, and torch of {other}: one CUDA for both", name=each.name, tag=tag, other=found.tag)
            yield Link(_check(CheckId.CUDA, BROKEN, words, each.spot), Mend.TORCH, one, found)


def _wheels(one: InstallSet, found: Pick, stock: Stock) -> Iterator[Link]:
    """NVIDIA's wheels that are pinned beside torch: those of its own CUDA, in the versions that it asks for."""
    cuda = found.build.cuda if found.build is not None else None
    if cuda is None or found.build is None:
        return
    pins = dict(found.build.pins) if found.build.pins is not None else None
    foreign: list[str] = []
    for each in one.requirements:
        major = _WHEEL_MAJOR.fullmatch(each.name)
        if each.name == "nvidia-ml-py" or not each.name.startswith("nvidia-") or not applies(each, stock):
            continue
        if major is not None and int(major[1]) != cuda.major:
            foreign.append(each.name)
            words = text(
                "{name} is of CUDA {major}, and torch {version} of CUDA {cuda}",
                name=each.name, major=major[1], version=found.spelled, cuda=str(cuda),
            )  # fmt: skip
            yield Link(_check(CheckId.CUDA, BROKEN, words, each.spot), Mend.TORCH, one, found)
            continue
        wanted = pins.get(each.name) if pins is not None else None
        range_ = specifier((each,))
        if wanted is not None and wanted[:1].isdigit() and range_ is not None and not takes(range_, wanted):
            words = text(
                "torch {version} asks for {name} {wanted}, and {pinned} is pinned",
                version=found.spelled, name=each.name, wanted=wanted, pinned=each.versions,
            )  # fmt: skip
            yield Link(_check(CheckId.CUDA, BROKEN, words, each.spot), Mend.TORCH, one, found)


def _pairs(one: InstallSet, found: Pick, stock: Stock, ground: Ground) -> Iterator[Link]:
    """Pairs of exact pins that are known not to work together."""
    pins = {each.name: (each, exact_of(each)) for each in one.requirements if applies(each, stock) and exact_of(each)}
    versions = {name: number for name, (_, words) in pins.items() if (number := _number(f"=={words.partition('+')[0]}")) is not None}
    if found.version is not None:
        versions["torch"] = found.version
    for pair in bad_pairs_among(ground.case.knowledge.bad_pairs(), versions):
        party = pair.other if pair.one.name == "torch" else pair.one
        if party.name in pins:
            words = text("{one} and {other} do not work together: {why}", one=pair.one.name, other=pair.other.name, why=pair.why)
            yield Link(_check(CheckId.TORCH_BUILD, BROKEN, words, pins[party.name][0].spot), of=one, pick=found)


def _cupy(one: InstallSet, ground: Ground) -> Iterator[Link]:
    """A CuPy is called by the CUDA that it is made for."""
    for each in one.requirements:
        named = _CUPY.fullmatch(each.name)
        if named is None:
            continue
        cuda = Version((int(named[1]), 0))
        facts = {"name": each.name, "floor": str(driver_floor(cuda))}
        if ground.driver is None:
            words = text("{name} needs driver {floor} or newer; which one is here is not known", **facts)
            yield Link(_check(CheckId.DRIVER, UNKNOWN, words, each.spot), of=one)
        elif driver_serves_cuda(ground.driver, cuda):
            words = text("{name} runs with driver {driver}: it needs {floor}", driver=str(ground.driver), **facts)
            yield Link(_check(CheckId.DRIVER, HOLDS, words, each.spot), of=one)
        else:
            words = text("{name} needs driver {floor} or newer, and driver {driver} is older", driver=str(ground.driver), **facts)
            yield Link(_check(CheckId.DRIVER, BROKEN, words, each.spot), Mend.DRIVER, one, driver_for=cuda)


def _devices(project: Project) -> Iterator[Link]:
    for reading in project.readings.values():
        for late in reading.devices:
            if late.started:
                words = text("CUDA_VISIBLE_DEVICES is set after CUDA was used, which has no effect")
            else:
                words = text(
                    "CUDA_VISIBLE_DEVICES is set below the import of torch (line {line}): it has no effect where anything has used "
                    "CUDA by then",
                    line=late.imported.line,
                )
            state = BROKEN if late.started else UNKNOWN
            yield Link(_check(CheckId.CUDA, state, words, late.spot), Mend.DEVICES)


def named(cards: Sequence[KnownGpu]) -> Text:
    return enumerated(card.name for card in cards)
