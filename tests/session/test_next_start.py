"""Will it survive the next restart: whole made-up machines, from their files to what is said and what is to be done."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.detect import driver, host, libcuda, next_start, pci
from gpuassist.diagnose.judge import judge
from gpuassist.model.fact import NOT_ASKED, value_or
from gpuassist.model.finding import Finding
from gpuassist.model.machine import Machine, decode_machine, encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.session.inspect import answers_of
from tests.fakes import FixedClock, world_under
from tests.next_machines import CASES, NOON, OURS, Case
from tests.values import knowledge


@pytest.fixture(scope="module")
def session() -> Session:
    return compose("en")


def read(root: Path) -> Machine:
    """The machine of a tree, by the probes that matter here."""
    world = replace(world_under(root), clock=FixedClock(datetime.fromtimestamp(NOON, timezone.utc)))
    around, found = host.probe(world), driver.probe(world)
    return Machine(
        taken_at="2026-11-23T09:00:00.000+00:00",
        host=around,
        gpus=pci.probe(world, knowledge()),
        driver=replace(found, libcuda=libcuda.probe(world, NOT_ASKED).libraries),
        next_start=next_start.completed(next_start.probe(world), around, found.on_disk),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_next_start_is_judged(case: Case, tmp_path: Path, session: Session) -> None:
    case.make(tmp_path)
    machine = read(tmp_path)
    following = machine.next_start
    by = value_or(following.chosen_by, None)
    assert (value_or(following.kernel, ""), by.value if by is not None else "") == (case.kernel, case.by)
    diagnosis = judge(machine, knowledge())
    found = {one.problem: one for one in diagnosis.findings}
    assert found.keys() & OURS == case.says, found.keys()
    assert case.others <= found.keys()
    assert {one.problem for one in diagnosis.undetermined} & OURS == case.undetermined
    assert not {one.problem for one in diagnosis.undetermined} & {"own-check-failed"}
    told = next((found[one] for one in sorted(case.says)), Finding("", (), ()))
    assert {name: str(told.parameter(name)) for name in case.parameters} == dict(case.parameters)
    assert value_or(decode_machine(encode_machine(machine, ENGLISH)).next_start.modules, ()) == value_or(following.modules, ())
    if case.commands:
        answers = answers_of(session, machine, diagnosis)
        lines = [line for answer in answers for one in answer.remedies for use in one.commands for line in use.lines]
        assert not [word for word in case.commands if not any(word in line for line in lines)], lines
        assert not [line for line in lines if "$(uname -r)" in line and not case.others], lines
