"""Choosing among what fits: a toolkit (installed, or to install), a driver branch, a torch build, for all GPUs of a machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum

from msgspec import Struct

from gpuassist.knowledge.compatibility import (
    DriverFit,
    ToolkitMatch,
    driver_compiles_ptx,
    driver_floor,
    driver_serves_cuda,
    driver_serves_gpu,
    extension_buildable,
    gcc_fits,
    glibc_clashes,
    is_jetson,
    kernels_run,
    toolkit_builds_for,
)
from gpuassist.knowledge.records import (
    ArchitectureRecord,
    BranchKind,
    BranchRecord,
    ImageFamily,
    ImageRecord,
    ModuleFlavour,
    ToolkitRecord,
    TorchBuild,
)
from gpuassist.model.fact import Known, value_or
from gpuassist.model.toolkit import Toolkit
from gpuassist.model.version import Code, ComputeCapability, Target, Version

TORCH_INDEX = "https://download.pytorch.org/whl/"


class Obstacle(str, Enum):
    """What keeps every torch build from serving the machine; `JETSON_WHEELS`: a Jetson whose driver, which is part of its system,
    is too old for them: NVIDIA's own index has torch for it. `C_LIBRARY`: the wheels are made for systems with a newer glibc.
    """

    RELEASE_UNKNOWN = "release-unknown"
    NO_BUILD_FOR_GPU = "no-build-for-gpu"
    NO_BUILD_FOR_ALL_GPUS = "no-build-for-all-gpus"
    JETSON_WHEELS = "jetson-wheels"
    DRIVER_TOO_OLD = "driver-too-old"
    PYTHON = "python"
    C_LIBRARY = "c-library"


class BuildHost(Struct, frozen=True):
    """What a torch build has to fit beside the GPUs; None where it is not known, and then does not count against any build.
    `driver_cuda` is the driver's own CUDA: what it cannot compile does not run.
    """

    machine: str = "x86_64"
    driver: Version | None = None
    python: Version | None = None
    driver_cuda: Version | None = None
    glibc: Version | None = None


class TorchChoice(Struct, frozen=True):
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


class InstalledToolkit(Struct, frozen=True):
    """What choosing needs to know of an installed toolkit; None where neither it nor the release's record says."""

    root: str
    version: Version
    targets: tuple[Target, ...]
    gcc_limit: int | None = None
    glibc_clash: Version | None = None


class Workload(Struct, frozen=True):
    """What a toolkit shall compile for, and with what; None is not known, and then does not count against any toolkit."""

    capabilities: tuple[ComputeCapability, ...]
    gcc: Version | None = None
    glibc: Version | None = None
    torch_cuda: Version | None = None
    driver: Version | None = None
    driver_cuda: Version | None = None


class GpuWish(Struct, frozen=True):
    """A GPU that a driver shall serve; `module` is its own where it differs from its architecture's (GH200)."""

    architecture: ArchitectureRecord
    chip: str = ""
    module: ModuleFlavour | None = None

    @property
    def flavour(self) -> ModuleFlavour:
        """Whether it needs the open kernel modules."""
        return self.module or self.architecture.module


class DriverChoice(Struct, frozen=True):
    """Which branches serve all GPUs, and the one to install; none of either where no one driver does (`split`: old GPUs that need
    the proprietary module beside new ones that need the open one).
    """

    branches: tuple[BranchRecord, ...]
    best: BranchRecord | None
    open_module: bool
    split: bool = False


def choose_torch(
    builds: Iterable[TorchBuild], capabilities: Sequence[ComputeCapability], host: BuildHost, *, release: Version | None = None
) -> TorchChoice:
    """The newest torch whose build runs on every GPU, under this driver and Python; of several, the one that pip itself takes."""
    offered = [one for one in builds if one.cuda is not None and one.machine == host.machine]
    offered = [one for one in offered if release is None or one.release == release.release]
    if not offered:
        return TorchChoice(None, Obstacle.RELEASE_UNKNOWN)
    running = [one for one in offered if all(_runs(one, capability) for capability in capabilities)]
    if not running:
        single = all(any(_runs(one, capability) for one in offered) for capability in capabilities)
        return TorchChoice(None, Obstacle.NO_BUILD_FOR_ALL_GPUS if single else Obstacle.NO_BUILD_FOR_GPU)
    loadable = [one for one in running if host.glibc is None or one.glibc is None or host.glibc >= one.glibc]
    if not loadable:
        return TorchChoice(_preferred(running), Obstacle.C_LIBRARY)
    served = [one for one in loadable if _served(one, capabilities, host)]
    fitting = [one for one in served if host.python is None or host.python.release in one.pythons]
    if fitting:
        return TorchChoice(_preferred(fitting))
    if served:
        return TorchChoice(_preferred(served), Obstacle.PYTHON)
    on_jetson = any(is_jetson(capability) for capability in capabilities)
    return TorchChoice(_preferred(loadable), Obstacle.JETSON_WHEELS if on_jetson else Obstacle.DRIVER_TOO_OLD)


def installed(toolkit: Toolkit, record: ToolkitRecord | None) -> InstalledToolkit | None:
    """An installed toolkit with what it says of itself, and else with what is known of its release; None without a version."""
    if not isinstance(toolkit.version, Known):
        return None
    targets, gcc_limit = record.targets if record else (), record.gcc_limit if record else None
    return InstalledToolkit(
        toolkit.root,
        toolkit.version.value,
        value_or(toolkit.targets, targets),
        toolkit.gcc_limit.value if isinstance(toolkit.gcc_limit, Known) else gcc_limit,
        record.glibc_clash if record else None,
    )


def choose_installed_toolkit(toolkits: Iterable[InstalledToolkit], workload: Workload) -> InstalledToolkit | None:
    """The installed toolkit that serves every GPU, compilers and driver: nearest to torch's CUDA first, then one whose plain
    programs the driver runs, then the newest.
    """
    fitting = [one for one in toolkits if toolkit_fits(one, one.version, workload)]
    return max(
        fitting,
        key=lambda one: (_match(one.version, workload), runs_plainly(one.version.release, workload), one.version),
        default=None,
    )


def choose_toolkit_release(toolkits: Iterable[ToolkitRecord], workload: Workload) -> Version | None:
    """The CUDA release to install, by the same measure; None where no release serves them all."""
    fitting = [one.release for one in toolkits if toolkit_fits(one, one.release, workload)]
    return max(fitting, key=lambda release: (_match(release, workload), runs_plainly(release, workload), release), default=None)


def runs_plainly(release: Version, workload: Workload) -> bool:
    """Whether the driver also runs what plain `nvcc file.cu` makes: PTX, which it must be new enough to compile."""
    return workload.driver_cuda is None or driver_compiles_ptx(workload.driver_cuda, release)


def choose_driver(
    branches: Iterable[BranchRecord], gpus: Sequence[GpuWish], *, today: str, cuda: Version | None = None, one_module: bool = True
) -> DriverChoice:
    """Which branches serve all GPUs, and programs of a CUDA release where one is named. The best is alive on `today` (ISO 8601),
    long-term or production, and new. `one_module` is false where no Linux kernel module is involved (WSL2: the Windows driver).
    """
    needs_open = any(gpu.flavour is ModuleFlavour.OPEN_REQUIRED for gpu in gpus)
    needs_closed = any(gpu.flavour is ModuleFlavour.OPEN_IMPOSSIBLE for gpu in gpus)
    if one_module and needs_open and needs_closed:
        return DriverChoice((), None, open_module=False, split=True)
    serving = tuple(
        one
        for one in branches
        if all(_serves(one.branch, gpu) for gpu in gpus) and (cuda is None or driver_serves_cuda(Version((one.branch,)), cuda))
    )
    steady = {BranchKind.PRODUCTION, BranchKind.LONG_TERM, BranchKind.LEGACY}
    best = max(serving, key=lambda one: (not one.has_ended(today), one.kind in steady, one.branch), default=None)
    return DriverChoice(serving, best, open_module=not needs_closed)


def _runs(build: TorchBuild, capability: ComputeCapability) -> bool:
    return kernels_run(capability, build.targets, cuda=build.cuda)


def _served(build: TorchBuild, capabilities: Sequence[ComputeCapability], host: BuildHost) -> bool:
    """Whether the driver runs the build, and compiles what of it is PTX for these GPUs."""
    if build.cuda is None or (host.driver is not None and not driver_serves_cuda(host.driver, build.cuda)):
        return False
    if host.driver_cuda is None or driver_compiles_ptx(host.driver_cuda, build.cuda):
        return True
    cubins = tuple(target for target in build.targets if target.code is Code.CUBIN)
    return all(kernels_run(capability, cubins, cuda=build.cuda) for capability in capabilities)


def _preferred(builds: Iterable[TorchBuild]) -> TorchBuild:
    """The newest release; within it pip's own, else the newest CUDA that RELEASE.md does not call experimental: the one before."""
    return max(builds, key=lambda one: (one.release, one.default, one.cuda or Version(())))


def toolkit_fits(toolkit: InstalledToolkit | ToolkitRecord, version: Version, workload: Workload) -> bool:
    """Whether a toolkit builds for every GPU, with this compiler and C library, programs that this driver runs."""
    gcc, glibc, driver = workload.gcc, workload.glibc, workload.driver
    return (
        all(toolkit_builds_for(toolkit.targets, capability) for capability in workload.capabilities)
        and (gcc is None or toolkit.gcc_limit is None or gcc_fits(toolkit.gcc_limit, gcc))
        and (glibc is None or not glibc_clashes(toolkit.glibc_clash, glibc))
        and (driver is None or driver_serves_cuda(driver, version))
    )


def _match(version: Version, workload: Workload) -> int:
    if workload.torch_cuda is None:
        return 0
    order = (ToolkitMatch.MAJOR_DIFFERS, ToolkitMatch.MINOR_DIFFERS, ToolkitMatch.SAME)
    return order.index(extension_buildable(workload.torch_cuda, version))


def _serves(branch: int, gpu: GpuWish) -> bool:
    """A branch serves a chip when its newest drivers do: a chip's first driver may be in the middle of its branch."""
    fit = driver_serves_gpu(Version((branch,)), gpu.architecture, gpu.chip)
    return fit in {DriverFit.FINE, DriverFit.UNKNOWN}


# Choosing NVIDIA's PyTorch image: the newest month that serves every GPU, under the driver that the host has.
_OF_SERVERS = (Target.parse("sm_80"), Target.parse("sm_110"))  # what PyTorch's wheels for ARM servers hold of Jetson's generations
_OLDEST = ComputeCapability(6, 0)  # what the notes of the months before 25 name


class ImageChoice(Struct, frozen=True):
    """`image` runs under the driver that is there; without one, `newer` is what a newer driver would run, if anything does.
    `driver` is what the publisher asks for either of them.
    """

    image: ImageRecord | None
    newer: ImageRecord | None = None
    driver: Version | None = None


class Images(Struct, frozen=True):
    """What there is to choose from."""

    images: tuple[ImageRecord, ...]
    toolkits: tuple[ToolkitRecord, ...]

    def choose(
        self,
        capabilities: Iterable[ComputeCapability],
        driver: Version | None,
        *,
        torch: Version | None = None,
        jetpack: Version | None = None,
    ) -> ImageChoice:
        """The newest month whose torch is the wanted one; on Jetson the `-igpu` image for its system, whose driver stays."""
        wanted = tuple(capabilities)
        fitting = [one for one in self._newest_first() if _is_torch(one, torch) and self._serves(one, wanted)]
        if jetpack is not None:
            own = [one for one in fitting if one.jetpack is not None and one.jetpack.major == jetpack.major]
            return ImageChoice(next(iter(own), None))
        # An image that is not for Jetson has code for it all the same where that of servers runs there.
        jetsons = [capability for capability in wanted if is_jetson(capability)]
        fitting = [one for one in fitting if all(kernels_run(chip, _OF_SERVERS, cuda=one.cuda) for chip in jetsons)]
        for one in fitting:
            needed = self.driver_for(one)
            if driver is not None and needed is not None and driver >= needed:
                return ImageChoice(one, driver=needed)
        newest = next(iter(fitting), None)
        return ImageChoice(None, newest, self.driver_for(newest) if newest else None)

    def driver_for(self, image: ImageRecord) -> Version | None:
        """The driver that runs an image on any GPU: what its notes ask for, else the one made for its CUDA."""
        if image.driver is not None:
            return image.driver
        record = self._toolkit(image)
        return record.native_driver if record else None

    def _toolkit(self, image: ImageRecord) -> ToolkitRecord | None:
        return next((one for one in self.toolkits if image.cuda and one.release == image.cuda.release), None)

    def _newest_first(self) -> list[ImageRecord]:
        own = (one for one in self.images if one.family is ImageFamily.NGC_PYTORCH)
        return sorted(own, key=lambda one: one.month, reverse=True)

    def _serves(self, image: ImageRecord, capabilities: tuple[ComputeCapability, ...]) -> bool:
        record = self._toolkit(image)
        # The oldest GPU that an image is made for; of a month whose notes are not known, that of the next that is.
        later = (one for one in reversed(self._newest_first()) if one.month >= image.month and one.capability_min is not None)
        oldest = next((one.capability_min for one in later if one.capability_min is not None), _OLDEST)
        return record is not None and all(one >= oldest and toolkit_builds_for(record.targets, one) for one in capabilities)


def _is_torch(image: ImageRecord, wanted: Version | None) -> bool:
    """Whether its torch is of the wanted release; that of a month is a step on the way to it (`2.6.0a0+…`)."""
    if wanted is None:
        return True
    return image.torch is not None and Version.parse(image.torch).parts[: len(wanted.parts)] == wanted.parts
