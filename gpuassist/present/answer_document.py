"""Answers as the contract of `doctor --json` and `explain --json` has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gpuassist.model.codec import Json
from gpuassist.model.finding import Action, Answer, Remedy, Undetermined
from gpuassist.model.text import text
from gpuassist.model.words import Words
from gpuassist.present.commands import command_lines
from gpuassist.session.remedies import action_of

SCHEMA = 1


def finding_document(answer: Answer, words: Words) -> Json:
    document: dict[str, Json] = {
        "id": answer.id,
        "severity": answer.severity.value,
        "title": answer.title,
        "explanation": answer.explanation,
        "evidence": [{"fact": words(one.fact), "value": words(one.value), "source": one.source} for one in answer.evidence],
        "remedies": remedies_document(answer, words),
        "links": list(answer.links),
    }
    if answer.since:
        from gpuassist.present.past import change_document  # seldom, and never on a healthy machine

        document["since"] = [change_document(one, words) for one in answer.since]
    return document


def remedies_document(answer: Answer, words: Words) -> list[Json]:
    return [one for remedy in answer.remedies for one in _remedies(remedy, words)]


def _remedies(remedy: Remedy, words: Words) -> Iterator[Json]:
    """One, or one for each step of a plan: the first begins with what the plan is for, the last ends with what to know."""
    notes = [words(text("Note: {note}.", note=note)) for note in remedy.notes]
    if len(remedy.steps) <= 1:
        told = " ".join((remedy.text, *notes))
        yield _remedy(told, command_lines(remedy), remedy.action, remedy.check, needs_root=remedy.needs_root)
        return
    for place, step in enumerate(remedy.steps, start=1):
        first, last = (remedy.text,) if place == 1 else (), notes if place == len(remedy.steps) else ()
        told = " ".join((*first, f"{words(step.text)}.", *last))
        check = words(step.check) if step.check is not None else ""
        yield _remedy(told, step.commands, action_of(step), check, needs_root=step.needs_root)


def _remedy(told: str, commands: Iterable[str], action: Action, check: str, *, needs_root: bool) -> Json:
    return {"text": told, "commands": list(commands), "needs_root": needs_root, "action": action.value, "check": check}


def undetermined_document(undetermined: Iterable[Undetermined], words: Words) -> Json:
    """What could not be told, and why."""
    return [{"id": one.problem, "fact": words(one.fact), "reason": words(one.reason)} for one in undetermined]
