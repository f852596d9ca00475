"""The engines that a project asks for beside torch (vLLM, xformers, JAX …): whether a release that its range admits fits."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.project.sets import InstallSet
from gpuassist.diagnose.project.stock import Pick, TorchStock, applies, range_of, takes
from gpuassist.formats.project.values import AskedAs, ProjectRequirement
from gpuassist.knowledge.engine_records import EngineRecord, EngineRelease
from gpuassist.knowledge.engines import EngineHost, builds_for, engine_fit, named, releases_named, torch_for
from gpuassist.model.fact import value_or
from gpuassist.model.project import CheckId, LinkState, ProjectCheck
from gpuassist.model.text import Text, text

_STATES = {True: LinkState.HOLDS, False: LinkState.BROKEN, None: LinkState.UNKNOWN}


def engine_checks(one: InstallSet, found: Pick | None, stock: TorchStock, case: RuleInput) -> Iterator[ProjectCheck]:
    """One for each engine among the requirements. Of the releases that its range admits one that fits is enough: that is the one
    that an installer ends with.
    """
    host = EngineHost(stock.machine, case.capabilities, value_or(case.serving, None), python=stock.python)
    for each in one.requirements:
        engine = stock.knowledge.engine(each.name) if each.origin is AskedAs.INSTALL and applies(each, stock) else None
        if engine is None:
            continue
        releases = _admitted(each, engine, stock)
        hosts = [_with_torch(host, release, found, stock) if engine.asks_torch else host for release in releases]
        fits = [engine_fit(engine, *pair) for pair in zip(releases, hosts, strict=True)]
        fitting = next((release for release, fit in zip(releases, fits, strict=True) if fit.holds), None)
        open_ = next((fit for fit in fits if fit.holds is None), None)
        asks = f"{each.name}{each.versions}"
        holds: bool | None = None
        if fitting is not None:
            holds, words = True, text("{name}: {release} fits", name=asks, release=named(engine, fitting))
        elif open_ is not None:
            words = text("whether {name} fits is not known: {reason}", name=asks, reason=open_.reason)
        elif fits:
            holds, words = False, text("{name} does not fit: {reason}", name=asks, reason=fits[0].reason)
        else:
            words = _beyond(asks)
        yield ProjectCheck(CheckId.ENGINE, _STATES[holds], words, each.spot.file, each.spot.line)


def _beyond(asks: str) -> Text:
    return text("whether {name} fits is not known here", name=asks)


def _admitted(asked: ProjectRequirement, engine: EngineRecord, stock: TorchStock) -> list[EngineRelease]:
    """The releases that are known and admitted, newest first; of the very package, where its name tells its CUDA."""
    wanted, range_ = asked.name.lower(), range_of(asked.versions)
    if range_ is None:
        return []
    every = releases_named(stock.knowledge.engine_releases(engine.key), "")
    of_package = [one for one in every if one.package.partition("[")[0].lower().replace("_", "-") == wanted]
    return [one for one in (of_package or every) if takes(range_, one.newest)]


def _with_torch(host: EngineHost, release: EngineRelease, found: Pick | None, stock: TorchStock) -> EngineHost:
    """The torch that the project picks, else the one that the release brings along."""
    if found is not None:
        version, build = found.version, found.build
    else:
        builds = builds_for(release, stock.builds, stock.knowledge.torch_releases(), machine=stock.machine)
        build = torch_for(builds, host).build
        version = build.newest if build is not None else None
    return EngineHost(host.machine, host.capabilities, host.driver, build.cuda if build is not None else None, version, host.python)
