"""What would be obeyed is made visible or kept, and everything else is left as it is."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.visible import escaped, hidden, hides, on_one_line, visible
from tests.hostile import HOSTILE, KINDLY, OBEYED


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("", ""),
        ("/usr/local/cuda-12.4", "/usr/local/cuda-12.4"),
        ("\x1b]0;PWN\x07", "<U+001B>]0;PWN<U+0007>"),
        ("\x00\r\x7f\x9b", "<U+0000><U+000D><U+007F><U+009B>"),
        ("a\u202eb\u2066c\u200f\u061c", "a<U+202E>b<U+2066>c<U+200F><U+061C>"),
        ("one\u2028two\u2029\x85", "one<U+2028>two<U+2029><U+0085>"),
        ("caf\udce9", "caf<U+DCE9>"),
        ("line\n\tline", "line\n\tline"),
        (r"PS1='\x1b[32m\u202e\e[0m'", r"PS1='\x1b[32m\u202e\e[0m'"),
        (KINDLY, KINDLY),
    ],
)
def test_what_is_obeyed_is_shown_by_its_number(words: str, shown: str) -> None:
    assert visible(words) == shown
    assert hides(words) is (words != shown)


def test_a_line_end_in_a_name_is_shown_where_a_line_must_stay_one() -> None:
    assert on_one_line("RTX 4090\n✓ fine\x1b") == "RTX 4090<U+000A>✓ fine<U+001B>"


def test_each_is_named_once() -> None:
    assert hidden("\x1b[2J\x1b[31m\u202e") == ("<U+001B>", "<U+202E>")


@given(st.text(st.characters(exclude_categories=())))
def test_nothing_is_obeyed_and_twice_is_as_once(words: str) -> None:
    shown = visible(words)
    assert OBEYED.search(shown) is None
    assert visible(shown) == shown


@given(st.text(st.characters(exclude_categories=())))
def test_a_document_keeps_every_value(words: str) -> None:
    document = escaped(json.dumps({words: [words]}, ensure_ascii=False, indent=2))
    assert OBEYED.search(document) is None
    assert json.loads(document) == {words: [words]}


def test_no_control_and_no_direction_is_forgotten() -> None:
    every = "".join(map(chr, range(0x10000)))  # Unicode has them in its first plane alone
    controls = {one for one in every if unicodedata.category(one) in {"Cc", "Zl", "Zp", "Cs"}} - {"\n", "\t"}
    turning = {
        one for one in every if unicodedata.bidirectional(one) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    }
    assert {one for one in every if hides(one)} == controls | turning | set("\u061c\u200e\u200f")


def test_hostile_words_hold_one_of_every_kind() -> None:
    assert {one[0] for one in OBEYED.finditer(HOSTILE)} >= set("\x1b\x07\x9b\u202e\u2066\u200f\u2028\x7f\x00\r")
