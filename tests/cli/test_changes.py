"""`gpuassist changes`: a made-up machine that worked, what came then, and what is wrong usage."""

from __future__ import annotations

import json
import os
import shutil
from datetime import datetime, timezone
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.cli import changes, detect, doctor
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.detect.machine import detect as detect_machine
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.session.kept_machines import DOCTOR, keep, keeping, kept, now_of
from tests.cli.runs import run
from tests.fakes import FixedClock, put, world_under
from tests.machines import libcuda, linux, module_on_disk, nvidia_driver, pci_gpu
from tests.rows import for_each
from tests.values import knowledge

OLD, NEW = "570.86.15", "580.95.05"
HISTORY = f"""
Start-Date: 2026-11-23  03:12:04
Commandline: /usr/bin/unattended-upgrade
Upgrade: libnvidia-compute:amd64 ({OLD}-1, {NEW}-1), nvidia-dkms:amd64 ({OLD}-1, {NEW}-1), firefox:amd64 (132.0, 133.0)
End-Date: 2026-11-23  03:13:04
"""
CHANGE = {
    *("subject", "direction", "name", "before", "after", "place", "at", "earliest", "latest", "by", "user", "undo"),
    *("waits_for_restart", "packages", "sources", "text"),
}


class MadeUp:
    """A machine under a root, whose user's own state lies there too."""

    def __init__(self, root: Path) -> None:
        self.root, self.clock = root, FixedClock(datetime(2026, 11, 14, 18, 0, tzinfo=timezone.utc))
        linux(root)
        pci_gpu(root)
        nvidia_driver(root, OLD)
        put(root, "/usr/bin/nvidia-smi", mode=0o755)
        put(root, "/etc/machine-id", "0123456789abcdef\n")
        home = root / "home"
        home.mkdir(mode=0o700)
        world = world_under(root, home=str(home))
        around = replace(world.surroundings, uid=os.geteuid())
        self.session = Session(replace(world, surroundings=around, clock=self.clock), knowledge(), ENGLISH)

    def work(self) -> None:
        """It is kept while it works; `doctor` itself keeps no machine that lies under another root."""
        world = self.session.world
        assert keep(world, now_of(world, detect_machine(world, knowledge()), DOCTOR)) is None

    def upgrade(self) -> None:
        self.clock.moment = datetime(2026, 11, 23, 9, 0, tzinfo=timezone.utc)
        shutil.rmtree(self.root / "usr/lib/x86_64-linux-gnu")
        libcuda(self.root, NEW)
        module_on_disk(self.root, NEW)
        put(self.root, "/var/log/apt/history.log", HISTORY)


@pytest.fixture
def made(tmp_path: Path) -> MadeUp:
    root = tmp_path / "root"
    root.mkdir(mode=0o700)
    return MadeUp(root)


def test_the_upgrade_is_told_with_who_and_when_and_its_source(made: MadeUp) -> None:
    made.work()
    made.upgrade()
    done = run(changes, made.session)
    assert done.exit is Exit.HEALTHY
    lines = done.out.splitlines()
    assert lines[0] == "Since 14 November, 18:00, when doctor found no problem"
    assert lines[2] == f"driver {OLD} → {NEW} (unattended-upgrade, today at 03:12)"
    assert "/var/log/apt/history.log" in done.out
    assert "firefox" not in done.out


def test_programs_get_one_document(made: MadeUp) -> None:
    made.work()
    made.upgrade()
    found = json.loads(run(changes, made.session, "--json").out)
    assert set(found) == {"schema", "since", "unchanged_since", "changes", "beside", "notes"}
    assert found["since"] == {"at": "2026-11-14T18:00:00.000+00:00", "kept": True, "by": "doctor"}
    (change,) = found["changes"]
    assert set(change) == CHANGE
    assert (change["subject"], change["before"], change["after"], change["user"]) == ("driver", OLD, NEW, None)
    assert change["waits_for_restart"] is True


def test_doctor_says_of_its_finding_where_it_comes_from(made: MadeUp) -> None:
    made.work()
    made.upgrade()
    done = run(doctor, made.session)
    told = " ".join(done.out.split())
    assert f"The driver was upgraded from {OLD} to {NEW} today at 03:12 by unattended-upgrade, and the computer was not" in told
    (finding,) = json.loads(run(doctor, made.session, "--json").out)["findings"]
    assert [(one["subject"], set(one)) for one in finding["since"]] == [("driver", CHANGE)]


def test_nothing_kept_and_no_log_is_not_to_be_told(made: MadeUp) -> None:
    assert run(changes, made.session).exit is Exit.UNDETERMINED


def test_the_logs_alone_tell_where_nothing_was_kept(made: MadeUp) -> None:
    made.upgrade()
    done = run(changes, made.session)
    assert done.exit is Exit.HEALTHY
    assert f"driver {OLD} → {NEW}" in done.out


def test_nothing_changed_is_an_answer(made: MadeUp) -> None:
    made.work()
    done = run(changes, made.session)
    assert (done.exit, done.out.count("\n")) == (Exit.HEALTHY, 1)


def test_two_recordings_are_compared(made: MadeUp, tmp_path: Path) -> None:
    places = []
    for name in ("before", "after"):
        places.append(f"/{name}.json")
        put(made.root, places[-1], run(detect, made.session, "--json").out)
        made.upgrade()
    done = run(changes, made.session, "--from", places[0], "--json", machine_file=places[1])
    found = json.loads(done.out)
    assert found["since"]["by"] == "recording"
    assert [(one["before"], one["after"], one["by"]) for one in found["changes"]] == [(OLD, NEW, None)]
    live = json.loads(run(changes, made.session, "--from", places[0], "--json").out)
    assert [one["by"] for one in live["changes"]] == ["unattended-upgrade"]


@for_each(
    "options, machine_file",
    (
        (("--since", "the other day"), ""),
        (("--since", ""), ""),
        (("--since", "2099-01-01"), ""),
        (("--from", ""), ""),
        (("--from", "/nowhere.json"), ""),
        (("--from", "/a.json", "--since", "yesterday"), ""),
        (("--forget", "--keep", "off"), ""),
        (("--forget", "--json"), ""),
        (("--keep", "on", "--since", "yesterday"), ""),
        ((), "/machine.json"),
        (("--since", "yesterday"), "/machine.json"),
        (("--forget",), "/machine.json"),
    ),
)
def test_what_cannot_be_meant_is_wrong_usage(tmp_path: Path, options: tuple[str, ...], machine_file: str) -> None:
    session = Session(world_under(tmp_path, home=str(tmp_path)), knowledge(), ENGLISH)
    with pytest.raises(UsageError):
        run(changes, session, *options, machine_file=machine_file)


def test_keeping_is_switched_off_and_what_was_kept_deleted(made: MadeUp) -> None:
    made.work()
    world = made.session.world
    for option, wanted in (("off", False), ("on", True)):
        assert run(changes, made.session, "--keep", option).exit is Exit.HEALTHY
        assert keeping(world) is wanted
    assert "1" in run(changes, made.session, "--forget").out
    assert kept(world).machines == ()
