"""What a program does on the processor: its main thread, and the processes that it started to read data.

DataLoader's workers are on no GPU, so that no list of NVML's has them: they are found as children of the program (proc(5)). All
files read here are open to everybody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.system.files import Files
from gpuassist.system.process_names import TICKS_A_SECOND

WORKERS_AT_MOST = 64
_AT_MOST_BYTES = 4096
# Places after the name in /proc/PID/stat (proc(5): fields 3, 14, 15 and 22).
_STATE, _USER_TICKS, _SYSTEM_TICKS, _STARTED = 0, 11, 12, 19
_WAITS_FOR_DISK = b"D"
_NOT_YET = Unknown(text("it takes two looks to tell"))
_GONE = Unknown(text("it has ended, or is not visible from here"))


class HostLoad(Struct, frozen=True):
    """Percent of a core since the look before: of the main thread, and of each process that it started.

    `waits_for_disk`: how many of these waited for a disk, or for a file over the network, at this very moment.
    """

    main_thread_percent: Fact[float] = NOT_ASKED
    workers_percent: tuple[float, ...] = ()
    waits_for_disk: int = 0


class HostLoads:
    """Looks at programs again and again; used by one thread."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._before: dict[str, tuple[int, int, float]] = {}

    def look(self, pids: Iterable[int], now: float) -> dict[int, HostLoad]:
        """Each of these programs at `now`, seconds of a clock that never jumps; of a new one only what needs no second look."""
        before, self._before = self._before, {}
        return {pid: self._load(pid, now, before) for pid in pids}

    def _load(self, pid: int, now: float, before: dict[str, tuple[int, int, float]]) -> HostLoad:
        own = self._percent(f"/proc/{pid}/task/{pid}/stat", now, before)
        if own is None:
            return HostLoad(_GONE)
        percent, waiting = own
        workers = [found for child in self._children(pid) if (found := self._percent(f"/proc/{child}/stat", now, before))]
        known = tuple(worker for worker, _ in workers if worker is not None)
        waits = sum(waits for _, waits in workers) + waiting
        return HostLoad(_NOT_YET if percent is None else Known(percent, "/proc/PID/task/PID/stat"), known, waits)

    def _percent(self, path: str, now: float, before: dict[str, tuple[int, int, float]]) -> tuple[float | None, bool] | None:
        fields = self._files.head(path, _AT_MOST_BYTES).rpartition(b")")[2].split()
        if len(fields) <= _STARTED:
            return None
        ticks, started = int(fields[_USER_TICKS]) + int(fields[_SYSTEM_TICKS]), int(fields[_STARTED])
        waiting = fields[_STATE] == _WAITS_FOR_DISK
        self._before[path] = (ticks, started, now)
        last = before.get(path)
        if last is None or last[1] != started or now <= last[2]:
            return None, waiting
        return max(0, ticks - last[0]) / TICKS_A_SECOND * 100 / (now - last[2]), waiting

    def _children(self, pid: int) -> list[int]:
        """And theirs: a server that forks workers stands between (multiprocessing's forkserver)."""
        found = list(self._children_of(pid))
        for child in tuple(found):
            found += self._children_of(child)
        return found[:WORKERS_AT_MOST]

    def _children_of(self, pid: int) -> Iterator[int]:
        for words in self._files.head(f"/proc/{pid}/task/{pid}/children", _AT_MOST_BYTES).split():
            if words.isdigit():
                yield int(words)
