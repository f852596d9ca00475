"""`gpuassist explain`: reads a pasted error or output, finds the real cause, and gives the mend that fits."""

from __future__ import annotations

import argparse
import sys

from gpuassist.cli import streams
from gpuassist.cli.answers import AnswerWriter, severest
from gpuassist.cli.context import Context, UsageError, load_probes
from gpuassist.cli.paragraphs import width_of
from gpuassist.cli.streams import BOLD, DIM
from gpuassist.model.machine import Machine
from gpuassist.model.memory_picture import MemoryPicture
from gpuassist.model.paste import Paste
from gpuassist.model.text import listed, text
from gpuassist.model.words import Words
from gpuassist.present.explanation import accounts_shown, explanation_document
from gpuassist.present.listing import Section, facts_read
from gpuassist.present.marks import Exit
from gpuassist.present.memory import picture_title, text_bar, text_legend, wanted
from gpuassist.session.explain import Explanation, PasteError, explain, gathered, read_file, with_past

# A card's memory on a terminal: a bar that reads without colours, its parts with their sizes, and what was wanted.


_WIDEST = 76
_NARROWEST = 16


def show_memory(context: Context, writer: AnswerWriter, picture: MemoryPicture) -> None:
    """The picture, after an empty line."""
    words = context.session.words
    context.say()
    writer.say(words(picture_title(picture)), style=BOLD)
    unicode = streams.takes_unicode(context.terminal.out)
    context.say(f"  [{text_bar(picture, max(_NARROWEST, min(_WIDEST, width_of(context) - 4)), unicode=unicode)}]")
    for line in text_legend(picture, words, unicode=unicode):
        writer.say(line, indent="  ", hanging="  ")
    for note in (wanted(picture), *picture.notes):
        writer.say(words(note), indent="  ", style=DIM)


NAME = "explain"
HELP = text("say what a pasted error or output means, what its cause is, and what to do about it")

ALONE = "none"
"""As `--machine`: the text is judged alone."""

_PIECE = 1 << 16


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("file", nargs="?", default="", metavar="FILE", help=words(text("the text; without it, standard input")))
    topic = words(text("say what a term means, or print a guide, instead; without a name or with `list`, list them"))
    parser.add_argument("--topic", nargs="?", const="", default=None, metavar="NAME", help=topic)
    parser.add_argument("--json", action="store_true", help=words(text("as one JSON document")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    if options.topic is not None:
        from gpuassist.cli.explain_topic import topic  # a pasted text needs none of it

        # The live machine takes a second or two to read: its values are said where they are there already.
        machine = None if context.machine_file == ALONE else context.recorded_machine()
        return topic(context.for_programs(options), options.topic, machine, as_json=options.json)
    context = context.for_programs(options)
    paste = _paste(options.file, context)
    machine, recorded = _machine(context), context.elsewhere
    host = context.other.host if context.other is not None else ""
    explanation = explain(context.session, paste, machine, recorded=recorded, host=host)
    if not recorded:
        explanation = with_past(context.session, explanation, machine)
    if options.json:
        context.document(explanation_document(explanation, context.session.words))
    else:
        _Report(context).show(explanation)
    return status(explanation)


def status(explanation: Explanation) -> Exit:
    """The worst of what was found; a text that is not known could hide anything."""
    return severest(explanation.answers, otherwise=Exit.HEALTHY if explanation.known else Exit.UNDETERMINED)


def _paste(file: str, context: Context) -> Paste:
    if file and file != "-":
        try:
            return read_file(context.session.world.files, file)
        except PasteError as error:
            raise UsageError(error.reason) from error
    if sys.stdin.isatty():
        context.note(text("Paste the text here, then press Enter and Ctrl-D."))
    return gathered(iter(lambda: sys.stdin.buffer.read(_PIECE), b""))


def _machine(context: Context) -> Machine | None:
    if context.machine_file == ALONE:
        return None
    if not context.elsewhere:
        load_probes()  # a text alone and a recording need none, and their code is a fifth of a start
        from gpuassist.detect.machine import detect
        from gpuassist.detect.shell import left_out

        missing = left_out(context.session.world)
        if missing is not None:
            context.note(missing)
        return detect(context.session.world, context.session.knowledge)
    return context.recorded_machine()


class _Report:
    """Writes an explanation for people to read."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._words = context.session.words
        self._writer = AnswerWriter(context)

    def show(self, explanation: Explanation) -> None:
        """The answer first, then what it rests on."""
        self._writer.say(self._words(explanation.title), style=BOLD)
        self._writer.say(self._words(explanation.basis.reason), style=DIM)
        if explanation.paste.left_out and explanation.paste.words:
            mebibytes = max(1, explanation.paste.left_out >> 20)
            self._writer.say(
                self._words(text("Its beginning and its end were read; {count} MiB between them were left out.", count=mebibytes)),
                style=DIM,
            )
        if explanation.memory is not None:
            show_memory(self._context, self._writer, explanation.memory)
        if not explanation.convicts:
            self._show_accounts(explanation)
        for place, answer in enumerate(explanation.answers):
            self._writer.answer(answer, is_open=not place and explanation.question is not None)
        if explanation.convicts:
            self._show_accounts(explanation)
        if explanation.less_likely:
            self._context.say()
            self._writer.say(self._words(text("Less likely:")))
            for doubt in explanation.less_likely:
                words = text("{title} ({id}): {reason}", title=doubt.answer.title, id=doubt.answer.id, reason=doubt.reason)
                self._writer.say(f"- {self._words(words)}", indent="  ", hanging="  ")
        if explanation.undetermined:
            self._writer.undetermined(explanation.undetermined)
        if explanation.contradictions:
            self._context.say()
            self._writer.say(self._words(text("The text contradicts itself; the first was used:")))
            for one in explanation.contradictions:
                lines = listed(map(str, one.lines))
                words = text("{fact}: {values} (lines {lines})", fact=one.fact, values=" / ".join(one.values), lines=lines)
                self._writer.say(f"- {self._words(words)}", indent="  ", hanging="  ")
        if facts_read(explanation.machine) and not explanation.convicts:
            self._show_facts(facts_read(explanation.machine))

    def _show_accounts(self, explanation: Explanation) -> None:
        for one in accounts_shown(explanation):
            self._context.say()
            if one.title.message:
                self._writer.say(self._words(one.title), style=BOLD)
            for line in one.lines:
                self._writer.say(f"- {self._words(line)}", indent="  ", hanging="  ")

    def _show_facts(self, sections: tuple[Section, ...]) -> None:
        self._context.say()
        self._writer.say(self._words(text("Read in the text:")))
        for section in sections:
            self._writer.say(self._words(section.title), indent="  ")
            for line in section.lines:
                words = self._words(text("{fact}: {value}", fact=line.label, value=line.value))
                self._writer.say(
                    f"- {words}" + (f"  [{line.source}]" if line.source else ""), indent="    ", hanging="  ", style=DIM
                )
