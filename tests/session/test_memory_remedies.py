"""What is suggested when memory ran out: one to three things, in order, that fit each other and what is set already."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.app import compose
from gpuassist.model.finding import Answer
from gpuassist.model.words import ENGLISH, Words
from gpuassist.present.commands import command_lines
from gpuassist.session.explain import explain
from tests import memory_messages as messages
from tests.rows import for_each
from tests.translations import shipped

OLD_FRAGMENTS = messages.TORCH_1_9.replace("3.06 GiB reserved", "7.80 GiB reserved")
GROWING, WHOLE = "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128"
ALL = [
    messages.TORCH_0_1,
    messages.TORCH_1_1,
    messages.TORCH_1_9,
    messages.TORCH_2_0,
    messages.TORCH_2_5,
    messages.POOLS,
    messages.CAPPED,
    messages.CONTAINER,
    messages.SHARED,
    messages.FULL,
    messages.FOREIGN,
    messages.ABSURD,
    messages.BOUNDLESS,
    messages.ASYNC,
    OLD_FRAGMENTS,
    f"export {GROWING}\n{messages.TORCH_2_5}",
    f"export {WHOLE}\n{messages.TORCH_2_5}",
    f"export {WHOLE}\n{OLD_FRAGMENTS}",
    f"File 'C:\\Users\\me\\a.py'\n{messages.TORCH_2_5}",
    "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4770354232 bytes. jaxlib",
    "tensorflow ResourceExhaustedError: OOM when allocating tensor with shape[6,6] and type float on /device:GPU:0",
    "ValueError: No available memory for the cache blocks.",
    "Free memory on device (10.20/23.99 GiB) on startup is less than desired GPU memory utilization (0.9, 21.59 GiB).",
    "train_loss += loss\n# GPU memory grows every step",
]


def answer(words: str, language: Words = ENGLISH) -> Answer:
    """The first answer to a text."""
    return explain(replace(compose("en"), words=language), words).answers[0]


def commands(words: str) -> list[str]:
    """All command lines of the first answer."""
    return [line for remedy in answer(words).remedies for line in command_lines(remedy)]


@for_each("language", [ENGLISH, shipped("zh_CN")])
@for_each("words", ALL)
def test_there_are_one_to_three_suggestions(words: str, language: Words) -> None:
    found = answer(words, language)
    assert 1 <= len(found.remedies) <= 3
    assert all(one.text and one.check for one in found.remedies)
    assert "{" not in found.title + found.explanation


@for_each("words", ALL)
def test_no_two_allocator_settings_are_suggested(words: str) -> None:
    assert sum("ALLOC_CONF" in line for line in commands(words)) <= 1


@pytest.mark.parametrize(
    ("before", "message", "expected"),
    [
        ("", messages.TORCH_2_5, f"export {GROWING}"),
        (f"export {WHOLE}", messages.TORCH_2_5, f"export {GROWING}"),
        (
            "export PYTORCH_ALLOC_CONF=garbage_collection_threshold:0.8",
            messages.TORCH_2_5,
            "export PYTORCH_ALLOC_CONF=garbage_collection_threshold:0.8,expandable_segments:True",
        ),
        ("", OLD_FRAGMENTS, f"export {WHOLE}"),
    ],
)
def test_pieces_are_joined_by_the_setting_that_fits(before: str, message: str, expected: str) -> None:
    assert expected in commands(f"{before}\n{message}")


@pytest.mark.parametrize(
    "words",
    [
        f"export {GROWING}\n{messages.TORCH_2_5}",
        f"export {WHOLE}\n{OLD_FRAGMENTS}",
        f"File 'C:\\Users\\me\\a.py'\n{messages.TORCH_2_5}",
        messages.FULL,
        messages.FOREIGN,
        messages.ABSURD,
        messages.CAPPED,
    ],
)
def test_a_setting_that_cannot_help_is_not_suggested(words: str) -> None:
    assert not any("ALLOC_CONF" in line for line in commands(words))


@pytest.mark.parametrize("words", [messages.TORCH_2_5, messages.FULL])
def test_emptying_the_cache_is_said_not_to_help(words: str) -> None:
    assert "`torch.cuda.empty_cache()`" in answer(words).explanation


def test_the_hint_of_the_message_is_put_right() -> None:
    assert "prints that hint whatever the cause" in answer(messages.FULL).explanation


def test_the_process_that_has_the_memory_is_ended_by_its_number() -> None:
    words = (
        messages.TORCH_2_5.replace("3.21 GiB", "13.21 GiB")
        .replace("20.38 GiB", "10.38 GiB")
        .replace("14.02", "9.02")
        .replace("5.83", "0.83")
    )
    assert answer(words).id == "oom-other-process"
    assert "kill 39021" in commands(words)


def test_a_smaller_batch_is_no_cure_for_others() -> None:
    assert "batch would only hide" in answer(messages.FOREIGN).explanation


def test_what_windows_lends_is_explained() -> None:
    assert "Windows lends" in answer(messages.SHARED).explanation


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            "jaxlib XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 47 bytes.",
            "export XLA_PYTHON_CLIENT_PREALLOCATE=false",
        ),
        (
            "tensorflow OOM when allocating tensor with shape[6] and type float on /device:GPU:0",
            "export TF_FORCE_GPU_ALLOW_GROWTH=true",
        ),
    ],
)
def test_other_programs_get_their_own_setting(words: str, line: str) -> None:
    assert line in commands(words)


def test_plain_lack_of_memory_does_not_claim_to_know_who_has_it() -> None:
    found = answer("RuntimeError: CUDA error: out of memory")
    assert "no figures" in found.explanation
    assert any("--query-compute-apps" in line for remedy in found.remedies for line in command_lines(remedy))
