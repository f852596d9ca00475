"""A user may become root who is root, or in a group that the distribution lets become root."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.detect.accounts import administrator
from gpuassist.model.fact import Unknown, value_or
from gpuassist.system.world import World
from tests.fakes import put, world_under

GROUPS = "root:x:0:\nadm:x:4:\nsudo:x:27:you\nwheel:x:998:\ndocker:x:999:you\nyou:x:1000:\n"


def world(root: Path, gids: str, *, gid: str = "1000") -> World:
    put(root, "/etc/group", GROUPS)
    put(root, "/proc/self/status", f"Name:\tpython\nUid:\t1000\t1000\nGid:\t{gid}\t{gid}\t{gid}\t{gid}\nGroups:\t{gids}\n")
    return world_under(root)


@pytest.mark.parametrize(("gids", "may"), [("4 27 1000", True), ("998", True), ("4 999 1000", False), ("", False)])
def test_groups_tell_who_may_become_root(tmp_path: Path, gids: str, may: bool) -> None:
    assert value_or(administrator(world(tmp_path, gids)), None) is may


def test_primary_group_counts_too(tmp_path: Path) -> None:
    assert value_or(administrator(world(tmp_path, "", gid="27")), None) is True


def test_root_needs_no_group(tmp_path: Path) -> None:
    made = world(tmp_path, "")
    assert value_or(administrator(replace(made, surroundings=replace(made.surroundings, uid=0))), None) is True


def test_unreadable_status_is_unknown(tmp_path: Path) -> None:
    assert isinstance(administrator(world_under(tmp_path)), Unknown)
