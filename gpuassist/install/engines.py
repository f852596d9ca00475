"""The steps that install an engine and keep the torch that is there: they name it, or make an environment of their own."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.chain import chains
from gpuassist.install import hypothetical
from gpuassist.install.drivers.packages import packages_of
from gpuassist.install.engine_choice import EngineChoices, EngineOption, EngineWish
from gpuassist.install.outlook import Question, begun, install_steps, steps_that_mend
from gpuassist.install.place import step
from gpuassist.install.replacements import with_driver
from gpuassist.install.torch import NEEDS_UV, NEEDS_VENV, InstallTarget, here, new, origin_of
from gpuassist.knowledge.change import Constraints, DriverMove, Need, TorchThere, VersionChange
from gpuassist.knowledge.choice import TORCH_INDEX
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.knowledge.engines import clashes, engine_fit, named, obstacle_of, torch_fits, torch_for, torches_of
from gpuassist.knowledge.records import TorchBuild
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Method, Outlook, WayPlan
from gpuassist.model.plan import Proves, Step, StepProof, StepRun, Tool
from gpuassist.model.text import Text, listed, text
from gpuassist.model.version import Version

# What the set-up of a package that is not isolated asks for, and that is not there in a new environment.
_BUILD_TOOLS = ("packaging", "psutil", "ninja", "setuptools", "wheel")
_NOT_ISOLATED = "flash-attn"
_DOWNLOADED = "isaac-gym"


def foresee_engine(session: Session, wish: EngineWish) -> Outlook:
    """The ways to the engine, or why none of its releases that are known fits."""
    need = Need.MUST if wish.engine.asks_torch else Need.LEAVE
    looked = begun(session, Question(wish.title, wish.base, wish.base, Constraints(torch_need=need), wish.tool))
    if looked.blocked_by or looked.undetermined:
        return looked
    choices = EngineChoices(session, wish)
    unknown = choices.not_known()
    if unknown is not None:
        return replace(looked, undetermined=(unknown,))
    for move in choices.drivers():
        options = choices.options(move)
        if options:
            steps = _EngineSteps(choices, move)
            ways = tuple(steps.way(method, option) for method, option in options)
            after = chains(steps.after(options[0][1]), session.knowledge, thorough=True)
            return replace(looked, after=after, steps=ways[0].steps, ways=ways, notes=steps.notes(*options[0]))
    return replace(looked, blocked_by=tuple(choices.reasons()))


class _EngineSteps:
    """The steps to what was chosen, with a driver to be installed first where one is."""

    def __init__(self, choices: EngineChoices, move: DriverMove | None) -> None:
        self._choices, self._move = choices, move
        self._engine, self._place = choices.engine, choices.place
        self._torch = choices.configuration.torch
        self._commands = choices.session.knowledge.commands

    def way(self, method: Method, option: EngineOption) -> WayPlan:
        way = self._in_place(option) if method is Method.IN_PLACE else self._in_new(option)
        return replace(way, steps=(*self._before(), *way.steps))

    def _before(self) -> tuple[Step, ...]:
        """What brings the driver there, or to work."""
        choices, change = self._choices, VersionChange(driver=self._move)
        mending = steps_that_mend(choices.session, choices.case, choices.configuration, change)
        return (*mending, *install_steps(change, choices.place, choices.session.knowledge))

    def _in_place(self, option: EngineOption) -> WayPlan:
        target = here(self._place)
        name = self._place.around.name or self._place.python
        does = text("In {name}, beside the torch that is there, which stays", name=name)
        if not self._place.torch_there:
            does = text("In {name}, which has no torch yet", name=name)
        return WayPlan(Method.IN_PLACE, does, tuple(self._installed(target, option)), tuple(self._of_place(option)))

    def _in_new(self, option: EngineOption) -> WayPlan:
        target = new(self._place, None)
        target = replace(target, tool=Tool.UV) if not self._creator(option) and self._choices.wish.tool is None else target
        does = text("In a new environment, {directory}; what is there stays as it is", directory=target.prefix)
        made = self._create(target, option)
        return WayPlan(Method.NEW, does, (made, *self._installed(target, option)), tuple(self._of_new(option, made)))

    def _of_new(self, option: EngineOption, made: Step) -> Iterator[Text]:
        why = self._why_apart(option)
        if why is not None:
            yield why
        if made.commands[0].startswith("uv ") and self._place.tool != "uv":
            yield NEEDS_UV
        by_system = made.commands[0].startswith(("/usr/bin/python", "python3 "))
        if by_system and packages_of(self._place.packages).venv_apart:
            yield NEEDS_VENV

    def _why_apart(self, option: EngineOption) -> Text | None:
        """Why not beside the torch that is there."""
        torch, release = self._torch, option.release
        if torch is None:
            return None
        words = {"engine": named(self._engine, release), "there": _spelled(torch.version, torch.tag)}
        if option.build is not None and not torch_fits(release, torch.version):
            return text(
                "{engine} asks for torch {asked}, and {there} is there: installed beside it, pip would exchange your torch",
                **words,
                asked=torches_of(release),
            )
        differing = next(iter(clashes(release, self._choices.build_there)), None)
        if differing is not None:
            library, wish, has = differing
            return text(
                "{engine} asks for {library}{wish}, and torch {there} for {has}", **words, library=library, wish=wish, has=has
            )
        if release.tags and not torch.cpu and torch.tag not in release.tags:
            tags = listed(release.tags)
            return text("{engine} is built for {tags}, and torch {there} is not one of these", **words, tags=tags)
        if release.cuda and torch.cuda is not None and torch.cuda.major not in release.cuda:
            majors = listed(map(str, release.cuda))
            return text("{engine} is built for CUDA {majors}, and torch {there} is not", **words, majors=majors)
        return None

    def _creator(self, option: EngineOption) -> str:
        """An interpreter that is there and can make the environment; empty where none is."""
        if option.python is None:
            return self._place.python
        fitting = [(one, path) for one, path in self._place.around.pythons if one.release == option.python.release]
        return max(fitting, default=(None, ""))[1]

    def _create(self, target: InstallTarget, option: EngineOption) -> Step:
        does = text("Make a new environment, and leave those that are there as they are")
        if option.python is not None:
            does = text(
                "Make a new environment with Python {python}, which {engine} is made for",
                python=str(option.python),
                engine=named(self._engine, option.release),
            )
        creator, wanted = self._creator(option), str(option.python or "")
        if target.tool is Tool.UV:
            creating = use("environment-create-uv", version=wanted or creator, directory=target.prefix)
        elif creator:
            creating = use("environment-create", python=creator, directory=target.prefix)
        else:
            creating = use("environment-create-uv-seed", version=wanted, directory=target.prefix)
        absolute = target.prefix.startswith("/")
        run = StepRun((), target.tool, target.prefix, target.python, target.prefix) if absolute else None
        proof = StepProof(Proves.ENVIRONMENT, target.prefix) if absolute else None
        return step((creating,), self._place, self._commands, (does, None), run=run, proof=proof)

    def _installed(self, target: InstallTarget, option: EngineOption) -> Iterator[Step]:
        release, build = option.release, option.build
        words = named(self._engine, release)
        wanted = _spelled(self._torch.version, self._torch.tag) if self._torch else ""
        if build is not None:
            wanted = f"{build.newest}+{build.tag}"
            if self._apart_from_torch:
                others = _BUILD_TOOLS if self._engine.key == _NOT_ISOLATED else ()
                does = text("Install torch {version} of the build {tag}", version=str(build.newest), tag=build.tag)
                yield self._step(target, tuple(self._of_torch(target, build, others)), does, wanted)
        does = text("Install {engine}", engine=words)
        if build is not None:
            does = text(
                "Install {engine} with torch {version} of the build {tag}", engine=words, version=str(build.newest), tag=build.tag
            )
        elif self._place.torch_there:
            does = text("Install {engine}, with the torch that is there named, so that pip keeps it", engine=words)
        if self._engine.key == _DOWNLOADED:
            does = text("Get {engine} from {page}, which asks for an account, and install it", engine=words, page=self._engine.home)
        yield self._step(target, self._uses(target, option), does, wanted)

    def _step(self, target: InstallTarget, uses: tuple[UsedCommand, ...], does: Text, torch: str) -> Step:
        """One that leaves this torch behind; what fetches more than packages is the user's to take."""
        package = self._choices.releases[0].package.partition("[")[0]
        check = text("`{python} -m pip show {package}` names it", python=target.python, package=package)
        if torch:
            ask = "import torch; print(torch.__version__)"
            check = text("`{python} -c '{ask}'` prints {torch}", python=target.python, ask=ask, torch=torch)
        proof = StepProof(Proves.TORCH, target.python, torch) if torch else None
        alone = all(one.key.startswith("packages-") for one in uses)
        return step(uses, self._place, self._commands, (does, check), run=target.run if alone else None, proof=proof)

    @property
    def _apart_from_torch(self) -> bool:
        """Whether torch has to be there before it: it is built with it, or comes from an index that has another torch."""
        own = f"engine-install-{self._engine.key}" in self._commands.keys
        return own or bool(self._engine.index) or self._engine.key == _NOT_ISOLATED

    def _of_torch(self, target: InstallTarget, build: TorchBuild, others: tuple[str, ...]) -> Iterator[UsedCommand]:
        suffix = "-uv" if target.tool is Tool.UV else ""
        words = {"python": target.python, "requirements": f"torch=={build.newest}"}
        if origin_of(build, target.tool, self._place.around.settings).own:
            yield use(f"packages-install{suffix}", **words)
        else:
            yield use(f"packages-install-tag{suffix}", **words, tag=build.tag)
        if others:
            yield use(f"packages-install{suffix}", python=target.python, requirements=" ".join(others))

    def _uses(self, target: InstallTarget, option: EngineOption) -> tuple[UsedCommand, ...]:
        """The command, which names the torch that it shall stand on in every case."""
        release, build, there = option.release, option.build, self._torch
        package = f"{release.package}=={release.newest}"
        suffix = "-uv" if target.tool is Tool.UV else ""
        if build is not None:
            pin, tag = f"torch=={build.newest}", build.tag
        elif there is not None and here(self._place).python == target.python:
            pin, tag = f"torch=={self._choices.public}", there.tag
        else:
            pin, tag = "", ""
        words = {"python": target.python, "requirements": " ".join(filter(None, (package, pin)))}
        own = f"engine-install-{self._engine.key}{suffix}"
        if own in self._commands.keys:
            return (use(own, **{**words, "requirements": pin, "version": release.newest, "cuda": _major(build, there)}),)
        if self._engine.key == _NOT_ISOLATED:
            return (use(f"packages-install-not-isolated{suffix}", **words),)
        if self._engine.index:
            url = self._engine.index.format(tag=max(release.tags, default=""))
            return (use(f"packages-install-extra{suffix}", **words, index=url),)
        if self._engine.of_pytorch and tag:
            return (use(f"packages-install-tag{suffix}", **words, tag=tag),)
        if build is not None and not build.default and not origin_of(build, target.tool, self._place.around.settings).own:
            if suffix:
                return (use("packages-install-tag-uv", **words, tag=tag),)
            exact = f"{package} {pin}+{tag}"
            return (use("packages-install-extra", python=target.python, requirements=exact, index=f"{TORCH_INDEX}{tag}"),)
        return (use(f"packages-install{suffix}", **words),)

    # What to know beside.

    def _of_place(self, option: EngineOption) -> Iterator[Text]:
        release, torch = option.release, self._torch
        if torch is not None and torch.cuda is not None and option.build is None:
            yield text(
                "the command names torch {there}: where {engine} could not work with it, pip says so and changes nothing",
                there=_spelled(torch.version, torch.tag),
                engine=named(self._engine, release),
            )
        if release.compiles and torch is not None and not self._choices.compiler_fits:
            yield text(
                "there is no wheel of it for this torch: it is compiled here, which takes nvcc of CUDA {major}: see "
                "`gpuassist plan cuda`",
                major=torch.cuda.major if torch.cuda else "",
            )

    def notes(self, method: Method, option: EngineOption) -> tuple[Text, ...]:
        """That there is a newer release, and why it is not that."""
        choices, newest = self._choices, self._choices.releases[0]
        if option.release.newest == newest.newest:
            return ()
        host = replace(choices.host(self._move.version if self._move is not None else choices.driver), python=None)
        if method is Method.IN_PLACE and self._torch is not None:
            host = replace(host, torch=self._torch.version, cuda=self._torch.cuda)
        fit = engine_fit(self._engine, newest, host)
        if fit.holds is False:
            return (text("not the newest: {reason}", reason=fit.reason),)
        builds = choices.builds(newest) if self._engine.asks_torch else ()
        choice = torch_for(builds, host)
        if self._engine.asks_torch and (choice.build is None or choice.obstacle is not None):
            return (text("not the newest: {reason}", reason=obstacle_of(self._engine, newest, builds, host)),)
        return ()

    def after(self, option: EngineOption) -> Machine:
        """The machine when the steps are done."""
        choices = self._choices
        base, knowledge = choices.wish.base, choices.session.knowledge
        driver = self._move.version if self._move is not None else choices.configuration.driver if self._before() else None
        made = with_driver(knowledge, base, driver) if driver is not None else base
        return hypothetical.with_torch(made, option.build, option.python) if option.build is not None else made


def _spelled(version: Version, tag: str) -> str:
    return f"{version}+{tag}" if tag else str(version)


def _major(build: TorchBuild | None, there: TorchThere | None) -> str:
    """The CUDA major of the torch that it stands on."""
    cuda = build.cuda if build is not None else there.cuda if there is not None else None
    return str(cuda.major) if cuda is not None else ""
