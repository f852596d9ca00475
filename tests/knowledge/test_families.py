"""Distributions find the family whose commands they share."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.knowledge.families import Family, family, lookup_order, packages_family
from gpuassist.model.machine import Distribution
from tests.rows import for_each


def distribution(name: str, *like: str) -> Distribution:
    return Distribution(name, like, "", name)


@for_each(
    ("name", "like", "expected"),
    [
        ("ubuntu", ("debian",), Family.UBUNTU),
        ("linuxmint", ("ubuntu", "debian"), Family.UBUNTU),
        ("pop", ("ubuntu", "debian"), Family.UBUNTU),
        ("debian", (), Family.DEBIAN),
        ("lmde", ("debian",), Family.DEBIAN),
        ("fedora", (), Family.FEDORA),
        ("nobara", ("fedora",), Family.FEDORA),
        ("rhel", ("fedora",), Family.RHEL),
        ("rocky", ("rhel", "centos", "fedora"), Family.RHEL),
        ("almalinux", ("rhel", "centos", "fedora"), Family.RHEL),
        ("amzn", ("centos", "rhel", "fedora"), Family.RHEL),
        ("arch", (), Family.ARCH),
        ("endeavouros", ("arch",), Family.ARCH),
        ("manjaro", ("arch",), Family.ARCH),
        ("opensuse-tumbleweed", ("opensuse", "suse"), Family.OPENSUSE),
        ("sles", ("suse",), Family.OPENSUSE),
        ("nixos", (), Family.ANY),
        ("", (), Family.ANY),
        ("somebodys-ubuntu", ("ubuntu",), Family.UBUNTU),
        ("Ubuntu", (), Family.UBUNTU),
        ("mageia", ("mandriva", "fedora"), Family.ANY),
        ("chimeraos", ("arch",), Family.ANY),
        ("vanilla", ("debian",), Family.ANY),
    ],
)
def test_distribution_finds_its_family(name: str, like: tuple[str, ...], expected: Family) -> None:
    assert packages_family(distribution(name, *like)) is expected


@for_each(
    ("name", "like", "expected"),
    [
        ("fedora", (), Family.FEDORA),
        ("bazzite", ("fedora",), Family.FEDORA),
        ("bluefin", ("rhel", "centos", "fedora"), Family.ANY),
        ("rhel", ("fedora",), Family.ANY),
        ("endless", ("debian",), Family.ANY),
    ],
)
def test_only_fedoras_images_take_packages(name: str, like: tuple[str, ...], expected: Family) -> None:
    assert packages_family(replace(distribution(name, *like), image=True)) is expected


def test_wsl_goes_before_the_distribution() -> None:
    assert family(distribution("ubuntu"), wsl=2) is Family.WSL


def test_container_goes_before_the_distribution() -> None:
    assert family(distribution("debian"), container="docker") is Family.CONTAINER


def test_bare_machine_has_its_distribution() -> None:
    assert family(distribution("debian")) is Family.DEBIAN


def test_lookup_order_goes_from_special_to_any() -> None:
    assert lookup_order(distribution("ubuntu"), wsl=2) == (Family.WSL, Family.UBUNTU, Family.ANY)


def test_lookup_order_names_no_family_twice() -> None:
    assert lookup_order(distribution("nixos")) == (Family.ANY,)
