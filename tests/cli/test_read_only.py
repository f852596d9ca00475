"""`--read-only`: every way to write is refused in words, and nothing is there afterwards that was not before."""

from __future__ import annotations

import inspect
from contextlib import ExitStack
from pathlib import Path

import pytest

from gpuassist.context import Session
from gpuassist.model.words import ENGLISH
from gpuassist.session.kept_machines import set_keeping
from gpuassist.session.qt_libraries import missing_libraries
from gpuassist.session.settings import Settings, save_settings
from gpuassist.session.thresholds import save_thresholds
from gpuassist.system.disk import READ_ONLY, Disk, ReadOnlyDisk
from gpuassist.system.read_only import read_only
from gpuassist.system.streams import NotStarted
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.values import knowledge

_READS = {"read", "read_own", "flush", "names", "exists", "own_status", "is_locked", "is_locked_by_flag", "require_writing"}


@pytest.fixture
def world(home: Path) -> World:
    return read_only(World(Surroundings(str(home), "you", Surroundings.current().uid, {"PATH": "/usr/bin:/bin"}, str(home))))


def test_every_step_that_writes_is_refused(tmp_path: Path) -> None:
    disk = ReadOnlyDisk()
    steps = [name for name, _ in inspect.getmembers(Disk, inspect.isfunction) if not name.startswith("_") and name not in _READS]
    assert len(steps) > 10
    given = {"content": b"", "mode": 0o600, "seconds": 0.0, "source": "/etc/passwd", "target": str(tmp_path / "there")}
    for name in steps:
        step = getattr(disk, name)
        values = {one: given.get(one, str(tmp_path / "file")) for one in inspect.signature(step).parameters}
        with pytest.raises(OSError, match=READ_ONLY), ExitStack() as held:
            held.callback(step, **values) if name != "lock" else held.enter_context(step(**values))
    assert list(tmp_path.iterdir()) == []


def test_own_state_stays_as_it_is(world: World, home: Path) -> None:
    save_settings(world, Settings("dark"))
    save_thresholds(world, ())
    set_keeping(world, on=False)
    assert list(home.iterdir()) == []


def test_no_installer_is_started(world: World) -> None:
    assert world.programs.start(("true",), environment={}, directory="/", mark="m") == NotStarted(READ_ONLY, missing=False)


_LINKER = "libxcb-cursor.so.0: cannot open shared object file: No such file or directory"


def test_a_library_that_qt_lacks_is_named_with_its_package(tmp_path: Path) -> None:
    from gpuassist.system.files import Files

    (tmp_path / "etc").mkdir()
    variables = {"DISPLAY": ":0", "PATH": ""}
    around = Surroundings("/root", "root", 0, variables)
    wanted = {
        "ubuntu": "sudo apt install libxcb-cursor0",
        "fedora": "sudo dnf install xcb-util-cursor",
        "arch": "sudo pacman -S --needed xcb-util-cursor",
        "opensuse-tumbleweed": "sudo zypper install libxcb-cursor0",
    }
    for name, command in wanted.items():
        (tmp_path / "etc/os-release").write_text(f"ID={name}\nVERSION_ID=40\n")
        session = Session(World(around, Files(str(tmp_path))), knowledge(), ENGLISH)
        found = missing_libraries(session, lambda path: _LINKER if path.endswith(("libqxcb.so", "libxcb-cursor.so.0")) else "")
        assert found is not None, name
        assert f"libxcb-cursor.so.0. This installs them: `{command}`" in ENGLISH(found)
        assert missing_libraries(session, lambda path: "") is None, "the platform loads"
