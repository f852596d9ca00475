"""Distributions to the families whose commands they share."""

from __future__ import annotations

from enum import Enum

from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Distribution, Machine
from gpuassist.model.version import whole_number


class Family(str, Enum):
    """Distributions that share their commands; `wsl` and `container` are places where the driver is not the distribution's."""

    UBUNTU = "ubuntu"
    DEBIAN = "debian"
    FEDORA = "fedora"
    RHEL = "rhel"
    ARCH = "arch"
    OPENSUSE = "opensuse"
    WSL = "wsl"
    CONTAINER = "container"
    ANY = "any"


_BY_ID = {
    Family.UBUNTU: {"ubuntu", "linuxmint", "pop", "elementary", "zorin", "neon", "tuxedo", "kubuntu", "xubuntu"},
    Family.DEBIAN: {"debian", "raspbian", "devuan", "kali", "parrot", "mx"},
    Family.FEDORA: {"fedora", "nobara", "ultramarine", "bazzite"},
    Family.RHEL: {"rhel", "centos", "almalinux", "rocky", "ol", "amzn", "scientific", "circle"},
    Family.ARCH: {"arch", "archarm", "manjaro", "endeavouros", "garuda", "cachyos", "artix"},
    Family.OPENSUSE: {"opensuse", "opensuse-leap", "opensuse-tumbleweed", "opensuse-slowroll", "sles", "sled", "suse"},
}

# Leap and SLES of one code base share a repository from release 16 on, and Tumbleweed takes that (S. Dirsch, drivers of G07).
_ROLLING = {"opensuse-tumbleweed": "suse16"}
_OPENSUSE_REPOSITORIES = {"opensuse-leap 15": "opensuse15", "sles 15": "sles15", "opensuse-leap 16": "suse16", "sles 16": "suse16"}
_OPENSUSE = {"opensuse-leap": "Leap", "opensuse-slowroll": "Slowroll", "opensuse-microos": "MicroOS"}


def family(distribution: Distribution, *, wsl: int = 0, container: str = "") -> Family:
    """The family of a distribution; `wsl` and `container` as `Host` has them: there the driver is not the distribution's."""
    if wsl:
        return Family.WSL
    return Family.CONTAINER if container else packages_family(distribution)


def lookup_order(distribution: Distribution, *, wsl: int = 0, container: str = "") -> tuple[Family, ...]:
    """Whose command lines to take, the most special first: under WSL2 on Ubuntu those of WSL, then Ubuntu's."""
    return tuple(dict.fromkeys((family(distribution, wsl=wsl, container=container), packages_family(distribution), Family.ANY)))


def packages_family(distribution: Distribution) -> Family:
    """The family by its packages alone: what the distribution calls itself, then what it says it is like, nearest first."""
    names = (distribution.id.lower(), *(like.lower() for like in distribution.id_like))
    for name in names:
        for one, members in _BY_ID.items():
            if name in members:
                return one
    return Family.ANY


def repository(distribution: Distribution, *, wsl: int = 0) -> str:
    """NVIDIA's name of its package repository for a distribution (`ubuntu2404`, `rhel9`); empty where it has none for it.

    Named after the directories of developer.download.nvidia.com/compute/cuda/repos: of Ubuntu the long-term releases alone,
    of the others the major version; derivatives of Ubuntu and Debian number their releases otherwise.
    """
    release, _, rest = distribution.version_id.partition(".")
    if distribution.id in _ROLLING:
        return _ROLLING[distribution.id]
    number = whole_number(release)
    if number is None:
        return ""
    if distribution.id == "ubuntu":
        long_term = number % 2 == 0 and rest == "04"
        return ("wsl-ubuntu" if wsl else f"ubuntu{release}{rest}") if long_term else ""
    if distribution.id in {"debian", "fedora"}:
        return f"{distribution.id}{release}"
    if distribution.id == "amzn":
        return "amzn2023" if release == "2023" else ""
    if packages_family(distribution) is Family.OPENSUSE:
        return _OPENSUSE_REPOSITORIES.get(f"{distribution.id} {release}", "")
    return f"rhel{release}" if packages_family(distribution) is Family.RHEL else ""


def repositories_package(distribution: Distribution) -> str:
    """openSUSE's package that adds the repository of NVIDIA's drivers."""
    return f"openSUSE-repos-{_OPENSUSE.get(distribution.id, 'Tumbleweed')}-NVIDIA"


def families_of(machine: Machine) -> tuple[Family, ...]:
    """Whose command lines serve this machine; those of any system where its distribution is not known."""
    host = machine.host
    if not isinstance(host.distribution, Known):
        return (Family.ANY,)
    return lookup_order(host.distribution.value, wsl=value_or(host.wsl, 0), container=value_or(host.container, ""))


def surroundings_of(machine: Machine) -> dict[str, str]:
    """What commands need to know of the machine itself: where NVIDIA's package repository for it is; empty where there is none."""
    host = machine.host
    name = repository(host.distribution.value, wsl=value_or(host.wsl, 0)) if isinstance(host.distribution, Known) else ""
    # NVIDIA's name for ARM servers, to which the repositories' packages for desktops and Jetson from CUDA 13 on belong as well.
    architecture = {"x86_64": "x86_64", "aarch64": "sbsa"}.get(value_or(host.architecture, ""), "")
    return {"repository": name if architecture else "", "repository_architecture": architecture}
