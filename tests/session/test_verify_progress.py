"""Events of a verification, one after the other, as the page shows them."""

from __future__ import annotations

import pytest

from gpuassist.model.fact import Known
from gpuassist.model.verdict import Check, DeviceVerdict, Verdict, Verification
from gpuassist.session.verify_progress import CheckState, VerifyProgress, conclude, follow
from gpuassist.verify.protocol import CheckBegun, CheckDone, Device, Finished, Planned, Started

MATMUL, SUMS = Planned("matmul", "fp32"), Planned("reduction", "fp32")
BEGAN = Started((("python", "3.11"),), tuple(Device(one, "RTX 4090", (MATMUL, SUMS)) for one in ("cuda:0", "cuda:1")), 2, "")
RIGHT = Check("matmul", "fp32", Verdict.PASS, None, Known(1e-6, "x"), Known(1e-5, "x"))


@pytest.fixture
def begun() -> VerifyProgress:
    return follow(VerifyProgress(), BEGAN)


def states(progress: VerifyProgress) -> list[CheckState]:
    return [line.state for line in progress.lines]


def test_every_check_of_every_device_waits(begun: VerifyProgress) -> None:
    assert [(line.device, line.planned) for line in begun.lines] == [
        ("cuda:0", MATMUL),
        ("cuda:0", SUMS),
        ("cuda:1", MATMUL),
        ("cuda:1", SUMS),
    ]
    assert set(states(begun)) == {CheckState.WAITING}


def test_a_check_that_begins_runs(begun: VerifyProgress) -> None:
    assert states(follow(begun, CheckBegun("cuda:1", "matmul", "fp32")))[2] is CheckState.RUNNING


def test_a_check_that_ends_is_done(begun: VerifyProgress) -> None:
    after = follow(begun, CheckDone("cuda:0", RIGHT))
    assert (after.lines[0].state, after.lines[0].check, after.done) == (CheckState.DONE, RIGHT, 1)


def test_other_events_change_nothing(begun: VerifyProgress) -> None:
    assert follow(begun, Finished()) == begun


def test_what_was_not_reached_was_left(begun: VerifyProgress) -> None:
    after = conclude(follow(begun, CheckDone("cuda:0", RIGHT)), Verification("python", (), ()))
    assert states(after) == [CheckState.DONE, CheckState.LEFT, CheckState.LEFT, CheckState.LEFT]


def test_the_result_tells_of_a_check_that_was_cut_off(begun: VerifyProgress) -> None:
    hung = Check("reduction", "fp32", Verdict.HUNG)
    running = follow(begun, CheckBegun("cuda:0", "reduction", "fp32"))
    after = conclude(running, Verification("python", (), (DeviceVerdict("cuda:0", "RTX 4090", Verdict.HUNG, (hung,)),)))
    assert after.lines[1].check == hung
