"""On a rented machine the provider's own way to a driver is taken where it has one."""

from __future__ import annotations

import pytest

from gpuassist.install.driver import driver_uses
from gpuassist.install.drivers.cloud import cloud_uses, cloud_words, provider_name
from gpuassist.install.place import InstallPlace, System
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.families import Family
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH

NEWEST = DriverMove(Version((595,)), open_module=True)


def place(
    family: Family, provider: str, *, part: bool = False, kernel: str = "6.8.0-1021-aws", secure: bool = False
) -> InstallPlace:
    system = System("ubuntu", "24.04", kernel, secure_boot=secure, provider=provider, part=part)
    return InstallPlace((family, Family.ANY), system=system)


def keys(where: InstallPlace, move: DriverMove = NEWEST) -> list[str]:
    return [one.key for one in cloud_uses(move, where)]


def test_computer_of_ones_own_takes_the_distributions_way() -> None:
    assert keys(place(Family.UBUNTU, "")) == []


@pytest.mark.parametrize("family", [Family.CONTAINER, Family.WSL])
def test_container_has_no_driver_of_its_own(family: Family) -> None:
    assert keys(place(family, "gcp")) == []


@pytest.mark.parametrize("family", [Family.UBUNTU, Family.DEBIAN, Family.RHEL])
def test_google_has_an_installer(family: Family) -> None:
    where = place(family, "gcp")
    assert keys(where) == ["driver-install-gcp"]
    words = cloud_words(where, cloud_uses(NEWEST, where))
    assert words is not None
    assert "Google Cloud's installer" in ENGLISH(words)


@pytest.mark.parametrize(
    "move", [DriverMove(Version((580,)), open_module=True, pinned=True), DriverMove(Version((580,)), open_module=False)]
)
def test_its_installer_has_the_newest_open_driver_alone(move: DriverMove) -> None:
    assert keys(place(Family.DEBIAN, "gcp"), move) == []


def test_installers_sign_nothing() -> None:
    assert keys(place(Family.DEBIAN, "gcp", secure=True)) == []


@pytest.mark.parametrize(("provider", "key"), [("aws", "grid-driver-install-aws"), ("azure", "grid-driver-install-azure")])
def test_part_of_a_gpu_takes_the_providers_driver(provider: str, key: str) -> None:
    where = place(Family.UBUNTU, provider, part=True)
    assert keys(where)[-1] == key
    words = cloud_words(where, cloud_uses(NEWEST, where))
    assert words is not None
    assert "GRID" in ENGLISH(words)


def test_ubuntus_packages_for_servers_need_its_kernel() -> None:
    (one,) = driver_uses(NEWEST, place(Family.UBUNTU, "aws"))
    *_, other = driver_uses(NEWEST, place(Family.UBUNTU, "aws", kernel="6.17.0-mine"))
    assert (one.key, other.key) == ("driver-install-server-open", "driver-install-open")


def test_lambda_has_its_own_packages() -> None:
    where = place(Family.UBUNTU, "lambda")
    words = cloud_words(where, cloud_uses(NEWEST, where))
    assert words is not None
    assert "Lambda Stack" in ENGLISH(words)


def test_distributions_own_way_has_its_usual_words() -> None:
    where = place(Family.UBUNTU, "aws")
    assert cloud_words(where, cloud_uses(NEWEST, where)) is None


def test_unlisted_provider_goes_by_its_own_name() -> None:
    assert (provider_name("oci"), provider_name("somebody")) == ("Oracle Cloud", "somebody")
