"""Processes of a made-up /proc, and this very process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.detect import gpu_holders as holders
from gpuassist.model.gpu import Holder
from gpuassist.system.files import Files
from tests.facts import reason, value
from tests.fakes import link, put, world_under


def process(root: Path, pid: int, devices: tuple[str, ...], *, cmdline: str = "python\0train.py\0", comm: str = "python\n") -> None:
    """A process with these files open."""
    put(root, f"/proc/{pid}/cmdline", cmdline)
    put(root, f"/proc/{pid}/comm", comm)
    for number, device in enumerate(devices, 3):
        link(root, f"/proc/{pid}/fd/{number}", device)


def probe(root: Path) -> tuple[Holder, ...]:
    return value(holders.probe(world_under(root)))


def test_holder_is_told_with_user_and_command(tmp_path: Path) -> None:
    process(tmp_path, 4242, ("/dev/nvidia0", "/dev/nvidiactl"))
    put(tmp_path, "/etc/passwd", f"root:x:99999:0::/root:/bin/sh\nada:x:{os.getuid()}:100::/home/ada:/bin/bash\n")
    found = probe(tmp_path)[0]
    assert (found.pid, found.user, found.command) == (4242, "ada", "python train.py")
    assert found.devices == ("/dev/nvidia0", "/dev/nvidiactl")
    assert value(found.uid) == os.getuid()


def test_state_start_unit_and_container_are_read(tmp_path: Path) -> None:
    process(tmp_path, 7, ("/dev/nvidia0",))
    put(tmp_path, "/proc/7/stat", "7 (a) (b c) D 1 7 7 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 98765 0 0\n")
    put(tmp_path, "/proc/7/cgroup", f"0::/system.slice/docker-{'3f2a51c07d1e' * 5}abcd.scope\n")
    found = probe(tmp_path)[0]
    assert (value(found.state), value(found.started)) == ("D", 98765)
    assert value(found.container) == "docker 3f2a51c07d1e"
    assert value(found.unit).startswith("docker-3f2a")


@pytest.mark.parametrize("words", ["", "7 (python", "7 (python) S 1 2 3"])
def test_damaged_stat_leaves_the_start_unknown(tmp_path: Path, words: str) -> None:
    process(tmp_path, 7, ("/dev/nvidia0",))
    put(tmp_path, "/proc/7/stat", words)
    assert "something else than expected" in reason(probe(tmp_path)[0].started)


def test_user_without_a_name_stays_a_number(tmp_path: Path) -> None:
    process(tmp_path, 4242, ("/dev/nvidia0",))
    world = world_under(tmp_path)
    stranger = replace(world, surroundings=replace(world.surroundings, uid=os.getuid() + 1))
    assert value(holders.probe(stranger))[0].user == str(os.getuid())


def test_device_open_twice_is_named_once(tmp_path: Path) -> None:
    process(tmp_path, 7, ("/dev/nvidia0", "/dev/nvidia0", "/dev/null", "socket:[1]"))
    assert probe(tmp_path)[0].devices == ("/dev/nvidia0",)


def test_process_without_gpu_is_left_out(tmp_path: Path) -> None:
    process(tmp_path, 7, ("/dev/null", "/tmp/dev/nvidia0"))
    assert probe(tmp_path) == ()


def test_holders_come_by_number(tmp_path: Path) -> None:
    for pid in (1000, 9, 200):
        process(tmp_path, pid, ("/dev/nvidia0",))
    assert [holder.pid for holder in probe(tmp_path)] == [9, 200, 1000]


def test_process_without_command_line_is_named_by_comm(tmp_path: Path) -> None:
    process(tmp_path, 7, ("/dev/nvidia0",), cmdline="", comm="nv_queue\n")
    assert probe(tmp_path)[0].command == "nv_queue"


def test_process_that_tells_no_name_is_kept(tmp_path: Path) -> None:
    link(tmp_path, "/proc/7/fd/3", "/dev/nvidia0")
    assert probe(tmp_path)[0].command == ""


def test_what_is_no_process_is_passed_over(tmp_path: Path) -> None:
    process(tmp_path, 7, ("/dev/nvidia0",))
    for name in ("self", "²", "uptime"):
        link(tmp_path, f"/proc/{name}/fd/3", "/dev/nvidia0")
    assert [holder.pid for holder in probe(tmp_path)] == [7]


def test_no_processes_at_all_is_unknown(tmp_path: Path) -> None:
    assert reason(holders.probe(world_under(tmp_path))) == "/proc shows no processes"


def test_process_that_ends_meanwhile_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    process(tmp_path, 7, ("/dev/nvidia0",))

    def gone(_files: Files, path: str) -> os.stat_result:
        raise FileNotFoundError(path)

    monkeypatch.setattr(Files, "status", gone)
    assert probe(tmp_path) == ()


def test_live_processes_are_looked_through() -> None:
    world = world_under(Path("/"))
    assert isinstance(value(holders.probe(world)), tuple)
