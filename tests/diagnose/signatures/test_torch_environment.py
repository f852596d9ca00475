"""What an environment's description shows where torch was built for CUDA and finds no GPU."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.torch_environment import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
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
    assert problem(SIGNATURES, words.replace("PyTorch: N/A", "PyTorch: 5.7")) == "no-nvidia-gpu"


def test_driver_that_fits_does_not_work() -> None:
    found = read(SIGNATURES, NO.format("False"), machine(Recipe(driver="580.65.06", cuda="13.0")))
    assert [(clue.problem, clue.weight) for clue in found] == [("cuda-init-failed-driver-state", Weight.ASIDE)]


def test_driver_that_is_too_old_is_the_cause() -> None:
    here = machine(Recipe(driver="470.82.01", cuda="11.4"))
    assert problem(SIGNATURES, NO.format("False"), here) == "driver-too-old-for-cuda"
    assert parameters(SIGNATURES, NO.format("False"), here)["floor"] == "525.60.13"


@pytest.mark.parametrize(
    "words",
    [
        ">>> torch.__version__\n'1.8.1+cu102'\n>>> torch.cuda.is_available()\nFalse",
        "torch 1.8.1+cu102\nIn [2]: torch.cuda.is_available()\nOut[2]: False",
        "print(torch.cuda.is_available())\nreturn False\ntorch==1.8.1+cu102",
        "torch==1.8.1+cu102, torch.cuda.is_available() returns False",
        "torch==1.8.1+cu102\ntorch.cuda.is_available() 返回 False",
        'python -c "import torch; print(torch.__version__, torch.cuda.is_available())"\n1.8.1+cu102 False',
        "torch==1.8.1+cu102\nCUDA available: False",
        "torch==1.8.1+cu102\n`torch.cuda.is_available()` is `False`",
    ],
)
def test_answer_of_torch_is_known_in_every_wording(words: str) -> None:
    assert problem(SIGNATURES, words) == "no-driver"


def test_torch_of_unknown_build_may_be_one_without_cuda() -> None:
    assert problem(SIGNATURES, ">>> torch.cuda.is_available()\nFalse") == "torch-cpu-only"


@pytest.mark.parametrize(
    "words",
    [
        "device = 'cuda' if torch.cuda.is_available() else 'cpu'\npretrained = False",
        "assert torch.cuda.is_available()\nuse_amp: False",
        "torch==2.1.0+cu121\n>>> torch.cuda.is_available()\nTrue",
    ],
)
def test_code_that_asks_torch_is_no_answer(words: str) -> None:
    assert read(SIGNATURES, words) == ()


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
