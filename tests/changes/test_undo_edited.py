"""Undo where the file was edited since: our marks first, then a merge, else a refusal that shows all three texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.journal import Journal
from gpuassist.changes.record import ChangeStatus, records
from gpuassist.changes.restore import ConflictError
from gpuassist.changes.undo import undo
from gpuassist.model.plan import Result
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.edit import write
from gpuassist.system.world import World
from tests.changes.homes import edit_of, world_at
from tests.fakes import ScriptedProcesses
from tests.shellfiles.written import NO_LINES, block_lines

OLD = b"SETTING=1\n"
NEW = b"SETTING=1\nCUDA_HOME=/usr/local/cuda-12.4\n"


@pytest.fixture
def world(home: Path) -> World:
    return world_at(home, processes=ScriptedProcesses())


def _make(world: World, path: Path, after: bytes, change: str = "one", dialect: str = "env") -> None:
    applied = apply(world, FileChange(change, "use cuda 12.4", (edit_of(path, after, dialect=dialect),)))
    assert applied.outcome.result is Result.MODIFIED


def _env(home: Path, before: bytes = OLD) -> Path:
    (home / ".env").write_bytes(before)
    return home / ".env"


@pytest.mark.parametrize(
    ("now", "wanted"),
    [
        (NEW + b"MINE=2\n", OLD + b"MINE=2\n"),
        (b"# head\n" + NEW, b"# head\n" + OLD),
        (NEW.replace(b"SETTING=1\n", b"\nSETTING=1\n# mine\n"), b"\nSETTING=1\n# mine\n"),
        (NEW + b"no end", OLD + b"no end"),
    ],
)
def test_merges_where_there_are_no_marks(world: World, home: Path, now: bytes, wanted: bytes) -> None:
    path = _env(home)
    _make(world, path, NEW)
    path.write_bytes(now)
    outcome = undo(world, "").outcome
    assert path.read_bytes() == wanted
    assert "was edited since" in ENGLISH(outcome.text)


def test_what_was_taken_out_by_hand_is_nothing_left(world: World, home: Path) -> None:
    path = _env(home)
    _make(world, path, NEW)
    path.write_bytes(OLD + b"MINE=2\n")
    outcome = undo(world, "").outcome
    assert outcome.result is Result.UNCHANGED
    assert path.read_bytes() == OLD + b"MINE=2\n"


def test_what_stood_there_is_kept_in_the_journal(world: World, home: Path) -> None:
    path = _env(home)
    _make(world, path, NEW)
    path.write_bytes(NEW + b"MINE=2\n")
    undo(world, "")
    assert Path(Journal.of(world).directory, "one.edited").read_bytes() == NEW + b"MINE=2\n"


def test_the_same_lines_are_a_conflict_that_shows_all_three(world: World, home: Path) -> None:
    path = _env(home)
    _make(world, path, b"SETTING=gpu\n")
    path.write_bytes(b"# mine\nSETTING=mine\n")
    with pytest.raises(ConflictError) as raised:
        undo(world, "")
    three = raised.value.three_way
    assert (three.written, three.now, three.wanted) == (b"SETTING=gpu\n", b"# mine\nSETTING=mine\n", OLD)
    assert [(one.line, one.base, one.theirs, one.ours) for one in three.meetings] == [
        (1, b"SETTING=gpu\n", b"# mine\nSETTING=mine\n", OLD)
    ]
    assert Journal.of(world).backup("one") in ENGLISH(raised.value.reason)
    assert path.read_bytes() == b"# mine\nSETTING=mine\n"


@pytest.mark.parametrize("first", ["one", "two"])
def test_two_changes_of_one_file_in_any_order(world: World, home: Path, first: str) -> None:
    path = _env(home)
    _make(world, path, b"ONE=1\n" + OLD)
    _make(world, path, b"ONE=1\n" + OLD + b"TWO=2\n", "two")
    undo(world, first)
    assert path.read_bytes() == (OLD + b"TWO=2\n" if first == "one" else b"ONE=1\n" + OLD)
    undo(world, "")
    assert path.read_bytes() == OLD


def test_json_stays_json(world: World, home: Path) -> None:
    path = home / "kernel.json"
    document = {"argv": ["python"], "env": {}}
    path.write_text(json.dumps(document, indent=1))
    _make(world, path, json.dumps({**document, "env": {"CUDA_HOME": "/c"}}, indent=1).encode(), dialect="json")
    path.write_text(path.read_text().replace('"python"', '"python3"'))
    undo(world, "")
    assert json.loads(path.read_bytes()) == {"argv": ["python3"], "env": {}}


def test_json_that_would_break_is_a_conflict(world: World, home: Path) -> None:
    path = home / "settings.json"
    path.write_bytes(b'{\n"a": 1\n}\n')
    _make(world, path, b'{\n"a": 1,\n"ours": 2\n}\n', dialect="json")
    path.write_bytes(b'{\n"a": 1,\n"ours": 2,\n"mine": 3\n}\n')
    with pytest.raises(ConflictError):
        undo(world, "")
    assert json.loads(path.read_bytes())["mine"] == 3


def _bashrc(world: World, home: Path, before: bytes = b"# mine\n") -> Path:
    path = home / ".bashrc"
    path.write_bytes(before)
    _make(world, path, write(before, block_lines("/usr/local/cuda-12.4"), NO_LINES, "one"), dialect="bash")
    return path


def test_a_line_of_ones_own_in_our_block_is_never_lost(world: World, home: Path) -> None:
    path = _bashrc(world, home)
    now = path.read_bytes().replace(b"# <<< gpuassist", b"export MINE=1\n# <<< gpuassist")
    path.write_bytes(now)
    with pytest.raises(ConflictError):
        undo(world, "")
    assert path.read_bytes() == now
    path.write_bytes(now.replace(b"export MINE=1\n", b"") + b"export MINE=1\n")
    undo(world, "")
    assert path.read_bytes() == b"# mine\nexport MINE=1\n"


def test_lines_taken_out_of_our_block_do_not_matter(world: World, home: Path) -> None:
    path = _bashrc(world, home)
    path.write_bytes(path.read_bytes().replace(b"export CUDA_HOME='/usr/local/cuda-12.4'\n", b""))
    undo(world, "")
    assert path.read_bytes() == b"# mine\n"


def test_a_block_with_windows_line_ends_is_taken_out(world: World, home: Path) -> None:
    path = _bashrc(world, home)
    body = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join([body[0] + b"\r", *body[1:2], *(line + b"\r" for line in body[2:-2]), *body[-2:]]))
    undo(world, "")
    assert path.read_bytes() == b"# mine\r\n"


def test_a_file_of_ours_that_is_empty_at_last_goes(world: World, home: Path) -> None:
    path = home / ".config/fish/conf.d/gpuassist.fish"
    block = block_lines("/usr/local/cuda-12.4")
    _make(world, path, write(b"", block, NO_LINES, "one"))
    _make(world, path, write(path.read_bytes(), block_lines("/usr/local/cuda-12.8"), NO_LINES, "two"), "two")
    undo(world, "one")
    assert path.exists()
    undo(world, "two")
    assert not (home / ".config").exists()


def test_an_empty_file_of_ones_own_stays(world: World, home: Path) -> None:
    path = _bashrc(world, home, b"")
    path.write_bytes(b"\n" + path.read_bytes())
    undo(world, "")
    assert path.exists()


def test_the_list_says_what_became_of_each(world: World, home: Path) -> None:
    for name in ("kept", "edited", "removed", "reverted", "undone"):
        (home / name).write_bytes(OLD)
        _make(world, home / name, NEW, name)
    (home / "edited").write_bytes(NEW + b"MINE=2\n")
    (home / "removed").unlink()
    (home / "reverted").write_bytes(OLD + b"MINE=2\n")
    undo(world, "undone")
    assert {one.receipt.id: (one.files[0].standing, one.files[0].edited) for one in records(world)} == {
        "kept": (ChangeStatus.STANDS, False),
        "edited": (ChangeStatus.STANDS, True),
        "removed": (ChangeStatus.MISSING, False),
        "reverted": (ChangeStatus.NOTHING_LEFT, True),
        "undone": (ChangeStatus.UNDONE, False),
    }


def test_what_gpuassist_itself_left_is_not_called_edited(world: World, home: Path) -> None:
    path = _bashrc(world, home)
    _make(world, path, write(path.read_bytes(), block_lines("/usr/local/cuda-12.8"), NO_LINES, "two"), "two", "bash")
    undo(world, "one")
    assert [(one.receipt.id, one.files[0].edited) for one in records(world)] == [("two", False), ("one", False)]


def test_an_unreadable_file_is_said_to_be(world: World, home: Path) -> None:
    path = _env(home)
    _make(world, path, NEW)
    path.unlink()
    path.mkdir()
    assert records(world)[0].files[0].standing is ChangeStatus.UNREADABLE


ROWS = st.lists(st.sampled_from([b"A=1\n", b"B=2\n", b"\n", b"# c\n"]), max_size=6).map(b"".join)


@given(ROWS, ROWS, ROWS)
def test_nothing_that_was_added_around_it_is_lost(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, above: bytes, below: bytes
) -> None:
    home = tmp_path_factory.mktemp("home")
    world = world_at(home, processes=ScriptedProcesses())
    path = _env(home, before)
    _make(world, path, before + b"CUDA_HOME=/c\n")
    path.write_bytes(above + path.read_bytes() + below)
    undo(world, "")
    assert path.read_bytes() == above + before + below
