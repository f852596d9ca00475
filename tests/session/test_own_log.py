"""The log on disk: private, bounded, a record a line, and nothing where nothing may be written."""

from __future__ import annotations

import faulthandler
import logging
import os
import stat
from pathlib import Path

import pytest

from gpuassist.session.log_file import FILES_AT_MOST, OwnLog, log_path
from gpuassist.system.read_only import read_only
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World


@pytest.fixture
def world(home: Path) -> World:
    return World(Surroundings(str(home), "you", os.geteuid()))


def told(log: OwnLog, words: str, *values: object, level: int = logging.ERROR) -> None:
    """As a logger would hand it on; one that is a logger's would fail the test."""
    if level >= log.level:
        log.handle(logging.LogRecord("a.room", level, "", 0, words, values, None))


def test_a_record_is_a_line_and_hides_nothing(world: World) -> None:
    log = OwnLog(world)
    told(log, "not kept", level=logging.INFO)
    assert not Path(log_path(world)).exists()
    told(log, "a name: %s", "evil\n2026 ERROR feigned\x1b[2J")
    written = Path(log_path(world)).read_text()
    assert written.count("\n") == 1
    assert "a.room: a name: evil<U+000A>2026 ERROR feigned<U+001B>[2J" in written
    assert stat.S_IMODE(os.stat(log_path(world)).st_mode) == 0o600


def test_size_and_number_are_bounded(world: World) -> None:
    log = OwnLog(world, largest_bytes=1000)
    for number in range(200):
        told(log, "record %d %s", number, "x" * 90)
    told(log, "y" * 100_000)
    files = sorted(Path(log_path(world)).parent.iterdir())
    assert 1 < len(files) <= FILES_AT_MOST
    assert all(one.stat().st_size < 20_000 for one in files)
    assert "record 199" in "".join(one.read_text() for one in files)


def test_nothing_is_written_where_nothing_may_be(world: World, home: Path) -> None:
    log = OwnLog(read_only(world))
    told(log, "a fault")
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize("kind", ["symlink", "pipe", "open"])
def test_a_file_that_is_not_ours_alone_is_left(world: World, home: Path, kind: str) -> None:
    place, elsewhere = Path(log_path(world)), home / "elsewhere"
    place.parent.mkdir(parents=True, mode=0o700)
    elsewhere.write_text("")
    if kind == "symlink":
        place.symlink_to(elsewhere)
    elif kind == "pipe":
        os.mkfifo(place)
    else:
        place.parent.chmod(0o777)
    log = OwnLog(world)
    told(log, "a fault")
    told(log, "a record %d %d", 7)  # its words do not fit
    assert elsewhere.read_text() == ""
    assert kind != "open" or not place.exists()


@pytest.mark.parametrize("trace", [b"", b"Fatal Python error: Segmentation fault\n"])
def test_a_crash_outside_of_python_leaves_its_trace_and_else_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, trace: bytes
) -> None:
    opened: list[int] = []
    with monkeypatch.context() as patched:  # pytest listens for crashes itself
        patched.setattr(faulthandler, "enable", opened.append)
        patched.setattr(faulthandler, "disable", lambda: None)
        log = OwnLog(world)
        log.listen_for_crashes()
        os.write(opened[0], trace)
        log.end_crashes()
        OwnLog(read_only(world)).listen_for_crashes()
    place = Path(log_path(world))
    assert len(opened) == 1
    assert (place.read_bytes() if place.exists() else b"") == trace
    assert place.exists() == bool(trace)
