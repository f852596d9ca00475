"""Every link of every GPU, named: those that a chain draws, and those that it leaves out because they hold."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import Card, Case
from gpuassist.knowledge.compatibility import kernels_run, toolkit_builds_for
from gpuassist.model.chain import Chain, Joint, Node, Part, Status
from gpuassist.model.fact import Known, value_or
from gpuassist.model.outlook import Link
from gpuassist.model.text import Text, text, verbatim

_HOLDS = {Status.RIGHT: True, Status.WARNING: False, Status.PROBLEM: False, Status.UNKNOWN: None}
_NOTHING = verbatim("")
_NOT_KNOWN = text("what is known of them does not tell")


def links_of(case: Case, chains: tuple[Chain, ...]) -> tuple[Link, ...]:
    """The links of the chains of a machine, each that is the same for several GPUs named with each of them."""
    return tuple(link for card, chain in zip(case.cards, chains, strict=True) for link in _links(case, card, chain))


def _links(case: Case, card: Card, chain: Chain) -> Iterator[Link]:
    nodes = {node.part: node for node in chain.nodes}
    for joint in chain.joints:
        if joint.status is not Status.ABSENT:
            yield _link(card, nodes, joint)
    drawn = {(joint.first, joint.second) for joint in chain.joints}
    for part, holds in ((Part.TORCH, _code_runs(case, card, nodes)), (Part.TOOLKIT, _is_built_for(case, card))):
        if (Part.GPU, part) not in drawn and nodes[part].status is not Status.ABSENT:
            yield Link(_named(card, nodes[Part.GPU]), _named(card, nodes[part]), holds, _NOTHING if holds else _NOT_KNOWN)


def _link(card: Card, nodes: dict[Part, Node], joint: Joint) -> Link:
    holds = _HOLDS[joint.status]
    unexplained = joint.reason == _NOTHING and not holds
    reason = _NOT_KNOWN if unexplained else joint.reason
    return Link(_named(card, nodes[joint.first]), _named(card, nodes[joint.second]), holds, reason)


def _named(card: Card, node: Node) -> Text:
    if node.part is Part.GPU:
        return text("GPU {place}: {name}", place=card.place, name=node.name)
    if node.part is Part.DRIVER:
        return text("driver {name} for GPU {place}", name=node.name, place=card.place)
    if node.part is Part.TORCH:
        return text("torch {name} for GPU {place}", name=node.name, place=card.place)
    return text("{name} for GPU {place}", name=node.name, place=card.place)


def _code_runs(case: Case, card: Card, nodes: dict[Part, Node]) -> bool | None:
    """Whether the torch that is drawn has code for the GPU; a chain draws that link only where it has none."""
    for one in case.cuda_torches:
        told = isinstance(card.capability, Known) and isinstance(one.torch.targets, Known)
        if verbatim(one.version) == nodes[Part.TORCH].name and told and not case.ruled_out(card):
            capability, cuda = value_or(card.capability, None), one.torch.cuda
            built = cuda.value if isinstance(cuda, Known) else None
            return (capability is not None and kernels_run(capability, value_or(one.torch.targets, ()), cuda=built)) or None
    return None


def _is_built_for(case: Case, card: Card) -> bool | None:
    known = case.known(case.toolkit) if case.toolkit is not None else None
    if known is None or not known.targets or not isinstance(card.capability, Known):
        return None
    return toolkit_builds_for(known.targets, card.capability.value) or None
