"""The lines of a text as readers see them."""

from __future__ import annotations

import pytest

from gpuassist.detect.readers.lines import Line, lines, lines_with, source, whole
from gpuassist.model.fact import Known
from gpuassist.model.paste import Paste

TEXT = Paste("first\n> quoted\n> > twice\n\tindented  \n| table | row |\nlast")


def test_lines_are_counted_from_one() -> None:
    assert [line.number for line in lines(TEXT)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("number", "words"), [(1, "first"), (2, "quoted"), (3, "twice"), (4, "\tindented"), (5, "| table | row |"), (6, "last")]
)
def test_marks_of_quotation_are_left_out(number: int, words: str) -> None:
    assert lines(TEXT)[number - 1].words == words


@pytest.mark.parametrize("words", ["a > b", "12 > 3", "$ echo x > file", "PS C:\\> nvidia-smi"])
def test_a_sign_within_a_line_is_no_quotation(words: str) -> None:
    assert lines(Paste(words))[0].words == words


def test_only_lines_that_hold_a_literal_are_given() -> None:
    assert [line.number for line in lines_with(TEXT, "quoted", "last")] == [2, 6]


def test_a_text_without_the_literal_gives_no_line() -> None:
    assert list(lines_with(TEXT, "absent")) == []


def test_a_fact_tells_program_and_line() -> None:
    fact = Line(12, "x").known(7, "nvidia-smi")
    assert fact == Known(7, "pasted nvidia-smi, line 12")
    assert source("nvidia-smi", 12) == "pasted nvidia-smi, line 12"


@pytest.mark.parametrize(("word", "number"), [("first", 1), ("quoted", 2), ("table", 5), ("last", 6)])
def test_a_place_of_the_whole_text_is_in_its_line(word: str, number: int) -> None:
    text = whole(TEXT)
    place = text.words.index(word)
    assert text.line(place) == number
    assert text.known(1, "x", place) == Known(1, f"pasted x, line {number}")


def test_an_empty_text_has_one_empty_line() -> None:
    assert lines(Paste("")) == (Line(1, ""),)
    assert whole(Paste("")).line(0) == 1
