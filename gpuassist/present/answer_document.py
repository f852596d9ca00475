"""Answers as the contract of `doctor --json` and `explain --json` has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuassist.formats.visible import hidden, hides
from gpuassist.model.codec import Json
from gpuassist.model.finding import Answer, Remedy, Undetermined
from gpuassist.model.text import Text, text, verbatim
from gpuassist.model.words import Words

SCHEMA = 1


def finding_document(answer: Answer, words: Words) -> Json:
    """One finding."""
    return {
        "id": answer.id,
        "severity": answer.severity.value,
        "title": answer.title,
        "explanation": answer.explanation,
        "evidence": [{"fact": words(one.fact), "value": words(one.value), "source": one.source} for one in answer.evidence],
        "remedies": [
            {
                "text": remedy.text,
                "commands": list(command_lines(remedy)),
                "needs_root": remedy.needs_root,
                "action": remedy.action.value,
                "check": remedy.check,
            }
            for remedy in answer.remedies
        ],
        "links": list(answer.links),
    }


def undetermined_document(undetermined: Iterable[Undetermined], words: Words) -> Json:
    """What could not be told, and why."""
    return [{"id": one.problem, "fact": words(one.fact), "reason": words(one.reason)} for one in undetermined]


def command_lines(remedy: Remedy) -> Iterator[str]:
    """The lines that a remedy has to be copied, each as it stands."""
    return (line for command in remedy.commands for line in command.lines)


# Command lines that are shown for copying: only such as arrive in a terminal as they were read.


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
