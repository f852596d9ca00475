"""The driver's packages of the distribution: what holds them, which halves they are, and the branch that an upgrade would bring."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from gpuassist.diagnose.case import KnownGpu, RuleInput
from gpuassist.knowledge.compatibility import DriverFit, driver_serves_gpu
from gpuassist.knowledge.driver_packages import Extent, Keeper
from gpuassist.knowledge.families import Family, packages_base, packages_family
from gpuassist.model.fact import Known, value_or
from gpuassist.model.holds import GpuRepository, HeldPart, HoldReach, PackageHold, SystemPackage
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.version import Version

_NUMBER = lazy_regex(r"(?:\d+:)?(\d{3}\.\d{2,3}(?:\.\d{2})?)(?!\d)")
_DEB = frozenset({Family.UBUNTU, Family.DEBIAN})

# Whole drivers by one package, on which dpkg's exact dependencies hang all the others.
_WHOLE = lazy_regex(
    r"nvidia-driver(?:-\d+)?(?:-server)?(?:-open)?\Z|nvidia-headless-\d|cuda-drivers(?:-\d+)?\Z|nvidia-open(?:-\d+)?\Z"
)
_LIBRARIES = lazy_regex(
    r"libnvidia-compute|libcuda1\Z|(?:lib32-)?nvidia(?:-\d+xx)?-utils|nvidia-driver-cuda|xorg-x11-drv-nvidia|nvidia-compute-G|"
    r"nvidia-driver-libs"
)
_MODULES = lazy_regex(
    r"nvidia(?:-\d+xx)?(?:-open)?-dkms|nvidia-dkms|nvidia-(?:open-)?kernel-(?:open-)?dkms|[ak]?kmod-nvidia|nvidia-.*kmp|"
    r"linux-modules-nvidia-\d+(?:-server)?(?:-open)?-(?!open|server)[a-z]|linux(?:\d+|-cachyos[a-z-]*)-nvidia"
)
# Modules whose packages have the kernel's version: Ubuntu builds them for each, CachyOS beside the kernel itself.
_OF_KERNEL = lazy_regex(r"linux-modules-nvidia-|linux-cachyos[a-z-]*-nvidia")
_OF_ARCH = frozenset({"nvidia", "nvidia-open", "nvidia-lts", "nvidia-open-lts"})  # modules that come built for one kernel


def named_version(package: SystemPackage) -> str:
    """The driver's own version in that of a package; empty where it has another."""
    found = _NUMBER.match(package.version)
    return found[1] if found is not None else ""


def branch_of(package: SystemPackage) -> int:
    return int(named_version(package)[:3] or 0)


class DriverPackages(Struct, frozen=True):
    """The installed packages of one driver. `version` is the driver's; `whole`, `libraries` and `modules` are those of its packages
    that bring all of it, its libraries, its kernel module; `kernels` are the kernel's packages whose module comes built.
    """

    version: str
    names: tuple[str, ...]
    whole: tuple[str, ...]
    libraries: tuple[str, ...]
    modules: tuple[str, ...]
    kernels: tuple[str, ...]


def driver_packages(case: RuleInput) -> DriverPackages | None:
    """None where no package brings a driver, or that is not known. Of several versions it is the one that runs, or has most."""
    installed = value_or(case.machine.system_packages.installed, ())
    driver = [one for one in installed if one.part is HeldPart.DRIVER]
    counts: dict[str, int] = {}
    for one in driver:
        if named_version(one):
            counts[named_version(one)] = counts.get(named_version(one), 0) + 1
    if not counts:
        return None
    running = str(value_or(case.driver, ""))
    version = running if running in counts else max(counts, key=lambda one: (counts[one], one))
    arch = _family(case) is Family.ARCH
    own = [one.name for one in driver if named_version(one) == version or _OF_KERNEL.match(one.name)]
    modules = tuple(name for name in own if _MODULES.match(name) or (arch and name in _OF_ARCH))
    whole = tuple(name for name in own if _WHOLE.match(name) and name not in modules)
    return DriverPackages(
        version,
        tuple(own),
        whole,
        tuple(name for name in own if _LIBRARIES.match(name)),
        modules,
        tuple(_kernels(case, modules)),
    )


_UBUNTU_MODULES = lazy_regex(r"linux-modules-nvidia-\d+(?:-server)?(?:-open)?-(?!open|server)(?P<flavour>[a-z][\w.-]*)")
_ARCH_MODULES = lazy_regex(r"(?:(?P<kernel>linux\d+|linux-cachyos[a-z-]*?)-)?nvidia(?:-open)?(?P<lts>-lts)?")


def _kernels(case: RuleInput, modules: tuple[str, ...]) -> Iterator[str]:
    """The packages that a kernel is upgraded by, for which the module comes built with it: each module fits one kernel."""
    kernels = [one.name for one in value_or(case.machine.system_packages.installed, ()) if one.part is HeldPart.KERNEL]
    for name in modules:
        ubuntu, arch = _UBUNTU_MODULES.fullmatch(name), _ARCH_MODULES.fullmatch(name)
        wanted: tuple[str, ...] = ()
        if ubuntu is not None:
            flavour = ubuntu["flavour"]
            wanted = (f"linux-{flavour}", f"linux-image-{flavour}", f"linux-headers-{flavour}")
        elif arch is not None and _family(case) is Family.ARCH:
            kernel = arch["kernel"] or f"linux{arch['lts'] or ''}"
            wanted = (kernel, f"{kernel}-headers")
        yield from (one for one in kernels if one in wanted)


# What holds them.


def holds_on_driver(case: RuleInput) -> tuple[PackageHold, ...]:
    """Those that keep an installed package of the driver from an upgrade that somebody asks for."""
    keeping = {HoldReach.EVERY_UPGRADE, HoldReach.OTHER_BRANCHES}
    found = driver_packages(case)
    names = set(found.names) if found is not None else set()
    return tuple(one for one in value_or(case.machine.holds, ()) if one.reach in keeping and names & set(one.covers))


def frozen(case: RuleInput) -> frozenset[str]:
    """The packages that no upgrade changes."""
    holds = (one for one in value_or(case.machine.holds, ()) if one.reach is HoldReach.EVERY_UPGRADE)
    return frozenset(name for one in holds for name in one.covers)


# What an upgrade would bring.


class NextDriver(Struct, frozen=True):
    """The branch that an upgrade of the installed packages brings, over which package, and what tells so; `repository` is NVIDIA's
    that it comes from, none where that is the distribution's own or RPM Fusion's.
    """

    branch: int
    package: SystemPackage
    told_by: str
    repository: GpuRepository | None = None


def next_driver(case: RuleInput) -> NextDriver | None:
    """None where the packages stay on their branch, or nobody knows: only what is known to come is told."""
    packages = {one.name: one for one in value_or(case.machine.system_packages.installed, ()) if one.part is HeldPart.DRIVER}
    if not packages or case.wsl or case.container:
        return None
    return next(
        (one for one in (*_led_on(case, packages), *_of_nvidia(case, packages)) if one.branch > branch_of(one.package)), None
    )


def _led_on(case: RuleInput, packages: dict[str, SystemPackage]) -> Iterator[NextDriver]:
    """Packages of the distribution or RPM Fusion that lead to another branch, or are always the newest."""
    base = _base(case)
    for row in case.knowledge.driver_packages():
        if (row.distribution, row.release) != base or row.holder is Keeper.NVIDIA or not row.brings:
            continue
        moves = row.extent is Extent.ROLLING or row.brings != row.branch
        name = _ROLLING.get((row.distribution, row.package), row.package)
        found = next((packages[one] for one in (name, f"{name}-open") if one in packages), None)
        if moves and found is not None and (row.extent is Extent.ROLLING or branch_of(found) == row.branch):
            yield NextDriver(row.brings, found, row.source.partition(":")[0])


# The package that is there whichever kernel module is: with branch 590 Arch exchanged nvidia for nvidia-open (its news of then).
_ROLLING = {("arch", "nvidia-open"): "nvidia-utils", ("manjaro", "nvidia-open"): "nvidia-utils"}

# NVIDIA's packages whose names have no branch, and those of apt whose branch is only a least one (cuda-drivers-580 takes 590 too).
_UNNUMBERED = ("cuda-drivers", "nvidia-open", "nvidia-driver", "nvidia-driver-open", "nvidia-driver-cuda")
_AT_LEAST = lazy_regex(r"cuda-drivers-\d{3}\Z")


def _of_nvidia(case: RuleInput, packages: dict[str, SystemPackage]) -> Iterator[NextDriver]:
    names = [*(one for one in _UNNUMBERED if one in packages), *(one for one in packages if _AT_LEAST.match(one))]
    if _family(case) is Family.UBUNTU:  # where cuda-drivers-580 hangs on packages of its branch's name
        names = [one for one in names if not _AT_LEAST.match(one)]
    if _family(case) not in {*_DEB, Family.FEDORA, Family.RHEL, Family.OPENSUSE}:
        return
    for repository in value_or(case.machine.system_packages.repositories, ()):
        newest = _newest(case, repository.name)
        if newest is not None and names:
            yield NextDriver(newest.major, packages[names[0]], repository.source, repository)


def _newest(case: RuleInput, name: str) -> Version | None:
    """The newest driver that is known to lie there: one that was seen, or that of a CUDA release that was."""
    architecture = {"x86_64": "x86_64", "aarch64": "sbsa"}.get(value_or(case.machine.host.architecture, "x86_64"), "")
    record = case.knowledge.repository(name, architecture)
    if record is None:
        return None
    toolkit = case.knowledge.toolkit(record.last_toolkit) if record.last_toolkit is not None else None
    seen = (record.first_driver, record.last_driver, toolkit.native_driver if toolkit is not None else None)
    return max((one for one in seen if one is not None), default=None)


def dropped_by(case: RuleInput, branch: int) -> tuple[KnownGpu, ...]:
    """The GPUs that the driver at hand serves, and that branch does not."""
    served = (card for card in case.usable if case.fit(card) is DriverFit.FINE and card.architecture is not None)
    later = Version((branch,))
    return tuple(
        card for card in served if card.architecture and driver_serves_gpu(later, card.architecture, card.chip) is DriverFit.DROPPED
    )


def is_kept_from(case: RuleInput, coming: NextDriver) -> bool:
    """Whether something holds what it would come over: the packages of a driver come together or not at all."""
    found = driver_packages(case)
    names = {coming.package.name, *(found.names if found is not None else ())}
    holds = (one for one in value_or(case.machine.holds, ()) if names & set(one.covers))
    return any(not one.lets_through(coming.branch) or _keeps_away(one, coming.repository) for one in holds)


def _keeps_away(hold: PackageHold, repository: GpuRepository | None) -> bool:
    if hold.reach is not HoldReach.ONE_REPOSITORY or repository is None:
        return False
    return hold.repository == repository.id or "nvidia" in hold.repository.lower() or repository.name in hold.repository


def _family(case: RuleInput) -> Family:
    distribution = case.machine.host.distribution
    return packages_family(distribution.value) if isinstance(distribution, Known) else Family.ANY


def _base(case: RuleInput) -> tuple[str, str]:
    distribution = case.machine.host.distribution
    return packages_base(distribution.value) if isinstance(distribution, Known) else ("", "")
