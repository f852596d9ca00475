"""Engines beside torch (vLLM, xformers, JAX …): which release of one fits a driver, the GPUs, a torch and a Python."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.knowledge.choice import BuildHost, Obstacle, TorchChoice, choose_torch
from gpuassist.knowledge.compatibility import driver_floor
from gpuassist.knowledge.engine_records import EngineRecord, EngineRelease
from gpuassist.knowledge.records import TorchBuild, TorchRelease
from gpuassist.knowledge.specifier import admits, version_in
from gpuassist.model.text import Text, listed, text, verbatim
from gpuassist.model.version import ComputeCapability, Version

_USUAL_PYTHONS = tuple(Version((3, minor)) for minor in (12, 11, 13, 10, 9, 14, 8))  # of new environments, the first that serves


class EngineHost(Struct, frozen=True):
    """What an engine shall work with; None is not known, or not decided yet. `torch` is the one that it shall share an environment
    with, `cuda` the CUDA that this torch is built for.
    """

    machine: str = "x86_64"
    capabilities: tuple[ComputeCapability, ...] = ()
    driver: Version | None = None
    cuda: Version | None = None
    torch: Version | None = None
    python: Version | None = None


class EngineFit(Struct, frozen=True):
    """Whether a release fits: true, false with the reason, or None where what is known does not tell."""

    holds: bool | None
    reason: Text = verbatim("")


def engine_fit(engine: EngineRecord, release: EngineRelease, host: EngineHost) -> EngineFit:
    """Whether a release of an engine runs there; the first thing that does not fit is the reason."""
    misfit = next(_misfits(engine, release, host), None)
    if misfit is not None:
        return EngineFit(False, misfit)  # noqa: FBT003 -- the field's value
    unknown = next(_unknowns(engine, release, host), None)
    return EngineFit(None, unknown) if unknown is not None else EngineFit(True)  # noqa: FBT003 -- the field's value


def named(engine: EngineRecord, release: EngineRelease) -> str:
    """A release as it is called: `vLLM 0.33.0`."""
    return f"{engine.title} {release.newest}"


def floor_of(release: EngineRelease, cuda: Version | None = None) -> Version | None:
    """The oldest driver that runs it; None where its CUDA is not known."""
    if release.driver is not None:
        return release.driver
    if cuda is not None:
        return driver_floor(cuda)
    return driver_floor(Version((min(release.cuda), 0))) if release.cuda else None


def python_fits(release: EngineRelease, python: Version) -> bool:
    return admits(release.python, python) and (not release.pythons or python.release in release.pythons)


def torch_fits(release: EngineRelease, torch: Version) -> bool:
    """Whether it may stand beside this torch; a release that names none takes any."""
    return not release.torch or any(admits(one, torch) for one in release.torch)


def _misfits(engine: EngineRecord, release: EngineRelease, host: EngineHost) -> Iterator[Text]:
    words = named(engine, release)
    if release.machines and host.machine not in release.machines:
        yield text("{engine} has no wheels for {machine}", engine=words, machine=host.machine)
    for capability in host.capabilities:
        least, most = release.capability_min, release.capability_max
        if least is not None and capability < least:
            yield text(
                "{engine} runs on GPUs of compute capability {least} and newer, and there is one of {capability}",
                engine=words,
                least=str(least),
                capability=str(capability),
            )
        if most is not None and capability > most:
            yield text(
                "{engine} runs on GPUs up to compute capability {most}, and there is one of {capability}",
                engine=words,
                most=str(most),
                capability=str(capability),
            )
    if host.python is not None and not python_fits(release, host.python):
        yield text(
            "{engine} is made for Python {pythons}, not for {python}",
            engine=words,
            pythons=pythons_of(release),
            python=str(host.python.release),
        )
    if host.torch is not None and not torch_fits(release, host.torch):
        asked = torches_of(release)
        yield text("{engine} asks for torch {asked}, not {torch}", engine=words, asked=asked, torch=str(host.torch))
    if engine.asks_torch and host.cuda is not None and release.cuda and host.cuda.major not in release.cuda:
        yield text(
            "{engine} is built for CUDA {majors}, and torch for CUDA {cuda}",
            engine=words,
            majors=listed(map(str, release.cuda)),
            cuda=str(host.cuda),
        )
    floor = floor_of(release, host.cuda if engine.asks_torch else None)
    if host.driver is not None and floor is not None and not _reaches(host.driver, floor):
        yield text("{engine} needs driver {floor} or newer, not {driver}", engine=words, floor=str(floor), driver=str(host.driver))


def _unknowns(engine: EngineRecord, release: EngineRelease, host: EngineHost) -> Iterator[Text]:
    words = named(engine, release)
    if release.cuda is None:
        yield text("which CUDA the wheels of {engine} are built for is not known", engine=words)
    if host.driver is None and (release.cuda or release.driver is not None or host.cuda is not None):
        yield text("which driver {engine} would run with is not known", engine=words)
    if host.python is None and (release.python or release.pythons):
        yield text("which Python {engine} would run with is not known", engine=words)
    if host.torch is None and engine.asks_torch and release.torch:
        yield text("which torch {engine} would run with is not known", engine=words)


def pythons_of(release: EngineRelease) -> str:
    """The Pythons that it has wheels for, or else what it asks for, as pip writes that."""
    named_ones = [one for one in release.pythons if admits(release.python, one)]
    return ", ".join(map(str, named_ones)) or release.python


def torches_of(release: EngineRelease) -> str:
    """The torch that it asks for, in short."""
    return ", ".join(map(_plain, release.torch))


def _reaches(driver: Version, floor: Version) -> bool:
    """Whether a driver is as new; of one that is known by its branch alone (580), the whole branch counts."""
    return driver.parts >= floor.parts[: len(driver.parts)]


def _plain(specifier: str) -> str:
    return specifier.removeprefix("==").removesuffix(".*") if specifier.startswith("==") and "," not in specifier else specifier


# Which of several releases, and with which torch where it does not have to share one.


def releases_named(releases: Iterable[EngineRelease], wanted: str) -> tuple[EngineRelease, ...]:
    """A record for each single release, the newest first, of several variants that of the newer CUDA; those that are meant by
    `0.0.33` are itself, or else what begins so.
    """
    single = [replace(one, releases=(version,)) for one in releases for version in one.releases]
    single.sort(key=lambda one: (_order(one.newest), max(one.cuda or (0,))), reverse=True)
    exact = tuple(one for one in single if wanted in {"", one.newest})
    return exact or tuple(one for one in single if re.match(rf"{re.escape(wanted)}(?:\.|\Z)", one.newest))


def _order(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def builds_for(
    release: EngineRelease, builds: Iterable[TorchBuild], torches: Iterable[TorchRelease], *, machine: str
) -> Iterator[TorchBuild]:
    """The builds of torch that a release can stand on: each in the newest patch that it takes, with the Pythons that both have."""
    patches = {one.release: one.patches for one in torches}
    for build in builds:
        if build.cuda is None or build.machine != machine or (release.cuda and build.cuda.major not in release.cuda):
            continue
        if release.tags and build.tag not in release.tags:
            continue
        taken = [one for one in (*patches.get(build.release, ()), build.newest) if torch_fits(release, one)]
        pythons = tuple(one for one in build.pythons if python_fits(release, one))
        if taken and pythons:
            yield replace(build, newest=max(taken), pythons=pythons)


def torch_for(builds: Iterable[TorchBuild], host: EngineHost) -> TorchChoice:
    """The torch for a release in an environment of its own, out of those that it can stand on."""
    return choose_torch(builds, host.capabilities, BuildHost(host.machine, host.driver, host.python))


def python_for(release: EngineRelease, there: Version | None) -> Version | None:
    """The Python of an environment for a release that needs no torch: the one that is there, or else the usual one."""
    if there is not None and python_fits(release, there):
        return there
    return next((one for one in _USUAL_PYTHONS if python_fits(release, one)), None)


def clashes(release: EngineRelease, build: TorchBuild | None) -> tuple[tuple[str, str, str], ...]:
    """The libraries that it asks for in other versions than the torch that is there brings: name, its wish, torch's."""
    pins = dict(build.pins or ()) if build is not None else {}
    found = []
    for name, wish in release.libraries:
        pin = version_in(pins.get(name, ""))
        if pin is not None and pins[name][:1].isdigit() and not admits(wish, pin):
            found.append((name, wish, pins[name]))
    return tuple(found)


def obstacle_of(engine: EngineRecord, release: EngineRelease, builds: tuple[TorchBuild, ...], host: EngineHost) -> Text:
    """Why no torch that a release can stand on runs on the machine."""
    words, choice = named(engine, release), torch_for(builds, host)
    if not builds or choice.obstacle is Obstacle.RELEASE_UNKNOWN:
        asked = torches_of(release)
        return text("{engine} asks for torch {asked}, of which gpuassist knows no build that fits it", engine=words, asked=asked)
    newest = max(builds, key=lambda one: (one.newest, one.pythons))
    if choice.obstacle is Obstacle.DRIVER_TOO_OLD and choice.build is not None and choice.build.cuda is not None:
        floor = str(driver_floor(choice.build.cuda))
        return text("{engine} needs driver {floor} or newer", engine=words, floor=floor)
    lacking = listed(f"sm_{one.major}{one.minor}" for one in host.capabilities)
    limited = release.pythons or release.python
    if limited and not release.torch:
        return text(
            "{engine} is made for Python {pythons}, where torch ends with {torch}, which has no code for {lacking}",
            engine=words,
            pythons=pythons_of(release),
            torch=str(newest.newest),
            lacking=lacking,
        )
    return text(
        "{engine} takes torch up to {torch}, and no build of it has code for {lacking}",
        engine=words,
        torch=str(newest.newest),
        lacking=lacking,
    )
