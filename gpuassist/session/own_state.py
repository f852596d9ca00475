"""What gpuassist itself has written beside the files that it changed, with sizes, and deleting it once nothing needs it any more.

What is needed to take back what still stands is never deleted: the journal as long as a change stands or a record cannot be read,
the installs as long as one of them has a way back. Recordings, documents and pictures that the user saved under a name are theirs.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.changes.journal import Journal
from gpuassist.changes.undo_all import UndoAllPlan, plan_undo_all
from gpuassist.context import Session
from gpuassist.install.autostart import autostart_path, remove_autostart
from gpuassist.model.text import Text, counted, listed, text
from gpuassist.monitor.inside.gpuassist_memory import base_directories
from gpuassist.monitor.rings import Rings
from gpuassist.monitor.run_place import is_own, leave
from gpuassist.session.install import InstallError, alone
from gpuassist.session.installs_left import InstallsLeft, installs_left
from gpuassist.session.log_file import LOG_NAME
from gpuassist.session.settings import ASIDE
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.ownership import why_state_untrusted
from gpuassist.system.untrusted_state import UntrustedStateError
from gpuassist.system.world import World

_JOURNAL, _INSTALLS = "journal", "installs"
_STATE: Mapping[str, Text] = {
    "verifications": text("earlier verifications"),
    LOG_NAME: text("what went wrong in gpuassist itself"),
    "machines": text("how machines were when they were healthy"),
    "setup": text("how far the setup of this machine's GPUs has come"),
    _INSTALLS: text("installs on record, with what they printed"),
    _JOURNAL: text("changes on record, with what your files held before them"),
}
_SETTINGS: Mapping[str, Text] = {
    "window.json": text("the look and place of the window"),
    "alerts.json": text("thresholds of the live memory"),
    "prometheus.json": text("the Prometheus server that was looked at last"),
    "kept-machines.json": text("whether healthy machines are kept"),
}
_DELETED = ".deleted"  # behind the name of what is being deleted: a crash never leaves half of it under its own name
# Of what lies beside a file of ours: half deleted, half written, set aside, older.
_ENDING = re.compile(rf"({re.escape(_DELETED)}|\.new|{re.escape(ASIDE)}(-\d\d?)?|(?<=\.log)\.\d)$")
_ENTRIES_AT_MOST = 100_000


class StatePart(Struct, frozen=True):
    """One thing that would be deleted: `size_bytes` in `files` files, at least that where not `counted`. `stays` says why it stays
    as long as that is so.
    """

    path: str
    what: Text
    size_bytes: int = 0
    files: int = 0
    counted: bool = True
    stays: Text | None = None


class OwnState(Struct, frozen=True):
    """All of it. `stays` says why nothing is deleted yet, `others` are entries beside it that are not known to be gpuassist's, and
    `lost` the changed files that are not there any more: what they held before is in the journal alone.
    """

    parts: tuple[StatePart, ...] = ()
    stays: Text | None = None
    others: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    @property
    def deletable(self) -> tuple[StatePart, ...]:
        return () if self.stays is not None else tuple(part for part in self.parts if part.stays is None)


class DeletedPart(Struct, frozen=True):
    """What came of one part; `trouble` says why it, or something of it, is still there."""

    part: StatePart
    trouble: Text | None = None


def own_state(session: Session, plan: UndoAllPlan, installs: InstallsLeft) -> OwnState:
    """What there is, and what of it may go now."""
    world = session.world
    needed = _why_installs_stay(installs)
    parts = [replace(part, stays=part.stays or needed) if _is_of_installs(world, part.path) else part for part in _parts(world)]
    lost = (receipt.path for one in plan.changes if one.refusal is not None and one.refusal.gone for receipt in one.receipts)
    return OwnState(tuple(parts), why_needed(plan), tuple(_others(world)), tuple(lost))


def why_needed(plan: UndoAllPlan) -> Text | None:
    """Why the journal is still needed; none where every change was taken back, or its files are there no more."""
    standing = [one.change for one in plan.changes if one.refusal is None or not one.refusal.gone]
    if standing:
        return counted(
            "{count} change is still in your files, and its record is needed to undo it",
            "{count} changes are still in your files, and their records are needed to undo them",
            len(standing),
        )
    if plan.left_out:
        return plan.left_out[0]
    if plan.damaged:
        return text(
            "the record {name} in the journal cannot be read, so it is not known whether its change is still in effect",
            name=plan.damaged[0],
        )
    return None


def delete_own_state(session: Session, state: OwnState) -> tuple[DeletedPart, ...]:
    """Deletes what may go, after looking again whether it is still not needed, while no other gpuassist changes or installs
    anything.
    """
    world = session.world
    with ExitStack() as held:
        refusal = _still(session, state, held)
        if refusal is not None:
            return tuple(DeletedPart(part, refusal) for part in state.deletable)
        aside = [DeletedPart(part, _set_aside(session, part)) for part in state.deletable]
    done = tuple(one if one.trouble is not None else DeletedPart(one.part, _removed(world, one.part)) for one in aside)
    for directory in _own_directories(world):
        with suppress(OSError):  # what is still in it was named
            world.disk.remove_directory(directory)
    return done


def _still(session: Session, state: OwnState, held: ExitStack) -> Text | None:
    """Holds both locks, and says why something is needed all the same."""
    world = session.world
    try:
        if world.disk.exists(f"{world.surroundings.state()}/{_INSTALLS}"):
            held.enter_context(alone(session))
            deletes = any(_is_of_installs(world, part.path) for part in state.deletable)
            needed = _why_installs_stay(installs_left(session, is_alone=True)) if deletes else None
            if needed is not None:
                return needed
        if world.disk.exists(f"{world.surroundings.state()}/{_JOURNAL}"):
            held.enter_context(Journal.of(world).lock())
            return why_needed(plan_undo_all(world))
    except (InstallError, RepairError, UntrustedStateError) as error:
        return error.reason
    except BlockingIOError:
        return text("another gpuassist is changing a file just now")
    except OSError as error:
        return text("{path}: {words}", path=error.filename or "", words=error.strerror or str(error))
    return None


def _set_aside(session: Session, part: StatePart) -> Text | None:
    """Takes its name from it, so that no program that begins now finds half of it."""
    world, path = session.world, part.path
    try:
        found = _measured(world, path, part.what)
        if found.stays is not None:
            return found.stays
        if path == autostart_path(world):
            remove_autostart(session)
            return text("it could not be deleted") if world.disk.exists(path) else None
        if stat.S_ISDIR(world.disk.own_status(path).st_mode):
            if _in_runtime(world, path) or path.endswith(_DELETED):
                return None
            if world.disk.exists(f"{path}{_DELETED}"):
                world.disk.remove_tree(f"{path}{_DELETED}")
            world.disk.replace(path, f"{path}{_DELETED}")
        else:
            world.disk.remove(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        return text("{path} could not be deleted: {words}", path=error.filename or path, words=error.strerror or str(error))
    return None


def _removed(world: World, part: StatePart) -> Text | None:
    try:
        if _in_runtime(world, part.path):
            rings = Rings(world.files, world.surroundings)
            rings.look_around(0.0)
            rings.close()
            leave(part.path)
            return text("programs that `gpuassist run` started still use it") if world.disk.exists(part.path) else None
        aside = part.path if part.path.endswith(_DELETED) else f"{part.path}{_DELETED}"
        if world.disk.exists(aside):
            world.disk.remove_tree(aside)
    except OSError as error:
        return text("{path} could not be deleted: {words}", path=error.filename or part.path, words=error.strerror or str(error))
    return None


def _parts(world: World) -> Iterator[StatePart]:
    around = world.surroundings
    for directory, known in ((around.state(), _STATE), (around.settings(), _SETTINGS)):
        found = world.disk.names(directory)
        for name, what in known.items():
            yield from (_measured(world, f"{directory}/{one}", what) for one in found if _without_ending(one) == name)
    for path in (around.cache(), f"{around.cache()}{_DELETED}"):
        if world.disk.exists(path):
            yield _measured(world, path, text("what it can find out again"))
    if world.disk.exists(autostart_path(world)):
        yield _measured(world, autostart_path(world), text("the entry that opens gpuassist after a restart"))
    for path in base_directories(around.variables, around.uid):
        if is_own(path):
            yield _measured(world, path, text("what programs of `gpuassist run` told"))


def _measured(world: World, path: str, what: Text) -> StatePart:
    """How much it is, and why it must stay where it could be another's."""
    part = StatePart(path, what)
    directory = next(
        (one for one in _own_directories(world) if path.startswith((f"{one}/", f"{one}{_DELETED}")) or path == one), ""
    )
    reason = why_state_untrusted(world, directory) if directory else None
    if reason is None and directory and world.disk.exists(directory) and stat.S_ISLNK(world.disk.own_status(directory).st_mode):
        reason = text("{path} is a symlink, so what it leads to is not deleted", path=directory)
    if reason is not None:
        return replace(part, stays=reason)
    size = files = entries = 0
    todo = [path]
    while todo and entries < _ENTRIES_AT_MOST:
        place = todo.pop()
        entries += 1
        try:
            status = world.disk.own_status(place)
            strange = _why_strange(world, place, status, top=place == path)
            if strange is not None:
                return replace(part, stays=strange)
            if stat.S_ISDIR(status.st_mode):
                todo += [f"{place}/{name}" for name in world.disk.names(place)]
            else:
                size, files = size + status.st_size, files + 1
        except FileNotFoundError:
            continue  # gone meanwhile
        except OSError as error:
            words = error.strerror or str(error)
            return replace(part, stays=text("{path} cannot be looked at: {words}", path=place, words=words))
    return replace(part, size_bytes=size, files=files, counted=not todo)


def _why_strange(world: World, place: str, status: os.stat_result, *, top: bool) -> Text | None:
    uid = world.surroundings.uid
    if status.st_uid != uid:
        return text(
            "{path} belongs to another user (uid {owner}; you are uid {uid}), so it is not deleted",
            path=place,
            owner=status.st_uid,
            uid=uid,
        )
    if top and stat.S_ISLNK(status.st_mode):  # further below it is removed as the link that it is, never followed
        return text("{path} is a symlink, so what it leads to is not deleted", path=place)
    return None


def _others(world: World) -> Iterator[str]:
    around = world.surroundings
    for directory, known in ((around.state(), _STATE), (around.settings(), _SETTINGS)):
        for name in world.disk.names(directory):
            if _without_ending(name) not in known:
                yield f"{directory}/{name}"


def _without_ending(name: str) -> str:
    return _ENDING.sub("", name)


def _own_directories(world: World) -> tuple[str, ...]:
    around = world.surroundings
    return (around.state(), around.settings(), around.cache())


def _in_runtime(world: World, path: str) -> bool:
    return path in base_directories(world.surroundings.variables, world.surroundings.uid)


def _is_of_installs(world: World, path: str) -> bool:
    return path == f"{world.surroundings.state()}/{_INSTALLS}" or path == autostart_path(world)


def _why_installs_stay(installs: InstallsLeft) -> Text | None:
    needed = [one.install for one in installs.left if one.needs_record]
    if needed:
        names = listed(one.id for one in needed)
        return text("these installs remain, and their records are needed to undo them: {installs}", installs=names)
    if installs.unread:
        return text("the record {path} cannot be read, so it is not known what it left", path=installs.unread[0])
    return None
