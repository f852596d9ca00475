"""The checks of all families, in the order in which they run: what proves most comes first."""

from __future__ import annotations

from typing import Any, Tuple

from . import (
    attention,
    compilers,
    convolution,
    elements,
    endurance,
    execution,
    extension,
    first_kernel,
    gather_scatter,
    gradients,
    linear_algebra,
    normalization,
    products,
    random_numbers,
    recurrent,
    reductions,
    sparse,
    spectral,
    training_steps,
    transfers,
)
from .bench import FULL, Check

_FAMILIES: Tuple[Any, ...] = (
    first_kernel,
    products,
    convolution,
    elements,
    reductions,
    gradients,
    transfers,
    linear_algebra,
    spectral,
    attention,
    gather_scatter,
    sparse,
    execution,
    random_numbers,
    normalization,
    training_steps,
    recurrent,
    endurance,
    compilers,
    extension,
)


def checks_of(level: str, device: str) -> Tuple[Check, ...]:
    """What a device goes through: the quick ones first, whichever family they are of."""
    there = [check for family in _FAMILIES for check in family.CHECKS if check.on_cpu or device != "cpu"]
    quick = [check for check in there if check.level != FULL]
    return tuple(quick + [check for check in there if check.level == FULL] if level == FULL else quick)
