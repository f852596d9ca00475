"""Every link of every GPU, named: those that a chain draws, and those that it leaves out because they hold."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.diagnose.case import Card, Case
from gpuassist.knowledge.compatibility import kernels_run, toolkit_builds_for
from gpuassist.model.chain import Chain, Node, Part, Status
from gpuassist.model.fact import Known
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
            holds = _HOLDS[joint.status]
            unexplained = joint.reason == _NOTHING and not holds
            reason = _NOT_KNOWN if unexplained else joint.reason
            yield Link(_named(card, nodes[joint.first]), _named(card, nodes[joint.second]), holds, reason)
    drawn = {(joint.first, joint.second) for joint in chain.joints}
    for part, judged in ((Part.TORCH, _code_runs(case, card, nodes)), (Part.TOOLKIT, _is_built_for(case, card))):
        if (Part.GPU, part) not in drawn and nodes[part].status is not Status.ABSENT:
            yield Link(_named(card, nodes[Part.GPU]), _named(card, nodes[part]), *judged)


def _named(card: Card, node: Node) -> Text:
    if node.part is Part.GPU:
        return text("GPU {place}: {name}", place=card.place, name=node.name)
    if node.part is Part.DRIVER:
        return text("driver {name} for GPU {place}", name=node.name, place=card.place)
    if node.part is Part.TORCH:
        return text("torch {name} for GPU {place}", name=node.name, place=card.place)
    return text("{name} for GPU {place}", name=node.name, place=card.place)


def _code_runs(case: Case, card: Card, nodes: dict[Part, Node]) -> tuple[bool | None, Text]:
    """Whether the torch that is drawn has code for the GPU, whether or not the driver runs that GPU now."""
    drawn = (one for one in case.cuda_torches if verbatim(one.version) == nodes[Part.TORCH].name)
    one = next(drawn, None)
    if one is None or not isinstance(card.capability, Known) or not isinstance(one.torch.targets, Known):
        return None, _NOT_KNOWN
    capability, cuda = card.capability.value, one.torch.cuda
    if kernels_run(capability, one.torch.targets.value, cuda=cuda.value if isinstance(cuda, Known) else None):
        return True, _NOTHING
    return False, text("torch has no code for {capability}", capability=str(capability))


def _is_built_for(case: Case, card: Card) -> tuple[bool | None, Text]:
    known = case.known(case.toolkit) if case.toolkit is not None else None
    if known is None or not known.targets or not isinstance(card.capability, Known):
        return None, _NOT_KNOWN
    if toolkit_builds_for(known.targets, card.capability.value):
        return True, _NOTHING
    words = {"version": str(known.version.release), "capability": str(card.capability.value)}
    return False, text("nvcc {version} cannot build for {capability}", **words)
