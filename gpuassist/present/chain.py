"""A compatibility chain in sentences: to be read aloud, and to be copied; GPUs whose chains are equal have one."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.chain import Chain, Part, Status
from gpuassist.model.text import Text, labelled, listed, text
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
        name = listed(filter(None, (words(node.name), words(node.detail))))
        lines.append(f"{words(labelled(PART_WORDS[node.part], name))} ({words(status_words(node.status))})")
    for joint in chain.joints:
        said = listed(filter(None, (words(status_words(joint.status)), words(joint.reason))))
        lines.append(words(labelled(f"{words(PART_WORDS[joint.first])} – {words(PART_WORDS[joint.second])}", said)))
    return "\n".join(lines)


class Alike(Struct, frozen=True):
    """A chain, and the numbers of the GPUs that share it."""

    chain: Chain
    gpus: tuple[str, ...]


def alike(chains: tuple[Chain, ...]) -> tuple[Alike, ...]:
    """The chains in order, those that are equal once."""
    gpus: dict[Chain, list[str]] = {}
    for place, chain in enumerate(chains):
        gpus.setdefault(replace(chain, gpu=""), []).append(chain.gpu or str(place))
    return tuple(Alike(chain, tuple(found)) for chain, found in gpus.items())


def caption(one: Alike) -> Text:
    """Whose chain it is: `RTX 4090 · GPU 0`, `2 × RTX 4090 · GPU 0, 1`."""
    node = next((node for node in one.chain.nodes if node.part is Part.GPU), None)
    name: Text = node.name if node is not None else text("GPU")
    indexes = listed(one.gpus)
    if len(one.gpus) > 1:
        return text("{count} × {name} · GPU {indexes}", count=len(one.gpus), name=name, indexes=indexes)
    return text("{name} · GPU {indexes}", name=name, indexes=indexes)
