"""Whatever order events come in, progress stays a list of the announced checks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpuassist.model.verdict import Check, DeviceVerdict, Verdict, Verification
from gpuassist.session.verify_progress import CheckState, VerifyProgress, conclude, follow
from gpuassist.verify.protocol import CheckBegun, CheckDone, Device, DeviceDone, Event, Finished, Planned, Started

NAMES = st.sampled_from(["matmul", "reduction", "fft", "never-announced"])
DEVICES = st.sampled_from(["cuda:0", "cuda:1", "cpu"])
PLANNED = (Planned("matmul", "fp32"), Planned("reduction", "fp32"), Planned("fft", "fp32"))
BEGAN = Started((("python", "3.11"),), tuple(Device(one, "RTX 4090", PLANNED) for one in ("cuda:0", "cuda:1")), 2, "")


def check(name: str, verdict: Verdict) -> Check:
    return Check(name, "fp32", verdict)


EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(lambda device, name: CheckBegun(device, name, "fp32"), DEVICES, NAMES),
    st.builds(lambda device, name, verdict: CheckDone(device, check(name, verdict)), DEVICES, NAMES, st.sampled_from(Verdict)),
    st.builds(DeviceDone, DEVICES),
    st.just(Finished()),
)


def after(events: list[Event]) -> VerifyProgress:
    progress = follow(VerifyProgress(), BEGAN)
    for event in events:
        progress = follow(progress, event)
    return progress


@given(st.lists(EVENTS, max_size=30))
def test_the_checks_are_always_those_announced(events: list[Event]) -> None:
    assert [(line.device, line.planned) for line in after(events).lines] == [
        (device.device, planned) for device in BEGAN.devices for planned in PLANNED
    ]


@given(st.lists(EVENTS, max_size=30))
def test_what_is_done_has_its_check(events: list[Event]) -> None:
    assert all((line.check is not None) is (line.state is CheckState.DONE) for line in after(events).lines)


@given(st.lists(EVENTS, max_size=30))
def test_the_count_never_exceeds_the_list(events: list[Event]) -> None:
    progress = after(events)
    assert 0 <= progress.done <= len(progress.lines)


@given(st.lists(EVENTS, max_size=30))
def test_at_the_end_nothing_waits_or_runs(events: list[Event]) -> None:
    ended = conclude(after(events), Verification("python", (), ()))
    assert {line.state for line in ended.lines} <= {CheckState.DONE, CheckState.LEFT}


@given(st.lists(EVENTS, max_size=30), st.sampled_from(Verdict))
def test_at_the_end_the_result_counts(events: list[Event], verdict: Verdict) -> None:
    told = check("matmul", verdict)
    result = Verification("python", (), (DeviceVerdict("cuda:1", "RTX 4090", verdict, (told,)),))
    assert conclude(after(events), result).lines[3].check == told
