"""Changes of several files: all of them or none, whatever fails and wherever the power goes; new files bring their directories."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.journal import Journal, JournalState
from gpuassist.changes.plan import ChangeOutcome
from gpuassist.changes.settle import sweep
from gpuassist.changes.undo import undo
from gpuassist.model.plan import FileEdit, Result
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.disk import Disk
from gpuassist.system.world import World
from tests.changes.homes import FaultyDisk, PowerCut, edit_of, world_at
from tests.fakes import ScriptedProcesses

OLD, NEW = b"export A=1\n", b"export A=1\nexport B=2\n"
CONF = ".config/environment.d/50-gpuassist.conf"
NAMES = (".bashrc", CONF, ".zshrc")
STEPS = range(1, 70)


@pytest.fixture
def files(home: Path) -> Path:
    for name in (".bashrc", ".zshrc"):
        (home / name).write_bytes(OLD)
    return home


def _world(home: Path, disk: Disk | None = None) -> World:
    return world_at(home, disk=disk, processes=ScriptedProcesses())


def _change(home: Path, change: str = "one", names: tuple[str, ...] = NAMES) -> FileChange:
    return FileChange(change, "use cuda 12.4", tuple(edit_of(home / name, NEW + f"# {change}\n".encode()) for name in names))


def _apply(home: Path, disk: Disk | None = None, change: str = "one") -> ChangeOutcome:
    return apply(_world(home, disk), _change(home, change))


def _contents(home: Path) -> list[bytes]:
    return [(home / name).read_bytes() if (home / name).exists() else b"" for name in NAMES]


BEFORE, AFTER = [OLD, b"", OLD], [NEW + b"# one\n"] * 3


def _left_over(home: Path) -> list[str]:
    found = [str(path.relative_to(home)) for path in home.rglob("*") if "gpuassist-one" in path.name]
    return found + [path.name for path in home.rglob("*") if path.suffix in {".prepared", ".preparing", ".undoing", ".new"}]


def test_changes_all_of_them(files: Path) -> None:
    applied = _apply(files)
    assert applied.outcome.result is Result.MODIFIED
    assert _contents(files) == AFTER
    assert all(name in ENGLISH(applied.outcome.text) for name in NAMES)


def test_each_file_has_a_receipt_of_the_group(files: Path) -> None:
    receipts = _apply(files).receipts
    assert [(one.id, one.group, one.change) for one in receipts] == [
        ("one", "one", "one"),
        ("one-2", "one", "one"),
        ("one-3", "one", "one"),
    ]
    assert [one.existed for one in receipts] == [True, False, True]


def test_makes_the_directories_that_a_new_file_needs(files: Path) -> None:
    (files / ".config").mkdir(mode=0o700)
    receipts = _apply(files).receipts
    assert receipts[1].made_directories == (f"{files}/.config/environment.d",)
    assert stat.S_IMODE((files / ".config/environment.d").stat().st_mode) == 0o700
    assert stat.S_IMODE((files / CONF).stat().st_mode) == 0o644


@pytest.mark.parametrize(("parent", "made"), [(0o755, 0o755), (0o700, 0o700), (0o775, 0o775), (0o2770, 0o770), (0o777, 0o775)])
def test_a_new_directory_is_as_open_as_its_parent(files: Path, parent: int, made: int) -> None:
    (files / ".config").mkdir()
    (files / ".config").chmod(parent)
    _apply(files)
    assert stat.S_IMODE((files / CONF).parent.stat().st_mode) & 0o777 == made & 0o777


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o640])
def test_a_new_file_has_the_mode_that_was_planned(home: Path, mode: int) -> None:
    edit = edit_of(home / "etc/conda/activate.d/gpuassist.sh", NEW, mode=mode)
    apply(_world(home), FileChange("one", "x", (edit,)))
    assert stat.S_IMODE((home / "etc/conda/activate.d/gpuassist.sh").stat().st_mode) == mode


@pytest.mark.parametrize("name", NAMES)
def test_one_that_changed_since_stops_all(files: Path, name: str) -> None:
    change = _change(files)
    (files / name).parent.mkdir(parents=True, exist_ok=True)
    (files / name).write_bytes(b"somebody else\n")
    before = _contents(files)
    applied = apply(_world(files), change)
    assert applied.outcome.result is Result.REFUSED
    assert name in ENGLISH(applied.outcome.text)
    assert _contents(files) == before


@pytest.mark.parametrize("name", NAMES)
def test_one_that_may_not_be_written_stops_all(files: Path, name: str) -> None:
    change = _change(files)
    (files / name).parent.mkdir(parents=True, exist_ok=True)
    (files / name).unlink(missing_ok=True)
    (files / name).mkdir()
    applied = apply(_world(files), change)
    assert applied.outcome.result is Result.REFUSED
    assert not (files / ".local").exists()


def test_one_that_would_not_parse_stops_all(files: Path) -> None:
    edits = (edit_of(files / ".bashrc", NEW), edit_of(files / ".zshrc", b"if true; then\n"))
    applied = apply(world_at(files), FileChange("one", "x", edits))
    assert applied.outcome.result is Result.FAILED
    assert ".zshrc was not changed" in ENGLISH(applied.outcome.text)
    assert _contents(files) == BEFORE


@pytest.mark.parametrize(
    ("dialect", "content", "broken"),
    [("json", b"{", True), ("json", b"{}", False), ("env", b"if (\n", False), ("text", b"\xff", False), ("bash", b"if (\n", True)],
)
def test_each_file_is_checked_in_its_own_dialect(home: Path, dialect: str, content: bytes, broken: bool) -> None:
    applied = apply(world_at(home), FileChange("one", "x", (edit_of(home / "f", content, dialect=dialect),)))
    assert (applied.outcome.result is Result.FAILED) is broken
    assert (home / "f").exists() is not broken


def test_two_names_of_one_file_are_refused(files: Path) -> None:
    (files / ".zshrc").unlink()
    (files / ".zshrc").symlink_to(".bashrc")
    applied = _apply(files)
    assert applied.outcome.result is Result.REFUSED
    assert "one and the same file" in ENGLISH(applied.outcome.text)


def test_what_already_says_so_is_left_out(files: Path) -> None:
    (files / ".bashrc").write_bytes(NEW + b"# one\n")
    applied = _apply(files)
    assert [one.path for one in applied.receipts] == [f"{files}/{name}" for name in NAMES[1:]]
    assert apply(_world(files), _change(files)).outcome.result is Result.UNCHANGED


@pytest.mark.parametrize("step", STEPS)
def test_a_full_disk_changes_all_or_nothing(files: Path, step: int) -> None:
    applied = _apply(files, FaultyDisk(fails_at=step, half=True))
    done = applied.outcome.result is Result.MODIFIED
    assert _contents(files) == (AFTER if done else BEFORE)
    assert done or not (files / ".config").exists()
    assert [name for name in _left_over(files) if not (done and name.endswith(".prepared"))] == []


def test_the_steps_are_as_many_as_are_tried(files: Path) -> None:
    disk = FaultyDisk()
    _apply(files, disk)
    assert 40 < len(disk.steps) <= STEPS[-1]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_the_next_run_settles_after_a_power_cut(files: Path, step: int, after: bool) -> None:
    try:
        _apply(files, FaultyDisk(fails_at=step, failure=PowerCut, half=True, after=after))
    except PowerCut:
        pass
    (files / "other").write_bytes(b"")
    apply(_world(files), FileChange("two", "x", (edit_of(files / "other", b"x\n"),)))
    assert _contents(files) in (BEFORE, AFTER)
    assert _left_over(files) == []
    assert (files / ".config").exists() is (_contents(files) == AFTER)
    states = {entry.state for entry in Journal.of(_world(files)).entries() if entry.receipt.change == "one"}
    assert states <= ({JournalState.MADE} if _contents(files) == AFTER else {JournalState.UNDONE})


def _half_made(files: Path, edited: Callable[[Path], object] | None = None) -> None:
    """The power goes between the first file and the others."""
    disk = FaultyDisk()
    _apply(files, disk)
    undo(_world(files), "one")
    place = next(number for number, step in enumerate(disk.steps, 1) if step == f"replace {files}/.bashrc.gpuassist-one")
    with pytest.raises(PowerCut):
        _apply(files, FaultyDisk(fails_at=place, failure=PowerCut, after=True), "two")
    if edited is not None:
        edited(files / ".bashrc")


def test_half_a_change_is_put_back_by_undo(files: Path) -> None:
    _half_made(files)
    undone = undo(_world(files), "two")
    outcome, receipt = undone.outcome, undone.receipts[0]
    assert _contents(files) == BEFORE
    assert "interrupted half way" in ENGLISH(outcome.text)
    assert receipt.undone_at


def test_half_a_change_that_was_edited_is_named(files: Path) -> None:
    _half_made(files, lambda path: path.write_bytes(path.read_bytes() + b"# mine\n"))
    applied = apply(_world(files), FileChange("three", "x", (edit_of(files / "other", b"x\n"),)))
    assert "`gpuassist undo two` undoes it" in ENGLISH(applied.notes[0])
    undo(_world(files), "two")
    assert _contents(files) == [OLD + b"# mine\n", b"", OLD]


def test_half_a_change_that_cannot_be_put_back_is_named(files: Path) -> None:
    _half_made(files)
    disk = FaultyDisk(only="replace")
    applied = apply(_world(files, disk), FileChange("three", "x", (edit_of(files / "other", b"x\n"),)))
    assert "`gpuassist undo two` tries again" in ENGLISH(applied.notes[0])
    undo(_world(files), "two")
    assert _contents(files) == BEFORE


class _Interrupted(Disk):
    """Ctrl-C while the second file is put in place."""

    def place_new(self, path: str, target: str) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_between_two_files_puts_the_first_back(files: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        _apply(files, _Interrupted())
    assert _contents(files) == BEFORE
    assert _left_over(files) == []


class _Meddling(Disk):
    """Somebody saves the first file while the last one cannot be written any more."""

    def __init__(self, first: Path) -> None:
        self.first = first

    def replace(self, path: str, target: str) -> None:
        if target.endswith(".zshrc"):
            self.first.write_bytes(self.first.read_bytes() + b"# mine\n")
            raise PermissionError(13, "Permission denied", target)
        super().replace(path, target)


def test_what_cannot_be_put_back_is_said_and_can_be_undone(files: Path) -> None:
    applied = _apply(files, _Meddling(files / ".bashrc"))
    assert applied.outcome.result is Result.FAILED
    assert "`gpuassist undo one` takes them out" in ENGLISH(applied.outcome.text)
    assert [one.path for one in applied.receipts] == [f"{files}/.bashrc"]
    undo(_world(files), "one")
    assert _contents(files) == [OLD + b"# mine\n", b"", OLD]


def test_an_unreadable_record_stops_nothing(files: Path) -> None:
    _apply(files)
    journal = Path(Journal.of(_world(files)).directory)
    (journal / "bad.prepared").write_bytes(b"{")
    (journal / "worse.json").mkdir()
    assert apply(_world(files), _change(files, "two", (".bashrc",))).outcome.result is Result.MODIFIED


def test_a_plan_that_failed_can_be_applied_again(files: Path) -> None:
    change = _change(files)
    assert apply(_world(files, FaultyDisk(fails_at=4)), change).outcome.result is Result.FAILED
    assert apply(_world(files), change).outcome.result is Result.MODIFIED


def test_another_changes_records_are_never_taken_away(files: Path) -> None:
    _apply(files)
    again = FileChange("one", "x", (FileEdit(str(files / ".bashrc"), str(files / ".bashrc"), NEW + b"# one\n", OLD, existed=True),))
    assert apply(_world(files), again).outcome.result is Result.FAILED
    assert Journal.of(_world(files)).entries()[0].state is JournalState.MADE
    undo(_world(files), "one")
    assert _contents(files) == BEFORE


def test_sweeping_reads_only_what_is_unsettled(files: Path) -> None:
    _apply(files)
    disk = _Counting()
    apply(_world(files, disk), FileChange("two", "x", (edit_of(files / "other", b"x\n"),)))
    assert not [path for path in disk.reads if path.endswith(".json")]


class _Counting(Disk):
    def __init__(self) -> None:
        self.reads: list[str] = []

    def read(self, path: str) -> bytes:
        self.reads.append(path)
        return super().read(path)


def test_undo_takes_back_all_of_them(files: Path) -> None:
    _apply(files)
    outcome = undo(_world(files), "").outcome
    assert outcome.result is Result.MODIFIED
    assert _contents(files) == BEFORE
    assert not (files / ".config").exists()


def test_a_directory_that_others_use_stays(files: Path) -> None:
    _apply(files)
    (files / ".config/environment.d/other.conf").write_bytes(b"")
    undo(_world(files), "")
    assert not (files / CONF).exists()
    assert (files / ".config/environment.d/other.conf").exists()


def test_a_directory_that_was_there_stays(files: Path) -> None:
    (files / ".config").mkdir()
    _apply(files)
    undo(_world(files), "")
    assert (files / ".config").is_dir()
    assert not (files / ".config/environment.d").exists()


def test_one_that_conflicts_stops_the_whole_undo(files: Path) -> None:
    _apply(files)
    (files / ".zshrc").write_bytes((files / ".zshrc").read_bytes().replace(b"B=2", b"B=3"))
    before = _contents(files)
    with pytest.raises(RepairError):
        undo(_world(files), "one")
    assert _contents(files) == before


def test_one_that_is_gone_is_passed_over_and_named(files: Path) -> None:
    _apply(files)
    (files / ".zshrc").unlink()
    outcome = undo(_world(files), "one").outcome
    assert ".zshrc is not there any more" in ENGLISH(outcome.text)
    assert _contents(files) == [OLD, b"", b""]
    with pytest.raises(RepairError):
        undo(_world(files), "one")


def test_undo_of_the_rest_when_it_is_there_again(files: Path) -> None:
    _apply(files)
    os.replace(files / ".zshrc", files / "aside")
    undo(_world(files), "one")
    os.replace(files / "aside", files / ".zshrc")
    undo(_world(files), "one")
    assert _contents(files) == BEFORE


@pytest.mark.parametrize("step", range(1, 32))
def test_a_full_disk_while_undoing_several_can_be_finished(files: Path, step: int) -> None:
    _apply(files)
    said = _undo(files, FaultyDisk(fails_at=step, half=True))
    assert "try again" in said or _contents(files) == BEFORE
    _undo(files)
    assert _contents(files) == BEFORE
    assert _swept(files) == []


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", range(1, 32))
def test_a_power_cut_while_undoing_several_can_be_finished(files: Path, step: int, after: bool) -> None:
    _apply(files)
    try:
        _undo(files, FaultyDisk(fails_at=step, failure=PowerCut, half=True, after=after))
    except PowerCut:
        pass
    assert all(found in both for found, both in zip(_contents(files), zip(BEFORE, AFTER, strict=True), strict=True))
    _undo(files)
    assert _contents(files) == BEFORE
    assert _swept(files) == []


def _undo(files: Path, disk: Disk | None = None) -> str:
    try:
        return ENGLISH(undo(_world(files, disk), "one").outcome.text)
    except RepairError as error:
        return ENGLISH(error.reason)


def _swept(files: Path) -> list[str]:
    journal = Journal.of(_world(files))
    with journal.lock():
        sweep(_world(files), journal)
    return _left_over(files)
