"""The worst exit status wins, wrong usage has its words, and a context writes to the streams that it is given."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.cli.context import Context, TerminalStreams, UsageError
from gpuassist.context import Session
from gpuassist.model.codec import Json
from gpuassist.model.text import counted, text
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit, worst
from tests.fakes import world_under
from tests.rows import for_each
from tests.values import knowledge

WORST_FIRST = [70, 64, 2, 1, 3, 0]  # as the contract of the command line orders them


def _context(tmp_path: Path) -> tuple[Context, io.StringIO, io.StringIO]:
    out, err = io.StringIO(), io.StringIO()
    terminal = TerminalStreams(out, err, colour=False, interactive=False)
    return Context(Session(world_under(tmp_path), knowledge(), ENGLISH), terminal), out, err


@for_each(("worse", "better"), list(itertools.combinations(WORST_FIRST, 2)))
def test_worse_of_two_statuses_wins(worse: int, better: int) -> None:
    assert worst([Exit(worse), Exit(better)]) == worse
    assert worst([Exit(better), Exit(worse)]) == worse


@given(st.lists(st.sampled_from(WORST_FIRST), min_size=1))
def test_worst_of_many_is_the_first_in_the_order(statuses: list[int]) -> None:
    assert worst(map(Exit, statuses)) == min(statuses, key=WORST_FIRST.index)


def test_nothing_that_happened_is_healthy() -> None:
    assert worst([]) is Exit.HEALTHY


def test_one_status_is_its_own_worst() -> None:
    assert [worst([Exit(status)]) for status in WORST_FIRST] == WORST_FIRST


def test_statuses_may_be_made_as_they_are_asked_for() -> None:
    assert worst(one for one in (Exit.HEALTHY, Exit.WARNINGS)) is Exit.WARNINGS


def test_wrong_usage_carries_its_words() -> None:
    error = UsageError(text("there is no GPU {number}", number=7))
    assert ENGLISH(error.reason) == "there is no GPU 7"


def test_without_a_window_that_is_said(tmp_path: Path) -> None:
    context, _, _ = _context(tmp_path)
    with pytest.raises(UsageError) as caught:
        context.open_window(None)
    assert ENGLISH(caught.value.reason) == "there is no window here"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (text("{count} of 2", count=1), "1 of 2\n"),
        (counted("{count} finding", "{count} findings", 3), "3 findings\n"),
        ("{left} as it is", "{left} as it is\n"),
        ("", "\n"),
    ],
)
def test_line_and_note_are_rendered_alike(tmp_path: Path, words: str, line: str) -> None:
    context, out, err = _context(tmp_path)
    context.say(words)
    context.note(words)
    assert (out.getvalue(), err.getvalue()) == (line, line)


@pytest.mark.parametrize("indent", [2, None])
@pytest.mark.parametrize("document", [{}, [], {"schema": 1, "rate": None}, {"reason": "健康 ✓", "seconds": 0.5}, [1, "two"]])
def test_document_is_the_whole_of_standard_output(tmp_path: Path, document: Json, indent: int | None) -> None:
    context, out, err = _context(tmp_path)
    context.document(document, indent=indent)
    assert json.loads(out.getvalue()) == document
    assert (out.getvalue().endswith("\n"), err.getvalue()) == (True, "")


def test_several_documents_are_a_line_each(tmp_path: Path) -> None:
    context, out, _ = _context(tmp_path)
    for number in range(3):
        context.document({"sample": number, "words": "a\nb"}, indent=None)
    assert [json.loads(line)["sample"] for line in out.getvalue().splitlines()] == [0, 1, 2]


def test_live_machine_is_meant_where_no_recording_is_named(tmp_path: Path) -> None:
    context, _, _ = _context(tmp_path)
    assert context.machine_file == ""
