"""Which problems the facts of a text rule out."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.ranking import refutations
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from tests.values import Env, knowledge, machine


def _refuted(words: str = "", own: Machine | None = None) -> set[str]:
    return set(refutations(SignatureInput(Paste(words), RuleInput(own or Machine(), knowledge()))))


def test_nothing_rules_nothing_out() -> None:
    assert _refuted() == set()


@pytest.mark.parametrize(
    "words",
    [
        "Is CUDA available: True",
        "Is CUDA available: Yes",
        ">>> torch.cuda.is_available()\nTrue",
        "torch.cuda.is_available(): True",
        "torch.cuda.is_available() -> True",
    ],
)
def test_cuda_that_was_available_rules_out_a_missing_driver(words: str) -> None:
    assert {"no-driver", "torch-cpu-only", "driver-too-old-for-cuda"} <= _refuted(words)


@pytest.mark.parametrize(
    "words", ["Is CUDA available: False", ">>> torch.cuda.is_available()\nFalse", "if torch.cuda.is_available():"]
)
def test_cuda_that_was_not_available_rules_nothing_out(words: str) -> None:
    assert _refuted(words) == set()


def test_running_driver_rules_out_its_absence() -> None:
    refuted = _refuted(own=machine())
    assert {"no-driver", "driver-not-loaded", "no-nvidia-gpu"} <= refuted
    assert "driver-too-old-for-cuda" not in refuted


def test_absent_driver_rules_nothing_out() -> None:
    assert "no-driver" not in _refuted(own=machine(driver="", on_disk="", libcuda="", cuda=""))


def test_cuda_torch_rules_out_the_cpu_build() -> None:
    assert "torch-cpu-only" in _refuted(own=machine(environments=(Env("train", "2.5.1+cu124", active=True),)))
    assert "torch-cpu-only" not in _refuted(own=machine(environments=(Env("train", "2.5.1+cpu", active=True),)))


def test_each_ruling_names_its_fact() -> None:
    reasons = refutations(SignatureInput(Paste(""), RuleInput(machine(driver="550.54.14"), knowledge())))
    assert dict(reasons["no-driver"].parameters)["driver"] == "550.54.14"
