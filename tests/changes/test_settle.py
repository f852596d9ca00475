"""What a file holds of a change, and how the next run settles one that was cut short."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.journal import Journal, JournalState
from gpuassist.changes.record import ChangeStatus, records
from gpuassist.changes.replace_file import ChangedError, sibling
from gpuassist.changes.settle import FileHolds, holds, restore, stands, sweep, undo_of
from gpuassist.changes.undo import undo
from gpuassist.model.plan import Receipt
from gpuassist.model.words import ENGLISH
from gpuassist.system.disk import Disk
from gpuassist.system.world import World
from tests.changes.homes import FaultyDisk, PowerCut, edit_of, world_at
from tests.fakes import ScriptedProcesses

OLD, NEW = b"export A=1\n", b"export A=1\nexport B=2\n# one\n"
NAMES = (".bashrc", ".zshrc", ".config/fish/conf.d/a.fish")


def world(home: Path, disk: Disk | None = None) -> World:
    return world_at(home, disk=disk, processes=ScriptedProcesses())


def change(home: Path, *names: str, after: bytes = NEW) -> FileChange:
    return FileChange("one", "use cuda 12.4", tuple(edit_of(home / name, after) for name in names or (".bashrc",)))


@pytest.fixture
def bashrc(home: Path) -> Path:
    for name in NAMES[:2]:
        (home / name).write_bytes(OLD)
    return home / ".bashrc"


def made(home: Path, *names: str, after: bytes = NEW) -> Receipt:
    """The receipt of a change that was made."""
    apply(world(home), change(home, *names, after=after))
    return Journal.of(world(home)).entries()[0].receipt


def found(home: Path, receipt: Receipt) -> FileHolds:
    return holds(world(home), Journal.of(world(home)), receipt)


class CutBehind(FaultyDisk):
    """Loses power right after a file, or a directory, of this name is there."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def replace(self, path: str, target: str) -> None:
        super().replace(path, target)
        self._cut(target)

    def add_directory(self, path: str, mode: int) -> None:
        super().add_directory(path, mode)
        self._cut(path)

    def _cut(self, path: str) -> None:
        if Path(path).name == self._name:
            self.dead = True
            raise PowerCut(path)


def cut_short(home: Path, disk: Disk, *names: str) -> None:
    """A change in which the power went."""
    with pytest.raises(PowerCut):
        apply(world(home, disk), change(home, *names))


def swept(home: Path) -> list[str]:
    journal = Journal.of(world(home))
    with journal.lock():
        return [ENGLISH(words) for words in sweep(world(home), journal)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (NEW, FileHolds.NEW),
        (OLD, FileHolds.OLD),
        (NEW + b"alias x=y\n", FileHolds.EDITED),
        (b"export B=2\n", FileHolds.EDITED),
        (b"alias x=y\n", FileHolds.NOTHING),
        (b"", FileHolds.NOTHING),
    ],
)
def test_what_a_file_holds_of_its_change(home: Path, bashrc: Path, content: bytes, expected: FileHolds) -> None:
    receipt = made(home)
    bashrc.write_bytes(content)
    assert found(home, receipt) is expected


@pytest.mark.parametrize(("existed", "expected"), [(True, FileHolds.NOTHING), (False, FileHolds.OLD)])
def test_a_file_that_is_gone_holds_nothing(home: Path, bashrc: Path, existed: bool, expected: FileHolds) -> None:
    receipt = made(home)
    bashrc.unlink()
    assert found(home, replace(receipt, existed=existed)) is expected


def test_a_change_that_only_took_lines_away_is_known_by_their_absence(home: Path, bashrc: Path) -> None:
    bashrc.write_bytes(OLD + b"export B=2\n")
    receipt = made(home, after=OLD)
    bashrc.write_bytes(OLD + b"alias x=y\n")
    assert found(home, receipt) is FileHolds.EDITED
    bashrc.write_bytes(OLD + b"alias x=y\nexport B=2\n")
    assert found(home, receipt) is FileHolds.NOTHING


def test_a_file_that_cannot_be_read_is_not_judged(home: Path, bashrc: Path) -> None:
    receipt = made(home)
    bashrc.unlink()
    bashrc.mkdir()
    with pytest.raises(OSError, match="directory"):
        found(home, receipt)


@pytest.mark.parametrize(("holding", "there"), [(one, one in {FileHolds.NEW, FileHolds.EDITED}) for one in FileHolds])
def test_which_of_them_still_stand(holding: FileHolds, there: bool) -> None:
    assert stands(holding) is there


def test_where_nothing_was_interrupted_nothing_is_done(home: Path, bashrc: Path) -> None:
    made(home)
    assert swept(home) == []
    assert bashrc.read_bytes() == NEW


def test_a_home_without_a_journal_has_nothing_to_settle(home: Path) -> None:
    assert swept(home) == []


def test_a_change_of_one_file_that_was_made_counts_as_made(home: Path, bashrc: Path) -> None:
    cut_short(home, CutBehind(".bashrc"))
    assert swept(home) == []
    assert [entry.state for entry in Journal.of(world(home)).entries()] == [JournalState.MADE]


def test_a_change_that_came_half_way_is_put_back_and_told(home: Path, bashrc: Path) -> None:
    cut_short(home, CutBehind(".bashrc"), *NAMES[:2])
    (told,) = swept(home)
    assert "had been interrupted half way" in told
    assert "was put back as it was" in told
    assert [(home / name).read_bytes() for name in NAMES[:2]] == [OLD, OLD]


def test_what_somebody_edited_meanwhile_is_left_with_a_word(home: Path, bashrc: Path) -> None:
    cut_short(home, CutBehind(".bashrc"), *NAMES[:2])
    bashrc.write_bytes(NEW + b"alias x=y\n")
    (told,) = swept(home)
    assert "edited since" in told
    assert bashrc.read_bytes() == NEW + b"alias x=y\n"


@pytest.mark.parametrize("step", [2, 5, 8])
def test_settling_twice_says_nothing_more(home: Path, bashrc: Path, step: int) -> None:
    cut_short(home, FaultyDisk(fails_at=step, failure=PowerCut), *NAMES)
    swept(home)
    assert swept(home) == []
    assert [(home / name).read_bytes() for name in NAMES[:2]] == [OLD, OLD]


def test_directories_that_were_made_for_it_go_too(home: Path, bashrc: Path) -> None:
    cut_short(home, CutBehind("conf.d"), NAMES[2])
    assert (home / ".config/fish/conf.d").is_dir()
    swept(home)
    assert not (home / ".config").exists()


def test_a_file_is_put_back_as_it_was(home: Path, bashrc: Path) -> None:
    receipt = made(home)
    restore(world(home), Journal.of(world(home)), receipt)
    assert bashrc.read_bytes() == OLD


def test_a_file_that_it_made_is_taken_away_with_its_directories(home: Path, bashrc: Path) -> None:
    receipt = made(home, NAMES[2])
    restore(world(home), Journal.of(world(home)), receipt)
    assert not (home / ".config").exists()


def test_a_file_that_was_edited_since_is_not_put_back(home: Path, bashrc: Path) -> None:
    receipt = made(home)
    bashrc.write_bytes(NEW + b"alias x=y\n")
    with pytest.raises(ChangedError):
        restore(world(home), Journal.of(world(home)), receipt)
    assert bashrc.read_bytes() == NEW + b"alias x=y\n"


def test_a_link_that_was_turned_elsewhere_is_not_followed(home: Path, bashrc: Path) -> None:
    receipt = made(home)
    (home / "elsewhere").write_bytes(NEW)
    bashrc.unlink()
    bashrc.symlink_to("elsewhere")
    with pytest.raises(ChangedError):
        restore(world(home), Journal.of(world(home)), receipt)
    assert (home / "elsewhere").read_bytes() == NEW


def test_a_damaged_backup_is_never_written(home: Path, bashrc: Path) -> None:
    receipt = made(home)
    Path(Journal.of(world(home)).backup(receipt.id)).write_bytes(b"something else\n")
    with pytest.raises(ChangedError):
        restore(world(home), Journal.of(world(home)), receipt)
    assert bashrc.read_bytes() == NEW


def test_undo_writes_beside_the_file_under_another_name(home: Path) -> None:
    names = {sibling(world(home), f"{home}/.bashrc", name) for name in ("one", undo_of("one"))}
    assert len(names) == 2


@pytest.mark.parametrize(
    ("content", "standing", "edited"),
    [
        (NEW, ChangeStatus.STANDS, False),
        (NEW + b"alias x=y\n", ChangeStatus.STANDS, True),
        (OLD, ChangeStatus.NOTHING_LEFT, False),
        (b"alias x=y\n", ChangeStatus.NOTHING_LEFT, True),
        (None, ChangeStatus.MISSING, False),
    ],
)
def test_how_a_change_on_record_stands(
    home: Path, bashrc: Path, content: bytes | None, standing: ChangeStatus, edited: bool
) -> None:
    made(home)
    bashrc.unlink() if content is None else bashrc.write_bytes(content)
    ((file,),) = (one.files for one in records(world(home)))
    assert (file.standing, file.edited) == (standing, edited)


def test_a_file_that_cannot_be_read_stands_nobody_knows_how(home: Path, bashrc: Path) -> None:
    made(home)
    bashrc.unlink()
    bashrc.mkdir()
    assert records(world(home))[0].files[0].standing is ChangeStatus.UNREADABLE


def test_what_was_taken_back_stays_on_record(home: Path, bashrc: Path) -> None:
    made(home)
    undo(world(home), "one")
    (only,) = records(world(home))
    assert (only.files[0].standing, only.receipt.undone_at != "") == (ChangeStatus.UNDONE, True)


def test_files_of_one_change_are_one_record(home: Path, bashrc: Path) -> None:
    made(home, *NAMES)
    (only,) = records(world(home))
    assert [Path(file.receipt.path).name for file in only.files] == [Path(name).name for name in NAMES]
    assert only.receipt == only.files[0].receipt


def test_the_newest_change_is_listed_first(home: Path, bashrc: Path) -> None:
    used = world(home)
    apply(used, change(home))
    apply(used, FileChange("two", "use cuda 12.8", (edit_of(bashrc, NEW + b"# two\n"),)))
    assert [one.receipt.change for one in records(used)] == ["two", "one"]


def test_what_a_later_change_wrote_is_no_edit(home: Path, bashrc: Path) -> None:
    used = world(home)
    apply(used, change(home))
    apply(used, FileChange("two", "use cuda 12.8", (edit_of(bashrc, NEW + b"# two\n"),)))
    assert not any(file.edited for one in records(used) for file in one.files)


def test_nothing_on_record_is_an_empty_list(home: Path) -> None:
    assert records(world(home)) == ()
