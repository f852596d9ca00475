"""`gpuassist report`: what is wrong with this machine as a file for somebody else, without what tells whose machine it is."""

from __future__ import annotations

import argparse
import os

from gpuassist import __version__
from gpuassist.cli.context import Context, UsageError, load_probes
from gpuassist.cli.inspection import inspect_machine
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit
from gpuassist.present.report_document import report_document
from gpuassist.present.report_file import NotSavedError, ReportFormat, format_of, report_content, save, why_not_saved
from gpuassist.present.report_words import taken_lines
from gpuassist.present.verification_card import pcie_links, verification_card
from gpuassist.session.report import MachineReport, harmless_figures, make_report
from gpuassist.session.verifications import kept

NAME = "report"
HELP = text(
    "make a report on this machine for somebody else: without names, identities and whatever else is not known to be harmless"
)

_STANDARD_OUTPUT = "-"


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    forms = words(text("md for an issue tracker, html as a page with pictures, json to be opened with --machine (default: md)"))
    parser.add_argument("--format", choices=[one.value for one in ReportFormat], default="", help=forms)
    parser.add_argument("--json", action="store_true", help=words(text("the same as --format json")))
    out = words(text("the file to write, which only you may read; its ending says the format (default: standard output)"))
    parser.add_argument("--out", metavar="FILE", default=_STANDARD_OUTPUT, help=out)
    card = text("one picture of the last verification, .svg or .png, for a forum or a seller, instead of a report")
    parser.add_argument("--card", metavar="FILE", default=None, help=words(card))
    parser.add_argument("--force", action="store_true", help=words(text("write over a file that is there already")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    if options.card is not None:
        return _card(options, context)
    form = _format(options)
    _refuse_place(options)
    context = context.for_programs(argparse.Namespace(json=form is ReportFormat.JSON, lang=options.lang))
    report = make_report(context.session, inspect_machine(context, with_changes=True))
    if options.out != _STANDARD_OUTPUT:
        content = report_content(report, form, context.session.words)
        _save(options.out, content.encode("utf-8", "backslashreplace"), force=options.force)
    elif form is ReportFormat.JSON:
        context.document(report_document(report, context.session.words))
    else:
        context.say_lines(report_content(report, form, context.session.words).removesuffix("\n"))
    _tell(context, report, options.out)
    return Exit.HEALTHY


def _format(options: argparse.Namespace) -> ReportFormat:
    """The format that was asked for, by name or by the ending of the file."""
    if options.json and options.format not in {"", ReportFormat.JSON.value}:
        raise UsageError(text("--json and --format {format} are two formats: one of them", format=options.format))
    if options.json or options.format:
        return ReportFormat.JSON if options.json else ReportFormat(options.format)
    if options.out == _STANDARD_OUTPUT:
        return ReportFormat.MARKDOWN
    form = format_of(options.out)
    if form is None:
        reason = text("{path} should end in .md, .html or .json, which says the format; or name it by --format", path=options.out)
        raise UsageError(reason)
    return form


def _refuse_place(options: argparse.Namespace) -> None:
    """What speaks against the file is said before a look at the machine, which takes seconds."""
    if options.out == _STANDARD_OUTPUT:
        if options.force:
            raise UsageError(text("--force is about a file that is there already: name it by --out FILE"))
        return
    why_not = why_not_saved(options.out, force=options.force)
    if why_not is not None:
        raise UsageError(why_not)


def _save(path: str, content: bytes, *, force: bool) -> None:
    try:
        save(path, content, force=force)
    except NotSavedError as error:
        raise UsageError(error.reason) from error


def _card(options: argparse.Namespace, context: Context) -> Exit:
    """The picture of the last verification of this machine."""
    if options.json or options.format or options.out != _STANDARD_OUTPUT:
        raise UsageError(text("--card is a picture and no report: it takes --force, and neither --format, --json nor --out"))
    if context.elsewhere:
        raise UsageError(text("a recorded machine was not verified here: --card shows the last verification of this one"))
    ending = os.path.splitext(options.card)[1].lower()
    if ending not in {".svg", ".png"}:
        raise UsageError(text("{path} should end in .svg or .png: that says what is drawn", path=options.card))
    why_not = why_not_saved(options.card, force=options.force)
    if why_not is not None:
        raise UsageError(why_not)
    kept_one = next(iter(kept(context.session.world)), None)
    if kept_one is None:
        context.note(text("Nothing was verified on this machine yet: gpuassist verify"))
        return Exit.UNDETERMINED
    figures = harmless_figures(context.session, kept_one)
    svg = verification_card(figures, pcie_links(_machine(context)), __version__, context.session.words)
    _save(options.card, context.draw_png(svg) if ending == ".png" else svg.encode(), force=options.force)
    context.note(text("Saved as {path}. Only you can read the file.", path=options.card))
    return Exit.HEALTHY


def _machine(context: Context) -> Machine:
    load_probes()
    from gpuassist.detect.machine import detect

    return detect(context.session.world, context.session.knowledge, lambda _: None)


def _tell(context: Context, report: MachineReport, place: str) -> None:
    """What was taken out, for whoever is about to hand it on: where he sees it, and never within the report."""
    if place != _STANDARD_OUTPUT:
        context.note(text("Saved as {path}. Only you can read the file.", path=place))
    elif not context.terminal.err.isatty():
        return
    lines = taken_lines(report.taken_out)
    context.note(text("Left out, or with another name in its place:") if lines else text("Nothing had to be left out."))
    for line in lines:
        context.note(text("- {line}", line=line))
    context.note(text("Please check it before you share it."))
