"""A directory for what is made along the way: private, empty, and gone afterwards."""

from __future__ import annotations

import os
import stat
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from gpuassist.system.clock import Clock, iso, iso_of
from gpuassist.system.disk import scratch


def test_directory_is_empty_and_private(tmp_path: Path) -> None:
    with scratch(str(tmp_path)) as directory:
        assert os.listdir(directory) == []
        assert stat.S_IMODE(os.stat(directory).st_mode) == 0o700
        assert os.path.dirname(directory) == str(tmp_path)


def test_directory_is_gone_with_all_in_it(tmp_path: Path) -> None:
    with scratch(str(tmp_path)) as directory:
        (Path(directory) / "a").mkdir()
        (Path(directory) / "a/b").write_text("x")
    assert list(tmp_path.iterdir()) == []


def test_directory_is_gone_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError), scratch(str(tmp_path)):
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_parent_is_made_for_its_user_alone(tmp_path: Path) -> None:
    parent = tmp_path / "cache" / "gpuassist"
    with scratch(str(parent)):
        assert parent.is_dir()
    assert stat.S_IMODE(parent.stat().st_mode) == 0o700


def test_two_do_not_meet(tmp_path: Path) -> None:
    with scratch(str(tmp_path)) as one, scratch(str(tmp_path)) as other:
        assert one != other


def test_directory_that_is_gone_already_is_no_fault(tmp_path: Path) -> None:
    with scratch(str(tmp_path)) as directory:
        os.rmdir(directory)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (datetime(2026, 11, 21, 9, 0, tzinfo=timezone.utc), "2026-11-21T09:00:00.000+00:00"),
        (datetime(2026, 11, 21, 9, 0, 0, 999_999, tzinfo=timezone.utc), "2026-11-21T09:00:00.999+00:00"),
        (datetime(2026, 11, 21, 9, 0, tzinfo=timezone(timedelta(hours=5, minutes=30))), "2026-11-21T09:00:00.000+05:30"),
        (datetime(2026, 11, 21, 9, 0, tzinfo=timezone(-timedelta(hours=8))), "2026-11-21T09:00:00.000-08:00"),
    ],
)
def test_moment_is_written_with_its_zone(moment: datetime, words: str) -> None:
    assert iso(moment) == words


@pytest.mark.parametrize("epoch", [0.0, 1.5, 1_795_251_600.25])
def test_seconds_since_1970_come_back(epoch: float) -> None:
    assert datetime.fromisoformat(iso_of(epoch)).timestamp() == pytest.approx(epoch, abs=0.001)


def test_time_since_boot_counts_sleep_too() -> None:
    clock = Clock()
    assert clock.since_boot() >= clock.monotonic() - 1
