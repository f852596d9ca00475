"""Who a process on a GPU is, from /proc: the one rule of the live page, of `monitor` and of `holders`.

NVML names processes by number, and in a container by the host's numbers or by none, so that the same number here may be anybody
(`is_meant`). What is known of a process is remembered as long as it is the same one.
"""

from __future__ import annotations

import os
import pwd

from msgspec import Struct

from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.text import text
from gpuassist.system.files import Files

LOOK_AGAIN_SECONDS = 1.0
STRANGER_SECONDS, STRANGER_AGAIN_SECONDS = 10.0, 60.0
"""So long a process without a GPU is looked at whenever others are, because it may be about to open one, and then so seldom."""

_COMMAND_AT_MOST_BYTES = 4096
NOT_VISIBLE = Unknown(text("not visible from here: it has ended since, or runs in another container or on the host"))
_GPUS = ("/dev/nvidia", "/dev/dxg", "/dev/nvhost", "/dev/nvmap")  # the second is WSL's, the last two are those of a Jetson
_NAMESPACE = "/proc/self/ns/pid"
_FIRST_NAMESPACE = "pid:[4026531836]"  # the kernel's PROC_PID_INIT_INO: the host itself, whose numbers NVML tells
# Places after the name in /proc/PID/stat (proc(5): fields 14, 15, 22 and 24).
_USER_TICKS, _SYSTEM_TICKS, _STARTED, _RESIDENT = 11, 12, 19, 21
TICKS_A_SECOND, _PAGE_BYTES = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
_STAT = "/proc/PID/stat"
IDLE_PERCENT = 1.0
"""Of a core: a kernel that waits for its next cell wakes about once a second to see whether its server is there."""

_NOTEBOOK = b"JPY_SESSION_NAME="
_VARIABLES_AT_MOST_BYTES = 1 << 17
# An interpreter, what of its options runs something that is no file, and those that are followed by a word of theirs.
# python -m package.module, -um package.module, -c CODE (docs.python.org/3/using/cmdline.html); -lc CODE of a shell.
_INTERPRETERS = tuple(
    tuple(map(lazy_regex, family))
    for family in (
        (r"(python|pypy)[\d.]*t?", r"-[bBdEiIlOqRsSuvx]*(?P<what>[cm])(?P<rest>.*)", r"-[bBdEiIlOqRsSuvx]*[WX]|--check-hash.*"),
        (r"(ba|da|k|z)?sh", r"-[a-zA-Z]*(?P<what>c)(?P<rest>)", r"[-+][a-zA-Z]*[oO]|--(rc|init-)file"),
        (r"node|java", r"(?P<what>-e)(?P<rest>)", r"-r|--require|-cp|-classpath|--class-path"),
    )
)
_NO_NOTEBOOK = Unknown(text("it is no kernel of a notebook"))
_NOT_YET = Unknown(text("it takes two looks to tell"))


class ProcessName(Struct, frozen=True):
    """Who and what; `started` is in clock ticks since boot, 0 where the process is not visible.

    `cgroup` is the text of its /proc/PID/cgroup, `notebook` the path of the notebook whose kernel it is, empty where it is none.
    """

    user: Fact[str]
    command: Fact[str]
    started: int
    cgroup: Fact[str] = NOT_ASKED
    notebook: Fact[str] = NOT_ASKED


class ProcessLoad(Struct, frozen=True):
    """What a process takes of the machine: percent of one core between two looks, memory, seconds since it last did anything."""

    cpu_percent: Fact[float]
    resident_bytes: Fact[int]
    idle_seconds: Fact[float]


_NOT_LOOKED_TWICE = ProcessLoad(_NOT_YET, _NOT_YET, _NOT_YET)
_LOAD_NOT_VISIBLE = ProcessLoad(NOT_VISIBLE, NOT_VISIBLE, NOT_VISIBLE)


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


def started_ticks(files: Files, pid: int) -> int:
    """When a process started, in clock ticks since boot: tells it from another of the same number; 0 where it is not there."""
    return _number(stat_fields(files, pid), _STARTED)


class ProcessNames:
    """Reads a process when it is first asked for, then only whether it is still the same one and what it does, once a second."""

    def __init__(self, files: Files, me: int) -> None:
        self._files, self._me = files, me
        self._known: dict[int, _Seen] = {}
        self._users: dict[int, str] = {}

    def look(self, pid: int, now: float) -> ProcessName:
        """The process that has this number at `now`, seconds of a clock that never jumps."""
        return self._seen(pid, now).name

    def look_and_load(self, pid: int, now: float) -> tuple[ProcessName, ProcessLoad]:
        """The same, and what it does."""
        seen = self._seen(pid, now)
        return seen.name, seen.load

    def forget_others(self, pids: frozenset[int]) -> None:
        for pid in self._known.keys() - pids:
            del self._known[pid]

    def _seen(self, pid: int, now: float) -> _Seen:
        seen = self._known.get(pid)
        if seen is not None and now - seen.looked < LOOK_AGAIN_SECONDS:
            return seen
        fields = stat_fields(self._files, pid)
        started = _number(fields, _STARTED)
        same = seen is not None and started == seen.name.started
        if seen is None or not same or seen.may_be_meant_now(now):
            first = seen.first if seen is not None and same else now
            name = ProcessName(NOT_VISIBLE, NOT_VISIBLE, started, NOT_VISIBLE, NOT_VISIBLE)
            seen = _Seen(self._read(pid, started) if is_meant(self._files, pid, self._me) else name, first, now)
            self._known[pid] = seen
        seen.work(fields, now)
        return seen

    def _read(self, pid: int, started: int) -> ProcessName:
        place = f"/proc/{pid}"
        try:
            uid = self._files.status(place).st_uid
        except OSError:
            return ProcessName(NOT_VISIBLE, NOT_VISIBLE, started, NOT_VISIBLE, NOT_VISIBLE)
        if uid not in self._users:
            self._users[uid] = user_name(uid)
        command = self._command(pid)
        group = self._files.text(f"{place}/cgroup", _COMMAND_AT_MOST_BYTES)
        return ProcessName(
            Known(self._users[uid], place),
            command,
            started,
            Known(group, f"{place}/cgroup") if group else NOT_VISIBLE,
            self._notebook(pid, command),
        )

    def _command(self, pid: int) -> Fact[str]:
        words, name = command_of(self._files, pid, _COMMAND_AT_MOST_BYTES)
        return Known(words, f"/proc/{pid}/{name}") if words else NOT_VISIBLE

    def _notebook(self, pid: int, command: Fact[str]) -> Fact[str]:
        # Jupyter's server names it to the kernels that it starts (jupyter_server, SessionManager.get_kernel_env).
        if not isinstance(command, Known) or "ipykernel" not in command.value:
            return _NO_NOTEBOOK
        place = f"/proc/{pid}/environ"
        try:
            variables = self._files.read_bytes(place, _VARIABLES_AT_MOST_BYTES).split(b"\0")
        except OSError:
            return Unknown(text("what other users' processes were started with may not be seen"))
        path = next((one[len(_NOTEBOOK) :] for one in variables if one.startswith(_NOTEBOOK)), b"")
        return Known(path.decode("utf-8", "replace"), place)


class _Seen:
    """A process as it was when it was last looked at."""

    def __init__(self, name: ProcessName, first: float, now: float) -> None:
        self.name, self.first = name, first
        self.looked, self._asked = 0.0, now
        self.load = _NOT_LOOKED_TWICE
        self._ticks: int | None = None
        self._busy_at = 0.0

    def may_be_meant_now(self, now: float) -> bool:
        """One that has no GPU open yet may be seen a moment before it opens one: all that it has open is looked at again."""
        every = LOOK_AGAIN_SECONDS if now - self.first < STRANGER_SECONDS else STRANGER_AGAIN_SECONDS
        return self.name.user is NOT_VISIBLE and now - self._asked >= every

    def work(self, fields: list[bytes], now: float) -> None:
        """Takes in its stat of this moment."""
        looked, self.looked = self.looked, now
        if len(fields) <= _RESIDENT or self.name.user is NOT_VISIBLE:
            self.load = _LOAD_NOT_VISIBLE
            return
        ticks = _number(fields, _USER_TICKS) + _number(fields, _SYSTEM_TICKS)
        before, self._ticks = self._ticks, ticks
        resident = Known(_number(fields, _RESIDENT) * _PAGE_BYTES, _STAT)
        if before is None or now <= looked:
            self._busy_at = now
            self.load = ProcessLoad(_NOT_YET, resident, _NOT_YET)
            return
        percent = max(0, ticks - before) / TICKS_A_SECOND * 100 / (now - looked)
        if percent >= IDLE_PERCENT:
            self._busy_at = now
        self.load = ProcessLoad(Known(round(percent, 1), _STAT), resident, Known(now - self._busy_at, _STAT))


def stat_fields(files: Files, pid: int) -> list[bytes]:
    """What stands in /proc/PID/stat behind the name, which may hold spaces and brackets; empty where it is not there."""
    return files.head(f"/proc/{pid}/stat", 4096).rpartition(b")")[2].split()


def command_of(files: Files, pid: int, at_most: int) -> tuple[str, str]:
    """A process's command line, and the file that holds it: one that is ending has only its name."""
    for name, separator in (("cmdline", b"\0"), ("comm", b"\n")):
        words = files.head(f"/proc/{pid}/{name}", at_most).rstrip(b"\0\n").replace(separator, b" ")
        if words:
            return words.decode("utf-8", "replace"), name
    return "", ""


def script_name(command: str) -> str:
    """What a command is known by: its script or module where an interpreter runs one, else its program; empty of none."""
    parts = command.split()
    if not parts:
        return ""
    program = parts[0].rpartition("/")[2]
    known = next((family for family in _INTERPRETERS if family[0].fullmatch(program)), None)
    if known is None:
        return program
    _, code, with_a_value = known
    # What stands behind the script is the script's own: train.py -c config.yaml.
    rest = iter(parts[1:])
    for word in rest:
        found = code.fullmatch(word)
        if found is not None:
            return (found["rest"] or next(rest, "") if found["what"] == "m" else "") or program
        if with_a_value.fullmatch(word):
            next(rest, "")
        elif not word.startswith("-"):
            return word.rpartition("/")[2]
    return program


def _number(fields: list[bytes], place: int) -> int:
    return int(fields[place]) if len(fields) > place and fields[place].isdigit() else 0


def user_name(uid: int) -> str:
    """By every source of users that this machine has; the number where none knows it."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
