"""Version arithmetic: which GPU code runs where, which driver serves what, which toolkit builds for what.

It judges pairs; among several that fit, `choice` picks."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from gpuassist.knowledge.records import ArchitectureRecord, ModuleFlavour, ToolkitRecord
from gpuassist.model.version import Code, ComputeCapability, Target, Version

# CUDA Compatibility, table 1 (minor-version compatibility, from CUDA 11 on); of the rest the release notes' table of driver
# versions: 11.0 came with a driver that is older than what runs all others of its major, 450.36.06 was its release candidate's.
_FLOOR_OF_MAJOR = {13: "580.65.06", 12: "525.60.13", 11: "450.80.02"}
_FLOOR_OF_RELEASE = {
    (11, 0): "450.51.05",
    (10, 2): "440.33",
    (10, 1): "418.39",
    (10, 0): "410.48",
    (9, 2): "396.26",
    (9, 1): "390.46",
    (9, 0): "384.81",
    (8, 0): "375.26",
}
# The same tables' column for Windows, whose driver WSL2 shows: that of 13 names none.
_WINDOWS_FLOORS = {(12,): "528.33", (11,): "452.39", (10, 2): "441.22", (10, 1): "418.96"}
_THOR_BEFORE_13 = ComputeCapability(10, 1)
_THOR = ComputeCapability(11, 0)
# Chips of Jetson modules: a discrete GPU's code of the same major did not run on them, nor theirs elsewhere
# (torch.cuda, DEVICE_REQUIREMENT) ...
_JETSON = frozenset(
    {ComputeCapability(5, 3), ComputeCapability(6, 2), ComputeCapability(7, 2), ComputeCapability(8, 7), _THOR_BEFORE_13}
)
# ... until CUDA 13.2 made one platform of servers and Jetson for these.
_UNIFIED = frozenset({ComputeCapability(7, 0), ComputeCapability(8, 0), ComputeCapability(8, 6)})
UNIFIED_FROM = Version((13, 2))


class DriverFit(str, Enum):
    """Whether a driver serves a GPU: it does, it is older than the GPU, it dropped the GPU, or that is not known."""

    FINE = "fine"
    TOO_OLD = "too-old"
    DROPPED = "dropped"
    UNKNOWN = "unknown"


class ToolkitMatch(str, Enum):
    """How the toolkit that compiles an extension stands to the CUDA that torch was built with."""

    SAME = "same"
    MINOR_DIFFERS = "minor-differs"
    MAJOR_DIFFERS = "major-differs"


class CodePath(str, Enum):
    """How a program's GPU code comes to run on a GPU: as it is, compiled by the driver first, or not at all."""

    NATIVE = "native"
    COMPILED_BY_DRIVER = "compiled-by-driver"
    DRIVER_TOO_OLD_TO_COMPILE = "driver-too-old-to-compile"
    NONE = "none"


def cubin_runs(capability: ComputeCapability, target: Target, *, cuda: Version | None = None) -> bool:
    """Whether finished machine code runs on a GPU; `cuda` is the release that it was built with, None where not known."""
    if target.code is not Code.CUBIN:
        return False
    device, code = capability, target.capability
    if device == code or (code, device) == (_THOR_BEFORE_13, _THOR):
        return True
    if target.suffix == "a" or code.major != device.major or code.minor > device.minor or code in _JETSON:
        return False
    return device not in _JETSON or (cuda is not None and cuda >= UNIFIED_FROM and code in _UNIFIED)


def ptx_runs(capability: ComputeCapability, target: Target) -> bool:
    """Whether the driver can compile this PTX for a GPU: any newer one, but an `a` variant its own chip, an `f` its family."""
    if target.code is not Code.PTX:
        return False
    device, code = _canonical(capability), _canonical(target.capability)
    if target.suffix == "a":
        return device == code
    return device >= code and (target.suffix != "f" or device.major == code.major)


def kernels_run(capability: ComputeCapability, targets: Iterable[Target], *, cuda: Version | None = None) -> bool:
    """Whether any of a program's GPU code runs on a GPU."""
    return any(cubin_runs(capability, target, cuda=cuda) or ptx_runs(capability, target) for target in targets)


def way_to_run(
    capability: ComputeCapability, targets: Iterable[Target], *, cuda: Version | None = None, driver_cuda: Version | None = None
) -> CodePath:
    """How the code of a program built with CUDA `cuda` comes to run on a GPU under a driver that offers `driver_cuda`."""
    every = tuple(targets)
    if any(cubin_runs(capability, target, cuda=cuda) for target in every):
        return CodePath.NATIVE
    if not any(ptx_runs(capability, target) for target in every):
        return CodePath.NONE
    if cuda is not None and driver_cuda is not None and not driver_compiles_ptx(driver_cuda, cuda):
        return CodePath.DRIVER_TOO_OLD_TO_COMPILE
    return CodePath.COMPILED_BY_DRIVER


def driver_floor(cuda: Version) -> Version:
    """The oldest driver that runs programs of a CUDA release; for a release newer than known here, what it needs at least."""
    newest = max(_FLOOR_OF_MAJOR)
    if cuda.release.parts in _FLOOR_OF_RELEASE:
        return Version.parse(_FLOOR_OF_RELEASE[cuda.release.parts])
    if cuda.major in _FLOOR_OF_MAJOR or cuda.major > newest:
        return Version.parse(_FLOOR_OF_MAJOR[min(cuda.major, newest)])
    older = [release for release in _FLOOR_OF_RELEASE if release <= cuda.release.parts]
    return Version.parse(_FLOOR_OF_RELEASE[max(older, default=min(_FLOOR_OF_RELEASE))])


def windows_driver_floor(cuda: Version) -> Version | None:
    """The oldest driver for Windows, and so for WSL2, that runs programs of a CUDA release; None where none is published."""
    floor = _WINDOWS_FLOORS.get(cuda.parts[:1]) or _WINDOWS_FLOORS.get(cuda.release.parts)
    return Version.parse(floor) if floor else None


def driver_serves_cuda(driver: Version, cuda: Version) -> bool:
    """Whether a driver runs programs of a CUDA release; PTX that it has to compile is another matter (`driver_compiles_ptx`)."""
    return _reaches(driver, driver_floor(cuda))


def driver_compiles_ptx(driver_cuda: Version, cuda: Version) -> bool:
    """Whether a driver whose own CUDA is `driver_cuda` can compile PTX that a toolkit of release `cuda` wrote."""
    return driver_cuda.release >= cuda.release


def driver_serves_gpu(driver: Version, architecture: ArchitectureRecord, chip: str = "") -> DriverFit:
    """Whether a driver serves the GPUs of an architecture, or one chip of it (its first driver is that of its first chip)."""
    chips = [one for one in architecture.chips if not chip or one.chip == chip]
    if architecture.last_branch is not None and driver.major > architecture.last_branch:
        return DriverFit.DROPPED
    if chip and (not chips or (chips[0].integrated and chips[0].first_driver is None)):
        return DriverFit.UNKNOWN
    firsts = [one.first_driver for one in chips if one.first_driver is not None]
    return DriverFit.TOO_OLD if firsts and not _reaches(driver, min(firsts)) else DriverFit.FINE


def toolkit_builds_for(targets: Iterable[Target], capability: ComputeCapability) -> bool:
    """Whether a toolkit that lists these knows the GPU's own architecture."""
    return any(not target.suffix and _canonical(target.capability) == _canonical(capability) for target in targets)


def nearest_target(targets: Iterable[Target], capability: ComputeCapability) -> Target | None:
    """The newest architecture of a toolkit's list whose machine code, or else whose PTX, runs on the GPU."""
    plain = [target.capability for target in targets if not target.suffix]
    cubins = [one for one in plain if cubin_runs(capability, Target(one, Code.CUBIN))]
    older = [one for one in plain if ptx_runs(capability, Target(one, Code.PTX))]
    if cubins:
        return Target(max(cubins), Code.CUBIN)
    return Target(max(older), Code.PTX) if older else None


def first_toolkit_for(capability: ComputeCapability, toolkits: Iterable[ToolkitRecord]) -> Version | None:
    """The first CUDA release whose nvcc knows an architecture."""
    return min(_releases_for(capability, toolkits), default=None)


def last_toolkit_for(capability: ComputeCapability, toolkits: Iterable[ToolkitRecord]) -> Version | None:
    """The last CUDA release whose nvcc knows an architecture; None where the newest still does, or where none ever did."""
    every = tuple(toolkits)
    return _last(_releases_for(capability, every), every)


def toolkit_name_of(toolkit: ToolkitRecord, target: Target) -> Target | None:
    """What nvcc of a release calls a target: sm_110a is sm_101a to 12.8; None where it does not know it.

    A variant is an architecture of its own here: that a toolkit knows sm_90 does not mean that it knows sm_90a.
    """
    wanted = _canonical(target.capability)
    names = (one for one in toolkit.codes if one.suffix == target.suffix and _canonical(one.capability) == wanted)
    found = next(names, None)
    return None if found is None else Target(found.capability, target.code, found.suffix)


def first_toolkit_for_target(target: Target, toolkits: Iterable[ToolkitRecord]) -> Version | None:
    """The first CUDA release whose nvcc knows a target with its variant, under whatever name."""
    return min(_releases_for_target(target, toolkits), default=None)


def last_toolkit_for_target(target: Target, toolkits: Iterable[ToolkitRecord]) -> Version | None:
    """The last CUDA release whose nvcc knows a target with its variant; None as for `last_toolkit_for`."""
    every = tuple(toolkits)
    return _last(_releases_for_target(target, every), every)


def gcc_fits(limit: int, gcc: Version) -> bool:
    """Whether nvcc accepts a gcc: it compares the major version alone."""
    return gcc.major <= limit


def glibc_clashes(clash: Version | None, glibc: Version) -> bool:
    """Whether a C library is one whose headers clash with a toolkit's (`ToolkitRecord.glibc_clash`), whichever gcc compiles."""
    return clash is not None and glibc.release >= clash


def is_jetson(capability: ComputeCapability) -> bool:
    """Whether only chips of Jetson modules (and their like in cars) have this capability."""
    return capability in _JETSON or capability == _THOR


def extension_buildable(torch_cuda: Version, toolkit: Version) -> ToolkitMatch:
    """Whether torch's extension builder accepts a toolkit: the major must agree, a differing minor is a warning."""
    if torch_cuda.major != toolkit.major:
        return ToolkitMatch.MAJOR_DIFFERS
    return ToolkitMatch.SAME if torch_cuda.release == toolkit.release else ToolkitMatch.MINOR_DIFFERS


def _reaches(driver: Version, floor: Version) -> bool:
    """Whether a driver is as new as another; of one that is known by its branch alone (580), the whole branch counts."""
    return driver.parts >= floor.parts[: len(driver.parts)]


def _releases_for(capability: ComputeCapability, toolkits: Iterable[ToolkitRecord]) -> tuple[Version, ...]:
    return tuple(one.release for one in toolkits if toolkit_builds_for(one.targets, capability))


def _releases_for_target(target: Target, toolkits: Iterable[ToolkitRecord]) -> tuple[Version, ...]:
    return tuple(one.release for one in toolkits if toolkit_name_of(one, target) is not None)


def _last(releases: tuple[Version, ...], every: tuple[ToolkitRecord, ...]) -> Version | None:
    newest = max((one.release for one in every), default=None)
    last = max(releases, default=None)
    return None if last == newest else last


def _canonical(capability: ComputeCapability) -> ComputeCapability:
    """CUDA 12.8 and 12.9 call Thor 10.1; from 13.0 on it is 11.0."""
    return _THOR if capability == _THOR_BEFORE_13 else capability


# Which CUDA release first knew an architecture, and which last, where that was before the first release whose record is here.
class EarlyToolkits(Struct, frozen=True):
    """The releases for one compute capability; None where not known, and of `last` where a release with a record is the last."""

    capability: ComputeCapability
    first: Version | None
    last: Version | None
    source: str
    checked: str


# What a driver branch is to an architecture: whether it serves it, and with which of the two kernel modules.
# NVIDIA driver installation guide, kernel modules: two kinds of them since R515; the edition for R620 knows the open ones alone.
FIRST_WITH_OPEN = 515
FIRST_WITHOUT_PROPRIETARY = 620


class KernelFlavour(str, Enum):
    """Which kernel module of a driver an architecture can run on."""

    PROPRIETARY = "proprietary"
    OPEN = "open"
    EITHER = "either"


class CompatPackage(Struct, frozen=True):
    """A `cuda-compat` package: the libcuda of a newer driver for data-centre GPUs. `branches` are the drivers that it works on;
    it was made from `built_from`, on which it is not needed, and is of no use on newer ones.
    """

    cuda: Version
    built_from: int
    branches: tuple[int, ...]
    source: str
    checked: str

    @property
    def name(self) -> str:
        """What package managers call it: `cuda-compat-12-8`."""
        return "cuda-compat-" + "-".join(map(str, self.cuda.parts))


def serves(branch: int, architectures: Iterable[ArchitectureRecord]) -> tuple[tuple[ArchitectureRecord, KernelFlavour], ...]:
    """The architectures that a branch serves, each with the kernel module for it; a branch serves what its newest drivers do."""
    fit = {DriverFit.FINE, DriverFit.UNKNOWN}
    reached = (one for one in architectures if driver_serves_gpu(Version((branch,)), one) in fit)
    return tuple((one, module) for one in reached if (module := kernel_module(branch, one.module)))


def kernel_module(branch: int, flavour: ModuleFlavour) -> KernelFlavour | None:
    """The kernel module for a GPU of that flavour; None where the branch has none for it."""
    has_open, has_closed = branch >= FIRST_WITH_OPEN, branch < FIRST_WITHOUT_PROPRIETARY
    can_open = has_open and flavour is not ModuleFlavour.OPEN_IMPOSSIBLE
    can_closed = has_closed and flavour is not ModuleFlavour.OPEN_REQUIRED
    if can_open and can_closed:
        return KernelFlavour.EITHER
    if can_open:
        return KernelFlavour.OPEN
    return KernelFlavour.PROPRIETARY if can_closed else None
