"""`gpuassist detect`: the machine as it was found, as a list of facts or as the document that `--machine` reads."""

from __future__ import annotations

import argparse

from gpuassist.cli.context import Context
from gpuassist.cli.streams import BOLD, DIM, Painted
from gpuassist.detect.machine import detect
from gpuassist.detect.runner import SectionProgress
from gpuassist.model.machine import encode_machine
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH, Words
from gpuassist.present.listing import sections
from gpuassist.present.marks import Exit
from gpuassist.present.overview import title

NAME = "detect"
HELP = text("list what is in this machine: GPUs, driver, CUDA toolkits, compilers, Python environments, shell")

_LABEL_WIDTH = 28


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("--json", action="store_true", help=words(text("as one JSON document, which --machine reads back")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Looks and prints; what could not be found out is part of the answer, not a failure."""
    world, knowledge = context.session.world, context.session.knowledge

    def tell(progress: SectionProgress) -> None:
        said = text("looked at {section} ({done} of {total})", section=progress.section, done=progress.done, total=progress.total)
        context.passing(said if progress.done < progress.total else "")

    machine = context.recorded_machine() or detect(world, knowledge, tell)
    if options.json:
        context.document(encode_machine(machine, context.session.words if options.lang else ENGLISH))
    else:
        context.say(title(machine))
        for section in sections(machine):
            context.say()
            context.say(Painted(context.session.words(section.title), BOLD))
            for line in section.lines:
                words = context.session.words
                value = words(line.value) if line.known else words(text("not known: {reason}", reason=line.value))
                source = ("  ", Painted(f"[{line.source}]", DIM)) if line.source else ()
                context.say(f"  {words(line.label).ljust(_LABEL_WIDTH)}  {value}", *source)
    return Exit.HEALTHY
