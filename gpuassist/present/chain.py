"""A compatibility chain in sentences: to be read aloud, and to be copied."""

from __future__ import annotations

from gpuassist.model.chain import Chain, Joint, Node, Part, Status
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
    return "\n".join([*(_node(node, words) for node in chain.nodes), *(_joint(joint, words) for joint in chain.joints)])


def _node(node: Node, words: Words) -> str:
    name = ", ".join(filter(None, (words(node.name), words(node.detail))))
    return f"{words(PART_WORDS[node.part])}: {name} ({words(status_words(node.status))})"


def _joint(joint: Joint, words: Words) -> str:
    said = ", ".join(filter(None, (words(status_words(joint.status)), words(joint.reason))))
    return f"{words(PART_WORDS[joint.first])} – {words(PART_WORDS[joint.second])}: {said}"
