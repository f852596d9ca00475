"""Hosts of every kind, as their files show them."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from gpuassist.detect import host
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.machine import Distribution, Host
from gpuassist.model.version import Version
from tests.facts import reason, value
from tests.fakes import link, put, world_under
from tests.machines import ARCH, DEBIAN, SECURE_BOOT, UBUNTU, linux


def probe(root: Path) -> Host:
    return host.probe(world_under(root))


@pytest.mark.parametrize(
    ("os_release", "distribution"),
    [
        (UBUNTU, Distribution("ubuntu", ("debian",), "24.04", "Ubuntu 24.04.2 LTS", "noble")),
        (DEBIAN, Distribution("debian", (), "12", "Debian GNU/Linux 12 (bookworm)")),
        (ARCH, Distribution("arch", (), "", "Arch Linux")),
        (
            'PRETTY_NAME="LMDE 6 (faye)"\nID=linuxmint\nID_LIKE=debian\nVERSION_ID="6"\nVERSION_CODENAME=faye\n'
            "DEBIAN_CODENAME=bookworm\n",
            Distribution("linuxmint", ("debian",), "6", "LMDE 6 (faye)", "bookworm"),
        ),
        (
            'PRETTY_NAME="Linux Mint 22.1"\nID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_ID="22.1"\nVERSION_CODENAME=xia\n'
            "UBUNTU_CODENAME=noble\n",
            Distribution("linuxmint", ("ubuntu", "debian"), "22.1", "Linux Mint 22.1", "noble"),
        ),
        (
            "PRETTY_NAME=\"Fedora Linux 43 (Kinoite)\"\nID=fedora\nVERSION_ID=43\nVARIANT_ID=kinoite\nOSTREE_VERSION='43.1'\n",
            Distribution("fedora", (), "43", "Fedora Linux 43 (Kinoite)", "", "kinoite", image=True),
        ),
        ('NAME=X\nID_LIKE="suse opensuse"\n', Distribution("linux", ("suse", "opensuse"), "", "X")),
    ],
)
def test_distribution_is_read(tmp_path: Path, os_release: str, distribution: Distribution) -> None:
    linux(tmp_path, os_release=os_release)
    assert probe(tmp_path).distribution == Known(distribution, "/etc/os-release")


def test_what_libostree_leaves_at_the_start_tells_an_image(tmp_path: Path) -> None:
    linux(tmp_path, os_release='PRETTY_NAME="Fedora CoreOS 43"\nID=fedora\nVERSION_ID=43\n')
    assert not value(probe(tmp_path).distribution).image
    put(tmp_path, "/run/ostree-booted", "")
    assert value(probe(tmp_path).distribution).image


def test_distribution_of_the_vendor_file_is_read(tmp_path: Path) -> None:
    put(tmp_path, "/usr/lib/os-release", DEBIAN)
    link(tmp_path, "/etc/os-release", "../usr/lib/os-release")
    assert value(probe(tmp_path).distribution).id == "debian"


@pytest.mark.parametrize("words", ["", "junk\n", "VERSION_ID=1\n"])
def test_file_that_names_nothing_is_unknown(tmp_path: Path, words: str) -> None:
    linux(tmp_path, os_release=words)
    assert "/etc/os-release holds something else" in reason(probe(tmp_path).distribution)


def test_kernel_and_architecture_are_read(tmp_path: Path) -> None:
    linux(tmp_path, kernel="6.8.0-60-generic")
    found = probe(tmp_path)
    assert (value(found.kernel), value(found.architecture)) == ("6.8.0-60-generic", "x86_64")


@pytest.mark.parametrize(("machine", "name"), [(62, "x86_64"), (183, "aarch64")])
def test_architecture_of_older_kernel_is_that_of_its_shell(tmp_path: Path, machine: int, name: str) -> None:
    put(tmp_path, "/usr/bin/dash", b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 3, machine))
    link(tmp_path, "/bin", "usr/bin")
    link(tmp_path, "/usr/bin/sh", "dash")
    assert probe(tmp_path).architecture == Known(name, "/bin/sh")


@pytest.mark.parametrize("shell", [b"", b"#!/bin/busybox", b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\xff\xff"])
def test_shell_of_no_known_architecture_is_unknown(tmp_path: Path, shell: bytes) -> None:
    put(tmp_path, "/bin/sh", shell)
    assert "/bin/sh" in reason(probe(tmp_path).architecture)


def test_bare_directory_leaves_everything_but_absences_unknown(tmp_path: Path) -> None:
    found = probe(tmp_path)
    for fact in (found.distribution, found.kernel, found.architecture, found.glibc, found.wsl, found.container, found.secure_boot):
        assert reason(fact)


def test_glibc_version_stands_in_the_library(tmp_path: Path) -> None:
    words = b"\x7fELF junk\0GNU C Library (Debian GLIBC 2.36-9+deb12u10) stable release version 2.36.\nCopyright"
    put(tmp_path, "/lib/x86_64-linux-gnu/libc.so.6", words)
    assert probe(tmp_path).glibc == Known(Version((2, 36)), "/lib/x86_64-linux-gnu/libc.so.6")


def test_glibc_behind_link_of_older_systems_is_read(tmp_path: Path) -> None:
    put(tmp_path, "/lib64/libc-2.17.so", "GNU C Library (GNU libc) stable release version 2.17, by Roland McGrath et al.\n")
    link(tmp_path, "/lib64/libc.so.6", "libc-2.17.so")
    assert value(probe(tmp_path).glibc) == Version((2, 17))


def test_other_c_library_is_unknown(tmp_path: Path) -> None:
    put(tmp_path, "/lib/ld-musl-x86_64.so.1")
    assert "another C library" in reason(probe(tmp_path).glibc)


def test_library_without_version_is_unknown(tmp_path: Path) -> None:
    put(tmp_path, "/lib64/libc.so.6", "nothing to see")
    assert "names no version" in reason(probe(tmp_path).glibc)


@pytest.mark.parametrize(
    ("kernel", "wsl"),
    [
        ("6.8.0-60-generic", 0),
        ("5.15.167.4-microsoft-standard-WSL2", 2),
        ("4.19.128-microsoft-standard", 2),
        ("4.4.0-19041-Microsoft", 1),
        ("6.18.0-azure", 0),
    ],
)
def test_wsl_is_told_by_the_kernels_name(tmp_path: Path, kernel: str, wsl: int) -> None:
    linux(tmp_path, kernel=kernel)
    assert value(probe(tmp_path).wsl) == wsl


def test_wsl_with_own_kernel_is_told_by_its_device(tmp_path: Path) -> None:
    linux(tmp_path, kernel="6.6.0-mine")
    put(tmp_path, "/dev/dxg")
    assert probe(tmp_path).wsl == Known(2, "/dev/dxg")


def test_machine_of_its_own_is_no_container(tmp_path: Path) -> None:
    linux(tmp_path)
    assert value(probe(tmp_path).container) == ""


@pytest.mark.parametrize(
    ("path", "content", "kind"),
    [
        ("/.dockerenv", "", "docker"),
        ("/run/.containerenv", 'engine="podman-4"\n', "podman"),
        ("/.singularity.d/env", "", "apptainer"),
        ("/run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"),
        ("/proc/1/environ", "TERM=x\0container=lxc\0", "lxc"),
        ("/proc/1/cgroup", "12:cpu:/kubepods/besteffort/pod1\n0::/\n", "kubernetes"),
        ("/proc/1/cgroup", "1:name=systemd:/docker/4f2a\n", "docker"),
        ("/proc/self/mountinfo", "1 2 0:3 / / rw - overlay overlay rw,lowerdir=/var/lib/containers/storage/a\n", "podman"),
    ],
)
def test_container_is_told_by_its_marks(tmp_path: Path, path: str, content: str, kind: str) -> None:
    linux(tmp_path)
    put(tmp_path, path, content)
    assert value(probe(tmp_path).container) == kind


def test_wsl_that_calls_itself_container_is_none(tmp_path: Path) -> None:
    linux(tmp_path)
    put(tmp_path, "/run/systemd/container", "wsl\n")
    put(tmp_path, "/proc/1/environ", "container=wsl\0")
    assert value(probe(tmp_path).container) == ""


def test_docker_on_the_machine_is_no_container(tmp_path: Path) -> None:
    linux(tmp_path)
    put(
        tmp_path,
        "/proc/self/mountinfo",
        "1 2 8:1 / / rw - ext4 /dev/sda1 rw\n3 1 0:4 / /var/lib/docker/overlay2/x rw - overlay overlay\n",
    )
    assert value(probe(tmp_path).container) == ""


def test_jetson_is_told_by_its_release_file(tmp_path: Path) -> None:
    put(tmp_path, "/etc/nv_tegra_release", "# R36 (release), REVISION: 4.7\n")
    assert value(probe(tmp_path).jetson) is True


@pytest.mark.parametrize(
    ("words", "release"),
    [
        ("# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, EABI: aarch64\n", "36.4.3"),
        ("# R38 (release), REVISION: 2.0, GCID: 41844464\n", "38.2.0"),
        ("# R35 (release), REVISION: 4.1, GCID: 33958178\n", "35.4.1"),
    ],
)
def test_release_of_jetson_linux_is_read(tmp_path: Path, words: str, release: str) -> None:
    put(tmp_path, "/etc/nv_tegra_release", words)
    assert value(probe(tmp_path).l4t) == release


def test_other_computer_has_no_jetson_linux(tmp_path: Path) -> None:
    assert value(probe(tmp_path).l4t) == ""
    put(tmp_path, "/etc/nv_tegra_release", "something else\n")
    assert isinstance(probe(tmp_path).l4t, Unknown)


@pytest.mark.parametrize(("compatible", "jetson"), [("nvidia,p3737\0nvidia,tegra234\0", True), ("raspberrypi,5\0", False)])
def test_jetson_is_told_by_its_device_tree(tmp_path: Path, compatible: str, jetson: bool) -> None:
    put(tmp_path, "/proc/device-tree/compatible", compatible)
    assert value(probe(tmp_path).jetson) is jetson


@pytest.mark.parametrize("secure_boot", [True, False])
def test_secure_boot_is_the_fifth_byte(tmp_path: Path, secure_boot: bool) -> None:
    linux(tmp_path, secure_boot=secure_boot)
    assert probe(tmp_path).secure_boot == Known(secure_boot, SECURE_BOOT)


def test_legacy_bios_has_no_secure_boot(tmp_path: Path) -> None:
    linux(tmp_path, secure_boot=None)
    assert probe(tmp_path).secure_boot == Known(value=False, source="/sys/firmware/efi")


def test_firmware_without_the_variable_has_no_secure_boot(tmp_path: Path) -> None:
    linux(tmp_path, secure_boot=None)
    put(tmp_path, "/sys/firmware/efi/efivars/BootOrder-8be4df61-93ca-11d2-aa0d-00e098032b8c", b"\x07\0\0\0")
    assert value(probe(tmp_path).secure_boot) is False


def test_efi_variables_that_are_not_mounted_are_unknown(tmp_path: Path) -> None:
    linux(tmp_path, secure_boot=None)
    (tmp_path / "sys/firmware/efi/efivars").mkdir(parents=True)
    assert f"{SECURE_BOOT} could not be read: No such file" in reason(probe(tmp_path).secure_boot)


def test_firmware_hidden_by_a_container_is_unknown(tmp_path: Path) -> None:
    (tmp_path / "sys/firmware").mkdir(parents=True)
    assert "/sys/firmware is empty or hidden here" in reason(probe(tmp_path).secure_boot)


def test_variable_that_is_cut_off_is_unknown(tmp_path: Path) -> None:
    linux(tmp_path, secure_boot=None)
    put(tmp_path, SECURE_BOOT, b"\x06\0\0\0")
    assert "shorter than the five bytes" in reason(probe(tmp_path).secure_boot)


def test_variable_that_is_a_directory_is_unknown(tmp_path: Path) -> None:
    linux(tmp_path, secure_boot=None)
    (tmp_path / SECURE_BOOT.lstrip("/")).mkdir(parents=True)
    assert "could not be read: Is a directory" in reason(probe(tmp_path).secure_boot)


def test_key_that_waits_for_the_next_start_is_seen(tmp_path: Path) -> None:
    linux(tmp_path, secure_boot=True)
    put(tmp_path, "/sys/firmware/efi/efivars/MokNew-605dab50-e046-4300-abb6-3dd810dd8b23", bytes(8))
    assert value(probe(tmp_path).key_pending)


def test_no_key_waits_on_a_plain_machine(tmp_path: Path) -> None:
    linux(tmp_path, secure_boot=True)
    assert not value(probe(tmp_path).key_pending)


def test_realtime_kernel_and_sleep_are_told(tmp_path: Path) -> None:
    put(tmp_path, "/sys/kernel/realtime", "1\n")
    put(tmp_path, "/sys/power/suspend_stats/success", "3\n")
    found = probe(tmp_path)
    assert (value(found.realtime), value(found.slept)) == (True, 3)


@pytest.mark.parametrize(("words", "unattended"), [('"1";\n', True), ('"0";\n', False)])
def test_unattended_upgrades_are_told_by_apt(tmp_path: Path, words: str, unattended: bool) -> None:
    put(tmp_path, "/etc/apt/apt.conf.d/20auto-upgrades", f"APT::Periodic::Unattended-Upgrade {words}")
    assert value(probe(tmp_path).unattended) is unattended


def test_unattended_upgrades_are_told_by_a_timer(tmp_path: Path) -> None:
    put(tmp_path, "/etc/systemd/system/timers.target.wants/dnf-automatic-install.timer", "")
    assert value(probe(tmp_path).unattended)
