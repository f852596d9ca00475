"""Texts that speak of GPUs, drivers and errors, and show no fault: none is convicted."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.session.explain import explain
from tests.rows import for_each


@pytest.fixture(scope="module")
def session() -> Session:
    return compose("en")


# Manuals, questions, programs, lists of changes, logs of other things.
TEXTS = (Path(__file__).parents[1] / "cases" / "texts" / "no-fault.txt").read_text("utf-8").split("\n%%\n")


@for_each("words", TEXTS)
def test_text_without_a_fault_is_not_convicted(words: str) -> None:
    assert not explain(compose("en"), words).convicts


@for_each(
    "words",
    (
        "nvidia-persistenced.service - x\n     Active: failed (Result: exit-code) since",
        'DCGM_FI_DEV_XID_ERRORS{gpu="0"} 79',
        "name, ecc.errors.uncorrected.volatile.total\nTesla V100-PCIE-32GB, 3",
        "[CpuDevice(id=0)]",
        "True\n0",
        "bench: GPU 0 ok\n" + "loss 0.3\n" * 20 + "Result = PASS",
    ),
)
def test_what_is_not_as_it_should_be_or_little_understood_is_not_called_healthy(words: str) -> None:
    assert "healthy" not in {answer.id for answer in explain(compose("en"), words).answers}


def test_what_was_read_is_the_evidence(session: Session) -> None:
    (answer,) = explain(session, "Checking kmods exist for 6.5.6-300.fc39.x86_64                  [  OK  ]").answers
    assert answer.id == "healthy"
    assert ["6.5.6-300" in session.words(one.value) for one in answer.evidence] == [True]


def test_a_table_that_somebody_tells_of_is_no_table(session: Session) -> None:
    assert not explain(session, 'nvidia-smi shows 22000MiB used but "No running processes found".').answers


def test_of_two_faults_of_programs_one_is_told(session: Session) -> None:
    words = "Broken DAG: [/dags/train.py]\nModuleNotFoundError: No module named 'einops'"
    (answer,) = explain(session, words).answers
    assert any("einops" in line for remedy in answer.remedies for command in remedy.commands for line in command.lines)
