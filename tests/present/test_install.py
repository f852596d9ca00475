"""What the install page says of plans, steps, what they would change, and what came of them."""

from __future__ import annotations

import pytest

from gpuassist.install.records import Install, InstallState, StepRecord, StepState
from gpuassist.install.rollback import BackStep
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.outlook import Method, Outlook
from gpuassist.model.plan import Step, StepKind, StepRun, Tool
from gpuassist.model.solve import DryRun, PackageChange, Requirer, Solve
from gpuassist.model.text import Text, verbatim
from gpuassist.model.words import ENGLISH
from gpuassist.present.install import (
    WAYS,
    before_going_back,
    before_taking,
    change_lines,
    changes_title,
    course_title,
    install_in_words,
    next_action,
    plan_title,
    remarks,
    requirer_in_words,
    run_lines,
    state_in_words,
)
from tests.install.installs_made import by_user, script

ADDED = PackageChange("triton", "", "3.5")
CHANGED = PackageChange("torch", "2.8.0", "2.9.1", "py312_0", "py312_1")
REMOVED = PackageChange("nccl", "2.20")
SAID = verbatim("why")


def looked(*changes: PackageChange) -> DryRun:
    return DryRun(Known(Solve(Tool.PIP, changes), "asked"))


def outlook(steps: tuple[Step, ...] = (), blocked: tuple[Text, ...] = (), undetermined: tuple[Text, ...] = ()) -> Outlook:
    return Outlook(verbatim("torch"), (), (), steps, blocked, undetermined=undetermined)


def install(*states: StepState, state: InstallState = InstallState.OPEN) -> Install:
    records = tuple(StepRecord(script("pass"), one) for one in states)
    return Install("1", "2026-11-21T17:00:00+00:00", "torch", ("torch",), "/home/you", "", records, state)


@pytest.mark.parametrize(
    ("plan", "title"),
    [
        (outlook((script("pass"),)), "Possible in 1 step"),
        (outlook((script("pass"), script("pass"))), "Possible in 2 steps"),
        (outlook(blocked=(SAID,)), "This cannot be made to work"),
        (outlook(undetermined=(SAID,)), "This could not be determined"),
        (outlook(), "Nothing has to be done"),
    ],
)
def test_the_answer_stands_in_the_title(plan: Outlook, title: str) -> None:
    assert ENGLISH(plan_title(plan)) == title


@pytest.mark.parametrize(
    ("made", "title"),
    [
        (install(StepState.DONE, StepState.FAILED), "Step 2 of 2"),
        (install(StepState.DONE, state=InstallState.DONE), "All steps are done"),
        (install(StepState.WAITING, state=InstallState.GIVEN_UP), "Given up; what was done stays"),
        (install(StepState.TAKEN_BACK, state=InstallState.TAKEN_BACK), "Undone: everything is as it was"),
    ],
)
def test_how_far_an_install_came(made: Install, title: str) -> None:
    assert ENGLISH(course_title(made)) == title


def test_an_install_on_record_is_a_line() -> None:
    assert ENGLISH(install_in_words(install(StepState.DONE, state=InstallState.DONE))) == "torch · 2026-11-21 · done"


def test_every_way_has_a_name() -> None:
    assert set(WAYS) == set(Method)


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (script("pass"), "in /home/you"),
        (by_user(StepKind.ROOT_COMMAND), "never runs it"),
        (by_user(StepKind.REBOOT), "now or later"),
        (by_user(StepKind.NEW_SHELL), "open a new one"),
        (by_user(StepKind.HARDWARE), "You have to do this step"),
        (Step(StepKind.EDIT, SAID, ("gpuassist use cuda 12.8",)), "page Repair"),
    ],
)
def test_who_takes_a_step(step: Step, says: str) -> None:
    assert says in " ".join(map(ENGLISH, remarks(step, "/home/you")))


def test_of_a_recorded_machine_nothing_is_promised() -> None:
    assert remarks(script("pass"), "") == ()


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (script("pass"), "Start step 3…"),
        (by_user(StepKind.ROOT_COMMAND), "Step 3 is done"),
        (by_user(StepKind.REBOOT), "I will restart"),
        (Step(StepKind.EDIT, SAID, ("gpuassist use cuda 12.8",)), "Open Repair"),
    ],
)
def test_the_button_says_what_is_next(step: Step, says: str) -> None:
    assert ENGLISH(next_action(step, 2)) == says


def test_what_is_run_is_shown_word_by_word() -> None:
    step = Step(StepKind.COMMAND, SAID, ("a; b",), run=StepRun((("echo", "a b"), ("true",)), Tool.PIP))
    assert run_lines(step) == ("echo 'a b'", "true")


def test_a_step_of_the_users_shows_its_own_lines() -> None:
    assert run_lines(by_user(StepKind.ROOT_COMMAND)) == ("sudo something",)


def test_a_step_that_waits_says_nothing() -> None:
    assert state_in_words(StepRecord(script("pass"))) is None


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (StepRecord(script("pass"), StepState.DONE, "it imports torch 2.9.1"), "it imports torch 2.9.1"),
        (StepRecord(script("pass"), StepState.DONE), "done"),
        (StepRecord(script("pass"), StepState.FAILED, "no room"), "failed: no room"),
        (StepRecord(script("pass"), StepState.WAITING, "torch is gone"), "not started: torch is gone"),
    ],
)
def test_how_a_step_stands(record: StepRecord, says: str) -> None:
    words = state_in_words(record)
    assert words is not None
    assert ENGLISH(words) == says


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ((ADDED, CHANGED, REMOVED), "It would change: 1 package added · 1 changed · 1 removed"),
        ((ADDED, ADDED), "It would change: 2 packages added"),
        ((), "No installed package would change"),
    ],
)
def test_what_would_change_in_figures(changes: tuple[PackageChange, ...], says: str) -> None:
    assert ENGLISH(changes_title(looked(*changes))) == says


def test_what_nobody_could_tell_is_not_nothing() -> None:
    unknown = DryRun(Unknown(SAID), stops=(SAID,))
    assert (ENGLISH(changes_title(unknown)), change_lines(unknown)) == ("The changes it would make are not known", ())


def test_each_package_is_a_line() -> None:
    assert change_lines(looked(ADDED, CHANGED, REMOVED)) == (
        "+ triton 3.5",
        "~ torch 2.8.0 py312_0 → 2.9.1 py312_1",
        "- nccl 2.20",
    )


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [(True, True, "keeps it"), (True, False, "lose it"), (False, True, "get it"), (False, False, "would not get it")],
)
def test_who_asks_for_which_torch(before: bool, after: bool, says: str) -> None:
    words = ENGLISH(requirer_in_words(Requirer("xformers", "0.0.30", "torch==2.8", before, after)))
    assert words.startswith("xformers 0.0.30 requires torch==2.8")
    assert words.endswith(says)


def test_before_a_step_its_changes_and_warnings_are_named() -> None:
    found = DryRun(Known(Solve(Tool.PIP, (ADDED,)), ""), warnings=(SAID,))
    said = tuple(map(ENGLISH, before_taking(found, install(StepState.WAITING))))
    assert said[:2] == ("It would change: 1 package added", "why")
    assert said[2].startswith("The unfinished install of torch is given up")


def test_before_going_back_what_stays_is_named() -> None:
    said = before_going_back((BackStep(0, SAID, left=("numpy",)),))
    assert tuple(map(ENGLISH, said)) == ("why", "These were changed by something else since, so they stay as they are: numpy")
