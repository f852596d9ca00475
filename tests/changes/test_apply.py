"""Applying one edit: the file is the old one or the new one, its attributes are kept, and every obstacle is named."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.journal import Journal, JournalState, digest
from gpuassist.changes.plan import ChangeOutcome
from gpuassist.model.plan import Result
from gpuassist.model.words import ENGLISH
from gpuassist.system.disk import Disk
from tests.changes.homes import FaultyDisk, PowerCut, change_of, edit_of, world_at
from tests.fakes import ScriptedProcesses

BEFORE, AFTER = b"# mine\nexport A=1\n", b"# mine\nexport A=1\nexport B=2\n"


@pytest.fixture
def bashrc(home: Path) -> Path:
    path = home / ".bashrc"
    path.write_bytes(BEFORE)
    return path


def _says(applied: ChangeOutcome) -> str:
    return ENGLISH(applied.outcome.text)


def _siblings(home: Path) -> list[str]:
    return sorted(path.name for path in home.iterdir() if path.name != ".local")


def test_replaces_the_content(bashrc: Path, home: Path) -> None:
    applied = apply(world_at(home), change_of(bashrc, AFTER))
    assert applied.outcome.result is Result.MODIFIED
    assert bashrc.read_bytes() == AFTER
    assert _siblings(home) == [".bashrc"]


def test_several_files_were_changed(bashrc: Path, home: Path) -> None:
    both = (edit_of(bashrc, AFTER), edit_of(home / ".profile", AFTER))
    assert _says(apply(world_at(home), FileChange("one", "use cuda 12.4", both))) == f"{bashrc} and {home}/.profile were changed"


def test_the_receipt_says_what_was_done(bashrc: Path, home: Path) -> None:
    receipt = apply(world_at(home), change_of(bashrc, AFTER, "one")).receipt
    assert receipt is not None
    assert (receipt.id, receipt.goal, receipt.path, receipt.existed) == ("one", "use cuda 12.4", str(bashrc), True)
    assert (receipt.hash_before, receipt.hash_after) == (digest(BEFORE), digest(AFTER))


def test_the_journal_is_private(bashrc: Path, home: Path) -> None:
    apply(world_at(home), change_of(bashrc, AFTER, "one"))
    journal = home / ".local/state/gpuassist/journal"
    assert stat.S_IMODE(journal.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in journal.iterdir()} == {0o600}
    assert (journal / "one.before").read_bytes() == BEFORE


def test_nothing_to_do_touches_nothing(bashrc: Path, home: Path) -> None:
    disk = FaultyDisk()
    applied = apply(world_at(home, disk=disk), change_of(bashrc, BEFORE))
    assert applied.outcome.result is Result.UNCHANGED
    assert "already says so" in _says(applied)
    assert disk.steps == []


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o640, 0o664])
def test_keeps_the_mode(bashrc: Path, home: Path, mode: int) -> None:
    bashrc.chmod(mode)
    apply(world_at(home), change_of(bashrc, AFTER))
    assert stat.S_IMODE(bashrc.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT RUN: only root may give a file to another group that it is not in")
def test_keeps_owner_and_group(bashrc: Path, home: Path) -> None:
    os.chown(bashrc, 0, 1234)
    apply(world_at(home), change_of(bashrc, AFTER))
    assert (bashrc.stat().st_uid, bashrc.stat().st_gid) == (0, 1234)


def test_keeps_extended_attributes(bashrc: Path, home: Path) -> None:
    try:
        os.setxattr(bashrc, "user.origin", b"dotfiles")
    except OSError:
        pytest.skip("NOT RUN: this file system has no extended attributes")
    apply(world_at(home), change_of(bashrc, AFTER))
    assert os.getxattr(bashrc, "user.origin") == b"dotfiles"


def test_writes_the_target_of_a_symlink(home: Path) -> None:
    real = home / "dotfiles" / "bashrc"
    real.parent.mkdir()
    real.write_bytes(BEFORE)
    (home / ".bashrc").symlink_to("dotfiles/bashrc")
    apply(world_at(home), change_of(home / ".bashrc", AFTER))
    assert (home / ".bashrc").is_symlink()
    assert real.read_bytes() == AFTER


def test_follows_a_chain_of_symlinks(home: Path) -> None:
    (home / "real").write_bytes(BEFORE)
    (home / "second").symlink_to(home / "real")
    (home / ".bashrc").symlink_to("second")
    apply(world_at(home), change_of(home / ".bashrc", AFTER))
    assert (home / "real").read_bytes() == AFTER
    assert (home / "second").is_symlink()


def test_makes_a_missing_file(home: Path) -> None:
    applied = apply(world_at(home), change_of(home / ".bashrc", AFTER))
    assert applied.outcome.result is Result.MODIFIED
    assert (home / ".bashrc").read_bytes() == AFTER
    assert stat.S_IMODE((home / ".bashrc").stat().st_mode) == 0o644
    assert _siblings(home) == [".bashrc"]


def test_refuses_what_changed_since_the_preview(bashrc: Path, home: Path) -> None:
    change = change_of(bashrc, AFTER)
    bashrc.write_bytes(b"somebody else\n")
    applied = apply(world_at(home), change)
    assert applied.outcome.result is Result.REFUSED
    assert "changed by someone else" in _says(applied)
    assert bashrc.read_bytes() == b"somebody else\n"


def test_refuses_a_file_that_appeared_since(home: Path) -> None:
    change = change_of(home / ".bashrc", AFTER)
    (home / ".bashrc").write_bytes(b"new\n")
    assert apply(world_at(home), change).outcome.result is Result.REFUSED
    assert (home / ".bashrc").read_bytes() == b"new\n"


class _Meddling(Disk):
    """Somebody saves the file in the last moment, while ours is already written beside it."""

    def __init__(self, victim: Path) -> None:
        self.victim = victim

    def flush(self, path: str) -> None:
        super().flush(path)
        if "gpuassist-" in path:
            self.victim.write_bytes(b"saved in between\n")


@pytest.mark.parametrize("existed", [True, False])
def test_notices_a_change_in_the_last_moment(home: Path, existed: bool) -> None:
    path = home / ".bashrc"
    if existed:
        path.write_bytes(BEFORE)
    change = change_of(path, AFTER)
    applied = apply(world_at(home, disk=_Meddling(path)), change)
    assert applied.outcome.result is Result.REFUSED
    assert path.read_bytes() == b"saved in between\n"
    assert _siblings(home) == [".bashrc"]


@pytest.mark.parametrize("existed", [True, False])
def test_never_writes_what_breaks_the_file(home: Path, existed: bool) -> None:
    path = home / ".bashrc"
    if existed:
        path.write_bytes(BEFORE)
    disk = FaultyDisk()
    applied = apply(world_at(home, disk=disk), change_of(path, b"if true; then\n"))
    assert applied.outcome.result is Result.FAILED
    assert "could not parse the result" in _says(applied)
    assert disk.steps == []


def test_leaves_a_file_that_was_broken_before(home: Path) -> None:
    path = home / ".bashrc"
    path.write_bytes(b"if true; then\n")
    applied = apply(world_at(home), change_of(path, b"if true; then\n# more\n"))
    assert applied.outcome.result is Result.MODIFIED


def test_goes_on_where_bash_cannot_be_asked(bashrc: Path, home: Path) -> None:
    applied = apply(world_at(home, processes=ScriptedProcesses()), change_of(bashrc, AFTER))
    assert applied.outcome.result is Result.MODIFIED


def test_waits_for_nobody_who_holds_the_lock(bashrc: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.changes.journal._LOCK_SECONDS", 0.0)
    world = world_at(home)
    with Journal.of(world).lock():
        applied = apply(world, change_of(bashrc, AFTER))
    assert applied.outcome.result is Result.REFUSED
    assert "another gpuassist" in _says(applied)
    assert bashrc.read_bytes() == BEFORE


def _steps_of(home: Path, path: Path) -> list[str]:
    disk = FaultyDisk()
    apply(world_at(home, disk=disk), change_of(path, AFTER))
    return disk.steps


ALL_STEPS = range(1, 25)


def test_the_steps_are_as_many_as_are_tried(bashrc: Path, home: Path) -> None:
    assert len(_steps_of(home, bashrc)) <= ALL_STEPS[-1]


def test_flushes_before_it_replaces(bashrc: Path, home: Path) -> None:
    steps = _steps_of(home, bashrc)
    beside = f"{home}/.bashrc.gpuassist-20261121-090000-abcdef"
    order = [steps.index(f"{name} {beside}") for name in ("create", "write", "copy_attributes", "flush", "replace")]
    journal = f"{home}/.local/state/gpuassist/journal"
    assert order == sorted(order)
    assert steps.index(f"flush {journal}") < order[0]
    assert f"flush {home}" in steps[order[-1] :]


@pytest.mark.parametrize("step", ALL_STEPS)
@pytest.mark.parametrize("existed", [True, False])
def test_a_full_disk_leaves_nothing_half_written(home: Path, step: int, existed: bool) -> None:
    path = home / ".bashrc"
    if existed:
        path.write_bytes(BEFORE)
    applied = apply(world_at(home, disk=FaultyDisk(fails_at=step, half=True)), change_of(path, AFTER))
    content = path.read_bytes() if path.exists() else b""
    whole = AFTER if applied.outcome.result is Result.MODIFIED else BEFORE if existed else b""
    assert content == whole
    assert _siblings(home) == ([".bashrc"] if path.exists() else [])


def test_a_full_disk_is_called_so(bashrc: Path, home: Path) -> None:
    steps = _steps_of(home, bashrc)
    bashrc.write_bytes(BEFORE)
    number = next(place for place, step in enumerate(steps, 1) if step.startswith(f"write {home}/.bashrc"))
    applied = apply(world_at(home, disk=FaultyDisk(fails_at=number)), change_of(bashrc, AFTER, "two"))
    assert "the disk is full" in _says(applied)


@pytest.mark.parametrize("number", [errno.EIO, errno.EROFS, errno.EBUSY, errno.EXDEV, errno.EACCES, errno.ESTALE])
def test_a_failing_rename_changes_nothing(bashrc: Path, home: Path, number: int) -> None:
    disk = FaultyDisk(only="replace", failure=lambda path: OSError(number, os.strerror(number), path))
    applied = apply(world_at(home, disk=disk), change_of(bashrc, AFTER))
    assert applied.outcome.result is Result.FAILED
    assert os.strerror(number) in _says(applied)
    assert bashrc.read_bytes() == BEFORE
    assert _siblings(home) == [".bashrc"]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", ALL_STEPS)
def test_a_power_cut_loses_nothing(bashrc: Path, home: Path, step: int, after: bool) -> None:
    disk = FaultyDisk(fails_at=step, failure=PowerCut, half=True, after=after)
    try:
        apply(world_at(home, disk=disk), change_of(bashrc, AFTER))
    except PowerCut:
        pass
    assert bashrc.read_bytes() in (BEFORE, AFTER)
    if bashrc.read_bytes() == AFTER:
        assert (home / ".local/state/gpuassist/journal/20261121-090000-abcdef.before").read_bytes() == BEFORE


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("step", ALL_STEPS)
def test_the_next_run_clears_up_after_a_power_cut(bashrc: Path, home: Path, step: int, after: bool) -> None:
    disk = FaultyDisk(fails_at=step, failure=PowerCut, half=True, after=after)
    try:
        apply(world_at(home, disk=disk), change_of(bashrc, AFTER, "one"))
    except PowerCut:
        pass
    world = world_at(home)
    wanted = bashrc.read_bytes() + b"# later\n"
    applied = apply(world, change_of(bashrc, wanted, "two"))
    assert applied.outcome.result is Result.MODIFIED
    assert bashrc.read_bytes() == wanted
    assert JournalState.PREPARED not in {entry.state for entry in Journal.of(world).entries()}


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT RUN: only root may mount a small disk to fill")
def test_a_disk_that_really_is_full(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(small)], capture_output=True, timeout=100)
    if mounted.returncode:
        pytest.skip("NOT RUN: no small disk can be mounted here")
    try:
        bashrc = small / ".bashrc"
        bashrc.write_bytes(BEFORE)
        (small / "filler").write_bytes(b"x" * 40_000)
        applied = apply(world_at(small), change_of(bashrc, BEFORE + b"# more\n" * 3_000))
        assert applied.outcome.result is Result.FAILED
        assert "the disk is full" in _says(applied)
        assert bashrc.read_bytes() == BEFORE
        assert _siblings(small) == [".bashrc", "filler"]
    finally:
        subprocess.run(["umount", str(small)], check=True, timeout=100)


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT RUN: only root may set the immutable flag")
@pytest.mark.needs("chattr")
def test_refuses_an_immutable_file(bashrc: Path, home: Path) -> None:
    if subprocess.run(["chattr", "+i", str(bashrc)], capture_output=True, timeout=100).returncode:
        pytest.skip("NOT RUN: this file system has no immutable flag")
    try:
        applied = apply(world_at(home), change_of(bashrc, AFTER))
    finally:
        subprocess.run(["chattr", "-i", str(bashrc)], check=True, timeout=100)
    assert applied.outcome.result is Result.REFUSED
    assert "immutable" in _says(applied)


def test_of_two_at_once_one_is_refused(bashrc: Path, home: Path) -> None:
    changes = [change_of(bashrc, BEFORE + bytes([letter]) * 3 + b"\n", f"change-{letter}") for letter in b"ab"]
    with ThreadPoolExecutor(2, "pytest") as pool:
        results = list(pool.map(lambda change: apply(world_at(home), change).outcome.result, changes))
    assert sorted(results) == [Result.MODIFIED, Result.REFUSED]
    assert bashrc.read_bytes() == changes[results.index(Result.MODIFIED)].edits[0].after


def test_two_processes_at_once_leave_one_of_both(bashrc: Path, home: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from tests.changes.homes import change_of, world_at;"
        "from gpuassist.changes.apply import apply; home = Path(sys.argv[1]);"
        "change = change_of(home / '.bashrc', b'export ' + sys.argv[2].encode() + b'=1\\n', sys.argv[2]); input();"
        "print(apply(world_at(home), change).outcome.result.value)"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", script, str(home), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for name in ("ONE", "TWO")
    ]
    said = sorted(child.communicate("\n", timeout=100)[0].strip() for child in children)
    assert said[0] == "modified"
    assert bashrc.read_bytes() in (b"export ONE=1\n", b"export TWO=1\n")
