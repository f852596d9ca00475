"""Processes that have a `/dev/nvidia*` node open, from the open files that the kernel shows this user."""

from __future__ import annotations

from gpuassist.detect.accounts import Accounts
from gpuassist.detect.small_files import made, read
from gpuassist.formats.cgroup import read_cgroup
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.gpu import Holder
from gpuassist.model.text import text
from gpuassist.system.files import Files
from gpuassist.system.process_names import gpu_devices
from gpuassist.system.world import World

_PROC = "/proc"
_STARTTIME = 19  # its place after the name in /proc/PID/stat (proc(5): field 22)


def probe(world: World) -> Fact[tuple[Holder, ...]]:
    """Own processes, or everyone's for root; nobody sees those of other users without being root."""
    files = world.files
    pids = [name for name in files.names(_PROC) if name.isascii() and name.isdigit()]
    if not pids:
        return Unknown(text("{path} shows no processes", path=_PROC))
    accounts = Accounts(world)
    holders = (_holder(files, pid, accounts) for pid in sorted(pids, key=int))
    return Known(tuple(holder for holder in holders if holder), "/proc/*/fd")


def _holder(files: Files, pid: str, accounts: Accounts) -> Holder | None:
    devices = tuple(device for device in gpu_devices(files, int(pid)) or () if device.startswith("/dev/nvidia"))
    return look(files, int(pid), accounts, devices) if devices else None


def look(files: Files, pid: int, accounts: Accounts, devices: tuple[str, ...] = ()) -> Holder | None:
    """Whose the process is, what it runs and where it belongs; none where it is not visible here."""
    place = f"{_PROC}/{pid}"
    try:
        uid = files.status(place).st_uid
    except OSError:  # it ended meanwhile, or it is in another container
        return None
    state, started = _stat(files, f"{place}/stat")
    group = made(read(files, f"{place}/cgroup"), read_cgroup)
    return Holder(
        pid,
        accounts.user(uid),
        _command(files, str(pid)),
        devices,
        uid=Known(uid, place),
        state=state,
        started=started,
        unit=made(group, lambda one: one.unit),
        container=made(group, lambda one: one.container),
    )


def _stat(files: Files, place: str) -> tuple[Fact[str], Fact[int]]:
    """State and start, which stand behind the name, which may hold spaces and brackets (proc(5))."""
    fields = made(read(files, place), lambda words: words.rpartition(")")[2].split())
    return made(fields, _state), made(fields, _started)


def _state(fields: list[str]) -> str:
    if not fields:
        raise ValueError
    return fields[0]


def _started(fields: list[str]) -> int:
    if len(fields) <= _STARTTIME:
        raise ValueError
    return int(fields[_STARTTIME])


def _command(files: Files, pid: str) -> str:
    for name, separator in (("cmdline", "\0"), ("comm", "\n")):
        try:
            words = files.read_text(f"{_PROC}/{pid}/{name}", 1 << 16).rstrip("\0\n").replace(separator, " ")
        except OSError:
            continue
        if words:
            return words
    return ""
