"""Whether the words of a text could make up what is looked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.diagnose.signature import Vocabulary

WORDS = "runtimeerror: cuda out of memory.\ntried to allocate 20.00 mib on gpu 3\n找不到文件"


@pytest.mark.parametrize(
    "literal",
    ["out of memory", "ut of mem", "error: cuda", "emor", "allocate 7", ".", "", "\ntried", "memory.\ntried", "到文", "gib"],
)
def test_what_stands_in_the_text_may_be_formed(literal: str) -> None:
    assert Vocabulary(f"{WORDS} gib").may_form(literal)


@pytest.mark.parametrize("literal", ["out if memory", "memory of", "xcuda out", "of memoryx", "mib/s", "segfault", "cudart"])
def test_what_has_a_word_that_the_text_lacks_may_not(literal: str) -> None:
    assert not Vocabulary(WORDS.replace("memory.", "memory_")).may_form(literal)


@given(st.text(alphabet="ab1 _.\nñ", max_size=40), st.data())
def test_every_piece_of_a_text_may_be_formed(words: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words)))
    end = data.draw(st.integers(start, len(words)))
    assert Vocabulary(words).may_form(words[start:end])
