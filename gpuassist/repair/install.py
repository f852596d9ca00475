"""A change arranged into steps: driver and restart first, because all else stands on it, then torch, toolkit and host compiler."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.knowledge.change import Change
from gpuassist.knowledge.commands import Commands
from gpuassist.model.plan import Step
from gpuassist.repair.install_driver import driver_steps
from gpuassist.repair.install_place import Place
from gpuassist.repair.install_toolkit import gcc_steps, toolkit_steps
from gpuassist.repair.install_torch import torch_steps


def install_steps(change: Change, place: Place, commands: Commands) -> tuple[Step, ...]:
    """The steps of a change, in the order in which they are done."""
    return tuple(_steps(change, place, commands))


def _steps(change: Change, place: Place, commands: Commands) -> Iterator[Step]:
    if change.driver is not None:
        yield from driver_steps(change.driver, place, commands)
    if change.torch is not None:
        yield from torch_steps(change.torch, place, commands)
    if change.toolkit is not None:
        yield from toolkit_steps(change.toolkit, place, commands)
    if change.gcc is not None:
        yield from gcc_steps(change.gcc, place, commands)
