"""What /proc says of the processes that a shell started: who they are, on which terminal, and whether one waits for a key."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

_WAITS_FOR_INPUT = {"n_tty_read", "wait_woken"}


@dataclass(frozen=True, slots=True)
class Process:
    """One line of /proc/PID/stat; `terminal` is the number of its controlling terminal, 0 where it has none, and `front` the process
    group that this terminal listens to.
    """

    pid: int
    name: str
    parent: int
    group: int
    session: int
    terminal: int
    front: int


def process(pid: int) -> Process | None:
    """That process; none where it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            told = file.read()
    except OSError:
        return None
    start, _, rest = told.rpartition(b")")
    state, *numbers = rest.split()[:6]
    if state in {b"Z", b"X"}:
        return None
    name = start.partition(b"(")[2].decode("utf-8", "replace")
    return Process(pid, name, *(int(number) for number in numbers))


def descendants(pid: int) -> tuple[Process, ...]:
    """All that it started, and what those started, the oldest first."""
    every = [found for name in os.listdir("/proc") if name.isdigit() and (found := process(int(name))) is not None]
    children: dict[int, list[Process]] = {}
    for one in every:
        children.setdefault(one.parent, []).append(one)
    found: list[Process] = []
    waiting = [pid]
    while waiting:
        below = children.pop(waiting.pop(), [])
        found += below
        waiting += [one.pid for one in below]
    return tuple(sorted(found, key=lambda one: one.pid))


def terminal_of(pid: int) -> str:
    """The device of the terminal that it reads from; empty where it reads from none."""
    try:
        place = os.readlink(f"/proc/{pid}/fd/0")
    except OSError:
        return ""
    return place if place.startswith("/dev/pts/") else ""


def program_of(pid: int) -> str:
    """The file that it runs; empty where that cannot be seen."""
    try:
        return os.readlink(f"/proc/{pid}/exe").removesuffix(" (deleted)")
    except OSError:
        return ""


def reads_terminal(processes: Iterable[Process]) -> Process | None:
    """The one that waits for a line or a key from a terminal."""
    return next((one for one in processes if _reads_terminal(one.pid)), None)


def _reads_terminal(pid: int) -> bool:
    # The system call's first argument is the descriptor that is read; without the right to look there, the kernel's function tells.
    try:
        with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
            if file.read().strip() not in _WAITS_FOR_INPUT:
                return False
    except OSError:
        return False
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            words = file.read().split()
        place = os.readlink(f"/proc/{pid}/fd/{int(words[1], 16)}")
    except (OSError, ValueError, IndexError):
        return True
    return place.startswith("/dev/pts/") or place == "/dev/tty"
