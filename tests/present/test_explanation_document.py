"""An explanation as programs read it."""

from __future__ import annotations

import json
from typing import Any

from gpuassist.app import compose
from gpuassist.model.words import ENGLISH
from gpuassist.present.explanation import explanation_document
from gpuassist.session.explain import explain
from tests.pasted_cases import pasted_cases
from tests.rows import for_each
from tests.values import machine

SESSION = compose("en")
KEYS = {
    "schema",
    "findings",
    "undetermined",
    "known",
    "verdict",
    "less_likely",
    "memory",
    "basis",
    "facts_read",
    "contradictions",
    "read",
    "guides",
    "left_out_bytes",
    "question",
}
FINDING = {"id", "severity", "title", "explanation", "evidence", "remedies", "links"}
REMEDY = {"text", "commands", "needs_root", "action", "check"}


def _document(words: str, **options: Any) -> Any:
    document = explanation_document(explain(SESSION, words, **options), ENGLISH)
    return json.loads(json.dumps(document))


@for_each("case", pasted_cases()[::6])
def test_every_document_has_the_same_keys(case: Any) -> None:
    document = _document(case.words)
    assert set(document) == KEYS
    for finding in [*document["findings"], *(one["finding"] for one in document["less_likely"])]:
        assert set(finding) == FINDING
        assert finding["severity"] in {"problem", "warning", "info"}
        assert [set(remedy) for remedy in finding["remedies"]] == [REMEDY] * len(finding["remedies"])


def test_unknown_text_has_them_as_well() -> None:
    document = _document("The frobnicator exploded: error 7")
    assert set(document) == KEYS
    assert (document["findings"], document["known"], document["memory"]) == ([], False, None)


def test_facts_have_their_lines() -> None:
    words = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22"
    facts = _document(words)["facts_read"]
    assert any(fact["value"] == "550.54.14" and fact["source"].endswith("line 1") for fact in facts)


def test_less_likely_reading_says_why() -> None:
    document = _document(
        "nvcc fatal : Unsupported gpu architecture 'compute_90'\nRuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"
    )
    assert all(one["reason"] for one in document["less_likely"])


def test_question_has_its_command_and_cases() -> None:
    question = _document("cudaGetDeviceCount returned 35\n-> CUDA driver version is insufficient for CUDA runtime version")[
        "question"
    ]
    assert question["commands"] == ["nvidia-smi"]
    assert [case["id"] for case in question["cases"]] == ["driver-too-old-for-cuda", "no-driver"]
    assert all(case["shows"] and case["title"] for case in question["cases"])


def test_decided_text_has_no_question() -> None:
    assert _document("nvcc fatal : Unsupported gpu architecture 'compute_90'")["question"] is None


def test_ground_of_the_answer_is_named() -> None:
    assert _document("hello", machine=machine())["basis"]["ground"] == "text and machine"


def test_memory_that_ran_out_has_its_figures() -> None:
    words = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which"
        " 1.22 GiB is free. Including non-PyTorch memory, this process has 22.45 GiB memory in use. Of the allocated memory 21.80"
        " GiB is allocated by PyTorch, and 210.34 MiB is reserved by PyTorch but unallocated."
    )
    assert _document(words)["memory"] is not None


def test_guides_are_named_once() -> None:
    guides = _document("RuntimeError: CUDA error: out of memory")["guides"]
    assert guides
    assert len(guides) == len(set(guides))
