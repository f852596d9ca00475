"""What /proc says of the processes that a shell started: who they are, on which terminal, and whether one waits for a key."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as type checkers know it: `typing` is imported for them alone
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WAITS_FOR_INPUT = {"n_tty_read", "wait_woken"}
_WAITS_FOR_KEYS = ("tty", "woken", "select", "poll")
_SHELLS_OF_WATCH = 2  # `sh -c`, and one that a script of the user's adds
_UNTOLD = {"", "0"}  # where the kernel does not tell


class Process:
    """One line of /proc/PID/stat; `terminal` is the number of its controlling terminal, 0 where it has none, and `front` the
    process group that this terminal listens to.
    """

    def __init__(self, pid: int, name: str, numbers: Iterable[int]) -> None:
        self.pid = pid
        self.name = name
        self.parent, self.group, self.session, self.terminal, self.front = numbers


def process(pid: int) -> Process | None:
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
    return Process(pid, name, map(int, numbers))


def descendants(pid: int) -> tuple[Process, ...]:
    """All that it started, and what those started, the oldest first."""
    children: dict[int, list[Process]] = {}
    for name in os.listdir("/proc"):
        one = process(int(name)) if name.isdigit() else None
        if one is not None:
            children.setdefault(one.parent, []).append(one)
    found: list[Process] = []
    waiting = [pid]
    while waiting:
        below = children.pop(waiting.pop(), [])
        found += below
        waiting += [child.pid for child in below]
    return tuple(sorted(found, key=lambda child: child.pid))


def under_watch() -> bool:
    """Whether `watch --color` runs this program and shows its colours: itself, or by a shell of its own."""
    pid = os.getppid()
    for _ in range(_SHELLS_OF_WATCH + 1):
        one = process(pid)
        if one is None:
            return False
        if one.name == "watch":
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    return shows_colours(file.read().decode("utf-8", "replace").split("\0"))
            except OSError:
                return False
        pid = one.parent
    return False


def shows_colours(words: Sequence[str]) -> bool:
    """What the command line of a `watch` asks for: its options stand before the command, and short ones may stand together."""
    takes_value = False
    for word in words[1:]:
        if takes_value:
            takes_value = False
        elif word.startswith("--"):
            if len(word) > len("--c") and "--color".startswith(word):
                return True
            takes_value = word in {"--interval", "--equexit"}
        elif word.startswith("-"):
            short, _, _ = word[1:].partition("n")  # what follows -n is its seconds
            if "c" in short:
                return True
            takes_value = word[-1:] in {"n", "q"}
        else:
            return False
    return False


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


def waits_for_keys(pid: int) -> bool:
    """Whether it may be at its prompt: a shell that waits for a program in front of it does not look at its terminal."""
    function = _kernel_function(pid)
    return function in _UNTOLD or any(word in function for word in _WAITS_FOR_KEYS)


def _reads_terminal(pid: int) -> bool:
    if _kernel_function(pid) not in _WAITS_FOR_INPUT:
        return False
    # The system call's first argument is the descriptor that is read; without the right to look there, the function must do.
    try:
        with open(f"/proc/{pid}/syscall", encoding="ascii") as file:
            words = file.read().split()
        place = os.readlink(f"/proc/{pid}/fd/{int(words[1], 16)}")
    except (OSError, ValueError, IndexError):
        return True
    return place.startswith("/dev/pts/") or place == "/dev/tty"


def _kernel_function(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""
