"""environment.d, as systemd merges it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.system.files import Files
from gpuassist.system.login import merge, with_environment_d
from tests.fakes import link, put

MINE = "/home/you/.config/environment.d"


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=/x", "/x"),
        ("A=${B}/x", "/b/x"),
        ("A=$B:$NONE", "/b:"),
        ("A=/x${B:+:$B}", "/x:/b"),
        ("A=/x${NONE:+:$NONE}", "/x"),
        ("A=${NONE:-/default}", "/default"),
        ("A=${B:-/default}", "/b"),
        ('A="two words"', "two words"),
        ("A=one\\\ntwo", "onetwo"),
        ("A=$$B", "$B"),
        ("A=/x # no comment", "/x # no comment"),
    ],
)
def test_value(line: str, value: str) -> None:
    known = {"B": "/b"}
    merge(line + "\n", known)
    assert known["A"] == value


@pytest.mark.parametrize("line", ["# A=1", "; A=1", "A", "1A=2", "=1", "export A=1"])
def test_other_lines_say_nothing(line: str) -> None:
    known: dict[str, str] = {}
    merge(line + "\n", known)
    assert known == {}


def test_files_come_by_name_and_the_users_own_hides_those_of_the_system(tmp_path: Path) -> None:
    put(tmp_path, f"{MINE}/60-cuda.conf", "CUDA_HOME=/mine\nPATH=/mine/bin:$PATH\n")
    put(tmp_path, f"{MINE}/notes.txt", "CUDA_HOME=/no\n")
    put(tmp_path, "/etc/environment.d/60-cuda.conf", "CUDA_HOME=/hidden\n")
    put(tmp_path, "/etc/environment.d/70-later.conf", "CUDA_PATH=$CUDA_HOME\n")
    put(tmp_path, "/usr/lib/environment.d/50-first.conf", "CUDA_HOME=/first\nCUDA_ROOT=/first\n")
    merged = with_environment_d(Files(str(tmp_path)), {"PATH": "/bin"}, home="/home/you")
    assert merged == {"PATH": "/mine/bin:/bin", "CUDA_HOME": "/mine", "CUDA_PATH": "/mine", "CUDA_ROOT": "/first"}


def test_etc_environment_is_not_taken_a_second_time(tmp_path: Path) -> None:
    put(tmp_path, "/etc/environment", "PATH=/usr/bin\n")
    link(tmp_path, "/usr/lib/environment.d/99-environment.conf", "../../../etc/environment")
    assert with_environment_d(Files(str(tmp_path)), {"PATH": "/cuda/bin:/usr/bin"}, home="/h") == {"PATH": "/cuda/bin:/usr/bin"}


def test_own_place_of_the_settings_is_looked_into(tmp_path: Path) -> None:
    put(tmp_path, "/settings/environment.d/a.conf", "A=1\n")
    assert with_environment_d(Files(str(tmp_path)), {"XDG_CONFIG_HOME": "/settings"}, home="/home/you")["A"] == "1"
