"""Our block taken out whole where somebody edited it: what its first line promises, and nothing of the rest is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.journal import Journal
from gpuassist.changes.restore import ConflictError
from gpuassist.changes.undo import undo
from gpuassist.model.plan import Result
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import toolkit_section
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.edit import LineChanges, Lines, Replacement, write
from gpuassist.system.world import World
from tests.changes.homes import edit_of, world_at
from tests.fakes import ScriptedProcesses

BEFORE = b"# mine\nexport LIBRARY_PATH=/usr/local/cuda-11.7/lib64\nV=11.7\nalias x=y\n"
RETIRED = b"export LIBRARY_PATH=/usr/local/cuda-11.7/lib64\n"
COMMENTED = (Lines(BEFORE.index(RETIRED), BEFORE.index(RETIRED) + len(RETIRED), nested=False),)
REPLACED = (Replacement(BEFORE.index(b"11.7\nalias"), BEFORE.index(b"\nalias"), b"12.4"),)
SECTION = toolkit_section("/usr/local/cuda-12.4", Dialect.BASH)
IN_BLOCK = (
    (b"cuda-12.4\n", b"cuda-12.9\n"),
    (b"# <<< gpuassist", b"export MINE=1\n# <<< gpuassist"),
    (b'export PATH="$CUDA_HOME/bin:$PATH"\n', b'export PATH="$CUDA_HOME/bin:/mine:$PATH"\nexport MORE=1\n'),
)


@pytest.fixture
def world(home: Path) -> World:
    return world_at(home, processes=ScriptedProcesses())


def _changed(world: World, home: Path, lines: LineChanges) -> Path:
    path = home / ".bashrc"
    path.write_bytes(BEFORE)
    after = write(BEFORE, SECTION, lines, "one")
    assert apply(world, FileChange("one", "use cuda 12.4", (edit_of(path, after),))).outcome.result is Result.MODIFIED
    return path


@pytest.mark.parametrize(
    "lines", [LineChanges(), LineChanges(COMMENTED), LineChanges((), REPLACED), LineChanges(COMMENTED, REPLACED)]
)
@pytest.mark.parametrize(("written", "edited"), IN_BLOCK)
def test_the_block_goes_with_its_edits_and_all_else_comes_back(
    world: World, home: Path, lines: LineChanges, written: bytes, edited: bytes
) -> None:
    path = _changed(world, home, lines)
    now = b"# head\n" + path.read_bytes().replace(written, edited) + b"alias more=1\n"
    path.write_bytes(now)
    with pytest.raises(ConflictError) as raised:
        undo(world, "")
    assert (raised.value.in_block, raised.value.change, path.read_bytes()) == (True, "one", now)
    outcome = undo(world, "one", take_out=True).outcome
    assert "they were removed together with what was edited there" in ENGLISH(outcome.text)
    assert path.read_bytes() == b"# head\n" + BEFORE + b"alias more=1\n"
    assert Path(Journal.of(world).directory, "one.edited").read_bytes() == now


def test_lines_that_meet_elsewhere_stay_a_conflict(world: World, home: Path) -> None:
    path = _changed(world, home, LineChanges((), REPLACED))
    now = path.read_bytes().replace(b"V=12.4", b"V=12.6").replace(b"# <<< gpuassist", b"export MINE=1\n# <<< gpuassist")
    path.write_bytes(now)
    for take_out in (False, True):
        with pytest.raises(ConflictError) as raised:
            undo(world, "", take_out=take_out)
        assert not raised.value.in_block
    assert path.read_bytes() == now


def test_a_block_without_its_first_line_is_not_taken_out(world: World, home: Path) -> None:
    path = _changed(world, home, LineChanges((), REPLACED))
    rows = path.read_bytes().split(b"\n")
    path.write_bytes(
        b"\n".join(row for row in rows if b"# >>> gpuassist" not in row and b"# <<< gpuassist" not in row).replace(b"/bin:", b"/x:")
    )
    with pytest.raises(ConflictError) as raised:
        undo(world, "", take_out=True)
    assert not raised.value.in_block


def test_without_a_conflict_it_is_the_undo_that_it_always_was(world: World, home: Path) -> None:
    path = _changed(world, home, LineChanges(COMMENTED, REPLACED))
    undo(world, "", take_out=True)
    assert path.read_bytes() == BEFORE
