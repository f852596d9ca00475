"""How the first two steps stand, and which page a finding leads to."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.model.fact import Unknown
from gpuassist.model.finding import Action, Answer, CommandUse, Diagnosis, Remedy, Severity, Undetermined
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import text
from gpuassist.session.navigation import StepStatus, ToFinding, ToHolders, ToInstall
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.ui.leads import (
    begins_with_holders,
    found_state,
    holders_for,
    install_for,
    mends_worst,
    reading_ended,
    repairable_version,
    switch_version,
    way_to,
)
from tests.values import machine

OPEN = Diagnosis(undetermined=(Undetermined("no-driver", text("driver"), text("not readable")),))


def answer(severity: Severity = Severity.PROBLEM, *remedies: Remedy) -> Answer:
    """An answer of some problem."""
    return Answer("some-problem", severity, "Title", "Explanation", (), remedies, ())


def remedy(key: str = "use-cuda", version: str = "12.4", action: Action = Action.EDIT) -> Remedy:
    """A remedy with one command."""
    return Remedy("Do it", (CommandUse(key, (("version", version),), ()),), False, action, "")


def test_a_machine_that_could_be_read_is_right() -> None:
    assert reading_ended(machine(), Diagnosis(), ()).machine is StepStatus.RIGHT


def test_a_machine_without_gpus_was_read_all_the_same() -> None:
    assert reading_ended(machine(gpus=()), Diagnosis(), ()).machine is StepStatus.RIGHT


def test_unknown_gpus_leave_the_machine_unknown() -> None:
    unknown = replace(machine(), gpus=Unknown(text("/sys is not there")))
    assert reading_ended(unknown, Diagnosis(), ()).machine is StepStatus.UNKNOWN


@pytest.mark.parametrize(
    ("severities", "state"),
    [
        ((), StepStatus.RIGHT),
        ((Severity.INFO,), StepStatus.RIGHT),
        ((Severity.WARNING, Severity.INFO), StepStatus.WARNING),
        ((Severity.WARNING, Severity.PROBLEM), StepStatus.PROBLEM),
    ],
)
def test_the_worst_finding_marks_the_step(severities: tuple[Severity, ...], state: StepStatus) -> None:
    assert found_state(Diagnosis(), tuple(map(answer, severities))) is state


def test_what_could_hide_makes_a_clean_result_unknown() -> None:
    assert found_state(OPEN, ()) is StepStatus.UNKNOWN


def test_a_problem_outweighs_what_could_hide() -> None:
    assert found_state(OPEN, (answer(),)) is StepStatus.PROBLEM


def test_switching_toolkits_names_its_version() -> None:
    assert switch_version(answer(Severity.PROBLEM, remedy("apt"), remedy())) == "12.4"


@pytest.mark.parametrize("other", [remedy("apt"), remedy(action=Action.COMMAND), Remedy("Read", (), False, Action.NONE, "")])
def test_other_remedies_offer_no_switch(other: Remedy) -> None:
    assert switch_version(answer(Severity.PROBLEM, other)) == ""


def test_the_first_finding_with_a_switch_decides() -> None:
    answers = (answer(), answer(Severity.PROBLEM, remedy(version="12.8")), answer(Severity.WARNING, remedy(version="11.8")))
    assert repairable_version(answers) == "12.8"


def test_the_event_carries_all_three() -> None:
    event = reading_ended(machine(), Diagnosis(), (answer(Severity.WARNING, remedy()),))
    assert (event.machine, event.found, event.repairable) == (StepStatus.RIGHT, StepStatus.WARNING, "12.4")


def about(*commands: tuple[str, str]) -> Answer:
    """An answer with a remedy for each command, written as its key and a process's number."""
    parameters = ((("pid", pid),) if pid else () for _, pid in commands)
    uses = (CommandUse(key, given, ()) for (key, _), given in zip(commands, parameters, strict=True))
    return answer(Severity.PROBLEM, *(Remedy("Do it", (use,), False, Action.COMMAND, "") for use in uses))


@pytest.mark.parametrize(
    ("commands", "holders"),
    [
        ((), None),
        ((("check-driver", "42"),), None),
        ((("gpu-holders", ""),), ToHolders()),
        ((("gpu-processes", ""), ("process-end", "42")), ToHolders(42)),
        ((("process-end", "the one of yours"),), ToHolders()),
        ((("process-end", "²"),), ToHolders()),
    ],
)
def test_finding_about_who_holds_a_gpu_names_its_process(commands: tuple[tuple[str, str], ...], holders: ToHolders | None) -> None:
    assert holders_for(about(*commands)) == holders


@pytest.mark.parametrize(
    ("commands", "first"),
    [((), False), ((("gpu-holders", ""), ("reboot", "")), True), ((("reboot", ""), ("gpu-holders", "")), False)],
)
def test_seeing_who_holds_it_may_be_the_first_thing_to_do(commands: tuple[tuple[str, str], ...], *, first: bool) -> None:
    assert begins_with_holders(about(*commands)) is first


def for_goals(*goals: str) -> Answer:
    """An answer with a remedy for each goal of a plan; an empty one has commands of its own."""
    steps = (Step(StepKind.COMMAND, text("Do it")),)
    made = (Remedy("Do it", (), False, Action.COMMAND, "", goal, steps if goal else ()) for goal in goals)
    return answer(Severity.PROBLEM, *made)


@pytest.mark.parametrize(
    ("goals", "wish"),
    [
        (("torch",), InstallWish(torch=ANY)),
        (("driver==newest",), InstallWish(driver="newest")),
        (("", "cuda==12.8"), InstallWish(toolkit="12.8")),
        (("torch", "torch==2.8.0+cu128"), InstallWish(torch=ANY)),
    ],
)
def test_a_finding_that_an_install_mends_leads_there(goals: tuple[str, ...], wish: InstallWish) -> None:
    assert install_for(for_goals(*goals)) == ToInstall(wish)


def test_what_no_install_mends_leads_nowhere() -> None:
    blocked = answer(Severity.PROBLEM, Remedy("No change makes that possible.", (), False, Action.NONE, "", "driver"))
    assert (install_for(for_goals("")), install_for(blocked)) == (None, None)


def test_a_hold_is_no_choice_of_the_install_page() -> None:
    assert [install_for(for_goals(goal)) for goal in ("hold", "release")] == [None, None]


def test_what_is_done_by_hand_is_shown_and_what_is_good_to_know_asks_for_nothing() -> None:
    by_hand = Remedy("Take the card out", (), False, Action.NONE, "")
    assert mends_worst((answer(Severity.PROBLEM, by_hand),), machine()) == way_to(ToFinding("some-problem"))
    assert mends_worst((answer(Severity.WARNING),), machine()) == way_to(ToFinding("some-problem"))
    assert mends_worst((answer(Severity.INFO, by_hand),), machine()) is None
