"""What changed on this machine since it worked: the machines that were kept, the package logs and our own journal put together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.catalogue_entry import EntryError, read_entry
from gpuassist.diagnose.past.compare import compare
from gpuassist.diagnose.past.moments import SLACK, moment
from gpuassist.diagnose.past.order import explains, is_beside, ranked
from gpuassist.model.finding import Answer, Finding, Severity
from gpuassist.model.machine import Machine
from gpuassist.model.past import RECORDING, KeptMachine, MachineChange, PackageHistory, Past
from gpuassist.model.text import Text, counted, text
from gpuassist.session.inspect import Inspection
from gpuassist.session.own_changes import with_own
from gpuassist.session.since import since_when
from gpuassist.system.clock import iso

_LOGS_ALONE = timedelta(days=30)
_CONVICTING = frozenset({Severity.PROBLEM, Severity.WARNING})
_MOST_CAUSES = 2


class _Compared(Struct, frozen=True):
    """What is told, and the machine that was compared with; None where nothing was kept."""

    past: Past
    before: KeptMachine | None


def past(session: Session, machine: Machine, since: str = "", findings: Sequence[Finding] = ()) -> Past:
    """What changed since the newest kept machine that is otherwise, or since a moment (raises `SinceError` where it is none); the
    changes that explain `findings` come first.
    """
    return _compared(session, machine, since, causes_of(session, findings)).past


def past_of_recordings(
    session: Session, before: Machine, machine: Machine, findings: Sequence[Finding] = (), *, live: bool
) -> Past:
    """What differs between a recording and a machine: another recording, or this very one (`live`), whose logs tell who did it."""
    kept = KeptMachine(before.taken_at, "", RECORDING, before)
    latest, history = KeptMachine(machine.taken_at, "", RECORDING, machine), PackageHistory()
    notes: tuple[Text, ...] = ()
    if live:
        from gpuassist.session.kept_machines import now_of

        latest = now_of(session.world, machine, RECORDING)
        if before.taken_at:
            history = _history(session, machine, before.taken_at)
            notes = _of_history(session, history, before.taken_at)
    began, ended = moment(kept.at), moment(latest.at)
    if began is not None and ended is not None and began > ended + SLACK:
        notes = (*notes, text("the recording to compare with is the later one of the two"))
    blamed = causes_of(session, findings)
    return _divided(
        Past(kept.at, kept=True, changes=compare(kept, latest, history, blamed), notes=notes, by=RECORDING, covers=history.covers),
        blamed,
    )


def _divided(past: Past, blamed: tuple[str, ...]) -> Past:
    """With what is counted alone apart from what is told."""
    beside = tuple(one for one in past.changes if is_beside(one, blamed))
    return replace(past, changes=tuple(one for one in past.changes if one not in beside), beside=beside) if beside else past


def causes_of(session: Session, findings: Iterable[Finding]) -> tuple[str, ...]:
    """What the problems of these findings are changed by, in their order."""
    return tuple(dict.fromkeys(cause for one in findings for cause in _causes(session, one.problem)))


def _causes(session: Session, problem: str) -> tuple[str, ...]:
    try:
        return read_entry(session.world.resources.read(f"problems/{problem}.toml")).changed_by
    except (OSError, EntryError):  # a damaged copy: its answer says so
        return ()


def _compared(session: Session, machine: Machine, since: str, blamed: tuple[str, ...]) -> _Compared:
    from gpuassist.session.kept_machines import kept, now_of

    clock = session.world.clock.now()
    found, now = kept(session.world), now_of(session.world, machine, "")
    wanted = since_when(since, clock) if since else None
    machines = tuple(one for one in found.machines if moment(one.at) is not None and one.identity == now.identity)
    looking = _Looking(session, now, blamed, found.notes)
    if not machines:
        return looking.since(None, iso(wanted or clock - _LOGS_ALONE))
    if wanted is not None:
        # One that was seen like this before and after that moment was so then.
        before = next((one for one in machines if (moment(one.first or one.at) or clock) <= wanted), None)
        if before is not None:
            return looking.since(before, before.at if (moment(before.at) or clock) <= wanted else iso(wanted))
        oldest = text("nothing was kept before that: the oldest kept machine is compared with")
        return replace(looking, notes=(*found.notes, oldest)).since(machines[-1], machines[-1].at)
    newest = machines[0]
    # Two looks tell at once whether anything is otherwise; the logs, which cost more, are then read from there on, once.
    before = next((one for one in machines if compare(one, now, PackageHistory())), machines[-1])
    done = looking.since(before, before.at)
    if before is newest:
        return done if done.past.changes else _Compared(replace(done.past, since=_first_so(newest, ())), before)
    latest = tuple(one for one in done.past.changes if _is_after(one, newest.at))
    if latest:  # what the logs alone show: a reinstall, a kernel that waits for a restart
        beside = tuple(one for one in done.past.beside if _is_after(one, newest.at))
        return _Compared(replace(done.past, since=newest.at, by=newest.by, changes=latest, beside=beside), newest)
    first = _first_so(newest, done.past.changes)
    changes = tuple(replace(one, latest=first) if one.latest else one for one in done.past.changes)
    return _Compared(replace(done.past, changes=changes, unchanged_since=first), before)


def _first_so(newest: KeptMachine, changes: Iterable[MachineChange]) -> str:
    """Since when the machine is as it was kept last: when it was first seen so, unless the logs tell of something done later."""
    done = any(_is_after(one, newest.first) for one in changes)
    return newest.at if done or moment(newest.first) is None else newest.first


def _is_after(change: MachineChange, since: str) -> bool:
    at, then = moment(change.at), moment(since)
    return at is not None and then is not None and at > then


class _Looking(Struct, frozen=True):
    """A look back from `now`: what its findings point at, and what is to be noted already."""

    session: Session
    now: KeptMachine
    blamed: tuple[str, ...]
    notes: tuple[Text, ...]

    def since(self, before: KeptMachine | None, since: str) -> _Compared:
        """Beside a kept machine, or the logs alone."""
        history = _history(self.session, self.now.machine, since)
        own = with_own(self.session.world, compare(before, self.now, history, self.blamed), moment(since))
        told = Past(
            since,
            kept=before is not None,
            changes=ranked(own.changes, self.blamed),
            notes=(*self.notes, *_of_history(self.session, history, since), *own.notes),
            by=before.by if before is not None else "",
            covers=history.covers,
        )
        return _Compared(_divided(told, self.blamed), before)


def _history(session: Session, machine: Machine, since: str) -> PackageHistory:
    from gpuassist.detect.package_history import read_history

    return read_history(session.world, machine, since)


def _of_history(session: Session, history: PackageHistory, since: str) -> tuple[Text, ...]:
    """What the logs leave out, and what is odd about their clock."""
    notes = list(history.unread)
    covers, wanted, now = moment(history.covers), moment(since), session.world.clock.now()
    if covers is not None and wanted is not None and covers > wanted + SLACK:
        notes.append(text("the package logs tell nothing from before {day}", day=history.covers[:10]))
    ahead = sum((moment(one.at) or _FIRST) > now + SLACK for one in history.events)
    if ahead:
        notes.append(
            counted(
                "{count} entry of the package logs is of a time to come: the clock was wrong then, or is now",
                "{count} entries of the package logs are of a time to come: the clock was wrong then, or is now",
                ahead,
            )
        )
    return tuple(notes)


_FIRST = datetime(1970, 1, 1, tzinfo=timezone.utc)


# A change that a finding may come from, said in its answer.


def explained(session: Session, inspection: Inspection) -> Inspection:
    """What was found on this machine, with the changes that it may come from; nothing is read for a recording, or where nothing is
    wrong.
    """
    if inspection.recorded or not inspection.convicts:
        return inspection
    answers = with_causes(session, inspection.machine, inspection.answers, inspection.diagnosis.findings)
    return replace(inspection, answers=answers)


def with_causes(
    session: Session, machine: Machine, answers: tuple[Answer, ...], findings: Sequence[Finding] = ()
) -> tuple[Answer, ...]:
    """The answers with the changes of this machine that they may come from; `findings` are those that they are the words of, where
    they are at hand. Nothing is read where nothing is wrong.
    """
    wrong = {one.id for one in answers if one.severity in _CONVICTING}
    findings = findings or tuple(Finding(one.id, (), one.evidence) for one in answers)
    causes = {one.problem: _causes(session, one.problem) for one in findings if one.problem in wrong}
    if not any(causes.values()):
        return answers
    found = _compared(session, machine, "", tuple(dict.fromkeys(cause for one in causes.values() for cause in one)))
    if not found.past.changes:
        return answers
    before = _found_before(session, found.before)
    return tuple(
        replace(answer, since=_since(answer, findings, causes, found.past)) if answer.id in wrong - before else answer
        for answer in answers
    )


def _found_before(session: Session, before: KeptMachine | None) -> frozenset[str]:
    """What was wrong with the kept machine already: nothing that changed since is the cause of it."""
    if before is None:
        return frozenset()
    from gpuassist.diagnose.judge import judge

    return frozenset(one.problem for one in judge(before.machine, session.knowledge).findings)


def _since(
    answer: Answer, findings: Sequence[Finding], causes: dict[str, tuple[str, ...]], found: Past
) -> tuple[MachineChange, ...]:
    finding = next((one for one in findings if one.problem == answer.id and one.evidence == answer.evidence), None)
    if finding is None:
        return ()
    # In the order of this problem's own causes, of which the first that changed is the likeliest.
    for cause in causes.get(answer.id, ()):
        told = tuple(one for one in found.changes if explains(one, finding, (cause,)))
        if told:
            return told[:_MOST_CAUSES]
    return ()
