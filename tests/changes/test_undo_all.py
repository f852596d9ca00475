"""Taking everything back: newest first, as it was foreseen, whatever was edited between, wherever it is interrupted.

What is expected of ten situations:

| on record | what is taken back | what is said |
|---|---|---|
| nothing | nothing | nothing stands |
| one change | its file, byte for byte | |
| three of one file | the bytes before the first | each as it will be once the newer ones are gone |
| three, edited between | what was added stays, ours goes | edited |
| three, the second meets somebody's words | the third and the first | the second is left, with all three texts |
| one whose file is gone | nothing | that it is gone, and where its bytes are kept |
| one whose file is read-only | nothing | that it is, the rest goes on |
| another user's record beside ours | ours | theirs is named and left |
| an install beside | the change | the install and its record are left |
| six, interrupted after the third | three | three stand, and a second run takes them |
"""

from __future__ import annotations

import os
import random
from datetime import timedelta
from pathlib import Path

import pytest

from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.journal import Journal
from gpuassist.changes.record import ChangeStatus, records
from gpuassist.changes.undo import history, undo
from gpuassist.changes.undo_all import UndoAllOutcome, UndoAllPlan, plan_undo_all, undo_all
from gpuassist.model.plan import Result
from gpuassist.model.words import ENGLISH
from gpuassist.shellfiles.bash import read
from gpuassist.shellfiles.edit import LineChanges, Lines, write
from gpuassist.system.world import World
from tests.changes.crashing import quiet_world
from tests.changes.homes import FaultyDisk, PowerCut, TickingClock, edit_of, world_at
from tests.fakes import ScriptedProcesses
from tests.shellfiles.written import block_lines
from tests.strangers import given_away

ORIGINAL = b"# mine\nexport PATH=/usr/local/cuda-11.7/bin:$PATH\nalias x=y"
ENV = b"SETTING=1\n"


@pytest.fixture
def world(home: Path) -> World:
    (home / ".bashrc").write_bytes(ORIGINAL)
    (home / ".env").write_bytes(ENV)
    return quiet_world(home)


def _block(world: World, path: Path, change: str, version: str = "12.4", *, retire: bool = False) -> None:
    """What `use cuda` and `clean` do to a start-up file."""
    before = path.read_bytes() if path.exists() else b""
    lines = tuple(Lines(one.first_byte, one.end_byte) for one in read(before, {}).statements if one.owner == "")
    after = write(before, block_lines(f"/usr/local/cuda-{version}"), LineChanges(lines if retire else ()), change)
    assert apply(world, FileChange(change, "use cuda", (edit_of(path, after),))).outcome.result is Result.MODIFIED


def _words(world: World, path: Path, after: bytes, change: str) -> None:
    """A change that leaves no mark, as one of .env or of a kernel."""
    assert apply(world, FileChange(change, "use", (edit_of(path, after, dialect="env"),))).outcome.result is Result.MODIFIED


def _all(world: World, plan: UndoAllPlan | None = None) -> UndoAllOutcome:
    return undo_all(world, plan or plan_undo_all(world))


def _standing(world: World) -> list[str]:
    return [one.receipt.change for one in records(world) if any(file.standing is not ChangeStatus.UNDONE for file in one.files)]


def _foretold(plan: UndoAllPlan, path: Path) -> bytes | None:
    """What the plan says that the file will hold; none where it will be gone."""
    last = [file for one in plan.changes if one.plan for file in one.plan.files if file.receipt.path == str(path) and file.edit]
    return None if last[-1].removes_file else last[-1].edit.after  # type: ignore[union-attr]


def test_nothing_made_is_nothing_to_do(world: World, home: Path) -> None:
    assert plan_undo_all(world) == UndoAllPlan()
    assert _all(world) == UndoAllOutcome()
    assert not (home / ".local").exists()


def test_one(world: World, home: Path) -> None:
    _block(world, home / ".bashrc", "one")
    done = _all(world)
    assert [(one.planned.change, one.outcome.result, one.over) for one in done.changes] == [("one", Result.MODIFIED, True)]
    assert (home / ".bashrc").read_bytes() == ORIGINAL
    assert _standing(world) == []


def test_three_of_one_file_are_foreseen_one_after_the_other(world: World, home: Path) -> None:
    rc = home / ".bashrc"
    held = [rc.read_bytes()]
    for number, version in enumerate(("11.8", "12.4", "12.8")):
        _block(world, rc, f"c{number}", version, retire=number == 1)
        held.append(rc.read_bytes())
    plan = plan_undo_all(world)
    steps = [(one.change, one.plan.files[0].edit) for one in plan.changes if one.plan]
    assert [change for change, _ in steps] == ["c2", "c1", "c0"]
    assert [(edit.before, edit.after) for _, edit in steps if edit] == [
        (held[3], held[2]), (held[2], held[1]), (held[1], held[0]),
    ]  # fmt: skip
    assert rc.read_bytes() == held[3]
    assert all(one.over for one in _all(world, plan).changes)
    assert rc.read_bytes() == ORIGINAL


def test_what_was_edited_between_stays(world: World, home: Path) -> None:
    rc = home / ".bashrc"
    for number in range(3):
        _block(world, rc, f"c{number}", f"12.{number}")
        rc.write_bytes(f"# head {number}\n".encode() + rc.read_bytes())
    plan = plan_undo_all(world)
    assert all(one.over for one in _all(world, plan).changes)
    assert rc.read_bytes() == b"# head 2\n# head 1\n# head 0\n" + ORIGINAL == _foretold(plan, rc)


def test_a_conflict_in_the_middle_is_left_and_the_rest_goes_on(world: World, home: Path) -> None:
    env, rc = home / ".env", home / ".bashrc"
    _block(world, rc, "c0")
    _words(world, env, b"SETTING=gpu\n", "c1")
    _block(world, rc, "c2", "12.8")
    env.write_bytes(b"SETTING=mine\n")
    done = _all(world)
    assert [(one.planned.change, one.outcome.result) for one in done.changes] == [
        ("c2", Result.MODIFIED), ("c1", Result.REFUSED), ("c0", Result.MODIFIED),
    ]  # fmt: skip
    refusal = done.changes[1].refusal
    assert refusal is not None
    assert refusal.three_way is not None
    assert refusal.three_way.now == b"SETTING=mine\n"
    assert env.read_bytes() == b"SETTING=mine\n"
    assert rc.read_bytes() == ORIGINAL
    assert _standing(world) == ["c1"]


def test_older_changes_of_a_file_with_a_conflict_go_as_far_as_they_can(world: World, home: Path) -> None:
    env = home / ".env"
    _words(world, env, b"ONE=1\n" + ENV, "c0")
    _words(world, env, b"ONE=1\nSETTING=gpu\n", "c1")
    env.write_bytes(b"ONE=1\nSETTING=mine\n")
    plan = plan_undo_all(world)
    before = env.read_bytes()
    done = _all(world, plan)
    assert done.changes[0].outcome.result is Result.REFUSED
    assert env.read_bytes() == (b"SETTING=mine\n" if done.changes[1].over else before)


def test_nothing_of_a_refused_change_is_half_done(world: World, home: Path) -> None:
    rc, env = home / ".bashrc", home / ".env"
    after = write(ORIGINAL, block_lines("/usr/local/cuda-12.4"), LineChanges(()), "both")
    edits = (edit_of(rc, after), edit_of(env, b"SETTING=gpu\n", dialect="env"))
    assert apply(world, FileChange("both", "use", edits)).outcome.result is Result.MODIFIED
    env.write_bytes(b"SETTING=mine\n")
    (one,) = _all(world).changes
    assert (one.outcome.result, one.over) == (Result.REFUSED, False)
    assert (rc.read_bytes(), env.read_bytes()) == (after, b"SETTING=mine\n")


def test_a_file_that_is_gone_is_named_with_its_backup(world: World, home: Path) -> None:
    _words(world, home / ".env", b"SETTING=gpu\n", "c0")
    _block(world, home / ".bashrc", "c1")
    (home / ".env").unlink()
    done = _all(world)
    assert [one.over for one in done.changes] == [True, False]
    refusal = done.changes[1].refusal
    assert refusal is not None
    assert refusal.gone
    assert Journal.of(world).backup("c0") in ENGLISH(refusal.reason)


def test_one_gone_file_of_several_is_passed_over_and_said(world: World, home: Path) -> None:
    rc, env = home / ".bashrc", home / ".env"
    edits = (edit_of(rc, ORIGINAL + b"\nX=1\n"), edit_of(env, b"SETTING=gpu\n", dialect="env"))
    apply(world, FileChange("both", "use", edits))
    env.unlink()
    (one,) = _all(world).changes
    assert (one.outcome.result, one.over) == (Result.MODIFIED, False)
    assert rc.read_bytes() == ORIGINAL
    assert plan_undo_all(world).changes[0].refusal is not None


def test_a_read_only_file_is_left_and_the_rest_goes_on(world: World, home: Path) -> None:
    _words(world, home / ".env", b"SETTING=gpu\n", "c0")
    _block(world, home / ".bashrc", "c1")
    (home / ".bashrc").chmod(0o444)
    done = _all(world)
    assert [one.over for one in done.changes] == [False, True]
    assert "read-only" in ENGLISH(done.changes[0].outcome.text)
    assert (home / ".env").read_bytes() == ENV


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT RUN: only root may give a file away")
def test_another_users_record_is_named_and_left(world: World, home: Path) -> None:
    _words(world, home / ".env", b"SETTING=gpu\n", "c0")
    _block(world, home / ".bashrc", "c1")
    world = given_away(world, Path(Journal.of(world).directory, "c0.json"))
    plan = plan_undo_all(world)
    assert [one.change for one in plan.changes] == ["c1"]
    assert "c0" in ENGLISH(plan.left_out[0])
    assert all(one.over for one in _all(world, plan).changes)
    assert (home / ".env").read_bytes() == b"SETTING=gpu\n"


def test_a_damaged_record_is_named(world: World, home: Path) -> None:
    _block(world, home / ".bashrc", "c1")
    Path(Journal.of(world).directory, "c1.json").write_bytes(b"{")
    assert plan_undo_all(world).damaged == ("c1.json",)


def test_an_interruption_leaves_the_rest_for_the_next_run(world: World, home: Path) -> None:
    for number in range(6):
        _block(world, home / ".bashrc", f"c{number}", f"12.{number}")
    told: list[str] = []
    done = undo_all(
        world, plan_undo_all(world), cancelled=lambda: len(told) == 3, on_done=lambda one: told.append(one.planned.change)
    )
    assert (told, done.interrupted) == (["c5", "c4", "c3"], True)
    assert len(_standing(world)) == 3
    assert all(one.over for one in _all(world).changes)
    assert (home / ".bashrc").read_bytes() == ORIGINAL


def test_what_is_edited_after_the_look_is_left(world: World, home: Path) -> None:
    _block(world, home / ".bashrc", "c0")
    plan = plan_undo_all(world)
    (home / ".bashrc").write_bytes((home / ".bashrc").read_bytes() + b"export MINE=1\n")
    now = (home / ".bashrc").read_bytes()
    (one,) = _all(world, plan).changes
    assert (one.outcome.result, one.over) == (Result.REFUSED, False)
    assert (home / ".bashrc").read_bytes() == now
    assert all(one.over for one in _all(world).changes)


def test_what_another_took_back_after_the_look_is_done(world: World, home: Path) -> None:
    _block(world, home / ".bashrc", "c0")
    plan = plan_undo_all(world)
    undo(world, "c0")
    (one,) = _all(world, plan).changes
    assert (one.outcome.result, one.over) == (Result.UNCHANGED, True)


def test_while_another_changes_a_file_nothing_is_begun(world: World, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _block(world, home / ".bashrc", "c0")
    monkeypatch.setattr("gpuassist.changes.journal._LOCK_SECONDS", 0.0)
    plan = plan_undo_all(world)
    with Journal.of(world).lock():
        done = _all(world, plan)
    assert done.stopped is not None
    assert _standing(world) == ["c0"]


def test_a_clock_that_was_put_back_does_not_turn_the_order_round(world: World, home: Path) -> None:
    rc, clock = home / ".bashrc", world.clock
    assert isinstance(clock, TickingClock)
    for number in range(3):
        _block(world, rc, f"c{number}", f"12.{number}", retire=number == 1)
        clock.moment -= timedelta(days=2)
    plan = plan_undo_all(world)
    assert [one.change for one in plan.changes] == ["c2", "c1", "c0"]
    assert all(one.plan and "restored exactly" in ENGLISH(one.plan.way) for one in plan.changes)
    _all(world, plan)
    assert rc.read_bytes() == ORIGINAL


def test_a_block_with_lines_of_ones_own_goes_with_take_out(world: World, home: Path) -> None:
    rc = home / ".bashrc"
    _block(world, rc, "c0")
    rc.write_bytes(rc.read_bytes().replace(b"# <<< gpuassist", b"export MINE=1\n# <<< gpuassist"))
    (refused,) = plan_undo_all(world).changes
    assert refused.refusal is not None
    assert refused.refusal.in_block
    assert all(one.over for one in _all(world, plan_undo_all(world, take_out=True)).changes)
    assert rc.read_bytes() == ORIGINAL


@pytest.mark.parametrize("seed", range(8))
def test_whatever_was_done_the_users_bytes_come_back(world: World, home: Path, seed: int) -> None:
    """Changes with blocks, retired lines and bare words, undos in between, and edits at the ends of files, in any order."""
    chance = random.Random(seed)
    begin = {home / ".bashrc": ORIGINAL, home / ".env": ENV, home / ".profile": None, home / ".zshrc": None}
    head: dict[Path, bytes] = dict.fromkeys(begin, b"")
    for number in range(chance.randint(1, 9)):
        path = chance.choice(list(begin))
        what = chance.random()
        if what < 0.2 and path.exists():
            mine = f"# mine {number}\n".encode()
            path.write_bytes(mine + path.read_bytes())
            head[path] = mine + head[path]
        elif what < 0.3 and _standing(world):
            undo(world, "")
        elif path.name == ".env":
            _words(world, path, path.read_bytes() + f"GPU{number}={number}\n".encode(), f"c{number}")
        else:
            _block(world, path, f"c{number}", f"12.{number}", retire=chance.random() < 0.5 and begin[path] is not None)
    plan = plan_undo_all(world)
    done = _all(world, plan)
    assert [one.over for one in done.changes] == [True] * len(plan.changes), [ENGLISH(one.outcome.text) for one in done.changes]
    for path, content in begin.items():
        if content is None and not head[path]:
            assert not path.exists()
        else:
            assert path.read_bytes() == head[path] + (content or b""), path
    assert _standing(world) == []


def test_wherever_the_power_fails_the_next_run_goes_on(world: World, home: Path) -> None:
    """A sample of the steps of the disk; tools/soak_apply.py takes every one, with kills."""
    rc, made = home / ".bashrc", home / ".config/fish/conf.d/gpuassist.fish"
    for step in range(random.randint(1, 22), 90, 22):
        rc.write_bytes(ORIGINAL)
        _block(world, rc, f"a{step}", "11.8")
        _block(world, made, f"b{step}")
        _block(world, rc, f"d{step}", "12.4", retire=True)
        disk = FaultyDisk(fails_at=step, failure=PowerCut, half=True, after=step % 2 == 0)
        try:
            _all(world_at(home, disk=disk, processes=ScriptedProcesses()))
        except PowerCut:
            pass
        assert all(one.over for one in _all(world).changes), step
        assert (rc.read_bytes(), made.exists(), _standing(world)) == (ORIGINAL, False, []), step
        assert sorted(path.name for path in home.iterdir()) == [".bashrc", ".env", ".local"], step


@pytest.mark.parametrize("step", [3, 14, 31])
def test_a_full_disk_leaves_every_change_whole_or_taken_back(world: World, home: Path, step: int) -> None:
    rc = home / ".bashrc"
    for number in range(4):
        _block(world, rc, f"c{number}", f"12.{number}")
    plan = plan_undo_all(world)
    _all(world_at(home, disk=FaultyDisk(fails_at=step, half=True), processes=ScriptedProcesses()), plan)
    assert all(one.over for one in _all(world).changes)
    assert rc.read_bytes() == ORIGINAL


def test_the_journal_keeps_every_one_as_taken_back(world: World, home: Path) -> None:
    for number in range(3):
        _block(world, home / ".bashrc", f"c{number}", f"12.{number}")
    _all(world)
    assert all(one.undone_at for one in history(world))
    assert plan_undo_all(world) == UndoAllPlan()
