"""A compatibility chain in sentences: to be read aloud, and to be copied."""

from __future__ import annotations

from gpuassist.model.chain import Chain, Part, Status
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words
from gpuassist.present.marks import MARK_WORDS, mark_of

PART_WORDS: dict[Part, Text] = {
    Part.GPU: text("GPU"),
    Part.DRIVER: text("Driver"),
    Part.TORCH: text("torch"),
    Part.TOOLKIT: text("Toolkit"),
    Part.COMPILER: text("Compiler"),
}


def status_words(status: Status) -> Text:
    """What a part's or a joint's mark says."""
    return MARK_WORDS[mark_of(status)]


def chain_in_words(chain: Chain, words: Words) -> str:
    """Every part, then every pair, a line each."""
    lines = []
    for node in chain.nodes:
        name = ", ".join(filter(None, (words(node.name), words(node.detail))))
        lines.append(f"{words(PART_WORDS[node.part])}: {name} ({words(status_words(node.status))})")
    for joint in chain.joints:
        said = ", ".join(filter(None, (words(status_words(joint.status)), words(joint.reason))))
        lines.append(f"{words(PART_WORDS[joint.first])} – {words(PART_WORDS[joint.second])}: {said}")
    return "\n".join(lines)
