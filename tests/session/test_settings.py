"""What the window remembers: written in one step, forgotten where it cannot be read."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.session.settings import Settings, load_settings, save_settings
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.strangers import given_away

SOME = Settings("dark", "AdnQywADAAA=")


@pytest.fixture
def world(home: Path) -> World:
    return World(Surroundings(str(home), "you", os.geteuid()))


@pytest.fixture
def file(home: Path) -> Path:
    place = home / ".config" / "gpuassist" / "window.json"
    place.parent.mkdir(parents=True)
    return place


def test_what_is_saved_is_loaded(world: World) -> None:
    save_settings(world, SOME)
    assert load_settings(world) == SOME


def test_nothing_saved_gives_the_defaults(world: World) -> None:
    assert load_settings(world) == Settings()


def test_the_configuration_directory_is_the_one_of_xdg(home: Path, tmp_path: Path) -> None:
    place = World(Surroundings(str(home), "you", os.geteuid(), {"XDG_CONFIG_HOME": str(tmp_path)}))
    save_settings(place, SOME)
    assert (tmp_path / "gpuassist" / "window.json").is_file()


def test_saving_again_replaces_the_file(world: World, file: Path) -> None:
    save_settings(world, SOME)
    save_settings(world, replace(SOME, appearance="light"))
    assert [path.name for path in file.parent.iterdir()] == ["window.json"]
    assert load_settings(world).appearance == "light"


@pytest.mark.parametrize("content", [b"", b"no json", b"[1, 2]", b"\xff\xfe", b'"text"', b"[" * 5000])
def test_a_damaged_file_is_forgotten(world: World, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert load_settings(world) == Settings()


def test_values_of_the_wrong_kind_are_left_out(world: World, file: Path) -> None:
    file.write_text(json.dumps({"appearance": 7, "geometry": "abc", "from the future": True}))
    assert load_settings(world) == Settings(geometry="abc")


def test_a_huge_file_is_not_read_as_settings(world: World, file: Path) -> None:
    file.write_text(json.dumps({"appearance": "dark", "geometry": "x" * 100_000}))
    assert load_settings(world) == Settings()


def test_a_directory_in_the_way_is_no_error(world: World, file: Path) -> None:
    file.mkdir()
    save_settings(world, SOME)
    assert load_settings(world) == Settings()


def test_a_file_for_a_directory_is_no_error(world: World, home: Path) -> None:
    (home / ".config").write_text("")
    save_settings(world, SOME)
    assert load_settings(world) == Settings()


def test_left_over_half_written_file_is_replaced(world: World, file: Path) -> None:
    file.with_name("window.json.new").write_text("half")
    save_settings(world, SOME)
    assert load_settings(world) == SOME


@pytest.mark.parametrize("name", ["", "window.json"])
def test_a_file_that_others_could_write_is_forgotten(world: World, file: Path, name: str) -> None:
    save_settings(world, SOME)
    assert load_settings(world) == SOME
    (file.parent / name).chmod(0o777)
    assert load_settings(world) == Settings()
    before = file.read_bytes()
    if not name:
        save_settings(world, replace(SOME, appearance="light"))
        assert file.read_bytes() == before


def test_a_strangers_file_is_forgotten(world: World, file: Path) -> None:
    save_settings(world, SOME)
    assert load_settings(given_away(world, file)) == Settings()
