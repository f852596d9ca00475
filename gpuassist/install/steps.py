"""A change arranged into steps: driver and restart first, because all else stands on it, then torch, toolkit and host compiler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gpuassist.install.conda import conda_ways
from gpuassist.install.driver import driver_steps
from gpuassist.install.place import Place
from gpuassist.install.toolkit import gcc_steps, toolkit_steps
from gpuassist.install.toolkit_methods import toolkit_ways
from gpuassist.install.torch import torch_ways
from gpuassist.knowledge.change import Change
from gpuassist.knowledge.conda_records import CondaRecord
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.outlook import Way, WayPlan
from gpuassist.model.plan import Step


def install_steps(change: Change, place: Place, knowledge: Knowledge) -> tuple[Step, ...]:
    """The steps of a change, in the order in which they are done; of several ways those of the best."""
    ways = install_ways(change, place, knowledge)
    return ways[0].steps if ways else (*_before(change, place, knowledge), *_after(change, place, knowledge))


def install_ways(change: Change, place: Place, knowledge: Knowledge, record: CondaRecord | None = None) -> tuple[WayPlan, ...]:
    """Each way to the torch of a change, or else to its toolkit, with all steps of the change; empty where both stay. `record` is
    that of conda's build where torch is to come from there.
    """
    if change.torch is None:
        # Those to a toolkit that is not there yet; conda's brings a host compiler of its own.
        if change.toolkit is None or change.toolkit.root:
            return ()
        before = tuple(_before(change, place, knowledge))
        gcc = tuple(gcc_steps(change.gcc, place, knowledge.commands)) if change.gcc is not None else ()
        ways = toolkit_ways(change.toolkit, place, knowledge)
        return tuple(replace(one, steps=(*before, *one.steps, *(() if one.way is Way.CONDA else gcc))) for one in ways)
    torch = change.torch
    ways = torch_ways(torch, place, knowledge) if record is None else conda_ways(torch, record, place, knowledge)
    before, after = tuple(_before(change, place, knowledge)), tuple(_after(change, place, knowledge))
    return tuple(replace(one, steps=(*before, *one.steps, *after)) for one in ways)


def _before(change: Change, place: Place, knowledge: Knowledge) -> Iterator[Step]:
    if change.driver is not None:
        yield from driver_steps(change.driver, place, knowledge.commands)


def _after(change: Change, place: Place, knowledge: Knowledge) -> Iterator[Step]:
    if change.toolkit is not None:
        yield from toolkit_steps(change.toolkit, place, knowledge)
    if change.gcc is not None:
        yield from gcc_steps(change.gcc, place, knowledge.commands)
