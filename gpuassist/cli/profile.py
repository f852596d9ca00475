"""`gpuassist profile`: reads what a profiler left and says what to change first; without a file, which profiler to take next."""

from __future__ import annotations

import argparse

from gpuassist.cli.answers import AnswerWriter
from gpuassist.cli.context import Context, NotFoundOutError, UsageError
from gpuassist.cli.paragraphs import show_command, width_of, wrapped
from gpuassist.cli.streams import BOLD, DIM, Painted
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.profile import ProfileReading, TimeKind
from gpuassist.model.text import Text, listed, text
from gpuassist.model.words import Words
from gpuassist.present.marks import Exit
from gpuassist.present.profile import (
    BASIS_WORDS,
    entry_rows,
    gap_words,
    heading,
    profile_document,
    share_rows,
    shown_part,
    shown_time,
)
from gpuassist.present.profilers import NOTES, QUESTION_TITLES, advice_document, state_words
from gpuassist.session.profiling.next_tool import ProfilerAdvice, ProfilerQuestion, environment_of_programs, next_tools
from gpuassist.session.profiling.profile_file import ProfileAnswer, profile
from gpuassist.session.profiling.refusals import ProfileError

NAME = "profile"
HELP = text("say where a program's time goes, from what a profiler left; without a file, which profiler to take next")

_BAR = 24
_ROWS = 12
_QUESTIONS = tuple(one.value for one in ProfilerQuestion)


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    what = text(
        "a trace of torch.profiler (.json, .json.gz), a table of it, a profile of cProfile, tables or the SQLite export of Nsight"
        " Systems, a file of py-spy (also its flame graph), scalene or line_profiler; without it: which profiler next"
    )
    parser.add_argument("file", nargs="?", default="", metavar="FILE", help=words(what))
    wanted = words(text("the question a profiler shall answer: {questions}", questions=listed(_QUESTIONS)))
    parser.add_argument("--for", dest="question", choices=_QUESTIONS, metavar="QUESTION", help=wanted)
    python = words(text("without a file: the interpreter that runs the program, or its environment's directory"))
    parser.add_argument("--python", metavar="PATH", help=python)
    parser.add_argument("--json", action="store_true", help=words(text("as one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Status 0 the profile was read, 3 it is none, or tells nothing."""
    context = context.for_programs(options)
    if not options.file:
        return _next_tool(options, context)
    if options.question or options.python:
        raise UsageError(text("--for and --python are about the next profiler, and go without a file"))
    context.require_file(options.file)
    try:
        answer = profile(context.session, options.file, on_progress=lambda done, of: _show_progress(context, done, of))
    except ProfileError as error:
        context.passing()
        raise NotFoundOutError(error.reason, error.lines) from error
    context.passing()
    if options.json:
        context.document(profile_document(answer, context.session.words))
    else:
        _Report(context).show(answer)
    return Exit.HEALTHY if answer.answer is not None else Exit.UNDETERMINED


def _show_progress(context: Context, done: int, of: int) -> None:
    context.passing(text("Reading the profile: {percent} %", percent=100 * done // of if of else 0))


class _Report:
    def __init__(self, context: Context) -> None:
        self._context = context
        self._words = context.session.words
        self._writer = AnswerWriter(context)

    def show(self, answer: ProfileAnswer) -> None:
        """The file, the first thing to change, the shares, the names, and what cannot be known."""
        self._writer.say(self._words(heading(answer)), style=DIM)
        if answer.answer is not None:
            self._writer.answer(answer.answer)
        for reading in answer.readings:
            self._shares(reading)
        self._entries(answer)
        gaps = gap_words(answer)
        if gaps:
            self._context.say()
            self._writer.say(self._words(text("What this file cannot tell:")))
            for one in gaps:
                self._writer.say(f"- {self._words(one)}", indent="  ", hanging="  ", style=DIM)

    def _shares(self, reading: ProfileReading) -> None:
        self._context.say()
        self._writer.say(self._words(text("Where the time goes ({basis}):", basis=BASIS_WORDS[reading.basis])))
        for row in share_rows(reading):
            bar = ("#" * max(1, round(row.part * _BAR))).ljust(_BAR)
            time = f"  {self._words(shown_time(row.seconds))}" if row.seconds is not None else ""
            self._context.say(f"  {self._words(shown_part(row.part)):>7}  {bar}  {self._words(row.title)}{time}")

    def _entries(self, answer: ProfileAnswer) -> None:
        self._context.say()
        self._writer.say(self._words(text("What took longest (its own time, calls, name):")))
        for row in entry_rows(answer.readings, _ROWS):
            time = self._words(shown_time(row.seconds)) if row.seconds is not None else ""
            head = f"{self._words(shown_part(row.part)):>7}  {time:>9}  {row.entry.calls:>9,}  "
            once = f"  [{self._words(row.kind)}]" if row.entry.kind is TimeKind.START else ""
            self._writer.say(f"{head}{row.entry.name}{once}", indent="  ", hanging=" " * len(head))
            if row.entry.place:
                place = self._words(text("called from {place}", place=row.entry.place))
                self._context.say(Painted(f"  {' ' * len(head)}{place}", DIM))


# Which profiler next.


def _next_tool(options: argparse.Namespace, context: Context) -> Exit:
    asked = tuple(one for one in ProfilerQuestion if options.question in {None, one.value})
    live = not context.machine_file
    advice = next_tools(context.session, _environment(options, context), questions=asked, live=live)
    if options.json:
        context.document(advice_document(advice, context.session.words))
        return Exit.HEALTHY
    for one in advice:
        _show_advice(context, one)
    return Exit.HEALTHY


def _environment(options: argparse.Namespace, context: Context) -> Fact[PythonEnvironment]:
    """The one that is named, or the one in which the user's programs run."""
    machine = context.recorded_machine()
    from gpuassist.session.verify import find_environments, interpreter_at

    found = machine.environments if machine is not None else find_environments(context.session)
    if not options.python:
        return environment_of_programs(found)
    interpreter = interpreter_at(context.session.world, options.python)
    if isinstance(interpreter, Unknown):
        raise UsageError(interpreter.reason)
    prefix = interpreter.value.rpartition("/bin/")[0]
    known = [one for one in (found.value if isinstance(found, Known) else ()) if one.prefix == prefix]
    made = known[0] if known else PythonEnvironment(prefix, prefix.rpartition("/")[2], interpreter=interpreter)
    return Known(made, options.python)


def _show_advice(context: Context, advice: ProfilerAdvice) -> None:
    words, width = context.session.words, width_of(context)

    def say(one: Text, indent: str = "  ", style: str = "") -> None:
        for line in wrapped(words(one), width, first=indent, hanging=indent):
            context.say(Painted(line, style))

    context.say(Painted(f"{words(QUESTION_TITLES[advice.question])}  [--for {advice.question.value}]", BOLD))
    say(state_words(advice))
    for obstacle in advice.obstacles:
        say(text("! {obstacle}", obstacle=obstacle))
    if advice.problem:
        say(text("What mends that: gpuassist explain --topic profilers"), "    ")
    for line in (*advice.install, *(() if advice.code else advice.commands)):
        show_command(context, line, indent="    ")
    if advice.code:
        for line in advice.code:
            context.say(Painted(f"    {line}", ""))
        for line in advice.commands:
            show_command(context, line, indent="    ")
    say(NOTES[advice.question], style=DIM)
    context.say()
