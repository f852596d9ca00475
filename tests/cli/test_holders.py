"""`gpuassist holders`: the list for people and programs, and what is refused."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.cli import holders
from gpuassist.cli.context import UsageError
from gpuassist.context import Session
from gpuassist.model.machine import encode_machine
from gpuassist.model.words import ENGLISH
from gpuassist.present.marks import Exit
from gpuassist.system.files import Files
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.cli.made_session import run_live
from tests.detect.test_gpu_holders import GIB, gpu, holder, machine, on
from tests.fakes import link, put, world_under
from tests.values import knowledge


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A machine with a training run of mine and nothing else."""
    (tmp_path / "sys/bus/pci/devices").mkdir(parents=True)
    put(tmp_path, "/proc/4242/cmdline", "python\0train.py\0")
    put(tmp_path, "/proc/4242/stat", "4242 (python) S 1 " + "0 " * 17 + "5000 0\n")
    put(tmp_path, "/proc/4242/cgroup", "0::/user.slice/user-1000.slice/session-3.scope\n")
    link(tmp_path, "/proc/4242/fd/3", "/dev/nvidia0")
    world = world_under(tmp_path)
    return Session(replace(world, surroundings=replace(world.surroundings, uid=os.getuid(), user="you")), knowledge(), ENGLISH)


def test_list_shows_process_unit_and_what_may_be_done(session: Session) -> None:
    done = run_live(holders, session=session)
    assert done.exit is Exit.HEALTHY
    lines = done.out.splitlines()
    assert lines[0].startswith("4242  you  nvidia0  GPU memory not known  python train.py")
    assert lines[1:] == ["    in the unit session-3.scope", "    your own program; it can be stopped"]


def test_document_holds_every_field(session: Session) -> None:
    (one,) = json.loads(run_live(holders, "--json", session=session).out)["holders"]
    assert one["pid"] == 4242
    assert one["devices"] == ["/dev/nvidia0"]
    assert one["memory_used_bytes"] is None
    assert one["memory_reason"] == "the driver names no memory of this process"
    assert (one["unit"], one["container"], one["role"], one["may_stop"]) == ("session-3.scope", None, "program", True)


def test_machine_without_holders_says_so(tmp_path: Path) -> None:
    put(tmp_path, "/proc/1/comm", "init\n")
    (tmp_path / "sys/bus/pci/devices").mkdir(parents=True)
    empty = Session(world_under(tmp_path), knowledge(), ENGLISH)
    assert run_live(holders, session=empty).out == "No GPU processes found.\n"


def test_process_without_gpu_is_left_alone(session: Session) -> None:
    done = run_live(holders, "--stop", "1", "--yes", session=session)
    assert (done.exit, done.out) == (Exit.PROBLEMS, "process 1 holds no GPU; it was left alone\n")


def test_nobody_to_ask_is_wrong_usage(session: Session) -> None:
    with pytest.raises(UsageError) as raised:
        run_live(holders, "--stop", "4242", session=session)
    assert "add --yes" in ENGLISH(raised.value.reason)


def test_recorded_machine_is_not_changed(session: Session) -> None:
    with pytest.raises(UsageError):
        run_live(holders, "--stop", "4242", "--yes", session=session, machine_file="some.json")


def test_a_process_that_is_no_number_is_wrong_usage(session: Session) -> None:
    with pytest.raises(SystemExit):
        run_live(holders, "--stop", "x", session=session)


@pytest.mark.parametrize("seconds", ["-1", "nan", "1e9"])
def test_senseless_patience_is_wrong_usage(session: Session, seconds: str) -> None:
    with pytest.raises(UsageError) as raised:
        run_live(holders, f"--seconds={seconds}", session=session)
    assert "up to 3600" in ENGLISH(raised.value.reason)


class DriverOpen(Files):
    """This machine, where one process has a GPU open."""

    def __init__(self, pid: int) -> None:
        super().__init__()
        self._opened = f"/proc/{pid}/fd/0"

    def readlink(self, path: str) -> str:
        return "/dev/nvidia0" if path == self._opened else super().readlink(path)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen([sys.executable, "-c", "import time; print(1, flush=True); time.sleep(600)"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    yield child
    child.kill()
    child.wait()
    child.stdout.close()


def test_own_process_is_stopped_with_yes(sleeper: subprocess.Popen[bytes]) -> None:
    live = Session(World(Surroundings.current(), DriverOpen(sleeper.pid)), knowledge(), ENGLISH)
    done = run_live(holders, "--stop", str(sleeper.pid), "--yes", "--json", session=live)
    assert (done.exit, json.loads(done.out)["result"]) == (Exit.HEALTHY, "modified")
    assert sleeper.wait() == -15


def test_no_stops_nothing(sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    live = Session(World(Surroundings.current(), DriverOpen(sleeper.pid)), knowledge(), ENGLISH)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    done = run_live(holders, "--stop", str(sleeper.pid), session=live, screen=True)
    assert "you said no; nothing was stopped" in done.out
    assert sleeper.poll() is None


def test_document_holds_the_memory_of_each_card(session: Session, tmp_path: Path) -> None:
    recorded = tmp_path / "machine.json"
    seen = machine(holder(), gpus=(gpu(0, on(42, GIB)), gpu(1, on(42, 2 * GIB))))
    recorded.write_text(json.dumps(encode_machine(seen, ENGLISH)))
    (one,) = json.loads(run_live(holders, "--json", session=session, machine_file="/machine.json").out)["holders"]
    assert one["memory_by_gpu"] == [
        {"gpu": 0, "memory_used_bytes": GIB, "memory_reason": None},
        {"gpu": 1, "memory_used_bytes": 2 * GIB, "memory_reason": None},
    ]
