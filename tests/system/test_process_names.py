"""Whose a process is, read from a made-up /proc and from the real one."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from gpuassist.model.fact import Known, Unknown
from gpuassist.system.files import Files
from gpuassist.system.process_names import (
    LOOK_AGAIN_SECONDS,
    NOT_VISIBLE,
    STRANGER_AGAIN_SECONDS,
    STRANGER_SECONDS,
    ProcessName,
    ProcessNames,
    script_name,
)
from tests.fakes import link, put
from tests.rows import for_each


def stat(name: str, started: int) -> str:
    return f"7 ({name}) S 1 7 7 0 -1 4194304 100 0 0 0 5 3 0 0 20 0 1 0 {started} 1000 10 18446744073709551615\n"


def process(root: Path, pid: int, command: bytes, *, started: int = 100, name: str = "python") -> None:
    put(root, f"/proc/{pid}/stat", stat(name, started))
    put(root, f"/proc/{pid}/cmdline", command)
    put(root, f"/proc/{pid}/comm", f"{name}\n")
    if not (root / f"proc/{pid}/fd").exists():
        link(root, f"/proc/{pid}/fd/3", "/dev/nvidia0")


def command(name: ProcessName) -> str:
    assert isinstance(name.command, Known)
    return name.command.value


@pytest.fixture
def names(tmp_path: Path) -> ProcessNames:
    return ProcessNames(Files(str(tmp_path)), os.geteuid())


def test_the_command_line_is_joined(tmp_path: Path, names: ProcessNames) -> None:
    process(tmp_path, 7, b"python\0train.py\0--batch\0" + b"24\0")
    assert command(names.look(7, 0.0)) == "python train.py --batch 24"


def test_the_user_is_the_owner(tmp_path: Path, names: ProcessNames) -> None:
    process(tmp_path, 7, b"python\0")
    user = names.look(7, 0.0).user
    assert isinstance(user, Known)
    assert user.value == pwd.getpwuid(os.geteuid()).pw_name


def test_a_user_without_an_entry_is_a_number(tmp_path: Path, names: ProcessNames) -> None:
    if os.geteuid() != 0:
        pytest.skip("NOT RUN: needs root, to give a file to a user that does not exist")
    process(tmp_path, 7, b"python\0")
    os.chown(tmp_path / "proc" / "7", 987654, 987654)
    assert names.look(7, 0.0).user == Known("987654", "/proc/7")


def test_without_a_command_line_the_name_will_do(tmp_path: Path, names: ProcessNames) -> None:
    process(tmp_path, 7, b"")
    assert command(names.look(7, 0.0)) == "python"


def test_a_process_of_another_container_is_not_visible(names: ProcessNames) -> None:
    name = names.look(4242, 0.0)
    assert isinstance(name.user, Unknown)
    assert isinstance(name.command, Unknown)
    assert name.started == 0


def test_a_name_with_brackets_and_spaces_is_no_obstacle(tmp_path: Path, names: ProcessNames) -> None:
    process(tmp_path, 7, b"x\0", name="a) S 9 (b", started=555)
    assert names.look(7, 0.0).started == 555


def test_junk_in_stat_is_survived(tmp_path: Path, names: ProcessNames) -> None:
    process(tmp_path, 7, b"python\0")
    put(tmp_path, "/proc/7/stat", "junk")
    assert names.look(7, 0.0).started == 0


def test_a_process_is_read_once(tmp_path: Path, names: ProcessNames) -> None:
    process(tmp_path, 7, b"first\0")
    names.look(7, 0.0)
    process(tmp_path, 7, b"second\0")
    assert command(names.look(7, 10 * LOOK_AGAIN_SECONDS)) == "first"


def test_a_new_process_of_the_same_number_is_read_anew(tmp_path: Path, names: ProcessNames) -> None:
    process(tmp_path, 7, b"first\0", started=100)
    names.look(7, 0.0)
    process(tmp_path, 7, b"second\0", started=200)
    assert command(names.look(7, LOOK_AGAIN_SECONDS / 2)) == "first"
    assert command(names.look(7, LOOK_AGAIN_SECONDS * 2)) == "second"


def test_those_that_are_gone_are_forgotten(tmp_path: Path, names: ProcessNames) -> None:
    process(tmp_path, 7, b"first\0")
    names.look(7, 0.0)
    names.forget_others(frozenset({8}))
    process(tmp_path, 7, b"second\0")
    assert command(names.look(7, 0.0)) == "second"


def test_this_very_process_is_known_where_it_has_a_gpu_open(on_a_gpu: int) -> None:
    name = ProcessNames(Files(), os.geteuid()).look(on_a_gpu, 0.0)
    assert "py" in command(name)
    assert name.started > 0


def test_this_very_process_is_not_meant_where_it_has_none() -> None:
    assert ProcessNames(Files(), os.geteuid()).look(os.getpid(), 0.0).command is NOT_VISIBLE


def test_a_process_that_opens_its_gpu_later_is_found_then(tmp_path: Path, names: ProcessNames) -> None:
    process(tmp_path, 7, b"python\0")
    (tmp_path / "proc/7/fd/3").unlink()
    assert names.look(7, 0.0).command is NOT_VISIBLE
    link(tmp_path, "/proc/7/fd/5", "/dev/nvidia-uvm")
    assert command(names.look(7, 2 * LOOK_AGAIN_SECONDS)) == "python"


def test_one_that_has_no_gpu_for_long_is_looked_through_seldom(tmp_path: Path, names: ProcessNames) -> None:
    process(tmp_path, 7, b"python\0")
    (tmp_path / "proc/7/fd/3").unlink()
    assert names.look(7, 0.0).command is NOT_VISIBLE
    link(tmp_path, "/proc/7/fd/5", "/dev/nvidia0")
    assert names.look(7, STRANGER_SECONDS + 1).command is NOT_VISIBLE
    assert command(names.look(7, STRANGER_AGAIN_SECONDS)) == "python"


def test_another_process_of_the_number_of_one_without_a_gpu_is_known_at_once(tmp_path: Path, names: ProcessNames) -> None:
    process(tmp_path, 7, b"python\0")
    (tmp_path / "proc/7/fd/3").unlink()
    assert names.look(7, 0.0).command is NOT_VISIBLE
    link(tmp_path, "/proc/7/fd/5", "/dev/nvidia0")
    process(tmp_path, 7, b"another\0", started=200)
    assert command(names.look(7, STRANGER_SECONDS + 1)) == "another"


@for_each(
    ("words", "name"),
    [
        ("python train.py -c config.yaml", "train.py"),
        ("python3 -u -m torch.distributed.run --x", "torch.distributed.run"),
        ("python -um package.module a", "package.module"),
        ("/usr/bin/python3.11 -mhttp.server", "http.server"),
        ("python -W ignore /a/b/train.py --m 3", "train.py"),
        ("python -X faulthandler train.py", "train.py"),
        ("python3 -uc import", "python3"),
        ("python -m", "python"),
        ("bash -euo pipefail run.sh -c x", "run.sh"),
        ("bash -lc train", "bash"),
        ("java -cp a.jar Main", "Main"),
        ("node -r ts-node/register app.ts", "app.ts"),
        ("shotcut film.mlt", "shotcut"),
        ("/usr/lib/xorg/Xorg :0", "Xorg"),
        ("", ""),
    ],
)
def test_a_command_is_known_by_its_script(words: str, name: str) -> None:
    assert script_name(words) == name
