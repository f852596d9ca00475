"""A card's memory on a terminal: a bar that reads without colours, its parts with their sizes, and what was wanted."""

from __future__ import annotations

from gpuassist.cli.answers import AnswerWriter
from gpuassist.cli.context import Context
from gpuassist.cli.streams import BOLD, DIM
from gpuassist.cli.width import width_of
from gpuassist.model.memory_picture import MemoryPicture
from gpuassist.model.text import text
from gpuassist.present.memory import text_bar, text_legend, wanted

_WIDEST = 76
_NARROWEST = 16


def show_memory(context: Context, writer: AnswerWriter, picture: MemoryPicture) -> None:
    """The picture, after an empty line."""
    words = context.session.words
    context.say()
    if picture.device is None:
        title = text("The card's memory when it failed")
    else:
        title = text("The memory of GPU {index} when it failed", index=picture.device)
    writer.say(words(title), style=BOLD)
    context.say(f"  [{text_bar(picture, max(_NARROWEST, min(_WIDEST, width_of(context) - 4)))}]")
    for line in text_legend(picture, words):
        writer.say(line, indent="  ", hanging="  ")
    for note in (wanted(picture), *picture.notes):
        writer.say(words(note), indent="  ", style=DIM)
