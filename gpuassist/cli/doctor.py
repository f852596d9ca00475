"""`gpuassist doctor`: what is wrong with this machine, why, by which evidence, and what to do about it."""

from __future__ import annotations

import argparse
import dataclasses
import textwrap
from collections.abc import Iterator

from gpuassist.cli.context import Context, Exit, UsageError
from gpuassist.cli.width import width_of
from gpuassist.model.codec import Json
from gpuassist.model.finding import Answer, Evidence, Remedy, Severity, Undetermined
from gpuassist.model.text import Text, text
from gpuassist.session.inspect import Inspection, inspect, open_recording
from gpuassist.session.recording import RecordingError
from gpuassist.session.summary import found_figures, found_title, joined
from gpuassist.session.words import ENGLISH, Words

NAME = "doctor"
HELP = text("say what is wrong with this machine's GPU set-up, why, and what to do about it")

SCHEMA = 1
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_COLOURS = {Severity.PROBLEM: "\x1b[31m", Severity.WARNING: "\x1b[33m", Severity.INFO: "\x1b[36m"}
_MARKS = {
    Severity.PROBLEM: ("✗", text("problem")),
    Severity.WARNING: ("!", text("warning")),
    Severity.INFO: ("i", text("good to know")),
}
_ROOT = text("needs administrator rights: copy it, gpuassist shows such commands and never runs them")


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    """Its one option."""
    parser.add_argument("--json", action="store_true", help=words(text("as one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Looks, judges and tells."""
    if options.json and not options.lang:
        context = dataclasses.replace(context, session=dataclasses.replace(context.session, words=ENGLISH))
    inspection = _inspection(context)
    if options.json:
        context.document(document(inspection, context.session.words))
    else:
        _Report(context).show(inspection)
    return status(inspection)


def status(inspection: Inspection) -> Exit:
    """The worst of what was found; what could not be told counts where nothing worse was found."""
    severities = {answer.severity for answer in inspection.answers}
    if Severity.PROBLEM in severities:
        return Exit.PROBLEMS
    if Severity.WARNING in severities:
        return Exit.WARNINGS
    return Exit.UNDETERMINED if inspection.diagnosis.undetermined else Exit.HEALTHY


def document(inspection: Inspection, words: Words) -> Json:
    """The findings as the contract of `doctor --json` has them."""
    return {
        "schema": SCHEMA,
        "findings": [_finding(answer, words) for answer in inspection.answers],
        "undetermined": [
            {"id": one.problem, "fact": words(one.fact), "reason": words(one.reason)} for one in inspection.diagnosis.undetermined
        ],
    }


def _finding(answer: Answer, words: Words) -> Json:
    return {
        "id": answer.id,
        "severity": answer.severity.value,
        "title": answer.title,
        "explanation": answer.explanation,
        "evidence": [{"fact": words(one.fact), "value": words(one.value), "source": one.source} for one in answer.evidence],
        "remedies": [
            {
                "text": remedy.text,
                "commands": list(_lines(remedy)),
                "needs_root": remedy.needs_root,
                "action": remedy.action.value,
                "check": remedy.check,
            }
            for remedy in answer.remedies
        ],
        "links": list(answer.links),
    }


def _inspection(context: Context) -> Inspection:
    if not context.machine_file:
        found = inspect(context.session, on_progress=lambda section: _tell(section, context))
        _erase_progress(context)
        return found
    try:
        return open_recording(context.session, context.machine_file)
    except RecordingError as error:
        raise UsageError(error.reason) from error


def _tell(section: Text, context: Context) -> None:
    if context.terminal.err.isatty():
        context.terminal.err.write("\r\x1b[K" + context.session.words(text("looked at: {section}", section=section)))
        context.terminal.err.flush()


def _erase_progress(context: Context) -> None:
    if context.terminal.err.isatty():
        context.terminal.err.write("\r\x1b[K")
        context.terminal.err.flush()


class _Report:
    """Writes an inspection for people to read."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._words = context.session.words
        self._width = width_of(context)

    def show(self, inspection: Inspection) -> None:
        """All of it."""
        diagnosis, answers = inspection.diagnosis, inspection.answers
        if inspection.title:
            self._say(self._words(text("Recorded machine: {title}", title=inspection.title)), style=_DIM)
        self._say(self._words(found_title(inspection.machine, diagnosis, answers)), style=_BOLD)
        self._say(self._words(joined(found_figures(diagnosis, answers, inspection.seconds))), style=_DIM)
        for answer in answers:
            self._show_answer(answer)
        if diagnosis.passed:
            self._context.say()
            checks = ", ".join(dict.fromkeys(self._words(one.check) for one in diagnosis.passed))
            self._say(f"✓ {self._words(text('Checked and fine: {checks}', checks=checks))}", hanging="  ")
        if diagnosis.undetermined:
            self._show_undetermined(diagnosis.undetermined)

    def _show_answer(self, answer: Answer) -> None:
        glyph, severity = _MARKS[answer.severity]
        self._context.say()
        self._say(f"{glyph} {self._words(severity)}: {answer.title}", hanging="  ", style=_BOLD + _COLOURS[answer.severity])
        if answer.explanation:
            self._say(answer.explanation, indent="  ")
        for one in answer.evidence:
            self._show_evidence(one)
        for place, remedy in enumerate(answer.remedies, start=1):
            self._context.say()
            self._show_remedy(remedy, f"{place}. ")
        if answer.links:
            self._context.say()
        for address in answer.links:
            self._context.say(self._styled(f"  {address}", _DIM))

    def _show_evidence(self, evidence: Evidence) -> None:
        source = f"  [{evidence.source}]" if evidence.source else ""
        words = self._words(text("{fact}: {value}", fact=evidence.fact, value=evidence.value))
        self._say(f"- {words}{source}", indent="  ", hanging="  ", style=_DIM)

    def _show_remedy(self, remedy: Remedy, number: str) -> None:
        hanging = " " * len(number)
        self._say(f"{number}{remedy.text}", indent="  ", hanging=hanging)
        for line in _lines(remedy):
            self._context.say(f"  {hanging}  {self._styled(line, _BOLD)}")  # never wrapped: it is there to be copied
        if remedy.needs_root:
            self._say(f"({self._words(_ROOT)})", indent=f"  {hanging}", style=_DIM)
        if remedy.check:
            check = self._words(text("To see that it worked: {check}", check=remedy.check))
            self._say(check, indent=f"  {hanging}")

    def _show_undetermined(self, undetermined: tuple[Undetermined, ...]) -> None:
        self._context.say()
        self._say(f"? {self._words(text('Could not be determined:'))}")
        for one in undetermined:
            words = self._words(text("{fact}: {reason}", fact=one.fact, reason=one.reason))
            self._say(f"- {words}  [{one.problem}]", indent="  ", hanging="  ")

    def _say(self, words: str, *, indent: str = "", hanging: str = "", style: str = "") -> None:
        # A path or an option that is broken cannot be copied.
        wrapper = textwrap.TextWrapper(self._width, indent, indent + hanging, break_long_words=False, break_on_hyphens=False)
        lines = wrapper.wrap(words)
        for line in lines or [indent]:
            self._context.say(self._styled(line, style))

    def _styled(self, words: str, style: str) -> str:
        return f"{style}{words}{_PLAIN}" if style and self._context.terminal.colour else words


def _lines(remedy: Remedy) -> Iterator[str]:
    return (line for command in remedy.commands for line in command.lines)
