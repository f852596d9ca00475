"""Messages about how the driver was set up."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.driver_setup import SIGNATURES
from gpuassist.diagnose.signatures.kernel_log import SIGNATURES as KERNEL_LOG
from gpuassist.diagnose.signatures.kernel_module import SIGNATURES as KERNEL_MODULE
from gpuassist.diagnose.signatures.nvidia_installer import SIGNATURES as INSTALLER
from gpuassist.diagnose.signatures.nvidia_smi import SIGNATURES as NVIDIA_SMI
from gpuassist.model.machine import Machine
from tests.diagnose.signatures.reading import parameters, problem
from tests.rows import for_each
from tests.values import machine


@for_each(
    ("words", "expected"),
    [
        ("/etc/modprobe.d/bumblebee.conf:3:blacklist nvidia", "driver-module-blacklisted"),
        ("$ cat /etc/modprobe.d/a.conf\nblacklist nvidia\n", "driver-module-blacklisted"),
        ("install nvidia /bin/false", "driver-module-blacklisted"),
        ("/lib/modprobe.d/blacklist-nvidia.conf:8:alias nvidia off", "driver-module-blacklisted"),
        (
            "modprobe: ERROR: ../libkmod/libkmod-module.c:1047 command_do() Error running install command '/bin/false' for module"
            " nvidia: retcode 1\nmodprobe: ERROR: could not insert 'nvidia': Invalid argument",
            "driver-module-blacklisted",
        ),
        ("modprobe: ERROR: ... command_do() Error running install command for nvidia", "driver-module-blacklisted"),
        ("[    2.1] Module nvidia is blacklisted", "driver-module-blacklisted"),
        ("SKIP: /var/lib/shim-signed/mok/MOK.der is already in the enrollment request", "secure-boot-mok-pending"),
        ("$ mokutil --list-new\n[key 1]\nOwner: 605dab50-e046-4300-abb6-3dd810dd8b23", "secure-boot-mok-pending"),
        ("The nvidia-installer program was found on this system. This is\n probably left over", "driver-installed-twice"),
        ("Device Minor: \t 1\nGPU Excluded:\t Yes", "gpu-excluded-by-option"),
        ('ExcludedGpus: "GPU-5e1c"', "gpu-excluded-by-option"),
        (
            "NVRM: GPU 0000:01:00.0: PreserveVideoMemoryAllocations module parameter is set. System Power Management attempted"
            " without driver procfs suspend interface.",
            "video-memory-lost-over-sleep",
        ),
        (
            "15:38 NVRM: GPU 0000:2b:00.0: something\n         System Power Management attempted without driver procfs\n"
            "[ 9.1] NVRM: suspend interface. Please refer to the README.",
            "video-memory-lost-over-sleep",
        ),
    ],
)
def test_message_is_told_by_its_words(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "/etc/modprobe.d/blacklist-framebuffer.conf:20:blacklist nvidiafb",
        "# blacklist nvidia",
        "install nvidia modprobe -i nvidia-current $CMDLINE_OPTS",
        "echo 'blacklist nvidia' | sudo tee /etc/modprobe.d/vfio.conf",
        "Module nouveau is blacklisted",
        "/var/lib/shim-signed/mok/MOK.der is already enrolled",
        "$ mokutil --list-new\n$ ",
        "GPU Excluded:\t No",
        'ExcludedGpus: ""',
        "PreserveVideoMemoryAllocations: 1",
        "bash: nvidia-smi: command not found",
    ],
)
def test_neighbour_says_nothing(words: str) -> None:
    assert problem(SIGNATURES, words) == ""


def test_file_and_line_are_named() -> None:
    found = parameters(SIGNATURES, "/etc/modprobe.d/bumblebee.conf:3:blacklist   nvidia")
    assert found == {"place": "/etc/modprobe.d/bumblebee.conf", "line": "blacklist nvidia"}


@pytest.mark.parametrize("own", [machine(wsl=2), machine(container="docker")])
def test_lines_of_an_image_forbid_nothing_on_its_host(own: Machine) -> None:
    assert problem(SIGNATURES, "/etc/modprobe.d/a.conf:1:blacklist nvidia", own) == ""


def test_tool_alone_is_missing_where_the_driver_runs() -> None:
    found = parameters(SIGNATURES, "bash: nvidia-smi: command not found", machine())
    assert found == {"driver": "550.54.14", "branch": "550"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("nvidia 0000:01:00.0: Direct firmware load for nvidia/580.95.05/gsp_ga10x.bin failed with error -2", "580.95.05"),
        ("nvidia 0000:01:00.0: loading /lib/firmware/nvidia/570.133.20/gsp_tu10x.bin failed with error -2", "570.133.20"),
        ("Direct firmware load for nvidia/510.47.03/gsp.bin failed with error -2", "510.47.03"),
    ],
)
def test_firmware_that_is_not_there_is_named(words: str, expected: str) -> None:
    found = parameters(KERNEL_LOG, words)
    assert (found["driver"], found["firmware_missing"].startswith("/lib/firmware/nvidia/5")) == (expected, True)


def test_firmware_that_fails_otherwise_is_not_missing() -> None:
    found = parameters(
        KERNEL_LOG, "nvidia 0000:01:00.0: loading /lib/firmware/nvidia/570.133.20/gsp_tu10x.bin failed with error -4"
    )
    assert "firmware_missing" not in found


@pytest.mark.parametrize(
    "words",
    [
        "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\nNVRM: BAR1 is 0M @ 0x0 (PCI:0000:56:00.0)",
        "NVRM: This PCI I/O region assigned to your NVIDIA device is \n[ 1.2] NVRM: invalid:",
        "NVRM: BAR1 is 0M @ 0x00000000 (PCI:0000:10.0)",
        "NVRM: BAR0 is 0M @ 0x0 (PCI:0000:01:00.0)",
        "pci 0000:01:00.0: BAR 1: no space for [mem size 0x10000000 64bit pref]\nNVRM: loading",
        "nvidia 0000:01:00.0: BAR 1 [mem size 0x10000000 64bit pref]: can't assign; no space\nNVRM: probe",
    ],
)
def test_gpu_without_a_place_in_memory_is_told(words: str) -> None:
    assert parameters(KERNEL_LOG, words)["no_address"] == "yes"


@pytest.mark.parametrize("words", ["NVRM: BAR1 is 256M @ 0x0", "pci 0000:3a:00.0: BAR 13: no space for [io size 0x1000]"])
def test_other_regions_prove_nothing(words: str) -> None:
    assert problem(KERNEL_LOG, words) == ""


@pytest.mark.parametrize(
    "words",
    [
        "The kernel you are installing for is a PREEMPT_RT kernel!",
        "*** Failed PREEMPT_RT sanity check. Bailing out! ***",
        "make[1]: *** [Kbuild:348: preempt_rt_sanity_check] Error 1",
        "The NVIDIA driver does not support real-time kernels. If you",
    ],
)
def test_realtime_kernel_is_told(words: str) -> None:
    assert parameters(KERNEL_MODULE, words)["realtime"] == "yes"


def test_make_that_is_told_to_ignore_it_is_no_refusal() -> None:
    assert problem(KERNEL_MODULE, "'make' -j8 IGNORE_PREEMPT_RT_PRESENCE=1 modules") == ""


def test_desktop_in_the_installers_way_is_told() -> None:
    found = parameters(INSTALLER, "ERROR: You appear to be running an X server; please exit X before installing. NVIDIA")
    assert found == {"display": "yes"}


def test_driver_that_an_unattended_upgrade_replaced_says_so() -> None:
    words = (
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.163\n"
        "$ tail /var/log/apt/history.log\nCommandline: /usr/bin/unattended-upgrade\nUpgrade: libnvidia-compute-550"
    )
    assert parameters(NVIDIA_SMI, words)["unattended"] == "yes"
