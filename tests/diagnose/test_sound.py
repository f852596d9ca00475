"""When a text may be told that it shows no fault."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.diagnose.sound import sound
from gpuassist.model.finding import Finding
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from tests.values import knowledge, machine


def _sound(words: str = "", own: Machine | None = None) -> Finding | None:
    return sound(SignatureInput(Paste(words), RuleInput(own or Machine(), knowledge())))


def test_text_without_facts_is_not_called_sound() -> None:
    assert _sound("all is well") is None


def test_described_set_up_is_sound() -> None:
    found = _sound("NVIDIA-SMI 550.54.14", machine())
    assert found is not None
    assert found.problem == "healthy"
    assert found.parameter("torch") == "yes"


def test_what_was_read_is_the_evidence() -> None:
    found = _sound("", machine())
    assert found is not None
    assert [one.fact.message for one in found.evidence] == ["GPU", "driver", "CUDA toolkit", "torch"]


def test_set_up_without_torch_says_so_by_its_parameter() -> None:
    found = _sound("", machine(environments=()))
    assert found is not None
    assert found.parameter("torch") == ""


@pytest.mark.parametrize(
    "words",
    [
        "RuntimeError: something else",
        "Traceback (most recent call last):",
        "it crashes after an hour",
        "make: *** [all] Error 1",
        "Segmentation fault",
        "Is CUDA available: False",
        "ERR!",
        "训练失败",
        "오류가 발생했습니다",
        "エラーが出ます",
    ],
)
def test_any_word_of_failure_forbids_it(words: str) -> None:
    assert _sound(words, machine()) is None


@pytest.mark.parametrize(
    "words",
    [
        "cuDNN version: Could not collect",
        "| GPU  Name  Persistence-M| Bus-Id  Disp.A | Volatile Uncorr. ECC |",
        "Vulnerability Spectre v2: Mitigation; Retpolines",
        "Vulnerability Meltdown: Not affected",
        "|  No running processes found  |",
        "Is CUDA available: True",
        "Is debug build: False",
        "0 errors, 0 warnings",
    ],
)
def test_harmless_words_do_not(words: str) -> None:
    assert _sound(words, machine()) is not None
