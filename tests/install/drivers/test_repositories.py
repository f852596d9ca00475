"""NVIDIA's repository of a distribution goes by the name of its directory there; where there is none nothing is guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.install.drivers.opensuse import repositories_package
from gpuassist.install.drivers.packages import packages_of
from gpuassist.knowledge.families import Family, family, lookup_order, packages_family
from gpuassist.model.machine import Distribution
from tests.rows import for_each

LIKE = {
    "linuxmint": ("ubuntu", "debian"),
    "pop": ("ubuntu", "debian"),
    "rocky": ("rhel", "centos", "fedora"),
    "almalinux": ("rhel", "centos", "fedora"),
    "ol": ("fedora",),
    "centos": ("rhel", "fedora"),
    "amzn": ("fedora",),
    "opensuse-leap": ("suse", "opensuse"),
    "opensuse-tumbleweed": ("opensuse", "suse"),
    "sles": ("suse",),
    "manjaro": ("arch",),
}


def repository(one: Distribution, *, wsl: int = 0) -> str:
    return packages_of(packages_family(one)).repository(one, wsl=wsl)


def distribution(name: str, release: str) -> Distribution:
    return Distribution(name, LIKE.get(name, ()), release, f"{name} {release}")


@for_each(
    ("name", "release", "expected"),
    [
        ("ubuntu", "24.04", "ubuntu2404"),
        ("ubuntu", "22.04", "ubuntu2204"),
        ("ubuntu", "24.10", ""),
        ("ubuntu", "25.04", ""),
        ("ubuntu", "23.10", ""),
        ("ubuntu", "", ""),
        ("debian", "12", "debian12"),
        ("debian", "", ""),
        ("fedora", "42", "fedora42"),
        ("fedora", "rawhide", ""),
        ("rhel", "9.4", "rhel9"),
        ("rhel", "10.0", "rhel10"),
        ("rocky", "9.5", "rhel9"),
        ("almalinux", "8.10", "rhel8"),
        ("centos", "9", "rhel9"),
        ("ol", "9.3", "rhel9"),
        ("amzn", "2023", "amzn2023"),
        ("amzn", "2", ""),
        ("sles", "15.6", "sles15"),
        ("sles", "16.0", "suse16"),
        ("opensuse-leap", "15.6", "opensuse15"),
        ("opensuse-leap", "16.0", "suse16"),
        ("opensuse-tumbleweed", "20261101", "suse16"),
        ("opensuse-tumbleweed", "", "suse16"),
        ("linuxmint", "22", ""),
        ("pop", "22.04", ""),
        ("arch", "", ""),
        ("manjaro", "25.0", ""),
        ("nixos", "24.05", ""),
    ],
)
def test_name_of_the_repository(name: str, release: str, expected: str) -> None:
    assert repository(distribution(name, release)) == expected


@pytest.mark.parametrize("release", ["20.04", "22.04", "24.04"])
def test_ubuntu_under_windows_has_one_of_its_own(release: str) -> None:
    assert repository(distribution("ubuntu", release), wsl=2) == "wsl-ubuntu"


def test_other_distributions_under_windows_keep_theirs() -> None:
    assert repository(distribution("debian", "12"), wsl=2) == "debian12"


@given(st.text(max_size=12), st.text(max_size=8))
def test_any_words_name_a_directory_or_none(name: str, release: str) -> None:
    found = repository(Distribution(name, (), release, ""))
    assert found == "" or found.replace("-", "").isalnum()


@given(st.sampled_from(["ubuntu", "debian", "rocky", "arch", "x"]), st.integers(0, 2), st.sampled_from(["", "docker", "lxc"]))
def test_the_order_begins_with_the_family_and_ends_with_any(name: str, wsl: int, container: str) -> None:
    one = distribution(name, "")
    order = lookup_order(one, wsl=wsl, container=container)
    assert (order[0], order[-1]) == (family(one, wsl=wsl, container=container), Family.ANY)
    assert len(set(order)) == len(order)


def test_windows_goes_before_a_container_in_it() -> None:
    assert family(distribution("ubuntu", "24.04"), wsl=2, container="docker") is Family.WSL


@given(st.text(max_size=20))
def test_any_opensuse_has_a_package_of_the_repository(name: str) -> None:
    package = repositories_package(name)
    assert package.startswith("openSUSE-repos-")
    assert package.endswith("-NVIDIA")


@pytest.mark.parametrize("release", ["²", "9" * 5000, "24.²", "-1", ""])
def test_a_release_that_is_no_number_has_no_repository(release: str) -> None:
    assert repository(distribution("ubuntu", release)) == ""


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("opensuse-leap", "openSUSE-repos-Leap-NVIDIA"),
        ("opensuse-slowroll", "openSUSE-repos-Slowroll-NVIDIA"),
        ("opensuse-microos", "openSUSE-repos-MicroOS-NVIDIA"),
        ("opensuse-tumbleweed", "openSUSE-repos-Tumbleweed-NVIDIA"),
        ("geckolinux", "openSUSE-repos-Tumbleweed-NVIDIA"),
    ],
)
def test_opensuse_has_a_repository_for_each_of_its_kinds(name: str, package: str) -> None:
    assert repositories_package(name) == package
