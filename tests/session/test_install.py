"""An install gone through by acts that each read the record anew: begun, taken, gone on with, given up, taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.context import Session
from gpuassist.formats.terminal_output import Printed
from gpuassist.install.autostart import autostart_path
from gpuassist.install.execution import InstallOutcome, give_up
from gpuassist.install.records import Install, InstallState, StepState, installs, lock, place
from gpuassist.install.rollback import plan_back
from gpuassist.install.run import StepEnding
from gpuassist.model.fact import Known
from gpuassist.model.machine import Machine
from gpuassist.model.plan import Proves, Step, StepKind, StepProof
from gpuassist.model.text import verbatim
from gpuassist.session import install as install_course
from gpuassist.session.inspect import open_example
from gpuassist.session.install import Course, InstallError, alone, course_of, is_begun, on_record
from gpuassist.session.plan import ANY, GoalError, InstallWish
from tests.install.installs_made import begun, by_user, script, session_at


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return session_at(tmp_path / "home")


def course(*steps: Step) -> Course:
    return Course(verbatim("torch"), ("torch",), steps)


def quiet(line: Printed) -> None:
    """Listens to nothing."""


def take(session: Session, steps: Course, number: int = 0) -> InstallOutcome:
    with alone(session):
        return install_course.take(session, on_record(session, steps), number, on_line=quiet, cancelled=lambda: False)


def taken(session: Session, steps: Course, number: int = 0) -> Install:
    return take(session, steps, number).install


def test_the_first_step_puts_all_on_record(session: Session) -> None:
    install = taken(session, course(script("pass"), script("pass")))
    assert installs(session.world) == (install,)
    assert (install.goals, install.directory) == (("torch",), session.world.surroundings.home)


def test_the_next_goes_on_from_the_record(session: Session) -> None:
    install = taken(session, course(script("pass"), script("pass")))
    install = taken(session, course_of(install), 1)
    assert (install.state, len(installs(session.world))) == (InstallState.DONE, 1)


def test_a_step_that_was_done_meanwhile_is_not_run_twice(session: Session) -> None:
    steps = course_of(begun(session, script("pass")))
    take(session, steps)
    with pytest.raises(InstallError, match="is done already"):
        take(session, steps)


def test_what_could_not_be_started_leaves_no_record(session: Session, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    ran = take(session, course(script("pass", creates=str(tmp_path / "there"))))
    assert (is_begun(ran.install), ran.step.ending, installs(session.world)) == (False, StepEnding.NOT_STARTED, ())


def test_beginning_gives_up_what_waited(session: Session) -> None:
    first = begun(session, script("pass"))
    take(session, course(script("pass")))
    assert {one.id: one.state for one in installs(session.world)}[first.id] is InstallState.GIVEN_UP


def test_two_at_once_are_refused(session: Session) -> None:
    with lock(session.world), pytest.raises(InstallError, match="another gpuassist"):
        take(session, course(script("pass")))


def test_a_record_that_is_gone_is_told(session: Session) -> None:
    install = begun(session, script("pass"))
    session.world.disk.remove_tree(place(session.world, install))
    with pytest.raises(InstallError, match="cannot be read"):
        take(session, course_of(install))


def test_a_step_of_the_user_counts_by_its_check(session: Session, tmp_path: Path) -> None:
    steps = course(by_user(StepKind.ROOT_COMMAND, StepProof(Proves.ABSENT, str(tmp_path))))
    said = install_course.say_done(session, on_record(session, steps), 0)
    assert said.step.proved is not None
    assert said.install.steps[0].state is StepState.WAITING


def test_a_restart_is_put_on_record(session: Session) -> None:
    install, entry = install_course.get_ready_to_restart(session, course(by_user(StepKind.REBOOT)), autostart=True)
    assert entry == autostart_path(session.world)
    assert installs(session.world) == (install,)


def test_no_entry_is_made_unasked(session: Session) -> None:
    _, entry = install_course.get_ready_to_restart(session, course(by_user(StepKind.REBOOT)), autostart=False)
    assert (entry, Path(autostart_path(session.world)).exists()) == ("", False)


def test_what_waits_is_asked_of_the_machine(session: Session, tmp_path: Path) -> None:
    begun(session, by_user(StepKind.ROOT_COMMAND, StepProof(Proves.ABSENT, str(tmp_path / "gone"))))
    install = install_course.go_on(session)
    assert install is not None
    assert install.state is InstallState.DONE


def test_nothing_waits(session: Session) -> None:
    assert install_course.go_on(session) is None


def test_there_and_back(session: Session, tmp_path: Path) -> None:
    made = tmp_path / "made"
    install = taken(session, course(script(f"import os; os.mkdir({str(made)!r})", creates=str(made))))
    assert install_course.earlier_installs(session) == (install,)
    way = plan_back(session, install)
    ran = install_course.go_back(session, install, way, on_line=quiet, cancelled=lambda: False)
    assert (ran.step.ending, made.exists(), install_course.earlier_installs(session)) == (StepEnding.DONE, False, ())


def test_what_was_never_run_is_nothing_to_take_back(session: Session) -> None:
    begun(session, script("pass"))
    assert install_course.earlier_installs(session) == ()


def test_given_up_nobody_is_reminded(session: Session) -> None:
    install = begun(session, script("pass"))
    assert give_up(session, install).state is InstallState.GIVEN_UP
    assert install_course.go_on(session) is None


@pytest.mark.parametrize("number", [0, 1])
def test_a_plan_is_looked_at_before_anything_is_done(session: Session, number: int) -> None:
    steps = course(script("pass"), script("pass"))
    looked = install_course.look_at(session, Machine(), steps, number, cancelled=lambda: False)
    assert (isinstance(looked.solve, Known), looked.stops, installs(session.world)) == (True, (), ())


def test_a_wish_is_planned_as_in_the_terminal(session: Session) -> None:
    machine = open_example(session, "03-torch-cpu-only").machine
    plan = install_course.plan_wish(session, machine, InstallWish(torch=ANY))
    assert session.words(plan.goal) == "torch"
    assert plan.steps


def test_without_root_no_step_needs_it(session: Session) -> None:
    machine = open_example(session, "02-rtx-4090-cuda-11-7-first").machine
    plan = install_course.plan_wish(session, machine, InstallWish(toolkit="12.8", no_root=True))
    assert not any(step.needs_root for step in plan.steps)


def test_a_version_that_is_none_is_told(session: Session) -> None:
    with pytest.raises(GoalError):
        install_course.plan_wish(session, Machine(), InstallWish(torch="new"))
