"""Verifying ranks: under torch's own launcher, or as the one rank that a launcher has made of this process."""

from __future__ import annotations

from collections.abc import Mapping

from gpuassist.model.text import Text, text
from gpuassist.verify.child.place import Place, placed

TORCHRUN, ENV = "torchrun", "env"
LAUNCHERS = (TORCHRUN, ENV)


class LauncherError(ValueError):
    """A launcher that was asked for cannot be used so; `reason` says why."""

    def __init__(self, reason: Text) -> None:
        super().__init__(reason)
        self.reason = reason


def place_here(variables: Mapping[str, str]) -> Place:
    """The place that a launcher has given to this process; raises `LauncherError` where it is none, or the others cannot be met."""
    try:
        place = placed(variables)
    except ValueError as error:
        raise LauncherError(text("the variables of a launcher make no sense: {words}", words=str(error))) from None
    if place is None:
        raise LauncherError(
            text(
                "no launcher has started this process: neither RANK and WORLD_SIZE nor SLURM_PROCID and SLURM_NTASKS are set. "
                "Start it with torchrun or srun, or let --launcher torchrun start the ranks"
            )
        )
    for name in ("MASTER_ADDR", "MASTER_PORT"):
        if not variables.get(name):
            raise LauncherError(text("{name} is not set: the ranks meet at MASTER_ADDR and MASTER_PORT", name=name))
    port = variables["MASTER_PORT"]
    if not (port.isdecimal() and 0 < int(port) < 1 << 16):
        raise LauncherError(text("MASTER_PORT={port} is no port", port=port))
    return place
