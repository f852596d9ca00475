"""The steps to another driver: their order, what their words promise, and the proof that each promise comes with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuassist.install.driver import driver_steps
from gpuassist.install.place import InstallPlace, System
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.driver_packages import Keeper, shelf_of
from gpuassist.knowledge.families import Family
from gpuassist.model.plan import OPEN_MODULES, Proves, Step, StepKind
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from tests.values import knowledge

version = Version.parse
OPEN, CLOSED = DriverMove(version("595"), open_module=True), DriverMove(version("580"), open_module=False)
PINNED = DriverMove(version("580.95.05"), open_module=True, pinned=True)
BARE = [Family.UBUNTU, Family.DEBIAN, Family.FEDORA, Family.RHEL, Family.ARCH, Family.OPENSUSE, Family.ANY]
REPOSITORIES = {Family.UBUNTU: "ubuntu2404", Family.DEBIAN: "debian12", Family.FEDORA: "fedora42", Family.RHEL: "rhel9"}
BARE_SYSTEM = System()
UBUNTU = System("ubuntu", "24.04", "6.8.0-60-generic")


def place(family: Family, system: System = BARE_SYSTEM, *, driver_there: bool = True) -> InstallPlace:
    return InstallPlace((family, Family.ANY), REPOSITORIES.get(family, ""), "x86_64", driver_there=driver_there, system=system)


def steps(move: DriverMove, where: InstallPlace) -> list[Step]:
    return list(driver_steps(move, where, knowledge().commands))


def asks(found: list[Step]) -> bool:
    """Whether the only step is the question what the packages hold."""
    return len(found) == 1 and not found[0].needs_root


def words(one: Step) -> str:
    return ENGLISH(one.text)


def checks(found: list[Step]) -> str:
    return " / ".join(ENGLISH(one.check) for one in found if one.check is not None)


MOVES = st.builds(DriverMove, st.sampled_from([version("535"), version("580"), version("595")]), st.booleans(), st.booleans())
SYSTEMS = st.builds(
    System,
    st.sampled_from(["ubuntu", "debian", "rhel", "fedora", "arch", "opensuse-tumbleweed"]),
    st.sampled_from(["24.04", "12", "9", "10"]),
    st.sampled_from(["6.8.0-60-generic", "6.16.3-arch1-1", "6.12.0-lts"]),
    secure_boot=st.sampled_from([True, False, None]),
    needs_open=st.booleans(),
    hybrid=st.booleans(),
    nouveau=st.booleans(),
)


@given(MOVES, st.sampled_from(BARE), SYSTEMS)
def test_a_driver_of_linux_ends_with_a_restart_that_proves_it(move: DriverMove, family: Family, system: System) -> None:
    found = steps(move, place(family, system))
    if asks(found):
        return
    last = found[-1]
    assert last.kind is StepKind.REBOOT
    assert last.proof is not None
    assert last.proof.proves is Proves.DRIVER


@given(MOVES, st.sampled_from(BARE), SYSTEMS)
def test_nothing_of_a_driver_is_run_by_gpuassist(move: DriverMove, family: Family, system: System) -> None:
    found = steps(move, place(family, system))
    assert all(one.run is None and (one.needs_root or asks(found)) for one in found)


@given(MOVES, st.sampled_from(BARE), SYSTEMS)
def test_every_word_can_be_said_in_english(move: DriverMove, family: Family, system: System) -> None:
    found = steps(move, place(family, system))
    assert all("{" not in words(one) for one in found)
    assert "{" not in checks(found)


def test_windows_takes_the_driver_and_linux_none() -> None:
    (only,) = steps(OPEN, place(Family.WSL))
    assert words(only).startswith("In Windows, install NVIDIA's driver 595 or newer")
    assert (only.commands, only.needs_root) == (("wsl.exe --update", "wsl.exe --shutdown"), False)


@pytest.mark.parametrize("where", [place(Family.WSL), place(Family.CONTAINER)])
def test_a_driver_of_another_system_may_be_newer(where: InstallPlace) -> None:
    (only,) = steps(PINNED, where)
    assert only.proof is not None
    assert only.proof.wanted == "580.95.05+"


@pytest.mark.parametrize(
    ("move", "flavour"), [(OPEN, "with the open kernel modules"), (CLOSED, "with the proprietary kernel module")]
)
def test_the_host_of_a_container_is_told_the_flavour(move: DriverMove, flavour: str) -> None:
    (only,) = steps(move, place(Family.CONTAINER))
    assert flavour in words(only)
    assert (only.commands, only.kind) == ((), StepKind.ROOT_COMMAND)


def test_a_container_without_gpus_is_looked_at_first() -> None:
    (only,) = steps(OPEN, place(Family.CONTAINER, driver_there=False))
    assert only.commands == ("docker run --rm --gpus all ubuntu nvidia-smi",)
    assert only.proof is None


def test_the_drivers_own_installer_is_undone_before_packages_come() -> None:
    found = steps(OPEN, place(Family.UBUNTU, replace(UBUNTU, uninstaller="/usr/bin/nvidia-uninstall")))
    assert found[0].commands == ("sudo nvidia-uninstall",)
    assert words(found[0]).startswith("Remove the driver that is there first")
    assert words(found[1]).startswith("Install NVIDIA's driver")


@pytest.mark.parametrize("family", BARE)
def test_a_machine_without_driver_has_nothing_removed(family: Family) -> None:
    assert not any(words(one).startswith("Remove") for one in steps(OPEN, place(family)))


def test_a_laptop_of_ubuntu_shares_the_work() -> None:
    found = steps(OPEN, place(Family.UBUNTU, replace(UBUNTU, hybrid=True)))
    assert [one.commands for one in found[-2:]] == [("sudo prime-select on-demand",), ("sudo systemctl reboot",)]


@pytest.mark.parametrize("family", [one for one in BARE if one is not Family.UBUNTU])
def test_other_laptops_share_it_already(family: Family) -> None:
    assert not any("prime" in line for one in steps(OPEN, place(family, System(hybrid=True))) for line in one.commands)


@pytest.mark.parametrize(
    ("family", "move", "starts"),
    [
        (Family.UBUNTU, OPEN, "Install NVIDIA's driver, branch 595, with the open kernel modules"),
        (Family.UBUNTU, CLOSED, "Install NVIDIA's driver, branch 580, with the proprietary kernel module"),
        (Family.FEDORA, OPEN, "Install NVIDIA's driver, the newest of these packages"),
        (Family.FEDORA, PINNED, "Install NVIDIA's driver, branch 580, with the open kernel modules"),
        (Family.ARCH, OPEN, "Install NVIDIA's driver, the newest of these packages (595 or a later branch)"),
        (Family.ARCH, CLOSED, "Install NVIDIA's driver, branch 580, from the AUR"),
        (Family.RHEL, OPEN, "Install NVIDIA's driver, the newest of these packages (595 or a later branch)"),
    ],
)
def test_where_the_packages_come_from_is_said(family: Family, move: DriverMove, starts: str) -> None:
    assert words(steps(move, place(family))[0]).startswith(starts)


def test_a_family_that_nobody_knows_has_the_branch_to_go_by() -> None:
    first = steps(OPEN, place(Family.ANY))[0]
    assert words(first).endswith("in the way that your distribution describes")
    assert (first.commands, first.kind) == ((), StepKind.ROOT_COMMAND)


DEBIAN_13 = InstallPlace(
    (Family.DEBIAN, Family.ANY),
    "debian13",
    "x86_64",
    system=System("debian", "13", "6.12.48-amd64", base=("debian", "13")),
    shelf=shelf_of(knowledge().driver_packages(), ("debian", "13"), (Keeper.NVIDIA, Keeper.OWN), version("6.12")),
)


def test_debians_own_driver_needs_its_other_sections() -> None:
    first = steps(DriverMove(version("550"), open_module=False), DEBIAN_13)[0]
    assert "main contrib non-free non-free-firmware" in first.commands[0]
    assert first.commands[-1] == "sudo apt install nvidia-driver firmware-misc-nonfree"


def test_debians_own_driver_is_of_the_branch_that_it_is_known_to_be() -> None:
    found = steps(DriverMove(version("550"), open_module=False), DEBIAN_13)
    proof = found[-1].proof
    assert proof is not None
    assert proof.wanted == "550"


@pytest.mark.parametrize(
    ("family", "move", "wanted"),
    [
        (Family.UBUNTU, OPEN, "595"),
        (Family.UBUNTU, CLOSED, "580"),
        (Family.FEDORA, OPEN, "595+"),
        (Family.FEDORA, PINNED, "580.95.05"),
        (Family.ARCH, OPEN, "595+"),
        (Family.ARCH, CLOSED, "580"),
        (Family.OPENSUSE, OPEN, "595+"),
        (Family.RHEL, PINNED, "580.95.05"),
    ],
)
def test_which_driver_is_proved_after_the_restart(family: Family, move: DriverMove, wanted: str) -> None:
    proof = steps(move, place(family))[-1].proof
    assert proof is not None
    assert proof.wanted == wanted


@pytest.mark.parametrize(
    ("move", "needs", "asked"), [(OPEN, True, OPEN_MODULES), (OPEN, False, ""), (CLOSED, True, ""), (CLOSED, False, "")]
)
def test_the_flavour_is_proved_where_no_other_will_do(move: DriverMove, needs: bool, asked: str) -> None:
    proof = steps(move, place(Family.UBUNTU, replace(UBUNTU, needs_open=needs)))[-1].proof
    assert proof is not None
    assert proof.place == asked


@pytest.mark.parametrize(("family", "named"), [(Family.UBUNTU, True), (Family.FEDORA, False), (Family.ARCH, False)])
def test_a_branch_is_promised_where_packages_keep_to_it(family: Family, named: bool) -> None:
    assert ("branch 595" in checks(steps(OPEN, place(family)))) is named
