"""Characters that would be obeyed in place of being shown: what leaves for people shows them, what leaves for programs keeps them.

The exits, and what each of them does with words that come from outside:

- a terminal, a log, a label of the window: `visible`, and `on_one_line` where a line of its own must stay one;
- JSON: `escaped`, so that the value is the same after it was read;
- a diff: visible where people look at it, character for character in the `diff` of a JSON document;
- a command line that is there to be copied: left out where it `hides` one of them, with that reason (`present.commands`).

Letters of any script, marks, emoji and the joiners inside them are words, and stay.
"""

from __future__ import annotations

import re

from gpuassist.model.lazy_regex import lazy_regex

# C0 without tab and line feed, DEL and C1; marks, embeddings, overrides and isolates of the writing direction; separators of lines
# and paragraphs, where a label begins a new line; and halves of characters, which stand for bytes of a name that are not UTF-8.
_OBEYED = lazy_regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def hides(words: str) -> bool:
    return _OBEYED.search(words) is not None


def hidden(words: str) -> tuple[str, ...]:
    """Those that are in the words, each once, as they are made visible."""
    return tuple(dict.fromkeys(map(_shown, _OBEYED.finditer(words))))


def visible(words: str) -> str:
    """The words with each of them as `<U+001B>`: its number in Unicode, as `less` and the Unicode standard write it.

    A start-up file may well hold `\\x1b` or `\\e` spelled out, so a backslash would not tell the one from the other.
    """
    return _OBEYED.sub(_shown, words)


def on_one_line(words: str) -> str:
    """Visible words whose line ends are visible too: a name with a line feed in it cannot feign a line of ours."""
    return visible(words).replace("\n", "<U+000A>")


def escaped(document: str) -> str:
    """A JSON document with each of them as the escape that stands for it: they are in its strings and nowhere else."""
    return _OBEYED.sub(lambda one: f"\\u{ord(one[0]):04x}", document)


def _shown(one: re.Match[str]) -> str:
    return f"<U+{ord(one[0]):04X}>"


# A quotation that is too long, cut at the end of a word, and marked as cut.


MARK = " …"
_LONGEST_WORD = 40  # characters of a word that is not cut itself


def shortened(words: str, most: int) -> str:
    """The words, or no more than so many characters of them and a mark."""
    if len(words) <= most:
        return words
    shorter, _, rest = words[:most].rpartition(" ")
    cut = shorter if shorter and len(rest) < _LONGEST_WORD else words[:most]
    return cut.rstrip() + MARK
