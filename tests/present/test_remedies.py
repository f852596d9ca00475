"""Remedies of several answers: a step that two of them share stands once."""

from __future__ import annotations

from gpuassist.model.finding import Action, Answer, Remedy, Severity
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.remedies import shown_together

A, B, C = (Step(StepKind.COMMAND, text(name), (name,)) for name in ("a", "b", "c"))


def answer(title: str, *steps: Step) -> Answer:
    return Answer(
        "some-problem", Severity.PROBLEM, title, "", (), (Remedy("Do it", (), False, Action.COMMAND, "", "torch", steps),), ()
    )


def shown(*answers: Answer) -> list[tuple[tuple[Step, ...], str]]:
    told = (one for remedies in shown_together(answers) for one in remedies)
    return [(one.steps, ENGLISH(one.before) if one.before is not None else "") for one in told]


def test_steps_that_stand_before_are_named_by_their_title() -> None:
    assert shown(answer("First", A, B), answer("Second", A, B, C), answer("Third", A, B)) == [
        ((A, B), ""),
        ((C,), "First the steps under “First”, then:"),
        ((), "These are the steps under “First”."),
    ]


def test_what_another_step_comes_before_is_shown_again() -> None:
    assert shown(answer("First", A), answer("Second", B, A)) == [((), ""), ((B, A), "")]


def test_a_single_step_is_the_remedy_itself() -> None:
    ((one,),) = shown_together([answer("Only", A)])
    assert (one.is_one, one.steps) == (True, ())
