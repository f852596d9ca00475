"""A compatibility chain in sentences: to be read aloud, and to be copied."""

from __future__ import annotations

from gpuassist.model.chain import Chain, Joint, Node, Part, Status
from gpuassist.model.text import Text, text
from gpuassist.model.words import Words

PART_WORDS: dict[Part, Text] = {
    Part.GPU: text("GPU"),
    Part.DRIVER: text("Driver"),
    Part.TORCH: text("torch"),
    Part.TOOLKIT: text("Toolkit"),
    Part.COMPILER: text("Compiler"),
}
STATUS_WORDS: dict[Status, Text] = {
    Status.RIGHT: text("right"),
    Status.WARNING: text("warning"),
    Status.PROBLEM: text("problem"),
    Status.UNKNOWN: text("not known"),
    Status.ABSENT: text("not there"),
}


def chain_in_words(chain: Chain, words: Words) -> str:
    """Every part, then every pair, a line each."""
    return "\n".join([*(_node(node, words) for node in chain.nodes), *(_joint(joint, words) for joint in chain.joints)])


def _node(node: Node, words: Words) -> str:
    name = ", ".join(filter(None, (words(node.name), words(node.detail))))
    return f"{words(PART_WORDS[node.part])}: {name} ({words(STATUS_WORDS[node.status])})"


def _joint(joint: Joint, words: Words) -> str:
    said = ", ".join(filter(None, (words(STATUS_WORDS[joint.status]), words(joint.reason))))
    return f"{words(PART_WORDS[joint.first])} – {words(PART_WORDS[joint.second])}: {said}"
