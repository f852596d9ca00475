"""What torch's allocator is told, by a text or by a new terminal, and what is to be set instead."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.diagnose.signatures.allocator import Allocator, allocator
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.shell import Shell, Terminal, Variable
from tests import memory_messages as messages
from tests.values import knowledge

CUDA_NAME, NAME = "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"


def found(words: str, **variables: str) -> Allocator:
    """What is set by a text, in a terminal with these variables."""
    terminal = Terminal("bash", tuple(Variable(name, value) for name, value in variables.items()), ())
    machine = replace(Machine(), shell=Shell(new_terminal=Known(terminal, "bash")))
    return allocator(SignatureInput(Paste(words), RuleInput(machine, knowledge())))


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ("export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True", "expandable_segments:True"),
        ("PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128 python train.py", "max_split_size_mb:128"),
        ('os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "max_split_size_mb:512"', "max_split_size_mb:512"),
        ("os.environ.setdefault('PYTORCH_CUDA_ALLOC_CONF', 'expandable_segments:True')", "expandable_segments:True"),
        (
            "%env PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:0.8,max_split_size_mb:128",
            "garbage_collection_threshold:0.8,max_split_size_mb:128",
        ),
        ("docker run -e PYTORCH_CUDA_ALLOC_CONF=backend:cudaMallocAsync image", "backend:cudaMallocAsync"),
        ("I tried setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True but it fails", "expandable_segments:True"),
        ("environment:\n  PYTORCH_CUDA_ALLOC_CONF: expandable_segments:True", "expandable_segments:True"),
    ],
)
def test_a_text_tells_what_is_set(words: str, options: str) -> None:
    assert found(words) == Allocator(CUDA_NAME, options)


@pytest.mark.parametrize(
    "words",
    [
        "",
        messages.TORCH_2_5,
        messages.folded(messages.TORCH_2_5, 80),
        messages.TORCH_2_0,
        "See documentation for Memory Management and PYTORCH_CUDA_ALLOC_CONF",
        "unset PYTORCH_CUDA_ALLOC_CONF",
    ],
)
def test_the_hint_of_a_message_sets_nothing(words: str) -> None:
    assert found(words) == Allocator()


def test_the_text_wins_over_the_terminal() -> None:
    words = f"{messages.TORCH_2_5}\nexport PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64"
    assert found(words, PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True").options == "max_split_size_mb:64"


def test_the_terminal_counts_where_the_text_is_silent() -> None:
    assert found("", PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True") == Allocator(CUDA_NAME, "expandable_segments:True")


def test_the_newer_name_counts_first() -> None:
    set_twice = found("", PYTORCH_CUDA_ALLOC_CONF="max_split_size_mb:64", PYTORCH_ALLOC_CONF="expandable_segments:True")
    assert set_twice == Allocator(NAME, "expandable_segments:True")


@pytest.mark.parametrize(
    ("options", "option", "there"),
    [
        ("expandable_segments:True", "expandable_segments", True),
        ("expandable_segments:False", "expandable_segments", False),
        ("max_split_size_mb:128, expandable_segments:True", "expandable_segments", True),
        ("max_split_size_mb:128", "max_split_size_mb", True),
        ("max_split_size_mb:128", "expandable_segments", False),
        ("", "max_split_size_mb", False),
    ],
)
def test_options_are_looked_up(options: str, option: str, there: bool) -> None:
    assert Allocator(CUDA_NAME, options).has(option) is there


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("", "expandable_segments:True"),
        ("expandable_segments:False", "expandable_segments:True"),
        ("max_split_size_mb:128", "expandable_segments:True"),
        ("backend:cudaMallocAsync", "expandable_segments:True"),
        ("garbage_collection_threshold:0.8,max_split_size_mb:128", "garbage_collection_threshold:0.8,expandable_segments:True"),
        ("roundup_power2_divisions:16", "roundup_power2_divisions:16,expandable_segments:True"),
    ],
)
def test_what_excludes_growing_blocks_goes_and_the_rest_stays(options: str, wanted: str) -> None:
    assert Allocator(CUDA_NAME, options).with_expandable() == wanted


def test_whole_blocks_replace_growing_ones() -> None:
    now = Allocator(CUDA_NAME, "garbage_collection_threshold:0.8,expandable_segments:True")
    assert now.with_split() == "garbage_collection_threshold:0.8,max_split_size_mb:128"
    assert Allocator().with_split() == "max_split_size_mb:128"
