"""What a set installs, against the machine: Python, torch with its code and driver, and what is pinned beside torch."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.project.engines import engine_checks
from gpuassist.diagnose.project.ground import BROKEN, HOLDS, UNKNOWN, Mend, ProjectGround, ProjectLink, check_of
from gpuassist.diagnose.project.sets import CONDA, PIP, InstallSet, Project
from gpuassist.diagnose.project.stock import (
    COMPANIONS,
    Pick,
    TorchStock,
    applies,
    exact_of,
    first_release,
    last_release,
    limits_of,
    range_of,
    specifier,
    takes,
    torch_of,
)
from gpuassist.formats.project.values import PythonWish
from gpuassist.knowledge.companions import bad_pairs_among
from gpuassist.knowledge.compatibility import CodePath, driver_floor, driver_serves_cuda, way_to_run
from gpuassist.knowledge.images import ImageReading
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.environment import Manager
from gpuassist.model.fact import Known, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.package_settings import PackageSettings
from gpuassist.model.project import CheckId
from gpuassist.model.text import Text, listed, text
from gpuassist.model.version import ComputeCapability, Version, whole_number

_WHEEL_MAJOR = lazy_regex(r"nvidia-[a-z0-9-]+-cu(1[0-9])")
_CUPY = lazy_regex(r"cupy-cuda(\d{2})(?:x|\d)")
_PYTHON_IMAGE = lazy_regex(r"(?:.*/)?python:(\d\.\d{1,2})(?:[.-].*)?")
MAKERS = frozenset({Manager.SYSTEM, Manager.PYENV, Manager.UV})


def stock_of(one: InstallSet, ground: ProjectGround, project: Project) -> TorchStock:
    settings = value_or(ground.case.machine.package_settings, PackageSettings()) if one.image is None else PackageSettings()
    return TorchStock(ground.case.knowledge, ground.machine, python_of(one, ground), ground.driver_cuda, settings)


def python_of(one: InstallSet, ground: ProjectGround) -> Version | None:
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
    numbers = [number for part in parts if (number := whole_number(part)) is not None]
    return Version(tuple(numbers)) if len(numbers) == len(parts) > 1 else None


def _in_range(wish: PythonWish, python: Version) -> bool:
    range_ = range_of(wish.versions)
    full = str(python) if len(python.parts) > 2 else f"{python}.0"
    return range_ is None or takes(range_, full)


def _pythons_here(ground: ProjectGround) -> list[Version]:
    """The Pythons of this machine: that of the environment that counts first, then those that environments can be made of."""
    environments = value_or(ground.case.machine.environments, ())
    active = [one for one in environments if one.active.is_true]
    rest = [one for one in environments if value_or(one.manager, Manager.VENV) in MAKERS or value_or(one.torch, ())]
    found = [one.python_version.value for one in (*active, *rest) if isinstance(one.python_version, Known)]
    return list(dict.fromkeys(found))


def set_links(one: InstallSet, stock: TorchStock, found: Pick | None, ground: ProjectGround) -> Iterator[ProjectLink]:
    """All that one set asks for; also for a set that is only tried."""
    yield from _python(one, found, ground)
    if found is not None:
        yield from _torch(one, found, stock, ground)
        yield from _companions(one, found, stock)
        yield from _wheels(one, found, stock)
        yield from _pairs(one, found, stock, ground)
    yield from _cupy(one, ground)
    for check in engine_checks(one, found, stock, ground.case):
        yield ProjectLink(check, of=one, pick=found)


def _python(one: InstallSet, found: Pick | None, ground: ProjectGround) -> Iterator[ProjectLink]:
    if found is not None and found.about_python and found.why is not None:
        spot = next((wish.spot for wish in one.pythons if wish.pinned), found.spot)
        yield ProjectLink(check_of(CheckId.PYTHON, BROKEN, found.why, spot), Mend.TORCH, one, found)
        return
    pinned = next((wish for wish in one.pythons if wish.pinned), None)
    ranges = [wish for wish in one.pythons if not wish.pinned]
    python = python_of(one, ground)
    for wish in ranges:
        if range_of(wish.versions) is None:
            words = text("this is no range of Pythons: {words}", words=wish.spelled[:80])
            yield ProjectLink(check_of(CheckId.PYTHON, UNKNOWN, words, wish.spot))
        elif pinned is not None and python is not None and not _in_range(wish, python):
            words = text("Python {python} is pinned, and the project asks for {range}", python=str(python), range=wish.spelled)
            yield ProjectLink(check_of(CheckId.PYTHON, BROKEN, words, pinned.spot), Mend.NONE, one)
        elif pinned is None and one.image is None and python is None:
            here = _pythons_here(ground)
            names = listed(str(each.release) for each in here)
            if here:
                words = text("it asks for Python {range}; found here: {pythons}", range=wish.spelled, pythons=names)
                yield ProjectLink(
                    check_of(CheckId.PYTHON, BROKEN if one.tool == PIP else UNKNOWN, words, wish.spot), Mend.NONE, one
                )
            else:
                words = text("it asks for Python {range}; which Pythons are here is not known", range=wish.spelled)
                yield ProjectLink(check_of(CheckId.PYTHON, UNKNOWN, words, wish.spot), Mend.NONE, one)
    if found is not None and found.build is not None and python is not None:
        spot = pinned.spot if pinned is not None else ranges[0].spot if ranges else found.spot
        words = text("torch {version} has a wheel for Python {python}", version=found.spelled, python=str(python.release))
        yield ProjectLink(check_of(CheckId.PYTHON, HOLDS, words, spot), of=one)


def _torch(one: InstallSet, found: Pick, stock: TorchStock, ground: ProjectGround) -> Iterator[ProjectLink]:
    build, spot = found.build, found.spot
    if found.about_python:
        return
    if build is None:
        yield from _without_build(one, found, stock, ground)
        return
    if build.cuda is None:
        words = text(
            "{index} has torch {version} for the processor alone: it uses no GPU", index=found.index, version=found.spelled
        )
        yield ProjectLink(check_of(CheckId.TORCH_BUILD, BROKEN, words, spot), Mend.TORCH, one, found)
        return
    words = text("torch {version} comes from {index}", version=found.spelled, index=found.index)
    yield ProjectLink(check_of(CheckId.TORCH_BUILD, HOLDS, words, spot), of=one, pick=found)
    yield from _architectures(one, found, build, ground)
    yield _driver(one, found, build, ground)


def _without_build(one: InstallSet, found: Pick, stock: TorchStock, ground: ProjectGround) -> Iterator[ProjectLink]:
    why = found.why or text("which torch this installs is not known")
    version = found.version
    if not found.broken and version is not None:
        for capability in ground.capabilities:
            first = first_release(stock, capability)
            if first is not None and version.release < first and version.release < Version((1, 12)):
                yield ProjectLink(
                    check_of(CheckId.ARCHITECTURE, BROKEN, _cannot(ground, capability, first, found), found.spot),
                    Mend.TORCH,
                    one,
                    found,
                )
                return
    state = BROKEN if found.broken else UNKNOWN
    yield ProjectLink(check_of(CheckId.TORCH_BUILD, state, why, found.spot), Mend.TORCH if found.broken else Mend.NONE, one, found)


def _cannot(ground: ProjectGround, capability: ComputeCapability, first: Version, found: Pick) -> Text:
    spelled = found.asked.spelled if found.asked is not None and not found.locked else ""
    pinned = spelled.lstrip("= ") or found.spelled
    return text(
        "cannot fit: {gpu} needs sm_{code} from torch {first} on, and the project pins {pinned}",
        gpu=ground.cards_of(capability),
        code=f"{capability.major}{capability.minor}",
        first=str(first),
        pinned=pinned,
    )


def _architectures(one: InstallSet, found: Pick, build: TorchBuild, ground: ProjectGround) -> Iterator[ProjectLink]:
    stock = TorchStock(ground.case.knowledge, ground.machine)
    for capability in ground.capabilities:
        way = way_to_run(capability, build.targets, cuda=build.cuda, driver_cuda=ground.driver_cuda)
        name, code = ground.cards_of(capability), f"{capability.major}{capability.minor}"
        if way in {CodePath.NATIVE, CodePath.COMPILED_BY_DRIVER}:
            words = text("torch {version} has code for {gpu} (sm_{code})", version=found.spelled, gpu=name, code=code)
            yield ProjectLink(check_of(CheckId.ARCHITECTURE, HOLDS, words, found.spot), of=one, pick=found)
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
        yield ProjectLink(check_of(CheckId.ARCHITECTURE, BROKEN, words, found.spot), Mend.TORCH, one, found)


def _driver(one: InstallSet, found: Pick, build: TorchBuild, ground: ProjectGround) -> ProjectLink:
    assert build.cuda is not None
    floor = driver_floor(build.cuda)
    facts = {"version": found.spelled, "floor": str(floor)}
    if ground.driver is None:
        words = text("torch {version} needs driver {floor} or newer; which one is here is not known", **facts)
        return ProjectLink(check_of(CheckId.DRIVER, UNKNOWN, words, found.spot), of=one, pick=found)
    if driver_serves_cuda(ground.driver, build.cuda) or (ground.case.jetson and _jetson_serves(ground, build)):
        words = text("torch {version} runs with driver {driver}: it needs {floor}", driver=str(ground.driver), **facts)
        return ProjectLink(check_of(CheckId.DRIVER, HOLDS, words, found.spot), of=one, pick=found)
    words = text("torch {version} needs driver {floor} or newer, and driver {driver} is older", driver=str(ground.driver), **facts)
    return ProjectLink(check_of(CheckId.DRIVER, BROKEN, words, found.spot), Mend.TORCH, one, found, build.cuda)


def _jetson_serves(ground: ProjectGround, build: TorchBuild) -> bool:
    """A Jetson's driver counts otherwise: what it says of its own CUDA decides."""
    return build.cuda is not None and ground.driver_cuda is not None and ground.driver_cuda.major >= build.cuda.major


# What is pinned beside torch


def _companions(one: InstallSet, found: Pick, stock: TorchStock) -> Iterator[ProjectLink]:
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
            yield ProjectLink(check_of(CheckId.TORCH_BUILD, BROKEN, words, each.spot), Mend.TORCH, one, found)
        elif tag and found.tag and tag != found.tag:
            words = text("{name} is of {tag}, and torch of {other}: one CUDA for both", name=each.name, tag=tag, other=found.tag)
            yield ProjectLink(check_of(CheckId.CUDA, BROKEN, words, each.spot), Mend.TORCH, one, found)


def _wheels(one: InstallSet, found: Pick, stock: TorchStock) -> Iterator[ProjectLink]:
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
            yield ProjectLink(check_of(CheckId.CUDA, BROKEN, words, each.spot), Mend.TORCH, one, found)
            continue
        wanted = pins.get(each.name) if pins is not None else None
        range_ = specifier((each,))
        if wanted is not None and wanted[:1].isdigit() and range_ is not None and not takes(range_, wanted):
            words = text(
                "torch {version} asks for {name} {wanted}, and {pinned} is pinned",
                version=found.spelled, name=each.name, wanted=wanted, pinned=each.versions,
            )  # fmt: skip
            yield ProjectLink(check_of(CheckId.CUDA, BROKEN, words, each.spot), Mend.TORCH, one, found)


def _pairs(one: InstallSet, found: Pick, stock: TorchStock, ground: ProjectGround) -> Iterator[ProjectLink]:
    """Pairs of exact pins that are known not to work together."""
    pins = {each.name: (each, exact_of(each)) for each in one.requirements if applies(each, stock) and exact_of(each)}
    versions = {
        name: number for name, (_, words) in pins.items() if (number := _number(f"=={words.partition('+')[0]}")) is not None
    }
    if found.version is not None:
        versions["torch"] = found.version
    for pair in bad_pairs_among(ground.case.knowledge.bad_pairs(), versions):
        party = pair.other if pair.one.name == "torch" else pair.one
        mend = Mend.TORCH if found.version is not None and party.name in limits_of(stock.knowledge, found.version) else Mend.NONE
        if party.name in pins:
            words = text("{one} and {other} do not work together: {why}", one=pair.one.name, other=pair.other.name, why=pair.why)
            yield ProjectLink(check_of(CheckId.TORCH_BUILD, BROKEN, words, pins[party.name][0].spot), mend, one, found)


def _cupy(one: InstallSet, ground: ProjectGround) -> Iterator[ProjectLink]:
    """A CuPy is called by the CUDA that it is made for."""
    for each in one.requirements:
        named = _CUPY.fullmatch(each.name)
        if named is None:
            continue
        cuda = Version((int(named[1]), 0))
        facts = {"name": each.name, "floor": str(driver_floor(cuda))}
        if ground.driver is None:
            words = text("{name} needs driver {floor} or newer; which one is here is not known", **facts)
            yield ProjectLink(check_of(CheckId.DRIVER, UNKNOWN, words, each.spot), of=one)
        elif driver_serves_cuda(ground.driver, cuda):
            words = text("{name} runs with driver {driver}: it needs {floor}", driver=str(ground.driver), **facts)
            yield ProjectLink(check_of(CheckId.DRIVER, HOLDS, words, each.spot), of=one)
        else:
            words = text("{name} needs driver {floor} or newer, and driver {driver} is older", driver=str(ground.driver), **facts)
            yield ProjectLink(check_of(CheckId.DRIVER, BROKEN, words, each.spot), Mend.DRIVER, one, driver_for=cuda)
