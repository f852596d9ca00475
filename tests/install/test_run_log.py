"""The log of a step on disk."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from gpuassist.formats.terminal_output import Printed
from gpuassist.install.run import RunLog
from gpuassist.system.disk import Disk
from tests.hostile import HOSTILE, obeyed


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "log.txt"


def test_every_line_is_kept(path: Path) -> None:
    log = RunLog(Disk(), str(path))
    log.note("$ pip install x")
    log.add(Printed("one"))
    log.add(Printed("two"))
    log.note("[status 0]")
    log.close()
    assert path.read_text() == "$ pip install x\none\ntwo\n[status 0]\n"


def test_of_progress_the_last_state_is_kept(path: Path) -> None:
    log = RunLog(Disk(), str(path))
    for printed in (Printed("10%", ended=False), Printed("20%", ended=False), Printed("done")):
        log.add(printed)
    log.close()
    assert path.read_text() == "done\n"


def test_progress_that_was_cut_off_is_kept(path: Path) -> None:
    log = RunLog(Disk(), str(path))
    log.add(Printed("10%", ended=False))
    log.note("[status 1]")
    log.close()
    assert path.read_text() == "10%\n[status 1]\n"


def test_lines_drawn_over_are_kept_once(path: Path) -> None:
    log = RunLog(Disk(), str(path))
    for printed in (Printed("a 1"), Printed("b 1"), Printed("a 2", back=2), Printed("b 2")):
        log.add(printed)
    log.close()
    assert path.read_text() == "a 2\nb 2\n"


def test_a_long_one_keeps_its_beginning_and_its_end(path: Path) -> None:
    log = RunLog(Disk(), str(path), at_most=10_000)
    for number in range(20_000):
        log.add(Printed(f"line {number}"))
    log.close()
    lines = path.read_text().splitlines()
    assert lines[0] == "line 0"
    assert lines[-1] == "line 19999"
    assert f"[... {log.left_out} lines left out ...]" in lines
    assert len(lines) - 1 + log.left_out == 20_000
    assert path.stat().st_size < 60_000


def test_lines_reach_the_disk_while_it_runs(path: Path) -> None:
    log = RunLog(Disk(), str(path))
    for number in range(2_000):
        log.add(Printed(f"line {number}"))
    assert "line 1000\n" in path.read_text()


def test_a_log_that_is_there_is_never_overwritten(path: Path) -> None:
    path.write_text("mine")
    log = RunLog(Disk(), str(path))
    log.add(Printed("one"))
    log.close()
    assert path.read_text() == "mine"
    assert log.trouble == "File exists"


def test_a_full_disk_ends_the_log_and_not_the_step(path: Path) -> None:
    log = RunLog(FullDisk(), str(path))
    for number in range(5_000):
        log.add(Printed(f"line {number}"))
    log.close()
    assert log.trouble == "No space left on device"
    assert path.read_text() == ""


class FullDisk(Disk):
    """It takes names, and no bytes."""

    def append(self, path: str, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_what_a_terminal_would_obey_is_visible_to_whoever_reads_the_log(path: Path) -> None:
    log = RunLog(Disk(), str(path))
    log.note(f"$ pip install {HOSTILE}")
    log.add(Printed(f"Collecting {HOSTILE}"))
    log.add(Printed(f"10% {HOSTILE}", ended=False))
    log.close()
    assert obeyed(path.read_text()) == []
    assert "Collecting <U+001B>]0;PWN<U+0007>" in path.read_text()
