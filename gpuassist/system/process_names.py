"""Whose a process is and what its command line is, from /proc; remembered as long as it is the same process."""

from __future__ import annotations

import pwd
from dataclasses import dataclass

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.system.files import Files

LOOK_AGAIN_SECONDS = 1.0
_COMMAND_AT_MOST_BYTES = 4096
_NOT_HERE = Unknown(text("this process is not visible here: it ended, or it is in another container"))
_STARTED = 19  # place of starttime after the name in /proc/PID/stat (proc(5): field 22)


@dataclass(frozen=True, slots=True)
class ProcessName:
    """Who and what; `started` is in clock ticks since boot, 0 where the process is not visible."""

    user: Fact[str]
    command: Fact[str]
    started: int


class ProcessNames:
    """Reads a process when it is first asked for, then only whether it is still the same one, once a second."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._known: dict[int, tuple[float, ProcessName]] = {}
        self._users: dict[int, str] = {}

    def look(self, pid: int, now: float) -> ProcessName:
        """The process that has this number at `now`, seconds of a clock that never jumps."""
        looked, name = self._known.get(pid, (0.0, None))
        if name is not None and now - looked < LOOK_AGAIN_SECONDS:
            return name
        started = self._started(pid)
        if name is None or started != name.started:
            name = ProcessName(self._user(pid), self._command(pid), started)
        self._known[pid] = (now, name)
        return name

    def forget_others(self, pids: frozenset[int]) -> None:
        """Keeps only these."""
        for pid in self._known.keys() - pids:
            del self._known[pid]

    def _started(self, pid: int) -> int:
        try:
            words = self._files.read_bytes(f"/proc/{pid}/stat", 4096)
            return int(words.rpartition(b")")[2].split()[_STARTED])  # the name before it may hold spaces and brackets
        except (OSError, ValueError, IndexError):
            return 0

    def _user(self, pid: int) -> Fact[str]:
        place = f"/proc/{pid}"
        try:
            uid = self._files.status(place).st_uid
        except OSError:
            return _NOT_HERE
        if uid not in self._users:
            self._users[uid] = _name_of(uid)
        return Known(self._users[uid], place)

    def _command(self, pid: int) -> Fact[str]:
        for name, separator in (("cmdline", b"\0"), ("comm", b"\n")):  # a process that is ending has only the second
            place = f"/proc/{pid}/{name}"
            try:
                words = self._files.read_bytes(place, _COMMAND_AT_MOST_BYTES).rstrip(b"\0\n").replace(separator, b" ")
            except OSError:
                continue
            if words:
                return Known(words.decode("utf-8", "replace"), place)
        return _NOT_HERE


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
