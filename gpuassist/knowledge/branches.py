"""What a driver branch is to an architecture: whether it serves it, and with which of the two kernel modules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from gpuassist.knowledge.compatibility import DriverFit, driver_serves_gpu
from gpuassist.knowledge.records import ArchitectureRecord, ModuleFlavour
from gpuassist.model.version import Version

# NVIDIA driver installation guide, kernel modules: two kinds of them since R515; the edition for R620 knows the open ones alone.
FIRST_WITH_OPEN = 515
FIRST_WITHOUT_PROPRIETARY = 620


class KernelModule(str, Enum):
    """Which kernel module of a driver an architecture can run on."""

    PROPRIETARY = "proprietary"
    OPEN = "open"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class CompatPackage:
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

    def works_on(self, branch: int) -> bool:
        """Whether programs of its CUDA start on a driver of that branch with it, on a GPU that is allowed to."""
        return branch in self.branches


def serves(branch: int, architectures: Iterable[ArchitectureRecord]) -> tuple[tuple[ArchitectureRecord, KernelModule], ...]:
    """The architectures that a branch serves, each with the kernel module for it; a branch serves what its newest drivers do."""
    found = ((one, kernel_module(branch, one.module)) for one in architectures if _reaches(branch, one))
    return tuple((one, module) for one, module in found if module)


def kernel_module(branch: int, flavour: ModuleFlavour) -> KernelModule | None:
    """The kernel module for a GPU of that flavour; None where the branch has none for it."""
    has_open, has_closed = branch >= FIRST_WITH_OPEN, branch < FIRST_WITHOUT_PROPRIETARY
    can_open = has_open and flavour is not ModuleFlavour.OPEN_IMPOSSIBLE
    can_closed = has_closed and flavour is not ModuleFlavour.OPEN_REQUIRED
    if can_open and can_closed:
        return KernelModule.EITHER
    if can_open:
        return KernelModule.OPEN
    return KernelModule.PROPRIETARY if can_closed else None


def _reaches(branch: int, architecture: ArchitectureRecord) -> bool:
    return driver_serves_gpu(Version((branch,)), architecture) in {DriverFit.FINE, DriverFit.UNKNOWN}
