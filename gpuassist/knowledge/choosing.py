"""Choosing among what fits: the installed toolkit, the toolkit and driver to install, the torch build, for all GPUs of a machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from gpuassist.knowledge.compatibility import (
    DriverFit,
    ToolkitMatch,
    driver_floor,
    driver_serves_cuda,
    driver_serves_gpu,
    extension_buildable,
    gcc_fits,
    glibc_clashes,
    kernels_run,
    toolkit_builds_for,
)
from gpuassist.knowledge.records import ArchitectureRecord, BranchKind, BranchRecord, ModuleFlavour, ToolkitRecord, TorchBuild
from gpuassist.model.version import ComputeCapability, Target, Version

TORCH_INDEX = "https://download.pytorch.org/whl/"


class Obstacle(str, Enum):
    """What keeps every torch build from serving the machine."""

    RELEASE_UNKNOWN = "release-unknown"
    NO_BUILD_FOR_GPU = "no-build-for-gpu"
    NO_BUILD_FOR_ALL_GPUS = "no-build-for-all-gpus"
    DRIVER_TOO_OLD = "driver-too-old"
    PYTHON = "python"


@dataclass(frozen=True, slots=True)
class Host:
    """What a torch build has to fit beside the GPUs; None where it is not known, and then does not count against any build."""

    machine: str = "x86_64"
    driver: Version | None = None
    python: Version | None = None


@dataclass(frozen=True, slots=True)
class TorchChoice:
    """The build to install, or the first obstacle; behind an obstacle of driver or Python `build` is what would do without it."""

    build: TorchBuild | None
    obstacle: Obstacle | None = None

    @property
    def driver_floor(self) -> Version | None:
        """The oldest driver that runs the build."""
        return driver_floor(self.build.cuda) if self.build and self.build.cuda else None

    @property
    def index(self) -> str:
        """The index to install it from."""
        return TORCH_INDEX + self.build.tag if self.build else ""


@dataclass(frozen=True, slots=True)
class InstalledToolkit:
    """What choosing needs to know of an installed toolkit; `gcc_limit` None where its header was not read."""

    root: str
    version: Version
    targets: tuple[Target, ...]
    gcc_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """What a toolkit shall compile for, and with: None where not known or not of interest."""

    capabilities: tuple[ComputeCapability, ...]
    gcc: Version | None = None
    glibc: Version | None = None
    torch_cuda: Version | None = None


@dataclass(frozen=True, slots=True)
class GpuWish:
    """A GPU that a driver shall serve; `module` is its own where it differs from its architecture's (GH200)."""

    architecture: ArchitectureRecord
    chip: str = ""
    module: ModuleFlavour | None = None

    @property
    def flavour(self) -> ModuleFlavour:
        """Whether it needs the open kernel modules."""
        return self.module or self.architecture.module


@dataclass(frozen=True, slots=True)
class DriverChoice:
    """Which branches serve all GPUs, and the one to install; none of either where no one driver does (`split`: old GPUs that need
    the proprietary module beside new ones that need the open one).
    """

    branches: tuple[BranchRecord, ...]
    best: BranchRecord | None
    open_module: bool
    split: bool = False


def choose_torch(
    builds: Iterable[TorchBuild], capabilities: Sequence[ComputeCapability], host: Host, *, release: Version | None = None
) -> TorchChoice:
    """The newest torch whose build runs on every GPU, under this driver and Python; of several, the one that pip takes by itself."""
    offered = [one for one in builds if one.cuda is not None and one.machine == host.machine]
    offered = [one for one in offered if release is None or one.release == release.release]
    if not offered:
        return TorchChoice(None, Obstacle.RELEASE_UNKNOWN)
    running = [one for one in offered if all(_runs(one, capability) for capability in capabilities)]
    if not running:
        single = all(any(_runs(one, capability) for one in offered) for capability in capabilities)
        return TorchChoice(None, Obstacle.NO_BUILD_FOR_ALL_GPUS if single else Obstacle.NO_BUILD_FOR_GPU)
    served = [one for one in running if host.driver is None or (one.cuda and driver_serves_cuda(host.driver, one.cuda))]
    fitting = [one for one in served if host.python is None or host.python.release in one.pythons]
    if fitting:
        return TorchChoice(_preferred(fitting))
    if served:
        return TorchChoice(_preferred(served), Obstacle.PYTHON)
    return TorchChoice(_preferred(running), Obstacle.DRIVER_TOO_OLD)


def choose_installed_toolkit(installed: Iterable[InstalledToolkit], workload: Workload) -> InstalledToolkit | None:
    """The installed toolkit that builds for every GPU with the host compiler: of torch's CUDA major first, and of these the newest."""
    fitting = [one for one in installed if _builds_for_all(one.targets, workload) and _takes_gcc(one.gcc_limit, workload)]
    return max(fitting, key=lambda one: (_match(one.version, workload), one.version), default=None)


def choose_toolkit_release(
    toolkits: Iterable[ToolkitRecord], workload: Workload, *, driver: Version | None = None
) -> Version | None:
    """The CUDA release to install: one that builds for every GPU, fits compilers and C library, and whose programs the driver runs."""
    fitting = [
        one.release
        for one in toolkits
        if _builds_for_all(one.targets, workload)
        and _takes_gcc(one.gcc_limit, workload)
        and not (workload.glibc and glibc_clashes(one, workload.glibc))
        and (driver is None or driver_serves_cuda(driver, one.release))
    ]
    return max(fitting, key=lambda release: (_match(release, workload), release), default=None)


def choose_driver(
    branches: Iterable[BranchRecord], gpus: Sequence[GpuWish], *, today: str, one_module: bool = True
) -> DriverChoice:
    """Which branch serves all GPUs; `one_module` is false where no Linux kernel module is involved (WSL2: the Windows driver)."""
    needs_open = any(gpu.flavour is ModuleFlavour.OPEN_REQUIRED for gpu in gpus)
    needs_closed = any(gpu.flavour is ModuleFlavour.OPEN_IMPOSSIBLE for gpu in gpus)
    if one_module and needs_open and needs_closed:
        return DriverChoice((), None, open_module=False, split=True)
    serving = tuple(one for one in branches if all(_serves(one.branch, gpu) for gpu in gpus))
    best = max(serving, key=lambda one: (not one.has_ended(today), _steady(one), one.branch), default=None)
    return DriverChoice(serving, best, open_module=not needs_closed)


def _runs(build: TorchBuild, capability: ComputeCapability) -> bool:
    return kernels_run(capability, build.targets, cuda=build.cuda)


def _preferred(builds: Iterable[TorchBuild]) -> TorchBuild:
    """The newest release; within it pip's own, else the newest CUDA that RELEASE.md does not call experimental: the one before."""
    return max(builds, key=lambda one: (one.release, one.default, one.cuda or Version(())))


def _builds_for_all(targets: Iterable[Target], workload: Workload) -> bool:
    known = tuple(targets)
    return all(toolkit_builds_for(known, capability) for capability in workload.capabilities)


def _takes_gcc(limit: int | None, workload: Workload) -> bool:
    return limit is None or workload.gcc is None or gcc_fits(limit, workload.gcc)


def _match(version: Version, workload: Workload) -> int:
    if workload.torch_cuda is None:
        return 0
    order = (ToolkitMatch.MAJOR_DIFFERS, ToolkitMatch.MINOR_DIFFERS, ToolkitMatch.SAME)
    return order.index(extension_buildable(workload.torch_cuda, version))


def _serves(branch: int, gpu: GpuWish) -> bool:
    """A branch serves a chip when its last drivers do: the first of a chip may be in the middle of a branch."""
    fit = driver_serves_gpu(Version((branch, 999)), gpu.architecture, gpu.chip)
    return fit in {DriverFit.FINE, DriverFit.UNKNOWN}


def _steady(branch: BranchRecord) -> bool:
    return branch.kind in {BranchKind.PRODUCTION, BranchKind.LONG_TERM, BranchKind.LEGACY}
