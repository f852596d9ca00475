"""Which packages bring a driver onto each distribution, in which order, and what of another driver goes first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.install.driver import driver_uses, removal
from gpuassist.install.drivers.packages import DistributionPackages, packages_of
from gpuassist.install.place import InstallPlace, System
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.families import Family
from gpuassist.model.version import Version
from tests.values import knowledge

version = Version.parse
FAMILIES = (Family.UBUNTU, Family.DEBIAN, Family.FEDORA, Family.RHEL, Family.ARCH, Family.OPENSUSE)
OPEN = DriverMove(version("595"), open_module=True)
CLOSED = DriverMove(version("580"), open_module=False)
PINNED = DriverMove(version("580"), open_module=True, pinned=True)


def place(family: Family, repository: str = "somewhere1", **facts: Any) -> InstallPlace:
    return InstallPlace((family, Family.ANY), repository, "x86_64", system=System(**facts))


def keys(move: DriverMove, where: InstallPlace) -> list[str]:
    return [one.key for one in driver_uses(move, where)]


def gone(move: DriverMove, where: InstallPlace) -> list[str]:
    return [one.key for one in removal(move, where)]


@pytest.mark.parametrize("family", Family)
def test_every_family_has_its_module(family: Family) -> None:
    assert DistributionPackages in type(packages_of(family)).__mro__


@pytest.mark.parametrize(
    ("family", "move", "last"),
    [
        (Family.UBUNTU, OPEN, "driver-install-open"),
        (Family.UBUNTU, CLOSED, "driver-install-proprietary"),
        (Family.UBUNTU, PINNED, "driver-install-open"),
        (Family.DEBIAN, OPEN, "driver-install-open-nvidia"),
        (Family.DEBIAN, CLOSED, "driver-install-proprietary-nvidia"),
        (Family.DEBIAN, PINNED, "driver-install-open-branch"),
        (Family.FEDORA, OPEN, "driver-install-open"),
        (Family.FEDORA, CLOSED, "driver-install-proprietary"),
        (Family.FEDORA, PINNED, "driver-install-open-branch"),
        (Family.RHEL, OPEN, "driver-install-open-unpinned"),
        (Family.RHEL, CLOSED, "driver-install-proprietary-unpinned"),
        (Family.RHEL, PINNED, "driver-install-open-unpinned"),
        (Family.ARCH, OPEN, "driver-install-open"),
        (Family.ARCH, CLOSED, "driver-install-proprietary"),
        (Family.ARCH, PINNED, "driver-install-proprietary"),
        (Family.OPENSUSE, OPEN, "driver-packages-open"),
        (Family.OPENSUSE, CLOSED, "driver-packages-proprietary"),
        (Family.OPENSUSE, PINNED, "driver-packages-open-580"),
    ],
)
def test_driver_comes_last_of_its_lines(family: Family, move: DriverMove, last: str) -> None:
    assert keys(move, place(family, release="9.6"))[-1] == last


@pytest.mark.parametrize("family", [Family.DEBIAN, Family.RHEL])
def test_module_that_is_built_here_has_its_headers_first(family: Family) -> None:
    found = keys(OPEN, place(family, release="9.6"))
    assert found.index("kernel-headers-install") < len(found) - 1


@pytest.mark.parametrize("family", [Family.DEBIAN, Family.RHEL])
def test_distribution_without_nvidias_packages_has_none(family: Family) -> None:
    assert keys(OPEN, place(family, repository="")) == []


@pytest.mark.parametrize("family", [Family.ANY, Family.WSL, Family.CONTAINER])
def test_other_systems_have_no_packages(family: Family) -> None:
    assert keys(OPEN, place(family)) == []


@pytest.mark.parametrize(
    ("facts", "package"),
    [
        ({"distribution": "rocky", "release": "9.6"}, "epel-release"),
        ({"distribution": "almalinux", "release": "8.10"}, "epel-release"),
        ({"distribution": "rhel", "release": "10.0"}, "https://dl.fedoraproject.org/pub/epel/epel-release-latest-10.noarch.rpm"),
        ({"distribution": "ol", "release": "8.10"}, "oracle-epel-release-el8"),
    ],
)
def test_dkms_comes_from_epel(facts: Mapping[str, str], package: str) -> None:
    (first,) = [one for one in driver_uses(OPEN, place(Family.RHEL, **facts)) if one.key == "epel-add"]
    assert first.parameters["package"] == package


def test_amazon_linux_has_dkms_itself() -> None:
    assert "epel-add" not in keys(OPEN, place(Family.RHEL, distribution="amzn", release="2023"))


@pytest.mark.parametrize(("move", "locks"), [(OPEN, False), (PINNED, True), (CLOSED, True)])
def test_release_ten_locks_what_streams_held(move: DriverMove, locks: bool) -> None:
    found = keys(move, place(Family.RHEL, distribution="rocky", release="10.0"))
    assert ("driver-version-lock" in found) is locks
    assert found[-1].endswith("-unpinned")


@pytest.mark.parametrize(
    ("kernel", "key", "headers"),
    [
        ("6.17.8-arch1-1", "driver-install-open", ""),
        ("6.12.58-1-lts", "driver-install-open-lts", ""),
        ("6.17.8-zen1-1-zen", "driver-install-open-dkms", "linux-zen-headers"),
    ],
)
def test_arch_has_a_package_for_each_kernel(kernel: str, key: str, headers: str) -> None:
    (one,) = driver_uses(OPEN, place(Family.ARCH, kernel=kernel))
    assert (one.key, one.parameters.get("package", "")) == (key, headers)


def test_old_branch_of_arch_does_not_run_blackwell() -> None:
    assert keys(PINNED, place(Family.ARCH, needs_open=True)) == []


def test_arch_keeps_no_branch_in_between() -> None:
    assert keys(DriverMove(version("590"), open_module=True, pinned=True), place(Family.ARCH)) == []


def test_nouveau_leaves_the_image_that_starts_arch() -> None:
    assert keys(OPEN, place(Family.ARCH, nouveau=True))[-1] == "initramfs-rebuild"


@pytest.mark.parametrize(
    ("distribution", "first"), [("sles", "driver-repository-add-sles"), ("opensuse-leap", "driver-repository-add")]
)
def test_suse_adds_the_repository_of_its_kind(distribution: str, first: str) -> None:
    assert keys(OPEN, place(Family.OPENSUSE, distribution=distribution, release="15.6"))[0] == first


@pytest.mark.parametrize(
    ("family", "there", "opened", "move", "expected"),
    [
        (Family.UBUNTU, "550.54.14", False, OPEN, []),
        (Family.DEBIAN, "550.54.14", False, OPEN, []),
        (Family.OPENSUSE, "580.95.05", False, OPEN, ["driver-packages-remove"]),
        (Family.OPENSUSE, "580.95.05", True, OPEN, ["driver-packages-remove"]),
        (Family.OPENSUSE, "590.48.01", True, OPEN, []),
        (Family.OPENSUSE, "595.45.04", True, CLOSED, ["driver-packages-remove"]),
        (Family.RHEL, "550.54.14", False, OPEN, ["driver-packages-remove", "driver-stream-reset"]),
        (Family.RHEL, "550.54.14", True, OPEN, ["driver-stream-reset"]),
        (Family.RHEL, "595.45.04", True, PINNED, ["driver-packages-remove", "driver-stream-reset"]),
        (Family.FEDORA, "550.54.14", False, OPEN, []),
        (Family.FEDORA, "595.45.04", True, CLOSED, ["driver-packages-remove"]),
        (Family.FEDORA, "595.45.04", True, PINNED, ["driver-packages-remove"]),
        (Family.ARCH, "595.45.04", True, PINNED, ["driver-packages-remove"]),
        (Family.ARCH, "580.95.05", False, OPEN, ["driver-packages-remove"]),
        (Family.ARCH, "590.48.01", True, OPEN, []),
    ],
)
def test_what_cannot_stand_beside_goes_first(
    family: Family, there: str, opened: bool, move: DriverMove, expected: list[str]
) -> None:
    assert gone(move, place(family, release="9.6", driver=version(there), open_module=opened)) == expected


@pytest.mark.parametrize("family", FAMILIES)
def test_nvidias_own_installer_is_undone_by_its_own(family: Family) -> None:
    where = place(family, driver=version("550.54.14"), open_module=False, uninstaller="/usr/bin/nvidia-uninstall")
    assert gone(OPEN, where) == ["runfile-driver-remove"]


@pytest.mark.parametrize("family", FAMILIES)
def test_where_no_driver_is_nothing_goes(family: Family) -> None:
    assert gone(OPEN, place(family)) == []


def test_release_ten_has_no_streams_to_reset() -> None:
    where = place(Family.RHEL, distribution="rocky", release="10.0", driver=version("580.95.05"), open_module=True)
    assert gone(OPEN, where) == []


@pytest.mark.parametrize(
    ("secure", "kernel", "told"), [(True, "6.8.0-60-generic", True), (False, "6.8.0-60-generic", False), (True, "", False)]
)
def test_signed_modules_are_taken_where_they_are_needed(secure: bool, kernel: str, told: bool) -> None:
    where = place(Family.UBUNTU, distribution="ubuntu", release="24.04", kernel=kernel, secure_boot=secure)
    assert packages_of(Family.UBUNTU).signed(OPEN, where) is told


moves = st.builds(
    DriverMove, st.sampled_from([version(one) for one in ("470", "535", "580", "590", "595", "620")]), st.booleans(), st.booleans()
)
places = st.builds(
    place,
    st.sampled_from(FAMILIES),
    st.sampled_from(["", "somewhere1"]),
    distribution=st.sampled_from(["ubuntu", "rocky", "amzn", "ol", "manjaro", "sles", ""]),
    release=st.sampled_from(["", "9.6", "10", "2023", "24.04", "rolling"]),
    kernel=st.sampled_from(["", "6.8.0-60-generic", "6.12.58-1-lts", "5.15.0-312.el9uek.x86_64", "-"]),
    secure_boot=st.sampled_from([True, False, None]),
    driver=st.sampled_from([None, version("550.54.14"), version("595.45.04")]),
    open_module=st.sampled_from([None, True, False]),
    provider=st.sampled_from(["", "gcp", "aws", "lambda", "hetzner"]),
    needs_open=st.booleans(),
    nouveau=st.booleans(),
)


@given(moves, places)
def test_every_command_is_there_with_all_that_its_lines_need(move: DriverMove, where: InstallPlace) -> None:
    for one in (*removal(move, where), *driver_uses(move, where)):
        assert knowledge().commands.render(one.key, where.families, one.parameters)


@given(moves, places)
def test_gpu_that_needs_the_open_modules_never_gets_the_other(move: DriverMove, where: InstallPlace) -> None:
    if where.system.needs_open and move.open_module:
        assert not [one for one in driver_uses(move, where) if "proprietary" in one.key]
