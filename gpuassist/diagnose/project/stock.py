"""What a torch is picked from, what was picked, and the small questions that picking and moving it share."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field
from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion
from packaging.version import Version as PipVersion

from gpuassist.diagnose.project.sets import InstallSet
from gpuassist.formats.project.values import IndexRole, ProjectIndex, ProjectRequirement, Spelling, Spot
from gpuassist.formats.requirement import marker_environment
from gpuassist.knowledge.compatibility import kernels_run
from gpuassist.knowledge.records import TorchBuild
from gpuassist.knowledge.specifier import admits
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.package_settings import PackageSettings
from gpuassist.model.text import Text
from gpuassist.model.version import ComputeCapability, Version

PYPI = "PyPI"
_LONGEST = 500  # characters of a range; Python refuses to read a number of more than 4300 digits
TAG = lazy_regex(
    r"/whl/(?:(nightly|test)/)?(cpu|xpu|cu\d{2,3}|rocm[\d.]+)(?:[/_-]|$)|(?:^|/)(cpu|cu\d{2,3}|rocm[\d.]+)(?:/simple)?/?$"
)
COMPANIONS = ("torchvision", "torchaudio", "torchtext", "torchdata", "xformers")
_OPEN_ENDED = lazy_regex(r">=([\d.]+)")
EXACT = lazy_regex(r"={2,3}([^,*]+)")


class Pick(Struct, frozen=True):
    """What would be installed. `build` is none where nothing would, or where it is not known, and `why` says so, `broken` for
    certain.

    `spot` is the line that decides, `asked` the requirement, none where torch only comes along with another. `index` is the place
    it comes from, `wanted` the range as the project writes it.
    """

    spot: Spot
    version: Version | None = None
    build: TorchBuild | None = None
    asked: ProjectRequirement | None = None
    why: Text | None = None
    broken: bool = False
    about_python: bool = False
    index: str = PYPI
    wanted: str = ""
    locked: bool = False

    @property
    def tag(self) -> str:
        return self.build.tag if self.build is not None else ""

    @property
    def spelled(self) -> str:
        """As torch itself tells it: `2.5.1+cu124`."""
        return f"{self.version}+{self.tag}" if self.version is not None and self.tag else str(self.version or "")


class TorchStock(Struct, frozen=True):
    """What there is to pick from on this processor, for this Python (none: not known); `virtual` is the CUDA that conda sees,
    `settings` are the user's own of pip and uv.
    """

    knowledge: Knowledge
    machine: str
    python: Version | None = None
    virtual: Version | None = None
    settings: PackageSettings = field(default_factory=PackageSettings)

    @property
    def builds(self) -> tuple[TorchBuild, ...]:
        return tuple(one for one in self.knowledge.torch_builds() if one.machine == self.machine)


def limits_of(knowledge: Knowledge, torch: Version) -> dict[str, str]:
    """What must stay below a version beside a torch: `{"numpy": "2"}` for one that does not know NumPy 2."""
    pairs = [pair for pair in knowledge.bad_pairs() if pair.one.name == "torch" and admits(pair.one.versions, torch)]
    return {pair.other.name: found[1] for pair in pairs if (found := _OPEN_ENDED.fullmatch(pair.other.versions)) is not None}


def takes_all(versions: str, version: str) -> bool:
    range_ = range_of(versions)
    return range_ is not None and takes(range_, version)


def applies(requirement: ProjectRequirement, stock: TorchStock) -> bool:
    """Whether its marker holds on this machine; one that cannot be read, or asks what is not known, holds."""
    if not requirement.marker:
        return True
    try:
        environment = marker_environment(stock.python or Version((3, 12)), stock.machine)
        marker = Marker(requirement.marker)
        if stock.python is None and "python" in requirement.marker:
            return True
        return marker.evaluate({**environment, "extra": requirement.group})
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, ValueError, KeyError, RecursionError):
        return True


def specifier(requirements: Iterable[ProjectRequirement]) -> SpecifierSet | None:
    """What all of them allow; None where one of them is no range that pip reads."""
    try:
        found = SpecifierSet("")
        for one in requirements:
            if len(one.versions) > _LONGEST:
                return None
            found &= SpecifierSet(one.versions)
    except InvalidSpecifier:
        return None
    return found


def range_of(versions: str) -> SpecifierSet | None:
    """The range as pip reads it; None where it reads none."""
    if len(versions) > _LONGEST:
        return None
    try:
        return SpecifierSet(versions)
    except InvalidSpecifier:
        return None


def takes(range_: SpecifierSet, version: str) -> bool:
    try:
        return range_.contains(PipVersion(version), prereleases=True)
    except (InvalidVersion, ValueError):
        return False


def exact_of(requirement: ProjectRequirement) -> str:
    """The version that it pins; empty where it pins none. conda's `=2.0.1` pins a release as well as `==2.0.1` does."""
    words = requirement.versions.removesuffix(".*") if requirement.spelling is Spelling.CONDA else requirement.versions
    found = EXACT.fullmatch(words)
    return found[1] if found else ""


def number_of(words: str) -> Version | None:
    try:
        return Version(PipVersion(words).release)
    except (InvalidVersion, ValueError):  # the second of a number of thousands of digits
        return None


def torch_of(knowledge: Knowledge, companion: str, version: str) -> Version | None:
    """The torch that a companion's release belongs to; None where several do, or that is not known."""
    found = [
        each.torch
        for release in knowledge.torch_releases()
        for each in release.companions
        if each.name == companion and each.version == version
    ]
    return found[0] if len(found) == 1 else None


def indexes_for(one: InstallSet, requirement: ProjectRequirement | None) -> tuple[ProjectIndex, ...]:
    """The indexes that count for a requirement: those of its own line in a Dockerfile, and not those that are bound to others."""
    counted = tuple(each for each in one.indexes if each.role is not IndexRole.NAMED)
    if one.image is not None and requirement is not None and requirement.whole is not None and requirement.stage:
        line = requirement.whole.line
        counted = tuple(each for each in counted if each.whole is None or each.whole.line == line)
    return counted


def bound_index(one: InstallSet, requirement: ProjectRequirement | None) -> ProjectIndex | None:
    """The index that a package is bound to by name."""
    if requirement is None:
        return None
    name = requirement.source or dict(one.bound).get(requirement.name, "")
    return next((each for each in one.indexes if name and each.name == name), None)


def tag_of(url: str) -> str:
    """The variant that an index holds, `cu121` or `cpu`; empty for one like PyPI."""
    found = TAG.search(url)
    return (found[2] or found[3]) if found else ""


def first_release(stock: TorchStock, capability: ComputeCapability) -> Version | None:
    """The first torch release with code for a GPU, as far as builds are known."""
    return min((each.release for each in stock.builds if kernels_run(capability, each.targets, cuda=each.cuda)), default=None)


def last_release(stock: TorchStock, capability: ComputeCapability) -> Version | None:
    return max((each.release for each in stock.builds if kernels_run(capability, each.targets, cuda=each.cuda)), default=None)
