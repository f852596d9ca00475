"""Readers of what people paste: each takes one program's output for facts, and what they read is joined to one partial machine."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from gpuassist.detect.readers import (
    bare_answers,
    bottleneck,
    collect_env,
    device_query,
    gpustat,
    host,
    inventories,
    kernel_tools,
    lspci,
    nvcc,
    nvidia_smi,
    nvidia_smi_query,
    nvtop,
    oneliners,
    packages,
    places,
    process_lists,
    torch_warnings,
)
from gpuassist.detect.readers.complete import complete
from gpuassist.detect.readers.join import Contradiction, join, joined, same_machine
from gpuassist.detect.readers.python_paths import with_python
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste

__all__ = ["READERS", "Contradiction", "contradictions", "joined", "read_all", "same_machine"]

READERS: tuple[Callable[[Paste], Machine | tuple[Machine, ...]], ...] = (
    kernel_tools.read_files,
    nvidia_smi_query.read_list,
    nvidia_smi_query.read,
    nvidia_smi_query.read_rows,
    nvidia_smi.read,
    gpustat.read,
    process_lists.read,
    nvtop.read,
    collect_env.read,
    bottleneck.read,
    nvcc.read,
    oneliners.read,
    bare_answers.read,
    bare_answers.read_cupy,
    device_query.read,
    torch_warnings.read,
    packages.read,
    lspci.read,
    inventories.read,
    kernel_tools.read,
    kernel_tools.read_blocks,
    host.read,
    places.read,
)
"""Where two of them state a fact differently, the first of them counts; one that reads several accounts gives the best first."""


def read_all(paste: Paste, knowledge: Knowledge) -> Machine:
    """The machine as the text shows it; what the text does not say stays unasked."""
    return complete(with_python(join(_parts(paste)).machine, paste), knowledge)


def contradictions(paste: Paste) -> tuple[Contradiction, ...]:
    """The facts that a text states in two ways."""
    return join(_parts(paste)).contradictions


@lru_cache(2)
def _parts(paste: Paste) -> tuple[Machine, ...]:
    read = (reader(paste) for reader in READERS)
    return tuple(part for parts in read for part in (parts if isinstance(parts, tuple) else (parts,)))
