"""Lines of a terminal hold no more columns than it has, in Chinese too, and nothing of the words is lost."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.cli.paragraphs import columns, wrapped
from tests.rows import for_each

CHINESE = (
    "报错里还会建议一个分配器设置；无论什么原因它都会打印这条提示，在这里没有用。`torch.cuda.empty_cache()` 也没有用（见下）。"
)
ascii_words = st.text(st.sampled_from("ab-./ "), max_size=80)
mixed_words = st.text(st.sampled_from("ab 中文，。（）`-"), max_size=80)
widths = st.integers(10, 60)


@given(ascii_words, widths)
def test_words_without_chinese_are_wrapped_as_ever(words: str, width: int) -> None:
    wrapper = textwrap.TextWrapper(width, "  ", "    ", break_long_words=False, break_on_hyphens=False)
    assert wrapped(words, width, first="  ", hanging="    ") == wrapper.wrap(words)


@given(mixed_words, widths)
def test_nothing_but_blanks_is_lost(words: str, width: int) -> None:
    assert "".join("".join(wrapped(words, width)).split()) == "".join(words.split())


@pytest.mark.parametrize("width", [40, 60, 100])
def test_chinese_lines_fit_the_terminal(width: int) -> None:
    lines = wrapped(CHINESE, width, first="  1. ", hanging="     ")
    assert max(map(columns, lines)) <= width


def test_chinese_lines_are_filled() -> None:
    assert all(columns(line) > 30 for line in wrapped(CHINESE, 40)[:-1])


@for_each("width", range(20, 60))
def test_no_line_begins_with_a_closing_mark(width: int) -> None:
    assert not [line for line in wrapped(CHINESE, width) if line[0] in "，。；）"]


def test_code_stays_whole() -> None:
    assert any("`torch.cuda.empty_cache()`" in line for line in wrapped(CHINESE, 32))


def test_chinese_character_takes_two_columns() -> None:
    assert (columns("ab"), columns("中文"), columns("中，")) == (2, 4, 4)


def test_no_words_are_no_lines() -> None:
    assert wrapped("", 40) == []
