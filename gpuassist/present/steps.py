"""A step of a plan as JSON, the same in every document."""

from __future__ import annotations

from gpuassist.model.codec import Json
from gpuassist.model.plan import Step
from gpuassist.model.words import Words


def step_document(step: Step, words: Words) -> Json:
    return {
        "kind": step.kind.value,
        "text": words(step.text),
        "commands": list(step.commands),
        "diff": step.diff,
        "check": words(step.check) if step.check is not None else "",
        "needs_root": step.needs_root,
    }
