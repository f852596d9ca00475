"""Every member of every kind has its mark, and the program ends with the worst of what came of it."""

from __future__ import annotations

from enum import Enum

import pytest

from gpuassist.changes.record import ChangeStatus
from gpuassist.install.records import StepState
from gpuassist.install.run import StepEnding
from gpuassist.install.step_proof import Holds
from gpuassist.model.chain import Status
from gpuassist.model.finding import Severity
from gpuassist.model.plan import Result
from gpuassist.model.verdict import Verdict
from gpuassist.present import marks
from gpuassist.present.marks import GLYPHS, MARK_WORDS, Exit, Mark, exit_of, glyph_of, mark_of, worst
from gpuassist.session.setup_values import SetupStageState

SHOWN: tuple[type[Enum], ...] = (
    Status, Severity, Verdict, Result, Holds, StepEnding, StepState, ChangeStatus, SetupStageState,
)  # fmt: skip


@pytest.mark.parametrize("kind", SHOWN)
def test_every_member_has_a_mark_and_no_mark_is_left_over(kind: type[Enum]) -> None:
    assert set(marks._MARKS[kind.__name__]) == {one.value for one in kind}
    assert all(glyph_of(one) == GLYPHS[mark_of(one)] for one in kind)


def test_no_kind_is_left_over() -> None:
    assert set(marks._MARKS) == {kind.__name__ for kind in SHOWN}
    assert set(GLYPHS) == set(MARK_WORDS) == set(Mark)


@pytest.mark.parametrize("kind", [Severity, Verdict, Result])
def test_every_member_has_an_exit_status(kind: type[Enum]) -> None:
    assert set(marks._EXITS[kind.__name__]) == {one.value for one in kind}
    for one in kind:
        assert (mark_of(one) is Mark.PROBLEM) <= (exit_of(one) is Exit.PROBLEMS)


def test_problems_are_worse_than_warnings_and_what_is_open() -> None:
    assert worst((Exit.UNDETERMINED, Exit.PROBLEMS, Exit.WARNINGS)) is Exit.PROBLEMS
    assert worst(()) is Exit.HEALTHY
