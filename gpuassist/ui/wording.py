"""Words on their way to the screen: an error that a job brought home, a sentence's capital, a tool tip."""

from __future__ import annotations

import textwrap

from PySide6.QtGui import Qt

from gpuassist.formats.visible import on_one_line, visible
from gpuassist.model.text import Text, verbatim
from gpuassist.model.words import Words

_TIP_WIDTH, _TIP_LINES = 110, 16  # letters


def reason_of(words: Words, error: Exception) -> str:
    """What a known error says by its own `reason`; what the system says of a file; else the error's own words."""
    return visible(_reason(words, error))


def _reason(words: Words, error: Exception) -> str:
    reason = getattr(error, "reason", None)
    if isinstance(reason, Text):
        return words(reason)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {words(verbatim(str(error.filename)))}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def at_home(words: Words, home: str) -> Words:
    """These words with every path as people write it: below their home from the tilde on."""
    from gpuassist.present.changes import shortened  # not needed before something was read

    return words.with_strings(lambda one: shortened(on_one_line(one), home))


def sentence_case(words: str) -> str:
    """A reason that stands alone."""
    return words[:1].upper() + words[1:]


def as_tip(words: str) -> str:
    """A tool tip that shows the words as they are: a file may well be called `<b>`.

    Qt breaks no line of plain words: a long command would run off the screen.
    """
    lines = [part for line in visible(words).split("\n") for part in _broken(line)]
    seen = "\n".join(lines if len(lines) <= _TIP_LINES else [*lines[: _TIP_LINES - 1], "…"])
    return Qt.convertFromPlainText(seen) if Qt.mightBeRichText(seen) else seen


def _broken(line: str) -> list[str]:
    if len(line) <= _TIP_WIDTH:
        return [line]
    return textwrap.wrap(line, _TIP_WIDTH, break_on_hyphens=False, max_lines=_TIP_LINES, placeholder=" …")
