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
# Cards of one size by their ids, in GiB; NVIDIA NIM for LLMs 1.13, supported models, and GenMol NIM, support matrix; the others by
# the memory.total that nvidia-smi prints for them in public reports, to the next GiB.
CARDS = {
    96: ("2bb1", "2bb4"),
    32: ("2b85",),
    24: ("2684", "2203", "2204", "1e02", "2c18", "2c58"),
    20: ("27b0",),
    16: ("2c02", "2c05", "2704", "2702", "2705", "2689", "2717", "2757", "24b0"),
    12: ("2f04", "2786", "2709", "2782", "2783", "2208"),
    11: ("1b06", "1e04", "1e07"),
    10: ("2206", "2216"),
    8: (
        *("2808", "2882", "2484", "2488", "2482", "2207", "2486", "2489", "2414", "24c9"),
        *("1e82", "1e87", "1f02", "1f07", "1b80"),
    ),
}


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
    """The sizes in bytes by the largest virtual GPU, which is the whole board; else by the id list's name, or all printed ones."""
    profiles = [int(found[1]) for one in names if (found := PROFILE.search(one))]
    if profiles:
        return [max(profiles) * GIB]
    if CPU_MEMORY.search(name):
        return []
    products = name.split(" / ") if SIZE.search(name) else names
    sizes = [SIZE.findall(one) for one in products]
    return sorted({int(size) * GIB for found in sizes for size in found}) if all(sizes) else []


def card_size(pci_id: str) -> list[int]:
    """The size of a card that has one size, by its id."""
    return [size * GIB for size, ids in CARDS.items() if pci_id.removeprefix("10de:") in ids]
