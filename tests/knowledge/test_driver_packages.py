"""What the packages of each release hold of drivers: as the indexes and pages say it, transitional ones followed to their end."""

from __future__ import annotations

import pytest

from gpuassist.knowledge.driver_packages import Extent, Keeper, Reach, Seen, installer_of, shelf_of
from gpuassist.knowledge.families import is_image, is_transactional, packages_base
from gpuassist.model.machine import Distribution
from gpuassist.model.version import Version
from tests.rows import for_each
from tests.values import knowledge

ROWS = knowledge().driver_packages()
UBUNTU, DEBIAN = (Keeper.OWN,), (Keeper.NVIDIA, Keeper.OWN)
FEDORA, ARCH = (Keeper.RPMFUSION, Keeper.NVIDIA), (Keeper.OWN, Keeper.AUR)


@for_each("row", ROWS)
def test_every_row_has_its_source_and_says_how_it_was_seen(row) -> None:  # type: ignore[no-untyped-def]
    assert row.source
    assert row.checked
    assert row.seen in Seen
    assert (row.open or row.proprietary) is bool(row.brings)


def test_no_two_rows_say_the_same() -> None:
    keys = [(row.distribution, row.release, row.holder, row.branch, row.package) for row in ROWS]
    assert len(set(keys)) == len(keys)


def test_transitional_packages_lead_to_ones_that_are_there() -> None:
    for row in (one for one in ROWS if one.brings not in {0, one.branch}):
        same = [one for one in ROWS if (one.distribution, one.release, one.holder) == (row.distribution, row.release, row.holder)]
        others = [one for one in same if one.branch == row.brings or one.extent is not Extent.BRANCH]
        assert others or (row.distribution, row.brings) in {("ubuntu", 535), ("ubuntu", 615)}, row


@for_each(
    ("base", "holders", "kernel", "branch", "opened", "pinned", "reach", "comes"),
    [
        # packages.ubuntu.com: 470 leads to 535, 535 to 580; the package for servers is 470 itself.
        (("ubuntu", "24.04"), UBUNTU, "6.8", 470, False, False, Reach.HELD, 470),
        (("ubuntu", "24.04"), UBUNTU, "6.14", 470, False, False, Reach.KERNEL, 470),
        (("ubuntu", "24.04"), UBUNTU, "6.8", 390, False, False, Reach.ABSENT, 390),
        (("ubuntu", "24.04"), UBUNTU, "6.8", 535, True, True, Reach.OTHER, 580),
        (("ubuntu", "24.04"), UBUNTU, "6.8", 570, True, True, Reach.OTHER, 580),
        (("ubuntu", "24.04"), UBUNTU, "6.8", 590, True, True, Reach.OTHER, 595),
        (("ubuntu", "26.04"), UBUNTU, "7.0", 610, True, True, Reach.OTHER, 615),
        (("ubuntu", "26.04"), UBUNTU, "7.0", 470, False, False, Reach.UNKNOWN, 470),
        (("ubuntu", "22.04"), UBUNTU, "5.15", 390, False, False, Reach.HELD, 390),
        # Debian's indexes, read as a whole.
        (("debian", "12"), DEBIAN, "6.1", 470, False, False, Reach.HELD, 470),
        (("debian", "12"), DEBIAN, "6.1", 390, False, False, Reach.ABSENT, 390),
        (("debian", "12"), DEBIAN, "6.1", 580, True, True, Reach.HELD, 580),
        (("debian", "12"), DEBIAN, "6.1", 535, False, True, Reach.HELD, 535),
        (("debian", "13"), DEBIAN, "6.12", 580, True, True, Reach.ABSENT, 580),
        (("debian", "13"), DEBIAN, "6.12", 550, False, False, Reach.HELD, 550),
        (("debian", "13"), DEBIAN, "6.12", 470, False, False, Reach.ABSENT, 470),
        (("debian", "13"), DEBIAN, "6.12", 595, True, False, Reach.HELD, 595),
        (("debian", "11"), DEBIAN, "5.10", 390, False, False, Reach.HELD, 390),
        (("debian", "11"), DEBIAN, "5.10", 460, False, True, Reach.OTHER, 470),
        (("debian", "testing"), DEBIAN, "7.2", 550, False, False, Reach.KERNEL, 550),
        (("debian", "testing"), DEBIAN, "7.2", 470, False, False, Reach.UNKNOWN, 470),
        (("fedora", "43"), FEDORA, "6.17", 580, True, True, Reach.HELD, 580),
        (("fedora", "43"), FEDORA, "6.17", 595, True, True, Reach.HELD, 595),
        (("fedora", "44"), FEDORA, "7.0", 470, False, False, Reach.HELD, 470),
        (("fedora", "44"), FEDORA, "7.2", 470, False, False, Reach.KERNEL, 470),
        (("rhel", "8"), (Keeper.NVIDIA,), "4.18", 470, False, False, Reach.HELD, 470),
        (("rhel", "9"), (Keeper.NVIDIA,), "5.14", 470, False, False, Reach.UNKNOWN, 470),
        (("rhel", "10"), (Keeper.NVIDIA,), "6.12", 470, False, False, Reach.ABSENT, 470),
        (("arch", ""), ARCH, "7.2", 470, False, False, Reach.HELD, 470),
        (("arch", ""), ARCH, "7.2", 580, True, True, Reach.ABSENT, 580),
        (("opensuse-tumbleweed", ""), (Keeper.NVIDIA_SUSE,), "7.2", 470, False, False, Reach.UNKNOWN, 470),
        (("nobody", "1"), UBUNTU, "6.8", 595, True, False, Reach.UNKNOWN, 595),
        (("", ""), UBUNTU, "6.8", 470, False, False, Reach.UNKNOWN, 470),
    ],
)
def test_a_branch_is_held_or_leads_elsewhere_or_is_not_there(
    base: tuple[str, str],
    holders: tuple[Keeper, ...],
    kernel: str,
    branch: int,
    opened: bool,
    pinned: bool,
    reach: Reach,
    comes: int,
) -> None:
    found = shelf_of(ROWS, base, holders, Version.parse(kernel)).look(branch, open_module=opened, pinned=pinned)
    assert (found.reach, found.branch) == (reach, comes)


def test_the_newest_goes_before_what_is_kept_for_older_cards() -> None:
    fedora = shelf_of(ROWS, ("fedora", "44"), FEDORA, Version.parse("7.0"))
    numbers = [one.branch for one in knowledge().branches()]
    assert fedora.preferred(numbers, open_module=True) == (610,)
    assert fedora.preferred([390, 470, 580], open_module=False) == (390, 470, 580)


def test_newest_of_a_repository_is_no_branch_that_one_can_ask_for() -> None:
    tumbleweed = shelf_of(ROWS, ("opensuse-tumbleweed", ""), (Keeper.NVIDIA_SUSE,), None)
    assert tumbleweed.look(595, open_module=True).reach is Reach.HELD
    assert tumbleweed.look(595, open_module=True, pinned=True).reach is Reach.UNKNOWN


def test_last_installer_of_an_ended_branch_is_named_with_its_kernel() -> None:
    last = installer_of(ROWS, 470)
    assert last is not None
    assert (last.package, str(last.newest_kernel)) == ("NVIDIA-Linux-x86_64-470.256.02.run", "6.8")
    assert installer_of(ROWS, 580) is None


@for_each(
    ("distribution", "base"),
    [
        (Distribution("ubuntu", ("debian",), "24.04", "Ubuntu 24.04"), ("ubuntu", "24.04")),
        (Distribution("linuxmint", ("ubuntu", "debian"), "22.1", "Linux Mint 22.1", "noble"), ("ubuntu", "24.04")),
        (Distribution("linuxmint", (), "21.3", "Linux Mint 21.3"), ("ubuntu", "22.04")),
        (Distribution("linuxmint", ("debian",), "6", "LMDE 6 (faye)", "bookworm"), ("debian", "12")),
        (Distribution("linuxmint", ("debian",), "7", "LMDE 7"), ("debian", "13")),
        (Distribution("zorin", ("ubuntu", "debian"), "18", "Zorin OS 18"), ("ubuntu", "24.04")),
        (Distribution("neon", ("ubuntu", "debian"), "24.04", "KDE neon", "noble"), ("ubuntu", "24.04")),
        (Distribution("pop", ("ubuntu", "debian"), "22.04", "Pop!_OS 22.04", "jammy"), ("", "")),
        (Distribution("debian", (), "", "Debian forky/sid", "forky"), ("debian", "testing")),
        (Distribution("devuan", ("debian",), "5", "Devuan 5"), ("debian", "12")),
        (Distribution("kali", ("debian",), "2026.1", "Kali"), ("", "")),
        (Distribution("fedora", (), "43", "Fedora Linux 43 (Kinoite)", variant="kinoite"), ("fedora", "43")),
        (Distribution("ultramarine", ("fedora",), "43", "Ultramarine 43"), ("fedora", "43")),
        (Distribution("nobara", ("fedora",), "42", "Nobara 42"), ("", "")),
        (Distribution("rocky", ("rhel", "centos", "fedora"), "9.6", "Rocky"), ("rhel", "9")),
        (Distribution("centos", ("rhel", "fedora"), "10", "CentOS Stream 10"), ("rhel", "10")),
        (Distribution("ol", ("fedora",), "8.10", "Oracle Linux"), ("rhel", "8")),
        (Distribution("amzn", ("fedora",), "2023", "Amazon Linux 2023"), ("amzn", "2023")),
        (Distribution("opensuse-leap", ("suse", "opensuse"), "15.6", "Leap"), ("opensuse-leap", "15")),
        (Distribution("opensuse-microos", ("suse", "opensuse"), "2026", "MicroOS"), ("opensuse-tumbleweed", "")),
        (Distribution("sled", ("suse",), "15.7", "SLED"), ("sles", "15")),
        (Distribution("cachyos", ("arch",), "", "CachyOS"), ("arch", "")),
        (Distribution("manjaro", ("arch",), "25.0", "Manjaro"), ("manjaro", "")),
        (Distribution("steamos", ("arch",), "3.7", "SteamOS"), ("", "")),
        (Distribution("gentoo", (), "2.18", "Gentoo"), ("", "")),
        (Distribution("", (), "", ""), ("", "")),
    ],
)
def test_whose_packages_a_derivative_takes(distribution: Distribution, base: tuple[str, str]) -> None:
    assert packages_base(distribution) == base


@pytest.mark.parametrize(
    ("distribution", "image", "transactional"),
    [
        (Distribution("fedora", (), "43", "Fedora Linux 43 (Silverblue)"), True, False),
        (Distribution("fedora", (), "43", "Fedora Linux 43", variant="kinoite"), True, False),
        (Distribution("fedora", (), "43", "Fedora Linux 43", image=True), True, False),
        (Distribution("bazzite", ("fedora",), "43", "Bazzite", variant="bazzite-deck"), True, False),
        (Distribution("fedora", (), "43", "Fedora Linux 43 (Workstation Edition)", variant="workstation"), False, False),
        (Distribution("ubuntu", ("debian",), "24.04", "Ubuntu Core", image=True), True, False),
        (Distribution("opensuse-microos", ("suse", "opensuse"), "", "openSUSE MicroOS"), False, True),
        (Distribution("aeon", ("suse", "opensuse-aeon"), "", "openSUSE Aeon"), False, True),
        (Distribution("opensuse-tumbleweed", ("suse", "opensuse"), "", "openSUSE Tumbleweed"), False, False),
    ],
)
def test_systems_that_are_exchanged_as_a_whole(distribution: Distribution, image: bool, transactional: bool) -> None:
    assert (is_image(distribution), is_transactional(distribution)) == (image, transactional)
