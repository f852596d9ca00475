"""Which verifications keep the machine, and how much of it they have to look at for that."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.model.machine import Machine
from gpuassist.model.verdict import Check, DeviceVerdict, Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.session import verify_report
from gpuassist.session.kept_machines import VERIFY, kept, set_keeping
from gpuassist.session.verify_report import VerifyReport, keep_machine
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.fakes import FixedClock
from tests.values import knowledge, machine

_ON_GPU = DeviceVerdict("cuda:0", "RTX", Verdict.PASS, (Check("matmul", "fp32", Verdict.PASS),))
PASSED = Verification("python", (), (_ON_GPU,), visible=1, verdict=Verdict.PASS)
ON_CPU = replace(PASSED, devices=(replace(_ON_GPU, device="cpu"),), visible=0)


@pytest.fixture
def session(home: Path) -> Session:
    return Session(World(Surroundings(str(home), "you", os.geteuid()), clock=FixedClock()), knowledge(), ENGLISH)


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[Machine]:
    """The machines that were looked at whole."""
    found: list[Machine] = []

    def detected(session: Session) -> Machine:
        found.append(machine())
        return found[-1]

    monkeypatch.setattr(verify_report, "detected", detected)
    return found


def test_a_full_run_has_looked_already(session: Session, looked: list[Machine]) -> None:
    keep_machine(session, [VerifyReport(PASSED, machine=machine())])
    assert [one.by for one in kept(session.world).machines] == [VERIFY]
    assert looked == []


def test_the_window_has_looked_already(session: Session, looked: list[Machine]) -> None:
    keep_machine(session, [VerifyReport(PASSED)], machine())
    assert len(kept(session.world).machines) == 1
    assert looked == []


def test_a_quick_run_looks_once_a_day(session: Session, looked: list[Machine]) -> None:
    for _ in range(3):
        keep_machine(session, [VerifyReport(PASSED)])
    assert len(looked) == len(kept(session.world).machines) == 1


@pytest.mark.parametrize(
    "results",
    [
        (),
        (ON_CPU,),
        (replace(PASSED, image="docker:torch"),),
        (replace(PASSED, verdict=Verdict.FAIL),),
        (PASSED, replace(PASSED, verdict=Verdict.SKIPPED)),
    ],
)
def test_what_proves_nothing_of_this_machine_keeps_nothing(
    session: Session, looked: list[Machine], results: tuple[Verification, ...]
) -> None:
    keep_machine(session, [VerifyReport(one) for one in results])
    assert kept(session.world).machines == ()
    assert looked == []


def test_turned_off_nothing_is_looked_at(session: Session, looked: list[Machine]) -> None:
    set_keeping(session.world, on=False)
    keep_machine(session, [VerifyReport(PASSED)])
    assert kept(session.world).machines == ()
    assert looked == []
