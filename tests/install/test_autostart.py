"""The entry that opens gpuassist after the restart."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.install.autostart import add_autostart, autostart_path, own_command, remove_autostart
from tests.install.installs_made import session_at


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return session_at(tmp_path / "home")


def with_variables(session: Session, **variables: str) -> Session:
    around = replace(session.world.surroundings, variables=variables)
    return replace(session, world=replace(session.world, surroundings=around))


def test_it_lies_where_desktops_look(session: Session, tmp_path: Path) -> None:
    assert add_autostart(session) == str(tmp_path / "home/.config/autostart/gpuassist-resume.desktop")
    elsewhere = with_variables(session, XDG_CONFIG_HOME=str(tmp_path / "config"))
    assert autostart_path(elsewhere.world) == str(tmp_path / "config/autostart/gpuassist-resume.desktop")


def test_it_starts_this_program(session: Session) -> None:
    content = Path(add_autostart(session)).read_text()
    assert f'Exec="{sys.executable}" "-m" "gpuassist"\n' in content


def test_an_appimage_is_started_by_its_file(session: Session) -> None:
    assert own_command(with_variables(session, APPIMAGE="/home/you/gpuassist.AppImage").world) == ("/home/you/gpuassist.AppImage",)


@pytest.mark.parametrize("word", ["with space", 'a"b', "a$b", "a`b", "a\\b", "100%", "é", "a'b"])
def test_any_path_is_quoted(session: Session, word: str) -> None:
    lines = Path(add_autostart(session, (word, "-m"))).read_text().splitlines()
    (line,) = (one.removeprefix("Exec=") for one in lines if one.startswith("Exec="))
    plain = line.replace("\\\\", "\\").replace("%%", "%")  # a string's escapes, and the field codes
    done = subprocess.run(["sh", "-c", f"printf '%s\\n' {plain}"], capture_output=True, text=True, timeout=100)
    assert done.stdout.splitlines() == [word, "-m"]


def test_twice_is_once(session: Session) -> None:
    assert Path(add_autostart(session)).read_bytes() == Path(add_autostart(session)).read_bytes()
    assert len(list(Path(autostart_path(session.world)).parent.iterdir())) == 1


def test_it_goes_away(session: Session) -> None:
    path = Path(add_autostart(session))
    remove_autostart(session)
    remove_autostart(session)
    assert not path.exists()


def test_one_that_is_not_ours_stays(session: Session) -> None:
    path = Path(add_autostart(session))
    path.write_text("[Desktop Entry]\nName=mine\n")
    remove_autostart(session)
    assert path.exists()


@pytest.mark.needs("desktop-file-validate")
def test_desktops_take_it(session: Session) -> None:
    done = subprocess.run(["desktop-file-validate", add_autostart(session)], capture_output=True, text=True, timeout=100)
    assert done.stdout == ""
