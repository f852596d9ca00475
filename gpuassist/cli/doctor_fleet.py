"""`gpuassist doctor --fleet SOURCE`: many machines at once, what is wrong with them in groups."""

from __future__ import annotations

import argparse

from msgspec.structs import replace

from gpuassist.cli.answers import AnswerWriter, severest
from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.streams import BOLD, DIM
from gpuassist.model.machine import Machine
from gpuassist.model.text import labelled, text
from gpuassist.present.fleet import (
    differs_words,
    fleet_document,
    fleet_figures,
    fleet_title,
    group_title,
    names_words,
    open_words,
    other_titles,
)
from gpuassist.present.marks import Exit
from gpuassist.session.fleet import Fleet, FleetDiagnosis, FleetGroup
from gpuassist.session.fleet_sources import FleetSourceError, arrivals

_UNREAD_SHOWN = 20


def run_fleet(options: argparse.Namespace, context: Context) -> Exit:
    """Judges every machine of the source; what cannot be read is named, and hides nothing of the rest."""
    if context.elsewhere:
        raise UsageError(text("--fleet names its machines itself: leave --machine and --ssh out"))
    fleet = Fleet(context.session)
    try:
        for one in arrivals(context.session, options.fleet, half=context.remote_half):
            context.passing(text("{done} of {count} machines read: {name}", done=one.done, count=one.count, name=one.name))
            if isinstance(one.found, Machine):
                fleet.add(one.name, one.found)
            else:
                fleet.add_unread(one.name, one.found)
    except FleetSourceError as error:
        raise UsageError(error.reason) from error
    finally:
        context.passing()
    found = fleet.diagnosis()
    if options.json:
        context.document(fleet_document(found, context.session.words))
    else:
        _FleetReport(context, found).show()
    return fleet_status(found)


def fleet_status(found: FleetDiagnosis) -> Exit:
    """The worst of any machine; one that could not be read could hide anything."""
    open_ = bool(found.undetermined or found.unread)
    return severest((group.answer for group in found.groups), otherwise=Exit.UNDETERMINED if open_ else Exit.HEALTHY)


class _FleetReport:
    """Writes for people to read."""

    def __init__(self, context: Context, found: FleetDiagnosis) -> None:
        self._context, self._found = context, found
        self._words = context.session.words
        self._writer = AnswerWriter(context)

    def show(self) -> None:
        found, say = self._found, self._writer.say
        say(self._words(fleet_title(found)), style=BOLD)
        say(self._words(fleet_figures(found)), style=DIM)
        for group in found.groups:
            self._show_group(group)
        if found.undetermined:
            self._context.say()
            say(f"? {self._words(text('Could not be determined:'))}")
            for one in found.undetermined:
                say(f"- {self._words(open_words(one, len(found.machines)))}  [{one.problem}]", indent="  ", hanging="  ")
        if found.unread:
            self._context.say()
            say(f"? {self._words(text('Could not be read:'))}")
            for unread in found.unread[:_UNREAD_SHOWN]:
                reason = self._words(unread.reason)
                named = reason if unread.name in reason else self._words(labelled(unread.name, unread.reason))
                say(f"- {named}", indent="  ", hanging="  ")
            if len(found.unread) > _UNREAD_SHOWN:
                say("- …", indent="  ")
        if found.healthy:
            self._context.say()
            say(f"✓ {self._words(text('Healthy: {names}', names=names_words(found.healthy)))}", hanging="  ")

    def _show_group(self, group: FleetGroup) -> None:
        title = self._words(group_title(group, len(self._found.machines)))
        about = "\n".join(self._words(one) for one in (names_words(group.machines), *other_titles(group)))
        # What proves it is another value on each machine: that is told by what differs.
        answer = replace(group.answer, title=title, evidence=(), explanation="")
        # A writer of its own: the same steps on another machine are not the same steps.
        self._writer = AnswerWriter(self._context)
        self._writer.answer(replace(answer, remedies=(), links=(), guides=()))
        for line in (*about.split("\n"), *(self._words(differs_words(one)) for one in group.differs)):
            self._writer.say(line, indent="  ", hanging="  ", style=DIM)
        if group.answer.explanation:
            self._writer.say(group.answer.explanation, indent="  ")
        if len(group.machines) > 1 and group.answer.remedies:
            self._writer.say(self._words(text("What to do, as it is on {name}:", name=group.example)), indent="  ")
        self._writer.remedies(group.answer)
