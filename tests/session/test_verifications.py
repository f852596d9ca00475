"""Earlier verifications: kept in bounds, for this user and this machine alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.model.codec import Json
from gpuassist.session import verifications
from gpuassist.session.verifications import AT_MOST, keep, kept, new, root
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.fakes import FixedClock
from tests.strangers import given_away

DOCUMENT: dict[str, Json] = {"schema": 1, "devices": [{"device": "cuda:0"}]}


@pytest.fixture
def world(home: Path) -> World:
    return World(Surroundings(str(home), "you", os.geteuid()), clock=FixedClock())


def places(world: World) -> list[Path]:
    return sorted(Path(root(world)).iterdir())


def test_what_is_kept_is_read_back(world: World) -> None:
    one = new(world, DOCUMENT, "580.95.05", "quick")
    assert keep(world, one) is None
    assert kept(world) == (one,)


def test_nothing_kept_is_nothing(world: World) -> None:
    assert kept(world) == ()


def test_only_the_last_ones_are_kept_the_newest_first(world: World) -> None:
    for number in range(AT_MOST + 3):  # all of one second
        assert keep(world, new(world, DOCUMENT, str(number), "quick")) is None
    assert [one.driver for one in kept(world)] == [str(number) for number in reversed(range(3, AT_MOST + 3))]
    assert len(places(world)) == AT_MOST


def test_only_this_user_may_read_them(world: World) -> None:
    keep(world, new(world, DOCUMENT, "", "quick"))
    assert Path(root(world)).stat().st_mode & 0o077 == 0
    assert places(world)[0].stat().st_mode & 0o077 == 0


def test_one_that_is_too_large_is_not_kept(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifications, "LARGEST", 100)
    assert keep(world, new(world, DOCUMENT, "x" * 100, "quick")) is not None
    assert kept(world) == ()


@pytest.mark.parametrize(
    "content",
    [b"", b"no json", b"[1]", b"[" * 5000, b'{"schema": 2}', json.dumps({"schema": 1, "machine": "", "document": 3}).encode()],
)
def test_a_damaged_one_is_left_out(world: World, content: bytes) -> None:
    one = new(world, DOCUMENT, "580", "quick")
    keep(world, one)
    places(world)[0].with_name("20200101-000000-1.json").write_bytes(content)
    assert kept(world) == (one,)


def test_one_of_another_machine_is_left_out(world: World) -> None:
    keep(world, new(world, DOCUMENT, "580", "quick"))
    place = places(world)[0]
    place.write_text(json.dumps({**json.loads(place.read_text("utf-8")), "machine": "another"}), "utf-8")
    assert kept(world) == ()


def test_the_machine_is_not_named_by_its_own_id(world: World) -> None:
    keep(world, new(world, DOCUMENT, "580", "quick"))
    identity = Path("/etc/machine-id")
    assert (
        not identity.is_file()
        or not identity.read_text("utf-8").strip()
        or identity.read_text("utf-8").strip() not in places(world)[0].read_text("utf-8")
    )


def test_a_directory_that_others_may_write_is_not_used(world: World) -> None:
    keep(world, new(world, DOCUMENT, "580", "quick"))
    Path(root(world)).chmod(0o777)
    assert kept(world) == ()
    assert keep(world, new(world, DOCUMENT, "581", "quick")) is not None


def test_a_file_that_others_may_write_is_left_out(world: World) -> None:
    keep(world, new(world, DOCUMENT, "580", "quick"))
    places(world)[0].chmod(0o666)
    assert kept(world) == ()


def test_a_file_of_another_user_is_left_out(world: World) -> None:
    keep(world, new(world, DOCUMENT, "580", "quick"))
    assert kept(given_away(world, places(world)[0])) == ()


def test_a_full_disk_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: str, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(world.disk, "write", full)
    assert keep(world, replace(new(world, DOCUMENT, "580", "quick"))) is not None
