"""A GPU that the driver refuses: what is said of its age is true, and what the message leaves open is left open."""

from __future__ import annotations

from gpuassist.diagnose.signatures.unserved_gpu import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each


def _refused(pci_id: str, driver: str, beside: str = "") -> str:
    return (
        f"{beside}\n[    9.2] NVRM: The NVIDIA GPU 0000:06:10.0 (PCI ID: {pci_id})\n[    9.2] NVRM: installed in this system is not"
        f" supported by the\n[    9.2] NVRM: NVIDIA {driver} driver release.\n"
    )


@for_each(
    ("pci_id", "driver", "beside", "expected"),
    [
        ("10de:2684", "580.95.05", "", "vgpu-guest-driver"),
        ("10de:1eb8", "535.161.08", "", "vgpu-guest-driver"),
        ("10de:20b5", "550.54.15", "gpu-operator with vGPU nodes", "vgpu-guest-driver"),
        ("10de:26b9", "570.86.15", "", "vgpu-guest-driver"),
        ("10de:2b85", "570.133.07", "NVIDIA UNIX Open Kernel Module for x86_64", "vgpu-guest-driver"),
        ("10de:2b85", "570.133.07", "", "open-module-required"),
        ("10de:2b85", "535.183.01", "", "driver-too-old-for-gpu"),
        ("10de:1b80", "595.71.05", "", "legacy-driver-branch-needed"),
        ("10de:128b", "580.65.06", "", "legacy-driver-branch-needed"),
        ("10de:0a65", "355.11", "", "driver-too-old-for-gpu"),
        ("10de:1b06", "575.57.08", "NVIDIA UNIX Open Kernel Module for x86_64", "open-module-unsupported-gpu"),
        ("10de:ffff", "575.57.08", "", "driver-too-old-for-gpu"),
    ],
)
def test_age_of_driver_and_card_is_compared_before_it_is_named(pci_id: str, driver: str, beside: str, expected: str) -> None:
    assert problem(SIGNATURES, _refused(pci_id, driver, beside)) == expected


def test_card_that_is_not_known_is_not_called_newer_than_the_driver() -> None:
    clues = read(SIGNATURES, _refused("10de:ffff", "575.57.08"))
    assert all(clue.weight <= Weight.STATE for clue in clues)
    assert {clue.problem for clue in clues} == {"driver-too-old-for-gpu", "vgpu-guest-driver"}
    assert dict(clues[0].parameters)["unsure"] == "yes"


def test_first_driver_of_the_card_is_named() -> None:
    assert parameters(SIGNATURES, _refused("10de:2b85", "535.183.01"))["first"] == "570.86.16"


@for_each(
    ("words", "expected"),
    [
        (
            "NVRM: The NVIDIA vGPU 0000:02:02.0 (PCI ID: 10de:2331)\nNVRM: installed in this system is not supported by open\n"
            "NVRM: nvidia.ko.\n",
            {"vgpu-guest-driver"},
        ),
        (
            "NVRM: The NVIDIA GPU 0000:02:02.0 (PCI ID: 10de:1b38)\nNVRM: installed in this vGPU host system is not supported by\n"
            "NVRM: open nvidia.ko.\n",
            {"open-module-unsupported-gpu"},
        ),
        (
            "nvidia-vgpu-mgr[2]: error: vmiop_log: (0x0): Incompatible Guest/Host drivers: Guest VGX version is older than the"
            " minimum version supported by the Host. Disabling vGPU.",
            {"vgpu-guest-driver"},
        ),
        ("nvidia-vgpu-mgr[2]: notice: vmiop_log: (0x0): vGPU license state: Unlicensed (Unrestricted)", set()),
    ],
)
def test_virtual_gpu_is_told_from_a_whole_card(words: str, expected: set[str]) -> None:
    assert problems(SIGNATURES, words) == expected


def test_guest_driver_that_the_host_refuses_is_named() -> None:
    log = (
        "vmiop_log: ######## Guest NVIDIA Driver Information: ########\nvmiop_log: Driver Version: 582.42\nvmiop_log: (0x0):"
        " Incompatible Guest/Host drivers: Guest VGX version is newer than the maximum version supported by the Host."
    )
    assert parameters(SIGNATURES, log) == {"host": "yes", "guest": "582.42"}
