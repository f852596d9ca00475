"""What most faults lead to, said on a machine where nothing is wrong: the machine speaks against it, and the answer says so."""

from __future__ import annotations

from pathlib import Path

from gpuassist.app import compose
from gpuassist.detect.recording import read_recording
from gpuassist.present.explanation import Sureness, sureness
from gpuassist.session.explain import Explanation, explain
from tests.rows import for_each

SESSION = compose("en")
MACHINES = Path(__file__).parents[2] / "resources" / "machines"
FAILED = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."


def _here(words: str, machine: str) -> Explanation:
    recorded = read_recording(SESSION.world.files, str(MACHINES / f"{machine}.json"))
    return explain(SESSION, words, recorded, recorded=True)


ASKED = (
    ("08-healthy", FAILED, "nvidia-smi"),
    ("07-wsl2", FAILED, "nvidia-smi"),
    ("07-wsl2", "RuntimeError: No CUDA GPUs are available", "nvidia-smi"),
    ("08-healthy", ">>> torch.cuda.is_available()\nFalse", "CUDA_VISIBLE_DEVICES"),
    ("02-rtx-4090-cuda-11-7-first", ">>> torch.cuda.is_available()\nFalse", "CUDA_VISIBLE_DEVICES"),
)


@for_each(("machine", "words", "command"), ASKED)
def test_what_the_machine_speaks_against_is_asked(machine: str, words: str, command: str) -> None:
    explanation = _here(words, machine)
    assert explanation.question is not None
    assert command in explanation.question.commands[0]
    assert len(explanation.question.cases) > 1
    assert sureness(explanation) is Sureness.POSSIBLE


def test_versions_that_are_equal_are_not_said_to_differ() -> None:
    answer = _here("Failed to initialize NVML: Driver/library version mismatch", "08-healthy").answers[0]
    assert answer.id == "driver-library-mismatch"
    assert "550.54.14" not in answer.title


def test_error_35_of_a_program_that_is_not_named_is_an_old_driver() -> None:
    answers = _here("CUDA driver version is insufficient for CUDA runtime version", "08-healthy").answers
    assert [answer.id for answer in answers] == ["driver-too-old-for-cuda"]
