"""A torch in an environment whose Python it has no wheel for, which only an imagined machine can have."""

from __future__ import annotations

from dataclasses import replace

from gpuassist.install import hypothetical
from gpuassist.knowledge.change import Rig
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.chain import Chain, Node, Part, Status
from gpuassist.model.fact import value_or
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Link, Outlook
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version


def lacks_wheel(knowledge: Knowledge, rig: Rig) -> bool:
    """Whether every known build of the torch that is there is for other Pythons."""
    if rig.torch is None or rig.python is None or not rig.torch.version.parts:
        return False
    builds = [one for one in knowledge.torch_builds(rig.torch.version) if one.machine == rig.machine]
    return bool(builds) and all(rig.python.release not in one.pythons for one in builds)


def without_wheel(outlook: Outlook, machine: Machine) -> Outlook:
    """The outlook with that said of the torch of each chain, and as a link of each GPU."""
    environment = hypothetical.environment_of(machine)
    python = value_or(environment.python_version, Version(())) if environment else Version(())
    reason = text("no wheel for Python {python}", python=str(python.release))
    before = tuple(_marked(chain, reason) for chain in outlook.before)
    links = tuple(_link(place, chain, python, reason) for place, chain in enumerate(before))
    return replace(outlook, before=before, links=(*outlook.links, *links))


def _marked(chain: Chain, reason: Text) -> Chain:
    return replace(chain, nodes=tuple(_problem(node, reason) if node.part is Part.TORCH else node for node in chain.nodes))


def _problem(node: Node, reason: Text) -> Node:
    return replace(node, detail=reason, status=Status.PROBLEM)


def _link(place: int, chain: Chain, python: Version, reason: Text) -> Link:
    torch = next(node.name for node in chain.nodes if node.part is Part.TORCH)
    first = text("torch {name} for GPU {place}", name=torch, place=place)
    return Link(first, text("Python {python}", python=str(python.release)), holds=False, reason=reason)
