"""Keeps torch's own snapshot of its memory at an out-of-memory error; loaded only where `gpuassist run --snapshots DIRECTORY` asks.

It costs the program: torch notes a stack with every allocation from the start of CUDA on (2 µs each, by torch's own words), and
at the error the program stands still while the snapshot is written. What is kept is what `torch.cuda.memory._dump_snapshot` writes.
"""

from __future__ import annotations

import os
import sys

import gpuassist_memory  # type: ignore[import-not-found]
import gpuassist_wish  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DIRECTORY = "GPUASSIST_SNAPSHOTS"
"""The environment variable that names where they go."""
ENTRIES_AT_MOST = 100_000  # of the history: the last ones before the error
FILES_AT_MOST = 3  # of one program: who tries smaller and smaller batches has hundreds of errors


class SnapshotWatch(gpuassist_memory._Watch):  # type: ignore[misc]
    """Behind the note of an error stands the one of its snapshot: the file's path, or why there is none."""

    _files = 0

    def start(self) -> None:
        super().start()
        gpuassist_memory._guarded(_record, self._torch.cuda.memory)

    def note(self, kind: int, words: str) -> None:
        notes = self._notes
        super().note(kind, words)
        if kind != gpuassist_memory.OUT_OF_MEMORY or self._notes == notes or self._files >= FILES_AT_MOST:
            return
        self._files += 1
        path = _path(self._files)
        trouble = gpuassist_memory._guarded(gpuassist_wish.keep, self._torch.cuda.memory, path)
        super().note(gpuassist_memory.SNAPSHOT, trouble or path)


def _record(memory: Any) -> None:
    try:
        memory._record_memory_history(max_entries=ENTRIES_AT_MOST, stacks="python")
    except TypeError:  # before torch 2.1: stacks of what is allocated, and no history; in 1.13 on the GPU alone that is chosen now
        memory._record_memory_history(enabled=True)


def _path(number: int) -> str:
    from time import strftime

    script = os.path.basename(sys.argv[0] if getattr(sys, "argv", None) else "") or "python"
    plain = "".join(letter if letter.isalnum() or letter in "._-" else "_" for letter in script)[:60]
    return f"{os.environ[DIRECTORY]}/oom-{plain}-{strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{number}.pickle"


gpuassist_memory._Watch = SnapshotWatch
