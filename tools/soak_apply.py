"""Kills changes and undos of start-up files thousands of times, at random moments and at every system call that changes the disk.

Each file must then be old or new, byte for byte with mode, owner and attributes, the backup whole, and the next run must settle it.
`python tools/soak_apply.py [--runs N] [--seed N] [--steps] [--calls]` from the project's root prints what it counted, and exits
with 1 where anything was wrong. Everything happens below a scratch directory (`--directory`); `--calls` needs strace.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from gpuassist.system.disk import Disk
from tests.changes.crashing import SCENES, Report, Scene, Wanted, all_wanted, every_step, quiet_world, random_moments, run_one

ROOT = Path(__file__).resolve().parent.parent
BEGINS = "/gpuassist-soak-begins"
CHUNK = 500
FLUSHED = 5  # every so manyth chunk waits for the disk as the program does; the others spare it
# Only these change what is on the disk: killed before any other call, a process leaves what it left before the next of these.
CHANGING = re.compile(
    r"(rename|link|unlink|rmdir|mkdir|chmod|fchmod|chown|fchown|lchown|setxattr|fsetxattr|write|pwrite64|fsync|ftruncate|flock)(at2?)?\("
    r"|openat\(.*O_(CREAT|TRUNC)|exit_group\("
)


def main() -> int:
    """Runs what was asked for and prints the report as JSON."""
    options = _options()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(dir=options.directory) as scratch:
        root = Path(scratch)
        os.environ.update(HOME=scratch, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1")
        wants = all_wanted(root)
        report = Report()
        if options.steps:
            report.add(every_step(root, wants))
        _random(report, root, wants, runs=options.runs, seed=options.seed)
        if options.calls:
            _every_call(report, root, wants, options.scenes)
    print(json.dumps({**report.document(), "seconds": round(time.monotonic() - began)}, indent=1))
    return 1 if report.wrong else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, help="so many kills at random moments")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", action="store_true", help="before and after every step of writing to the disk")
    parser.add_argument("--calls", action="store_true", help="at every system call that changes the disk, with strace")
    parser.add_argument("--scenes", type=int, nargs="*", default=range(len(SCENES)), help="with --calls: only these, from 0")
    parser.add_argument("--directory", default=None, help="where to make the scratch homes (default: the system's)")
    parser.add_argument("--act", nargs=2, metavar=("SCENE", "HOME"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.act:
        _act(SCENES[int(options.act[0])], Path(options.act[1]))
        sys.exit(0)
    return options


def _random(report: Report, root: Path, wants: dict[str, Wanted], *, runs: int, seed: int) -> None:
    chance = random.Random(seed)
    for number, done in enumerate(range(0, runs, CHUNK)):
        disk = Disk() if number % FLUSHED == 0 else None
        report.add(random_moments(root, wants, min(CHUNK, runs - done), chance, disk))
        print(f"{report.runs} runs, {len(report.wrong)} wrong", file=sys.stderr, flush=True)


def _every_call(report: Report, root: Path, wants: dict[str, Wanted], scenes: Iterable[int]) -> None:
    if shutil.which("strace") is None:
        report.wrong.append("NOT RUN: every system call; install the package strace")
        return
    for number in scenes:
        scene = SCENES[number]
        calls = _calls(number, scene, root / "home")
        for name, ordinal in calls:
            run = run_one(scene, root / "home", wants[scene.name], _killed_at(number, name, ordinal, root / "trace"))
            run.counts.update([f"at system call {name}"])
            report.add(run)
        for words in report.wrong:
            print(words, file=sys.stderr)
        print(f"{scene.name}: {len(calls)} system calls, {len(report.wrong)} wrong", file=sys.stderr, flush=True)


def _calls(number: int, scene: Scene, home: Path) -> list[tuple[str, int]]:
    """The system calls from the moment when the work begins: each by its name and the how manyth of that name it is."""
    scene.set_up(home)
    scene.prepare(home)
    log = home.parent / "trace"
    subprocess.run(["strace", "-o", str(log), *_command(number, home)], check=True, timeout=120, cwd=ROOT)
    shutil.rmtree(home)
    seen: Counter[str] = Counter()
    calls: list[tuple[str, int]] = []
    begun = False
    for line in log.read_text("utf-8", "replace").splitlines():
        found = re.match(r"(\w+)\(", line)
        if not found:
            continue
        seen[found[1]] += 1
        if begun and CHANGING.match(line):
            calls.append((found[1], seen[found[1]]))
        begun = begun or BEGINS in line
    return calls


def _killed_at(number: int, name: str, ordinal: int, log: Path) -> Callable[[Path], bool]:
    def die(home: Path) -> bool:
        inject = f"inject={name}:signal=KILL:when={ordinal}"
        command = ["strace", "-f", "-o", str(log), "-e", f"trace={name}", "-e", inject, *_command(number, home)]
        return subprocess.run(command, timeout=120, cwd=ROOT, check=False).returncode != 0

    return die


def _command(number: int, home: Path) -> list[str]:
    return [sys.executable, str(Path(__file__).resolve()), "--act", str(number), str(home)]


def _act(scene: Scene, home: Path) -> None:
    world = quiet_world(home, Disk())
    os.path.exists(BEGINS)
    scene.act(world)


if __name__ == "__main__":
    sys.exit(main())
