"""An install gone through step by step: the acts of the window and of the command line, each done while nobody else is at one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.install import execution, records
from gpuassist.install.autostart import add_autostart
from gpuassist.install.execution import InstallOutcome
from gpuassist.install.preview import look_before
from gpuassist.install.records import Install, InstallState, StepState
from gpuassist.install.resume import open_install, recheck
from gpuassist.install.rollback import BackStep, take_back
from gpuassist.install.run import Cancelled, OnLine, StepEnding, StepOutcome
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.plan import Step
from gpuassist.model.solve import DryRun
from gpuassist.model.text import Text, text, verbatim
from gpuassist.session.plan import InstallWish, parse_goal, plan_goals


class InstallError(Exception):
    """What was asked for cannot be done just now; `reason` says why."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason.message)
        self.reason = reason


class Course(Struct, frozen=True):
    """Steps to be taken, and where their programs run (empty: at home); `install` is empty until the first of them was begun, and
    from then on the id of what is on record.
    """

    goal: Text
    goals: tuple[str, ...]
    steps: tuple[Step, ...]
    install: str = ""
    directory: str = ""


def plan_wish(session: Session, machine: Machine, wish: InstallWish) -> Outlook:
    """What the wish would take; raises `GoalError` for a version that is none."""
    goals = tuple(parse_goal(words, session.knowledge) for words in wish.goals)
    return plan_goals(session, machine, goals, wish.as_tool, no_root=wish.no_root)


def look_at(session: Session, machine: Machine, course: Course, number: int, *, cancelled: Cancelled) -> DryRun:
    """What a step would change; nothing of it is done, and the steps before it that are not done are taken as done."""
    found = records.load(session.world, course.install)
    steps = found.steps if found is not None else ()
    step = steps[number].step if steps else course.steps[number]
    waits = {place for place, one in enumerate(steps) if one.state is not StepState.DONE} if steps else {*range(number)}
    earlier = tuple(one for place, one in enumerate(course.steps[:number]) if place in waits)
    directory = found.directory if found is not None else session.world.surroundings.home
    return look_before(session, machine, step, earlier=earlier, directory=directory, cancelled=cancelled)


@contextmanager
def alone(session: Session) -> Iterator[None]:
    """Every act that changes an install is done while no other gpuassist is at one; raises `InstallError` where one is, and
    `UntrustedStateError`.
    """
    try:
        with records.lock(session.world):
            yield
    except BlockingIOError:
        raise InstallError(text("another gpuassist is at an install just now")) from None


def on_record(session: Session, course: Course) -> Install:
    """What is on record of it, read anew; begun, in place of what waited before, where nothing is."""
    if course.install:
        return load(session, course.install)
    waits = open_install(session.world)
    if waits is not None:
        execution.give_up(session, waits)
    directory = course.directory or session.world.surroundings.home
    return records.begin(session, session.words(course.goal), course.steps, goals=course.goals, directory=directory)


def load(session: Session, install: str) -> Install:
    """The one of this id; raises `InstallError`."""
    found = records.load(session.world, install)
    if found is None:
        raise InstallError(text("what is on record of this install cannot be read any more"))
    return found


def take(session: Session, install: Install, number: int, *, on_line: OnLine, cancelled: Cancelled) -> InstallOutcome:
    """Runs a step; one that could not be started leaves no record where it was the first."""
    _require_waiting(install, number)
    outcome = execution.take(session, install, number, on_line=on_line, cancelled=cancelled)
    if outcome.step.ending is StepEnding.NOT_STARTED:
        forget_unbegun(session, outcome.install)
    return outcome


def say_done(session: Session, install: Install, number: int) -> InstallOutcome:
    """The user took a step; its check counts."""
    _require_waiting(install, number)
    return execution.said_done(session, install, number)


def get_ready_to_restart(session: Session, course: Course, *, autostart: bool) -> tuple[Install, str]:
    """Puts the install on record, so that it goes on after the restart, and makes the file that opens gpuassist then, where that
    is wished.
    """
    return on_record(session, course), add_autostart(session) if autostart else ""


def is_begun(install: Install) -> bool:
    return any(one.state is not StepState.WAITING for one in install.steps)


def forget_unbegun(session: Session, install: Install) -> None:
    """Nobody has to be reminded of an install of which nothing was done."""
    if not is_begun(install):
        session.world.disk.remove_tree(records.place(session.world, install))


def go_on(session: Session) -> Install | None:
    """The install that waits, with every step as the machine shows it now."""
    found = open_install(session.world)
    return recheck(session, found) if found is not None else None


def go_back(
    session: Session, install: Install, way: tuple[BackStep, ...], *, on_line: OnLine, cancelled: Cancelled
) -> InstallOutcome:
    """Goes that way, up to the first of its steps that does not go well."""
    outcome = InstallOutcome(install, StepOutcome(StepEnding.DONE, text("there is nothing to undo")))
    for back in way:
        outcome = take_back(session, outcome.install, back, on_line=on_line, cancelled=cancelled)
        if outcome.step.ending is not StepEnding.DONE:
            break
    return outcome


def earlier_installs(session: Session) -> tuple[Install, ...]:
    """Those on record that could be taken back, newest first."""
    return tuple(
        one for one in records.installs(session.world) if one.state is not InstallState.TAKEN_BACK and can_be_taken_back(one)
    )


def can_be_taken_back(install: Install) -> bool:
    """Whether gpuassist itself did something of it that stands."""
    gone = {StepState.WAITING, StepState.TAKEN_BACK}
    return any(one.step.run is not None and one.tries and one.state not in gone for one in install.steps)


def course_of(install: Install) -> Course:
    return Course(verbatim(install.goal), install.goals, tuple(one.step for one in install.steps), install.id)


def _require_waiting(install: Install, number: int) -> None:
    if install.steps[number].state is StepState.DONE:
        raise InstallError(text("step {number} is done already: another gpuassist took it", number=number + 1))
