"""Words on a terminal that is drawn on: made visible, in ASCII where it has no more, and no wider than their place."""

from __future__ import annotations

from gpuassist.cli.paragraphs import columns
from gpuassist.cli.streams import plain
from gpuassist.formats.visible import on_one_line
from gpuassist.model.text import Text
from gpuassist.model.words import Words

Span = tuple[int, str, str]
"""The column where it begins, its words, and their style."""

Line = list[Span]


class Lettering:
    """For one terminal: its language, and whether it shows more than ASCII."""

    def __init__(self, words: Words, *, unicode: bool) -> None:
        self.words, self.unicode = words, unicode
        self._ellipsis = "…" if unicode else "..."

    def say(self, words: Text) -> str:
        return self.plain(on_one_line(self.words(words)))

    def fitted(self, words: Text, width: int) -> str:
        """A text in a place of this width."""
        return self.clip(self.say(words), width)

    def plain(self, words: str) -> str:
        return words if self.unicode or words.isascii() else plain(words)

    def clip(self, words: str, width: int) -> str:
        if len(words) <= width and (words.isascii() or columns(words) <= width):
            return words
        room = width - len(self._ellipsis)
        if room <= 0:
            return words[: max(0, width)] if words.isascii() else ""
        taken = 0
        for place, character in enumerate(words):
            taken += columns(character)
            if taken > room:
                return words[:place] + self._ellipsis
        return words

    def cut(self, words: str, width: int) -> list[str]:
        """Words in lines that are full to the edge: a command line is read as it was typed."""
        lines, line, taken = [], "", 0
        for character in words:
            wide = columns(character)
            if taken + wide > width:
                lines.append(line)
                line, taken = "", 0
            line, taken = line + character, taken + wide
        return [*lines, line]
