"""The steps to another torch: into a new environment, into the one that is there once torch is out of it, or in torch's place."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.install.drivers.packages import packages_of
from gpuassist.install.place import NIXOS, InstallPlace, step
from gpuassist.knowledge.change import TorchMove
from gpuassist.knowledge.commands import Commands, UsedCommand, use
from gpuassist.knowledge.companions import Company, built_for_it, company_of, of_torch
from gpuassist.knowledge.driver_numbers import JetPackRecord
from gpuassist.knowledge.records import TorchBuild
from gpuassist.knowledge.specifier import admits
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.outlook import Method, WayPlan
from gpuassist.model.package_settings import Indexes, PackageSetting, PackageSettings
from gpuassist.model.plan import Proves, Step, StepProof, StepRun, Tool
from gpuassist.model.text import Text, listed, text
from gpuassist.model.version import VersionError

# Which environment a torch comes to, and how a new one is made.


class InstallTarget(Struct, frozen=True):
    """An environment to install into: its prefix (empty where only its interpreter is known), and the tool that does it."""

    python: str
    tool: Tool
    prefix: str = ""

    @property
    def run(self) -> StepRun | None:
        """How gpuassist itself takes a step of it; not where its place depends on where the terminal stands."""
        return StepRun((), self.tool, self.prefix, self.python) if self.python.startswith("/") else None


def here(place: InstallPlace) -> InstallTarget:
    tool = _wished(place) or (Tool.UV if place.tool == "uv" else Tool.PIP)
    return InstallTarget(place.python, tool, place.around.prefix)


def new(place: InstallPlace, move: TorchMove | None) -> InstallTarget:
    """One that is to be made beside it."""
    directory = place.around.new
    default = Tool.UV if place.tool == "uv" or (move is not None and not _python(place, move)) else Tool.PIP
    return InstallTarget(f"{directory}/bin/python", _wished(place) or default, directory)


def create(target: InstallTarget, place: InstallPlace, commands: Commands, move: TorchMove | None = None) -> Step:
    """Making it, with a Python that the build has a wheel for."""
    does = text("Make a new environment, and leave those that are there as they are")
    if move is not None and move.python is not None:
        does = text(
            "Make a new environment with Python {python}, because torch {version} has no wheel for the one that is there",
            python=str(move.python),
            version=str(move.build.newest),
        )
    absolute = target.prefix.startswith("/")
    run = StepRun((), target.tool, target.prefix, target.python, target.prefix) if absolute else None
    proof = StepProof(Proves.ENVIRONMENT, target.prefix) if absolute else None
    python = _python(place, move) if move is not None else place.python
    if target.tool is Tool.UV:
        version = python if python.startswith("/") else str(move.python) if move and move.python else python
        creating = use("environment-create-uv", version=version, directory=target.prefix)
    elif python:
        creating = use("environment-create", python=python, directory=target.prefix)
    else:
        creating = use("environment-create-uv-seed", version=str(move.python if move else ""), directory=target.prefix)
    return step((creating,), place, commands, (does, None), run=run, proof=proof)


def _wished(place: InstallPlace) -> Tool | None:
    """The tool that the user asked for, where it installs wheels."""
    return place.around.wished if place.around.wished in {Tool.PIP, Tool.UV} else None


def _python(place: InstallPlace, move: TorchMove | None) -> str:
    """An interpreter that is there and that the build has a wheel for; empty where none is."""
    if move is None or move.python is None:
        return place.python
    fitting = [(version, path) for version, path in place.around.pythons if version.release in move.build.pythons]
    return max(fitting, default=(None, ""))[1] if fitting else ""


NEEDS_UV = text("this takes uv; where it is not installed, docs.astral.sh/uv tells how to install it for your own user")
_PROJECT = text(
    "in a project of uv's, `uv sync` and `uv run` bring back the torch of uv.lock: name PyTorch's index in pyproject.toml too"
)
NEEDS_VENV = text("where Python says that ensurepip is not available, `sudo apt install python3-venv` comes first")
_NEWER_THAN_UV = frozenset({"cu134"})  # what the --torch-backend of uv 0.13.9 does not take yet, measured


def torch_ways(move: TorchMove, place: InstallPlace, knowledge: Knowledge) -> tuple[WayPlan, ...]:
    """The ways to the build, the best first. A torch that is there is best left to the environment that works with it; where
    none is, installing it changes nothing that is there.
    """
    build, company = move.build, _company(move, place, knowledge)
    version, tag = str(build.newest), build.tag
    does = text("Install torch {version} of the build {tag}", version=version, tag=tag)
    install = _Install(
        place, knowledge, does, f"{version}+{tag}", lambda target: _use(build, company, place, target), company.others, move
    )
    return install.ways()


def jetson_ways(place: InstallPlace, knowledge: Knowledge, board: JetPackRecord) -> tuple[WayPlan, ...]:
    """torch of NVIDIA's own for the system that the board runs: its driver cannot be replaced alone."""
    does = text(
        "Install the torch that NVIDIA built for JetPack {jetpack}; PyTorch's own builds need a newer system or lack this chip's "
        "code",
        jetpack=str(board.release),
    )
    by_pip = replace(place, around=replace(place.around, wished=Tool.PIP))
    there = place.around.python
    if there is not None and there.release != board.python:  # its wheels are for the system's own Python alone
        by_pip = replace(by_pip, python=f"/usr/bin/python{board.python}", tool="")

    def install(target: InstallTarget) -> UsedCommand:
        if board.index:
            return use("torch-install-jetson", python=target.python, index=board.index)
        return use("torch-install-jetson-wheel", python=target.python, requirement=board.wheel)

    return _Install(by_pip, knowledge, does, "", install).ways()


_ON_NIXOS = text(
    "NixOS starts no program or wheel that was built for other systems unless programs.nix-ld.enable = true; is set in "
    "/etc/nixos/configuration.nix; nixpkgs has torch built for it as python3Packages.torch-bin"
)


def left_by(move: TorchMove, place: InstallPlace, knowledge: Knowledge) -> tuple[Text, ...]:
    """What of the environment will not work with the build, whichever way it comes, and what the user's settings have to do with
    it.
    """
    tool = new(place, move).tool
    nix = (_ON_NIXOS,) if place.system.distribution == NIXOS else ()
    return (*nix, *_company(move, place, knowledge).left, *notes_on_index(move.build, tool, place.around.settings))


def _company(move: TorchMove, place: InstallPlace, knowledge: Knowledge) -> Company:
    release = knowledge.torch_release(move.build.newest)
    return company_of(move.build, place.around.packages, release, knowledge.bad_pairs(), releases=knowledge.torch_releases())


def _use(build: TorchBuild, company: Company, place: InstallPlace, target: InstallTarget) -> UsedCommand:
    origin = origin_of(build, target.tool, place.around.settings)
    torch, *others = company.requirements
    exact = f"{torch}+{build.tag}" if origin.exact else torch
    words = {"python": target.python, "requirements": " ".join((exact, *others))}
    suffix = "-uv" if target.tool is Tool.UV else ""
    if origin.own:
        return use(f"packages-install{suffix}", **words)
    if suffix and build.tag in _NEWER_THAN_UV:
        return use(
            "packages-install-index-uv", **{**words, "requirements": " ".join((f"{torch}+{build.tag}", *others))}, tag=build.tag
        )
    return use(f"packages-install-tag{suffix}", **words, tag=build.tag)


class _Install(Struct, frozen=True):
    """A torch that is to come to a place: `use` installs it into an environment, `others` come after it from elsewhere."""

    place: InstallPlace
    knowledge: Knowledge
    does: Text
    wanted: str
    use: Callable[[InstallTarget], UsedCommand]
    others: tuple[str, ...] = ()
    move: TorchMove | None = None

    def ways(self) -> tuple[WayPlan, ...]:
        place = self.place
        without_pip = place.tool == "uv" and place.around.wished is Tool.PIP  # uv puts no pip into what it makes
        if not place.tool or without_pip or (self.move is not None and self.move.python is not None):
            return (self._in_new(),)
        if not place.torch_there:
            # Into an environment that has no torch; one that others are made from is everybody's, and uv closes its own to pip.
            does = text("Into {name}, which has no torch yet", name=self._name)
            steps = tuple(self._installed(here(self.place)))
            added = WayPlan(Method.IN_PLACE, does, steps, (*self._needs(*steps), *self._project()))
            if not place.around.base:
                return (added, self._in_new())
            return (self._in_new(),) if place.tool == "uv" else (self._in_new(), added)
        return (self._in_new(), self._cleaned(), self._exchanged())

    def _in_new(self) -> WayPlan:
        """Beside what is there, which then stays as it is."""
        target = new(self.place, self.move)
        name = self.place.around.name
        does = text("In a new environment, {directory}; what is there stays as it is", directory=target.prefix)
        notes = (text("the other packages of {name} do not come along: install what your project needs there as well", name=name),)
        told = notes if name and self.place.torch_there else ()
        made = create(target, self.place, self.knowledge.commands, self.move)
        entered = (text("each new terminal enters it with `. {directory}/bin/activate`", directory=target.prefix),)
        enters = entered if self.place.around.base else ()
        return WayPlan(Method.NEW, does, (made, *self._installed(target)), (*enters, *told, *self._needs(made), *self._venv(made)))

    def _cleaned(self) -> WayPlan:
        """Into the same environment, once nothing of the old torch is left in it."""
        target = here(self.place)
        wheels = (one.distribution for one in self.knowledge.wheels() if one.of_cuda)
        gone = of_torch(self.place.around.packages, wheels)
        does = text("In {name}, once every package that belongs to torch is out of it", name=self._name)
        return WayPlan(Method.CLEAN, does, (self._removal(target, gone), *self._installed(target)), self._project())

    def _exchanged(self) -> WayPlan:
        """Into the same environment, torch and what is built for it alone."""
        target = here(self.place)
        uses = (_remove(target, built_for_it(self.place.around.packages)), self.use(target))
        does = text("In {name}, in the place of the torch that is there", name=self._name)
        note = text("what the old torch brought and the new one does not ask for stays in {name}", name=self._name)
        return WayPlan(Method.IN_PLACE, does, (self._step(uses, target), *self._others(target)), (note, *self._project()))

    @property
    def _name(self) -> str:
        return self.place.around.name or self.place.python

    def _needs(self, *steps: Step) -> tuple[Text, ...]:
        """That uv has to be there, where nothing shows that it is."""
        by_uv = any(line.startswith("uv ") for step in steps for line in step.commands)
        return (NEEDS_UV,) if by_uv and self.place.tool != "uv" else ()

    def _project(self) -> tuple[Text, ...]:
        """That uv's own projects undo by themselves what is done by hand."""
        return (_PROJECT,) if self.place.tool == "uv" else ()

    def _venv(self, made: Step) -> tuple[Text, ...]:
        """That the distribution's own Python may lack the module that makes environments."""
        by_system = any(line.startswith(("/usr/bin/python", "python3 ")) and " -m venv " in line for line in made.commands)
        return (NEEDS_VENV,) if by_system and packages_of(self.place.packages).venv_apart else ()

    def _removal(self, target: InstallTarget, packages: tuple[str, ...]) -> Step:
        does = text("Take everything that belongs to torch out of {name}", name=self._name)
        directory = self.place.around.directory
        proof = StepProof(Proves.ABSENT, directory) if directory else None
        check = text("{directory} is gone", directory=directory) if directory else None
        words = (does, check)
        return step((_remove(target, packages),), self.place, self.knowledge.commands, words, run=target.run, proof=proof)

    def _installed(self, target: InstallTarget) -> Iterator[Step]:
        yield self._step((self.use(target),), target)
        yield from self._others(target)

    def _step(self, uses: tuple[UsedCommand, ...], target: InstallTarget) -> Step:
        proof = StepProof(Proves.TORCH, target.python, self.wanted)
        check = text("`gpuassist verify --python {python}` passes on every GPU", python=target.python)
        return step(uses, self.place, self.knowledge.commands, (self.does, check), run=target.run, proof=proof)

    def _others(self, target: InstallTarget) -> Iterator[Step]:
        if self.others:
            key = "packages-install-uv" if target.tool is Tool.UV else "packages-install"
            one = use(key, python=target.python, requirements=" ".join(self.others))
            does = text("Install {packages}, which works with torch and is not PyTorch's", packages=listed(self.others))
            yield step((one,), self.place, self.knowledge.commands, (does, None), run=target.run)


def _remove(target: InstallTarget, packages: tuple[str, ...]) -> UsedCommand:
    key = "packages-remove-uv" if target.tool is Tool.UV else "packages-remove"
    return use(key, python=target.python, packages=" ".join(packages))


# Where pip and uv get a build from: PyTorch's index, or what the user's settings put in its place.


_TAG = lazy_regex(r"(cu\d{2,3}|cpu|xpu|rocm[\d.]+)(?:/simple)?/?")


class IndexOrigin(Struct, frozen=True):
    """`own` where the user's settings lead to the build, so that the command names no index; `exact` where they name several
    places, so that only the version with its tag means one build.
    """

    own: bool
    exact: bool


def origin_of(build: TorchBuild, tool: Tool, settings: PackageSettings) -> IndexOrigin:
    """Where a build comes from, as the user's settings stand."""
    told = _of(tool, settings)
    tags = [tag_of(one.value) for one in (told.index, *told.extra)]
    if told.forbidden:
        return IndexOrigin(own=True, exact=True)
    if build.tag in tags:
        return IndexOrigin(own=True, exact=True)
    keeps = tool is Tool.PIP and bool(told.index) and build.default and not any(tags)
    return IndexOrigin(own=keeps, exact=bool(told.extra) or bool(told.links))


def tag_of(url: str) -> str:
    """The tag of the builds that an index holds, as PyTorch's and its mirrors end in one; empty for one like PyPI."""
    found = _TAG.fullmatch(url.rstrip("/").removesuffix("/simple").rpartition("/")[2])
    return found[1] if found else ""


def notes_on_index(build: TorchBuild, tool: Tool, settings: PackageSettings) -> tuple[Text, ...]:
    """What of the settings serves the build, and what is missing there."""
    told = _of(tool, settings)
    return (*_on_index(build, tool, told), *_on_pins(build, told))


def _of(tool: Tool, settings: PackageSettings) -> Indexes:
    return settings.uv if tool is Tool.UV else settings.pip


def _on_index(build: TorchBuild, tool: Tool, told: Indexes) -> Iterator[Text]:
    version, tag = str(build.newest), build.tag
    if told.offline and tool is Tool.UV:
        yield text("{source} keeps uv from the network: it takes only what is in its cache", source=told.offline.source)
    elif told.offline:
        places = ", ".join(one.value for one in told.links)
        yield text(
            "{source} keeps pip from every index: it takes only what lies in {places}",
            source=told.offline.source,
            places=places or text("a directory that find-links names"),
        )
    if told.forbidden:
        yield text(
            "{source} forbids every index: the wheels of torch {version}+{tag} and of what it asks for have to be in {places}",
            source=told.forbidden.source,
            version=version,
            tag=tag,
            places=", ".join(one.value for one in told.links) or text("a directory that find-links names"),
        )
        return
    serving = next((one for one in (told.index, *told.extra) if tag_of(one.value) == tag), None)
    if serving is not None:
        yield text("{url} of {source} has the builds of {tag}: it is kept", url=serving.value, source=serving.source, tag=tag)
        return
    if told.index:
        yield from _on_own_index(build, tool, told.index)
    for one in told.extra:
        if tag_of(one.value):
            yield _other_builds(one, tag)


def _on_own_index(build: TorchBuild, tool: Tool, index: PackageSetting) -> Iterator[Text]:
    version, tag, words = str(build.newest), build.tag, {"url": index.value, "source": index.source}
    if tag_of(index.value):
        yield _other_builds(index, tag)
    elif tool is Tool.UV:
        yield text("{url} of {source} is kept for all but torch itself, which comes from PyTorch's index", **words)
    elif build.default:
        yield text("{url} of {source} is kept: PyPI's torch {version} is the build {tag}", **words, version=version, tag=tag)
    else:
        yield text(
            "{url} of {source} has no build {tag} if it mirrors PyPI, whose torch {version} is another: the command names "
            "PyTorch's index instead. Where this computer reaches that mirror alone, it has to mirror "
            "download.pytorch.org/whl/{tag} as well",
            **words,
            version=version,
            tag=tag,
        )


def _other_builds(index: PackageSetting, tag: str) -> Text:
    return text(
        "{url} of {source} has builds of {other}, not of {tag}: the command asks PyTorch's index instead",
        url=index.value,
        source=index.source,
        other=tag_of(index.value),
        tag=tag,
    )


def _on_pins(build: TorchBuild, told: Indexes) -> Iterator[Text]:
    for pin in told.pins:
        try:
            fits = admits(pin.value, build.newest)
        except VersionError:
            continue
        if not fits:
            yield text(
                "{source} allows torch {pin} alone: torch {version} is refused until that line is changed",
                source=pin.source,
                pin=pin.value,
                version=str(build.newest),
            )
