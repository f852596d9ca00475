"""What this machine looked like while it worked, for telling later what changed.

Every look that ends well is kept in a file of its own under XDG state: the facts that stay, none of the user's processes, and of
start-up files the lines that matter here alone. A look that tells nothing new only moves the last file's name to its own time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.install.records import boot_id
from gpuassist.model.fact import value_or
from gpuassist.model.finding import Severity
from gpuassist.model.machine import Machine
from gpuassist.model.past import KeptMachine, StartupLine
from gpuassist.model.text import Text, counted, text
from gpuassist.session.kept import KeptFiles, UnusableFileError, machine_identity, second_of
from gpuassist.session.kept_document import KeptHead, encoded, head_in, is_told_in, machine_in
from gpuassist.session.kept_startup import startup_files
from gpuassist.session.settings import read_own_object, write_own_object
from gpuassist.session.steady_machine import steady
from gpuassist.system.clock import iso
from gpuassist.system.ownership import require_own_state, strangers_home
from gpuassist.system.untrusted_state import UntrustedStateError
from gpuassist.system.world import World

if TYPE_CHECKING:
    from gpuassist.session.inspect import Inspection

DOCTOR, VERIFY = "doctor", "verify"
LARGEST = 1 << 20  # bytes: a machine with eight GPUs is a fiftieth of that, one with a hundred environments a third
_SETTINGS = "kept-machines.json"
_KEEP = "keep"
_SECOND = "%Y%m%d-%H%M%S"

# What stays: the last eight, and the last one of each of so many days, ISO weeks and months that have any, as backup programs thin
# theirs out. A day of trying this and that must not push out yesterday, and the logs of packages go back a year.
_LAST = 8
_TIERS = ((10, "%Y%m%d"), (10, "%G%V"), (12, "%Y%m"))
_FIRST_OF_ALL = datetime(1970, 1, 1, tzinfo=timezone.utc)
AT_MOST = _LAST + sum(count for count, _ in _TIERS)


class KeptMachines(Struct, frozen=True):
    """Machines that were kept, newest first, and what cannot be used of what lies there, each with its reason."""

    machines: tuple[KeptMachine, ...] = ()
    notes: tuple[Text, ...] = ()


def root(world: World) -> str:
    """The directory that holds them."""
    return _files().root(world)


def keeping(world: World) -> bool:
    """Whether the user lets machines be kept; so it is where he said nothing."""
    return read_own_object(world, _SETTINGS).get(_KEEP) is not False


def set_keeping(world: World, on: bool) -> None:  # noqa: FBT001 -- a setter
    """Says whether they are; what is kept already stays until `forget`. Where it cannot be written, `keeping` tells."""
    write_own_object(world, _SETTINGS, {_KEEP: on})


def forget(world: World) -> int:
    """Deletes all, those of other machines that share this home as well, and says how many. Raises `OSError`, and
    `UntrustedStateError` where others may write there.
    """
    require_own_state(world, root(world))
    files = _files()
    names = files.names(world)
    files.remove(world, (*names, *files.halves(world)))
    world.disk.remove_directory(root(world))
    return len(names)


def is_healthy(inspection: Inspection) -> bool:
    """Whether it is worth keeping: this very machine, a GPU in it that is known, and no problem found. What else could not be told
    is no reason against it.
    """
    problems = any(answer.severity is Severity.PROBLEM for answer in inspection.answers)
    return not inspection.recorded and not problems and _has_gpus(inspection.machine)


def keep_healthy(world: World, inspection: Inspection) -> Text | None:
    """Keeps what `doctor` looked at, if it is healthy; the reason where it should have been kept and could not."""
    if not is_healthy(inspection) or not _is_wanted(world):
        return None
    return _told(world, lambda: _keep_now(world, inspection.machine, DOCTOR))


def keep_verified(world: World, machine: Machine) -> Text | None:
    """The same for a machine whose GPUs were verified, and passed."""
    if not _has_gpus(machine) or not _is_wanted(world):
        return None
    return _told(world, lambda: _keep_now(world, machine, VERIFY))


def is_due(world: World) -> bool:
    """Whether nothing was kept for a day, so that looking at all of the machine is worth its time to who need not."""
    try:
        newest = next(iter(_files().names(world)), "")
    except OSError:
        return False
    return not newest or not timedelta(0) <= world.clock.now() - _moment(newest) < timedelta(days=1)


def now_of(world: World, machine: Machine, by: str) -> KeptMachine:
    """The machine as it would be kept: without what is of the moment, with the start-up files as they stand now."""
    return _now_of(world, machine, by, {})


def keep(world: World, one: KeptMachine) -> Text | None:
    """Keeps it and lets go of old ones; the reason where it could not be kept. One that was verified stays that while it is the
    same.
    """
    return _told(world, lambda: _keep(world, one, _newest_of(world, one.at, one.identity)))


def kept(world: World) -> KeptMachines:
    """Those of this machine."""
    try:
        require_own_state(world, root(world))
        names = _files().names(world)
    except UntrustedStateError as error:
        return KeptMachines((), (error.reason,))
    except OSError as error:
        return KeptMachines((), (text("{path} could not be read: {error}", path=root(world), error=error.strerror or str(error)),))
    machines, notes = [], []
    identity, now = machine_identity(world), world.clock.now()
    others = to_come = 0
    for name in names:
        try:
            one = machine_in(_files().read(world, name), _moment(name))
        except UnusableFileError as error:
            notes.append(text("{path} is not used: {reason}", path=_files().path(world, name), reason=error.reason))
            continue
        if one.identity != identity:
            others += 1
        elif _moment(name) <= now:
            machines.append(one)
        else:
            to_come += 1
            first = _first_until(one, now)
            if first is not None:
                machines.append(first)
    machines.sort(key=lambda one: datetime.fromisoformat(one.at), reverse=True)
    return KeptMachines(tuple(machines), (*notes, *_not_used(root(world), others, to_come)))


def _first_until(one: KeptMachine, now: datetime) -> KeptMachine | None:
    """Of a machine that a clock which ran ahead saw last, the moment at which it was first so: that was no time to come."""
    try:
        first = datetime.fromisoformat(one.first)
        return replace(one, at=one.first, machine=replace(one.machine, taken_at=one.first)) if first <= now else None
    except (TypeError, ValueError):  # without a zone it cannot be compared
        return None


def thinned_out(names: Sequence[str]) -> list[str]:
    """Which of these files, given newest first, are not to stay."""
    stay = set(names[:_LAST])
    moments = [(name, _moment(name)) for name in names]
    for count, unit in _TIERS:
        last: dict[str, str] = {}
        for name, moment in moments:
            last.setdefault(moment.strftime(unit), name)
        stay.update(islice(last.values(), count))
    return [name for name in names if name not in stay]


def _told(world: World, keeps: Callable[[], Text | None]) -> Text | None:
    """Why it could not be kept."""
    stranger = strangers_home(world)
    if stranger is not None:  # what root wrote in another user's home would be out of his reach
        return stranger
    try:
        _files().make_room(world)
        return keeps()
    except UntrustedStateError as error:
        return error.reason
    except (OSError, ValueError) as error:
        return text("what this machine looks like could not be kept: {error}", error=str(error))


def _keep_now(world: World, machine: Machine, by: str) -> Text | None:
    newest = _newest_of(world, _taken_at(world, machine), machine_identity(world))
    return _keep(world, _now_of(world, machine, by, newest.head.lines()), newest)


def _now_of(world: World, machine: Machine, by: str, known: Mapping[str, tuple[StartupLine, ...]]) -> KeptMachine:
    at, files = _taken_at(world, machine), startup_files(world, machine, known)
    return KeptMachine(at, machine_identity(world), by, steady(machine), files, boot_id(world), at)


def _taken_at(world: World, machine: Machine) -> str:
    return machine.taken_at or iso(world.clock.now())


class _Newest(Struct, frozen=True):
    """The newest file; without a name where there is none."""

    name: str = ""
    content: bytes = b""
    head: KeptHead = KeptHead()


def _keep(world: World, one: KeptMachine, newest: _Newest) -> Text | None:
    """Keeps it beside what stands in the newest file."""
    files, second, before = _files(), _second(one.at), newest.head
    same = bool(newest.name) and is_told_in(newest.content, one)
    if same and before.boot == one.boot and before.by in {one.by, VERIFY}:
        if second > second_of(newest.name):
            world.disk.replace(files.path(world, newest.name), files.path(world, files.free_name(world, second)))
        return None
    if same:
        one = replace(one, first=before.first or one.first, by=VERIFY if before.by == VERIFY else one.by)
    content = encoded(one)
    if len(content) > LARGEST:
        return text("what this machine looks like is not kept: it is too large")
    name = files.free_name(world, second)
    files.write(world, name, content, lasting=False)  # waiting for the disk takes longer than all else; a torn file is not used
    files.remove(world, (newest.name,) if same else ())
    files.remove(world, (old for old in thinned_out(files.names(world)) if old != name))
    files.remove(world, (half for half in files.halves(world) if second_of(half)[:8] < second[:8]))
    return None


def _newest_of(world: World, at: str, identity: str) -> _Newest:
    """The newest file of this machine that can be read. Where the clock once ran ahead, what it named then is no measure for what
    comes after.
    """
    second = _second(at)
    for name in _files().names(world):
        if second_of(name) > second:
            continue
        try:
            content = _files().read(world, name)
            head = head_in(content)
        except UnusableFileError:
            continue
        if head.identity == identity:
            return _Newest(name, content, head)
    return _Newest()


def _not_used(place: str, others: int, to_come: int) -> list[Text]:
    found = []
    if others:
        found.append(
            counted(
                "{count} kept machine in {path} is not used: it is of another computer, or of another system on this one",
                "{count} kept machines in {path} are not used: they are of other computers, or of another system on this one",
                others,
                path=place,
            )
        )
    if to_come:
        found.append(
            counted(
                "{count} kept machine in {path} is of a time to come, so the clock was wrong then, or is now; "
                "it is used where it was first seen before now",
                "{count} kept machines in {path} are of a time to come, so the clock was wrong then, or is now; "
                "they are used where they were first seen before now",
                to_come,
                path=place,
            )
        )
    return found


def _files() -> KeptFiles:
    return KeptFiles("machines", LARGEST)


def _is_wanted(world: World) -> bool:
    """What lies under another root is a recorded machine."""
    return world.files.live and keeping(world)


def _has_gpus(machine: Machine) -> bool:
    return bool(value_or(machine.gpus, ()))


def _second(at: str) -> str:
    """The second of a moment as files are named by it, in UTC: local time comes twice where summer ends."""
    return datetime.fromisoformat(at).astimezone(timezone.utc).strftime(_SECOND)


def _moment(name: str) -> datetime:
    """The moment that a name says; the first of all where it is none."""
    year, *rest = (int(name[first:end]) for first, end in ((0, 4), (4, 6), (6, 8), (9, 11), (11, 13), (13, 15)))
    month, day, hour, minute, second = rest
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
    except ValueError:
        return _FIRST_OF_ALL
