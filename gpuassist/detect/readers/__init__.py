"""Readers of what people paste: each takes one program's output for facts, and what they read is joined to one partial machine."""

from __future__ import annotations

from collections.abc import Callable

from gpuassist.detect.readers import driver_files, nvcc
from gpuassist.detect.readers.complete import complete
from gpuassist.detect.readers.join import join
from gpuassist.detect.readers.same import joined, same_machine
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste

__all__ = ["READERS", "joined", "read_all", "same_machine"]

READERS: tuple[Callable[[Paste], Machine], ...] = (
    driver_files.read,
    nvcc.read,
)
"""Where two of them state a fact differently, the first of them counts."""


def read_all(paste: Paste, knowledge: Knowledge) -> Machine:
    """The machine as the text shows it; what the text does not say stays unasked."""
    return complete(join(tuple(reader(paste) for reader in READERS)).machine, knowledge)
