"""Navigation as data: events go in, the flow that comes out says what is shown, how each step stands and where the ways lead."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gpuassist.install.what_if import Wish
from gpuassist.model.text import text
from gpuassist.session.file_places import place_of_file
from gpuassist.session.kept_place import place_named, place_words
from gpuassist.session.navigation import (
    Back,
    Errand,
    Event,
    Flow,
    GoTo,
    Marked,
    Next,
    Place,
    ReadingEnded,
    ReadingFailed,
    ReadingStarted,
    SideTool,
    StepStatus,
    ToExplainFile,
    ToExplainText,
    ToFinding,
    ToGuide,
    ToHolders,
    ToInstall,
    ToRecording,
    ToRepair,
    ToSnapshot,
    ToWaitingInstall,
    ToWhatIf,
    WayOn,
    WizardStep,
    follow,
)
from gpuassist.session.plan import ANY, InstallWish

READ = ReadingEnded(StepStatus.RIGHT, StepStatus.RIGHT)
SWITCH = WayOn(text("Switch"), ToRepair("12.4"))
PLAN = WayOn(text("Plan"), ToInstall(InstallWish(driver=ANY)))
COPY = WayOn(text("Copy"), lines=("sudo reboot",))
BROKEN = ReadingEnded(StepStatus.RIGHT, StepStatus.PROBLEM, "12.4", SWITCH)


def after(*events: Event) -> Flow:
    """The flow after these events."""
    return reduce(follow, events, Flow())


def shown(*events: Event) -> Place:
    """What is shown after these events."""
    return after(*events).current


def test_starts_on_the_machine_with_nothing_done() -> None:
    flow = Flow()
    assert flow.current is WizardStep.MACHINE
    assert {state for _, state in flow.states} == {StepStatus.TODO}


def test_side_list_has_the_five_steps_in_order() -> None:
    assert [entry.step for entry in Flow().entries()] == [
        WizardStep.MACHINE,
        WizardStep.FOUND,
        WizardStep.REPAIR,
        WizardStep.VERIFY,
        WizardStep.LIVE,
    ]


def test_only_one_entry_is_current() -> None:
    assert [entry.step for entry in after(READ, GoTo(WizardStep.VERIFY)).entries() if entry.current] == [WizardStep.VERIFY]


@pytest.mark.parametrize("step", [WizardStep.FOUND, WizardStep.REPAIR, WizardStep.VERIFY])
def test_steps_that_need_facts_wait_for_them(step: WizardStep) -> None:
    assert not Flow().enabled(step)
    assert shown(GoTo(step)) is WizardStep.MACHINE
    assert after(READ).enabled(step)


def test_live_memory_needs_no_facts() -> None:
    assert shown(GoTo(WizardStep.LIVE)) is WizardStep.LIVE


def test_reading_makes_the_machine_busy() -> None:
    assert after(ReadingStarted()).state(WizardStep.MACHINE) is StepStatus.BUSY


def test_reading_again_leaves_the_user_where_he_is() -> None:
    assert shown(READ, GoTo(WizardStep.FOUND), ReadingStarted(), BROKEN) is WizardStep.FOUND


def test_what_was_read_marks_the_first_two_steps() -> None:
    flow = after(ReadingStarted(), BROKEN)
    assert (flow.state(WizardStep.MACHINE), flow.state(WizardStep.FOUND)) == (StepStatus.RIGHT, StepStatus.PROBLEM)


def test_a_new_machine_forgets_repair_and_verify() -> None:
    flow = after(READ, Marked(WizardStep.REPAIR, StepStatus.RIGHT), Marked(WizardStep.VERIFY, StepStatus.PROBLEM), READ)
    assert (flow.state(WizardStep.REPAIR), flow.state(WizardStep.VERIFY)) == (StepStatus.TODO, StepStatus.TODO)


def test_live_memory_keeps_its_state_over_a_new_machine() -> None:
    assert after(Marked(WizardStep.LIVE, StepStatus.RIGHT), READ).state(WizardStep.LIVE) is StepStatus.RIGHT


def test_failed_first_reading_leaves_the_machine_unknown() -> None:
    flow = after(ReadingStarted(), ReadingFailed())
    assert flow.state(WizardStep.MACHINE) is StepStatus.UNKNOWN
    assert flow.next() is None


def test_after_a_write_what_was_found_waits_for_the_reading() -> None:
    flow = after(BROKEN, ReadingStarted(after_write=True))
    assert flow.state(WizardStep.FOUND) is StepStatus.BUSY
    assert follow(flow, READ).state(WizardStep.FOUND) is StepStatus.RIGHT


def test_a_reading_that_fails_after_a_write_leaves_nothing_marked_as_if_it_held() -> None:
    flow = after(READ, ReadingStarted(after_write=True), ReadingFailed())
    assert (flow.state(WizardStep.MACHINE), flow.state(WizardStep.FOUND)) == (StepStatus.UNKNOWN, StepStatus.UNKNOWN)
    assert flow.enabled(WizardStep.FOUND)


def test_failed_second_reading_keeps_the_first() -> None:
    flow = after(READ, ReadingStarted(), ReadingFailed())
    assert flow.state(WizardStep.MACHINE) is StepStatus.RIGHT
    assert flow.enabled(WizardStep.FOUND)


def test_no_way_on_before_the_machine_was_read() -> None:
    assert Flow().next() is None
    assert shown(Next()) is WizardStep.MACHINE


def test_way_on_leads_from_the_machine_to_the_findings() -> None:
    assert after(READ).next() is WizardStep.FOUND


def test_way_on_leads_to_repair_with_the_version_of_the_finding() -> None:
    flow = after(BROKEN, Next(), Next())
    assert (flow.current, flow.errand) == (WizardStep.REPAIR, ToRepair("12.4"))


def test_way_on_skips_a_repair_that_nobody_needs() -> None:
    assert shown(READ, Next(), Next()) is WizardStep.VERIFY


@pytest.mark.parametrize("mend", [SWITCH, PLAN, COPY, None])
@pytest.mark.parametrize("state", [StepStatus.PROBLEM, StepStatus.WARNING])
def test_the_obvious_act_is_what_mends_the_worst_finding(mend: WayOn | None, state: StepStatus) -> None:
    flow = after(ReadingEnded(StepStatus.RIGHT, state, "", mend), Next())
    problem = state is StepStatus.PROBLEM
    assert flow.lead() == mend
    assert flow.way() == (mend.destination if mend is not None else None if problem else GoTo(WizardStep.VERIFY))
    assert follow(flow, GoTo(WizardStep.MACHINE)).lead() == (mend if problem else None)
    repair = follow(flow, GoTo(WizardStep.REPAIR))
    assert repair.lead() == mend
    assert repair.way() == (None if problem and mend is not PLAN else PLAN.destination if problem else GoTo(WizardStep.VERIFY))
    elsewhere = {place: follow(flow, GoTo(place)).lead() for place in (WizardStep.VERIFY, WizardStep.LIVE, SideTool.INSTALL)}
    assert set(elsewhere.values()) == {mend if problem else None}
    assert follow(flow, GoTo(SideTool.EXPLAIN)).lead() is None


@pytest.mark.parametrize("mend", [SWITCH, PLAN, COPY, None])
def test_under_a_problem_a_verification_leads_on_only_once_it_passed(mend: WayOn | None) -> None:
    flow = after(ReadingEnded(StepStatus.RIGHT, StepStatus.PROBLEM, "", mend), GoTo(WizardStep.VERIFY))
    assert (flow.lead(), flow.way()) == (mend, None)
    running = follow(flow, Marked(WizardStep.VERIFY, StepStatus.BUSY))
    assert (running.lead(), running.way()) == (None, None)
    passed = follow(flow, Marked(WizardStep.VERIFY, StepStatus.RIGHT))
    assert (passed.lead(), passed.way()) == (None, GoTo(WizardStep.LIVE))


def test_a_command_is_copied_only_where_it_is_seen() -> None:
    mend = replace(COPY, problem="driver-library-mismatch")
    flow = after(ReadingEnded(StepStatus.RIGHT, StepStatus.PROBLEM, "", mend))
    leads = {place: follow(flow, GoTo(place)).lead() for place in WizardStep}
    assert leads.pop(WizardStep.FOUND) == mend
    assert {one.destination for one in leads.values() if one is not None} == {ToFinding("driver-library-mismatch")}
    assert len(leads) == len(WizardStep) - 1


def test_nothing_leads_on_while_what_was_written_is_read_again() -> None:
    flow = after(BROKEN, GoTo(WizardStep.REPAIR), ReadingStarted(after_write=True))
    assert (flow.lead(), flow.way()) == (None, None)
    assert follow(flow, READ).way() == GoTo(WizardStep.VERIFY)


def test_repair_is_still_reachable_from_the_side_list() -> None:
    assert shown(READ, GoTo(WizardStep.REPAIR)) is WizardStep.REPAIR


def test_way_on_ends_with_live_memory() -> None:
    flow = after(READ, Next(), Next(), Next(), Next())
    assert flow.current is WizardStep.LIVE
    assert flow.next() is None


def test_back_shows_what_was_shown_before() -> None:
    assert shown(BROKEN, GoTo(WizardStep.VERIFY), GoTo(WizardStep.FOUND), Back()) is WizardStep.VERIFY


def test_back_goes_all_the_way() -> None:
    assert shown(BROKEN, Next(), Next(), Back(), Back()) is WizardStep.MACHINE


def test_back_at_the_beginning_does_nothing() -> None:
    assert after(Back()) == Flow()
    assert Flow().back() is None


def test_choosing_the_shown_step_adds_nothing_to_the_trail() -> None:
    assert after(READ, GoTo(WizardStep.MACHINE)).trail == ()


def test_a_wish_for_the_shown_step_is_taken() -> None:
    flow = after(BROKEN, ToRepair("12.4"), ToRepair("11.8"))
    assert flow.errand == ToRepair("11.8")


def test_leaving_forgets_the_wish() -> None:
    assert after(BROKEN, ToRepair("12.4"), GoTo(WizardStep.FOUND)).errand is None
    assert after(BROKEN, ToRepair("12.4"), Back()).errand is None


def test_choosing_the_shown_place_keeps_what_it_was_opened_for() -> None:
    assert after(BROKEN, ToRepair("12.4"), GoTo(WizardStep.REPAIR)).errand == ToRepair("12.4")


@pytest.mark.parametrize("state", list(StepStatus))
def test_a_page_marks_its_own_step_alone(state: StepStatus) -> None:
    before, flow = after(READ), after(READ, Marked(WizardStep.VERIFY, state))
    assert flow.state(WizardStep.VERIFY) is state
    assert all(flow.state(step) is before.state(step) for step in WizardStep if step is not WizardStep.VERIFY)


@pytest.mark.parametrize("tool", list(SideTool))
def test_a_tool_needs_no_facts_and_leads_nowhere(tool: SideTool) -> None:
    flow = after(GoTo(tool))
    assert (flow.current, flow.next(), flow.back()) == (tool, None, WizardStep.MACHINE)


@pytest.mark.parametrize(
    "errand",
    [
        ToExplainText("CUDA out of memory"),
        ToExplainFile("/tmp/build.log"),
        ToWhatIf(Wish(("RTX 5090",))),
        ToInstall(InstallWish(torch=ANY)),
        ToWaitingInstall(),
        ToGuide("precision"),
        ToHolders(39021),
    ],
)
def test_a_tool_is_opened_for_an_errand(errand: Errand) -> None:
    assert (after(errand).current, after(errand).errand) == (errand.place, errand)


def test_a_tool_is_no_current_step() -> None:
    assert not any(entry.current for entry in after(GoTo(SideTool.WHAT_IF)).entries())


@pytest.mark.parametrize("place", [*WizardStep, *SideTool])
def test_a_place_is_found_by_its_value(place: Place) -> None:
    assert place_named(place_words(GoTo(place))) is place


def test_no_place_has_another_value() -> None:
    assert place_named("elsewhere") is None


EVENTS = st.one_of(
    st.builds(GoTo, st.sampled_from([*WizardStep, *SideTool])),
    st.builds(ToRepair, st.sampled_from(["12.4", "13.0"])),
    st.builds(ToHolders, st.none() | st.integers(1, 3)),
    st.just(Next()),
    st.just(Back()),
    st.builds(ReadingStarted, st.booleans()),
    st.just(ReadingFailed()),
    st.builds(Marked, st.sampled_from(WizardStep), st.sampled_from(StepStatus)),
    st.builds(
        ReadingEnded,
        st.sampled_from(StepStatus),
        st.sampled_from(StepStatus),
        st.sampled_from(["", "12.4"]),
        st.sampled_from([None, SWITCH, PLAN, COPY]),
    ),
)


@given(st.lists(EVENTS, max_size=60))
def test_the_shown_step_can_always_be_shown(events: list[Event]) -> None:
    flow = after(*events)
    assert flow.enabled(flow.current)
    assert [entry.current for entry in flow.entries()].count(True) == (not isinstance(flow.current, SideTool))


@given(st.lists(EVENTS, max_size=60))
def test_the_way_on_always_leads_on_and_never_past_a_problem(events: list[Event]) -> None:
    flow = after(*events)
    following = flow.next()
    if following is not None:
        assert flow.enabled(following)
        assert isinstance(flow.current, WizardStep)
        assert isinstance(following, SideTool) or list(WizardStep).index(following) > list(WizardStep).index(flow.current)
        assert following is not WizardStep.VERIFY or flow.state(WizardStep.FOUND) is not StepStatus.PROBLEM


def test_a_file_is_opened_where_its_name_leads() -> None:
    here = SideTool.GUIDES
    assert place_of_file("/x/run.pickle", here) == ToSnapshot("/x/run.pickle")
    assert place_of_file("/x/run.pkl", here) == ToSnapshot("/x/run.pkl")
    assert place_of_file("/x/night.db", here) == ToRecording("/x/night.db")
    assert place_of_file("/x/machine.json", here) is None
    assert place_of_file("/x/pickle", here) == ToExplainFile("/x/pickle")
