"""Command lines that are shown for copying: only such as arrive in a terminal as they were read."""

from __future__ import annotations

from collections.abc import Iterable

from gpuassist.formats.visible import hidden, hides
from gpuassist.model.text import Text, text, verbatim


def why_not_copied(line: str) -> Text | None:
    """Why a line cannot be offered for copying; none where it can."""
    if not hides(line):
        return None
    return text(
        "This command is left out: it would hold {characters}, which a terminal obeys in place of taking as part of a name. "
        "Rename what is called so, then look again.",
        characters=", ".join(hidden(line)),
    )


def copyable(line: str) -> Text:
    """The line, or why it is left out."""
    return why_not_copied(line) or verbatim(line)


def copyable_lines(lines: Iterable[str]) -> list[Text]:
    """Lines that belong together: all of them, or why none is there. Half a block would be worse than none."""
    kept = list(lines)
    why_not = why_not_copied("\n".join(kept))
    return [why_not] if why_not is not None else [verbatim(line) for line in kept]
