"""Pasted texts with their known causes, and how well `explain` finds those."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from gpuassist.context import Session
from gpuassist.model.finding import Answer, Severity
from gpuassist.session.explain import Explanation, explain

_FILES = Path(__file__).parent / "cases" / "texts"
NEGATIVES = frozenset({"healthy", "not-a-gpu-problem"})
_CLAIMS = frozenset({Severity.PROBLEM, Severity.WARNING})


@dataclass(frozen=True)
class PastedCase:
    """A text, the ids that may stand first in its answer, and what a remedy has to mention: one of each row."""

    id: str
    category: str
    words: str
    cause: str
    also: tuple[str, ...]
    mentions: tuple[tuple[str, ...], ...]

    @property
    def negative(self) -> bool:
        """Whether the text shows no problem of the GPU set-up."""
        return self.cause in NEGATIVES


@dataclass(frozen=True)
class Judged:
    """A case with what `explain` made of it."""

    case: PastedCase
    explanation: Explanation

    @property
    def answered(self) -> str:
        """The id that stands first; empty where the text was not known."""
        return self.explanation.answers[0].id if self.explanation.answers else ""

    @property
    def right(self) -> bool:
        """Whether the right id stands first, and nothing is claimed of a set-up that is fine."""
        return self.answered in {self.case.cause, *self.case.also} and not self.false_alarm

    @property
    def false_alarm(self) -> bool:
        """Whether a text that shows no problem got one."""
        return self.case.negative and any(answer.severity in _CLAIMS for answer in self.explanation.answers)

    @property
    def unmentioned(self) -> tuple[str, ...]:
        """What the first answer's remedies should mention and do not."""
        advice = _advice(self.explanation.answers[:1])
        return tuple("|".join(row) for row in self.case.mentions if not any(word in advice for word in row))


@cache
def pasted_cases(file: str = "public") -> tuple[PastedCase, ...]:
    """The cases of a file."""
    lines = (_FILES / f"{file}.jsonl").read_text("utf-8").splitlines()
    return tuple(_case(json.loads(line)) for line in lines if line.strip())


def judged(session: Session, cases: Iterable[PastedCase]) -> tuple[Judged, ...]:
    """Each case explained by its text alone."""
    return tuple(Judged(case, explain(session, case.words)) for case in cases)


def _case(record: Any) -> PastedCase:
    mentions = tuple(tuple(row.lower().split("|")) for row in record["fix_must_mention"])
    return PastedCase(record["id"], record["category"], record["text"], record["cause"], tuple(record["also"]), mentions)


def _advice(answers: Iterable[Answer]) -> str:
    words = (
        [remedy.text, remedy.check, *(line for command in remedy.commands for line in command.lines)]
        for answer in answers
        for remedy in answer.remedies
    )
    return "\n".join(word for row in words for word in row).lower()
