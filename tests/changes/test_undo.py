"""Taking changes back: byte for byte, in any order that is safe, and never over what somebody wrote since."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gpuassist.changes.apply import apply
from gpuassist.changes.journal import Journal
from gpuassist.changes.undo import NothingToUndoError, UnknownChangeError, history, plan_undo, undo
from gpuassist.model.plan import Result
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.edit import LineChanges, Lines, write
from gpuassist.system.world import World
from tests.changes.homes import FaultyDisk, PowerCut, change_of, world_at
from tests.shellfiles.written import NO_LINES, block_lines

ORIGINAL = b"# mine\nexport PATH=/usr/local/cuda-11.7/bin:$PATH\nalias x=y"


@pytest.fixture
def bashrc(home: Path) -> Path:
    path = home / ".bashrc"
    path.write_bytes(ORIGINAL)
    return path


@pytest.fixture
def world(home: Path) -> World:
    return world_at(home)


def _use(world: World, path: Path, change: str, version: str = "12.4", *, retire: bool = True) -> None:
    """What `use cuda` does to the file, without looking for toolkits."""
    before = path.read_bytes() if path.exists() else b""
    lines = tuple(Lines(one.first_byte, one.end_byte) for one in read(before, {}).statements if one.owner == "")
    after = write(before, block_lines(f"/usr/local/cuda-{version}"), LineChanges(lines if retire else ()), change)
    assert apply(world, change_of(path, after, change)).outcome.result is Result.MODIFIED


def _says(error: pytest.ExceptionInfo[RepairError]) -> str:
    return ENGLISH(error.value.reason)


def test_gives_the_bytes_back(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one")
    undone = undo(world, "")
    outcome, receipt = undone.outcome, undone.receipts[0]
    assert bashrc.read_bytes() == ORIGINAL
    assert outcome.result is Result.MODIFIED
    assert "restored exactly" in ENGLISH(outcome.text)
    assert receipt.undone_at


@pytest.mark.parametrize("content", [b"", b"\n", b"x\r\n", b"caf\xe9", b"\xef\xbb\xbfx\n", b"x\\", b"x" * (2 << 20)])
def test_gives_any_bytes_back(world: World, bashrc: Path, content: bytes) -> None:
    bashrc.write_bytes(content)
    _use(world, bashrc, "one")
    undo(world, "one")
    assert bashrc.read_bytes() == content


def test_removes_a_file_that_it_made(world: World, home: Path) -> None:
    path = home / ".bashrc"
    _use(world, path, "one")
    outcome = undo(world, "").outcome
    assert not path.exists()
    assert "removed again" in ENGLISH(outcome.text)


def test_keeps_a_file_that_it_made_and_others_filled(world: World, home: Path) -> None:
    path = home / ".bashrc"
    _use(world, path, "one")
    path.write_bytes(path.read_bytes() + b"alias x=y\n")
    undo(world, "")
    assert path.read_bytes() == b"alias x=y\n"


def test_the_newest_goes_first(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one", "11.8")
    between = bashrc.read_bytes()
    _use(world, bashrc, "two", "12.4")
    undo(world, "")
    assert bashrc.read_bytes() == between
    undo(world, "")
    assert bashrc.read_bytes() == ORIGINAL


def test_an_older_change_first_then_the_newer(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one", "11.8")
    _use(world, bashrc, "two", "12.4")
    undo(world, "one")
    assert b"cuda-11.7/bin:$PATH\n" in bashrc.read_bytes()
    assert b"CUDA_HOME=/usr/local/cuda-12.4\n" in bashrc.read_bytes()
    undo(world, "two")
    assert bashrc.read_bytes() == ORIGINAL


def test_an_undone_block_does_not_come_back(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one", "11.8", retire=False)
    _use(world, bashrc, "two", "12.4", retire=False)
    undo(world, "one")
    undo(world, "two")
    assert bashrc.read_bytes() == ORIGINAL


def test_an_earlier_block_comes_back_in_an_edited_file(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one", "11.8")
    _use(world, bashrc, "two", "12.4")
    bashrc.write_bytes(bashrc.read_bytes() + b"# mine too\n")
    undo(world, "two")
    assert b"CUDA_HOME=/usr/local/cuda-11.8\n" in bashrc.read_bytes()
    undo(world, "one")
    assert bashrc.read_bytes() == ORIGINAL + b"\n# mine too\n"


@pytest.mark.parametrize(
    ("above", "below"), [(b"", b"export EDITOR=vi\n"), (b"# new head\n", b""), (b"# new head\n", b"# new end, no newline")]
)
def test_keeps_what_was_edited_since(world: World, bashrc: Path, above: bytes, below: bytes) -> None:
    _use(world, bashrc, "one")
    bashrc.write_bytes(above + bashrc.read_bytes() + below)
    outcome = undo(world, "").outcome
    assert bashrc.read_bytes() == above + ORIGINAL + (b"\n" if below else b"") + below
    assert "was edited since" in ENGLISH(outcome.text)


def test_says_where_nothing_is_left(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one")
    bashrc.write_bytes(b"all new\n")
    undone = undo(world, "")
    outcome, receipt = undone.outcome, undone.receipts[0]
    assert outcome.result is Result.UNCHANGED
    assert bashrc.read_bytes() == b"all new\n"
    assert receipt.undone_at


def test_says_where_the_user_undid_it(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one")
    bashrc.write_bytes(ORIGINAL)
    assert undo(world, "").outcome.result is Result.UNCHANGED


def test_refuses_broken_markers_and_names_the_backup(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one")
    broken = bashrc.read_bytes().replace(b"# <<< gpuassist <<<\n", b"")
    bashrc.write_bytes(broken)
    with pytest.raises(RepairError) as raised:
        undo(world, "")
    assert "do not pair up" in _says(raised)
    backup = Path(Journal.of(world).backup("one"))
    assert str(backup) in _says(raised)
    assert backup.read_bytes() == ORIGINAL
    assert bashrc.read_bytes() == broken


def test_refuses_a_file_that_has_gone(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one")
    bashrc.unlink()
    with pytest.raises(RepairError) as raised:
        undo(world, "")
    assert "is not there any more" in _says(raised)


def test_a_made_file_that_has_gone_is_undone(world: World, home: Path) -> None:
    _use(world, home / ".bashrc", "one")
    (home / ".bashrc").unlink()
    assert undo(world, "").outcome.result is Result.UNCHANGED


def test_refuses_a_read_only_file(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one")
    bashrc.chmod(0o444)
    with pytest.raises(RepairError) as raised:
        undo(world, "")
    assert "read-only" in _says(raised)


def test_refuses_a_damaged_backup(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one")
    after = bashrc.read_bytes()
    Path(Journal.of(world).backup("one")).write_bytes(b"not what it was")
    with pytest.raises(RepairError) as raised:
        undo(world, "")
    assert "is not what was stored there" in _says(raised)
    assert bashrc.read_bytes() == after


def test_refuses_what_would_not_parse(world: World, bashrc: Path) -> None:
    bashrc.write_bytes(b"export PATH=/usr/local/cuda-11.7/bin:$PATH\n")
    _use(world, bashrc, "one")
    edited = bashrc.read_bytes().replace(b"export PATH=/usr/local/cuda-11.7/bin:$PATH", b"if true; then (")
    bashrc.write_bytes(edited)
    with pytest.raises(RepairError) as raised:
        undo(world, "")
    assert "would not be valid shell" in _says(raised)
    assert bashrc.read_bytes() == edited


def test_there_is_nothing_to_undo(world: World) -> None:
    with pytest.raises(NothingToUndoError):
        undo(world, "")


def test_twice_is_refused(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one")
    undo(world, "one")
    with pytest.raises(NothingToUndoError) as raised:
        undo(world, "one")
    assert "undone already" in _says(raised)


@pytest.mark.parametrize("change", ["nothing", "../one", "one.json"])
def test_an_unknown_id_is_refused(world: World, bashrc: Path, change: str) -> None:
    _use(world, bashrc, "one")
    with pytest.raises(UnknownChangeError):
        undo(world, change)


def test_lists_the_newest_first(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one", "11.8")
    _use(world, bashrc, "two", "12.4")
    undo(world, "")
    assert [(one.id, bool(one.undone_at)) for one in history(world)] == [("two", True), ("one", False)]


def test_looks_before_it_takes_back(world: World, bashrc: Path) -> None:
    _use(world, bashrc, "one")
    taking = plan_undo(world, "one")
    (file,) = taking.files
    assert file.edit is not None
    assert (file.edit.after, file.removes_file) == (ORIGINAL, False)
    assert bashrc.read_bytes() != ORIGINAL


STEPS = range(1, 15)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_a_power_cut_during_undo_loses_nothing(home: Path, bashrc: Path, step: int, after: bool) -> None:
    _use(world_at(home), bashrc, "one")
    changed = bashrc.read_bytes()
    try:
        undo(world_at(home, disk=FaultyDisk(fails_at=step, failure=PowerCut, half=True, after=after)), "")
    except PowerCut:
        pass
    assert bashrc.read_bytes() in (ORIGINAL, changed)
    _undo_whatever_is_left(world_at(home))
    assert bashrc.read_bytes() == ORIGINAL


def _undo_whatever_is_left(world: World) -> None:
    try:
        undo(world, "")
    except NothingToUndoError:
        pass


@pytest.mark.parametrize("step", STEPS)
def test_a_full_disk_during_undo_loses_nothing(home: Path, bashrc: Path, step: int) -> None:
    _use(world_at(home), bashrc, "one")
    changed = bashrc.read_bytes()
    try:
        undo(world_at(home, disk=FaultyDisk(fails_at=step, half=True)), "")
    except RepairError:
        assert bashrc.read_bytes() == changed
    else:
        assert bashrc.read_bytes() == ORIGINAL
    assert sorted(path.name for path in home.iterdir()) == [".bashrc", ".local"]


@pytest.mark.parametrize("step", range(1, 25))
def test_a_change_cut_short_can_be_undone(home: Path, bashrc: Path, step: int) -> None:
    before = ORIGINAL
    disk = FaultyDisk(fails_at=step, failure=PowerCut, after=True)
    try:
        apply(world_at(home, disk=disk), change_of(bashrc, write(before, block_lines("/c"), NO_LINES, "one"), "one"))
    except PowerCut:
        pass
    _undo_whatever_is_left(world_at(home))
    assert bashrc.read_bytes() == ORIGINAL


def test_another_user_takes_nothing_back(world: World, home: Path, bashrc: Path) -> None:
    _use(world, bashrc, "one")
    journal = Path(Journal.of(world).directory)
    (journal / "lock").unlink()
    with pytest.raises(RepairError) as raised:
        undo(world_at(home, uid=os.geteuid() + 1), "")
    assert "without sudo" in _says(raised)
    assert not (journal / "lock").exists()
