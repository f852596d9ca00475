"""What changed since it worked: which kept machine is compared with, what the logs and our own journal add, what is noted."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.apply import FileChange, apply
from gpuassist.context import Session
from gpuassist.diagnose.catalogue_entry import read_entry
from gpuassist.diagnose.judge import judge
from gpuassist.diagnose.past.order import is_cause
from gpuassist.model.finding import Finding
from gpuassist.model.machine import Machine
from gpuassist.model.past import (
    Direction,
    MachineChange,
    PackageAction,
    PackageHistory,
    Past,
    Subject,
)
from gpuassist.model.plan import FileEdit
from gpuassist.model.words import ENGLISH
from gpuassist.session import past as module
from gpuassist.session.inspect import answers_of
from gpuassist.session.kept_machines import keep, now_of
from gpuassist.session.past import past, past_of_recordings, with_causes
from gpuassist.session.since import SinceError, since_when
from gpuassist.system.clock import iso
from gpuassist.system.resources import Resources
from tests.changes.homes import world_at
from tests.fakes import FixedClock
from tests.histories import event, logs, removed, upgraded
from tests.rows import for_each
from tests.values import Env, knowledge, machine

NOW = datetime(2026, 11, 23, 9, 0, tzinfo=timezone.utc)
OLD, NEW = machine(driver="570.86.15"), machine(driver="580.95.05")
HALF = machine(driver="570.86.15", on_disk="580.95.05", libcuda="580.95.05")


class Yesterday:
    """A home in which machines are kept at moments, with logs that a test writes."""

    def __init__(self, home: Path, patched: pytest.MonkeyPatch) -> None:
        self.clock = FixedClock(NOW)
        self.session = Session(replace(world_at(home), clock=self.clock), knowledge(), ENGLISH)
        self.history = PackageHistory(covers="2026-01-01T00:00:00+00:00")
        self.asked: list[str] = []
        patched.setattr(module, "_history", self._read)

    def _read(self, _session: Session, _machine: Machine, since: str) -> PackageHistory:
        self.asked.append(since)
        return self.history

    def keep(self, one: Machine, days_ago: float, by: str = "doctor") -> str:
        at = iso(NOW - timedelta(days=days_ago))
        kept = now_of(self.session.world, replace(one, taken_at=at), by)
        assert keep(self.session.world, kept) is None
        return at

    def look(self, one: Machine, since: str = "") -> Past:
        return past(self.session, replace(one, taken_at=iso(NOW)), since, judge(one, knowledge()).findings)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Yesterday:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    return Yesterday(home, monkeypatch)


def drivers(found: Past) -> list[tuple[str, str]]:
    return [(one.before, one.after) for one in found.changes if one.subject is Subject.DRIVER]


def test_the_newest_kept_machine_that_differs_is_compared_with(made: Yesterday) -> None:
    made.keep(machine(driver="550.54.14"), 30)
    at = made.keep(OLD, 9)
    found = made.look(NEW)
    assert (found.since[:10], found.kept, found.by, found.unchanged_since) == (at[:10], True, "doctor", "")
    assert drivers(found) == [("570.86.15", "580.95.05")]


def test_where_the_newest_is_the_same_it_is_said_and_the_one_before_told(made: Yesterday) -> None:
    before, same = made.keep(OLD, 9), made.keep(NEW, 1, by="verify")
    found = made.look(NEW)
    assert (found.since[:16], found.unchanged_since[:16]) == (before[:16], same[:16])
    assert drivers(found) == [("570.86.15", "580.95.05")]


def test_where_nothing_ever_differed_nothing_is_told(made: Yesterday) -> None:
    made.keep(OLD, 9)
    found = made.look(OLD)
    assert (found.changes, found.kept, found.unchanged_since) == ((), True, "")


def test_what_the_logs_alone_show_is_since_the_newest(made: Yesterday) -> None:
    made.keep(OLD, 9)
    newest = made.keep(NEW, 2)
    made.history = logs(
        *(event(iso(NOW - timedelta(days=1)), PackageAction.REINSTALLED, "libnvidia-compute", "580.95.05", "580.95.05"),)
    )
    found = made.look(NEW)
    assert [one.direction for one in found.changes] == [Direction.REINSTALLED]
    assert (found.since[:10], found.unchanged_since) == (newest[:10], "")


@for_each("package", ["kmod", "docker.io", "libgl1-mesa-dri", "python3", "build-essential", "nvidia-settings", "mokutil", "grub2"])
def test_packages_that_are_seldom_the_cause_are_counted(made: Yesterday, package: str) -> None:
    made.keep(OLD, 9)
    at = iso(NOW - timedelta(days=1))
    made.history = logs(*upgraded(at, package, "1", "2"))
    found = made.look(OLD)
    assert (found.changes, [one.name for one in found.beside]) == ((), [package])
    made.history = logs(*upgraded(at, package, "1", "2"), *upgraded(at, "libnvidia-compute", "570.86.15-1", "580.95.05-1"))
    found = made.look(NEW)
    assert {one.subject for one in found.changes} == {Subject.DRIVER}


def test_what_is_worth_a_line_is_named_before_what_went_with_it(made: Yesterday) -> None:
    made.keep(OLD, 9)
    at = iso(NOW - timedelta(days=1))
    container = upgraded(at, "nvidia-container-toolkit", "1.16.0-1", "1.18.0-1")
    for worth in (container, removed(at, "dkms", "3.0.11"), removed(at, "initramfs-tools", "0.142")):
        made.history = logs(*upgraded(at, "kmod docker.io", "1", "2"), *worth)
        (change,) = made.look(OLD).changes
        assert change.name == worth[0].package
        assert [one.partition(" ")[0] for one in change.packages] == ["kmod", "docker.io"]


def test_libraries_of_nvidia_are_named_before_those_of_every_program(made: Yesterday) -> None:
    made.keep(OLD, 9)
    at = iso(NOW - timedelta(days=1))
    plain = (*upgraded(at, "libc6", "2.39-0ubuntu8.3", "2.39-0ubuntu8.4"), *upgraded(at, "libstdc++6", "13.2", "14.1"))
    made.history = logs(*plain, *upgraded(at, "libcudnn9-cuda-12", "9.1.0", "9.5.0"))
    (change,) = made.look(OLD).changes
    assert (change.name, change.before, change.after) == ("libcudnn9-cuda-12", "9.1.0", "9.5.0")
    assert [one.partition(" ")[0] for one in change.packages] == ["libstdc++6", "libc6"]


def test_what_a_finding_points_at_is_told_and_not_counted(made: Yesterday) -> None:
    made.keep(OLD, 9)
    made.history = logs(*upgraded(iso(NOW - timedelta(days=1)), "dkms", "3.0.11", "3.1.0"))
    assert not made.look(OLD).changes
    finding = Finding("dkms-build-failed", (), ())
    assert [one.name for one in past(made.session, replace(OLD, taken_at=iso(NOW)), "", (finding,)).changes] == ["dkms"]


def test_no_package_of_any_name_is_the_cause_of_a_problem() -> None:
    any_package = MachineChange(Subject.SYSTEM_PACKAGE, Direction.UPGRADED, "python3", "1", "2")
    resources = Resources()
    for name in resources.names("problems", ".toml"):
        causes = read_entry(resources.read(f"problems/{name}")).changed_by
        assert not any(is_cause(any_package, cause) for cause in causes), name


def test_the_logs_are_read_once(made: Yesterday) -> None:
    made.keep(OLD, 9)
    made.keep(NEW, 2)
    made.look(NEW)
    assert len(made.asked) == 1


def test_since_takes_the_newest_kept_until_then(made: Yesterday) -> None:
    oldest = made.keep(machine(driver="550.54.14"), 30)
    made.keep(OLD, 9)
    found = made.look(NEW, "10 days ago")
    assert (found.since[:10], drivers(found)) == (oldest[:10], [("550.54.14", "580.95.05")])
    assert not found.notes


def test_a_machine_that_was_seen_the_same_before_and_after_was_so_then(made: Yesterday) -> None:
    made.keep(machine(driver="550.54.14"), 30)
    made.keep(OLD, 20)
    made.keep(OLD, 9)
    found = made.look(NEW, "2026-11-08T09:00")
    assert (found.since[:10], drivers(found)) == ("2026-11-08", [("570.86.15", "580.95.05")])


def test_before_all_that_was_kept_the_oldest_is_taken_and_said(made: Yesterday) -> None:
    oldest = made.keep(OLD, 9)
    found = made.look(NEW, "20 days ago")
    assert found.since[:10] == oldest[:10]
    assert len(found.notes) == 1


def test_where_nothing_was_kept_the_logs_tell_of_a_month(made: Yesterday) -> None:
    made.history = logs(*upgraded(iso(NOW - timedelta(days=3)), "libnvidia-compute nvidia-dkms", "570.86.15-1", "580.95.05-1"))
    found = made.look(HALF)
    assert (found.kept, found.by, drivers(found)) == (False, "", [("570.86.15", "580.95.05")])
    assert made.asked == [iso(NOW - timedelta(days=30))]


def test_a_clock_that_was_ahead_is_said_and_the_rest_is_shown(made: Yesterday) -> None:
    made.keep(OLD, 9)
    ahead = iso(NOW + timedelta(days=40))
    made.history = logs(*upgraded(ahead, "libnvidia-compute nvidia-dkms", "570.86.15-1", "580.95.05-1"))
    found = made.look(NEW)
    assert drivers(found) == [("570.86.15", "580.95.05")]
    assert len(found.notes) == 1


def test_a_kept_machine_of_a_time_to_come_is_said(made: Yesterday) -> None:
    made.keep(OLD, -3)
    found = made.look(NEW)
    assert not found.kept
    assert found.notes


def test_logs_that_begin_later_are_said(made: Yesterday) -> None:
    made.keep(OLD, 9)
    made.history = PackageHistory(covers=iso(NOW - timedelta(days=2)))
    assert len(made.look(NEW).notes) == 1


def test_kept_machines_of_another_identity_are_not_compared(made: Yesterday, monkeypatch: pytest.MonkeyPatch) -> None:
    made.keep(OLD, 9)
    monkeypatch.setattr("gpuassist.session.kept_machines.machine_identity", lambda _world: "another")
    found = made.look(NEW)
    assert not found.kept
    assert found.notes


def test_a_line_that_we_wrote_says_so_and_how_it_is_taken_back(made: Yesterday) -> None:
    world = made.session.world
    bashrc = Path(world.surroundings.home, ".bashrc")
    bashrc.write_text("export CUDA_HOME=/usr/local/cuda-11.8\n")
    startup = replace(OLD.shell.startup_files, value=(replace(OLD.shell.startup_files.value[0], path=str(bashrc)),))  # type: ignore[union-attr]
    one = replace(OLD, shell=replace(OLD.shell, startup_files=startup))
    made.keep(one, 9)
    edit = FileEdit(str(bashrc), str(bashrc), bashrc.read_bytes(), b"export CUDA_HOME=/usr/local/cuda-12.4\n", existed=True)
    made.clock.moment = NOW - timedelta(hours=1)
    apply(world, FileChange("20261123-080000", "gpuassist use 12.4", (edit,)))
    made.clock.moment = NOW
    (found,) = made.look(one).changes
    assert (found.subject, found.by, found.undo) == (Subject.STARTUP_FILE, "gpuassist", "gpuassist undo 20261123-080000")
    with bashrc.open("a") as file:  # somebody went on
        file.write("export LD_LIBRARY_PATH=/opt/lib\n")
    (found,) = made.look(one).changes
    assert (found.by, found.undo) == ("", "")
    assert "gpuassist undo 20261123-080000" in found.sources


# Findings that a change explains.


def explained(made: Yesterday, one: Machine) -> dict[str, list[str]]:
    found = judge(one, knowledge())
    answers = with_causes(made.session, one, answers_of(made.session, one, found), found.findings)
    return {answer.id: [change.subject.value for change in answer.since] for answer in answers if answer.since}


def test_a_finding_names_the_change_that_it_comes_from(made: Yesterday) -> None:
    made.keep(OLD, 9)
    assert explained(made, HALF) == {"driver-library-mismatch": ["driver"]}


def test_a_healthy_machine_reads_neither_logs_nor_kept_machines(made: Yesterday, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.session.kept_machines.kept", lambda _world: pytest.fail("read"))
    assert explained(made, NEW) == {}
    assert made.asked == []


def test_what_was_wrong_already_is_not_put_down_to_what_changed_since(made: Yesterday) -> None:
    made.keep(HALF, 9)
    assert explained(made, machine(driver="565.77", on_disk="580.95.05", libcuda="580.95.05")) == {}


def test_a_torch_is_explained_by_its_own_environment_alone(made: Yesterday) -> None:
    made.keep(machine(environments=(Env("one", "2.6.0+cu124", active=True), Env("two", "2.6.0+cu124"))), 9)
    other = machine(environments=(Env("one", "2.6.0+cpu", active=True), Env("two", "2.7.0+cu126")))
    found = judge(other, knowledge())
    answers = with_causes(made.session, other, answers_of(made.session, other, found), found.findings)
    told = {answer.id: [change.place for change in answer.since] for answer in answers if answer.since}
    assert told["torch-cpu-only"] == ["/home/you/one"]


def test_recordings_are_compared_without_this_machines_logs(made: Yesterday) -> None:
    found = past_of_recordings(made.session, OLD, replace(NEW, taken_at=iso(NOW)), live=False)
    assert (found.by, drivers(found), made.asked) == ("recording", [("570.86.15", "580.95.05")], [])
    later = past_of_recordings(made.session, replace(OLD, taken_at=iso(NOW)), NEW, live=False)
    assert len(later.notes) == 1


# Since when.

_SAID = (
    ("2026-11-14", "2026-11-14T00:00"),
    ("2026-11-14T18:00", "2026-11-14T18:00"),
    ("2026-11-14 18:00", "2026-11-14T18:00"),
    ("2026-11-14T18:00:00Z", "2026-11-14T18:00"),
    ("yesterday", "2026-11-22T00:00"),
    ("today", "2026-11-23T00:00"),
    ("3 days ago", "2026-11-20T09:00"),
    ("two weeks ago", "2026-11-09T09:00"),
    ("an hour ago", "2026-11-23T08:00"),
    ("14 November", "2026-11-14T00:00"),
    ("14. Nov", "2026-11-14T00:00"),
    ("november 14, 2025", "2025-11-14T00:00"),
    ("24 December", "2025-12-24T00:00"),
    ("last week", "2026-11-16T00:00"),
    ("monday", "2026-11-16T00:00"),
    ("last friday", "2026-11-20T00:00"),
)


@for_each("words, wanted", _SAID)
def test_a_moment_is_understood_as_people_say_it(words: str, wanted: str) -> None:
    assert iso(since_when(words, NOW))[:16] == wanted


@for_each(
    "words",
    (
        "",
        "soon",
        "2026-13-40",
        "30 February",
        "99999 years ago",
        "in 3 days",
        "2027-01-01",
        "14 Nov 99999",
        "٣ days ago",
        "x" * 500,
        "\0",
    ),
)
def test_what_is_no_moment_of_the_past_is_refused(words: str) -> None:
    with pytest.raises(SinceError):
        since_when(words, NOW)
