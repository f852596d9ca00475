"""Who a process on a GPU is, from /proc: the one rule of the live page, of `monitor` and of `holders`.

NVML names processes by number, and in a container by the host's numbers or by none, so that the same number here may be anybody
(`is_meant`). What is known of a process is remembered as long as it is the same one.
"""

from __future__ import annotations

import os
import pwd

from msgspec import Struct

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text
from gpuassist.system.files import Files

LOOK_AGAIN_SECONDS = 1.0
_COMMAND_AT_MOST_BYTES = 4096
NOT_VISIBLE = Unknown(text("not visible from here: it has ended since, or runs in another container or on the host"))
_GPUS = ("/dev/nvidia", "/dev/dxg", "/dev/nvhost", "/dev/nvmap")  # the second is WSL's, the last two are those of a Jetson
_NAMESPACE = "/proc/self/ns/pid"
_FIRST_NAMESPACE = "pid:[4026531836]"  # the kernel's PROC_PID_INIT_INO: the host itself, whose numbers NVML tells
_STARTED = 19  # place of starttime after the name in /proc/PID/stat (proc(5): field 22)


class ProcessName(Struct, frozen=True):
    """Who and what; `started` is in clock ticks since boot, 0 where the process is not visible."""

    user: Fact[str]
    command: Fact[str]
    started: int


def gpu_devices(files: Files, pid: int) -> tuple[str, ...] | None:
    """The GPUs' device nodes that the process has open, sorted; None where that may not be seen."""
    directory = f"/proc/{pid}/fd"
    try:
        names = os.listdir(files.place(directory))
    except PermissionError:
        return None
    except OSError:  # it ended
        return ()
    found, hidden = set(), False
    for name in names:
        try:
            target = files.readlink(f"{directory}/{name}")
        except OSError as error:  # closed, or the process ended, since the directory was listed
            hidden = hidden or isinstance(error, PermissionError)
            continue
        if target.startswith(_GPUS):
            found.add(target)
    return None if hidden and not found else tuple(sorted(found))


def is_meant(files: Files, pid: int, me: int) -> bool:
    """Whether the process that has this number here is the one that NVML means by it, as far as user `me` can tell.

    Whoever is on a GPU has its device open. Where open files may not be seen, those of other users, the number counts on the host
    itself alone.
    """
    try:
        owner = files.status(f"/proc/{pid}").st_uid
    except OSError:  # it ended, or it is in another container
        return False
    devices = gpu_devices(files, pid)
    if devices or (devices is not None and me in {0, owner}):
        return bool(devices)
    try:
        return files.readlink(_NAMESPACE) == _FIRST_NAMESPACE
    except OSError:  # a kernel without namespaces
        return True


class ProcessNames:
    """Reads a process when it is first asked for, then only whether it is still the same one, once a second."""

    def __init__(self, files: Files, me: int) -> None:
        self._files, self._me = files, me
        self._known: dict[int, tuple[float, ProcessName]] = {}
        self._users: dict[int, str] = {}

    def look(self, pid: int, now: float) -> ProcessName:
        """The process that has this number at `now`, seconds of a clock that never jumps."""
        looked, name = self._known.get(pid, (0.0, None))
        if name is not None and now - looked < LOOK_AGAIN_SECONDS:
            return name
        started = self._started(pid)
        if name is None or started != name.started or name.user is NOT_VISIBLE:
            # One that has no GPU open yet may be seen a moment before it opens one.
            meant = is_meant(self._files, pid, self._me)
            name = (
                ProcessName(self._user(pid), self._command(pid), started)
                if meant
                else ProcessName(NOT_VISIBLE, NOT_VISIBLE, started)
            )
        self._known[pid] = (now, name)
        return name

    def forget_others(self, pids: frozenset[int]) -> None:
        for pid in self._known.keys() - pids:
            del self._known[pid]

    def _started(self, pid: int) -> int:
        # The name before it may hold spaces and brackets.
        fields = self._files.head(f"/proc/{pid}/stat", 4096).rpartition(b")")[2].split()
        return int(fields[_STARTED]) if len(fields) > _STARTED and fields[_STARTED].isdigit() else 0

    def _user(self, pid: int) -> Fact[str]:
        place = f"/proc/{pid}"
        try:
            uid = self._files.status(place).st_uid
        except OSError:
            return NOT_VISIBLE
        if uid not in self._users:
            self._users[uid] = user_name(uid)
        return Known(self._users[uid], place)

    def _command(self, pid: int) -> Fact[str]:
        for name, separator in (("cmdline", b"\0"), ("comm", b"\n")):  # a process that is ending has only the second
            place = f"/proc/{pid}/{name}"
            words = self._files.head(place, _COMMAND_AT_MOST_BYTES).rstrip(b"\0\n").replace(separator, b" ")
            if words:
                return Known(words.decode("utf-8", "replace"), place)
        return NOT_VISIBLE


def user_name(uid: int) -> str:
    """By every source of users that this machine has; the number where none knows it."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
