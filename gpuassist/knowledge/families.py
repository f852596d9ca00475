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
    Family.FEDORA: {"fedora", "nobara", "ultramarine", "bazzite", "aurora", "bluefin"},
    Family.RHEL: {"rhel", "centos", "almalinux", "rocky", "ol", "amzn", "scientific", "circle"},
    Family.ARCH: {"arch", "archarm", "manjaro", "endeavouros", "garuda", "cachyos", "artix"},
    Family.OPENSUSE: {
        "opensuse", "opensuse-leap", "opensuse-tumbleweed", "opensuse-slowroll", "opensuse-microos", "opensuse-aeon",
        "opensuse-kalpa", "opensuse-leap-micro", "aeon", "kalpa", "sl-micro", "sles", "sled", "suse",
    },
}  # fmt: skip
# What is built on a family, or says that it is like one, and takes drivers in a way of its own: images that no package manager of
# the family changes (SteamOS, ChimeraOS, Vanilla OS, Endless OS, blendOS); Mandriva's children, whose os-release says
# `ID_LIKE="mandriva fedora"` and whose packages are called otherwise.
_OF_THEIR_OWN = frozenset({"steamos", "chimeraos", "vanilla", "endless", "blendos", "mageia", "openmandriva", "rosa"})
_ENTERPRISE = frozenset({"rhel", "centos"})
_MANDRIVA = frozenset({"mandriva", "mandrake"})
# Two bases under one name: Mint is built on Ubuntu, its Debian edition says `ID_LIKE=debian` alone.
_TWO_BASES = frozenset({"linuxmint", "neon", "tuxedo"})


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
    like = tuple(one.lower() for one in distribution.id_like)
    itself = distribution.id.lower()
    if itself in _OF_THEIR_OWN or _MANDRIVA & set(like):
        return Family.ANY
    if itself in _TWO_BASES and like and "ubuntu" not in like:
        itself = like[0]
    found = next((one for name in (itself, *like) for one, members in _BY_ID.items() if name in members), Family.ANY)
    # rpm-ostree adds packages to Fedora's images; of the others none takes them (RHEL's image mode, Bluefin LTS on CentOS Stream).
    layered = found is Family.FEDORA and not _ENTERPRISE & set(like)
    return Family.ANY if distribution.image and not layered else found


def families_of(machine: Machine) -> tuple[Family, ...]:
    """Whose command lines serve this machine; those of any system where its distribution is not known."""
    host = machine.host
    if not isinstance(host.distribution, Known):
        return (Family.ANY,)
    return lookup_order(host.distribution.value, wsl=value_or(host.wsl, 0), container=value_or(host.container, ""))


# Whose packages a derivative takes: the distribution and release as `driver_packages.json` has them.


_UBUNTU_RELEASES = {
    "focal": "20.04", "jammy": "22.04", "noble": "24.04", "plucky": "25.04", "questing": "25.10", "resolute": "26.04",
}  # fmt: skip
_DEBIAN_RELEASES = {"bullseye": "11", "bookworm": "12", "trixie": "13", "forky": "testing", "sid": "testing"}
# Releases of derivatives by their own numbers, for a system that did not say its base: Linux Mint and its Debian edition,
# elementary OS, Zorin OS (release notes of each), Devuan (devuan.org, releases).
_BASES = {
    ("linuxmint", "20"): "20.04", ("linuxmint", "21"): "22.04", ("linuxmint", "22"): "24.04",
    ("elementary", "7"): "22.04", ("elementary", "8"): "24.04", ("zorin", "17"): "22.04", ("zorin", "18"): "24.04",
}  # fmt: skip
_DEBIAN_BASES = {
    ("linuxmint", "5"): "11", ("linuxmint", "6"): "12", ("linuxmint", "7"): "13",
    ("devuan", "4"): "11", ("devuan", "5"): "12", ("devuan", "6"): "13",
}  # fmt: skip
_SAME_NUMBERS = frozenset({"ubuntu", "kubuntu", "xubuntu", "pop", "neon", "tuxedo"})
_ON_ARCH = frozenset({"arch", "archarm", "endeavouros", "garuda", "cachyos", "artix"})
_LIKE_FEDORA = frozenset({"fedora", "ultramarine", "bazzite", "aurora", "bluefin"})
_ROLLING_SUSE = frozenset({"opensuse-tumbleweed", "opensuse-microos", "opensuse-aeon", "opensuse-kalpa", "aeon", "kalpa"})
# Their repositories are their own: which branches lie there was not looked at.
_OWN_REPOSITORIES = frozenset({"pop", "kali", "parrot", "nobara", "raspbian", "opensuse-slowroll"})


def packages_base(distribution: Distribution) -> tuple[str, str]:
    """The distribution and release whose packages these are; both empty where that is not known."""
    of, name, major = packages_family(distribution), distribution.id.lower(), distribution.version_id.partition(".")[0]
    if name in _OWN_REPOSITORIES:
        return "", ""
    if of is Family.UBUNTU:
        own = distribution.version_id if name in _SAME_NUMBERS else ""
        release = _UBUNTU_RELEASES.get(distribution.codename) or own or _BASES.get((name, major), "")
        return ("ubuntu", release) if release else ("", "")
    if of is Family.DEBIAN:
        numbered = major if name == "debian" else _DEBIAN_BASES.get((name, major), "")
        release = _DEBIAN_RELEASES.get(distribution.codename) or numbered or ("testing" if name == "debian" else "")
        return ("debian", release) if release else ("", "")
    if of is Family.FEDORA:
        return ("fedora", major) if name in _LIKE_FEDORA and major.isdecimal() else ("", "")
    if of is Family.RHEL:
        return ("amzn" if name == "amzn" else "rhel", major) if major.isdecimal() else ("", "")
    if of is Family.ARCH:
        return ("manjaro", "") if name == "manjaro" else ("arch", "") if name in _ON_ARCH else ("", "")
    if of is Family.OPENSUSE:
        return _suse_base(name, major)
    return "", ""


def _suse_base(name: str, major: str) -> tuple[str, str]:
    if name in _ROLLING_SUSE:
        return "opensuse-tumbleweed", ""
    enterprise = name in {"sles", "sled"}
    return ("sles" if enterprise else "opensuse-leap", major) if enterprise or name == "opensuse-leap" else ("", "")


_IMAGES = frozenset(
    {
        "silverblue", "kinoite", "sericea", "onyx", "sway-atomic", "budgie-atomic", "cosmic-atomic", "coreos", "iot", "bazzite",
        "aurora", "bluefin",
    }
)  # fmt: skip


def is_image(distribution: Distribution) -> bool:
    """Whether the system is an image that is exchanged as a whole: it says so, or its edition is known to be one. To Fedora's
    rpm-ostree adds packages.
    """
    if distribution.image:
        return True
    words = (distribution.id, *distribution.variant.split("-")[:1], distribution.variant, *distribution.name.lower().split())
    return packages_family(distribution) is Family.FEDORA and bool(_IMAGES & {one.lower().strip("()") for one in words})


def is_transactional(distribution: Distribution) -> bool:
    """Whether the system's packages change by transactional-update alone (openSUSE MicroOS, Aeon, Kalpa, Leap Micro, SL Micro)."""
    name = distribution.id.lower()
    return any(one in name for one in ("micro", "aeon", "kalpa"))
