"""Going on with an install where it stopped: what waits, and how far it really came, by asking the machine."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.install.execution import mark, settled
from gpuassist.install.records import Install, InstallState, StepRecord, StepState, boot_id, installs, root, save
from gpuassist.install.step_proof import Holds, prove_step
from gpuassist.model.plan import StepKind
from gpuassist.model.text import Text, text
from gpuassist.system.world import World

_BEGUN = {StepState.RUNNING, StepState.FAILED, StepState.CANCELLED}


class Waiting(Struct, frozen=True):
    """An install that somebody has to go on with, and its next step; `words` say so in a line."""

    install: Install
    number: int
    words: Text


def waiting(session: Session) -> Waiting | None:
    """The newest install that waits, by what is on record alone; none while another gpuassist is at it."""
    found = open_install(session.world)
    if found is None or _is_under_way(session):
        return None
    for place, record in enumerate(found.steps):  # the restarts that have happened since: what one file of the kernel tells
        if record.step.kind is StepKind.REBOOT:
            found = found.with_step(place, _rebooted(session, found, place))
    number = next_step(found)
    if number is None:
        return None
    words = text(
        "The install of {goal} waits at step {number} of {count}: {step}",
        goal=found.goal,
        number=number + 1,
        count=len(found.steps),
        step=found.steps[number].step.text,
    )
    return Waiting(found, number, words)


def open_install(world: World) -> Install | None:
    """The newest that has steps left and was not given up, whoever is at it."""
    return next((one for one in installs(world) if one.state is InstallState.OPEN and next_step(one) is not None), None)


def next_step(install: Install) -> int | None:
    """The first step that is not done."""
    return next((number for number, one in enumerate(install.steps) if one.state is not StepState.DONE), None)


def recheck(session: Session, install: Install) -> Install:
    """The install with every step as the machine shows it now, on disk; what a killed gpuassist left running is ended first."""
    for number, one in enumerate(install.steps):
        if one.state is StepState.RUNNING:
            session.world.programs.end_marked(mark(session, install, number))
    for number in range(len(install.steps)):
        record = install.steps[number]
        found = _checked(session, install, number)
        if found != record:
            install = install.with_step(number, found)
    if all(one.state is StepState.DONE for one in install.steps):
        return settled(session, install, len(install.steps) - 1, install.steps[-1])
    save(session.world, install)
    return install


def _checked(session: Session, install: Install, number: int) -> StepRecord:
    record = install.steps[number]
    if record.step.kind is StepKind.REBOOT:
        return _rebooted(session, install, number)
    if not _is_asked(install, number):
        return record
    proof = record.step.proof
    if proof is None:
        return _cut_off(session, record)
    proved = prove_step(session, proof)
    words = session.words(proved.words)
    if proved.holds is Holds.YES:
        return replace(record, state=StepState.DONE, words=words)
    if proved.holds is Holds.NO and record.state is StepState.DONE:
        return replace(record, state=StepState.WAITING, words=words)
    return _cut_off(session, record)


def _is_asked(install: Install, number: int) -> bool:
    """A step that was begun, or that the user takes; one that is done only as long as none after it may have changed that."""
    record, later = install.steps[number], install.steps[number + 1 :]
    if record.state is StepState.DONE:
        return not any(one.state is StepState.DONE and one.step.kind is not StepKind.REBOOT for one in later)
    return record.state in _BEGUN or record.step.run is None


def _cut_off(session: Session, record: StepRecord) -> StepRecord:
    if record.state is not StepState.RUNNING:
        return record
    return replace(record, state=StepState.CANCELLED, words=session.words(text("gpuassist was ended while it ran")))


def _rebooted(session: Session, install: Install, number: int) -> StepRecord:
    """A restart is done when all before it is, and in another boot than this one."""
    record, before = install.steps[number], install.steps[:number]
    now = boot_id(session.world)
    boots = {one.boot for one in before if one.boot} or {install.boot}
    if record.state is not StepState.DONE and now and now not in boots and all(one.state is StepState.DONE for one in before):
        return replace(record, state=StepState.DONE, boot=now, words="")
    return record


def _is_under_way(session: Session) -> bool:
    try:
        return session.world.disk.is_locked(f"{root(session.world)}/lock")
    except OSError:
        return False
