"""Which packages bring a driver onto a distribution, and what of another one goes first."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.install.cloud import cloud_uses
from gpuassist.install.place import InstallPlace
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.knowledge.families import Family

# Whose packages come from NVIDIA's own repository, because their distribution has none, or older ones.
_FROM_NVIDIA = frozenset({Family.DEBIAN, Family.RHEL})
_FIRST_G07 = 590  # openSUSE: the drivers of generation G06 end with branch 580
_LONG_TERM = 580  # the branch that AUR and openSUSE keep beside the newest
_FIRST_WITHOUT_STREAMS = 10  # RHEL has its packages of several branches in streams up to release 9
# NVIDIA's repository for Debian 13 began with 590 (NVIDIA/cuda-repo-management issues 38 and 40); Debian's own driver there is 550.
_WITHOUT_OLD_BRANCHES = frozenset({"debian13"})
_EPEL = "https://dl.fedoraproject.org/pub/epel/epel-release-latest-{major}.noarch.rpm"


def driver_uses(move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
    """The commands that install it; none where the family's packages hold no such driver."""
    rented = cloud_uses(move, place)
    if rented:
        return rented
    uses = {
        Family.UBUNTU: _ubuntu,
        Family.DEBIAN: _debian,
        Family.FEDORA: _fedora,
        Family.RHEL: _rhel,
        Family.ARCH: _arch,
        Family.OPENSUSE: _opensuse,
    }.get(place.family)
    return tuple(uses(move, place)) if uses is not None else ()


def removal(move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
    """What of the driver that is there has to go first."""
    if place.system.uninstaller:
        return (use("runfile-driver-remove"),)
    if _in_the_way(move, place):
        return (use("driver-packages-remove"),)
    return (use("driver-stream-reset"),) if place.family is Family.RHEL and _streams(place) and place.system.driver else ()


def signed(move: DriverMove, place: InstallPlace) -> bool:
    """Whether the modules come signed by the distribution."""
    asked = place.system.secure_boot is not False or any("server" in one.key for one in cloud_uses(move, place))
    return place.family is Family.UBUNTU and asked and bool(place.system.signed_modules) and not place.system.part


def _in_the_way(move: DriverMove, place: InstallPlace) -> bool:
    """Debian and Ubuntu exchange packages by themselves; the others' of another flavour or generation cannot be beside these."""
    system = place.system
    there, family = system.driver, place.family
    if there is None or family not in {Family.FEDORA, Family.RHEL, Family.ARCH, Family.OPENSUSE}:
        return False
    other = system.open_module is not None and system.open_module != move.open_module
    if family is Family.OPENSUSE:
        return other or (there.major >= _FIRST_G07) != (move.version.major >= _FIRST_G07)
    if family is Family.RHEL:
        return other or move.pinned
    if family is Family.FEDORA:
        return move.pinned or (not move.open_module and there.major != move.version.major)
    return _legacy(move, place) != (there.major <= _LONG_TERM)


def _ubuntu(move: DriverMove, place: InstallPlace) -> Iterator[UsedCommand]:
    branch, flavour = move.version.major, "open" if move.open_module else "proprietary"
    if signed(move, place):
        yield use(f"driver-install-signed-{flavour}", branch=branch, kernel=place.system.signed_modules)
    else:
        yield use(f"driver-install-{flavour}", branch=branch)


def _debian(move: DriverMove, place: InstallPlace) -> Iterator[UsedCommand]:
    if place.repository in _WITHOUT_OLD_BRANCHES and (move.pinned or not move.open_module):
        if not move.pinned:
            yield use("driver-install-proprietary")
    elif place.repository:
        yield _repository(place)
        yield use("kernel-headers-install")
        yield _of_nvidia(move)


def _fedora(move: DriverMove, place: InstallPlace) -> Iterator[UsedCommand]:
    if not (move.pinned and move.open_module):
        yield use(f"driver-install-{'open' if move.open_module else 'proprietary'}", branch=move.version.major)
    elif place.repository:
        yield _repository(place)
        yield _of_nvidia(move)


def _rhel(move: DriverMove, place: InstallPlace) -> Iterator[UsedCommand]:
    if not place.repository:
        return
    # The package that adds EPEL, from which the modules' builder (dkms) comes.
    name, major = place.system.distribution, place.system.major
    if name == "amzn" or not major:
        epel = ""
    elif name == "ol":
        epel = f"oracle-epel-release-el{major}"
    else:
        epel = _EPEL.format(major=major) if name == "rhel" else "epel-release"
    if epel:
        yield use("epel-add", package=epel)
    yield use("kernel-headers-install-uek" if "uek" in place.system.kernel else "kernel-headers-install")
    yield _repository(place)
    if _streams(place):
        yield use("driver-install-open-branch" if move.open_module and move.pinned else _plain(move), branch=move.version.major)
        return
    if move.pinned or not move.open_module:
        yield use("driver-version-lock", branch=move.version.major)
    yield use(f"driver-install-{'open' if move.open_module else 'proprietary'}-unpinned")


def _arch(move: DriverMove, place: InstallPlace) -> Iterator[UsedCommand]:
    kernel = place.system.arch_kernel
    if place.system.distribution == "manjaro" and not move.pinned:
        yield use("driver-install-mhwd")
        return
    if _legacy(move, place):
        yield use("kernel-headers-install-of", package=f"{kernel}-headers")
        yield use("driver-install-proprietary", branch=move.version.major)
    elif move.pinned or not move.open_module:
        return
    elif kernel == "linux":
        yield use("driver-install-open")
    elif kernel == "linux-lts":
        yield use("driver-install-open-lts")
    else:
        yield use("driver-install-open-dkms", package=f"{kernel}-headers")
    if place.system.nouveau:
        yield use("initramfs-rebuild")


def _opensuse(move: DriverMove, place: InstallPlace) -> Iterator[UsedCommand]:
    key = "driver-packages-open" if move.open_module else "driver-packages-proprietary"
    if move.open_module and move.pinned:
        if move.version.major != _LONG_TERM:
            return
        key = "driver-packages-open-580"
    enterprise = place.system.enterprise_suse
    if enterprise:
        yield use("driver-repository-add-sles", name=enterprise)
    else:
        yield use("driver-repository-add", package=place.system.repositories)
    yield use(key)


def _legacy(move: DriverMove, place: InstallPlace) -> bool:
    """Whether Arch has it in the AUR alone: an older branch, whose packages there have the proprietary module."""
    older = move.version.major <= _LONG_TERM and (move.pinned or not move.open_module)
    return older and not place.system.needs_open


def _repository(place: InstallPlace) -> UsedCommand:
    return use("cuda-repository-add", repository=place.repository, architecture=place.repository_architecture)


def _of_nvidia(move: DriverMove) -> UsedCommand:
    branch = move.version.major
    if move.open_module:
        return use("driver-install-open-branch" if move.pinned else "driver-install-open-nvidia", branch=branch)
    return use("driver-install-proprietary-nvidia", branch=branch)


def _streams(place: InstallPlace) -> bool:
    return place.system.major < _FIRST_WITHOUT_STREAMS or place.system.distribution == "amzn"


def _plain(move: DriverMove) -> str:
    return "driver-install-open" if move.open_module else "driver-install-proprietary"
