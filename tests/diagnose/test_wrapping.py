"""Sentences are found wherever a line ends within them."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.signature import Folded, Signature, SignatureInput, clues, means
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from tests.values import knowledge

_MESSAGE = Signature(
    ("off the", "the bus"), r"has fallen off the bus ?(?P<when>again)?\.(?<!no bus\.)", means("xid-79-gpu-fell-off-bus")
)


def _lines(words: str) -> list[int]:
    setting = SignatureInput(Paste(words), RuleInput(Machine(), knowledge()))
    return [clue.passage.line for clue in clues(_MESSAGE, setting)]


@pytest.mark.parametrize(
    "words",
    [
        "has fallen off the bus.",
        "has   fallen \t off the bus.",
        "has fallen\noff the bus.",
        "has\n         fallen\n         off the bus again.",
        "> has fallen\n> off the bus.",
        "has fallen\n\n    off the bus.",
        "> > has\n> > fallen off the bus.",
        "has fallen\n[ 12.345678] NVRM: off the bus.",
        "has fallen off the\nNov 21 09:00:00 host kernel: NVRM:  bus.",
        "has fallen off\n               NVRM: the bus.",
    ],
)
def test_broken_sentence_is_found(words: str) -> None:
    assert _lines(f"a line\n{words}") == [2]


@pytest.mark.parametrize(
    "words",
    ["has fallen off a bus.", "has fallen off\nanother line\nthe bus.", "hasfallenoffthebus."],
)
def test_other_words_are_not(words: str) -> None:
    assert not _lines(words)


@pytest.mark.parametrize("times", [1, 1000])
def test_places_in_a_folded_text_are_those_of_the_text(times: int) -> None:
    words = "".join(f"  one{turn} two{turn}\n\n  > three{turn}\tfour{turn} \nfive{turn}" for turn in range(times))
    folded = Folded(words)
    assert folded.words.startswith(" one0 two0 three0 four0 five0")
    assert "  " not in folded.words
    for turn in {0, times // 2, times - 1}:
        for name in ("one", "two", "three", "four", "five"):
            word = f"{name}{turn}"
            assert folded.place(folded.words.index(word)) == words.index(word)
