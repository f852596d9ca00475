"""What a terminal answers when it is asked what it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.system.terminal_session import Queries
from tests.rows import for_each

ASKED = {
    b"\x1b[c": b"\x1b[?62;22c",
    b"\x1b[0c": b"\x1b[?62;22c",
    b"\x1b[>c": b"\x1b[>41;390;0c",
    b"\x1b[>0c": b"\x1b[>41;390;0c",
    b"\x1b[5n": b"\x1b[0n",
    b"\x1b[6n": b"\x1b[1;1R",
    b"\x1b[?6n": b"\x1b[?1;1R",
    b"\x1b]10;?\x07": b"\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b]11;?\x1b\\": b"\x1b]11;rgb:0000/0000/0000\x1b\\",
    b"\x1b[>q": b"\x1bP>|XTerm(390)\x1b\\",
    b"\x1b[>0q": b"\x1bP>|XTerm(390)\x1b\\",
    b"\x1b[?2026$p": b"\x1b[?2026;0$y",
    b"\x1b[?u": b"\x1b[?0u",
    b"\x1bP+q696e646e\x1b\\": b"\x1bP0+r696e646e\x1b\\",
    b"\x1bP$qm\x1b\\": b"\x1bP0$r\x1b\\",
    b"\x1b[18t": b"\x1b[8;24;80t",
}


@for_each(("asked", "answer"), ASKED.items())
def test_query_is_answered_wherever_it_is_cut(asked: bytes, answer: bytes) -> None:
    printed = b"\x1b[1mhello\x1b[0m" + asked + b"% "
    for cut in range(len(printed)):
        queries = Queries()
        assert queries.answers(printed[:cut]) + queries.answers(printed[cut:]) == answer


def test_answers_come_in_the_order_of_the_queries() -> None:
    assert Queries().answers(b"\x1b[?u\x1b[>0q\x1b[0c") == b"\x1b[?0u\x1bP>|XTerm(390)\x1b\\\x1b[?62;22c"


@pytest.mark.parametrize(
    "printed", [b"plain", b"\x1b[2J\x1b[H", b"\x1b]0;title\x07", b"\x1b]11;#000000\x07", b"\x1b[?2004h", b"\x1b[31m", b"[6n"]
)
def test_what_is_no_query_gets_no_answer(printed: bytes) -> None:
    assert Queries().answers(printed) == b""


@given(st.lists(st.binary(max_size=40) | st.sampled_from(sorted(ASKED)), max_size=8))
def test_any_output_is_survived(pieces: list[bytes]) -> None:
    queries = Queries()
    for piece in pieces:
        queries.answers(piece)
