"""Processes that have a `/dev/nvidia*` node open, from the open files that the kernel shows this user."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.detect.accounts import Accounts
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.machine import Holder
from gpuassist.model.text import text
from gpuassist.system.files import Files
from gpuassist.system.world import World

_PROC = "/proc"


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
    devices = tuple(sorted(set(_devices(files, f"{_PROC}/{pid}/fd"))))
    if not devices:
        return None
    try:
        user = accounts.user(files.status(f"{_PROC}/{pid}").st_uid)
    except OSError:  # it ended meanwhile
        return None
    return Holder(int(pid), user, _command(files, pid), devices)


def _devices(files: Files, directory: str) -> Iterator[str]:
    for name in files.names(directory):
        try:
            target = files.readlink(f"{directory}/{name}")
        except OSError:  # closed, or the process ended, since the directory was listed
            continue
        if target.startswith("/dev/nvidia"):
            yield target


def _command(files: Files, pid: str) -> str:
    for name, separator in (("cmdline", "\0"), ("comm", "\n")):
        try:
            words = files.read_text(f"{_PROC}/{pid}/{name}", 1 << 16).rstrip("\0\n").replace(separator, " ")
        except OSError:
            continue
        if words:
            return words
    return ""
