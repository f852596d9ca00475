"""A report on a machine that may be handed on: the machine without what tells whose it is, judged anew, so that nothing is said
in it that was not let through first.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from gpuassist import __version__
from gpuassist.context import Session
from gpuassist.model.finding import Answer
from gpuassist.model.past import MachineChange
from gpuassist.model.text import Text
from gpuassist.session.harmless.machine import Sieve
from gpuassist.session.harmless.stand_ins import TakenOut
from gpuassist.session.inspect import Inspection, inspection_of
from gpuassist.session.verification_summary import VerificationFigures, figures_of
from gpuassist.session.verifications import KeptVerification, kept
from gpuassist.system.clock import iso


class ChangesTold(Struct, frozen=True):
    """What changed, as it may leave: `since` is the moment that was compared with, `kept` whether a kept machine stands for it."""

    since: str
    kept: bool
    changes: tuple[MachineChange, ...]
    notes: tuple[Text, ...]
    unchanged_since: str = ""
    by: str = ""


class MachineReport(Struct, frozen=True):
    """All that leaves. `differing` are the problems that only one of the two has, this machine and the one that leaves: with their
    ids, because what proves them was left out. `changed` is None where nobody looked, `verification` where none was kept.
    """

    made_at: str
    version: str
    inspection: Inspection
    taken_out: tuple[TakenOut, ...]
    changed: ChangesTold | None = None
    verification: VerificationFigures | None = None
    differing: tuple[str, ...] = ()


def make_report(session: Session, inspection: Inspection) -> MachineReport:
    """The report on a machine that was inspected; of a recording nothing of this computer is told."""
    around, live = session.world.surroundings, not inspection.recorded
    sieve = sieve_of(session, live=live)
    machine = sieve.machine(inspection.machine)
    again = inspection_of(session, machine)
    answers = _with_changes(again.answers, inspection.answers, sieve)
    before, after = _ids(inspection), _ids(again)
    changed = _changed(session, inspection, sieve) if live and inspection.convicts else None
    newest = next(iter(kept(session.world)), None) if live and around.home else None
    figures = figures_of(newest, sieve.strings) if newest is not None else None
    return MachineReport(
        made_at=iso(session.world.clock.now()),
        version=__version__,
        inspection=replace(again, answers=answers, recorded=inspection.recorded),
        taken_out=sieve.taken_out,
        changed=changed,
        verification=figures,
        differing=tuple(sorted(before ^ after)),
    )


def harmless_figures(session: Session, verification: KeptVerification) -> VerificationFigures:
    """The figures of a verification of this machine."""
    return figures_of(verification, sieve_of(session, live=True).strings)


def sieve_of(session: Session, *, live: bool) -> Sieve:
    """What lets pass what is harmless; of the live machine it knows the user."""
    around = session.world.surroundings
    home, user = (around.home, around.user) if live else ("", "")
    return Sieve(session.knowledge, session.world.resources, home, user)


def _with_changes(again: tuple[Answer, ...], answers: tuple[Answer, ...], sieve: Sieve) -> tuple[Answer, ...]:
    """The changes that findings may come from, which only the machine itself could tell."""
    since: dict[str, list[tuple[MachineChange, ...]]] = {}
    for one in answers:
        since.setdefault(one.id, []).append(tuple(map(sieve.change, one.since)))
    return tuple(replace(one, since=since[one.id].pop(0)) if since.get(one.id) else one for one in again)


def _ids(inspection: Inspection) -> frozenset[str]:
    return frozenset(one.problem for one in inspection.diagnosis.findings)


def _changed(session: Session, inspection: Inspection, sieve: Sieve) -> ChangesTold:
    from gpuassist.session.past import past

    found = past(session, inspection.machine, findings=inspection.diagnosis.findings)
    return ChangesTold(
        since=sieve.strings.words(found.since),
        kept=found.kept,
        changes=tuple(map(sieve.change, found.changes)),
        notes=tuple(map(sieve.text, found.notes)),
        unchanged_since=sieve.strings.words(found.unchanged_since),
        by=sieve.strings.words(found.by),
    )
