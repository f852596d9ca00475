"""The steps of a remedy: each with its lines and its check, or where those stand that come first."""

from __future__ import annotations

from gpuassist.model.finding import Action, Remedy
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.present.remedies import ShownRemedy
from gpuassist.ui.widgets.code import CodeBlock
from gpuassist.ui.widgets.plan_steps import PlanSteps
from tests.ui.showing import Show, words_in

STEPS = (
    Step(StepKind.ROOT_COMMAND, text("Install it"), ("sudo apt install it",), check=text("it is there"), needs_root=True),
    Step(StepKind.REBOOT, text("Restart")),
)
REMEDY = Remedy("Do it", (), True, Action.REBOOT, "", "driver", STEPS, (text("mind the step"),))


def shown(show: Show, remedy: ShownRemedy) -> PlanSteps:
    return show(PlanSteps(ENGLISH, remedy), 480, 320)


def test_each_step_has_its_letter_lines_and_check(show: Show) -> None:
    made = shown(show, ShownRemedy(REMEDY, STEPS))
    assert words_in(made) == ["a) Install it", "To see that it worked: it is there", "b) Restart", "Note: mind the step"]
    assert [block.content for block in made.findChildren(CodeBlock)] == ["sudo apt install it"]


def test_steps_that_stand_elsewhere_are_named(show: Show) -> None:
    made = shown(show, ShownRemedy(REMEDY, (), text("These are the steps under “{title}”.", title="First")))
    assert words_in(made) == ["These are the steps under “First”."]
