"""Who still has the environment of before, on a terminal: a line for each program, what to do, and the lines to copy."""

from __future__ import annotations

from gpuassist.cli.answers import AnswerWriter
from gpuassist.cli.context import Context
from gpuassist.cli.paragraphs import show_command
from gpuassist.cli.streams import BOLD, DIM
from gpuassist.model.old_environment import OldEnvironments
from gpuassist.model.text import counted, text
from gpuassist.present.old_environments import about, headline, here, how, label, limits

_AT_MOST = 12


def show_old_environments(
    context: Context, found: OldEnvironments | None, *, told_of_source: bool = False, at_any_time: bool = False
) -> None:
    """Nothing where nobody looked, or nobody has it and nothing stood in the way of looking. `told_of_source` where it was said
    before what `source` does to an open terminal, `at_any_time` where no change was made just now.
    """
    if found is None or not (found.programs or found.notes):
        return
    words, writer = context.session.words, AnswerWriter(context)
    context.say()
    if found.programs:
        writer.say(words(headline(found, at_any_time=at_any_time)), style=BOLD)
    for one in found.programs[:_AT_MOST]:
        row = words(text("{label}: {about}", label=label(one), about=about(one)))
        writer.say(f"- {row}", indent="  ", hanging="  ")
        writer.say(words(how(one)), indent="    ", style=DIM)
        for line in one.commands:
            show_command(context, line, indent="      ", style=BOLD)
    more = len(found.programs) - _AT_MOST
    if more > 0:
        writer.say(words(counted("and {count} more (--json tells them all)", "and {count} more (--json tells them all)", more)))
    this = here(found)
    if this is not None and not told_of_source:
        writer.say(words(this))
    for note in found.notes:
        writer.say(words(text("Note: {note}", note=note)))
    if found.programs:
        writer.say(words(limits(found)), style=DIM)
