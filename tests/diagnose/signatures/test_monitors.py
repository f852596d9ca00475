"""gpustat and nvtop without a GPU: the reason that NVML gives decides, and where they run."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.monitors import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import read
from tests.values import Recipe, machine

GPUSTAT = "Error on querying NVIDIA devices. Use --debug flag to see more details.\n"


def told(words: str) -> list[tuple[str, Weight]]:
    return [(clue.problem, clue.weight) for clue in read(SIGNATURES, words)]


@pytest.mark.parametrize(
    ("words", "problem", "weight"),
    [
        (f"{GPUSTAT}Driver Not Loaded\n", "driver-not-loaded", Weight.CAUSE),
        (f"{GPUSTAT}Driver/library version mismatch\n", "driver-library-mismatch", Weight.CAUSE),
        (f"{GPUSTAT}NVML Shared Library Not Found\n", "no-driver", Weight.STATE),
        (f"{GPUSTAT}GPU is lost\n", "xid-79-gpu-fell-off-bus", Weight.CAUSE),
        (f"> {GPUSTAT}> Insufficient Permissions\n", "device-permissions", Weight.CAUSE),
        ("Error on querying NVIDIA devices.\nUnknown Error\n", "cuda-init-failed-driver-state", Weight.STATE),
        ("Impossible to initialize nvidia nvml : Driver Not Loaded\n", "driver-not-loaded", Weight.CAUSE),
        ("Impossible to initialize nvidia nvml : Driver/library version mismatch\n", "driver-library-mismatch", Weight.CAUSE),
    ],
)
def test_reason_of_nvml_decides(words: str, problem: str, weight: Weight) -> None:
    assert told(words) == [(problem, weight)]


@pytest.mark.parametrize(
    "words", [GPUSTAT, "Error on querying NVIDIA devices. Use --debug flag for details\n", "$ nvtop\nNo GPU to monitor.\n"]
)
def test_no_reason_leaves_two_causes(words: str) -> None:
    assert told(words) == [("driver-not-loaded", Weight.STATE), ("no-driver", Weight.STATE)]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (f"# in a docker container\n{GPUSTAT}NVML Shared Library Not Found\n", "container-no-gpu-flag"),
        (f"# in a docker container\n{GPUSTAT}Unknown Error\n", "container-lost-gpu-after-daemon-reload"),
        (f"5.15.167.4-microsoft-standard-WSL2\n{GPUSTAT}", "wsl-driver-or-windows"),
    ],
)
def test_place_decides_too(words: str, problem: str) -> None:
    assert told(words) == [(problem, Weight.STATE)]


def test_driver_that_runs_is_not_blamed() -> None:
    assert read(SIGNATURES, "No GPU to monitor.\n", machine(Recipe())) == ()


@pytest.mark.parametrize(
    "words",
    [
        "DCGM has no GPU to monitor\n",
        "nvtop says No GPU to monitor. What now?\n",
        "Error on querying the database\n",
        "return True  # No GPU to monitor\n",
    ],
)
def test_other_text_is_no_fault(words: str) -> None:
    assert told(words) == []
