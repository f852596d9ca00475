"""What stands in a report, part by part, whichever form it is written in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Union

from msgspec import Struct

from gpuassist.model.chain import Chain
from gpuassist.model.finding import Answer, Evidence
from gpuassist.model.past import Past
from gpuassist.model.text import Text, counted, joined, text
from gpuassist.model.words import Words
from gpuassist.present.chain import alike, caption
from gpuassist.present.commands import command_lines, copyable, copyable_lines
from gpuassist.present.listing import sections
from gpuassist.present.marks import Mark, mark_of
from gpuassist.present.moments import minute, minute_abroad
from gpuassist.present.past import change_words, detail_words, explanation_of
from gpuassist.present.past import title as past_title
from gpuassist.present.remedies import LETTERS, ShownRemedy, shown_together
from gpuassist.present.summary import found_figures, found_title
from gpuassist.session.harmless.stand_ins import LEFT_OUT, TakenKind, TakenOut
from gpuassist.session.report import ChangesTold, MachineReport
from gpuassist.session.verification_summary import DeviceFigures, VerificationFigures, VerificationOutcome


class ReportHeading(Struct, frozen=True):
    """A heading; `level` is 1 of the title, `mark` what it stands for."""

    words: str
    level: int = 2
    mark: Mark | None = None


class ReportParagraph(Struct, frozen=True):
    """A paragraph; `quiet` where it is a note."""

    words: str
    quiet: bool = False


class ReportItems(Struct, frozen=True):
    """Lines of a list, numbered or not."""

    lines: tuple[str, ...]
    numbered_from: int = 0


class ReportCommands(Struct, frozen=True):
    """Command lines."""

    lines: tuple[str, ...]


class FactRows(Struct, frozen=True):
    """Facts with their sources; `title` says of what."""

    title: str
    rows: tuple[tuple[str, str, str], ...]


class ChainPart(Struct, frozen=True):
    """The compatibility chain, and whose it is."""

    caption: str
    chain: Chain


Part = Union[ReportHeading, ReportParagraph, ReportItems, ReportCommands, FactRows, ChainPart]

_TAKEN: dict[TakenKind, Text] = {
    TakenKind.USER: text("names of users"),
    TakenKind.HOME: text("home directories"),
    TakenKind.ENVIRONMENT: text("names of environments and projects"),
    TakenKind.FOLDER: text("names of folders"),
    TakenKind.FILE: text("names of files"),
    TakenKind.UUID: text("UUIDs of GPUs"),
    TakenKind.CONTAINER: text("identities of containers"),
    TakenKind.COMMAND_LINE: text("programs and their command lines"),
    TakenKind.VARIABLE: text("variables and their values"),
    TakenKind.STARTUP: text("contents of start-up files"),
    TakenKind.ADDRESS: text("addresses of package indexes"),
    TakenKind.PACKAGE: text("names of packages"),
    TakenKind.KERNEL: text("names of kernels"),
    TakenKind.NOTE: text("the note of the recording"),
    TakenKind.WORDS: text("words that are not known to be harmless"),
}
OUTCOMES: dict[VerificationOutcome, Text] = {
    VerificationOutcome.PASSED: text("passed"),
    VerificationOutcome.FAILED: text("FAILED"),
    VerificationOutcome.INCOMPLETE: text("INCOMPLETE"),
    VerificationOutcome.CPU_ONLY: text("CPU ONLY: no GPU was tested"),
    VerificationOutcome.NOTHING: text("NOTHING VERIFIED"),
}


def taken_lines(taken: Iterable[TakenOut]) -> tuple[Text, ...]:
    """What was taken out, a line a kind: how many, and what stands there now."""
    return tuple(_taken(one) for one in taken)


def _taken(one: TakenOut) -> Text:
    if one.stand_in in {"", LEFT_OUT}:
        return text("{what}: {count}, left out", what=_TAKEN[one.kind], count=one.count)
    shown = one.stand_in if one.kind is not TakenKind.UUID else f"{one.stand_in[:12]}{LEFT_OUT}"
    return text("{what}: {count}, now {stand_in}", what=_TAKEN[one.kind], count=one.count, stand_in=shown)


def parts_of(report: MachineReport, words: Words) -> Iterator[Part]:
    """The whole report, what matters most first."""
    inspection = report.inspection
    diagnosis, answers = inspection.diagnosis, inspection.answers
    yield ReportHeading(words(found_title(inspection.machine, diagnosis, answers)), 1, _worst(answers))
    figures = joined(found_figures(diagnosis, answers, 0.0))
    about = text("gpuassist {version} · {moment}", version=report.version, moment=minute_abroad(report.made_at))
    yield ReportParagraph(words(joined((figures, about))), quiet=True)
    yield from _findings(answers, words)
    if report.differing:
        told = text(
            "What is left out of this report would change what is found: {problems}. The machine itself tells otherwise there.",
            problems=", ".join(report.differing),
        )
        yield ReportParagraph(words(told))
    yield from _rest(report, words)
    if report.changed is not None:
        yield from _changes(report.changed, words)
    yield from _chains(report, words)
    if report.verification is not None:
        yield ReportHeading(words(text("Last verification")))
        yield ReportItems(tuple(words(one) for one in verification_lines(report.verification)))
    yield ReportHeading(words(text("The machine")))
    for section in sections(inspection.machine):
        rows = tuple((words(one.label), words(one.value), one.source) for one in section.lines)
        if rows:
            yield FactRows(words(section.title), rows)
    yield ReportHeading(words(text("Left out of this report")))
    taken = taken_lines(report.taken_out)
    yield ReportItems(tuple(map(words, taken))) if taken else ReportParagraph(words(text("nothing")))


def _worst(answers: tuple[Answer, ...]) -> Mark:
    return mark_of(answers[0].severity) if answers else Mark.RIGHT


def _findings(answers: tuple[Answer, ...], words: Words) -> Iterator[Part]:
    for answer, remedies in zip(answers, shown_together(answers), strict=True):
        yield ReportHeading(answer.title, 2, mark_of(answer.severity))
        yield ReportParagraph(words(text("problem {id}", id=answer.id)), quiet=True)
        told = explanation_of(answer, words)
        if told:
            yield ReportParagraph(told)
        if answer.evidence:
            yield ReportItems(tuple(_evidence(one, words) for one in answer.evidence))
        for place, shown in enumerate(remedies, start=1):
            yield from _remedy(place, shown, words)
        if answer.links:
            yield ReportItems(answer.links)


def _evidence(one: Evidence, words: Words) -> str:
    told = words(text("{fact}: {value}", fact=one.fact, value=one.value))
    return f"{told} ({one.source})" if one.source else told


def _remedy(place: int, shown: ShownRemedy, words: Words) -> Iterator[Part]:
    remedy = shown.remedy
    yield ReportItems((remedy.text,), place)
    if shown.before is not None:
        yield ReportParagraph(words(shown.before))
    for letter, step in zip(LETTERS, shown.steps, strict=False):
        yield ReportParagraph(f"{letter}) {words(step.text)}")
        if step.commands:
            yield ReportCommands(tuple(map(words, copyable_lines(step.commands))))
        if step.check is not None:
            yield ReportParagraph(_check(words(step.check), words), quiet=True)
    lines = tuple(map(words, copyable_lines(command_lines(remedy)))) if shown.is_one else ()
    if lines:
        yield ReportCommands(lines)
    if remedy.check and shown.is_one:
        yield ReportParagraph(_check(remedy.check, words), quiet=True)
    for note in shown.notes:
        yield ReportParagraph(words(text("Note: {note}", note=note)), quiet=True)


def _check(check: str, words: Words) -> str:
    return words(text("To see that it worked: {check}", check=copyable(check)))


def _rest(report: MachineReport, words: Words) -> Iterator[Part]:
    diagnosis = report.inspection.diagnosis
    if diagnosis.undetermined:
        yield ReportHeading(words(text("Could not be determined")))
        told = (text("{fact}: {reason}", fact=one.fact, reason=one.reason) for one in diagnosis.undetermined)
        yield ReportItems(tuple(dict.fromkeys(map(words, told))))
    if diagnosis.passed:
        checks = ", ".join(dict.fromkeys(words(one.check) for one in diagnosis.passed))
        yield ReportParagraph(words(text("Checked and fine: {checks}", checks=checks)))


def _changes(told: ChangesTold, words: Words) -> Iterator[Part]:
    found = Past(told.since, told.kept, told.changes, told.notes, told.by, told.unchanged_since)
    yield ReportHeading(words(text("What changed")))
    yield ReportParagraph(words(past_title(found)))
    lines = tuple("\n".join((words(change_words(one)), *map(words, detail_words(one)))) for one in told.changes)
    if lines:
        yield ReportItems(lines)
    for note in told.notes:
        yield ReportParagraph(words(text("Note: {note}.", note=note)), quiet=True)


def _chains(report: MachineReport, words: Words) -> Iterator[Part]:
    found = alike(report.inspection.chains)
    if found:
        yield ReportHeading(words(text("Compatibility chain")))
    for one in found:
        yield ChainPart(words(caption(one)), one.chain)


def verification_lines(figures: VerificationFigures) -> Iterator[Text]:
    """A verification, its outcome first; what it leaves open stands there as plainly as what it proved."""
    yield text("Verification of {moment}: {outcome}", moment=minute(figures.made_at), outcome=OUTCOMES[figures.outcome])
    yield from (device_line(one) for one in figures.devices)
    if figures.other_bad:
        yield counted(
            "{count} more check, between devices or of a toolkit, went wrong",
            "{count} more checks, between devices or of toolkits, went wrong",
            figures.other_bad,
        )
    known = (
        text("torch {version}", version=figures.torch) if figures.torch else None,
        text("CUDA {version}", version=figures.cuda) if figures.cuda else None,
        text("driver {version}", version=figures.driver) if figures.driver else None,
        text("Python {version}", version=figures.python) if figures.python else None,
    )
    told = tuple(one for one in known if one is not None)
    if told:
        yield joined(told)


def device_line(one: DeviceFigures) -> Text:
    """One device in figures."""
    parts = [counted("{count} check passed", "{count} checks passed", one.passed)]
    if one.bad:
        parts.append(counted("{count} FAILED", "{count} FAILED", one.bad))
    if one.late:
        parts.append(text("{count} not run for lack of time", count=one.late))
    if one.held:
        parts.append(text("{count} not run because the GPU was in use, or it was ended", count=one.held))
    if one.rates:
        parts.append(share_words(one))
    name = text("CPU") if one.is_cpu else text("{name}", name=one.name or "GPU")
    return text("{device}: {figures}", device=name, figures=joined(tuple(parts)))


def share_words(one: DeviceFigures) -> Text:
    """How much its rates reached of what the GPU can at most."""
    least, best = f"{one.least * 100:.0f}", f"{one.best * 100:.0f}"
    if least == best:
        return counted("{percent} % of its peak rate", "{percent} % of {count} peak rates", one.rates, percent=best)
    return text("{least} to {best} % of {count} peak rates", least=least, best=best, count=one.rates)
