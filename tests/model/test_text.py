"""Words before they are rendered: values that compare, nest, and keep what a tool printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.text import Parameter, Text, counted, enumerated, text, verbatim
from gpuassist.model.words import ENGLISH


def test_message_without_slots_has_no_parameters() -> None:
    assert text("not looked at") == Text("not looked at", (), "")


def test_same_words_are_the_same_value() -> None:
    assert text("{a}", a=1) == text("{a}", a=1)
    assert len({text("{a}", a=1), text("{a}", a=1), text("{a}", a=2)}) == 2


@pytest.mark.parametrize(
    "other",
    [text("{a} {b}", a=2, b=2), text("{a} and {b}", a=1, b=2), text("{a} {b}", b=2, a=1), counted("{a} {b}", "{a}", 1, a=1, b=2)],
)
def test_other_words_are_another_value(other: Text) -> None:
    assert text("{a} {b}", a=1, b=2) != other


@pytest.mark.parametrize("value", ["", "word", 0, -3, 2.5, text("inner {x}", x=1)])
def test_parameter_is_kept_as_it_is(value: Parameter) -> None:
    assert text("{value}", value=value).parameters == (("value", value),)


def test_parameter_may_be_called_message() -> None:
    assert ENGLISH(text("it said {message}", message="no")) == "it said no"


@pytest.mark.parametrize(("count", "words"), [(0, "0 checks on cpu"), (1, "1 check on cpu"), (11, "11 checks on cpu")])
def test_counted_words_take_more_parameters(count: int, words: str) -> None:
    assert ENGLISH(counted("{count} check on {device}", "{count} checks on {device}", count, device="cpu")) == words


def test_counted_words_keep_both_forms() -> None:
    made = counted("{count} GPU", "{count} GPUs", 1)
    assert (made.message, made.plural) == ("{count} GPU", "{count} GPUs")


def test_brace_written_twice_is_one_brace() -> None:
    assert ENGLISH(text("{{{name}}}", name="HOME")) == "{HOME}"


@given(st.text())
def test_verbatim_words_come_out_as_they_went_in(words: str) -> None:
    assert ENGLISH(verbatim(words)) == words


@given(st.text(), st.text())
def test_what_goes_into_a_slot_is_no_message(before: str, after: str) -> None:
    assert ENGLISH(text("{before}|{after}", before=before, after=verbatim(after))) == f"{before}|{after}"


@given(
    st.recursive(st.text().map(verbatim), lambda inner: st.tuples(inner, inner).map(lambda two: text("{a}{b}", a=two[0], b=two[1])))
)
def test_words_nest_to_any_depth(words: Text) -> None:
    assert ENGLISH(words) == _leaves(words)


def _leaves(words: Text) -> str:
    return "".join(_leaves(value) if isinstance(value, Text) else str(value) for _, value in words.parameters)


@pytest.mark.parametrize(
    ("names", "words"),
    [("", ""), ("A", "A"), ("AB", "A and B"), ("ABC", "A, B and C"), ("ABAB", "A and B"), ("ABCD", "A, B, C and D")],
)
def test_names_stand_in_a_row_each_once(names: str, words: str) -> None:
    assert ENGLISH(enumerated(names)) == words


def test_names_that_look_like_slots_stay_as_they_are() -> None:
    assert ENGLISH(enumerated(["{a}", "{0}"])) == "{a} and {0}"
