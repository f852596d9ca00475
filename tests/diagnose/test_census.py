"""What packages can print about the GPU, on record: each sentence alone leads to its problem, or to none for the reason given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.session.explain import explain
from tests.rows import for_each

RECORD = Path(__file__).parents[1] / "cases" / "census.jsonl"


@cache
def _session() -> Session:
    return compose("en")


def _told(kind: str) -> Iterator[tuple[str, str]]:
    for line in RECORD.read_text("utf-8").splitlines():
        row = json.loads(line)
        yield from ((words, row[kind]) for words in row["words"] if kind in row)


@for_each(("words", "problem"), lambda: _told("problem"))
def test_sentence_leads_to_its_problem(words: str, problem: str) -> None:
    assert explain(_session(), words).answers[0].id == problem


def _silent() -> Iterator[str]:
    """Ten together, as in a log: one by one they would take five seconds."""
    words = [words for words, _ in _told("reason")]
    yield from ("\n".join(words[start : start + 10]) for start in range(0, len(words), 10))


@for_each("words", _silent)
def test_sentences_that_show_no_fault_of_the_set_up_get_none(words: str) -> None:
    assert not explain(_session(), words).convicts


def test_at_least_25_packages_are_asked() -> None:
    rows = [json.loads(line) for line in RECORD.read_text("utf-8").splitlines()]
    assert len({row["package"] for row in rows}) >= 25
    assert all(row["version"] for row in rows)
