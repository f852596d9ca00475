"""Where a launcher has put a process: by the variables of torch's own launcher, or of Slurm, where neither is, nowhere."""

from __future__ import annotations

from typing import Mapping, NamedTuple, Optional

_NAMES = (("RANK", "WORLD_SIZE", "LOCAL_RANK"), ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"))


class Place(NamedTuple):
    """The rank, how many there are, and the number on its machine."""

    rank: int
    world: int
    local: int


def placed(variables: Mapping[str, str]) -> Optional[Place]:
    """Its place; none where no launcher has started it. Raises `ValueError` for what cannot be one."""
    for rank, world, local in _NAMES:
        if rank in variables and world in variables:
            place = Place(int(variables[rank]), int(variables[world]), int(variables.get(local, "0")))
            if not 0 <= place.rank < place.world or place.local < 0:
                raise ValueError("{}={}, {}={}".format(rank, place.rank, world, place.world))
            return place
    return None
