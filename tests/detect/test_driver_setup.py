"""How a driver was set up, as its files show it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.detect import driver
from gpuassist.model.driver import Driver, ModuleBlock, Option
from gpuassist.model.fact import Unknown
from tests.facts import value
from tests.fakes import put, world_under
from tests.machines import linux, loaded_module


def probe(root: Path) -> Driver:
    return driver.probe(world_under(root))


def test_bars_are_named_by_file_and_line(tmp_path: Path) -> None:
    put(tmp_path, "/etc/modprobe.d/laptop.conf", "# integrated only\nblacklist nvidia\nblacklist snd_pcsp\n")
    assert value(probe(tmp_path).bars) == (ModuleBlock("nvidia", "/etc/modprobe.d/laptop.conf:2", "blacklist nvidia"),)


def test_file_of_the_owner_hides_that_of_a_package(tmp_path: Path) -> None:
    put(tmp_path, "/etc/modprobe.d/nvidia.conf", "")
    put(tmp_path, "/usr/lib/modprobe.d/nvidia.conf", "blacklist nouveau\n")
    assert value(probe(tmp_path).bars) == ()


def test_command_line_of_the_kernel_bars_too(tmp_path: Path) -> None:
    put(tmp_path, "/proc/cmdline", "ro modprobe.blacklist=nvidia\n")
    assert value(probe(tmp_path).bars) == (ModuleBlock("nvidia", "/proc/cmdline", "modprobe.blacklist=nvidia"),)


def test_options_that_matter_are_kept(tmp_path: Path) -> None:
    words = 'ResmanDebugLevel: 4294967295\nPreserveVideoMemoryAllocations: 1\nExcludedGpus: "GPU-1"\n'
    put(tmp_path, "/proc/driver/nvidia/params", words)
    assert value(probe(tmp_path).options) == (Option("PreserveVideoMemoryAllocations", "1"), Option("ExcludedGpus", "GPU-1"))


def test_firmware_of_the_loaded_version_is_found(tmp_path: Path) -> None:
    linux(tmp_path)
    loaded_module(tmp_path, "580.95.05", open_flavour=True)
    put(tmp_path, "/lib/firmware/nvidia/580.95.05/gsp_ga10x.bin.zst", b"")
    put(tmp_path, "/lib/firmware/nvidia/550.54.14/gsp_tu10x.bin", b"")
    assert value(probe(tmp_path).firmware) == ("/lib/firmware/nvidia/580.95.05/gsp_ga10x.bin.zst",)


def test_firmware_of_another_version_does_not_count(tmp_path: Path) -> None:
    loaded_module(tmp_path, "580.95.05", open_flavour=True)
    put(tmp_path, "/lib/firmware/nvidia/550.54.14/gsp_tu10x.bin", b"")
    assert value(probe(tmp_path).firmware) == ()


def test_firmware_is_unknown_where_none_can_be_seen(tmp_path: Path) -> None:
    loaded_module(tmp_path, "580.95.05", open_flavour=True)
    assert isinstance(probe(tmp_path).firmware, Unknown)


def test_installers_leave_their_traces(tmp_path: Path) -> None:
    put(tmp_path, "/usr/bin/nvidia-uninstall", b"")
    put(tmp_path, "/var/lib/dpkg/info/libnvidia-compute-580:amd64.md5sums", "")
    found = probe(tmp_path)
    assert (value(found.uninstaller), value(found.driver_packages)) == ("/usr/bin/nvidia-uninstall", ("libnvidia-compute-580",))


def test_package_that_left_its_settings_is_not_installed(tmp_path: Path) -> None:
    put(tmp_path, "/var/lib/dpkg/info/libnvidia-compute-580:amd64.list", "")
    assert value(probe(tmp_path).driver_packages) == ()


def test_packages_of_rpm_are_unknown(tmp_path: Path) -> None:
    assert isinstance(probe(tmp_path).driver_packages, Unknown)


@pytest.mark.parametrize("path", ["/usr/bin/nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi"])
def test_nvidia_smi_is_found(tmp_path: Path, path: str) -> None:
    put(tmp_path, path, b"")
    assert value(probe(tmp_path).nvidia_smi) == path


@pytest.mark.parametrize("directory", ["/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d"])
def test_every_place_of_modprobe_is_read(tmp_path: Path, directory: str) -> None:
    put(tmp_path, f"{directory}/x.conf", "blacklist nouveau\n")
    assert value(probe(tmp_path).bars) == (ModuleBlock("nouveau", f"{directory}/x.conf:1", "blacklist nouveau"),)


@pytest.mark.parametrize(
    ("name", "words"),
    [("x.conf", "# blacklist nvidia\n"), ("x.conf", "blacklist nvidiafb\n"), ("x.conf.bak", "blacklist nvidia\n")],
)
def test_line_that_bars_nothing_of_ours_is_left(tmp_path: Path, name: str, words: str) -> None:
    put(tmp_path, f"/etc/modprobe.d/{name}", words)
    assert value(probe(tmp_path).bars) == ()


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("EnableGpuFirmware: 18\n", (Option("EnableGpuFirmware", "18"),)),
        ('ExcludedGpus: ""\n', (Option("ExcludedGpus", ""),)),
        ("UseKernelSuspendNotifiers: 0\nEnableMSI: 1\n", (Option("UseKernelSuspendNotifiers", "0"),)),
        ("EnableGpuFirmware\n", ()),
        ("", ()),
    ],
)
def test_option_is_kept_as_the_driver_says_it(tmp_path: Path, words: str, options: tuple[Option, ...]) -> None:
    put(tmp_path, "/proc/driver/nvidia/params", words)
    assert value(probe(tmp_path).options) == options


def test_driver_that_does_not_run_has_no_options(tmp_path: Path) -> None:
    assert isinstance(probe(tmp_path).options, Unknown)


@pytest.mark.parametrize(
    ("path", "package"),
    [
        ("/var/lib/dpkg/info/libnvidia-compute-570:amd64.md5sums", "libnvidia-compute-570"),
        ("/var/lib/dpkg/info/nvidia-utils-570.md5sums", "nvidia-utils-570"),
        ("/var/lib/dpkg/info/libcuda1:amd64.md5sums", "libcuda1"),
        ("/var/lib/dpkg/info/nvidia-smi.md5sums", "nvidia-smi"),
        ("/var/lib/pacman/local/nvidia-utils-570.86.16-1/desc", "nvidia-utils-570.86.16-1"),
    ],
)
def test_package_of_the_driver_is_named(tmp_path: Path, path: str, package: str) -> None:
    put(tmp_path, path)
    assert value(probe(tmp_path).driver_packages) == (package,)


@pytest.mark.parametrize("path", ["/var/lib/dpkg/info/libnvidia-compute-570:amd64.list", "/var/lib/dpkg/info/nvtop.md5sums"])
def test_package_of_something_else_is_none(tmp_path: Path, path: str) -> None:
    put(tmp_path, path)
    assert value(probe(tmp_path).driver_packages) == ()


# The switches that join the GPUs of a server's baseboard, and the service that sets them up.


def _device(root: Path, address: str, kind: str, vendor: str = "0x10de") -> None:
    put(root, f"/sys/bus/pci/devices/{address}/vendor", f"{vendor}\n")
    put(root, f"/sys/bus/pci/devices/{address}/class", f"{kind}\n")


def test_switches_are_counted(tmp_path: Path) -> None:
    _device(tmp_path, "0000:07:00.0", "0x030200")
    _device(tmp_path, "0000:c4:00.0", "0x068000")
    _device(tmp_path, "0000:c5:00.0", "0x068000")
    _device(tmp_path, "0000:00:1f.0", "0x068000", "0x8086")
    assert value(probe(tmp_path).switches) == 2


def test_switches_are_unknown_without_a_pci_tree(tmp_path: Path) -> None:
    assert isinstance(probe(tmp_path).switches, Unknown)


STATUS = """Package: nvidia-fabricmanager-dev-580
Version: 580.1.1-1

Package: nvidia-fabricmanager-580
Status: install ok installed
Architecture: amd64
Version: 580.95.05-0ubuntu1
"""


def test_fabric_manager_that_runs_is_found_with_its_version(tmp_path: Path) -> None:
    put(tmp_path, "/usr/bin/nv-fabricmanager", b"")
    put(tmp_path, "/proc/1/comm", "systemd\n")
    put(tmp_path, "/proc/812/comm", "nv-fabricmanage\n")
    put(tmp_path, "/var/lib/dpkg/status", STATUS)
    found = probe(tmp_path)
    assert (value(found.fabric_manager), value(found.fabric_running)) == ("/usr/bin/nv-fabricmanager", True)
    assert str(value(found.fabric_version)) == "580.95.05"


def test_fabric_manager_that_stands_still_is_told(tmp_path: Path) -> None:
    put(tmp_path, "/usr/bin/nv-fabricmanager", b"")
    put(tmp_path, "/proc/1/comm", "systemd\n")
    found = probe(tmp_path)
    assert value(found.fabric_running) is False
    assert isinstance(found.fabric_version, Unknown)


def test_machine_without_fabric_manager_says_so(tmp_path: Path) -> None:
    found = probe(tmp_path)
    assert (value(found.fabric_manager), value(found.fabric_running)) == ("", False)


def test_packages_of_the_kernels_half_are_told_too(tmp_path: Path) -> None:
    for name in ("linux-modules-nvidia-580-open-6.8.0-60-generic", "libnvidia-compute-595", "nvidia-dkms-595-open"):
        put(tmp_path, f"/var/lib/dpkg/info/{name}.md5sums", "")
    packages = value(probe(tmp_path).driver_packages)
    assert set(packages) == {"linux-modules-nvidia-580-open-6.8.0-60-generic", "libnvidia-compute-595", "nvidia-dkms-595-open"}
