"""What is pasted is explained: the cause stands first, and every answer explains and helps."""

from __future__ import annotations

import pytest

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.session.explain import Explanation, explain
from tests.rows import for_each
from tests.session import pastes_containers, pastes_devices, pastes_run_time, pastes_system

PASTES = (*pastes_containers.PASTES, *pastes_devices.PASTES, *pastes_run_time.PASTES, *pastes_system.PASTES)


@pytest.fixture(scope="module")
def session() -> Session:
    """gpuassist as it is started, in English."""
    return compose("en")


@for_each(("cause", "words"), PASTES)
def test_cause_stands_first_and_every_answer_helps(session: Session, cause: str, words: str) -> None:
    explanation = explain(session, words)
    assert [answer.id for answer in explanation.answers[:1]] == [cause]
    assert _empty(explanation) == []


def _empty(explanation: Explanation) -> list[str]:
    return [answer.id for answer in explanation.answers if not answer.explanation or not answer.remedies]
