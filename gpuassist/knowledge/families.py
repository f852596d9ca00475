"""Distributions to the families whose commands they share."""

from __future__ import annotations

from enum import Enum

from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Distribution, Machine


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


def families_of(machine: Machine) -> tuple[Family, ...]:
    """Whose command lines serve this machine; those of any system where its distribution is not known."""
    host = machine.host
    if not isinstance(host.distribution, Known):
        return (Family.ANY,)
    return lookup_order(host.distribution.value, wsl=value_or(host.wsl, 0), container=value_or(host.container, ""))
