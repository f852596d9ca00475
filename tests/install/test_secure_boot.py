"""Where Secure Boot is on, the module's key is registered before the restart that asks for it."""

from __future__ import annotations

import pytest

from gpuassist.install.outlook import install_steps
from gpuassist.install.place import InstallPlace, System
from gpuassist.knowledge.change import DriverMove, VersionChange
from gpuassist.knowledge.families import Family
from gpuassist.model.plan import Proves, Step, StepKind
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.values import knowledge

HERE = {Family.DEBIAN: "debian12", Family.RHEL: "rhel9", Family.FEDORA: "fedora42"}


def steps(family: Family, secure: bool | None, *, opened: bool = True, kernel: str = "6.8.0-60-generic") -> tuple[Step, ...]:
    system = System("ubuntu" if family is Family.UBUNTU else "", "24.04", kernel, secure_boot=secure)
    place = InstallPlace((family, Family.ANY), HERE.get(family, ""), "x86_64", system=system)
    return install_steps(VersionChange(driver=DriverMove(Version.parse("595" if opened else "580"), opened)), place, knowledge())


def registering(found: tuple[Step, ...]) -> list[int]:
    return [place for place, one in enumerate(found) if any("mokutil --import" in line for line in one.commands)]


@pytest.mark.parametrize("family", [Family.UBUNTU, Family.DEBIAN, Family.RHEL, Family.FEDORA, Family.OPENSUSE, Family.ARCH])
def test_nothing_is_registered_where_it_is_off(family: Family) -> None:
    assert registering(steps(family, False)) == []


@pytest.mark.parametrize("family", [Family.DEBIAN, Family.RHEL])
def test_key_of_dkms_is_registered_after_it_was_made(family: Family) -> None:
    found = steps(family, True)
    assert registering(found) == [1]
    assert [one.kind for one in found] == [StepKind.ROOT_COMMAND, StepKind.ROOT_COMMAND, StepKind.REBOOT]


def test_key_of_akmods_is_made_before_it_signs() -> None:
    assert registering(steps(Family.FEDORA, True)) == [0]


def test_restart_says_what_the_blue_screen_asks() -> None:
    last = steps(Family.DEBIAN, True)[-1]
    assert "Enroll MOK" in ENGLISH(last.text)
    assert last.check is not None
    assert "--list-enrolled" in ENGLISH(last.check)


def test_unknown_state_makes_the_step_a_condition() -> None:
    found = steps(Family.DEBIAN, None)[1]
    assert ENGLISH(found.text).startswith("Only where the first line says that Secure Boot is enabled")
    assert found.commands[0] == "mokutil --sb-state"


def test_restart_after_an_unknown_state_is_a_plain_one() -> None:
    assert ENGLISH(steps(Family.DEBIAN, None)[-1].text) == "Restart the computer"


@pytest.mark.parametrize("secure", [True, None])
def test_ubuntus_own_kernel_has_signed_modules(secure: bool | None) -> None:
    found = steps(Family.UBUNTU, secure)
    assert registering(found) == []
    assert found[0].commands == ("sudo apt install linux-modules-nvidia-595-open-generic nvidia-driver-595-open",)


def test_other_kernel_on_ubuntu_needs_the_key() -> None:
    assert registering(steps(Family.UBUNTU, True, kernel="6.16.3-xanmod1")) == [1]


@pytest.mark.parametrize(("opened", "places"), [(True, []), (False, [1])])
def test_opensuse_signs_the_open_modules_alone(opened: bool, places: list[int]) -> None:
    assert registering(steps(Family.OPENSUSE, True, opened=opened)) == places


def test_restart_proves_the_driver() -> None:
    proof = steps(Family.UBUNTU, False)[-1].proof
    assert proof is not None
    assert (proof.proves, proof.wanted) == (Proves.DRIVER, "595")


def test_newest_of_a_repository_is_proved_by_none_that_is_older() -> None:
    proof = steps(Family.DEBIAN, False)[-1].proof
    assert proof is not None
    assert (proof.proves, proof.wanted) == (Proves.DRIVER, "595+")
