"""What is said of a scope before and after something is chosen there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.choice import Devices
from gpuassist.changes.scope_find import Scope, strangers_prefix
from gpuassist.changes.scope_plan import AFTERWARDS, BY_HAND, notes_on_devices, notes_on_lines, notes_on_scope
from gpuassist.changes.scopes.kinds import PROGRAMS, SEEN, TITLES, Kind
from gpuassist.changes.scopes.values import Wanted
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import find, render
from tests.fakes import put, world_under

TOOLKIT = Wanted(toolkit="/usr/local/cuda-12.4")
LIBRARIES = Wanted(toolkit="/usr/local/cuda-12.4", libraries="/usr/local/cuda-12.4/lib64")
GPUS = Wanted(devices=("1",))


def scope(kind: Kind, place: str = "/opt/envs/ml") -> Scope:
    return Scope(kind, f"{kind.value}:ml", place)


def notes(kind: Kind, wanted: Wanted) -> str:
    return "\n".join(ENGLISH(one) for one in notes_on_scope(scope(kind), wanted))


def on_lines(content: bytes, wanted: Wanted) -> list[str]:
    return [ENGLISH(one) for one in notes_on_lines("~/x", content, wanted)]


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_is_told_whole(kind: Kind) -> None:
    assert ENGLISH(BY_HAND[kind]).endswith((":", "environment.d:"))
    assert ENGLISH(AFTERWARDS[kind](scope(kind)))
    assert ENGLISH(TITLES[kind])
    assert set(SEEN[kind]) == set(PROGRAMS)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Kind.SHELL, "Open a new terminal."),
        (Kind.CONDA, "`conda activate ml`"),
        (Kind.VENV, "`source /opt/envs/ml/bin/activate`"),
        (Kind.ENVRC, "`direnv allow /opt/envs/ml`"),
        (Kind.DOTENV, "Programs that read /opt/envs/ml/.env"),
        (Kind.JUPYTER, "shut it down and start it"),
        (Kind.DESKTOP, "Log out and in again"),
    ],
)
def test_what_is_left_to_do_names_the_place(kind: Kind, words: str) -> None:
    assert words in ENGLISH(AFTERWARDS[kind](scope(kind)))


@pytest.mark.parametrize(
    ("kind", "wanted", "words"),
    [
        (Kind.CONDA, TOOLKIT, "straight from ml keeps the toolkit's directory"),
        (Kind.VENV, GPUS, "`deactivate` puts everything back"),
        (Kind.VENV, TOOLKIT, "making the environment anew"),
        (Kind.DOTENV, TOOLKIT, "cannot put a directory in front of PATH"),
        (Kind.DOTENV, LIBRARIES, "LD_LIBRARY_PATH is a list like PATH"),
        (Kind.JUPYTER, TOOLKIT, "${PATH} in kernel.json"),
    ],
)
def test_what_a_scope_cannot_do_is_told(kind: Kind, wanted: Wanted, words: str) -> None:
    assert words in notes(kind, wanted)


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        (Kind.CONDA, GPUS),
        (Kind.DOTENV, GPUS),
        (Kind.JUPYTER, GPUS),
        (Kind.SHELL, LIBRARIES),
        (Kind.ENVRC, LIBRARIES),
        (Kind.DESKTOP, LIBRARIES),
    ],
)
def test_nothing_is_said_that_does_not_matter(kind: Kind, wanted: Wanted) -> None:
    assert notes(kind, wanted) == ""


def test_list_of_libraries_is_no_matter_where_none_is_wanted() -> None:
    assert "LD_LIBRARY_PATH" not in notes(Kind.DOTENV, TOOLKIT)


def test_what_is_hidden_is_named() -> None:
    devices = Devices(("1",), ("RTX 4090", "RTX 3090"), (text("a doubt"),))
    assert [ENGLISH(one) for one in notes_on_devices(devices)] == [
        "programs find no other GPU there: RTX 4090; RTX 3090 is hidden from them",
        "a doubt",
    ]


@pytest.mark.parametrize("devices", [Devices(()), Devices((), ("RTX 4090",)), Devices(("0",))])
def test_choice_that_hides_nothing_has_nothing_to_say(devices: Devices) -> None:
    assert list(notes_on_devices(devices)) == []


@pytest.mark.parametrize(
    ("content", "wanted", "line", "name"),
    [
        (b"export CUDA_HOME=/a\n", TOOLKIT, 1, "CUDA_HOME"),
        (b"\n\nCUDA_HOME=/a\n", TOOLKIT, 3, "CUDA_HOME"),
        (b"set -gx CUDA_HOME /a\n", TOOLKIT, 1, "CUDA_HOME"),
        (b"  export   CUDA_VISIBLE_DEVICES=0", GPUS, 1, "CUDA_VISIBLE_DEVICES"),
        (b"CUDA_DEVICE_ORDER=PCI_BUS_ID\r\n", GPUS, 1, "CUDA_DEVICE_ORDER"),
    ],
)
def test_line_of_ones_own_is_named(content: bytes, wanted: Wanted, line: int, name: str) -> None:
    (note,) = on_lines(content, wanted)
    assert note.startswith(f"line {line} of ~/x sets {name} too")


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (b"export CUDA_HOME=/a\n", GPUS),
        (b"CUDA_VISIBLE_DEVICES=0\n", TOOLKIT),
        (b"# CUDA_HOME=/a\n", TOOLKIT),
        (b"echo CUDA_HOME=/a\n", TOOLKIT),
        (b"CUDA_HOMES=/a\n", TOOLKIT),
        (b"MY_CUDA_HOME=/a\n", TOOLKIT),
        (b"", TOOLKIT),
        (b"\xff\xfe\n", TOOLKIT),
    ],
)
def test_line_that_sets_nothing_of_it_is_left(content: bytes, wanted: Wanted) -> None:
    assert on_lines(content, wanted) == []


def test_lines_of_the_block_are_ours() -> None:
    content = b"CUDA_HOME=/mine\n" + render("20261121-090000-abcd", 0, (b"export CUDA_HOME=/ours",))
    assert find(content) is not None
    (note,) = on_lines(content, TOOLKIT)
    assert note.startswith("line 1 of ~/x")


def test_block_without_its_end_is_left_to_who_reports_it() -> None:
    assert on_lines(b"# >>> gpuassist version=1 change=x added= >>>\nCUDA_HOME=/a\n", TOOLKIT) == []


@pytest.mark.parametrize("kind", [Kind.CONDA, Kind.VENV])
def test_environment_of_another_user_is_refused(tmp_path: Path, kind: Kind) -> None:
    put(tmp_path, "/opt/envs/ml/pyvenv.cfg")
    world = world_under(tmp_path)
    other = replace(world, surroundings=replace(world.surroundings, uid=os.getuid() + 1))
    mine = replace(world, surroundings=replace(world.surroundings, uid=os.getuid()))
    refused = strangers_prefix(other, scope(kind))
    assert refused is not None
    assert f"(uid {os.getuid()}; you are uid {os.getuid() + 1})" in ENGLISH(refused)
    assert strangers_prefix(mine, scope(kind)) is None


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in {Kind.CONDA, Kind.VENV}])
def test_owner_matters_for_environments_alone(tmp_path: Path, kind: Kind) -> None:
    assert strangers_prefix(world_under(tmp_path), scope(kind, "/")) is None


def test_environment_that_is_gone_belongs_to_nobody(tmp_path: Path) -> None:
    assert strangers_prefix(world_under(tmp_path), scope(Kind.VENV)) is None
