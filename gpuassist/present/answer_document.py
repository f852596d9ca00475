"""Answers as the contract of `doctor --json` and `explain --json` has them."""

from __future__ import annotations

from collections.abc import Iterable

from gpuassist.model.codec import Json
from gpuassist.model.finding import Answer, Undetermined
from gpuassist.model.words import Words
from gpuassist.present.commands import command_lines
from gpuassist.present.steps import step_document

SCHEMA = 1


def finding_document(answer: Answer, words: Words) -> Json:
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
                "goal": remedy.goal,
                "steps": [step_document(step, words) for step in remedy.steps],
                "notes": [words(note) for note in remedy.notes],
            }
            for remedy in answer.remedies
        ],
        "links": list(answer.links),
    }


def undetermined_document(undetermined: Iterable[Undetermined], words: Words) -> Json:
    """What could not be told, and why."""
    return [{"id": one.problem, "fact": words(one.fact), "reason": words(one.reason)} for one in undetermined]
