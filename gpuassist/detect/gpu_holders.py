"""Who holds the GPUs: every process with a device open or memory on a GPU, what it belongs to, and whether it may be stopped."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import PurePosixPath

from msgspec import Struct

from gpuassist.context import Session
from gpuassist.detect.accounts import Accounts
from gpuassist.detect.small_files import made, read
from gpuassist.formats.cgroup import is_service, read_cgroup
from gpuassist.formats.desktop_programs import DRAWING
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.gpu import Gpu, GpuProcess, Holder, PowerState
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.system.files import Files
from gpuassist.system.process_names import NOT_VISIBLE, command_of, gpu_devices, is_meant
from gpuassist.system.world import World

# Processes that have a `/dev/nvidia*` node open, from the open files that the kernel shows this user.


_PROC = "/proc"
_STARTTIME = 19  # its place after the name in /proc/PID/stat (proc(5): field 22)


def probe(world: World) -> Fact[tuple[Holder, ...]]:
    """Own processes, or everyone's for root; nobody sees those of other users without being root."""
    files = world.files
    pids = [name for name in files.names(_PROC) if name.isascii() and name.isdigit()]
    if not pids:
        return Unknown(text("{path} shows no processes", path=_PROC))
    accounts = Accounts(world)
    found: list[Holder] = []
    for pid in sorted(map(int, pids)):
        devices = tuple(device for device in gpu_devices(files, pid) or () if device.startswith("/dev/nvidia"))
        holder = look(files, pid, accounts, devices) if devices else None
        found += [holder] if holder else []
    return Known(tuple(found), "/proc/*/fd")


def look(files: Files, pid: int, accounts: Accounts, devices: tuple[str, ...] = ()) -> Holder | None:
    """Whose the process is, what it runs and where it belongs; none where it is not visible here."""
    place = f"{_PROC}/{pid}"
    try:
        uid = files.status(place).st_uid
    except OSError:  # it ended meanwhile, or it is in another container
        return None
    # State and start stand behind the name, which may hold spaces and brackets (proc(5)).
    fields = made(read(files, f"{place}/stat"), lambda words: words.rpartition(")")[2].split())
    command, _ = command_of(files, pid, 1 << 16)
    group = made(read(files, f"{place}/cgroup"), read_cgroup)
    return Holder(
        pid,
        accounts.user(uid),
        command,
        devices,
        uid=Known(uid, place),
        state=made(fields, _state),
        started=made(fields, _started),
        unit=made(group, lambda one: one.unit),
        container=made(group, lambda one: one.container),
    )


def _state(fields: list[str]) -> str:
    if not fields:
        raise ValueError
    return fields[0]


def _started(fields: list[str]) -> int:
    if len(fields) <= _STARTTIME:
        raise ValueError
    return int(fields[_STARTTIME])


# What that means, with what NVML says.


# NVIDIA's own, which run without a unit of theirs in containers and on systems without systemd.
_DAEMONS = frozenset(("nvidia-persistenced", "nvidia-powerd", "nvidia-fabricmanager", "nv-fabricmanager", "nv-hostengine", "nvsm"))
_NO_MEMORY = Unknown(text("the driver names no memory of this process"))


class Role(str, Enum):
    """What a process is, as far as stopping it is concerned."""

    PROGRAM = "program"
    DESKTOP = "desktop"
    SERVICE = "service"
    OTHERS = "other user"
    INVISIBLE = "invisible"


class GpuHolder(Struct, frozen=True):
    """A process and the GPUs that it holds, by NVML's index; `why` says why it may, or may not, be stopped from here.

    `command` is the line for the user to run where it is a system service, `memory_by_gpu` its memory on each card that the driver
    names it on.
    """

    holder: Holder
    gpus: tuple[int, ...]
    memory_used_bytes: Fact[int]
    role: Role
    may_stop: bool
    why: Text
    command: tuple[str, ...] = ()
    memory_by_gpu: tuple[tuple[int, Fact[int]], ...] = ()


class HeldCard(Struct, frozen=True):
    """A GPU by NVML's index, as far as its memory is concerned."""

    index: int
    name: Fact[str]
    memory_total_bytes: Fact[int]


class Holding(Struct, frozen=True):
    """All of them, those with the most memory first; `notes` say what could not be seen.

    `may_fall_asleep`: nothing that can be seen holds a GPU that would be switched off if it was left alone for a while. `looked`:
    every GPU that is awake said who is on it, and open files could be looked at; else nothing here means that nobody is.
    """

    held: tuple[GpuHolder, ...]
    notes: tuple[Text, ...] = ()
    cards: tuple[HeldCard, ...] = ()
    may_fall_asleep: bool = False
    looked: bool = True


def holding_of(session: Session, machine: Machine, *, live: bool = False) -> Holding:
    """The same of a machine that was looked at already; in a recorded one nothing can be stopped."""
    used: dict[int, dict[int, GpuProcess]] = {}
    for index, gpu in _indexed(machine):
        for process in value_or(gpu.processes, ()):
            used.setdefault(process.pid, {})[index] = process
    opened = {holder.pid: holder for holder in value_or(machine.holders, ())}
    accounts = Accounts(session.world)
    unopened = (_unopened(session.world, pid, accounts, live=live) for pid in used if pid not in opened)
    minors = {f"/dev/nvidia{gpu.minor.value}": index for index, gpu in _indexed(machine) if isinstance(gpu.minor, Known)}
    judge = _Judge(session, live=live)
    held = [judge.held(one, minors, used.get(one.pid, {})) for one in (*opened.values(), *unopened)]
    held.sort(key=lambda one: (-value_or(one.memory_used_bytes, -1), one.holder.pid))
    cards = tuple(HeldCard(index, gpu.name, gpu.memory_total_bytes) for index, gpu in _indexed(machine))
    if isinstance(machine.holders, Unknown) or isinstance(machine.gpus, Unknown):
        looked = False
    else:
        looked = all(isinstance(gpu.processes, Known) or _sleeps_now(gpu) for gpu in machine.gpus.value)
    notes = tuple(_notes(session.world, machine, live=live))
    may_sleep = any(isinstance(gpu.sleeps, Known) and gpu.sleeps.value for gpu in value_or(machine.gpus, ()))
    return Holding(tuple(held), notes, cards, not held and looked and may_sleep, looked)


def find(found: Holding, pid: int) -> GpuHolder | None:
    """The process of that number; none where it holds no GPU."""
    return next((one for one in found.held if one.holder.pid == pid), None)


def name_of(holder: Holder) -> str:
    """The program's name, without its directory and arguments."""
    # A browser and a database write what they do where their arguments were: "postgres: writer", "/usr/lib/firefox/firefox -child".
    first = holder.command.split(" ", 1)[0]
    return PurePosixPath(first).name.rstrip(":") or "?"


class _Judge:
    def __init__(self, session: Session, *, live: bool) -> None:
        self._session = session
        self._live = live

    def held(self, holder: Holder, minors: dict[str, int], used: dict[int, GpuProcess]) -> GpuHolder:
        gpus = {*(minors[device] for device in holder.devices if device in minors), *used}
        role = self._role(holder)
        why, command = self._why(holder, role)
        may_stop = self._live and role is Role.PROGRAM and (isinstance(holder.started, Known) and value_or(holder.state, "") != "Z")
        by_gpu = tuple((index, used[index].memory_used_bytes) for index in sorted(used))
        return GpuHolder(holder, tuple(sorted(gpus)), _sum(used), role, may_stop, why, command, by_gpu)

    def _role(self, holder: Holder) -> Role:
        if isinstance(holder.uid, Unknown):
            return Role.INVISIBLE
        unit = value_or(holder.unit, "")
        if name_of(holder) in DRAWING:
            return Role.DESKTOP
        if holder.uid.value != self._session.world.surroundings.uid:
            return Role.SERVICE if is_service(unit) or name_of(holder) in _DAEMONS else Role.OTHERS
        # A user's own manager is user@1000.service; what it starts has a unit of its own further inside.
        runs_as_root = value_or(holder.uid, None) == 0
        return Role.SERVICE if (name_of(holder) in _DAEMONS or (runs_as_root and is_service(unit))) else Role.PROGRAM

    def _why(self, holder: Holder, role: Role) -> tuple[Text, tuple[str, ...]]:
        if role is Role.INVISIBLE:
            return NOT_VISIBLE.reason, ()
        if role is Role.DESKTOP:
            return text("draws your desktop: stopping it would close everything that is open there"), ()
        if role is Role.SERVICE:
            unit = value_or(holder.unit, "")
            if not is_service(unit):
                return text("a service of the system; the administrator can stop it"), ()
            lines = self._session.knowledge.commands.render("service-stop", (), {"unit": unit})
            return text("a service of the system ({unit}); the administrator can stop it", unit=unit), lines
        if role is Role.OTHERS:
            return text("belongs to {user}: please ask them, or the administrator", user=holder.user), ()
        if value_or(holder.state, "") == "Z":
            why = text("has ended; what is left of it waits for the process that started it")
        elif not self._live:
            why = text("on a recorded machine: nothing there can be stopped from here")
        elif value_or(holder.state, "") == "D":
            why = text("your own program, but it waits inside the driver just now: it ends when that is done, if it can")
        elif isinstance(holder.started, Unknown):
            why = text("your own program, but the system does not say when it began, so that another could be stopped in its place")
        else:
            why = text("your own program; it can be stopped")
        return why, ()


def _sum(used: dict[int, GpuProcess]) -> Fact[int]:
    facts = [process.memory_used_bytes for process in used.values()]
    known = [fact for fact in facts if isinstance(fact, Known)]
    if facts and len(known) == len(facts):
        return Known(sum(fact.value for fact in known), known[0].source)
    return next((fact for fact in facts if isinstance(fact, Unknown)), _NO_MEMORY)


def _indexed(machine: Machine) -> Iterator[tuple[int, Gpu]]:
    for gpu in value_or(machine.gpus, ()):
        if isinstance(gpu.index, Known):
            yield gpu.index.value, gpu


def _sleeps_now(gpu: Gpu) -> bool:
    # Whoever holds it open keeps it awake.
    return isinstance(gpu.power_state, Known) and gpu.power_state.value is PowerState.ASLEEP


def _unopened(world: World, pid: int, accounts: Accounts, *, live: bool) -> Holder:
    """A process that NVML names and whose open files this user may not see."""
    seen = look(world.files, pid, accounts) if live and is_meant(world.files, pid, world.surroundings.uid) else None
    return seen or Holder(pid, "", "", ())


def _notes(world: World, machine: Machine, *, live: bool) -> Iterator[Text]:
    if isinstance(machine.holders, Unknown):
        yield text("open devices could not be looked at: {reason}", reason=machine.holders.reason)
    elif live and world.surroundings.uid != 0:
        yield text("only your own processes show their open files; those of other users appear where the driver names them")
    gpus = value_or(machine.gpus, ())
    untold = [gpu.processes for gpu in gpus if isinstance(gpu.processes, Unknown) and not _sleeps_now(gpu)]
    if untold:
        yield text("the driver did not say which processes use memory: {reason}", reason=untold[0].reason)
    elif isinstance(machine.gpus, Unknown):
        yield text("the GPUs could not be looked at: {reason}", reason=machine.gpus.reason)
