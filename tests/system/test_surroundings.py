"""Who runs gpuassist, where it keeps things, what time it is, and what ships with it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from gpuassist.system.clock import Clock, iso
from gpuassist.system.resources import ResourceError, Resources
from gpuassist.system.surroundings import Surroundings


def _you(**variables: str) -> Surroundings:
    return Surroundings("/home/you", "you", 1000, variables)


def test_home_comes_from_the_environment(home: Path) -> None:
    assert Surroundings.current().home == str(home)


def test_account_home_comes_from_the_user_database(home: Path) -> None:
    assert Surroundings.current().account_home != str(home)


def test_state_lies_under_home() -> None:
    assert _you().state() == "/home/you/.local/state/gpuassist"


def test_state_obeys_xdg() -> None:
    assert _you(XDG_STATE_HOME="/data/state").state() == "/data/state/gpuassist"


def test_relative_xdg_path_is_ignored() -> None:
    assert _you(XDG_CONFIG_HOME="config").settings() == "/home/you/.config/gpuassist"


def test_cache_has_its_own_place() -> None:
    assert _you().cache() == "/home/you/.cache/gpuassist"


def test_moment_is_written_to_the_millisecond() -> None:
    moment = datetime(2026, 11, 21, 9, 0, 0, 123456, timezone(timedelta(hours=8)))
    assert iso(moment) == "2026-11-21T09:00:00.123+08:00"


def test_real_clock_knows_its_zone() -> None:
    assert Clock().now().tzinfo is not None


def test_monotonic_clock_does_not_go_back() -> None:
    clock = Clock()
    assert clock.monotonic() <= clock.monotonic()


def test_resource_is_read_by_name(tmp_path: Path) -> None:
    (tmp_path / "knowledge").mkdir()
    (tmp_path / "knowledge" / "gpus.json").write_bytes(b"[]")
    assert Resources(tmp_path).read("knowledge/gpus.json") == b"[]"


def test_resource_names_are_sorted_and_filtered(tmp_path: Path) -> None:
    for name in ("b.toml", "a.toml", "c.txt"):
        (tmp_path / name).touch()
    assert Resources(tmp_path).names(".", ".toml") == ("a.toml", "b.toml")


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../../b"])
def test_resource_name_cannot_leave(tmp_path: Path, name: str) -> None:
    with pytest.raises(ResourceError):
        Resources(tmp_path).read(name)


def test_missing_resource_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Resources(tmp_path).read("nothing")


def test_shipped_resources_are_found() -> None:
    assert Resources().names("knowledge", ".json")
