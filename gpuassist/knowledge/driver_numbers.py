"""Drivers with other numbers than those of Linux: Windows' own, which serves WSL2, and those that are part of a Jetson's system.

All that is known of drivers counts as Linux does; a driver of these is judged as the branch that it is of.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from gpuassist.knowledge.records import BranchRecord
from gpuassist.model.version import Version


class WindowsBranch(Struct, frozen=True):
    """How Windows numbers the drivers of a branch: what stands before the point (580, 581 and 582 of R580)."""

    branch: int
    majors: tuple[int, ...]
    source: str
    checked: str


class JetPackRecord(Struct, frozen=True):
    """A JetPack, the system of Jetson boards: the majors of Jetson Linux (`l4t`) and of its driver, the CUDA that its first release
    had, Ubuntu's release under it and its Python. NVIDIA has torch for it under `index` on pypi.jetson-ai-lab.io, built with
    `index_cuda`, or as one `wheel`; both are empty where neither is known.
    """

    release: Version
    l4t: tuple[int, ...]
    drivers: tuple[int, ...]
    cuda: Version
    system: str
    python: Version
    index: str
    index_cuda: Version | None
    wheel: str
    source: str
    checked: str


def windows_branch(
    number: Version, told: Sequence[WindowsBranch], branches: Sequence[BranchRecord], *, cuda: Version | None = None
) -> int | None:
    """The branch of a driver by Windows' number; of one that is not listed the branch whose CUDA the driver reports. None where
    neither tells. A number without a point that is a branch's is that branch: that is how branches are asked for.
    """
    if len(number.parts) == 1 and any(one.branch == number.major for one in branches):
        return number.major
    listed = next((one.branch for one in told if number.major in one.majors), None)
    if listed is not None or cuda is None:
        return listed
    return max((one.branch for one in branches if one.cuda is not None and one.cuda.release == cuda.release), default=None)


def branch_of_cuda(cuda: Version, branches: Sequence[BranchRecord]) -> int | None:
    """The newest branch that serves a CUDA release and none after it, which is what a driver that reports it is like."""
    fitting = [one for one in branches if one.cuda is not None and one.cuda <= cuda.release]
    return max(fitting, key=lambda one: (one.cuda or Version(()), one.branch)).branch if fitting else None


def jetpack_of(
    records: Sequence[JetPackRecord],
    *,
    l4t: str = "",
    driver: Version | None = None,
    cuda: Version | None = None,
    system: str = "",
) -> JetPackRecord | None:
    """The JetPack of a board, by the first that tells: Jetson Linux' release, the driver's number, its CUDA, Ubuntu's release.

    A driver from 580 on has a number that servers' drivers have too, and is JetPack 7's or a later one's all the same.
    """
    major = l4t.partition(".")[0].removeprefix("R")
    if major:
        return next((one for one in records if major in map(str, one.l4t)), None)
    if driver is not None:
        found = next((one for one in records if driver.major in one.drivers), None)
        if found is not None:
            return found
    if cuda is not None:
        of_major = [one for one in records if one.cuda.major == cuda.major]
        return of_major[-1] if of_major else None
    return next((one for one in records if system and one.system == system), None)
