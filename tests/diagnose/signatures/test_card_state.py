"""What tools print of a card's state leads to the right problem, and a sound card's output to none."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures import card_state
from gpuassist.diagnose.signatures.driver import SIGNATURES as DRIVER
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import CODES, parameters, problem, problems, read
from tests.rows import for_each

SIGNATURES = (*card_state.SIGNATURES, *CODES)

BANDWIDTH = (
    "63.008 Gb/s available PCIe bandwidth, limited by {} link at 0000:00:01.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)"
)
BUSY = "RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable"


@for_each(
    ("words", "expected"),
    [
        ("Unable to determine the device handle for GPU0000:17:00.0: GPU requires reset", "gpu-reset-required"),
        ("[GPU requires reset], [GPU requires reset]", "gpu-reset-required"),
        ("pynvml.NVMLError_ResetRequired: GPU requires reset", "gpu-reset-required"),
        ("    GPU Reset Status\n        Reset Required                    : Yes", "gpu-reset-required"),
        ("    GPU Recovery Action                   : Reset", "gpu-reset-required"),
        ("    GPU Recovery Action                   : Drain and Reset", "gpu-reset-required"),
        ("NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)",
         "gpu-reset-required"),
        ("            HW Power Brake Slowdown       : Active", "gpu-power-brake"),
        (f"nvidia 0000:01:00.0: {BANDWIDTH.format('8.0 GT/s PCIe x8')}", "pcie-link-degraded"),
        (
            "GPU Link Info\n            Link Width\n                Max                       : 16x\n"
            "                Current                   : 4x",
            "pcie-link-degraded",
        ),
        (
            "01:00.0 VGA compatible controller: NVIDIA Corporation AD102\n\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM L1\n"
            "\t\tLnkCtl:\tASPM Disabled\n\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x8 (downgraded)",
            "pcie-link-degraded",
        ),
        ("on our headless server nvidia-smi takes 8 seconds", "persistence-mode-off"),
        ("every rank has an additional process on GPU 0 with 300 MiB", "stray-contexts"),
        ("RuntimeError: stray CUDA context on device 0", "stray-contexts"),
        ("每个进程都会占用0号卡一部分显存", "stray-contexts"),
    ],
)  # fmt: skip
def test_output_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@for_each(
    "words",
    [
        "        Reset Required                    : No\n        Drain and Reset Recommended       : No",
        "        Reset Required                    : Requested functionality has been deprecated",
        "    GPU Recovery Action                   : None",
        "            HW Power Brake Slowdown       : Not Active",
        "            SW Power Cap                  : Active",
        f"nvidia 0000:01:00.0: {BANDWIDTH.format('2.5 GT/s PCIe x16')}",
        f"nvme 0000:02:00.0: {BANDWIDTH.format('8.0 GT/s PCIe x8')}",
        "GPU Link Info\n  Link Width\n          Max                       : 16x\n          Current                   : 16x",
        "NVIDIA\n\t\tLnkCap:\tSpeed 16GT/s, Width x16\n\t\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x16",
        "nvidia-smi takes 8 seconds on my laptop",
        "every worker also logs to a file",
        "GPU 0: NVIDIA GeForce RTX 4090",
    ],
)
def test_sound_card_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_restart_is_told_from_a_reset() -> None:
    assert parameters(SIGNATURES, "    GPU Recovery Action                   : Reboot") == {"reboot": "yes"}
    assert parameters(SIGNATURES, "    GPU Recovery Action                   : Reset") == {}


def test_lanes_are_told() -> None:
    assert parameters(SIGNATURES, f"NVIDIA {BANDWIDTH.format('8.0 GT/s PCIe x4')}") == {"width": "4", "most": "16"}


def test_lost_card_is_named_before_its_reset() -> None:
    words = "GPU has fallen off the bus\nGPU requires reset"
    assert {clue.weight for clue in read(SIGNATURES, words)} == {Weight.CONSEQUENCE}


def test_busy_card_in_exclusive_mode_is_named() -> None:
    assert problem((*DRIVER, *CODES), f"{BUSY}\n| N/A   E. Process |") == "compute-mode-exclusive"
    assert problem((*DRIVER, *CODES), BUSY) == "cuda-init-failed-driver-state"
    assert "compute-mode-exclusive" in problems((*DRIVER, *CODES), BUSY)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("NVML_ERROR_RESET_REQUIRED", "gpu-reset-required"),
        ("clocks_event_reasons.hw_power_brake_slowdown\nActive", "gpu-power-brake"),
        ("nvidia-smi is very slow, persistence mode off", "persistence-mode-off"),
        ("nvidia-smi took 20 s on a server", "persistence-mode-off"),
        ("nvidia-smi needs 5 sec on a headless machine", "persistence-mode-off"),
        ("nvidia-smi 很慢 Persistence-M Off", "persistence-mode-off"),
        ("GPU 0 has several extra processes", "stray-contexts"),
        ("cuda:0 shows additional processes", "stray-contexts"),
        ("first GPU shows many processes", "stray-contexts"),
    ],
)
def test_other_wording_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "GPU reset is not needed",
        "clocks_event_reasons.hw_power_brake_slowdown\nNot Supported",
        "nvidia-smi is very slow",
        "nvidia-smi took a look at the server",
        "GPU 0 has one process",
    ],
)
def test_sound_words_beside_it_lead_nowhere(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
