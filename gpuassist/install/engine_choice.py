"""Which release of an engine fits a machine, beside the torch that is there or in an environment of its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.install import hypothetical
from gpuassist.install.configuration import configuration_of, free_place, place_of, torch_of
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.choice import Obstacle, choose_driver
from gpuassist.knowledge.compatibility import driver_serves_cuda, kernels_run
from gpuassist.knowledge.engine_records import EngineRecord, EngineRelease
from gpuassist.knowledge.engines import (
    EngineHost,
    builds_for,
    clashes,
    engine_fit,
    obstacle_of,
    python_for,
    releases_named,
    torch_for,
)
from gpuassist.knowledge.records import TorchBuild
from gpuassist.knowledge.smallest import driver_fits, usual_python
from gpuassist.model.environment import Manager
from gpuassist.model.fact import value_or
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Method
from gpuassist.model.plan import Tool
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version

_LATER_JETSON = 11  # the compute capability from which on a Jetson runs what is built for servers with ARM processors


class EngineWish(Struct, frozen=True):
    """What is asked: `package` is one of several that the engine is (`jax[cuda12]`), `release` as it was typed, both empty for any
    that fits; `torch` where another goal names one as well.
    """

    title: Text
    base: Machine
    engine: EngineRecord
    package: str = ""
    release: str = ""
    torch: Version | None = None
    tool: Tool | None = None


class EngineOption(Struct, frozen=True):
    """A release with the torch that it gets: `build` to be installed along with it, none where it stands beside the one that is
    there or needs none; `python` where that of the environment will not do.
    """

    release: EngineRelease
    build: TorchBuild | None = None
    python: Version | None = None


class EngineChoices:
    """A machine on which an engine is looked for a place."""

    def __init__(self, session: Session, wish: EngineWish) -> None:
        self.session, self.wish, self.engine = session, wish, wish.engine
        self.case = RuleInput(wish.base, session.knowledge)
        self.configuration = configuration_of(self.case)
        place = place_of(self.case, session.world.files.exists, wish.tool)
        directory = free_place(wish.base, session.world.files.exists, wish.engine.key)
        self.place = replace(place, around=replace(place.around, new=directory))
        every = (one for one in session.knowledge.engine_releases(wish.engine.key) if _is_of(one.package, wish.package))
        self._every = tuple(every)
        self.releases = releases_named(self._every, wish.release)

    def not_known(self) -> Text | None:
        """Where the tables end."""
        title = self.engine.title
        every = releases_named(self._every, "")
        if not self.releases:
            newest = every[0].newest if every else "?"
            return text(
                "gpuassist knows no {engine} {release}: the newest that it knows is {newest}. Its own page tells what a newer one "
                "needs: {page}",
                engine=title,
                release=self.wish.release,
                newest=newest,
                page=self.engine.home,
            )
        if self.wish.tool in {Tool.CONDA, Tool.DOCKER}:
            words = {"engine": title, "tool": self.wish.tool.value, "page": self.engine.home}
            return text("gpuassist knows {engine} as wheels for pip and uv, not by {tool}: see {page}", **words)
        small = all(one.major < _LATER_JETSON for one in self.configuration.capabilities)
        if self.case.jetson and small:
            return text(
                "the wheels of {engine} are made for servers with ARM processors, and whether they run on this Jetson is not "
                "known; pypi.jetson-ai-lab.io has wheels made for it",
                engine=title,
            )
        return None

    def drivers(self) -> Iterator[DriverMove | None]:
        """None for the driver that is there, then the best that could be installed."""
        if self.driver is not None:
            yield None
        if not self.configuration.driver_fixed:
            found = choose_driver(
                self.session.knowledge.branches(),
                self.configuration.gpus,
                today=self.configuration.today,
                one_module=self.configuration.one_module,
            )
            if found.best is not None:
                yield DriverMove(Version((found.best.branch,)), found.open_module)

    @cached_property
    def driver(self) -> Version | None:
        """The driver, where it serves every GPU."""
        there, configuration = self.configuration.driver, self.configuration
        fits = there is not None and driver_fits(configuration, there, open_module=configuration.open_module)
        return there if fits else None

    @cached_property
    def _shared(self) -> bool:
        """Whether packages may be put into the environment that is there: not into the interpreter that others are made from, and
        not beside a torch that conda installed, which is not built as the wheels are.
        """
        torch = torch_of(self.case)
        environment = torch.environment if torch else hypothetical.environment_of(self.wish.base)
        if environment is None or not self.place.tool or self.place.around.torch_of_conda:
            return False
        manager = value_or(environment.manager, Manager.VENV)
        return manager is Manager.VENV or (manager is Manager.CONDA and environment.name != "base")

    @cached_property
    def public(self) -> str:
        """The version of the torch that is there as pip compares it: PyPI's own wheels leave the build out of their metadata."""
        torch = torch_of(self.case)
        return torch.version.partition("+")[0] if torch is not None else ""

    @cached_property
    def _serves(self) -> bool:
        """Whether the torch that is there computes on every GPU."""
        torch = self.configuration.torch
        released = torch is not None and self.public == str(torch.version)  # 2.6.0a0 of an image is no torch that wheels are for
        if torch is None or not released or torch.cpu or torch.cuda is None or torch.targets is None:
            return False
        wanted = self.wish.torch
        asked = wanted is None or torch.version.parts[: len(wanted.parts)] == wanted.parts
        return asked and all(kernels_run(one, torch.targets, cuda=torch.cuda) for one in self.configuration.capabilities)

    def options(self, move: DriverMove | None) -> tuple[tuple[Method, EngineOption], ...]:
        """Where it can go and what is installed there, the best first: the environment that is there keeps its torch."""
        driver = move.version if move is not None else self.driver
        beside, apart = self._beside(driver), self._apart(driver)
        empty = self._shared and not self.place.torch_there and apart is not None and apart.python is None
        into = beside if beside is not None else apart if empty else None
        found = [(method, one) for method, one in ((Method.IN_PLACE, into), (Method.NEW, apart)) if one is not None]
        if beside is not None and apart is not None and self._better_apart(beside, apart):
            found.reverse()
        return tuple(found)

    def _better_apart(self, beside: EngineOption, apart: EngineOption) -> bool:
        if beside.release.compiles and not apart.release.compiles:
            return not self.compiler_fits
        return self.engine.own and beside.release.newest != apart.release.newest

    @property
    def compiler_fits(self) -> bool:
        toolkit, torch = self.configuration.toolkit, self.configuration.torch
        return toolkit is not None and torch is not None and torch.cuda is not None and toolkit.version.major == torch.cuda.major

    def host(self, driver: Version | None) -> EngineHost:
        configuration = self.configuration
        return EngineHost(configuration.machine, configuration.capabilities, driver, python=configuration.python)

    def _beside(self, driver: Version | None) -> EngineOption | None:
        """The newest release that fits the torch that is there, in the environment that has it."""
        torch = self.configuration.torch
        if not self._shared or torch is None:
            return None
        host = replace(self.host(driver), torch=torch.version, cuda=torch.cuda)
        if self.engine.asks_torch and not (self._serves and driver and torch.cuda and driver_serves_cuda(driver, torch.cuda)):
            return None
        for release in self._sorted():
            tagged = not release.tags or torch.tag in release.tags
            if tagged and engine_fit(self.engine, release, host).holds and not self._clash(release):
                return EngineOption(release)
        return None

    def _clash(self, release: EngineRelease) -> bool:
        """Whether torch and it would want different libraries: of another CUDA, or in another version."""
        torch = self.configuration.torch
        if torch is None or torch.cuda is None:
            return False
        if release.cuda and torch.cuda.major not in release.cuda:
            return True
        return bool(clashes(release, self.build_there))

    @cached_property
    def build_there(self) -> TorchBuild | None:
        torch = self.configuration.torch
        builds = self.session.knowledge.torch_builds(torch.version) if torch is not None and torch.version.parts else ()
        same = (one for one in builds if torch is not None and (one.tag, one.machine) == (torch.tag, self.configuration.machine))
        return next(same, None)

    def _apart(self, driver: Version | None) -> EngineOption | None:
        """The newest release that fits the driver and every GPU in an environment of its own."""
        seen = set()
        host = self.host(driver)
        for release in self._sorted():
            facts = replace(release, releases=("",))
            if facts in seen:
                continue  # it asks for the same as one that does not fit
            seen.add(facts)
            option = self._option(release, host)
            if option is not None:
                return option
        return None

    def _option(self, release: EngineRelease, host: EngineHost) -> EngineOption | None:
        if not self.engine.asks_torch:
            python = python_for(release, host.python)
            if python is None or not engine_fit(self.engine, release, replace(host, python=python)).holds:
                return None
            return EngineOption(release, python=python if python != host.python else None)
        choice = torch_for(self.builds(release), host)
        build = choice.build
        if build is None or choice.obstacle not in {None, Obstacle.PYTHON}:
            return None
        other = usual_python(build) if choice.obstacle is Obstacle.PYTHON or host.python is None else None
        python = other or host.python
        fitted = engine_fit(self.engine, release, replace(host, torch=build.newest, cuda=build.cuda, python=python))
        return EngineOption(release, build, other) if fitted.holds else None

    def builds(self, release: EngineRelease) -> tuple[TorchBuild, ...]:
        torches, wanted = self.session.knowledge.torch_releases(), self.wish.torch
        found = builds_for(release, self.session.knowledge.torch_builds(), torches, machine=self.configuration.machine)
        return tuple(one for one in found if wanted is None or one.newest.parts[: len(wanted.parts)] == wanted.parts)

    def _sorted(self) -> tuple[EngineRelease, ...]:
        """Those with wheels before those that have to be compiled, the newest first."""
        return tuple(sorted(self.releases, key=lambda one: one.compiles))

    def reasons(self) -> Iterator[Text]:
        """Why nothing fits, by the newest release, and what does the same where that is known."""
        move = next((one for one in self.drivers() if one is not None), None)
        driver = move.version if move is not None else self.driver
        if driver is None:
            yield text("no driver that gpuassist knows serves the GPUs of this machine: `gpuassist plan driver` tells more")
            return
        newest, host = self.releases[0], replace(self.host(driver), python=None)
        if len(self.releases) > 1:
            yield text("no release of {engine} that gpuassist knows fits this machine", engine=self.engine.title)
        fit = engine_fit(self.engine, newest, host)
        if fit.holds is False:
            yield fit.reason
        elif self.engine.asks_torch:
            yield obstacle_of(self.engine, newest, self.builds(newest), host)
        else:
            yield fit.reason
        yield from self._instead()

    def _instead(self) -> Iterator[Text]:
        other = self.session.knowledge.engine(self.engine.instead) if self.engine.instead else None
        if other is None:
            return
        choices = EngineChoices(self.session, EngineWish(self.wish.title, self.wish.base, other, tool=self.wish.tool))
        if any(choices.options(move) for move in choices.drivers()):
            yield text("{engine} does: `gpuassist plan {key}`", engine=other.title, key=other.key)


def _is_of(package: str, wanted: str) -> bool:
    """Whether a package is the one that is asked for: `cupy-cuda12x[ctk]` is cupy-cuda12x, `jax[cuda13]` is not jax[cuda12]."""
    return wanted in {"", package, package.partition("[")[0]}
