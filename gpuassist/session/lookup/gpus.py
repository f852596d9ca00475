"""What is known of a GPU, by its PCI id or by a name in any spelling."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from gpuassist.knowledge.asked_gpus import NVIDIA, PCI_ID, asked_gpus, is_pci_id, memory_sizes, nearest, same_product
from gpuassist.knowledge.tables import agreeing_gpu
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.nearest import nearest_names, nearest_numbers
from gpuassist.model.text import Text, listed, text
from gpuassist.session.lookup.answer import (
    LookupAnswer,
    LookupKind,
    LookupStatus,
    fields,
    known,
    newer,
    not_known,
    own_fields,
    plain,
    provenance,
    several,
    unknown,
)
from gpuassist.session.lookup.gpu_support import first_drivers, is_of_grace, notes_on_serving, what_serves

if TYPE_CHECKING:
    from gpuassist.knowledge.records import GpuRecord
    from gpuassist.knowledge.tables import Knowledge
    from gpuassist.session.lookup.answer import Document

# GeForce cards since the 20 series: the thousands count the series, `RTX 5090`.
_SERIES = lazy_regex(r"\brtx\s*(\d{1,2})0[5-9]0\b", re.IGNORECASE)
# What only a GPU that is known is asked for.
_UNANSWERED = (
    "architecture compute_capability memory_sizes_bytes memory_bytes integrated first_cuda last_cuda jetson first_driver "
    "first_driver_of last_driver open_module torch_builds plan"
)
_Key = tuple[str, str, str]


def answer(knowledge: Knowledge, words: str) -> LookupAnswer:
    """By PCI id where the words are one (`10de:2684`, `0x2684`, `2684`), else by name."""
    found = PCI_ID.fullmatch(words) if is_pci_id(words) else None
    if found is None:
        return _by_name(knowledge, words)
    if (found["vendor"] or NVIDIA).lower() != NVIDIA:
        return unknown(text("{id} is not a GPU of NVIDIA: its PCI vendor is not {vendor}", id=words, vendor=NVIDIA), ())
    by_id = _by_id(knowledge, found["device"].lower())
    if found["vendor"] or found["x"] or by_id.standing is LookupStatus.KNOWN:
        return by_id
    by_name = _by_name(knowledge, words)
    return by_name if by_name.standing is LookupStatus.KNOWN or by_name.nearest else by_id


def _by_id(knowledge: Knowledge, device: str) -> LookupAnswer:
    gpu = knowledge.gpu(f"{NVIDIA}:{device}")
    if gpu is not None:
        document = _document(knowledge, _groups(knowledge.gpus())[_key(gpu)])
        return known(_title(gpu), document, *notes_on_serving(knowledge, gpu))
    numbers = [int(one.pci_id.partition(":")[2], 16) for one in knowledge.gpus() if one.pci_id]
    if numbers and int(device, 16) > max(numbers):
        return _newer(knowledge, text("the PCI id {id}", id=f"{NVIDIA}:{device}"), pci_ids=[f"0x{device}"])
    title = text("no GPU with the PCI id {id} is known", id=f"{NVIDIA}:{device}")
    return unknown(title, (f"{NVIDIA}:{one:04x}" for one in nearest_numbers(int(device, 16), numbers)))


def _by_name(knowledge: Knowledge, words: str) -> LookupAnswer:
    every = asked_gpus(knowledge, words)
    found = nearest(every, words)
    if not found:
        series = _SERIES.search(words)
        all_names = _names(knowledge)
        known_series = [int(one[1]) for name in all_names if (one := _SERIES.search(name))]
        if series and known_series and int(series[1]) > max(known_series):
            return _newer(knowledge, text("{name}", name=words), name=words)
        aliases = (name for gpu in knowledge.gpus() for name in gpu.aliases)
        return unknown(text("no GPU named {name} is known", name=words), nearest_names(words, (*all_names, *aliases)))
    # The id list alone knows a GeForce GT 1030 of 2012, for one: where NVIDIA's own lists decide, they do.
    decided = agreeing_gpu(every)
    agreeing = [one for one in found if decided and _key(one)[1:] == _key(decided)[1:]] or found
    chips: dict[tuple[str, str], list[GpuRecord]] = {}
    for gpu in agreeing:
        chips.setdefault(_key(gpu)[1:], []).append(gpu)
    if len(chips) > 1:
        return _several(knowledge, list(chips.values()))
    # A chip that only the id list calls so.
    doubtful = (
        text(
            "The PCI id list has {id} under this name too, of {architecture}; NVIDIA's lists do not.",
            id=one.pci_id,
            architecture=one.architecture,
        )
        for one in found
        if one not in agreeing
    )
    first = agreeing[0]
    document = _document(knowledge, _groups(knowledge.gpus())[_key(first)])
    told = (*_others_of_that_name(knowledge, same_product(every, words), first, words), *doubtful)
    return known(_title(first), document, *told, *notes_on_serving(knowledge, first))


def _others_of_that_name(knowledge: Knowledge, alike: Iterable[GpuRecord], first: GpuRecord, words: str) -> Iterator[Text]:
    """What else the words may mean: cards with other memory, and the GPU whose PCI id a number is."""
    sizes = memory_sizes(knowledge, first)
    others = dict.fromkeys(one.name for one in alike if one.name != first.name and memory_sizes(knowledge, one) != sizes)
    if others:
        yield text("“{words}” may also be one with other memory: {others}. Ask by that name.", words=words, others=listed(others))
    by_id = knowledge.gpu(f"{NVIDIA}:{words}") if PCI_ID.fullmatch(words) else None
    if by_id is not None:
        yield text(
            "{number} was read as a name; it is also the PCI id of {name}: ask for {id}",
            number=words,
            name=by_id.name,
            id=by_id.pci_id,
        )


def _newer(knowledge: Knowledge, what: Text, *, name: str | None = None, pci_ids: list[str] | None = None) -> LookupAnswer:
    record = {**fields(name=name, pci_ids=pci_ids), **not_known(_UNANSWERED)}
    branches = knowledge.branches()
    notes = [text("A CUDA toolkit or a torch build serves it where it names its architecture, or holds PTX of an older one.")]
    if branches:
        newest_branch = max(branch.branch for branch in branches)
        notes.insert(0, text("It needs a driver that knows it: {branch} is the newest branch that I know.", branch=newest_branch))
    return newer(text("{what}: newer than what I know", what=what), knowledge.gpus(), record, *notes)


def _several(knowledge: Knowledge, groups: list[list[GpuRecord]]) -> LookupAnswer:
    """Which one of them a card is, its PCI id decides."""
    name = groups[0][0].name
    record = {
        **several([_document(knowledge, group) for group in groups]),
        **provenance(*(gpu for group in groups for gpu in group)),
        "name": name,
        "pci_ids": plain([pci_id for group in groups for pci_id in _pci_ids(group)]),
    }
    title = text("{name}: sold with different chips", name=name)
    return known(title, record, text("Only its PCI id tells which one a card is; `lspci -nn` shows it."))


def _title(gpu: GpuRecord) -> Text:
    name, architecture, capability = gpu.name, gpu.architecture, gpu.compute_capability
    if capability is None:
        return text("{name}: {architecture}", name=name, architecture=architecture)
    return text(
        "{name}: {architecture}, compute capability {capability}",
        name=name,
        architecture=architecture,
        capability=str(capability),
    )


def _key(gpu: GpuRecord) -> _Key:
    return gpu.name, gpu.architecture, str(gpu.compute_capability)


def _groups(gpus: Iterable[GpuRecord]) -> dict[_Key, list[GpuRecord]]:
    groups: dict[_Key, list[GpuRecord]] = {}
    for gpu in gpus:
        groups.setdefault(_key(gpu), []).append(gpu)
    return groups


def _document(knowledge: Knowledge, group: list[GpuRecord], serving: dict[tuple[object, ...], Document] | None = None) -> Document:
    """The record of GPUs that differ in nothing but their PCI ids; `serving` keeps what is the same for all of one chip."""
    first = group[0]
    sizes = {size for gpu in group for size in gpu.memory_bytes}
    kept = {} if serving is None else serving
    alike = (first.architecture, first.chip, first.module, first.integrated, is_of_grace(first))
    if alike not in kept:
        kept[alike] = what_serves(knowledge, first)
    one_size = len(sizes) == 1 and all(gpu.memory_bytes for gpu in group)
    return {
        **provenance(*group),
        **own_fields(first, "name architecture compute_capability"),
        "pci_ids": plain(_pci_ids(group)),
        "memory_sizes_bytes": plain(sorted(sizes)) or None,
        "memory_bytes": sizes.pop() if one_size else None,
        "integrated": first.integrated,
        **kept[alike],
        **first_drivers(knowledge, group),
    }


def _pci_ids(group: list[GpuRecord]) -> list[str]:
    return [f"0x{gpu.pci_id.partition(':')[2]}" for gpu in group if gpu.pci_id]


def _names(knowledge: Knowledge) -> tuple[str, ...]:
    """Every name that a GPU is sold under, each once."""
    return tuple(dict.fromkeys(gpu.name for gpu in knowledge.gpus()))


def _records(knowledge: Knowledge) -> Iterator[Document]:
    """One for each name and compute capability, in the order of the base."""
    serving: dict[tuple[object, ...], Document] = {}
    return (_document(knowledge, group, serving) for group in _groups(knowledge.gpus()).values())


SHELF = LookupKind("gpu", answer, _names, _records)
