"""What programs print on a terminal, put together to lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.printed import LINE_AT_MOST, Printed, PrintedLines


def read(*pieces: bytes) -> list[Printed]:
    """All lines of these pieces."""
    lines = PrintedLines()
    return [*(line for piece in pieces for line in lines.feed(piece)), *lines.close()]


def ended(*pieces: bytes) -> list[str]:
    """The finished ones."""
    return [line.text for line in read(*pieces) if line.ended]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ((b"one\ntwo\n",), ["one", "two"]),
        ((b"on", b"e\ntw", b"o\n"), ["one", "two"]),
        ((b"one\r\ntwo\r\n",), ["one", "two"]),
        ((b"one\r", b"\ntwo\n"), ["one", "two"]),
        ((b"10%\r20%\r100%\n",), ["100%"]),
        ((b"10%\r", b"20%\r", b"100%\n"), ["100%"]),
        ((b"10%\r\x1b[2K20%\x1b[", b"0m\n"), ["20%"]),
        ((b"\x1b[31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n",), ["red link"]),
        ((b"tab\tstays\n",), ["tab\tstays"]),
        ((b"a\x00b\x07\x9b\n",), ["ab�"]),
        ((b"\xe4\xbd", b"\xa0\n"), ["你"]),
        ((b"\xff\n",), ["�"]),
        ((b"\n\n",), ["", ""]),
        ((b"never finished",), ["never finished"]),
        ((b"",), []),
    ],
)
def test_pieces_become_lines(pieces: tuple[bytes, ...], expected: list[str]) -> None:
    assert ended(*pieces) == expected


def test_an_unfinished_line_is_shown_and_replaced() -> None:
    lines = PrintedLines()
    assert lines.feed(b"Downloading 10%\r") == [Printed("Downloading 10%", ended=False)]
    assert lines.feed(b"Downloading 20%\r") == [Printed("Downloading 20%", ended=False)]
    assert lines.feed(b"\n") == [Printed("Downloading 20%")]


def test_the_same_progress_is_not_told_twice() -> None:
    lines = PrintedLines()
    assert lines.feed(b"10%\r")
    assert lines.feed(b"10%\r") == []


def test_going_up_says_how_many_lines_are_replaced() -> None:
    assert read(b"one\ntwo\n", b"\x1b[2A\x1b[2Kone more\n")[-1] == Printed("one more", back=2)


def test_going_up_in_an_unfinished_line_counts_once() -> None:
    backs = [line.back for line in read(b"one\n", b"\x1b[Ahalf", b" done\n")]
    assert sum(backs) == 1


def test_a_line_without_end_is_broken() -> None:
    pieces = [b"x" * 50_000] * 20
    assert max(len(line) for line in ended(*pieces)) <= LINE_AT_MOST
    assert sum(len(line) for line in ended(*pieces)) == 1_000_000


def test_progress_of_megabytes_stays_one_line() -> None:
    pieces = [b"%06d of 1000000 |#####     |\r" % number for number in range(20_000)]
    assert ended(b"".join(pieces)) == ["019999 of 1000000 |#####     |"]


@given(st.lists(st.binary(max_size=40)))
def test_any_bytes_give_lines_that_can_be_shown(pieces: list[bytes]) -> None:
    for line in read(*pieces):
        assert all(character.isprintable() or not character.isascii() or character == "\t" for character in line.text)
        assert "\n" not in line.text


@given(st.text(alphabet="ab\n", max_size=60), st.integers(1, 7))
def test_pieces_make_no_difference(words: str, size: int) -> None:
    whole = words.encode()
    assert ended(*(whole[start : start + size] for start in range(0, len(whole), size))) == ended(whole)
