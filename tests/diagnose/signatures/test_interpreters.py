"""Two Pythons in one text."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.judge import recognise
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.diagnose.signatures.installers_python import SIGNATURES
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste, Weight
from tests.diagnose.signatures.reading import parameters
from tests.values import knowledge

MISSING = "ModuleNotFoundError: No module named 'torch'\n"
NO_CUDA = "AssertionError: Torch not compiled with CUDA enabled\n"


def _weights(words: str) -> list[Weight]:
    found = recognise(SignatureInput(Paste(words), RuleInput(Machine(), knowledge())))
    return [clue.weight for clue in found.clues if clue.problem == "wrong-python-env"]


@pytest.mark.parametrize(
    "shown",
    [
        "Requirement already satisfied: torch in /home/u/env/lib/python3.10/site-packages (2.1.0)",
        "Name: torch\nVersion: 2.1.0",
        "torch               2.1.0",
        "torch==2.1.0+cu121",
        "PyTorch version: 2.1.0+cu121",
        "[pip3] torch==2.1.0",
        "Successfully installed numpy-1.26.0 torch-2.1.0",
    ],
)
def test_torch_that_is_installed_and_not_found_is_another_python(shown: str) -> None:
    assert _weights(f"{shown}\n{MISSING}") == [Weight.CAUSE]


def test_missing_torch_alone_may_be_another_python() -> None:
    assert _weights(MISSING) == [Weight.STATE]
    assert parameters(SIGNATURES, MISSING) == {"alone": "yes"}


def test_torch_that_is_elsewhere_is_not_said_to_be_missing() -> None:
    assert parameters(SIGNATURES, f"Name: torch\nVersion: 2.1.0\n{MISSING}") == {}


@pytest.mark.parametrize(
    "words", ["No module named 'torch._C'", "No module named 'torchvision'", "No module named 'torch_scatter'"]
)
def test_other_modules_say_nothing_of_the_python(words: str) -> None:
    assert _weights(words) == []


def test_build_in_isolation_is_no_other_python() -> None:
    assert _weights(f"Getting requirements to build wheel did not run: get_requires_for_build_wheel\n{MISSING}") == []


@pytest.mark.parametrize(
    "seen", ["Is CUDA available: True", ">>> torch.cuda.is_available()\nTrue", "torch.cuda.is_available() -> True"]
)
def test_torch_with_and_without_cuda_are_two(seen: str) -> None:
    assert _weights(f"{seen}\n{NO_CUDA}") == [Weight.CAUSE]


def test_torch_without_cuda_alone_is_one() -> None:
    assert _weights(f"Is CUDA available: False\n{NO_CUDA}") == []
