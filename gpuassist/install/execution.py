"""Taking the steps of an install one by one: frozen before, run, put on record with what came of it."""

from __future__ import annotations

import logging
from typing import NamedTuple

from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.install.autostart import remove_autostart
from gpuassist.install.freeze import FrozenEnvironment, freeze
from gpuassist.install.records import Install, InstallState, StepRecord, StepState, boot_id, place, save, write_whole
from gpuassist.install.run import Cancelled, OnLine, RunContext, StepEnding, StepOutcome, run_step
from gpuassist.install.step_proof import Holds, prove_step
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.plan import StepKind, Tool
from gpuassist.model.text import Text, text, verbatim

_log = logging.getLogger(__name__)

_STATES = {StepEnding.DONE: StepState.DONE, StepEnding.FAILED: StepState.FAILED, StepEnding.CANCELLED: StepState.CANCELLED}


class InstallOutcome(NamedTuple):
    """What came of an act: the install as it is on record now, and of which step or of the way back it was."""

    install: Install
    step: StepOutcome


def take(session: Session, install: Install, number: int, *, on_line: OnLine, cancelled: Cancelled) -> InstallOutcome:
    """Runs one step; on record before it begins is what its environment holds and that it runs, so that whatever happens meanwhile
    it can be taken back.
    """
    record = install.steps[number]
    run = record.step.run
    assert run is not None, "a step that the user takes is not run"
    session.world.programs.end_marked(mark(session, install, number))
    made = bool(run.creates) and (record.made or not session.world.disk.exists(run.creates))
    record = replace(record, state=StepState.RUNNING, boot=boot_id(session.world), made=made, tries=record.tries + 1, words="")
    obstacle = _prepared(session, install, number, record)
    if obstacle is not None:
        return InstallOutcome(install, StepOutcome(StepEnding.NOT_STARTED, obstacle))
    install = install.with_step(number, record)
    log = f"{place(session.world, install)}/{log_name(number, record.tries)}"
    around = RunContext(install.directory, log, mark(session, install, number))
    done = run_step(session, record.step, around=around, on_line=on_line, cancelled=cancelled)
    after = replace(
        record,
        state=_STATES.get(done.ending, StepState.WAITING),
        words=session.words(done.words),
        # Where it was not started it has made nothing: what somebody puts there until the next try is theirs.
        made=record.made and done.ending is not StepEnding.NOT_STARTED,
    )
    try:
        if not record.made:
            _keep(session, _frozen_path(session, install, number, "after"), freeze(session, run))
        return InstallOutcome(settled(session, install, number, after), done)
    except OSError as error:  # on record it still runs: when somebody goes on, its check decides
        _log.info("what came of it could not be put on record: %s", error)
        return InstallOutcome(install.with_step(number, after), done)


def said_done(session: Session, install: Install, number: int) -> InstallOutcome:
    """The user says that a step of theirs is done: its own check is asked, where it has one, and counts."""
    record = install.steps[number]
    proved = prove_step(session, record.step.proof) if record.step.proof is not None else None
    words = proved.words if proved is not None else verbatim("")
    waits_for_reboot = any(
        one.step.kind is StepKind.REBOOT and one.state is not StepState.DONE for one in install.steps[number + 1 :]
    )
    if proved is not None and proved.holds is Holds.NO and not waits_for_reboot:
        return InstallOutcome(install, StepOutcome(StepEnding.FAILED, words, proved))
    done = replace(record, state=StepState.DONE, words=session.words(words), boot=boot_id(session.world))
    return InstallOutcome(settled(session, install, number, done), StepOutcome(StepEnding.DONE, words, proved))


def settled(session: Session, install: Install, number: int, record: StepRecord) -> Install:
    """The install with that record of a step, on disk, and done where all of its steps are."""
    install = install.with_step(number, record)
    if all(one.state is StepState.DONE for one in install.steps):
        install = replace(install, state=InstallState.DONE)
    return _saved(session, install)


def give_up(session: Session, install: Install) -> Install:
    """Nobody is reminded of it any more; what was done stays, and can be taken back."""
    return _saved(session, replace(install, state=InstallState.GIVEN_UP))


def mark(session: Session, install: Install, number: int) -> str:
    """By which the processes of a step are found."""
    return f"{place(session.world, install)}:{number}"


def log_name(number: int, tries: int) -> str:
    return f"step-{number + 1}-log-{tries}.txt"


def kept(session: Session, install: Install, number: int, when: str) -> FrozenEnvironment | None:
    """What the environment of a step held `before` or `after` it, where that was kept."""
    run = install.steps[number].step.run
    try:
        content = session.world.disk.read(_frozen_path(session, install, number, when))
    except OSError:
        return None
    return FrozenEnvironment(
        run.tool if run is not None else Tool.PIP, tuple(content.decode("utf-8", "surrogateescape").splitlines())
    )


def _prepared(session: Session, install: Install, number: int, record: StepRecord) -> Text | None:
    """Puts on record what is about to be done and what the environment holds before its first try, and clears the way; says why
    nothing is run where that cannot be.
    """
    run = record.step.run
    try:
        if run is not None and not record.made and kept(session, install, number, "before") is None:
            found = freeze(session, run)
            if isinstance(found, Unknown):
                return text("what the environment holds could not be kept, so nothing is run: {reason}", reason=found.reason)
            _keep(session, _frozen_path(session, install, number, "before"), found)
        save(session.world, install.with_step(number, record))
        if run is not None and record.made:
            session.world.disk.remove_tree(run.creates)  # what is there is what an earlier try had half made
    except OSError as error:
        words = error.strerror or str(error)
        return text(
            "nothing is run, because it could not be put on record first: {path}: {words}", path=error.filename or "", words=words
        )
    return None


def _keep(session: Session, path: str, found: Fact[FrozenEnvironment] | None) -> None:
    if isinstance(found, Known):
        content = "".join(f"{line}\n" for line in found.value.lines)
        write_whole(session.world.disk, path, content.encode("utf-8", "surrogateescape"))


def _frozen_path(session: Session, install: Install, number: int, when: str) -> str:
    return f"{place(session.world, install)}/step-{number + 1}-{when}.txt"


def _saved(session: Session, install: Install) -> Install:
    save(session.world, install)
    if install.state is not InstallState.OPEN:
        remove_autostart(session)
    return install
