"""Changes and undos that are killed in the middle, and what must hold after: each file old or new, byte for byte with its
attributes, the backup whole, and the next run leaves nothing half done.

`python -m tests.changes.crashing RUNS STRIDE SEED DIRECTORY` does it RUNS times at random moments and at every STRIDEth step, with
forked children, and prints what it counted as JSON; `tools/soak_apply.py` does it for longer, and at every system call.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import stat
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gpuassist.changes.apply import FileChange, apply
from gpuassist.changes.journal import Journal
from gpuassist.changes.settle import sweep
from gpuassist.changes.undo import NothingToUndoError, undo
from gpuassist.changes.undo_all import plan_undo_all, undo_all
from gpuassist.shellfiles.edit import LineChanges, Lines, write
from gpuassist.system.disk import Disk
from gpuassist.system.world import World
from tests.changes.homes import FaultyDisk, edit_of, world_at
from tests.fakes import ScriptedProcesses
from tests.shellfiles.written import block_lines

CHANGE = "20261121-090000-abcdef"
NEWER = ("20261122-090000-abcdef", "20261123-090000-abcdef")
BASHRC = b"# mine\nexport PATH=/usr/local/cuda-11.7/bin:$PATH\nalias x=y"
DOTENV = b"USER_SETTING=1\n"
MARK = ".gpuassist-"
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
LEFT_OVER = (".preparing", ".prepared", ".undoing", ".new")
ATTRIBUTE = "user.gpuassist.test"

JUST_MADE = ("directory", stat.S_IFDIR | 0o700, os.geteuid(), os.getegid(), b"", b"")  # it gets its mode in the next moment

Entry = tuple[str, int, int, int, bytes, bytes]
Snapshot = dict[str, Entry]


@dataclass(frozen=True)
class Scene:
    """A home, the files that are changed in it, and whether it is their change or its undo that is killed; with `everything` the
    undo of that change and of two newer ones of its first file.
    """

    name: str
    files: tuple[str, ...]
    undo: bool = False
    edited: bytes = b""
    everything: bool = False

    def set_up(self, home: Path) -> None:
        """The home before the change: a private file with an attribute, a link into a checkout, and room for new files."""
        home.mkdir(parents=True)
        bashrc = home / ".bashrc"
        bashrc.write_bytes(BASHRC)
        bashrc.chmod(0o640)
        with contextlib.suppress(OSError):  # a file system without such attributes
            os.setxattr(bashrc, ATTRIBUTE, b"kept")
        with contextlib.suppress(OSError):  # only root may
            os.chown(bashrc, os.geteuid(), 1234)
        (home / "dotfiles").mkdir()
        (home / "dotfiles/profile").write_bytes(BASHRC + b"\n")
        (home / ".profile").symlink_to("dotfiles/profile")
        (home / ".env").write_bytes(DOTENV)

    def change(self, home: Path) -> FileChange:
        """The change, as planned for the home as it is."""
        return FileChange(CHANGE, "use cuda 12.4", tuple(edit_of(home / name, _after(home / name)) for name in self.files))

    def prepare(self, home: Path) -> None:
        """What went before: for an undo the change itself, and what somebody wrote since."""
        if self.undo:
            apply(quiet_world(home), self.change(home))
        for change in NEWER if self.everything else ():
            path = home / self.files[0]
            after = write(path.read_bytes(), block_lines(f"/usr/local/{change}"), LineChanges(()), change)
            apply(quiet_world(home), FileChange(change, "use cuda", (edit_of(path, after),)))
        if self.edited:
            for name in self.files:
                with open(home / name, "ab") as file:
                    file.write(self.edited)

    def act(self, world: World) -> None:
        """What is killed."""
        if self.everything:
            undo_all(world, plan_undo_all(world))
        elif self.undo:
            undo(world, CHANGE)
        else:
            apply(world, self.change(Path(world.surroundings.home)))


ONE = (".bashrc",)
NEW = (".config/fish/conf.d/gpuassist.fish",)
SEVERAL = (".bashrc", ".config/environment.d/50-gpuassist.conf", ".profile", ".env")
SCENES = (
    Scene("change of one file", ONE),
    Scene("change that makes a file", NEW),
    Scene("change of several files", SEVERAL),
    Scene("undo of one file", ONE, undo=True),
    Scene("undo of a file that was made", NEW, undo=True),
    Scene("undo of several files", SEVERAL, undo=True),
    Scene("undo of files edited since", SEVERAL, undo=True, edited=b"# mine too\n"),
    Scene("undo of everything", SEVERAL, undo=True, everything=True),
)


@dataclass
class Report:
    """What was counted: runs of each scene by how far they came, and what went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def runs(self) -> int:
        return self.counts["runs"]

    def add(self, other: Report) -> None:
        self.counts.update(other.counts)
        self.wrong += other.wrong

    def document(self) -> dict[str, object]:
        return {"runs": self.runs, "counts": dict(self.counts), "wrong": self.wrong}


class QuickDisk(Disk):
    """A disk that loses nothing when a process is killed does not have to be waited for."""

    def flush(self, path: str) -> None:
        os.stat(path)


class _Mortal(FaultyDisk):
    """Kills its own process at a chosen step."""

    def flush(self, path: str) -> None:
        self._step("flush", path, lambda: None)


def quiet_world(home: Path, disk: Disk | None = None) -> World:
    """The real disk, and no shell that is asked about syntax."""
    return world_at(home, disk=disk or QuickDisk(), processes=ScriptedProcesses())


def snapshot(home: Path) -> Snapshot:
    """Everything below the home but the journal, with mode, owner and attributes; our siblings too."""
    found: Snapshot = {}
    for path in _below(home):
        status = path.lstat()
        kind = "link" if path.is_symlink() else "directory" if path.is_dir() else "file"
        content = os.readlink(path).encode() if kind == "link" else path.read_bytes() if kind == "file" else b""
        attribute = _attribute(path) if kind == "file" else b""
        found[str(path.relative_to(home))] = (kind, status.st_mode, status.st_uid, status.st_gid, attribute, content)
    return found


@dataclass(frozen=True)
class Wanted:
    """How a home looks before and after what is killed, once everything is taken back, and on the way where that is one."""

    start: Snapshot
    done: Snapshot
    back: Snapshot
    between: tuple[Snapshot, ...] = ()


def wanted(scene: Scene, home: Path) -> Wanted:
    """Found out by doing it without a crash."""
    scene.set_up(home)
    scene.prepare(home)
    start = snapshot(home)
    scene.act(quiet_world(home))
    done = snapshot(home)
    _take_all_back(home)
    back = snapshot(home)
    shutil.rmtree(home)
    return Wanted(start, done, back, _between(scene, home) if scene.everything else ())


def _between(scene: Scene, home: Path) -> tuple[Snapshot, ...]:
    scene.set_up(home)
    scene.prepare(home)
    found = []
    for _ in NEWER:
        undo(quiet_world(home), "")
        found.append(snapshot(home))
    shutil.rmtree(home)
    return tuple(found)


def check(scene: Scene, home: Path, want: Wanted) -> tuple[str, list[str]]:
    """How far it came, and what is wrong after the crash, after the next run, and after undo."""
    wrong: list[str] = []
    found = snapshot(home)
    new = [name for name in scene.files if _of(home, found, name) == _of(home, want.done, name) != _of(home, want.start, name)]
    wrong += _half_written(found, want)
    wrong += _backups(home) if new and not scene.undo else []
    journal = Journal.of(quiet_world(home))
    with journal.lock():
        sweep(quiet_world(home), journal)
    settled = snapshot(home)
    whole = settled in (want.start, want.done)
    if not whole and (not scene.undo or _half_written(settled, want)):
        wrong.append(f"not settled: {_difference(settled, want.start)}")
    wrong += [f"left behind: {name}" for name in settled if MARK in name]
    wrong += [f"left in the journal: {path.name}" for path in Path(journal.directory).iterdir() if path.suffix in LEFT_OVER]
    _take_all_back(home)
    if snapshot(home) != want.back:
        wrong.append(f"not taken back: {_difference(snapshot(home), want.back)}")
    far = "nothing done" if not new else "all done" if len(new) == len(scene.files) else "some files done"
    return far, wrong


def run_one(scene: Scene, home: Path, want: Wanted, die: Callable[[Path], bool]) -> Report:
    """One crash; `die` runs the scene in a child that is killed and says whether it was."""
    report = Report()
    scene.set_up(home)
    scene.prepare(home)
    killed = die(home)
    far, wrong = check(scene, home, want)
    report.counts.update(("runs", "killed" if killed else "came to its end", f"{scene.name}: {far}"))
    report.wrong += [f"{scene.name}: {words}" for words in wrong]
    shutil.rmtree(home)
    return report


def killed_in_time(scene: Scene, seconds: float, disk: Disk, by: signal.Signals = signal.SIGKILL) -> Callable[[Path], bool]:
    """Killed from outside, so many seconds after it began."""

    def die(home: Path) -> bool:
        child = _fork(lambda: scene.act(quiet_world(home, disk)))
        time.sleep(seconds)
        os.kill(child, by)
        return _was_killed(child)

    return die


def killed_at_step(scene: Scene, step: int, *, after: bool) -> Callable[[Path], bool]:
    """Killed right before or after one step of writing to the disk; a write is then half done."""

    def die(home: Path) -> bool:
        disk = _Mortal(fails_at=step, failure=_kill_myself, half=True, after=after)
        return _was_killed(_fork(lambda: scene.act(quiet_world(home, disk))))

    return die


def every_step(root: Path, wants: Mapping[str, Wanted], stride: int = 1, first: int = 1) -> Report:
    """Each scene, killed before and after each of its steps, or every so manyth one, until it comes to its end."""
    report = Report()
    for scene in SCENES:
        home, want = root / "home", wants[scene.name]
        for step in range(first, 200, stride):
            run = run_one(scene, home, want, killed_at_step(scene, step, after=False))
            report.add(run)
            if not run.counts["killed"]:  # it has no such step
                break
            report.add(run_one(scene, home, want, killed_at_step(scene, step, after=True)))
    return report


def random_moments(root: Path, wants: Mapping[str, Wanted], runs: int, chance: random.Random, disk: Disk | None = None) -> Report:
    """So many runs, each of some scene and killed, ended or interrupted at some moment of the time that it takes."""
    report = Report()
    disk = disk or QuickDisk()
    takes = {scene.name: _seconds(scene, root / "home", disk) for scene in SCENES}
    for _ in range(runs):
        scene = chance.choice(SCENES)
        die = killed_in_time(scene, chance.uniform(0, 1.1 * takes[scene.name]), disk, chance.choice(SIGNALS))
        report.add(run_one(scene, root / "home", wants[scene.name], die))
    return report


def all_wanted(root: Path) -> dict[str, Wanted]:
    """What each scene comes to."""
    return {scene.name: wanted(scene, root / "home") for scene in SCENES}


def _after(path: Path) -> bytes:
    before = path.read_bytes() if path.exists() else b""
    if path.name in {".env", "50-gpuassist.conf"}:
        return before + b"CUDA_HOME=/usr/local/cuda-12.4\n"
    first = before.find(b"export PATH")
    lines = (Lines(first, before.index(b"\n", first) + 1),) if first >= 0 else ()
    return write(before, block_lines("/usr/local/cuda-12.4"), LineChanges(lines), CHANGE)


def _below(home: Path) -> Iterator[Path]:
    for directory, directories, files in os.walk(home):
        if directory == str(home):
            directories.remove(".local") if ".local" in directories else None
        yield from (Path(directory, name) for name in sorted([*directories, *files]))


def _attribute(path: Path) -> bytes:
    try:
        return os.getxattr(path, ATTRIBUTE)
    except OSError:
        return b""


def _of(home: Path, found: Snapshot, name: str) -> Entry | None:
    return found.get(str((home / name).resolve().relative_to(home.resolve())))


def _half_written(found: Snapshot, want: Wanted) -> list[str]:
    names = {name for name in (*found, *want.start, *want.done) if MARK not in name}
    return [
        f"{name} is neither old nor new: {found.get(name)}"
        for name in sorted(names)
        if found.get(name) not in (JUST_MADE, *(one.get(name) for one in (want.start, want.done, *want.between)))
    ]


def _difference(one: Snapshot, other: Snapshot) -> dict[str, object]:
    return {name: (one.get(name), other.get(name)) for name in {*one, *other} if one.get(name) != other.get(name)}


def _backups(home: Path) -> list[str]:
    """What is missing of the records of a change that has begun to be made."""
    world = quiet_world(home)
    journal = Journal.of(world)
    entries = journal.entries()
    if not entries:
        return ["a file is new and nothing is on record"]
    kept = {BASHRC, BASHRC + b"\n", DOTENV, b""}
    return [f"{entry.receipt.id}: the backup is damaged" for entry in entries if journal.before(entry.receipt) not in kept]


def _take_all_back(home: Path) -> None:
    with contextlib.suppress(NothingToUndoError):
        while True:
            undo(quiet_world(home), "")


def _seconds(scene: Scene, home: Path, disk: Disk) -> float:
    scene.set_up(home)
    scene.prepare(home)
    began = time.perf_counter()
    os.waitpid(_fork(lambda: scene.act(quiet_world(home, disk))), 0)
    shutil.rmtree(home)
    return time.perf_counter() - began


def _fork(act: Callable[[], None]) -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # not before the child is where it can be caught
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return child
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        act()
        os._exit(0)
    finally:  # Ctrl-C: what has to be put back was put back on the way here
        os.kill(os.getpid(), signal.SIGKILL)


def _kill_myself(path: str) -> BaseException:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError(path)


def _was_killed(child: int) -> bool:
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def main(runs: int, stride: int, seed: int, root: Path) -> int:
    """Steps of every scene, then so many random moments."""
    chance = random.Random(seed)
    wants = all_wanted(root)
    report = every_step(root, wants, stride, chance.randint(1, stride))
    report.add(random_moments(root, wants, runs, chance))
    sys.stdout.write(json.dumps(report.document()) + "\n")
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])))
