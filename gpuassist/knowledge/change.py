"""A machine as far as its parts must fit, what is asked of it, and what moves: the values of the smallest change."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from gpuassist.knowledge.choice import GpuWish, InstalledToolkit, Obstacle
from gpuassist.knowledge.driver_packages import Shelf
from gpuassist.knowledge.records import BranchRecord, ToolkitRecord, TorchBuild
from gpuassist.model.version import ComputeCapability, Target, Version


class Need(str, Enum):
    """How much a part matters: it must fit, it should where that is to be had, a line may mend it; it stays and the others should
    fit it; or it does not matter.
    """

    MUST = "must"
    SHOULD = "should"
    LINE = "line"
    KEEP = "keep"
    LEAVE = "leave"


class Blocker(str, Enum):
    """What keeps every combination from fitting."""

    SPLIT = "split"
    NO_DRIVER = "no-driver"
    DRIVER = "driver"
    TORCH = "torch"
    TOOLKIT = "toolkit"


class TorchThere(Struct, frozen=True):
    """An installed torch: `targets` is None where not known, `cuda` None for a CPU build or where not known."""

    version: Version
    tag: str
    cuda: Version | None
    targets: tuple[Target, ...] | None
    cpu: bool = False


class Configuration(Struct, frozen=True):
    """A machine as far as parts must fit: None is not there or not known. `one_module` is false under WSL2, `driver_fixed`
    where the driver is part of a system image (Jetson) or belongs to its host's (vGPU), `tegra` where it takes builds of its own
    (before JetPack 7); `gccs` are the other installed ones, `gcc_packages` the majors that its packages bring, None where nobody
    looked; `own_toolkit` is the CUDA release that the distribution itself has.
    `shelf` is what this system's packages hold of drivers, None where no packages bring one (another system's driver, a provider's
    own).
    """

    gpus: tuple[GpuWish, ...]
    capabilities: tuple[ComputeCapability, ...]
    today: str
    machine: str = "x86_64"
    driver: Version | None = None
    open_module: bool | None = None
    one_module: bool = True
    driver_fixed: bool = False
    tegra: bool = False
    torch: TorchThere | None = None
    python: Version | None = None
    toolkit: InstalledToolkit | None = None
    toolkits: tuple[InstalledToolkit, ...] = ()
    gcc: Version | None = None
    gccs: tuple[Version, ...] = ()
    gcc_packages: tuple[int, ...] | None = None
    glibc: Version | None = None
    own_toolkit: Version | None = None
    shelf: Shelf | None = None


class Constraints(Struct, frozen=True):
    """What shall be: versions that are pinned, and how much each part matters; `torch_tag` is `cu128`, empty for any.
    `driver` is by the numbers of Linux, `driver_number` the number that was asked for where that is another and not the one there;
    `newest_driver`: a driver that fits stays only where no newer branch does.
    """

    driver: Version | None = None
    driver_number: Version | None = None
    torch: Version | None = None
    torch_tag: str = ""
    toolkit: Version | None = None
    driver_need: Need = Need.MUST
    torch_need: Need = Need.LEAVE
    toolkit_need: Need = Need.LEAVE
    newest_driver: bool = False


class Stock(Struct, frozen=True):
    """What there is to choose from."""

    branches: tuple[BranchRecord, ...]
    builds: tuple[TorchBuild, ...]
    toolkits: tuple[ToolkitRecord, ...]


class DriverMove(Struct, frozen=True):
    """A driver to install: the best branch, or (`pinned`) the version that was asked for; `asked` is that where the packages of
    its branch bring another one, which `version` then is.
    """

    version: Version
    open_module: bool
    pinned: bool = False
    asked: Version | None = None


class TorchMove(Struct, frozen=True):
    """A build to install; `python` is that of a new environment, None where the present one will do."""

    build: TorchBuild
    python: Version | None = None


class ToolkitMove(Struct, frozen=True):
    """A toolkit for new terminals: one that is there (`root`), or one to install."""

    release: Version
    root: str = ""


class GccMove(Struct, frozen=True):
    """A host compiler for nvcc: by its major; one that is there, or one to install."""

    version: Version
    there: bool


class VersionChange(Struct, frozen=True):
    """What moves; None stays. `left` are parts that do not fit and are left so, because nothing fits or they matter less."""

    driver: DriverMove | None = None
    torch: TorchMove | None = None
    toolkit: ToolkitMove | None = None
    gcc: GccMove | None = None
    left: tuple[Blocker, ...] = ()
    cost: int = 0


class SmallestChange(Struct, frozen=True):
    """The change, or the blockers that stand in its way; `obstacle` is torch's, `without` the build that would do without it."""

    change: VersionChange | None
    blockers: tuple[Blocker, ...] = ()
    obstacle: Obstacle | None = None
    without: TorchBuild | None = None
