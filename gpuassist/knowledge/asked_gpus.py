"""The GPUs that somebody names, wherever a GPU can be named: by PCI id, by a name in any spelling, or by what tells a product
apart (`4090`, `A6000`); and how much memory a product has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from gpuassist.knowledge import names
from gpuassist.model.lazy_regex import lazy_regex

if TYPE_CHECKING:
    from gpuassist.knowledge.records import GpuRecord
    from gpuassist.knowledge.tables import Knowledge

PCI_ID = lazy_regex(r"(?:(?:0x)?(?P<vendor>[0-9a-f]{4}):)?(?P<x>0x)?(?P<device>[0-9a-f]{4})", re.IGNORECASE)
NVIDIA = "10de"
_GB = 1 << 30


def is_pci_id(words: str) -> bool:
    """Whether words are a PCI id; a number that a product bears is its name (1080 is also the id of a GTX 580)."""
    return bool(PCI_ID.fullmatch(words)) and not names.product(words, asked=True)


def asked_gpus(knowledge: Knowledge, words: str) -> tuple[GpuRecord, ...]:
    """All that may be meant, those of exactly that name first; none where nothing is known by it."""
    if is_pci_id(words):
        found = PCI_ID.fullmatch(words)
        gpu = knowledge.gpu(f"{found['vendor'] or NVIDIA}:{found['device']}") if found else None
        if gpu is not None:
            return (gpu,)
    named = knowledge.gpus_named(words) or knowledge.gpus_named(names.product(words, asked=True)) or _bearing(knowledge, words)
    plain, _ = names.without_sizes(words)
    return named or (asked_gpus(knowledge, plain) if plain not in {"", words} else ())


def _bearing(knowledge: Knowledge, words: str) -> tuple[GpuRecord, ...]:
    """Those whose name has every word, and the fewest others; one of the words is a product's, as A6000 is."""
    wanted = names.key(words)
    if not any(names.is_of_product(word) for word in wanted):
        return ()
    more = [(gpu, min((len(one - wanted) for one in _keys(gpu) if wanted <= one), default=-1)) for gpu in knowledge.gpus()]
    least = min((count for _, count in more if count >= 0), default=0)
    return tuple(gpu for gpu, count in more if count == least)


def _own_keys(gpu: GpuRecord) -> Iterable[names.Key]:
    return map(names.key, names.alternatives(gpu.name))


def _keys(gpu: GpuRecord) -> Iterable[names.Key]:
    return (names.key(piece) for name in (gpu.name, *gpu.aliases) for piece in names.alternatives(name))


def nearest(found: tuple[GpuRecord, ...], words: str) -> tuple[GpuRecord, ...]:
    """Those whose own name differs from the words by least: not the laptop's where the desktop's is meant."""
    wanted = names.key(words)
    distances = [_distance(wanted, gpu) for gpu in found]
    return tuple(gpu for gpu, far in zip(found, distances, strict=True) if far == min(distances))


def _distance(wanted: names.Key, gpu: GpuRecord) -> tuple[bool, int]:
    # By its own name: the driver calls many a laptop's card as it calls the desktop's.
    return "mobile" in wanted ^ names.key(gpu.name), min(len(wanted ^ one) for one in _keys(gpu))


def same_product(found: tuple[GpuRecord, ...], words: str) -> tuple[GpuRecord, ...]:
    """The nearest, and what is called as they are but for a size of memory or a slot that the words do not say: an A100 is sold
    with 40 and with 80 GB.
    """
    wanted = names.key(words)
    near = [(len(wanted ^ one), one) for gpu in nearest(found, words) for one in _own_keys(gpu)]
    least = min((far for far, _ in near), default=0)
    plain = {names.undecorated(one) for far, one in near if far == least}
    alike = tuple(
        gpu for gpu in found if any(names.undecorated(one) in plain and names.sort(one) <= wanted for one in _own_keys(gpu))
    ) or nearest(found, words)
    decorated = tuple(gpu for gpu in alike if any(_says(one, wanted, sizes=False) for one in _keys(gpu)))
    return tuple(gpu for gpu in decorated if any(_says(one, wanted, sizes=True) for one in _keys(gpu))) or decorated or alike


def _says(name: names.Key, wanted: names.Key, *, sizes: bool) -> bool:
    """Whether a name has all that the words say of the slot and the sort, and with `sizes` of the memory."""
    return names.decoration(wanted) <= name and (not sizes or names.sizes(wanted) <= names.sizes(name))


def memory_sizes(knowledge: Knowledge, gpu: GpuRecord) -> tuple[int, ...]:
    """How much memory cards of a PCI id have, in bytes, small to large; none where that is not known."""
    boards = {
        round(one.memory_gb * _GB) for one in knowledge.gpu_rates() if (one.gpu, one.chip) == (gpu.name, gpu.chip) and one.memory_gb
    }
    return tuple(sorted(set(gpu.memory_bytes) or boards))


def sizes_meant(knowledge: Knowledge, words: str) -> dict[int, str]:
    """The sizes of memory in bytes that words for a GPU may mean, each with the name of a card that has it, small to large. Where
    the words say a size it is that one, or none; but a GH200 has the 120GB and 480GB of its name beside the GPU.
    """
    _, said = names.without_sizes(words)
    asked = asked_gpus(knowledge, words)
    found: dict[int, str] = {}
    for gpu in same_product(asked, words):
        for one in memory_sizes(knowledge, gpu):
            found.setdefault(one, gpu.name)
    kept = {size: name for size, name in found.items() if round(size / _GB) in said}
    if said and (kept or not any(names.key(words) in _keys(gpu) for gpu in asked)):
        found = kept
    return dict(sorted(found.items()))
