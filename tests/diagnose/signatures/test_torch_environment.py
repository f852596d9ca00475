"""What an environment's description shows where torch was built for CUDA and finds no GPU."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.torch_environment import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import problem, problems, read
from tests.values import Recipe, machine

NO = "PyTorch version: 2.8.0+cu128\nIs CUDA available: {}"


@pytest.mark.parametrize("word", ["No", "False"])
def test_torch_that_sees_no_gpu_misses_a_driver(word: str) -> None:
    assert problem(SIGNATURES, NO.format(word)) == "no-driver"


@pytest.mark.parametrize("word", ["None", "Could not collect"])
def test_build_for_no_accelerator_is_known(word: str) -> None:
    words = (
        f"PyTorch version: 1.12.1\nIs debug build: False\nCUDA used to build PyTorch: {word}\nROCM used to build PyTorch: N/A\n\n"
        "OS: Microsoft Windows 11 Enterprise\nIs CUDA available: False\nNvidia driver version: 512.78"
    )
    assert problem(SIGNATURES, words) == "torch-cpu-only"
    assert problem(SIGNATURES, words.replace("PyTorch: N/A", "PyTorch: 5.7")) == ""


def test_driver_that_fits_does_not_work() -> None:
    found = read(SIGNATURES, NO.format("False"), machine(Recipe(driver="580.65.06", cuda="13.0")))
    assert [(clue.problem, clue.weight) for clue in found] == [("cuda-init-failed-driver-state", Weight.CONSEQUENCE)]


def test_driver_that_is_too_old_is_left_to_its_facts() -> None:
    assert read(SIGNATURES, NO.format("False"), machine(Recipe(driver="470.82.01", cuda="11.4"))) == ()


def test_older_torch_that_works_shows_an_old_driver() -> None:
    words = "PyTorch version: 1.4.0+cu101\nIs CUDA available: No\ntorch 1.2 cuda10.0.130 (this one works)"
    assert problem(SIGNATURES, words) == "driver-too-old-for-cuda"


def test_machine_without_a_gpu_is_the_cause() -> None:
    assert problems(SIGNATURES, NO.format("False") + "\nmy laptop has no NVIDIA GPU") == {"no-nvidia-gpu"}


@pytest.mark.parametrize(
    "words", [NO.format("True"), "PyTorch version: 2.8.0+cpu\nIs CUDA available: False", "Is XPU available: False"]
)
def test_other_descriptions_are_no_message(words: str) -> None:
    assert read(SIGNATURES, words) == ()
