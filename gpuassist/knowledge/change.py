"""A machine as far as its parts must fit, what is asked of it, and what moves: the values of the smallest change."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from gpuassist.knowledge.choice import GpuWish, InstalledToolkit, Obstacle
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


@dataclass(frozen=True, slots=True)
class TorchThere:
    """An installed torch: `targets` is None where not known, `cuda` None for a CPU build or where not known."""

    version: Version
    tag: str
    cuda: Version | None
    targets: tuple[Target, ...] | None
    cpu: bool = False


@dataclass(frozen=True, slots=True)
class Configuration:
    """A machine as far as parts must fit: None is not there or not known. `one_module` is false under WSL2, `driver_fixed`
    where the driver is part of a system image (Jetson); `gccs` are the other installed ones.
    """

    gpus: tuple[GpuWish, ...]
    capabilities: tuple[ComputeCapability, ...]
    today: str
    machine: str = "x86_64"
    driver: Version | None = None
    open_module: bool | None = None
    one_module: bool = True
    driver_fixed: bool = False
    torch: TorchThere | None = None
    python: Version | None = None
    toolkit: InstalledToolkit | None = None
    toolkits: tuple[InstalledToolkit, ...] = ()
    gcc: Version | None = None
    gccs: tuple[Version, ...] = ()
    glibc: Version | None = None


@dataclass(frozen=True, slots=True)
class Constraints:
    """What shall be: versions that are pinned, and how much each part matters; `torch_tag` is `cu128`, empty for any."""

    driver: Version | None = None
    torch: Version | None = None
    torch_tag: str = ""
    toolkit: Version | None = None
    driver_need: Need = Need.MUST
    torch_need: Need = Need.LEAVE
    toolkit_need: Need = Need.LEAVE


@dataclass(frozen=True, slots=True)
class Stock:
    """What there is to choose from."""

    branches: tuple[BranchRecord, ...]
    builds: tuple[TorchBuild, ...]
    toolkits: tuple[ToolkitRecord, ...]


@dataclass(frozen=True, slots=True)
class DriverMove:
    """A driver to install: the best branch, or (`pinned`) the version that was asked for."""

    version: Version
    open_module: bool
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class TorchMove:
    """A build to install; `python` is that of a new environment, None where the present one will do."""

    build: TorchBuild
    python: Version | None = None


@dataclass(frozen=True, slots=True)
class ToolkitMove:
    """A toolkit for new terminals: one that is there (`root`), or one to install."""

    release: Version
    root: str = ""


@dataclass(frozen=True, slots=True)
class GccMove:
    """A host compiler for nvcc: by its major; one that is there, or one to install."""

    version: Version
    there: bool


@dataclass(frozen=True, slots=True)
class VersionChange:
    """What moves; None stays. `left` are parts that do not fit and are left so, because nothing fits or they matter less."""

    driver: DriverMove | None = None
    torch: TorchMove | None = None
    toolkit: ToolkitMove | None = None
    gcc: GccMove | None = None
    left: tuple[Blocker, ...] = ()
    cost: int = 0


@dataclass(frozen=True, slots=True)
class SmallestChange:
    """The change, or the walls that stand in its way; `obstacle` is torch's, `without` the build that would do without it."""

    change: VersionChange | None
    walls: tuple[Blocker, ...] = ()
    obstacle: Obstacle | None = None
    without: TorchBuild | None = None
