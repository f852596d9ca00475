"""What modprobe, DKMS and the installers say of the kernel module leads to the right problem."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures import driver_services, kernel_module, nvidia_installer
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each

SIGNATURES = (*kernel_module.SIGNATURES, *nvidia_installer.SIGNATURES, *driver_services.SIGNATURES)

DKMS = """\
$ sudo dkms install nvidia/390.157
'make' -j8 KERNEL_UNAME=6.4.1-zen1-1-zen modules...(bad exit status: 2)
Error! Bad return status for module build on kernel: 6.4.1-zen1-1-zen (x86_64)
Consult /var/lib/dkms/nvidia/390.157/build/make.log for more information.
"""


@for_each(
    ("words", "expected"),
    [
        ("modprobe: ERROR: could not insert 'nvidia': Required key not available", "secure-boot-unsigned-module"),
        ("modprobe: ERROR: could not insert 'nvidia': Key was rejected by service", "secure-boot-unsigned-module"),
        ("modprobe: ERROR: could not insert 'nvhda': Required key not available", "secure-boot-unsigned-module"),
        ("nvidia: Loading of unsigned module is rejected", "secure-boot-unsigned-module"),
        ("Lockdown: modprobe: unsigned module loading is restricted\nnvidia", "secure-boot-unsigned-module"),
        (
            "The NVIDIA kernel module failed to load because it was not signed by a key that is trusted by the kernel",
            "secure-boot-unsigned-module",
        ),
        ("modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-60-generic", "driver-not-loaded"),
        ("modprobe: ERROR: could not insert 'nvidia': No such device", "driver-not-loaded"),
        ("modprobe: ERROR: could not insert 'nvidia': Exec format error", "driver-not-loaded"),
        ("nvidia: disagrees about version of symbol module_layout", "driver-not-loaded"),
        ("nvidia-persistenced failed to initialize. Check syslog for more details.", "driver-not-loaded"),
        (DKMS, "dkms-build-failed"),
        ("DKMS module 'nvidia-367.35' failed to build, please check /var/lib/dkms", "dkms-build-failed"),
        ("make[1]: *** [Makefile:1652: /var/lib/dkms/nvidia/435.27.08/build] Error 2", "dkms-build-failed"),
        ("nvidia: The Module.symvers file is missing, or does not contain any", "kernel-headers-missing"),
        ("/var/lib/dkms/nvidia/340.108/build/nv-linux.h:115:10: fatal error: linux/smp_lock.h: No such", "dkms-build-failed"),
        ("Loading of module with unavailable key is rejected\nnvidia", "secure-boot-unsigned-module"),
        ("dkms autoinstall on 6.8.10-300.fc40.x86_64/x86_64 failed for nvidia(10)", "dkms-build-failed"),
        ("ERROR: Unable to build the NVIDIA kernel module.", "dkms-build-failed"),
        (
            'ERROR: An error occurred while performing the step: "Building kernel modules". See /var/log/nvidia-installer.log',
            "dkms-build-failed",
        ),
        ("ERROR: Failed to run `/usr/sbin/dkms build -m nvidia -v 470.63.01 -k 5.11.0-27-generic`", "dkms-build-failed"),
        ("FATAL: modpost: GPL-incompatible module nvidia.ko uses GPL-only symbol 'rcu_read_unlock_strict'", "dkms-build-failed"),
        ("ERROR: Unable to load the kernel module 'nvidia.ko'.", "driver-not-loaded"),
        ("nvidia: Compiler version check failed:", "dkms-build-failed"),
        ("/lib/modules/5.10.0-20-arm64/build: No such file or directory", "kernel-headers-missing"),
        ("make[1]: *** /lib/modules/6.1.0-9-amd64/build: No such file or directory.  Stop.", "kernel-headers-missing"),
        ("Error! Your kernel headers for kernel 6.8.0-60-generic cannot be found.", "kernel-headers-missing"),
        ("Unable to find the kernel source tree for the currently running kernel.", "kernel-headers-missing"),
        ("==> ERROR: Missing 6.17.8-zen1-1-zen kernel headers for module nvidia/580.105.08", "kernel-headers-missing"),
        ("E: Unable to locate package linux-headers-6.5.0-kali3-amd64", "kernel-headers-missing"),
        (
            "Module build for kernel 5.4.0 was skipped since the kernel headers for this kernel do not seem to be installed.",
            "kernel-headers-missing",
        ),
        ("An NVIDIA kernel module 'nvidia-drm' appears to already be loaded in your kernel.", "module-already-loaded"),
        ("An NVIDIA kernel module 'nvidia-uvm' appears to be already loaded in your kernel.", "module-already-loaded"),
        ("rmmod: ERROR: Module nvidia is in use by: nvidia_uvm nvidia_modeset", "module-already-loaded"),
        ("ERROR: You appear to be running an X server; please exit X before installing. (NVIDIA)", "module-already-loaded"),
        ("$ prime-select query\nintel\n", "hybrid-graphics-prime"),
        ("$ envycontrol --query\nintegrated", "hybrid-graphics-prime"),
        ("optimus-manager: Current GPU mode : integrated", "hybrid-graphics-prime"),
        ("$ system76-power graphics\nintegrated", "hybrid-graphics-prime"),
        ("modprobe: ERROR: could not insert 'off': Unknown symbol", "hybrid-graphics-prime"),
        ("modprobe: FATAL: Module off not found in directory /lib/modules/6.8.0", "hybrid-graphics-prime"),
        (
            "nvidia-fabricmanager-start.sh: request to query NVSwitch device information from NVSwitch driver failed with"
            " error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]",
            "fabric-manager-not-needed",
        ),
        ("HGX: nvidia-fabricmanager.service: Failed with result 'exit-code'.", "fabric-manager-not-running"),
        ("RTX 4090: nvidia-fabricmanager.service: Control process exited, code=exited", "fabric-manager-not-needed"),
        (
            "fabric manager NVIDIA GPU driver interface version 535.129.03 don't match with driver version 535.161.07.",
            "fabric-manager-not-running",
        ),
    ],
)
def test_message_leads_to_its_cause(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
        "modprobe: ERROR: could not insert 'vboxdrv': Required key not available",
        "ERROR (dkms apport): kernel package linux-headers-5.13.18 is not supported",
        "Error! Bad return status for module build on kernel: 6.8.0-60-generic (x86_64)\n/var/lib/dkms/rtl8821ce/5.5.2",
        "rmmod: ERROR: Module snd_hda_intel is in use",
        "prime-select query\nnvidia",
        "/lib/modules/6.8.0-60-generic/build/Makefile",
        "the command nvidia-fabricmanager is part of the server's driver",
        "cmake: build failed with exit status 2",
    ],
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_failed_build_names_driver_kernel_and_its_flavour() -> None:
    assert parameters(SIGNATURES, DKMS) == {"driver": "390.157", "kernel": "6.4.1-zen1-1-zen", "flavour": "zen"}


def test_apports_hint_is_no_missing_header() -> None:
    words = (
        "dkms install -m nvidia -v 470.86\nERROR (dkms apport): kernel package linux-headers-5.13.18-21.09.16.amdgpu.ubuntu is not"
        " supported\nError! Bad return status for module build on kernel: 5.13.18-21.09.16.amdgpu.ubuntu (x86_64)"
    )
    assert problems(SIGNATURES, words) == {"dkms-build-failed"}
    assert parameters(SIGNATURES, words)["flavour"] == "amdgpu"


@pytest.mark.parametrize(
    ("words", "kernel"),
    [
        ("Error! Your kernel headers for kernel 6.8.0-60-generic cannot be found.", "6.8.0-60-generic"),
        ("/lib/modules/5.10.0-20-arm64/build: No such file or directory", "5.10.0-20-arm64"),
        ("E: Unable to locate package linux-headers-6.5.0-kali3-amd64", "6.5.0-kali3-amd64"),
        ("modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.8.0-60-generic", "6.8.0-60-generic"),
    ],
)
def test_kernel_is_named(words: str, kernel: str) -> None:
    assert parameters(SIGNATURES, words)["kernel"] == kernel


def test_refused_insertion_for_want_of_a_device_is_not_sure() -> None:
    clues = read(SIGNATURES, "modprobe: ERROR: could not insert 'nvidia': No such device\nlsmod: nouveau")
    assert [(clue.problem, clue.weight) for clue in clues] == [
        ("driver-not-loaded", Weight.STATE),
        ("nouveau-active", Weight.STATE),
    ]


def test_module_in_use_is_named() -> None:
    assert parameters(SIGNATURES, "rmmod: ERROR: Module nvidia_drm is in use") == {"module": "nvidia_drm"}


def test_graphics_mode_is_named() -> None:
    assert parameters(SIGNATURES, "prime-select query\nintel") == {"mode": "intel"}


@for_each(
    ("words", "expected"),
    [
        ("insmod: ERROR: could not insert module nvidia.ko: Key was rejected by service", "secure-boot-unsigned-module"),
        ("modprobe: ERROR: could not insert 'nvidia': Invalid module format", "driver-not-loaded"),
        ("modprobe: ERROR: could not insert 'nvidia_uvm': Unknown symbol in module, or unknown parameter", "driver-not-loaded"),
        ("modprobe: ERROR: could not insert 'nvidia_drm': Operation not permitted", "driver-not-loaded"),
        ("modprobe: ERROR: could not insert 'nvidia': Cannot allocate memory", "driver-not-loaded"),
        ("modprobe: ERROR: could not insert 'nvidia': Device or resource busy", "driver-not-loaded"),
        ("modprobe: ERROR: could not insert 'nvidia': No such file or directory", "driver-not-loaded"),
        ("nvidia: version magic '6.8.0-59 SMP mod_unload' should be '6.8.0-60-generic SMP mod_unload'", "driver-not-loaded"),
        ("nvidia-persistenced: Failed to query NVIDIA devices. Please ensure that the NVIDIA device files", "driver-not-loaded"),
        ("ls: cannot access '/dev/nvidiactl': No such file or directory", "driver-not-loaded"),
        ("ERROR: Unable to find the development tool `cc` in your path; the NVIDIA installer needs it", "dkms-build-failed"),
        ("/lib/modules/6.1.0-9-amd64/source: No such file or directory", "kernel-headers-missing"),
        ("/lib/modules/6.1.0-9-amd64/build does not exist", "kernel-headers-missing"),
        ("make: *** /lib/modules/6.1.0-9-amd64/build: Aucun fichier ou dossier de ce type.", "kernel-headers-missing"),
        ("make: *** /lib/modules/6.1.0-9-amd64/build: Datei oder Verzeichnis nicht gefunden.", "kernel-headers-missing"),
        ("make: *** /lib/modules/6.1.0-9-amd64/build: 没有那个文件或目录。", "kernel-headers-missing"),
        ("make: *** /lib/modules/6.1.0-9-amd64/build: No existe el fichero o el directorio.", "kernel-headers-missing"),
        ("The kernel header file '/lib/modules/6.1/build/include/linux/kernel.h' does not exist.", "kernel-headers-missing"),
        ("ERROR: the kernel headers package is not installed", "kernel-headers-missing"),
        ("Error: Unable to find a match: kernel-devel-5.14.0-427.el9", "kernel-headers-missing"),
        ("No match for argument: kernel-devel-6.9.7-200.fc40", "kernel-headers-missing"),
        ("ERROR: Kernel configuration is invalid.\n include/generated/autoconf.h or include/config/auto.conf are missing.",
         "kernel-headers-missing"),
        ("CUDA installer: X server is running, exit it first", "module-already-loaded"),
        ("Selected prime profile: intel", "hybrid-graphics-prime"),
        ("$ supergfxctl -g\nIntegrated", "hybrid-graphics-prime"),
        ("prime-select: the intel profile is set", "hybrid-graphics-prime"),
        ("bbswitch: device 0000:01:00.0 is disabled", "hybrid-graphics-prime"),
        ("systemd[1]: Failed to start NVIDIA Fabric Manager service. (HGX)", "fabric-manager-not-running"),
        ("nvidia-fabricmanager version 535.129.03 does not match driver version 535.161.07", "fabric-manager-not-running"),
        ("Fabric Manager interface version 550.54 didn't match: driver interface version is 550.90", ""),
    ],
)  # fmt: skip
def test_message_is_known_in_its_other_wordings(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "modprobe: ERROR: could not insert 'vboxdrv': Invalid module format",
        "wifi: version magic '6.8.0-59 SMP' should be '6.8.0-60 SMP'",
        "crw-rw-rw- 1 root root 195, 255 /dev/nvidiactl",
        "the development tool `gdb` is optional",
        "kernel-devel-6.9.7 is already installed.",
        "Selected prime profile: nvidia",
        "$ supergfxctl -g\nHybrid",
        "bbswitch: device 0000:01:00.0 is enabled",
        "the X server is running (no graphics card named)",
        "Started NVIDIA fabric manager service.",
    ],
)
def test_sound_neighbour_of_a_wording_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_module_of_an_other_kernel_names_the_right_one() -> None:
    words = "nvidia: version magic '6.8.0-59-generic SMP mod_unload' should be '6.8.0-60-generic SMP mod_unload'"
    assert parameters(SIGNATURES, words) == {"kernel": "6.8.0-60-generic"}


@pytest.mark.parametrize(
    ("kernel", "flavour"),
    [
        ("6.9.1-xanmod1", "xanmod"),
        ("6.6.30-rt30", "rt"),
        ("6.10.0-rc3", "rc"),
        ("6.9.7-surface", "surface"),
        ("6.8.9-cachyos", "cachyos"),
        ("6.8.0-60-generic", ""),
    ],
)
def test_kernel_of_a_special_flavour_is_told(kernel: str, flavour: str) -> None:
    words = f"nvidia/550.90.07\nError! Bad return status for module build on kernel: {kernel} (x86_64)"
    assert parameters(SIGNATURES, words).get("flavour", "") == flavour


def test_realtime_kernel_is_told_without_nvidias_name() -> None:
    told = parameters(SIGNATURES, "make[3]: *** [Makefile:5: preempt_rt_sanity_check] Error 1")
    assert (told["flavour"], told["realtime"]) == ("PREEMPT_RT", "yes")
