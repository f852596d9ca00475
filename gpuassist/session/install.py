"""An install gone through step by step by somebody who may leave in between: each act takes the lock and reads the record anew."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.install import execution, records
from gpuassist.install.autostart import add_autostart
from gpuassist.install.hypothetical import without_root
from gpuassist.install.preview import look_before
from gpuassist.install.records import Install, InstallState, StepState
from gpuassist.install.resume import open_install, recheck
from gpuassist.install.rollback import BackStep, plan_back, take_back
from gpuassist.install.run import Cancelled, OnLine, StepDone, StepEnding
from gpuassist.install.step_proof import Proved
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.plan import Step
from gpuassist.model.solve import DryRun
from gpuassist.model.text import Text, text
from gpuassist.session.install_wish import InstallWish
from gpuassist.session.plan import parse_goal, plan_goals
from gpuassist.system.ownership import UntrustedStateError


class InstallError(Exception):
    """What was asked for cannot be done just now; `reason` says why."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason.message)
        self.reason = reason


class Course(Struct, frozen=True):
    """Steps to be taken; `install` is empty until the first of them was begun, and from then on the id of what is on record."""

    goal: Text
    goals: tuple[str, ...]
    steps: tuple[Step, ...]
    install: str = ""


class Ran(Struct, frozen=True):
    """What came of a step that was run, or of going back; `install` is none where nothing was begun."""

    install: Install | None
    done: StepDone


class StepCheck(Struct, frozen=True):
    """What the check of a step showed that the user took; `proved` is none where it has no check."""

    install: Install
    proved: Proved | None


class ToRestart(Struct, frozen=True):
    """A restart is the user's to make; `entry` is the file that opens gpuassist after it, empty without one."""

    install: Install
    entry: str


def plan_wish(session: Session, machine: Machine, wish: InstallWish) -> Outlook:
    """What the wish would take; raises `GoalError` for a version that is none."""
    goals = tuple(parse_goal(words, session.knowledge) for words in wish.goals)
    return plan_goals(session, without_root(machine) if wish.no_root else machine, goals, wish.as_tool)


def look_at(session: Session, machine: Machine, course: Course, number: int, *, cancelled: Cancelled) -> DryRun:
    """What a step would change; nothing of it is done, and the steps before it that are not done are taken as done."""
    found = records.load(session.world, course.install)
    steps = found.steps if found is not None else ()
    step = steps[number].step if steps else course.steps[number]
    waits = {place for place, one in enumerate(steps) if one.state is not StepState.DONE} if steps else {*range(number)}
    earlier = tuple(one for place, one in enumerate(course.steps[:number]) if place in waits)
    directory = found.directory if found is not None else session.world.surroundings.home
    return look_before(session, machine, step, earlier=earlier, directory=directory, cancelled=cancelled)


def take(session: Session, course: Course, number: int, *, on_line: OnLine, cancelled: Cancelled) -> Ran:
    """Runs a step; one that could not be started leaves no record where it was the first."""
    with _alone(session):
        install = _begun(session, course)
        _require_waiting(install, number)
        install, done = execution.take(session, install, number, on_line=on_line, cancelled=cancelled)
        if done.came is StepEnding.NOT_STARTED and all(one.state is StepState.WAITING for one in install.steps):
            execution.forget(session, install)
            return Ran(None, done)
        return Ran(install, done)


def say_done(session: Session, course: Course, number: int) -> StepCheck:
    """The user took a step; its check counts."""
    with _alone(session):
        install = _begun(session, course)
        _require_waiting(install, number)
        return StepCheck(*execution.said_done(session, install, number))


def get_ready_to_restart(session: Session, course: Course, *, autostart: bool) -> ToRestart:
    """Puts the install on record, so that it goes on after the restart, by itself if that is wished."""
    with _alone(session):
        install = _begun(session, course)
        return ToRestart(install, add_autostart(session) if autostart else "")


def go_on(session: Session) -> Install | None:
    """The install that waits, with every step as the machine shows it now."""
    with _alone(session):
        found = open_install(session.world)
        return recheck(session, found) if found is not None else None


def give_up(session: Session, install: str) -> Install:
    """Nobody is reminded of it any more; what was done stays."""
    with _alone(session):
        return execution.give_up(session, _loaded(session, install))


def way_back(session: Session, install: str) -> tuple[BackStep, ...]:
    """What would be done to take it back, in the order in which it is done."""
    return plan_back(session, _loaded(session, install))


def go_back(session: Session, install: str, way: tuple[BackStep, ...], *, on_line: OnLine, cancelled: Cancelled) -> Ran:
    """Goes that way, up to the first of its steps that does not go well."""
    with _alone(session):
        found = _loaded(session, install)
        done = StepDone(StepEnding.DONE, text("there is nothing to take back"))
        for back in way:
            found, done = take_back(session, found, back, on_line=on_line, cancelled=cancelled)
            if done.came is not StepEnding.DONE:
                break
        return Ran(found, done)


def earlier_installs(session: Session) -> tuple[Install, ...]:
    """Those on record that could be taken back, newest first."""
    return tuple(
        one for one in records.installs(session.world) if one.state is not InstallState.TAKEN_BACK and can_be_taken_back(one)
    )


def can_be_taken_back(install: Install) -> bool:
    """Whether gpuassist itself did something of it that stands."""
    gone = {StepState.WAITING, StepState.TAKEN_BACK}
    return any(one.step.run is not None and one.tries and one.state not in gone for one in install.steps)


def course_of(install: Install, goal: Text) -> Course:
    """The steps of an install on record."""
    return Course(goal, install.goals, tuple(one.step for one in install.steps), install.id)


@contextmanager
def _alone(session: Session) -> Iterator[None]:
    try:
        with records.lock(session.world):
            yield
    except BlockingIOError:
        raise InstallError(text("another gpuassist is at an install just now")) from None
    except UntrustedStateError as error:
        raise InstallError(error.reason) from error


def _begun(session: Session, course: Course) -> Install:
    """What is on record of it; begun anew, in place of what waited before, where nothing is."""
    if course.install:
        return _loaded(session, course.install)
    waits = open_install(session.world)
    if waits is not None:
        execution.give_up(session, waits)
    home = session.world.surroundings.home
    return records.begin(session, session.words(course.goal), course.steps, goals=course.goals, directory=home)


def _loaded(session: Session, install: str) -> Install:
    found = records.load(session.world, install)
    if found is None:
        raise InstallError(text("what is on record of this install cannot be read any more"))
    return found


def _require_waiting(install: Install, number: int) -> None:
    if install.steps[number].state is StepState.DONE:
        raise InstallError(text("step {number} is done already: another gpuassist took it", number=number + 1))
