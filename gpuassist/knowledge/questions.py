"""What people ask of versions, answered with the reason: what runs, what can be built, and what nvidia-smi's number means."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from gpuassist.knowledge.choice import InstalledToolkit
from gpuassist.knowledge.compatibility import (
    ToolkitMatch,
    cubin_runs,
    driver_compiles_ptx,
    driver_floor,
    driver_serves_cuda,
    extension_buildable,
    gcc_fits,
    glibc_clashes,
    ptx_runs,
    toolkit_builds_for,
)
from gpuassist.knowledge.records import ToolkitRecord
from gpuassist.model.text import Text, text
from gpuassist.model.version import ComputeCapability, Target, Version


class CodePath(str, Enum):
    """How a program's GPU code comes to run on a GPU: as it is, compiled by the driver first, or not at all."""

    NATIVE = "native"
    COMPILED_BY_DRIVER = "compiled-by-driver"
    DRIVER_TOO_OLD_TO_COMPILE = "driver-too-old-to-compile"
    NONE = "none"


class BuildBlocker(str, Enum):
    """What keeps an extension from being built."""

    MAJOR = "major"
    ARCHITECTURE = "architecture"
    GCC = "gcc"
    GLIBC = "glibc"


class Builder(Struct, frozen=True):
    """What an extension is built with; None is not known, and then does not stand in the way."""

    capabilities: tuple[ComputeCapability, ...]
    torch_cuda: Version | None = None
    gcc: Version | None = None
    glibc: Version | None = None


class CompatibilityRuling(Struct, frozen=True):
    """Whether something is forbidden, and why or why not."""

    forbidden: bool
    reason: Text


def way_to_run(
    capability: ComputeCapability, targets: Iterable[Target], *, cuda: Version | None = None, driver_cuda: Version | None = None
) -> CodePath:
    """How the code of a program built with CUDA `cuda` comes to run on a GPU under a driver that offers `driver_cuda`."""
    every = tuple(targets)
    if any(cubin_runs(capability, target, cuda=cuda) for target in every):
        return CodePath.NATIVE
    if not any(ptx_runs(capability, target) for target in every):
        return CodePath.NONE
    told = cuda is not None and driver_cuda is not None
    if told and cuda is not None and driver_cuda is not None and not driver_compiles_ptx(driver_cuda, cuda):
        return CodePath.DRIVER_TOO_OLD_TO_COMPILE
    return CodePath.COMPILED_BY_DRIVER


def bars_to_building(toolkit: ToolkitRecord | InstalledToolkit, version: Version, builder: Builder) -> tuple[BuildBlocker, ...]:
    """Everything that keeps torch's extension builder from working with a toolkit; empty where it works."""
    bars = {
        BuildBlocker.MAJOR: builder.torch_cuda is not None
        and extension_buildable(builder.torch_cuda, version) is ToolkitMatch.MAJOR_DIFFERS,
        BuildBlocker.ARCHITECTURE: not all(toolkit_builds_for(toolkit.targets, one) for one in builder.capabilities),
        BuildBlocker.GCC: builder.gcc is not None
        and toolkit.gcc_limit is not None
        and not gcc_fits(toolkit.gcc_limit, builder.gcc),
        BuildBlocker.GLIBC: builder.glibc is not None and glibc_clashes(toolkit.glibc_clash, builder.glibc),
    }
    return tuple(bar for bar, stands in bars.items() if stands)


def shown_cuda_forbids(shown: Version, cuda: Version, driver: Version | None = None) -> CompatibilityRuling:
    """Whether the `CUDA Version` of nvidia-smi forbids programs of a CUDA release; only the driver's own version can do that.

    The number is the newest CUDA interface of the driver (cuDriverGetVersion): no toolkit, and not the newest that runs.
    """
    floor = str(driver_floor(cuda))
    if driver is not None and not driver_serves_cuda(driver, cuda):
        return _forbidden(text("programs of CUDA {cuda} need driver {floor} or newer", cuda=str(cuda), floor=floor))
    if cuda.release <= shown.release:
        return _free(text("a driver runs programs of every CUDA that is not newer than its own"))
    if cuda.major == shown.major and cuda.major >= _MINOR_COMPATIBILITY:
        return _free(text("within CUDA {major} a driver runs newer minor releases as well, all but their PTX", major=cuda.major))
    if driver is not None:
        return _free(
            text("driver {driver} is new enough for CUDA {cuda}: {floor}", driver=str(driver), cuda=str(cuda), floor=floor)
        )
    return _forbidden(text("CUDA {cuda} is newer than all that this driver runs ({shown})", cuda=str(cuda), shown=str(shown)))


_MINOR_COMPATIBILITY = 11  # the first major with minor-version compatibility


def _forbidden(reason: Text) -> CompatibilityRuling:
    return CompatibilityRuling(forbidden=True, reason=reason)


def _free(reason: Text) -> CompatibilityRuling:
    return CompatibilityRuling(forbidden=False, reason=reason)
