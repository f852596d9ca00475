"""A quotation cut to a length."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.visible import MARK, shortened


def test_what_fits_stays_as_it_is() -> None:
    assert shortened("out of memory", 13) == "out of memory"


def test_longer_words_end_at_a_word_and_with_a_mark() -> None:
    assert shortened("out of memory", 12) == "out of …"


def test_word_without_end_is_cut_itself() -> None:
    assert shortened("undefined " + "x" * 90, 60) == "undefined " + "x" * 50 + " …"


@given(st.text(max_size=80), st.integers(1, 60))
def test_nothing_is_added_but_the_mark(words: str, most: int) -> None:
    cut = shortened(words, most)
    assert cut == words if len(words) <= most else words.startswith(cut.removesuffix(MARK))
    assert len(cut) <= max(most, 0) + len(MARK)
