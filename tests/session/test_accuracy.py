"""How often the right cause of a pasted text stands first; no sound set-up is accused, and the advice is the right one."""

from __future__ import annotations

import pytest

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.model.machine import Machine
from gpuassist.session.explain import explain
from tests.pasted_cases import Judged, PastedCase, judged, pasted_cases
from tests.values import machine

LEAST_RIGHT = 0.95
LEAST_ADVISED = 0.95


@pytest.fixture(scope="module")
def session() -> Session:
    """The real one, in English."""
    return compose("en")


@pytest.fixture(scope="module")
def results(session: Session) -> tuple[Judged, ...]:
    """Every public case, explained by its text alone."""
    return judged(session, pasted_cases())


def test_right_cause_stands_first(results: tuple[Judged, ...]) -> None:
    missed = {one.case.id: one.answered for one in results if not one.right}
    assert len(missed) <= (1 - LEAST_RIGHT) * len(results), missed


@pytest.mark.parametrize("file", ["wordings", "further", "seen"])
def test_other_wordings_of_the_same_problems_are_known(session: Session, file: str) -> None:
    wordings = judged(session, pasted_cases(file))
    missed = {one.case.id: one.answered for one in wordings if not one.right}
    assert len(missed) <= (1 - LEAST_RIGHT) * len(wordings), missed
    assert [one.case.id for one in wordings if one.false_alarm] == []


def test_text_without_a_gpu_problem_gets_none(results: tuple[Judged, ...]) -> None:
    assert [one.case.id for one in results if one.false_alarm] == []


def test_advice_mentions_what_mended_it(results: tuple[Judged, ...]) -> None:
    right = [one for one in results if one.right]
    wrong = {one.case.id: one.unmentioned for one in right if one.unmentioned}
    assert len(wrong) <= (1 - LEAST_ADVISED) * len(right), wrong


def test_every_answer_is_described(results: tuple[Judged, ...]) -> None:
    answers = [answer for one in results for answer in one.explanation.answers]
    doubts = [doubt.answer for one in results for doubt in one.explanation.less_likely]
    assert [answer.id for answer in (*answers, *doubts) if "is known as" in answer.title or not answer.explanation] == []


def test_every_answer_names_a_place_in_the_text(results: tuple[Judged, ...]) -> None:
    assert [one.case.id for one in results if one.explanation.answers and not one.explanation.answers[0].evidence] == []


def test_nothing_of_our_own_fails_on_them(results: tuple[Judged, ...]) -> None:
    failed = {one.problem for result in results for one in result.explanation.undetermined}
    assert "own-check-failed" not in failed


def test_a_sound_machine_changes_no_answer_of_its_own_accord(session: Session) -> None:
    own = machine()
    missed = [case.id for case in pasted_cases() if _first(session, case, own) not in {case.cause, *case.also}]
    assert len(missed) <= 0.15 * len(pasted_cases()), missed


def _first(session: Session, case: PastedCase, own: Machine) -> str:
    answers = explain(session, case.words, own).answers
    return answers[0].id if answers else ""
