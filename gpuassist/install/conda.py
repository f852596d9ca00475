"""The steps to another torch by conda: from conda-forge, or from PyTorch's own channel, which ended with torch 2.5.1."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gpuassist.install.place import InstallPlace, step
from gpuassist.knowledge.change import TorchMove
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.knowledge.conda import exact_spec, limits, specs
from gpuassist.knowledge.records import Channel, Companion, CondaRecord
from gpuassist.knowledge.smallest import usual_python
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.outlook import Method, WayPlan
from gpuassist.model.package_settings import Channels, PackageSetting
from gpuassist.model.plan import Proves, Step, StepProof, StepRun, Tool
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version, VersionError

# Which channels conda is told to look in: as the user's settings spell them, and what these keep conda from.


_DECIDE = ("pytorch", "cuda-version", "pytorch-cuda", "cudatoolkit", "cuda", "__cuda", "libtorch")
_PACKAGE = lazy_regex(r"[\w.-]+")
_NEVER_SHOWN = "***"


def channels_for(names: tuple[str, ...], settings: Channels) -> tuple[str, ...]:
    """What `-c` takes for each: the user's own address of it where the settings have one; none where that holds a token, which only
    the settings know.
    """
    spelled = (next((one.value for one in _own(name, settings)), name) for name in names)
    return tuple(one for one in spelled if _NEVER_SHOWN not in one)


def name_of(channel: str) -> str:
    """A channel's own name: the last part of its address."""
    return channel.rstrip("/").rpartition("/")[2]


def _own(name: str, settings: Channels) -> Iterator[PackageSetting]:
    """The channels of that name that the user gives an address for."""
    return (one for one in settings.channels if "://" in one.value and name_of(one.value) == name)


def notes_on_channels(record: CondaRecord, settings: Channels) -> tuple[Text, ...]:
    """What of the settings serves the build, and what stands in its way."""
    notes = list[Text]()
    denied = {name_of(one.value): one for one in reversed(settings.denied)}
    for name in record.channels:
        own = next(_own(name, settings), settings.alias)
        if own:
            notes.append(text("{url} of {source} is kept for {channel}", url=own.value, source=own.source, channel=name))
        if settings.allowed and name not in {name_of(one.value) for one in settings.allowed}:
            source = settings.allowed[0].source
            notes.append(text("{source} allows other channels alone: {channel} is missing there", source=source, channel=name))
        if name in denied:
            source = denied[name].source
            notes.append(text("{source} denies the channel {channel}, which has the build", source=source, channel=name))
    for pin in settings.pins:
        # The name in `pytorch=2.1`, `cuda-version >=12` and `conda-forge::pytorch`.
        found = _PACKAGE.match(pin.value.rpartition("::")[2].strip())
        if found and found[0] in _DECIDE:
            words = {"source": pin.source, "pin": pin.value}
            notes.append(text("{source} pins {pin} in every environment: conda keeps to it or finds nothing", **words))
    if settings.offline:
        source = settings.offline.source
        notes.append(text("{source} keeps conda from the network: it takes only what it has downloaded before", source=source))
    if record.cuda is not None and settings.virtual and _is_older(settings.virtual.value, record.cuda):
        notes.append(
            text(
                "{source} makes conda take the driver for one of CUDA {value}, so that it refuses the build for {cuda}: unset it",
                source=settings.virtual.source,
                value=settings.virtual.value,
                cuda=str(record.cuda),
            )
        )
    return tuple(notes)


def _is_older(value: str, cuda: Version) -> bool:
    try:
        return Version.parse(value).major < cuda.major
    except VersionError:
        return True


# What is torch's in an environment of conda's, whichever channel it came from.
_OF_TORCH = frozenset(
    (
        *("pytorch", "pytorch-gpu", "pytorch-cpu", "pytorch-cuda", "pytorch-mutex", "libtorch", "cpuonly", "cudatoolkit"),
        *("torchvision", "torchaudio", "torchtext", "torchdata", "torchtriton", "triton", "xformers"),
    )
)
_COMPANIONS = ("torchvision", "torchaudio", "torchtext", "torchdata")
_OF_FORGE = ("torchvision", "torchaudio")
_BUILT_FOR_IT = frozenset({*_COMPANIONS, "xformers", "flash-attn"})
_CONDA = text("this takes conda; where it is not installed, conda-forge.org/download has it for your own user")


def conda_ways(move: TorchMove, record: CondaRecord, place: InstallPlace, knowledge: Knowledge) -> tuple[WayPlan, ...]:
    """A new environment first; the one that is there too, where conda made it and its Python has a build."""
    goal = _Goal(move, record, place, knowledge)
    if not place.around.of_conda or place.around.python is None or not _serves(record, place.around.python):
        return (goal.in_new(),)
    if not place.torch_there:
        return (goal.in_new(), goal.added()) if place.around.base else (goal.added(), goal.in_new())
    return (goal.in_new(), goal.cleaned(), goal.exchanged()) if place.around.torch_of_conda else (goal.in_new(),)


def notes_on_conda(record: CondaRecord, place: InstallPlace, knowledge: Knowledge) -> tuple[Text, ...]:
    """What to know of a build by where it comes from, and what of the environment is built for one torch and does not come with
    this one.
    """
    known = {one.name for one in _belonging(record, knowledge)}
    coming = known & set(_COMPANIONS if record.channel is Channel.PYTORCH else _OF_FORGE)
    left = (
        text(
            "{name} {there} is built for the torch that is there, and does not come along: torch {torch} needs another",
            name=one.name,
            there=one.version,
            torch=str(record.version),
        )
        for one in place.around.packages
        if one.name in _BUILT_FOR_IT and one.name not in coming
    )
    told = (*notes_on_channels(record, place.around.settings.conda), *left)
    if record.channel is not Channel.PYTORCH:
        return told
    frozen = text(
        "the conda channel pytorch is frozen: torch 2.5.1 of October 2024 is its last, and nothing in it is mended any more"
    )
    return (*told, frozen)


class _Goal(Struct, frozen=True):
    move: TorchMove
    record: CondaRecord
    place: InstallPlace
    knowledge: Knowledge

    def in_new(self) -> WayPlan:
        directory, python = self.place.around.new_of_conda, self._python
        arguments = self._arguments(python, f"python={python}")
        does = text("In a new environment of conda's, {directory}; what is there stays as it is", directory=directory)
        name = self.place.around.name
        notes = (text("the other packages of {name} do not come along: install what your project needs there as well", name=name),)
        told = notes if name and self.place.torch_there else ()
        needs = () if self.place.around.conda_root or self.place.around.of_conda else (_CONDA,)
        made = self._install(use("conda-create", directory=directory, arguments=arguments), directory, creates=directory)
        entered = (text("each new terminal enters it with `conda activate {directory}`", directory=directory),)
        return WayPlan(Method.NEW, does, (made,), (*(entered if self.place.around.base else ()), *told, *needs))

    def added(self) -> WayPlan:
        does = text("Into {name}, which has no torch yet", name=self.place.around.name)
        return WayPlan(Method.IN_PLACE, does, (self._here(),))

    def cleaned(self) -> WayPlan:
        gone = tuple(one.name for one in self.place.around.packages if (one.build != "" and one.name in _OF_TORCH))
        directory = self.place.around.prefix
        name = self.place.around.name
        taken = text("Take everything that belongs to torch out of {name}", name=name)
        proof = StepProof(Proves.ABSENT, self.place.around.directory) if self.place.around.directory else None
        run = StepRun((), Tool.CONDA, directory, self.place.python)
        remove = use("conda-remove", directory=directory, packages=" ".join(gone or ("pytorch",)))
        removal = step((remove,), self.place, self.knowledge.commands, (taken, None), run=run, proof=proof)
        does = text("In {name}, once every package that belongs to torch is out of it", name=name)
        return WayPlan(Method.CLEAN, does, (removal, self._here()))

    def exchanged(self) -> WayPlan:
        does = text("In {name}, in the place of the torch that is there", name=self.place.around.name)
        return WayPlan(Method.IN_PLACE, does, (self._here(),))

    def _here(self) -> Step:
        directory, python = self.place.around.prefix, self.place.around.python or self._python
        return self._install(use("conda-install", directory=directory, arguments=self._arguments(python)), directory)

    @property
    def _python(self) -> Version:
        there = self.place.around.python
        if there is not None and _serves(self.record, there):
            return there.release
        return usual_python(self.move.build)

    def _arguments(self, python: Version, *more: str) -> str:
        """The channels, the Python, torch by the name of its very build where that is known, and what selects the CUDA."""
        channels = (word for name in channels_for(self.record.channels, self.place.around.settings.conda) for word in ("-c", name))
        torch, *selectors = specs(self.record)
        exact = exact_spec(self.record, python) or torch
        # Those of the environment: on conda-forge the solver finds the one that fits, PyTorch's channel has each for one torch.
        around, belongs = self.place.around, _belonging(self.record, self.knowledge)
        if self.record.channel is Channel.CONDA_FORGE:
            companions: tuple[str, ...] = tuple(one.name for one in belongs if one.name in _OF_FORGE and around.has(one.name))
        else:
            there = {"torchvision", *(name for name in _COMPANIONS if around.has(name))}
            companions = tuple(f"{one.name}={one.version}" for one in belongs if one.name in there)
        return " ".join((*channels, *more, exact, *companions, *limits(self.record), *selectors))

    def _install(self, one: UsedCommand, directory: str, *, creates: str = "") -> Step:
        python = f"{directory}/bin/python"
        record = self.record
        does = text(
            "Install torch {version} for CUDA {cuda} from {channel}",
            version=str(record.version),
            cuda=str(record.cuda),
            channel=record.channel.value,
        )
        check = text("`gpuassist verify --python {python}` passes on every GPU", python=python)
        absolute = directory.startswith("/")
        run = StepRun((), Tool.CONDA, directory, python, creates) if absolute else None
        proof = StepProof(Proves.TORCH, python, str(record.version))
        return step((one,), self.place, self.knowledge.commands, (does, check), run=run, proof=proof)


def _belonging(record: CondaRecord, knowledge: Knowledge) -> tuple[Companion, ...]:
    release = knowledge.torch_release(record.version)
    return release.companions_of(record.version) if release else ()


def _serves(record: CondaRecord, python: Version) -> bool:
    return record.pythons is None or python.release in record.pythons
