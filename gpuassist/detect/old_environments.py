"""What this user's processes were started with, from /proc/PID/environ: it stays as it was, whatever a program exported since."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.old_environment import RunningProgram, RunningPrograms
from gpuassist.model.shell import Variable
from gpuassist.model.text import Text, counted, text
from gpuassist.shellfiles.statements import WATCHED
from gpuassist.system.files import Files
from gpuassist.system.process_names import TICKS_A_SECOND, script_name
from gpuassist.system.world import World

AT_MOST, SECONDS = 3000, 0.2
_ENVIRONMENT_BYTES, _COMMAND_BYTES, _SMALL = 1 << 17, 1 << 12, 1 << 12
# Places behind the name in /proc/PID/stat (proc(5): fields 3, 4, 7, 9 and 22), and the flag of a thread of the kernel's own
# (PF_KTHREAD in linux/sched.h).
_STATE, _PARENT, _TERMINAL, _FLAGS, _STARTED = 0, 1, 4, 6, 19
_OF_THE_KERNEL = 0x00200000
_GONE = frozenset({b"Z", b"X"})
MARKS = ("TMUX", "STY", "SSH_CONNECTION", "TERM", "SHLVL", "VIRTUAL_ENV", "CONDA_PREFIX", "DIRENV_DIR")
"""What tells where a process runs: in which tmux, screen or environment, over SSH, on what kind of terminal."""

# A program may use the room of its environment for something else, such as its title: what is no variable is passed over.
_HELD = lazy_regex(rb"\0(" + "|".join((*WATCHED, *MARKS)).encode() + rb")=([^\0]*)")


def running_programs(world: World, is_old: Callable[[RunningProgram], bool]) -> RunningPrograms:
    """The processes of this user alone that were started with something old, or nobody can tell, or that run on a terminal, and
    those that started them; as many as can be looked at in a moment. What ends meanwhile is left out.
    """
    look = _Look(world.files, world.surroundings.uid)
    numbers = sorted(int(name) for name in world.files.names("/proc") if name.isascii() and name.isdigit())
    notes = () if numbers else (text("{path} shows no processes", path="/proc"),)
    until = world.clock.monotonic() + SECONDS
    seen: dict[int, RunningProgram] = {}
    for place, pid in enumerate(numbers):
        if len(seen) == AT_MOST or world.clock.monotonic() > until:
            notes = (_cut(place, len(numbers)),)
            break
        one = look.at(pid)
        if one is not None:
            seen[pid] = one
    held = (one for one in seen.values() if one.on_terminal or isinstance(one.variables, Unknown) or is_old(one))
    wanted = {above.pid for one in held for above in _upwards(one, seen)}
    named = (look.named(one) for pid, one in seen.items() if pid in wanted)
    return RunningPrograms(tuple(one for one in named if one is not None), look.own(), notes)


def _upwards(one: RunningProgram, seen: dict[int, RunningProgram]) -> Iterator[RunningProgram]:
    """It, and what started it, as far as that is this user's."""
    met: set[int] = set()
    at: RunningProgram | None = one
    while at is not None and at.pid not in met:
        met.add(at.pid)
        yield at
        at = seen.get(at.parent)


def _cut(looked: int, every: int) -> Text:
    return counted(
        "only {count} process of {every} was looked at: there are too many",
        "only {count} processes of {every} were looked at: there are too many",
        looked,
        every=every,
    )


class _Look:
    """Looks at one process after another."""

    def __init__(self, files: Files, me: int) -> None:
        self._files, self._me = files, me
        self._namespace = self._link("self/ns/pid")

    def own(self) -> int:
        """gpuassist's own number; 0 where it has none there."""
        told = self._link("self")
        return int(told) if told.isascii() and told.isdigit() else 0

    def at(self, pid: int) -> RunningProgram | None:
        """One without its command line; none of another user's, of the kernel's, or of one that ended."""
        try:
            if self._files.status(f"/proc/{pid}").st_uid != self._me:
                return None
        except OSError:
            return None
        start, _, rest = self._files.head(f"/proc/{pid}/stat", _SMALL).rpartition(b")")
        fields = rest.split()
        if len(fields) <= _STARTED or fields[_STATE] in _GONE:
            return None
        try:
            parent, terminal, flags, started = (int(fields[place]) for place in (_PARENT, _TERMINAL, _FLAGS, _STARTED))
        except ValueError:
            return None
        if flags & _OF_THE_KERNEL:
            return None
        name = start.partition(b"(")[2].decode("utf-8", "replace")
        variables = self._variables(pid)
        if variables is None:
            return None
        return RunningProgram(pid, parent, name, (), "", started / TICKS_A_SECOND, terminal != 0, variables)

    def named(self, one: RunningProgram) -> RunningProgram | None:
        """With its command line; none where it is another user's after all, or of another container."""
        if not self._is_mine(one.pid) or self._is_elsewhere(one.pid):
            return None
        words = tuple(self._files.text(f"/proc/{one.pid}/cmdline", _COMMAND_BYTES).rstrip("\0").split("\0"))
        if len(words) == 1:  # some write what they do where their arguments were: "/usr/share/code/code --type=zygote"
            words = tuple(words[0].split(" "))
        return replace(one, words=words, script=script_name(" ".join(words)))

    def _is_mine(self, pid: int) -> bool:
        """What may not be looked into, such as a setuid program or an agent, belongs to root by its directory (proc(5)), whoever
        started it: then only its status tells.
        """
        if self._me != 0:
            return True
        status = self._files.text(f"/proc/{pid}/status", _SMALL)
        return set(next((line.split()[1:3] for line in status.splitlines() if line.startswith("Uid:")), ["0"])) == {"0"}

    def _is_elsewhere(self, pid: int) -> bool:
        # A container and a sandbox have numbers of processes, and an environment, of their own.
        return bool(self._namespace) and self._link(f"{pid}/ns/pid") not in {self._namespace, ""}

    def _link(self, name: str) -> str:
        try:
            return self._files.readlink(f"/proc/{name}")
        except OSError:
            return ""

    def _variables(self, pid: int) -> Fact[tuple[Variable, ...]] | None:
        """None of one that ended meanwhile."""
        path = f"/proc/{pid}/environ"
        found = self._files.head(path, _ENVIRONMENT_BYTES)
        if not found:
            try:
                self._files.read_bytes(path, 1)
            except (FileNotFoundError, ProcessLookupError):
                return None
            except OSError as error:
                return Unknown(text("{reason}", reason=error.strerror or str(error)))
        held = dict(_HELD.findall(b"\0" + found))
        told = (Variable(name.decode(), value.decode("utf-8", "surrogateescape")) for name, value in held.items())
        return Known(tuple(told), path)
