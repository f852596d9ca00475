"""Hears what gpuassist asks of this program while it runs: torch's snapshot of its memory now, or after recording for some seconds.

A wish is a file beside the program's own in that private directory, `<pid>-<start>.wish`; what came of it is told in `….told`.
It is looked for twice a second, when the figures are written. While a snapshot is taken and written the program stands still.
"""

from __future__ import annotations

import os

import gpuassist_memory  # type: ignore[import-not-found]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable

WISH, TOLD = ".wish", ".told"
AT_MOST_BYTES = 8192
ENTRIES_AT_MOST = 1_000_000


class WishWatch(gpuassist_memory._Watch):  # type: ignore[misc]
    """A watch that hears wishes, on its own thread alone."""

    _own_thread = 0
    _target, _due, _is_recording = "", 0.0, False

    def _run(self) -> None:
        from _thread import get_ident

        self._own_thread = get_ident()
        super()._run()

    def _write(self, blocks: Iterable[tuple[int, bytes]]) -> None:
        from _thread import get_ident

        super()._write(blocks)
        if get_ident() == self._own_thread and not self._ended:
            trouble = gpuassist_memory._guarded(self._hear)
            if trouble:
                gpuassist_memory._guarded(self._tell_outcome, "!" + trouble)

    def _hear(self) -> None:
        memory = self._torch.cuda.memory
        if self._target:
            if self._now() >= self._due:
                self._finish(memory)
            return
        wish = self._beside(WISH)
        if not os.path.lexists(wish):
            return
        descriptor = os.open(wish, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            words = os.read(descriptor, AT_MOST_BYTES).decode("utf-8", "surrogateescape")
        finally:
            os.close(descriptor)
            os.unlink(wish)
        seconds, _, target = words.rstrip("\n").partition(" ")
        self._target, self._due = target, self._now() + float(seconds)
        if float(seconds) > 0 and not _is_on(self._torch):
            record(memory, ENTRIES_AT_MOST)
            self._is_recording = True
        if float(seconds) <= 0:
            self._finish(memory)

    def _finish(self, memory: Any) -> None:
        target, self._target = self._target, ""
        try:
            keep(memory, target)
        finally:
            if self._is_recording:
                self._is_recording = False
                stop(memory)
        self._tell_outcome(target)

    def _tell_outcome(self, words: str) -> None:
        self._target = ""
        part, told = self._beside(".part"), self._beside(TOLD)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, words.encode("utf-8", "surrogateescape"))
        finally:
            os.close(descriptor)
        os.rename(part, told)

    def _beside(self, ending: str) -> str:
        return str(self._path)[: -len(gpuassist_memory.SUFFIX)] + ending


def _is_on(torch: Any) -> bool:
    """Whether the program records its allocations itself: then it is left alone. Before torch 2.2 nobody can tell."""
    asked = getattr(torch._C, "_cuda_isHistoryEnabled", None)
    return bool(asked()) if asked is not None else False


def record(memory: Any, entries: int) -> None:
    try:
        memory._record_memory_history(max_entries=entries, stacks="python")
    except TypeError:  # before torch 2.1
        memory._record_memory_history(enabled=True, trace_alloc_max_entries=entries, trace_alloc_record_context=True)


def stop(memory: Any) -> None:
    try:
        memory._record_memory_history(enabled=None)
    except TypeError:
        memory._record_memory_history(enabled=False)


def keep(memory: Any, path: str) -> None:
    """All of it or nothing: a full disk leaves no half of a file."""
    from pickle import dump

    snapshot = memory._snapshot()
    part = path + ".part"
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    kept = False
    try:
        with os.fdopen(descriptor, "wb") as file:
            dump(snapshot, file)
        os.rename(part, path)
        kept = True
    finally:
        if not kept:
            os.unlink(part)


gpuassist_memory._Watch = WishWatch
