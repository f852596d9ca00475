"""Command lines as they are shown: which may be copied, for they arrive in a terminal as they were read, and where to type them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from gpuassist.formats.visible import hidden, hides
from gpuassist.model.finding import Remedy
from gpuassist.model.text import Text, listed, text, verbatim

_PLACES = ("terminal", "终端", "powershell")
_SHORT = 40  # letters: a longer command has no room beside other things, and stands on the page


def command_lines(remedy: Remedy) -> Iterator[str]:
    """The lines that a remedy has to be copied, each as it stands."""
    return (line for command in remedy.commands for line in command.lines)


def why_not_copied(line: str) -> Text | None:
    """Why a line cannot be offered for copying; none where it can."""
    if not hides(line):
        return None
    return text(
        "This command is left out: it would hold {characters}, which a terminal obeys in place of taking as part of a name. "
        "Rename what is called so, then look again.",
        characters=listed(hidden(line)),
    )


def copyable(line: str) -> Text:
    """The line, or why it is left out."""
    return why_not_copied(line) or verbatim(line)


def copyable_lines(lines: Iterable[str]) -> list[Text]:
    """Lines that belong together: all of them, or why none is there. Half a block would be worse than none."""
    kept = list(lines)
    why_not = why_not_copied("\n".join(kept))
    return [why_not] if why_not is not None else [verbatim(line) for line in kept]


def copied(lines: Sequence[str]) -> Text:
    """What is said once these lines are on the clipboard: which they are, where it is one and short."""
    if len(lines) == 1 and len(lines[0]) <= _SHORT:
        return text("Copied, to be pasted into a terminal: {command}", command=lines[0])
    return text("Copied: paste it into a terminal.")


def where_to_type(remedy: Remedy) -> Text | None:
    """Where its commands belong; none where it has none, or says so itself."""
    lines = tuple(command_lines(remedy))
    if not lines:
        return None
    if not remedy.needs_root and any(word in remedy.text.lower() for word in _PLACES):
        return None
    if remedy.needs_root:
        return text("Needs administrator rights: copy it into a terminal. gpuassist shows such commands and never runs them.")
    if any(line.startswith("gpuassist use cuda ") for line in lines):
        return text("gpuassist does this itself, with a preview and an undo; or type it into a terminal.")
    if any(line.startswith("wsl.exe") for line in lines):
        return text("Type it into PowerShell or another terminal of Windows.")
    if all(line.startswith(("export ", "unset ")) for line in lines):
        return text("Type it into the terminal that starts your program, before you start it; for a notebook, before its server.")
    return text("Type it into a terminal.")
