"""Texts that are cut, damaged, mixed or made to hurt: always an answer, never a failure of our own, never a confident wrong one."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuassist.app import compose
from gpuassist.model.fact import Known
from gpuassist.model.version import Version
from gpuassist.session.explain import Explanation, explain
from tests.pasted_cases import PastedCase, pasted_cases
from tests.rows import for_each
from tests.values import machine

SESSION = compose("en")
MACHINE = machine()

each_case = for_each("case", pasted_cases())


def _explained(words: str) -> Explanation:
    explanation = explain(SESSION, words)
    assert [one.reason for one in explanation.undetermined if one.problem == "own-check-failed"] == []
    return explanation


@for_each("case", pasted_cases(), every=3)
def test_text_cut_anywhere_is_survived(case: PastedCase) -> None:
    for part in range(1, 6):
        place = len(case.words) * part // 6
        _explained(case.words[:place])
        _explained(case.words[place:])


@each_case
def test_text_with_lines_lost_or_shuffled_is_survived(case: PastedCase) -> None:
    lines = case.words.split("\n")
    _explained("\n".join(lines[::2]))
    _explained("\n".join(lines[1::2]))
    _explained("\n".join(random.Random(case.id).sample(lines, len(lines))))


@each_case
def test_digits_beyond_reason_are_survived(case: PastedCase) -> None:
    _explained("".join("9" * 30 if one.isdigit() else one for one in case.words))
    _explained("".join(one for one in case.words if not one.isdigit()))


@for_each("case", pasted_cases(), every=3)
def test_text_in_another_dress_has_the_same_answer(case: PastedCase) -> None:
    plain = [answer.id for answer in _explained(case.words).answers[:1]]
    windows = case.words.replace("\n", "\r\n")
    coloured = "\n".join(f"\x1b[31m{line}\x1b[0m" for line in case.words.split("\n"))
    stamped = f"Hello, I have a problem, please help.\n\n{case.words}\n\nThank you!\n"
    for words in (windows, coloured, stamped):
        assert [answer.id for answer in _explained(words).answers[:1]] == plain


@pytest.mark.parametrize("first", [case for case in pasted_cases() if len(case.words) > 900], ids=lambda case: case.id)
def test_two_machines_in_one_text_are_survived(first: PastedCase) -> None:
    for second in pasted_cases()[::9]:
        _explained(f"{first.words}\n{second.words}")


_PIECES = [line for case in pasted_cases() for line in case.words.split("\n") if line.strip()]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=20), max_size=25))
def test_lines_of_any_texts_together_are_survived(lines: list[str]) -> None:
    _explained("\n".join(lines))


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=600))
def test_any_bytes_are_answered(data: bytes) -> None:
    explanation = explain(SESSION, data)
    # Hypothesis knows words from the code: alone, `true` is Python's answer whether CUDA is available.
    assert explanation.answers == () or data.strip().isascii()
    assert [one for one in explanation.undetermined if one.problem == "own-check-failed"] == []


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), max_size=12))
def test_any_text_joins_with_a_machine(lines: list[str]) -> None:
    explanation = explain(SESSION, "\n".join(lines), MACHINE)
    assert [one for one in explanation.undetermined if one.problem == "own-check-failed"] == []


@pytest.mark.parametrize(
    "words",
    [
        "To install the driver run `sudo ubuntu-drivers install` and reboot, then check with nvidia-smi.",
        "pip install torch --index-url https://download.pytorch.org/whl/cu128",
        "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\nexport CUDA_VISIBLE_DEVICES=0",
        "sudo nvidia-ctk runtime configure --runtime=docker\nsudo systemctl restart docker",
        "import torch\nmodel = model.cuda()\nif not torch.cuda.is_available():\n    raise SystemExit('no GPU')",
        "-- The CUDA compiler identification is NVIDIA 12.4.131\n-- Detecting CUDA compiler ABI info - done\n-- Configuring done",
        "Epoch 3: 100%|##########| 10/10 [00:10<00:00, 1.0it/s, loss=0.25]\nsaved model.pt",
    ],
)
def test_a_quoted_fix_or_a_good_run_is_no_problem(words: str) -> None:
    assert not _explained(words).convicts


def test_contradictory_versions_are_named_and_never_called_sound() -> None:
    words = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22\nNvidia driver version: 470.57.02\n"
    explanation = _explained(f"Collecting environment information...\nPyTorch version: 2.5.1+cu124\n{words}")
    assert {"550.54.14", "470.57.02"} <= {value for one in explanation.contradictions for value in one.values}
    assert "healthy" not in {answer.id for answer in explanation.answers}


_UNITS = ("| ", "a", "0", " ", "(", "'", "\n|", "12.", "torch==2.1.0 ", "PyTorch version: ", "GPU 0: ", "NVRM: ", "out of memory ")
_MORE_UNITS = (
    "sm_90 ",
    "CUDA ",
    "lib.so ",
    "/usr/local/cuda/",
    "undefined symbol: _Z",
    "Name: torch\n",
    ">>> ",
    "nvidia/550, ",
    "- ",
)


@for_each("unit", [*_UNITS, *_MORE_UNITS])
def test_endless_repetition_is_answered(unit: str) -> None:
    _explained(unit * (200_000 // len(unit)))


def test_report_again_and_again_is_read_as_its_last() -> None:
    report = "Collecting environment information...\nPyTorch version: 2.5.{}+cu124\nNvidia driver version: 550.54.{}\n"
    driver = _explained("".join(report.format(turn, turn) for turn in range(400))).machine.driver.version
    assert driver == Known(Version((550, 54, 399)), "pasted collect_env, line 1200")
