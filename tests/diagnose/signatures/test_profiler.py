"""What profilers say that may not read counters leads to the right problem."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures import driver_setup
from tests.diagnose.signatures.reading import CODES, parameters, problem, problems

SIGNATURES = (*driver_setup.SIGNATURES, *CODES)


@pytest.mark.parametrize(
    "words",
    [
        "==708142== Warning: ERR_NVGPUCTRPERM - The user does not have permission to profile on the target device.",
        "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on device 0.",
        "The user running <tool> does not have permission to access NVIDIA GPU Performance Counters on the target device.",
        "function cbapi->getCuptiStatus() failed with error CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)",
        "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
    ],
)
def test_counters_are_refused(words: str) -> None:
    assert problem(SIGNATURES, words) == "profiler-counter-permission"


def test_counters_refused_in_a_container_say_so() -> None:
    assert parameters(SIGNATURES, "rented RTX 4090 container\nERR_NVGPUCTRPERM") == {"container": "yes"}
    assert parameters(SIGNATURES, "ERR_NVGPUCTRPERM") == {}


@pytest.mark.parametrize(
    "words", ["permission to profile is given", "CUPTI_ERROR_NOT_INITIALIZED", "performance counters are fine"]
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
