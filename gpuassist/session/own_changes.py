"""What of a machine's changes gpuassist itself made: by its journal of files and its record of installs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.changes.journal import JournalError
from gpuassist.changes.record import ChangeRecord, ChangeStatus, FileRecord, records
from gpuassist.diagnose.past.moments import SLACK, moment
from gpuassist.install.records import Install, StepState, installs
from gpuassist.model.past import OURSELVES, Direction, MachineChange, Subject
from gpuassist.model.text import Text
from gpuassist.system.world import World

_SHELLS = frozenset({"bash", "zsh", "fish"})
_OF_ENVIRONMENTS = frozenset({Subject.TORCH, Subject.PYTHON_PACKAGE, Subject.ENVIRONMENT})
_LONGEST_INSTALL = timedelta(hours=12)  # from the plan that was agreed to until its last step


class OwnChanges(Struct, frozen=True):
    """The changes with those that are our own said so, and why the journal could not be read."""

    changes: tuple[MachineChange, ...]
    notes: tuple[Text, ...] = ()


def with_own(world: World, changes: Sequence[MachineChange], since: datetime | None) -> OwnChanges:
    """The changes as they were ranked; what the journal alone tells comes where its subject stands."""
    found, notes = list(changes), []
    try:
        made = tuple(one for one in records(world) if _is_since(one.receipt.made_at, since))
    except JournalError as error:
        made = ()
        notes.append(error.reason)
    for record in made:
        claimed = False
        for file in record.files:
            if file.standing is ChangeStatus.STANDS:
                claimed = _claim(found, record, file) or claimed
        if not claimed:
            found += _of_journal(record)
    for install in installs(world):
        if _is_since(install.made_at, since):
            _claim_environments(found, install)
    return OwnChanges(tuple(found), tuple(notes))


def _is_since(at: str, since: datetime | None) -> bool:
    when = moment(at)
    return when is not None and (since is None or when > since - SLACK)


def _claim(found: list[MachineChange], record: ChangeRecord, file: FileRecord) -> bool:
    """Says of the changes of a file that they are ours; where somebody edited it since, only that we changed it as well."""
    receipt, claimed = file.receipt, False
    for place, one in enumerate(found):
        if one.subject is Subject.STARTUP_FILE and one.name in {receipt.path, receipt.target} and not one.undo:
            claimed, undo = True, f"{OURSELVES} undo {record.receipt.change}"
            if file.edited:
                found[place] = replace(one, sources=tuple(dict.fromkeys((*one.sources, undo))))
            else:
                found[place] = _ours(one, record.receipt.made_at, undo)
    return claimed


def _ours(one: MachineChange, at: str, undo: str) -> MachineChange:
    return replace(one, at=at, earliest="", latest="", by=OURSELVES, undo=undo, sources=tuple(dict.fromkeys((*one.sources, undo))))


def _of_journal(record: ChangeRecord) -> Iterator[MachineChange]:
    """What no look shows: a file of an environment, a project or a kernel."""
    standing = [file.receipt for file in record.files if file.standing is ChangeStatus.STANDS]
    if standing:
        first = standing[0]
        subject = Subject.STARTUP_FILE if first.dialect in _SHELLS else Subject.SETTING
        undo = f"{OURSELVES} undo {first.change}"
        yield MachineChange(
            subject,
            Direction.CHANGED,
            first.path,
            after=first.goal,
            place=first.path,
            at=first.made_at,
            by=OURSELVES,
            sources=(undo,),
            packages=tuple(one.path for one in standing[1:]),
            undo=undo,
        )


def _claim_environments(found: list[MachineChange], install: Install) -> None:
    begun = moment(install.made_at)
    places = {
        place.rstrip("/")
        for one in install.steps
        if one.state is StepState.DONE and one.step.run is not None
        for place in (one.step.run.environment, one.step.run.creates)
        if place
    }
    for number, one in enumerate(found):
        if one.subject in _OF_ENVIRONMENTS and one.place.rstrip("/") in places and begun is not None and not one.undo:
            at, latest = moment(one.at), moment(one.latest)
            within = at is not None and begun - SLACK <= at <= begun + _LONGEST_INSTALL
            between = at is None and latest is not None and begun <= latest
            if within or between:
                found[number] = _ours(one, one.at or install.made_at, f"{OURSELVES} plan --back {install.id}")
