"""JSON of anybody's making: one error for what is none, and no number that the rest of the program could not count with."""

from __future__ import annotations

import json
import math
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.json_reader import NotJsonError, read_json

NESTED = 200_000


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b'{"a": "\xff"}',
        "nothing",
        "[" * NESTED,
        b'{"a":' * NESTED,
        "[" * NESTED + "]" * NESTED,
        '"\n"',
        b"\x00",
    ],
)
def test_what_is_none_is_one_error(content: str | bytes) -> None:
    with pytest.raises(NotJsonError):
        read_json(content)


@pytest.mark.parametrize("content", ['"\\ud800"', '{"\\uD83D": 1}', '["\\ude00\\ud83d"]', '"\ud800"', b'"\xed\xa0\x80"'])
def test_half_a_character_is_none(content: str | bytes) -> None:
    with pytest.raises(NotJsonError):
        read_json(content)


KEPT = [('"\\ud83d\\ude00"', "\U0001f600"), ('"/a\\udcff"', "/a\udcff"), ('"\\\\ud800"', "\\ud800")]


@pytest.mark.parametrize(("words", "value"), KEPT)
def test_pairs_and_stray_bytes_of_names_are_kept(words: str, value: str) -> None:
    assert read_json(words) == value


@pytest.mark.parametrize("digits", [10, 18, 19, 20, 21, 400, 5000, 100_000])
@pytest.mark.parametrize("sign", ["", "-"])
def test_whole_numbers_are_those_of_64_bits(digits: int, sign: str) -> None:
    number = read_json(sign + "9" * digits)
    assert isinstance(number, int) is (digits <= 18 or (digits == 19 and not sign))
    assert abs(number) == (float("9" * digits) if isinstance(number, float) else 10**digits - 1)


@pytest.mark.parametrize("number", [0, -1, (1 << 64) - 1, -(1 << 63), 1 << 53])
def test_the_last_bit_is_kept(number: int) -> None:
    assert read_json(str(number)) == number
    assert isinstance(read_json(str(number)), int)


@pytest.mark.parametrize("number", [1 << 64, -(1 << 63) - 1])
def test_one_more_is_a_float(number: int) -> None:
    assert isinstance(read_json(str(number)), float)


def test_a_number_that_no_float_holds_is_infinite() -> None:
    assert read_json("[" + "9" * 400 + "]") == [math.inf]


_DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(_DOCUMENTS)
def test_everything_else_is_as_it_was_written(document: object) -> None:
    assert read_json(json.dumps(document)) == document


@given(st.binary())
def test_any_bytes_are_a_document_or_that_error(content: bytes) -> None:
    with suppress(NotJsonError):
        read_json(content)
