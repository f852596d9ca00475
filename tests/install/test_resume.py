"""Installs gone on with: killed at each step and at each write, after a restart, changed by hand meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.install.execution import give_up, mark, said_done, take
from gpuassist.install.records import Install, InstallState, StepRecord, StepState, installs, load, lock, save
from gpuassist.install.resume import next_step, open_install, recheck, waiting
from gpuassist.model.plan import Proves, StepKind, StepProof
from gpuassist.system.files import Files
from gpuassist.system.stop_process import marked
from tests.fakes import put
from tests.install.installs_made import begun, by_user, script, session_at
from tests.waiting import until

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return session_at(tmp_path / "home")


def in_boot(session: Session, tmp_path: Path, boot: str) -> Session:
    """The same machine in another boot."""
    put(tmp_path / "root", "/proc/sys/kernel/random/boot_id", boot)
    return replace(session, world=replace(session.world, files=Files(str(tmp_path / "root"))))


def states(install: Install) -> list[str]:
    return [one.state.value for one in install.steps]


def with_states(session: Session, install: Install, *wanted: StepState) -> Install:
    for number, state in enumerate(wanted):
        install = install.with_step(number, replace(install.steps[number], state=state))
    save(session.world, install)
    return install


Dying = Callable[[str], int]


@pytest.fixture(scope="module")
def mortals() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.install.dying"]
    with subprocess.Popen(command, cwd=ROOT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        yield program


@pytest.fixture
def dying(mortals: subprocess.Popen[str], tmp_path: Path) -> Dying:
    """Has a gpuassist killed at a moment, and says how it ended."""
    asked, told = mortals.stdin, mortals.stdout
    assert asked is not None
    assert told is not None

    def died(moment: str) -> int:
        asked.write(json.dumps([str(tmp_path / "home"), str(tmp_path), moment]) + "\n")
        asked.flush()
        status = int(told.readline())
        assert status in {0, -9}
        return status

    return died


def went_through(session: Session, tmp_path: Path, dying: Dying) -> None:
    """Goes on without dying, and everything is there as if nothing had happened."""
    if open_install(session.world) is not None or not installs(session.world):
        assert dying("never") == 0
    (install,) = [one for one in installs(session.world) if one.state is InstallState.DONE]
    assert all((tmp_path / f"made-{number}" / "bin" / "python").exists() for number in range(3))
    assert not [number for number in range(3) if marked(mark(session, install, number))]
    assert open_install(session.world) is None


@pytest.mark.parametrize("number", [0, 1, 2])
def test_killed_while_a_step_runs_it_is_run_anew(session: Session, tmp_path: Path, dying: Dying, number: int) -> None:
    assert dying(f"in:{number}") == -9
    (install,) = installs(session.world)
    assert states(install) == ["done"] * number + ["running"] + ["waiting"] * (2 - number)
    went_through(session, tmp_path, dying)
    assert all((tmp_path / f"runs-{one}").read_text() == "x" for one in range(number))


@pytest.mark.parametrize("write", range(0, 24, 4))
def test_killed_before_a_write_nothing_is_lost(session: Session, tmp_path: Path, dying: Dying, write: int) -> None:
    dying(str(write))
    found = open_install(session.world)
    before = states(found) if found is not None else []
    went_through(session, tmp_path, dying)
    assert all((tmp_path / f"runs-{one}").read_text() == "x" for one, state in enumerate(before) if state == "done")


def test_what_a_killed_one_left_running_is_ended_first(session: Session, tmp_path: Path) -> None:
    install = with_states(session, begun(session, script("pass")), StepState.RUNNING)
    program = session.world.programs.start(
        ("sleep", "60"), environment={"PATH": "/usr/bin:/bin"}, directory="/", mark=mark(session, install, 0)
    )
    try:
        assert until(lambda: marked(mark(session, install, 0)))  # the kernel shows a program's environment shortly after it began
        install = recheck(session, install)
        assert not marked(mark(session, install, 0))
        assert states(install) == ["cancelled"]
    finally:
        program.end()  # type: ignore[union-attr]


def test_a_step_that_was_cut_off_counts_where_its_check_holds(session: Session, tmp_path: Path) -> None:
    step = script("pass", proof=StepProof(Proves.ABSENT, str(tmp_path / "gone")))
    assert states(recheck(session, with_states(session, begun(session, step), StepState.RUNNING))) == ["done"]


def test_a_step_not_begun_is_not_taken_for_done(session: Session, tmp_path: Path) -> None:
    step = script("pass", proof=StepProof(Proves.ABSENT, str(tmp_path / "gone")))
    assert states(recheck(session, begun(session, step, step))) == ["waiting", "waiting"]


def test_what_was_undone_by_hand_waits_again(session: Session, tmp_path: Path) -> None:
    step = script("pass", proof=StepProof(Proves.ABSENT, str(tmp_path)))
    install = with_states(session, begun(session, step, script("pass")), StepState.DONE)
    assert states(recheck(session, install)) == ["waiting", "waiting"]


def test_what_a_later_step_changed_stays_done(session: Session, tmp_path: Path) -> None:
    step = script("pass", proof=StepProof(Proves.ABSENT, str(tmp_path)))
    install = with_states(session, begun(session, step, script("pass"), script("pass")), StepState.DONE, StepState.DONE)
    assert states(recheck(session, install)) == ["done", "done", "waiting"]


def test_a_users_step_is_done_when_its_check_holds(session: Session, tmp_path: Path) -> None:
    step = by_user(StepKind.ROOT_COMMAND, StepProof(Proves.ABSENT, str(tmp_path / "gone")))
    assert states(recheck(session, begun(session, step))) == ["done"]


def test_in_the_same_boot_a_restart_still_waits(session: Session, tmp_path: Path) -> None:
    first = in_boot(session, tmp_path, "one")
    install = with_states(first, begun(first, script("pass"), by_user(StepKind.REBOOT)), StepState.DONE)
    assert states(recheck(first, install)) == ["done", "waiting"]


def test_in_another_boot_the_restart_is_done(session: Session, tmp_path: Path) -> None:
    first = in_boot(session, tmp_path, "one")
    install = begun(first, by_user(StepKind.ROOT_COMMAND), by_user(StepKind.REBOOT), script("pass"))
    install, _ = said_done(first, install, 0)
    assert states(recheck(in_boot(session, tmp_path, "two"), install)) == ["done", "done", "waiting"]


def test_a_restart_before_the_step_that_needs_it_does_not_count(session: Session, tmp_path: Path) -> None:
    first = in_boot(session, tmp_path, "one")
    install = begun(first, by_user(StepKind.ROOT_COMMAND), by_user(StepKind.REBOOT))
    second = in_boot(session, tmp_path, "two")
    assert states(recheck(second, install)) == ["waiting", "waiting"]
    install, _ = said_done(second, install, 0)
    assert states(recheck(second, install)) == ["done", "waiting"]


def test_a_kernel_that_names_no_boot_believes_nobody(session: Session, tmp_path: Path) -> None:
    world = replace(session.world, files=Files(str(tmp_path / "empty")))
    nameless = replace(session, world=world)
    install = with_states(nameless, begun(nameless, script("pass"), by_user(StepKind.REBOOT)), StepState.DONE)
    assert states(recheck(nameless, install)) == ["done", "waiting"]


def test_the_last_one_done_by_hand_ends_the_install(session: Session, tmp_path: Path) -> None:
    install = begun(session, by_user(StepKind.ROOT_COMMAND, StepProof(Proves.ABSENT, str(tmp_path / "gone"))))
    assert recheck(session, install).state is InstallState.DONE


def test_what_waits_is_said_in_a_line(session: Session) -> None:
    install = with_states(session, begun(session, script("pass"), by_user(StepKind.REBOOT)), StepState.DONE)
    found = waiting(session)
    assert found is not None
    assert (found.install, found.number) == (install, 1)
    assert session.words(found.words) == "The install of torch waits at step 2 of 2: a reboot"


def test_after_the_restart_the_step_behind_it_waits(session: Session, tmp_path: Path) -> None:
    first = in_boot(session, tmp_path, "one")
    with_states(first, begun(first, script("pass"), by_user(StepKind.REBOOT), script("pass")), StepState.DONE)
    found = waiting(in_boot(session, tmp_path, "two"))
    assert found is not None
    assert found.number == 2


def test_nothing_waits_on_a_fresh_machine_and_nothing_is_made(session: Session, tmp_path: Path) -> None:
    assert waiting(session) is None
    assert list((tmp_path / "home").iterdir()) == []


def test_nothing_waits_while_another_is_at_it(session: Session) -> None:
    begun(session, script("pass"))
    with lock(session.world):
        assert waiting(session) is None
    assert waiting(session) is not None


def test_the_newest_that_is_open_waits(session: Session) -> None:
    made = [begun(session, script("pass")) for _ in range(3)]
    give_up(session, made[2])
    take(session, made[1], 0, on_line=lambda _: None, cancelled=lambda: False)
    found = open_install(session.world)
    assert found is not None
    assert found.id == made[0].id


def test_no_step_at_all_is_nothing_to_wait_for(session: Session) -> None:
    made = begun(session)
    assert next_step(made) is None
    assert waiting(session) is None
    assert load(session.world, made.id) == made


def test_a_record_of_a_step_is_its_own(session: Session) -> None:
    made = begun(session, script("pass"), script("pass"))
    changed = made.with_step(1, StepRecord(made.steps[1].step, StepState.DONE))
    assert states(changed) == ["waiting", "done"]
