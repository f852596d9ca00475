"""Making a change and taking it back, beside a bare atomic write of the same file in the same run.

The bare write is the least that keeps a file whole: a sibling, flushed, renamed, its directory flushed. A change also puts what
undo needs on record. The question to `bash -n` is a process of its own, told beside it: one for each start-up file that is changed.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.timing import report
from gpuassist.changes import syntax, undo
from gpuassist.changes.apply import FileChange, apply
from gpuassist.model.plan import FileEdit
from gpuassist.shellfiles.block import toolkit_section
from gpuassist.shellfiles.dialect import Dialect
from gpuassist.shellfiles.edit import LineChanges, write
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World

MOST_RATIO = 5.0
_LINES = 2_000
_ROUNDS = 40


def main() -> bool:
    """Rounds of a bare write, a change and its undo in turn, so that a busy disk slows all of them alike."""
    with tempfile.TemporaryDirectory(dir=os.getcwd()) as directory:  # the disk that the project is on: /tmp may be memory
        home = Path(directory)
        world = World(Surroundings(directory, "you", os.geteuid(), {"PATH": "/usr/bin:/bin"}, directory, "/bin/bash"))
        before = b"".join(b"export SETTING_%d=1  # mine\n" % number for number in range(_LINES))
        rounds = [_round(world, home / ".bashrc", before, number) for number in range(_ROUNDS)]
        asked = _seconds(lambda: syntax.check(world, before))
    floor = statistics.median(bare for bare, _, _ in rounds) * 1000
    detail = f"its undo {_median(rounds, 2):.2f}; a bare write {floor:.1f} ms, bash -n beside it {asked * 1000:.1f} ms"
    return report("a change of a file / a bare atomic write", _median(rounds, 1), MOST_RATIO, detail)


def _round(world: World, path: Path, before: bytes, number: int) -> tuple[float, float, float]:
    path.write_bytes(before)
    change = f"20261121-090000-{number:06x}"
    after = write(before, toolkit_section("/usr/local/cuda-12.4", Dialect.BASH), LineChanges(), change)
    edit = FileEdit(str(path), str(path), before, after, existed=True, dialect="text")  # no shell is asked about it
    bare = _seconds(lambda: _bare_write(path, before))
    made = _seconds(lambda: apply(world, FileChange(change, "use cuda 12.4", (edit,))))
    taken = _seconds(lambda: undo.undo(world, change))
    assert path.read_bytes() == before
    return bare, made, taken


def _bare_write(path: Path, content: bytes) -> None:
    beside = path.with_name(path.name + ".new")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
    directory = os.open(path.parent, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def _seconds(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _median(rounds: list[tuple[float, float, float]], which: int) -> float:
    return statistics.median(one[which] / one[0] for one in rounds)
