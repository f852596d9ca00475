"""Typed records over the knowledge files: parsed lazily by kind, a damaged line named and skipped."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpuassist.knowledge import names
    from gpuassist.knowledge.codes import Codes
    from gpuassist.knowledge.commands import Commands
    from gpuassist.knowledge.compatibility import CompatPackage, EarlyToolkits, KernelFlavour
    from gpuassist.knowledge.driver_numbers import JetPackRecord, WindowsBranch
    from gpuassist.knowledge.driver_packages import DriverPackage
    from gpuassist.knowledge.engine_records import EngineRecord, EngineRelease
    from gpuassist.knowledge.files import KnowledgeFiles
    from gpuassist.knowledge.images import ImageReading, NotAnImage
    from gpuassist.knowledge.memory_costs import MemoryCosts
    from gpuassist.knowledge.messages import ForeignMessage, LanguageMarks
    from gpuassist.knowledge.qt_libraries import QtLibrary
    from gpuassist.knowledge.rates import GpuRates, ReachedRate, SmRates
    from gpuassist.knowledge.records import (
        ArchitectureRecord,
        BadPair,
        BranchRecord,
        ChipRecord,
        CondaPackage,
        CondaRecord,
        GpuRecord,
        ImageRecord,
        RunfileRecord,
        SystemRecord,
        ToolkitRecord,
        TorchBuild,
        TorchRelease,
        WheelRecord,
        XidRecord,
    )
    from gpuassist.knowledge.repositories import RepositoryRecord
    from gpuassist.knowledge.resident_programs import ResidentProgram
    from gpuassist.knowledge.servers import Baseboard, ServerGpu
    from gpuassist.model.text import Text
    from gpuassist.model.version import ComputeCapability, Version

    _Place = tuple[bool, int]  # whether the name there is but another name of the GPU, and where it stands
    _Places = dict[names.Key, list[_Place]]


# A distribution and its release as images of containers are named, which is how the table has them.
_IMAGE_NAMES = {"rhel": "ubi", "amzn": "amazonlinux", "opensuse-leap": "leap"}


def _plain(name: str) -> str:
    """A package's name in the one spelling that pip makes of it."""
    return re.sub(r"[-_.]+", "-", name).lower()


class Knowledge:
    """What is known about NVIDIA's products; `read` gives the bytes of a resource such as `knowledge/gpus.json`."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read

    @cached_property
    def _files(self) -> KnowledgeFiles:
        # The records' types cost 20 ms to make, and much that gpuassist does asks for none: a live sample, an undo.
        from gpuassist.knowledge.files import KnowledgeFiles

        return KnowledgeFiles(self._read, lambda chip: self._chips.get(chip))

    def gpu(self, pci_id: str) -> GpuRecord | None:
        """The GPU of a PCI id as the system writes it, `10de:2684`; None where it is newer than this list, or no GPU."""
        wanted = pci_id.lower()
        return self._files.gpus.first("pci_id", wanted) if wanted else None

    def gpu_named(self, name: str) -> GpuRecord | None:
        """The GPU that NVML prints so; None where none is known by that name, or several of different capability are."""
        return agreeing_gpu(self.gpus_named(name))

    def name_within(self, words: str) -> str:
        """The name of a GPU at the end of what a log printed: what stands before it, a time or `UserWarning:`, is no part of it."""
        pieces = words.split()
        for start in range(max(0, len(pieces) - _LONGEST_NAME), len(pieces)):
            name = " ".join(pieces[start:]).strip(" :'\"")
            if self.gpus_named(name):
                return name
        maker = next((place for place, piece in enumerate(pieces) if piece in _MAKERS), None)
        rest = pieces[maker:] if maker is not None else " ".join(pieces).rpartition(": ")[2].split()
        return " ".join(rest).strip(" :'\"")

    def gpus_named(self, name: str) -> tuple[GpuRecord, ...]:
        """All GPUs sold under a name, those of exactly that name first, and before those that bear it beside another: a
        GeForce GT 730 is one of three chips.
        """
        from gpuassist.knowledge import names

        wanted = names.key(name)
        if not wanted:
            return ()
        exact, loose = self._places_with(names.telling(wanted))
        ways = names.looser(wanted)
        places = [*sorted(exact.get(wanted, ())), *sorted(loose.get(ways[0], ()) if ways else ())]
        if not places:
            places = next((sorted(loose[way]) for way in ways if way in loose), [])
        if not places and (board := names.board(name)) != name:
            return self.gpus_named(board)
        if not places and (product := names.product(name)) and names.key(product) != wanted:
            return self.gpus_named(product)
        return self._files.gpus.at(dict.fromkeys(place for _, place in places))

    def gpus(self) -> tuple[GpuRecord, ...]:
        return self._files.gpus.all()

    def architecture(self, name: str) -> ArchitectureRecord | None:
        """A generation by its name, `Ada Lovelace`."""
        return next((one for one in self.architectures() if one.name.lower() == name.lower()), None)

    def architecture_of(self, capability: ComputeCapability) -> ArchitectureRecord | None:
        """The generation that a compute capability belongs to."""
        return next((one for one in self.architectures() if capability in one.capabilities), None)

    def architectures(self) -> tuple[ArchitectureRecord, ...]:
        """Every generation, oldest first."""
        return self._files.architectures.all()

    def toolkit(self, release: Version) -> ToolkitRecord | None:
        """The CUDA release of a toolkit's version, whatever its patch number."""
        return next((one for one in self.toolkits() if one.release == release.release), None)

    def toolkits(self) -> tuple[ToolkitRecord, ...]:
        """Every CUDA release, oldest first."""
        return self._files.toolkits.all()

    def runfile(self, release: Version) -> RunfileRecord | None:
        """NVIDIA's installer of a CUDA release; None where its name is not known."""
        return self._files.runfiles.first("release", str(release.release))

    def repositories(self) -> tuple[RepositoryRecord, ...]:
        """Every package repository whose CUDA toolkits and drivers somebody looked up."""
        return self._files.repositories.all()

    def repository(self, name: str, architecture: str) -> RepositoryRecord | None:
        """What a repository holds, by NVIDIA's name of it; None where nobody looked."""
        every = self.repositories()
        return next((one for one in every if (one.repository, one.architecture) == (name, architecture)), None)

    def early_toolkits(self, capability: ComputeCapability) -> EarlyToolkits | None:
        """The first and last CUDA release of a compute capability that is older than the records of toolkits."""
        return self._files.early_toolkits.first("capability", str(capability))

    def wheels(self) -> tuple[WheelRecord, ...]:
        """Every package that holds a part of CUDA for Python environments."""
        return self._files.wheels.all()

    def wheel(self, distribution: str) -> WheelRecord | None:
        """Such a package by its name, `nvidia-cublas-cu12`, in any spelling that pip takes."""
        return self._files.wheels.first("distribution", _plain(distribution))

    def torch_builds(self, release: Version | None = None) -> tuple[TorchBuild, ...]:
        """The builds of a torch release (2.7 of 2.7.1), or of all where none is named, oldest release first."""
        return tuple(one for one in self._files.torch.all() if release is None or one.release == release.release)

    def torch_releases(self) -> tuple[TorchRelease, ...]:
        """Every torch release, oldest first; the oldest ones by name alone."""
        return self._files.torch_releases.all()

    def torch_release(self, version: Version) -> TorchRelease | None:
        """The release that a torch version belongs to (2.7 of 2.7.1); None where it is newer than this list, or none."""
        return self._files.torch_releases.first("release", str(version.release))

    def bad_pairs(self) -> tuple[BadPair, ...]:
        return self._files.bad_pairs.all()

    def branches(self) -> tuple[BranchRecord, ...]:
        """Every driver branch, oldest first."""
        return self._files.drivers.all()

    def branch(self, number: int) -> BranchRecord | None:
        """A driver branch by its number, the major of a driver's version."""
        return next((one for one in self.branches() if one.branch == number), None)

    def branch_serves(self, branch: BranchRecord) -> tuple[tuple[ArchitectureRecord, KernelFlavour], ...]:
        """The architectures that a branch serves, each with the kernel module that it needs there."""
        from gpuassist.knowledge.compatibility import serves

        return serves(branch.branch, self.architectures())

    def windows_drivers(self) -> tuple[WindowsBranch, ...]:
        """How Windows numbers each branch, oldest first."""
        return self._files.windows_drivers.all()

    def jetpacks(self) -> tuple[JetPackRecord, ...]:
        """Every JetPack, oldest first."""
        return self._files.jetpacks.all()

    def baseboards(self) -> tuple[Baseboard, ...]:
        """Every baseboard with NVSwitches, oldest first."""
        return self._files.baseboards.all()

    def server_gpus(self) -> tuple[ServerGpu, ...]:
        """Every product for data centres."""
        return self._files.server_gpus.all()

    def gpu_rates(self) -> tuple[GpuRates, ...]:
        """How fast each product may be."""
        return self._files.gpu_rates.all()

    def estimates(self) -> MemoryCosts:
        """What models take of a GPU's memory."""
        from gpuassist.knowledge.memory_costs import MemoryCosts

        files = self._files
        return MemoryCosts(files.activation_costs.all(), files.memory_costs.all(), files.estimate_cards.all())

    def sm_rates(self) -> tuple[SmRates, ...]:
        """What a multiprocessor of each capability and product line does in a clock."""
        return self._files.sm_rates.all()

    def reached_rates(self) -> tuple[ReachedRate, ...]:
        """Which shares of a peak others measured."""
        return self._files.reached_rates.all()

    def driver_packages(self) -> tuple[DriverPackage, ...]:
        """Which branches the packages of each release of a distribution hold."""
        return self._files.driver_packages.all()

    def compat_packages(self) -> tuple[CompatPackage, ...]:
        """Every forward-compatibility package, oldest CUDA first."""
        return self._files.compat_packages.all()

    def xids(self) -> tuple[XidRecord, ...]:
        return self._files.xids.all()

    def xid(self, number: int) -> XidRecord | None:
        """An Xid event by the number in the kernel's log."""
        return self._files.xids.first("number", str(number))

    @cached_property
    def codes(self) -> Codes:
        """The return codes of NVIDIA's libraries."""
        from gpuassist.knowledge.codes import Codes

        return Codes(self._files.codes, self._files.code_states.all())

    def message_marks(self) -> tuple[LanguageMarks, ...]:
        """By which words a language shows that is written with Latin letters."""
        return self._files.message_marks.all()

    def messages(self, language: str) -> tuple[ForeignMessage, ...]:
        """What programs print in a language, one of `knowledge.messages.LANGUAGES`."""
        return self._files.messages[language].all()

    def images(self) -> tuple[ImageRecord, ...]:
        """Every month of NVIDIA's framework images that is known, by family, oldest first."""
        return self._files.images.all()

    def image_tags(self) -> tuple[str, ...]:
        """The images of PyTorch's and NVIDIA's that are known to be there to be pulled."""
        return tuple(one.tag for one in self._files.image_tags.all())

    def python_of(self, base: tuple[str, str]) -> Version | None:
        """The version of a distribution's own `python3`, by the distribution and release of its packages; None where not known."""
        name = f"{_IMAGE_NAMES.get(base[0], base[0])}{base[1]}"
        return next((one.python for one in self.systems() if one.name == name), None)

    def gcc_in(self, base: tuple[str, str]) -> tuple[int, ...] | None:
        """The majors of gcc that a system's archive has beside its usual one, by the distribution and release of its packages;
        conda-forge's for `("conda", "")`. None where nobody looked.
        """
        found = self._files.gcc_packages.first("system", "".join(base)) if any(base) else None
        return found.majors if found is not None else None

    def python_package(self, name: str) -> str:
        """What PyPI calls a package that a text names by its distribution or its module; empty where that is not known, so that no
        name of a log becomes an argument of pip.
        """
        wanted = _plain(name)
        if self._files.wheels.first("distribution", wanted) is not None:
            return wanted
        return self._python_packages.get(wanted, "")

    @cached_property
    def _python_packages(self) -> dict[str, str]:
        return {_plain(called): one.name for one in self._files.python_packages.all() for called in (one.name, *one.modules)}

    def systems(self) -> tuple[SystemRecord, ...]:
        return self._files.systems.all()

    def resident_programs(self) -> tuple[ResidentProgram, ...]:
        """Every program that is known to keep its environment; where a process is several of them, the first one counts."""
        return self._files.resident_programs.all()

    def qt_libraries(self) -> tuple[QtLibrary, ...]:
        """What of the system the window needs."""
        return self._files.qt_libraries.all()

    def image(self, name: str) -> ImageReading | NotAnImage:
        """What is in a container image, by its name in any spelling."""
        from gpuassist.knowledge import images

        return images.read_image(name, images.ImageKnowledge(self.images(), self.toolkits(), self.systems()))

    def conda(self) -> tuple[CondaRecord, ...]:
        """Every torch build of conda's channels, by channel, oldest first."""
        return self._files.conda.all()

    def conda_packages(self) -> tuple[CondaPackage, ...]:
        """Every package by which conda brings CUDA or chooses torch's."""
        return self._files.conda_packages.all()

    def engines(self) -> tuple[EngineRecord, ...]:
        """Every package beside torch that is known."""
        return self._files.engines.all()

    def engine(self, name: str) -> EngineRecord | None:
        """The engine of a name in any spelling that pip takes, without what stands in brackets; None where none is called so."""
        return self._engines_by_name.get(re.sub(r"[-_.]+", "-", name.partition("[")[0].strip()).lower())

    def engine_releases(self, key: str) -> tuple[EngineRelease, ...]:
        """What its releases ask for, by package, the newest first."""
        return tuple(one for one in self._files.engine_releases.all() if one.engine == key)

    @cached_property
    def commands(self) -> Commands:
        """Every command line, by key and family."""
        from gpuassist.knowledge.commands import Commands

        return Commands(self._files.commands.keyed("key", "family"))

    def damaged(self) -> tuple[Text, ...]:
        """Every line of every file that could not be used; reads them all."""
        return self._files.damaged()

    def noticed(self) -> tuple[Text, ...]:
        """The lines that could not be used, of what was read so far; reads nothing."""
        return self._files.noticed() if "_files" in vars(self) else ()

    @cached_property
    def _engines_by_name(self) -> dict[str, EngineRecord]:
        """By its key, its other names, and the packages of its releases."""
        by_key = {one.key: one for one in self.engines()}
        packages = {
            one.package.partition("[")[0]: by_key[one.engine] for one in self._files.engine_releases.all() if one.engine in by_key
        }
        return {**packages, **{name: one for one in by_key.values() for name in one.aliases}, **by_key}

    @cached_property
    def _chips(self) -> dict[str, tuple[ArchitectureRecord, ChipRecord]]:
        return {chip.chip: (one, chip) for one in self.architectures() for chip in one.chips}

    def _places_with(self, word: str) -> tuple[_Places, _Places]:
        """Where names with that word stand, by their key and by their looser ones: a key of every name would take 40 ms."""
        from gpuassist.knowledge import names

        exact: _Places = {}
        loose: _Places = {}
        for place, name in ((place, piece) for place, one, low in self._names if word in low for piece in names.alternatives(one)):
            full = names.key(name)
            exact.setdefault(full, []).append(place)
            for way in names.looser(full):
                loose.setdefault(way, []).append(place)
        return exact, loose

    @cached_property
    def _names(self) -> tuple[tuple[_Place, str, str], ...]:
        """Every name with its place, as it is and in lower case."""
        given = self._files.gpus.words("name", "aliases")
        return tuple(((rank > 0, place), name, name.lower()) for place, words in given for rank, name in enumerate(words))


_LONGEST_NAME = 9  # words
_MAKERS = frozenset({"NVIDIA", "GeForce", "Tesla", "Quadro", "TITAN", "GRID"})


def agreeing_gpu(gpus: tuple[GpuRecord, ...]) -> GpuRecord | None:
    """The first of them, where all can the same; where they do not, of those that NVIDIA's lists have."""
    # The driver's name for a GPU is one of NVIDIA's lists; the id list alone knows a GeForce GT 1030 of 2012, for one.
    return _agreeing(gpus) or _agreeing(tuple(gpu for gpu in gpus if not gpu.unlisted))


def _agreeing(gpus: tuple[GpuRecord, ...]) -> GpuRecord | None:
    """The first of them, where all can the same."""
    return gpus[0] if len({(gpu.architecture, gpu.compute_capability) for gpu in gpus}) == 1 else None
