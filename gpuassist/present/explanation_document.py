"""An explanation as `explain --json` prints it: the contract of `doctor --json`, and what a text has beside."""

from __future__ import annotations

from gpuassist.model.codec import Json
from gpuassist.model.words import Words
from gpuassist.present.answer_document import SCHEMA, finding_document, undetermined_document
from gpuassist.present.listing import facts_read
from gpuassist.present.memory_document import memory_document
from gpuassist.session.explain import Explanation


def explanation_document(explanation: Explanation, words: Words) -> Json:
    """The whole of it; `findings` holds the most likely cause first."""
    return {
        "schema": SCHEMA,
        "findings": [finding_document(answer, words) for answer in explanation.answers],
        "undetermined": undetermined_document(explanation.undetermined, words),
        "known": explanation.known,
        "verdict": words(explanation.title),
        "less_likely": [
            {"finding": finding_document(doubt.answer, words), "reason": words(doubt.reason)} for doubt in explanation.less_likely
        ],
        "memory": memory_document(explanation.memory, words) if explanation.memory else None,
        "basis": {"ground": explanation.basis.ground.value, "reason": words(explanation.basis.reason)},
        "facts_read": [
            {"of": words(section.title), "fact": words(line.label), "value": words(line.value), "source": line.source}
            for section in facts_read(explanation.machine)
            for line in section.lines
        ],
        "contradictions": [
            {"fact": words(one.fact), "values": list(one.values), "lines": list(one.lines)} for one in explanation.contradictions
        ],
        "guides": list(dict.fromkeys(guide.topic for answer in explanation.answers for guide in answer.guides)),
        "left_out_bytes": explanation.paste.left_out,
    }
