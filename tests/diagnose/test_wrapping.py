"""Sentences are found wherever the kernel's log breaks them."""

from __future__ import annotations

import re

import pytest

from gpuassist.diagnose.signature import wrapped


@pytest.mark.parametrize(
    "words",
    [
        "fallen off the bus",
        "fallen off\nthe bus",
        "fallen\n[ 12.345678] NVRM: off the bus",
        "fallen off the\nNov 21 09:00:00 host kernel: NVRM:  bus",
        "fallen off\n               NVRM: the bus",
    ],
)
def test_broken_sentence_is_found(words: str) -> None:
    assert re.search(wrapped("fallen off the bus"), words)


@pytest.mark.parametrize("words", ["fallen off a bus", "fallen off\nanother line\nthe bus", "fallenoffthebus"])
def test_other_words_are_not(words: str) -> None:
    assert not re.search(wrapped("fallen off the bus"), words)


def test_marks_in_the_words_are_plain() -> None:
    assert re.search(wrapped("open nvidia.ko"), "open nvidia.ko")
    assert not re.search(wrapped("open nvidia.ko"), "open nvidiaxko")
