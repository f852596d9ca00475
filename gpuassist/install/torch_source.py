"""Where the builds of torch come from that a plan chooses from: PyTorch's indexes, or the channels of conda."""

from __future__ import annotations

import math

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.knowledge.change import Configuration, Constraints, Need, SmallestChange, Stock
from gpuassist.knowledge.conda import LAST_OF_PYTORCH, conda_builds, of_channel, record_of
from gpuassist.knowledge.records import Channel, CondaRecord, TorchBuild
from gpuassist.knowledge.smallest import smallest_change
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.plan import Tool
from gpuassist.model.text import Text, text
from gpuassist.model.version import Version


class TorchSource(Struct, frozen=True):
    """A machine as it counts for a source, what that has, and the records behind it where it is a channel of conda's."""

    rig: Configuration
    stock: Stock
    records: tuple[CondaRecord, ...] = ()


class Found(Struct, frozen=True):
    """The smallest change, and where its torch comes from; `record` is none where that is an index of wheels."""

    smallest: SmallestChange
    rig: Configuration
    record: CondaRecord | None = None
    missing: tuple[Text, ...] = ()


def find(knowledge: Knowledge, rig: Configuration, demand: Constraints, tool: Tool | None, *, torch_of_conda: bool) -> Found:
    """The smallest change with a torch by that tool. Where none is asked for, a torch that conda installed is followed by another
    of conda's, if that takes no more than a wheel does.
    """
    if demand.torch_need is not Need.MUST or not (tool is Tool.CONDA or (tool is None and torch_of_conda)):
        return Found(smallest_change(rig, demand, _wheels(knowledge, demand)), rig)
    found = _by_conda(knowledge, rig, demand, torch_of_conda=torch_of_conda)
    if tool is Tool.CONDA:
        return found
    wheels = Found(smallest_change(rig, demand, _wheels(knowledge, demand)), rig)
    return wheels if _cost(wheels.smallest) < _cost(found.smallest) or found.smallest.change is None else found


def _cost(smallest: SmallestChange) -> float:
    return smallest.change.cost if smallest.change is not None else math.inf


def _by_conda(knowledge: Knowledge, rig: Configuration, demand: Constraints, *, torch_of_conda: bool) -> Found:
    """Of the two channels the one that takes less."""
    sources = _channels(knowledge, rig if torch_of_conda else replace(rig, torch=None), demand)
    answers = [(one, smallest_change(one.rig, demand, one.stock)) for one in sources]
    reached = [(one, answer) for one, answer in answers if answer.change is not None]
    if not reached:
        return Found(answers[0][1], rig, missing=_missing(knowledge, sources, demand))
    source, best = min(reached, key=lambda pair: _cost(pair[1]))
    move = best.change.torch if best.change else None
    return Found(best, source.rig, record_of(source.records, move.build, tegra=rig.driver_fixed) if move else None)


def _wheels(knowledge: Knowledge, demand: Constraints) -> Stock:
    builds = tuple(_pinned(one, knowledge, demand.torch) for one in knowledge.torch_builds())
    return Stock(knowledge.branches(), builds, knowledge.toolkits())


def _pinned(build: TorchBuild, knowledge: Knowledge, wanted: Version | None) -> TorchBuild:
    """The build in the patch that is asked for, where that is one of its release."""
    if wanted is None or len(wanted.parts) < 3 or wanted.release != build.release:
        return build
    release = knowledge.torch_release(wanted)
    return replace(build, newest=wanted) if release and wanted in release.patches else build


def _channels(knowledge: Knowledge, rig: Configuration, demand: Constraints) -> tuple[TorchSource, ...]:
    """PyTorch's own channel first for a release that it has: conda-forge for all others. Each makes the Python that it needs."""
    old = demand.torch is not None and demand.torch.release <= LAST_OF_PYTORCH.release
    order = (Channel.PYTORCH, Channel.CONDA_FORGE) if old else (Channel.CONDA_FORGE, Channel.PYTORCH)
    free = replace(rig, python=None)
    return tuple(_channel(knowledge, free, demand, one) for one in order)


def _channel(knowledge: Knowledge, rig: Configuration, demand: Constraints, channel: Channel) -> TorchSource:
    records = of_channel(knowledge.conda(), channel)
    builds = conda_builds(records, knowledge.torch_builds(), wanted=demand.torch, tegra=rig.driver_fixed)
    return TorchSource(rig, Stock(knowledge.branches(), builds, knowledge.toolkits()), records)


def _missing(knowledge: Knowledge, sources: tuple[TorchSource, ...], demand: Constraints) -> tuple[Text, ...]:
    """That conda has no such release at all, where that is why."""
    if demand.torch is None or any(source.stock.builds for source in sources):
        return ()
    newest = max(one.version for one in of_channel(knowledge.conda(), Channel.CONDA_FORGE))
    return (
        text(
            "gpuassist knows no torch {wanted} with CUDA in conda's channels, where {newest} is the newest; pip and uv have newer "
            "ones",
            wanted=str(demand.torch),
            newest=str(newest),
        ),
    )
