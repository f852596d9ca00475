"""`gpuassist shell`: what each line of the shell's start-up files does to the variables that matter, and which line wins."""

from __future__ import annotations

import argparse

from gpuassist.changes.plan_change import plan_change
from gpuassist.changes.wishes import CleanShell
from gpuassist.cli.answers import AnswerWriter
from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.line_options import named
from gpuassist.cli.old_environments import show_old_environments
from gpuassist.cli.shell_change import PlannedChange, change_files, refuse
from gpuassist.cli.streams import BOLD, DIM
from gpuassist.detect.startup.line import SurveyLine
from gpuassist.detect.startup.survey import Survey, survey
from gpuassist.model.fact import Known
from gpuassist.model.text import Text, listed, text
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit
from gpuassist.present.old_environments import old_json
from gpuassist.present.shell_document import survey_document
from gpuassist.session.old_environments import beside_terminal
from gpuassist.session.use import look
from gpuassist.shellfiles.block import RepairError
from gpuassist.shellfiles.lines import Choice, ChoiceError, LineChoice
from gpuassist.shellfiles.statements import printable
from gpuassist.system.shell_trace import SECONDS

NAME = "shell"
HELP = text("show what the shell's start-up files do to PATH, CUDA_HOME and the like, and which line wins")

_LONGEST_SECONDS = 600.0


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    limit = words(text("how long a new terminal may take to come up (default: {seconds:.0f})", seconds=SECONDS))
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="N", help=limit)
    clean = words(
        text("clean up PATH, LD_LIBRARY_PATH and the like: empty entries, stub libraries, missing or duplicate directories")
    )
    parser.add_argument("--clean", action="store_true", help=clean)
    lines = words(text("with --clean, the lines to clean (default: those that are suggested)"))
    parser.add_argument("--lines", metavar="FILE:LINE,…", help=lines)
    dry = words(text("with --clean, show what would be done, and do nothing"))
    parser.add_argument("--dry-run", action="store_true", help=dry)
    parser.add_argument("--yes", action="store_true", help=words(text("with --clean, do it without asking")))
    parser.add_argument("--json", action="store_true", help=words(text("print one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Reads, watches a new terminal come up, and prints the table."""
    if not 0 < options.seconds <= _LONGEST_SECONDS:
        raise UsageError(text("--seconds takes a number of seconds up to {most:.0f}", most=_LONGEST_SECONDS))
    context = context.for_programs(options)
    if options.clean:
        return _clean(options, context)
    if options.lines is not None or options.dry_run or options.yes:
        raise UsageError(text("--lines, --dry-run and --yes go with --clean"))
    found = survey(context.session, context.recorded_machine(), seconds=options.seconds, recorded=bool(context.machine_file))
    # A recorded machine's programs are not here.
    left = None if context.machine_file else beside_terminal(context.session, found.terminal)
    if options.json:
        context.document({**survey_document(found, context.session.words), "still_old": old_json(left, context.session.words)})
    else:
        _Table(context).show(found)
        if left is not None and left.programs:
            show_old_environments(context, left, at_any_time=True)
    return Exit.HEALTHY


def _clean(options: argparse.Namespace, context: Context) -> Exit:
    """Takes out of the start-up files what should not be on their search lists."""
    if context.machine_file:
        raise UsageError(text("--machine shows a recorded machine; {command} would change this one", command="shell --clean"))
    machine = look(context.session)
    try:
        plan = plan_change(context.session.world, machine, CleanShell())
        if options.lines is not None:
            # The lines that are named: without what is wrong in them where they hold something else, else as a comment only.
            offered = {(line.file, line.line): line for line in plan.lines}
            chosen = []
            for place in named(options.lines, plan.lines):
                rewrites = place in offered and bool(offered[place].instead)
                chosen.append(LineChoice(*place, Choice.REPLACE if rewrites else Choice.COMMENT_OUT))
            plan = plan_change(context.session.world, machine, CleanShell(tuple(chosen)))
    except ChoiceError as error:
        raise UsageError(error.reason) from error
    except RepairError as error:
        return refuse(options, context, error.reason)
    return change_files(options, context, PlannedChange(plan))


class _Table:
    """Writes the lines for people to read, file by file in the order in which a new terminal reads them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._words = context.session.words
        self._writer = AnswerWriter(context)

    def show(self, found: Survey) -> None:
        self._say(text("Start-up files of {shell}, in the order in which a new terminal reads them", shell=found.shell), style=BOLD)
        if not found.lines:
            self._say(text("No line in them sets PATH, CUDA_HOME or another variable that matters here."))
        file = ""
        for line in found.lines:
            if line.file != file:
                self._context.say()
                read_by = text("{file} (read in by {place})", file=printable(line.file), place=printable(line.read_by))
                self._say(read_by if line.read_by else text("{file}", file=printable(line.file)), style=BOLD)
                file = line.file
            self._line(line)
        self._context.say()
        for one in found.unread:
            self._say(text("Not read: {file}: {reason}", file=printable(one.path), reason=one.reason))
        for note in found.notes:
            self._say(text("Note: {note}", note=note))
        if isinstance(found.seconds, Known):
            self._say(text("A new terminal is ready after {seconds:.1f} s.", seconds=found.seconds.value), style=DIM)

    def _line(self, line: SurveyLine) -> None:
        number = str(line.line) if line.line == line.last_line else f"{line.line}-{line.last_line}"
        rows = line.text.splitlines() or [""]
        self._writer.say(f"{_mark(line)} {number}: {rows[0].strip()}{' …' if len(rows) > 1 else ''}", indent="  ", hanging="      ")
        for words in line.contribution:
            self._say(words, indent="      ", hanging="      ")
        told = [line.effect]
        if line.wins:
            told.append(text("this line wins for {variables}", variables=listed(line.wins)))
        if line.owner:
            told.append(text("owner: {owner}", owner=line.owner))
        for words in [*told, line.why]:
            self._say(words, indent="      ", hanging="      ", style=DIM)

    def _say(self, words: Text, *, indent: str = "", hanging: str = "", style: str = "") -> None:
        self._writer.say(self._words(words), indent=indent, hanging=hanging, style=style)


def _mark(line: SurveyLine) -> str:
    if not isinstance(line.in_effect, Known):
        return "?"
    return "✓" if line.in_effect.value else "-"
