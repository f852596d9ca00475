"""What NVIDIA's own lists of products say of a PCI id: the names that NVML prints, and how much memory the GPU has."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpuassist.knowledge.names import alternatives, key

ENTRY = re.compile(r'\{ 0x(\w{4}), 0x\w{4}, 0x\w{4}, +(?:\d+, +)?"([^"]+)" \}')
# A virtual GPU, behind the name of its board: its slices of compute where it has some, its memory, and its kind (none: games).
PROFILE = re.compile(r"-(?:\d+-)?(\d+)(?:[ABCQ]\d?|CME)$")
GAMES = re.compile(r"-(?:\d+-)?\d+$")
SIZE = re.compile(r"\b(\d+) ?GB?\b")
CPU_MEMORY = re.compile(r"^GH200 .*GB$")  # of a GH200 480GB, these 480 GB are the processor's
BRANDS = frozenset({"geforce", "quadro", "tesla", "grid"})
GIB = 2**30


def printed(*headers: str) -> dict[str, tuple[str, ...]]:
    """The names that the driver has for each PCI id, in the order of its lists."""
    names: dict[str, dict[str, None]] = {}
    for header in headers:
        for device, name in ENTRY.findall(header):
            names.setdefault(f"10de:{device.lower()}", {})[name] = None
    return {pci_id: tuple(found) for pci_id, found in names.items()}


def unknown_names(known: tuple[str, ...], names: Iterable[str]) -> tuple[str, ...]:
    """Which of `names` would not be found under the known ones; of virtual GPUs the board's part.

    A data centre board lends itself as a GeForce for cloud gaming: such a name says nothing of the card that is sold under it.
    """
    keys = {key(one) for name in known for one in alternatives(name)}
    fresh: dict[frozenset[str], str] = {}
    boards = [PROFILE.sub("", name) for name in names]
    for name in boards:
        if GAMES.sub("", name) in boards and GAMES.search(name):
            continue
        lent = "GeForce" in name and not any("GeForce" in one for one in known)
        if not lent and key(name) not in keys and not key(name) <= BRANDS:
            fresh.setdefault(key(name), name)
    return tuple(fresh.values())


def memory_sizes(name: str, names: tuple[str, ...]) -> list[int]:
    """The sizes in bytes: as all names of the product say, or as the largest virtual GPU, which is the whole board, says."""
    profiles = [int(found[1]) for one in names if (found := PROFILE.search(one))]
    if profiles:
        return [max(profiles) * GIB]
    products = (name, *names)
    sizes = [SIZE.findall(one) for one in products]
    if not all(sizes) or any(CPU_MEMORY.search(one) for one in products):
        return []
    return sorted({int(size) * GIB for found in sizes for size in found})
