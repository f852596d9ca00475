"""The journal is this user's alone: what another could have put there changes no file, and what is left out is named."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from msgspec.structs import asdict, replace

from gpuassist.changes import record as recording
from gpuassist.changes.apply import apply
from gpuassist.changes.journal import Journal, JournalError, JournalState, digest
from gpuassist.changes.own_files import why_strange
from gpuassist.changes.settle import sweep
from gpuassist.changes.undo import history, left_out, plan_undo, undo
from gpuassist.model.plan import Receipt, Result
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.edit import write
from gpuassist.system.world import World
from tests.changes.homes import change_of, world_at
from tests.shellfiles.written import NO_LINES, block_lines
from tests.strangers import given_away

THEIRS = b"what somebody else wants there\n"
OURS = "20261121-090000-abcdef"
FORGED = "20990101-000000-aaaaaa"


@pytest.fixture
def world(home: Path) -> World:
    """A change of .bashrc is on record."""
    (home / ".bashrc").write_bytes(b"# mine\n")
    world = world_at(home)
    _use(world, home / ".bashrc", OURS)
    return world


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the user's outside his home."""
    path = tmp_path / "elsewhere" / "victim"
    path.parent.mkdir()
    path.write_bytes(b"kept\n")
    return path


def _use(world: World, path: Path, change: str) -> None:
    after = write(path.read_bytes(), block_lines("/usr/local/cuda-12.4"), NO_LINES, change)
    assert apply(world, change_of(path, after, change)).outcome.result is Result.MODIFIED


def _journal(world: World) -> Path:
    return Path(Journal.of(world).directory)


def _forge(
    world: World, victim: Path, *, change: str = FORGED, ending: str = ".json", said: Mapping[str, object] | None = None
) -> None:
    """A record that says that gpuassist made the victim what it is, with other bytes as those from before."""
    receipt = Receipt(
        change, "2099-01-01T00:00:00.000+00:00", "use cuda 12.4", str(victim), str(victim), True, digest(THEIRS),
        digest(victim.read_bytes()),
    )  # fmt: skip
    path = _journal(world) / f"{change}{ending}"
    path.write_text(json.dumps({"schema": 1, "state": "made", **asdict(receipt), **(said or {})}))
    path.chmod(0o600)
    backup = _journal(world) / f"{change}.before"
    backup.write_bytes(THEIRS)
    backup.chmod(0o600)


def _refusal(act: Callable[[], object]) -> str:
    with pytest.raises(RepairError) as error:
        act()
    return ENGLISH(error.value.reason)


def test_a_record_of_a_file_elsewhere_is_not_followed(world: World, victim: Path) -> None:
    _forge(world, victim)
    assert "no file of your configuration" in _refusal(lambda: undo(world, FORGED))
    assert plan_undo(world, "").receipt.id == OURS  # nor is it the newest
    assert [change.id for change in history(world)] == [OURS]
    assert [one.receipt.id for one in recording.records(world)] == [OURS]
    (unused,) = left_out(world)
    assert f"{FORGED} is not used" in ENGLISH(unused)
    assert victim.read_bytes() == b"kept\n"


@pytest.mark.parametrize("state", ["made", "prepared"])
def test_an_interrupted_change_elsewhere_is_not_settled(world: World, victim: Path, state: str) -> None:
    _forge(world, victim, ending=".prepared", said={"state": state})
    _forge(world, victim, change=f"{FORGED}-2", ending=".prepared", said={"state": state, "group": FORGED})
    with Journal.of(world).lock():
        assert sweep(world, Journal.of(world)) == ()
    assert victim.read_bytes() == b"kept\n"


@pytest.mark.parametrize(
    "said",
    [
        {"id": "../../../x"},
        {"id": OURS},
        {"group": "../x"},
        {"group": "\x1b[2J"},
        {"made_directories": ["/usr"]},
        {"target": "/home/../etc/x"},
        {"target": "relative"},
    ],
)
def test_a_record_that_leads_elsewhere_is_left_out(world: World, home: Path, said: dict[str, object]) -> None:
    _forge(world, home / ".bashrc", said=said)
    before = (home / ".bashrc").read_bytes()
    assert [change.id for change in history(world)] == [OURS]
    assert "is not used" in _refusal(lambda: undo(world, FORGED))
    assert (home / ".bashrc").read_bytes() == before


def test_a_record_with_a_path_that_none_can_be_is_no_record(world: World, home: Path) -> None:
    _forge(world, home / ".bashrc", said={"path": "a\0b"})
    assert "there is no change" in _refusal(lambda: undo(world, FORGED))
    assert [change.id for change in history(world)] == [OURS]


@pytest.mark.parametrize("change", ["../x", "a/b", "\x1b[31mx", "x\n", "." * 3, "x" * 200])
def test_an_id_that_is_none_is_said_safely(world: World, change: str) -> None:
    said = _refusal(lambda: undo(world, change))
    assert "there is no change" in said
    assert said.isprintable()


def test_a_symlink_in_the_home_leads_to_nothing_elsewhere(world: World, home: Path, victim: Path) -> None:
    (home / "link").symlink_to(victim)
    _forge(world, victim, said={"target": str(home / "link"), "path": str(home / ".bashrc")})
    assert "no file of your configuration" in _refusal(lambda: undo(world, FORGED))
    assert victim.read_bytes() == b"kept\n"


@pytest.mark.parametrize("spoil", [lambda path: path.chmod(0o666), lambda path: path.chmod(0o606)])
@pytest.mark.parametrize("ending", [".json", ".before"])
def test_a_record_or_backup_that_others_could_write_is_not_used(
    world: World, home: Path, ending: str, spoil: Callable[[Path], None]
) -> None:
    (home / ".bashrc").write_bytes((home / ".bashrc").read_bytes() + b"# more\n")
    before = (home / ".bashrc").read_bytes()
    spoil(_journal(world) / f"{OURS}{ending}")
    _refusal(lambda: undo(world, OURS))
    assert (home / ".bashrc").read_bytes() == before


def test_a_record_of_another_users_is_not_used(world: World, home: Path) -> None:
    record = _journal(world) / f"{OURS}.json"
    world = given_away(world, record)
    assert "belongs to another user" in _refusal(lambda: undo(world, OURS))
    assert b"cuda-12.4" in (home / ".bashrc").read_bytes()


@pytest.mark.parametrize("ending", [".json", ".before"])
def test_a_record_that_is_a_symlink_is_not_used(world: World, home: Path, tmp_path: Path, ending: str) -> None:
    record = _journal(world) / f"{OURS}{ending}"
    record.rename(tmp_path / "record")
    record.symlink_to(tmp_path / "record")
    _refusal(lambda: undo(world, OURS))
    assert b"cuda-12.4" in (home / ".bashrc").read_bytes()


def _open(world: World) -> World:
    _journal(world).chmod(0o777)
    return world


def _stranger(world: World) -> World:
    return given_away(world, _journal(world))


def _open_above(world: World) -> World:
    _journal(world).parents[1].chmod(0o777)
    return world


@pytest.mark.parametrize("spoil", [_open, _stranger, _open_above])
def test_a_journal_that_could_be_anothers_is_not_touched(
    world: World, home: Path, victim: Path, spoil: Callable[[World], World]
) -> None:
    _forge(world, victim)
    before = {path: path.read_bytes() for path in _journal(world).iterdir()}
    world, bashrc = spoil(world), (home / ".bashrc").read_bytes()
    for act in (
        lambda: undo(world, ""),
        lambda: undo(world, FORGED),
        lambda: history(world),
        lambda: left_out(world),
        lambda: recording.records(world),
        lambda: Journal.of(world).lock(),
    ):
        with pytest.raises(JournalError):
            act()
    change = change_of(home / ".bashrc", b"new\n", "two")
    assert apply(world, change).outcome.result is Result.REFUSED
    assert {path: path.read_bytes() for path in _journal(world).iterdir()} == before
    assert ((home / ".bashrc").read_bytes(), victim.read_bytes()) == (bashrc, b"kept\n")


def test_a_journal_made_ones_own_again_is_used(world: World, home: Path) -> None:
    _open(world)
    assert f"`chmod go-w {_journal(world)}`" in _refusal(lambda: undo(world, ""))
    _journal(world).chmod(0o755)
    undo(world, "")
    assert (home / ".bashrc").read_bytes() == b"# mine\n"


def test_directories_are_private_whatever_the_umask_says(home: Path) -> None:
    (home / ".bashrc").write_bytes(b"# mine\n")
    before = os.umask(0)
    try:
        _use(world_at(home), home / ".bashrc", OURS)
    finally:
        os.umask(before)
    made = _journal(world_at(home))
    assert {stat.S_IMODE(place.stat().st_mode) for place in (made, *list(made.parents)[:3])} == {0o700}


@pytest.mark.parametrize("linked", [True, False])
def test_a_file_of_ones_own_elsewhere_is_taken_back(home: Path, tmp_path: Path, *, linked: bool) -> None:
    """As a checkout of dotfiles beside the home is, and what `--rc` names."""
    (tmp_path / "dotfiles").mkdir()
    file = tmp_path / "dotfiles" / "bashrc"
    file.write_bytes(b"# mine\n")
    path = home / ".bashrc" if linked else file
    if linked:
        path.symlink_to(file)
    _use(world_at(home), path, OURS)
    undo(world_at(home), "")
    assert file.read_bytes() == b"# mine\n"
    assert left_out(world_at(home)) == ()


def test_a_change_elsewhere_that_was_interrupted_is_settled(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "rc"
    file.write_bytes(b"# mine\n")
    world = world_at(home)
    _use(world, file, OURS)
    file.write_bytes(b"# mine\n")  # as if it had never come to the file
    (_journal(world) / f"{OURS}.json").rename(_journal(world) / f"{OURS}.prepared")
    with Journal.of(world).lock():
        sweep(world, Journal.of(world))
    assert Journal.of(world).unsettled() == ()


PREFIX = Receipt(OURS, "", "", "", "", True, "", "x")


@pytest.mark.parametrize(
    ("path", "beside"),
    [
        ("project/.envrc", ""),
        ("project/.env", ""),
        ("kernels/one/kernel.json", ""),
        ("env/bin/activate", "env/pyvenv.cfg"),
        ("env/bin/activate.fish", "env/pyvenv.cfg"),
        ("env/etc/conda/activate.d/gpuassist.sh", "env/conda-meta/history"),
        ("env/etc/conda/deactivate.d/gpuassist.fish", "env/conda-meta/history"),
    ],
)
def test_the_files_of_scopes_are_ones_own_wherever_they_lie(home: Path, tmp_path: Path, path: str, beside: str) -> None:
    for name in (path, beside or path):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    receipt = replace(PREFIX, path=str(tmp_path / path), target=str(tmp_path / path))
    assert why_strange(world_at(home), receipt) is None
    if beside:
        os.unlink(tmp_path / beside)
        os.rmdir((tmp_path / beside).parent) if beside.endswith("history") else None
        assert why_strange(world_at(home), receipt) is not None


@pytest.mark.parametrize(
    ("path", "beside", "own"),
    [
        ("project/requirements.txt", "", True),
        ("project/src/train.py", "project/pyproject.toml", True),
        ("lib/python3/site.py", "", False),
        ("project/notes.md", "project/pyproject.toml", False),
    ],
)
def test_the_files_of_a_project_are_ones_own_wherever_they_lie(
    home: Path, tmp_path: Path, path: str, beside: str, *, own: bool
) -> None:
    for name in (path, beside or path):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    receipt = replace(PREFIX, path=str(tmp_path / path), target=str(tmp_path / path), dialect="text")
    assert (why_strange(world_at(home), receipt) is None) is own
    assert why_strange(world_at(home), replace(receipt, dialect="bash")) is not None


@pytest.mark.parametrize("name", ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "ZDOTDIR", "JUPYTER_DATA_DIR"])
def test_a_configuration_directory_elsewhere_is_ones_own(home: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("x")
    receipt = replace(PREFIX, path=str(tmp_path / "file"), target=str(tmp_path / "file"))
    world = world_at(home)
    there = replace(world, surroundings=replace(world.surroundings, variables={name: str(tmp_path)}))
    assert why_strange(world, receipt) is not None
    assert why_strange(there, receipt) is None


def test_what_was_taken_back_elsewhere_is_still_listed(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "rc"
    file.write_bytes(b"# mine\n")
    world = world_at(home)
    _use(world, file, OURS)
    undo(world, "")
    file.write_bytes(b"# something else\n")
    (one,) = Journal.of(world).entries()
    assert one.state is JournalState.UNDONE
