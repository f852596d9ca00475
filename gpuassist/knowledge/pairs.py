"""Which of the pairs that are known to be bad stand together in an environment, or on a machine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from gpuassist.knowledge.specifier import admits
from gpuassist.knowledge.torch_records import BadPair, Party
from gpuassist.model.version import ComputeCapability, Version

COMPUTE_CAPABILITY = "compute-capability"  # the one party that is no package: the GPU

_SEPARATORS = re.compile(r"[-_.]+")


def bad_pairs_among(
    pairs: Iterable[BadPair], packages: Mapping[str, Version], capabilities: Iterable[ComputeCapability] = ()
) -> tuple[BadPair, ...]:
    """The pairs of which both parties are here; packages by their names as pip or conda list them."""
    here = {_SEPARATORS.sub("-", name).lower(): (version,) for name, version in packages.items()}
    gpus = {COMPUTE_CAPABILITY: tuple(Version((one.major, one.minor)) for one in capabilities)}
    return tuple(pair for pair in pairs if all(_is_here(one, {**here, **gpus}) for one in (pair.one, pair.other)))


def _is_here(party: Party, here: Mapping[str, tuple[Version, ...]]) -> bool:
    return any(admits(party.versions, version) for version in here.get(party.name, ()))
