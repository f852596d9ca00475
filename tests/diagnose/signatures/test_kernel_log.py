"""Lines of the kernel's log lead to the right problem."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures import kernel_log, unserved_gpu
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import CODES, parameters, problem, problems, read
from tests.rows import for_each
from tests.values import Recipe, machine

SIGNATURES = (*kernel_log.SIGNATURES, *unserved_gpu.SIGNATURES, *CODES)

LEGACY = """\
[    4.1] NVRM: The NVIDIA NVIDIA GeForce GTX 1050 GPU installed in this system is
[    4.1] NVRM:  supported through the NVIDIA 580.xx Legacy drivers. Please
[    4.1] NVRM:  visit http://www.nvidia.com/object/unix.html for more
[    4.1] NVRM:  information.  The 595.71.05 NVIDIA driver will ignore
[    4.1] NVRM:  this GPU.  Continuing probe...
"""


def _unsupported(pci_id: str, driver: str) -> str:
    return (
        f"NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: {pci_id})\n               NVRM: installed in this system is not supported by"
        f" the\n               NVRM: NVIDIA {driver} driver release.\n"
    )


@for_each(
    ("line", "expected"),
    [
        ("NVRM: Xid (PCI:0000:01:00): 79, pid=1234, GPU has fallen off the bus.", "xid-79-gpu-fell-off-bus"),
        ("NVRM: Xid (PCI:<bus>): 79, GPU has fallen off the bus.", "xid-79-gpu-fell-off-bus"),
        ("NVRM: Xid (0000:03:00): 79, GPU has fallen off the bus.", "xid-79-gpu-fell-off-bus"),
        ("NVRM: Xid (PCI:0000:01:00): 119, pid=2, name=python, Timeout waiting for RPC from GSP!", "xid-119-gsp-timeout"),
        ("NVRM: Xid (PCI:0000:01:00): 120, pid=2, name=python, GSP task exception", "xid-119-gsp-timeout"),
        ("NVRM: Xid (PCI:0000:3b:00): 63, pid=896, Row Remapper: New row marked for remapping", "xid-63-row-remap"),
        ("NVRM: Xid (PCI:0000:3b:00): 64, pid=896, Row Remapper: Error", "ecc-errors"),
        ("NVRM: Xid (PCI:0000:3b:00): 48, pid=896, DBE (double bit error)", "ecc-errors"),
        ("NVRM: Xid (PCI:0000:3b:00): 94, pid=896, Contained: SM", "ecc-errors"),
        ("NVRM: Xid (PCI:0000:3b:00): 95, pid=896, Uncontained", "ecc-errors"),
        ("NVRM: Xid (PCI:0000:cb:00): 13, pid='<unknown>', name=<unknown>, Graphics Exception", "xid-13-31-application-fault"),
        ("NVRM: Xid (0000:03:00): 13, 0001 00000000 0000a097 00001b0c", "xid-13-31-application-fault"),
        ("NVRM: Xid (PCI:0000:01:00): 31, pid=5, name=python3, Ch 00000010, MMU Fault", "xid-13-31-application-fault"),
        ("NVRM: Xid (PCI:0000:01:00): 43, pid=5, name=python3, Ch 00000010", "xid-13-31-application-fault"),
        ("NVRM: Xid (PCI:0000:01:00): 62, pid=5, 0000(0000) 00000000", "xid-other"),
        ("NVRM: Xid (PCI:0000:01:00): 74, pid=5, NVLink: fatal error", "xid-other"),
        ("NVRM: Xid (PCI:0000:01:00): 999, something new", "xid-other"),
        ("dmesg shows Xid 79 and then nothing", "xid-79-gpu-fell-off-bus"),
        ("XID error: 119 after some hours", "xid-119-gsp-timeout"),
        ("we see xid=31 on one card", "xid-13-31-application-fault"),
    ],
)
def test_xid_leads_to_its_problem(line: str, expected: str) -> None:
    assert problem(SIGNATURES, f"[  12.3] {line}\n") == expected


def test_xid_tells_gpu_number_and_program() -> None:
    line = "NVRM: Xid (PCI:0000:65:00): 31, pid=1797828, name=pt_main_thread, Ch 00000008"
    assert parameters(SIGNATURES, line) == {"xid": "31", "process": "pt_main_thread"}


def test_xid_of_the_only_card_names_it() -> None:
    line = "NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus."
    assert parameters(SIGNATURES, line, machine(Recipe())) == {"gpu": "RTX 4090"}


def test_unlisted_xid_brings_nvidias_meaning_and_advice() -> None:
    told = parameters(SIGNATURES, "NVRM: Xid (PCI:0000:01:00): 62, pid=5")
    assert told["xid"] == "62"
    assert told["meaning"]
    assert told["action"]


def test_stopped_channel_is_a_consequence() -> None:
    clues = read(SIGNATURES, "NVRM: Xid (PCI:0000:01:00): 13, pid=5\nNVRM: Xid (PCI:0000:01:00): 43, pid=5")
    assert [clue.weight for clue in clues] == [Weight.CAUSE, Weight.ASIDE]


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        ("", {}),
        ("GeForce RTX 5090", {"blackwell": "yes"}),
        ("loading NVIDIA UNIX Open Kernel Module for x86_64", {"open": "yes"}),
    ],
)
def test_gsp_timeout_says_what_rules_out_switching_it_off(words: str, flags: dict[str, str]) -> None:
    told = parameters(SIGNATURES, f"{words}\nNVRM: Xid (PCI:0000:01:00): 119, pid=2, Timeout")
    assert {name: value for name, value in told.items() if name in {"blackwell", "open"}} == flags


@for_each(
    ("words", "expected"),
    [
        ("NVRM: GPU at 0000:01:00.0 has fallen off the bus.", "xid-79-gpu-fell-off-bus"),
        ("NVRM: GPU 0000:01:00.0: GPU has fallen off the bus.", "xid-79-gpu-fell-off-bus"),
        ("NVRM: GPU 0000:13:00.0: RmInitAdapter failed! (0x26:0x56:1463)", "rm-init-adapter-failed"),
        ("NVRM: RmInitAdapter failed! (0x26:0xffffffff:1096)", "rm-init-adapter-failed"),
        ("NVRM: rm_init_adapter failed for device bearing minor number 0", "rm-init-adapter-failed"),
        ("kgspWaitForGfwBootOk_TU102: failed to wait for GFW boot complete: 0x65", "rm-init-adapter-failed"),
        ("Direct firmware load for nvidia/570.172.08/gsp_ga10x.bin failed with error -2", "rm-init-adapter-failed"),
        ("NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\nNVRM: BAR1 is 0M @ 0x0", "rm-init-adapter-failed"),
        ("NVRM: ignoring the legacy GPU 0000:01:00.0", "legacy-driver-branch-needed"),
        ("Your card is only supported up to the 390 legacy drivers series.", "legacy-driver-branch-needed"),
        ("installed in this system requires use of the NVIDIA open kernel modules.", "open-module-required"),
        ("dmesg says the open kernel modules are required", "open-module-required"),
        ("NVRM: Open nvidia.ko is only ready for use on Data Center GPUs.", "geforce-open-module-unsupported"),
        ("NVRM: The NVIDIA probe routine was not called for 1 device(s).", "nouveau-active"),
        ("ERROR: The Nouveau kernel driver is currently in use by your system.", "nouveau-active"),
        ("nouveau 0000:01:00.0: unknown chipset (1b3000a1)", "nouveau-active"),
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "ecc-errors"),
        ("        Remapping Failure Occurred                 : Yes", "ecc-errors"),
        ("            HW Thermal Slowdown               : Active", "gpu-overheating"),
        ("  Pending                           : Yes\n  Remapping Failure Occurred        : No", "xid-63-row-remap"),
        ("  Pending Page Blacklist            : Yes", "xid-63-row-remap"),
        ("RTX 3090 in a small case: thermal shutdown after an hour", "gpu-overheating"),
        ("the GPU overheats at 98 C and the machine goes off", "gpu-overheating"),
    ],
)
def test_line_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


def test_legacy_line_names_card_branch_and_driver() -> None:
    assert parameters(SIGNATURES, LEGACY) == {"gpu": "GTX 1050", "branch": "580", "driver": "595.71.05"}


def test_legacy_warning_of_the_installer_names_card_and_branch() -> None:
    words = (
        "WARNING: The NVIDIA GeForce GTX 680 GPU installed in this system is supported through the NVIDIA 470.xx legacy Linux"
        " graphics drivers.  Please visit http://www.nvidia.com/object/unix.html for more information.  The 550.54.14 NVIDIA Linux"
        " graphics driver will ignore this GPU."
    )
    assert parameters(SIGNATURES, words) == {"gpu": "GTX 680", "branch": "470", "driver": "550.54.14"}


def test_probe_that_finds_a_lost_card_names_it() -> None:
    words = (
        "NVRM: The NVIDIA GPU 0000:b3:00.0\n               NVRM: (PCI ID: 10de:26b5) installed in this system has\n"
        "               NVRM: fallen off the bus and is not responding to commands."
    )
    assert problem(SIGNATURES, words) == "xid-79-gpu-fell-off-bus"
    assert parameters(SIGNATURES, words)["gpu"] == "L40"


@pytest.mark.parametrize(
    ("pci_id", "driver", "expected"),
    [
        ("10de:2b85", "550.120", "driver-too-old-for-gpu"),
        ("10de:2b85", "570.144", "open-module-required"),
        ("10de:1b06", "595.45.04", "legacy-driver-branch-needed"),
        ("10de:ffff", "550.120", "driver-too-old-for-gpu"),
    ],
)
def test_unsupported_card_is_too_new_too_old_or_of_the_other_flavour(pci_id: str, driver: str, expected: str) -> None:
    assert problem(SIGNATURES, _unsupported(pci_id, driver)) == expected


def test_card_without_gsp_cannot_have_the_open_module() -> None:
    words = (
        "NVRM: The NVIDIA GPU 0000:01:00.0 (PCI ID: 10de:1b06)\nNVRM: installed in this system is not supported by open\n"
        "NVRM: nvidia.ko because it does not include the required GPU\nNVRM: System Processor (GSP)."
    )
    assert problems(SIGNATURES, words) == {"open-module-unsupported-gpu"}
    assert parameters(SIGNATURES, words)["gpu"] == "GeForce GTX 1080 Ti"


def test_start_failure_gives_its_code_and_the_firmware() -> None:
    words = "NVRM: GPU 0000:98:00.0: RmInitAdapter failed! (0x62:0x65:1792)\nfailed to wait for GFW_BOOT: (progress 0x3)"
    assert parameters(SIGNATURES, words) == {"gpu": "0000:98:00.0", "code": "0x62:0x65:1792", "firmware_boot": "yes"}


@pytest.mark.parametrize(
    "words",
    [
        "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.158.01  Release Build",
        "nvidia: module verification failed: signature and/or required key missing - tainting kernel",
        "an Xid is an event of the driver",
        "            HW Thermal Slowdown               : Not Active",
        "        Remapping Failure Occurred                 : No",
        "the leaves have fallen off the tree",
        "blacklist nouveau",
        "legacy boot is enabled",
        "SXid",
    ],
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


@for_each(
    ("words", "expected"),
    [
        ("NVRM: The NVIDIA probe routine failed for 1 device(s).", "rm-init-adapter-failed"),
        ("NVRM: None of the NVIDIA devices were initialized.", "rm-init-adapter-failed"),
        ("nvidia: probe of 0000:01:00.0 failed with error -1", "rm-init-adapter-failed"),
        ("NVRM: Xid(PCI:0000:01:00): 79, GPU has fallen off the bus.", "xid-79-gpu-fell-off-bus"),
        ("NVRM: RmInitAdapter: Cannot initialize GSP firmware RM", "rm-init-adapter-failed"),
        ("nvidia: failed to load the GSP firmware", "rm-init-adapter-failed"),
        ("NVRM: RmFetchGspRmImages: No firmware image found", "rm-init-adapter-failed"),
        ("NVRM: BAR3 is 0M @ 0x0 (PCI:0000:01:00.0)", "rm-init-adapter-failed"),
        ("pci 0000:01:00.0: BAR 1: failed to assign [mem size 0x400000000 64bit pref]\nNVRM: loading", "rm-init-adapter-failed"),
        ("nvidia 0000:01:00.0: already bound to nouveau. Obtained ownership", "nouveau-active"),
        ("NVRM: another driver was loaded and obtained ownership of the NVIDIA device", "nouveau-active"),
        ("NVRM: To force use of Open nvidia.ko on other GPUs, see the\nNVRM: 'OpenRmEnableUnsupportedGpus' kernel module parameter",
         "geforce-open-module-unsupported"),
        ("the open kernel module is required for this card", "open-module-required"),
        ("CUDA_ERROR_ECC_UNCORRECTABLE", "ecc-errors"),
        ("cudaErrorECCUncorrectable", "ecc-errors"),
        ("        Pending Page Blacklist          : Yes", "xid-63-row-remap"),
        ("NVRM: GPU at PCI:0000:01:00 has exceeded its maximum operating temperature; too hot", "gpu-overheating"),
        ("NVRM: GPU Board overheat: thermal shutdown", "gpu-overheating"),
        ("GPU was shut down because of its critical temperature", "gpu-overheating"),
        ("the RTX 3090 gets too hot", "gpu-overheating"),
        ("显卡过热", "gpu-overheating"),
    ],
)  # fmt: skip
def test_line_is_known_in_its_other_wordings(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "nvme: probe of 0000:02:00.0 failed with error -12",
        "NVRM: None of the settings were changed",
        "taxid: 9606",
        "pci 0000:02:00.0: BAR 1: failed to assign [mem size 0x400000000 64bit pref]",
        "NVRM: BAR1 is 256M @ 0xe0000000",
        "the coffee is too hot",
        "        Pending Page Blacklist          : No",
        "HW Thermal Slowdown             : Not Active",
        "nouveau is blacklisted",
    ],
)
def test_neighbour_of_a_line_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_bar_without_memory_names_the_card() -> None:
    told = parameters(SIGNATURES, "NVRM: BAR1 is 0M @ 0x0 (PCI:0000:01:00.0)")
    assert told == {"gpu": "0000:01:00.0", "no_address": "yes"}


def test_firmware_that_is_not_there_is_named_by_its_place() -> None:
    told = parameters(SIGNATURES, "Direct firmware load for nvidia/570.172.08/gsp_ga10x.bin failed with error -2")
    assert told["firmware_missing"] == "/lib/firmware/nvidia/570.172.08/gsp_ga10x.bin"
    assert (told["driver"], told["branch"]) == ("570.172.08", "570")
