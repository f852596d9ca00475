"""openSUSE and SUSE Linux Enterprise: packages of two generations from NVIDIA's own repository, the open modules signed by SUSE."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.install.drivers.packages import DistributionPackages, SigningKey, held, is_of_another_flavour
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.knowledge.driver_packages import Keeper
from gpuassist.model.machine import Distribution
from gpuassist.model.version import whole_number

if TYPE_CHECKING:
    from gpuassist.install.place import InstallPlace, System
    from gpuassist.knowledge.change import DriverMove

# Generation G06 holds branch 580, G07 the later ones (openSUSE Build Service, changes of nvidia-userspace-meta-G07).
_BRANCH_OF_G06, _FIRST_OF_G07 = 580, 590
# Leap and SLES of one code base share a repository from release 16 on, and Tumbleweed takes that (S. Dirsch, drivers of G07).
_ROLLING = {"opensuse-tumbleweed": "suse16"}
_REPOSITORIES = {"opensuse-leap 15": "opensuse15", "sles 15": "sles15", "opensuse-leap 16": "suse16", "sles 16": "suse16"}
_NAMES = {"opensuse-leap": "Leap", "opensuse-slowroll": "Slowroll"}  # SDB:NVIDIA drivers
_MICRO = "MicroOS"
_KINDS = frozenset({"default", "longterm", "rt", "azure", "64kb"})  # the kernels of openSUSE, each with a devel package


class OpenSuse(DistributionPackages):
    """NVIDIA's repository for the drivers is another than that for CUDA."""

    signing_key = SigningKey.BUILDING
    holders = (Keeper.NVIDIA_SUSE,)
    examples = (
        Distribution("opensuse-leap", ("suse", "opensuse"), "", "openSUSE Leap"),
        Distribution("opensuse-tumbleweed", ("suse", "opensuse"), "", "openSUSE Tumbleweed"),
    )
    releases = ("opensuse-tumbleweed",)

    def install(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """One branch of each generation."""
        record = held(move, place)
        older = record.branch == _BRANCH_OF_G06 if record is not None else move.pinned
        key = "driver-packages-proprietary" if not move.open_module else "driver-packages-open"
        if move.open_module and older:
            if move.version.major != _BRANCH_OF_G06:
                return ()
            key = "driver-packages-open-580"
        name = enterprise_name(place.system)
        package = repositories_package(place.system.distribution)
        if place.system.transactional:
            return (use("driver-repository-add-snapshot", package=package), use(f"{key}-snapshot"))
        added = use("driver-repository-add-sles", name=name) if name else use("driver-repository-add", package=package)
        return (added, use(key))

    def headers(self, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """Of the kernel's own kind: 6.18.9-1-longterm."""
        kind = place.system.kernel.rpartition("-")[2]
        if place.system.transactional:
            return ()
        return (use("kernel-headers-install-kind", kind=kind if kind in _KINDS else "default"),)

    def module_anew(self, place: InstallPlace, packages: tuple[str, ...]) -> tuple[UsedCommand, ...]:
        """The packages of its module once more, of whichever generation they are."""
        if place.system.transactional:
            return (use("module-rebuild-snapshot"),)
        return super().module_anew(place, packages)

    def library(self, branch: str) -> UsedCommand:
        older = (whole_number(branch) or _FIRST_OF_G07) < _FIRST_OF_G07
        return use("cuda-library-install-of", package=f"nvidia-compute-{'G06' if older else 'G07'}")

    def ask(self, move: DriverMove, place: InstallPlace) -> UsedCommand:
        """Generations before G06 were called after what they draw with: G05 is branch 470, G04 is 390."""
        older = {470: "x11-video-nvidiaG05 nvidia-computeG05", 390: "x11-video-nvidiaG04 nvidia-computeG04"}
        newer = "nvidia-driver-G06-kmp-meta nvidia-open-driver-G07-signed-kmp-meta"
        return use("driver-packages-ask", packages=older.get(move.version.major, newer))

    def removal(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """Neither two flavours nor two generations stand side by side."""
        there = place.system.driver
        if there is None:
            return ()
        another = (there.major >= _FIRST_OF_G07) != (move.version.major >= _FIRST_OF_G07)
        if not another and not is_of_another_flavour(move, place):
            return ()
        return (use("driver-packages-remove-snapshot" if place.system.transactional else "driver-packages-remove"),)

    def signed(self, move: DriverMove, place: InstallPlace) -> bool:
        """By SUSE, which may sign the open modules alone."""
        return move.open_module

    def repository(self, distribution: Distribution, *, wsl: int = 0) -> str:
        if distribution.id in _ROLLING:
            return _ROLLING[distribution.id]
        release = distribution.version_id.partition(".")[0]
        return _REPOSITORIES.get(f"{distribution.id} {release}", "") if whole_number(release) is not None else ""


PACKAGES = OpenSuse()


def repositories_package(distribution: str) -> str:
    """The package that adds the repository of NVIDIA's drivers."""
    micro = any(one in distribution for one in ("micro", "aeon", "kalpa"))
    return f"openSUSE-repos-{_MICRO if micro else _NAMES.get(distribution, 'Tumbleweed')}-NVIDIA"


def enterprise_name(system: System) -> str:
    """NVIDIA's name for a release of SUSE Linux Enterprise: `sle15sp7`, `sle16`; empty on any other system."""
    if system.distribution not in {"sles", "sled"}:
        return ""
    major, _, pack = system.release.partition(".")
    later = f".{pack}" if pack.strip("0") else ""
    return f"sle{major}sp{pack}" if major == "15" else f"sle{major}{later}"
