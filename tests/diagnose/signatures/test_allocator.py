"""A memory setting that torch does not accept is told from memory that ran out."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.allocator import SIGNATURES
from tests import memory_messages as messages
from tests.diagnose.signatures.reading import parameters, problem, problems

INVALID = "allocator-setting-invalid"


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("RuntimeError: Unrecognized CachingAllocator option: expandable_segments", "expandable_segments"),
        ("RuntimeError: Unrecognized CachingAllocator option: foo", "foo"),
        ("RuntimeError: Unrecognized key 'foo' in Accelerator allocator config.", "foo"),
        ("RuntimeError: CachingAllocator option max_split_size_mb too small, must be >= 20", "max_split_size_mb"),
        ("RuntimeError: Expected a single True/False argument for expandable_segments", "expandable_segments"),
        ("RuntimeError: garbage_collect_threshold too big, set it 0.0~1.0", "garbage_collect_threshold"),
        ("RuntimeError: garbage_collect_threshold is invalid, set it in (0.0, 1.0)", "garbage_collect_threshold"),
        ("RuntimeError: Expected 'True' or 'False' at index 2 in ConfigTokenizer but got 'true'", ""),
        ("terminate called after throwing an instance of 'c10::Error'\n  what():  Index out of bounds in ConfigTokenizer", ""),
    ],
)
def test_a_refused_setting_is_named(words: str, option: str) -> None:
    assert problem(SIGNATURES, words) == INVALID
    assert parameters(SIGNATURES, words).get("option", "") == option


def test_an_old_torch_does_not_know_growing_blocks() -> None:
    assert parameters(SIGNATURES, "Unrecognized CachingAllocator option: expandable_segments")["old"] == "yes"
    assert "old" not in parameters(SIGNATURES, "Expected a single True/False argument for expandable_segments")


@pytest.mark.parametrize(
    "words",
    [
        messages.TORCH_2_5,
        messages.TORCH_2_0,
        "KeyError: unrecognized key 'foo' in config.yaml",
        "export PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:0.8",
        "error: unrecognized arguments: --foo",
    ],
)
def test_other_settings_are_no_finding(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
