"""`gpuassist know`: asks what gpuassist knows of a GPU, a CUDA or torch release, a driver, an architecture, a message's number."""

from __future__ import annotations

import argparse

from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.paragraphs import width_of, wrapped
from gpuassist.cli.streams import BOLD, DIM, Painted
from gpuassist.model.text import Text, listed, text
from gpuassist.model.words import ENGLISH, Words
from gpuassist.present.lookup import lines, source_line
from gpuassist.present.marks import Exit
from gpuassist.session.lookup.answer import LookupAnswer, LookupStatus
from gpuassist.session.lookup.ask import KINDS, answer_document, ask, everything, names, names_document, nearest_kinds

NAME = "know"
HELP = text("say what is known of a GPU, a CUDA or torch release, a driver, an architecture, an error number, and by which source")

_LABEL_WIDTH = 28
_NARROW = 64  # columns, below which a value stands under its label: beside it, too few would be left


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    kinds = words(text("one of {kinds}; alone it lists the names", kinds=listed(KINDS)))
    parser.add_argument("kind", nargs="?", default="", metavar="KIND", help=kinds)
    name = words(text('a name in any spelling: "RTX 4090", 10de:2684, 12.4, 2.6.0+cu124, 550.54.14, sm_89'))
    parser.add_argument("name", nargs="*", metavar="NAME", help=name)
    parser.add_argument("--all", action="store_true", help=words(text("every record of every kind; with --json")))
    parser.add_argument("--json", action="store_true", help=words(text("as one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Answers; a name that is not known is told with the nearest ones."""
    _check(options, context)
    if options.all:
        context.document(everything(context.session), indent=None)
        return Exit.HEALTHY
    if not options.name:
        if options.json:
            context.document(names_document(context.session, options.kind))
        else:
            for name in names(context.session, options.kind):
                context.say(name)
        return Exit.HEALTHY
    asked = " ".join(options.name)
    answered = ask(context.session, options.kind, asked)
    if options.json:
        words = context.session.words if options.lang else ENGLISH
        context.document(answer_document(options.kind, asked, answered, words))
    else:
        _Report(context).show(answered)
    return Exit.UNDETERMINED if answered.standing is LookupStatus.UNKNOWN else Exit.HEALTHY


def _check(options: argparse.Namespace, context: Context) -> None:
    """Raises `UsageError` where the options do not say what is asked."""
    if options.all:
        if options.kind or not options.json:
            raise UsageError(text("--all prints everything: `gpuassist know --all --json`"))
        return
    if not options.kind:
        raise UsageError(text("know what? Name a kind ({kinds}) and what of it: `gpuassist know cuda 12.4`", kinds=listed(KINDS)))
    if options.kind in KINDS:
        return
    near = nearest_kinds(options.kind)
    if near:
        raise UsageError(text("there is no kind {kind}; did you mean {near}?", kind=options.kind, near=near[0]))
    from gpuassist.session.terms import glossary  # of what is asked wrongly alone

    term = glossary(context.session).asked(options.kind)
    if term is not None:
        raise UsageError(
            text("{kind} is a term and no kind: `gpuassist explain --topic {key}` explains it", kind=options.kind, key=term.key)
        )
    raise UsageError(text("there is no kind {kind}; the kinds are {kinds}", kind=options.kind, kinds=listed(KINDS)))


class _Report:
    """Writes an answer for people to read."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._words = context.session.words
        self._width = width_of(context)

    def show(self, answered: LookupAnswer) -> None:
        """The answer, then what it rests on; or what may have been meant."""
        self._say(answered.title, BOLD)
        if answered.standing is LookupStatus.UNKNOWN:
            self._show_notes(answered)
            if answered.nearest:
                self._say(text("The nearest that I know:"))
                for name in answered.nearest:
                    self._context.say(f"  {name}")
            return
        for line in lines(answered):
            self._row(line.label, line.value)
        if answered.notes:
            self._context.say()
        self._show_notes(answered)
        self._context.say()
        source = source_line(answered.record)
        self._row(source.label, source.value, DIM)

    def _show_notes(self, answered: LookupAnswer) -> None:
        for note in answered.notes:
            self._say(note, before="  ", hanging="  ")

    def _row(self, label: Text, value: Text, style: str = "") -> None:
        if self._width < _NARROW:
            self._context.say(f"  {self._words(label)}")
            self._say(value, style, before="    ", hanging="    ")
            return
        before = f"  {self._words(label).ljust(_LABEL_WIDTH)}  "
        self._say(value, style, before=before, hanging=" " * len(before))

    def _say(self, words: Text, style: str = "", *, before: str = "", hanging: str = "") -> None:
        for line in wrapped(self._words(words), self._width, first=before, hanging=hanging) or [before.rstrip()]:
            self._context.say(Painted(line, style))
