"""GPUs of servers: which products are for data centres, and which stand on baseboards whose NVSwitches Fabric Manager sets up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from gpuassist.knowledge.records import GpuRecord
from gpuassist.model.lazy_regex import lazy_regex

# What stands around a product's name: makers and families before it, form, size of memory and variants after it.
_BEFORE = lazy_regex(r"(?:NVIDIA|Tesla|GRID|HGX)\s+")
_VIRTUAL = lazy_regex(r"-(?:\d+-)?\d+[QCBA]\d*(?:ME)?\Z")


class Baseboard(Struct, frozen=True):
    """A board of so many GPUs that NVSwitches join. Fabric Manager, of exactly the driver's version, sets the switches up; where
    `subnet_manager` is true, by the NVLink subnet manager (`nvlsm`) over the kernel module ib_umad.
    """

    name: str
    pci_ids: tuple[str, ...]
    gpus: int
    subnet_manager: bool
    source: str
    checked: str


class ServerGpu(Struct, frozen=True):
    """A product for data centres, by its name without maker, form and size."""

    name: str
    source: str
    checked: str


def baseboard_of(pci_ids: Iterable[str], boards: Sequence[Baseboard]) -> Baseboard | None:
    """The board that these GPUs stand on: as many of one kind as it has, and not a part of them as a small instance is given."""
    every = tuple(pci_ids)
    return next((board for board in boards if sum(one in board.pci_ids for one in every) >= board.gpus), None)


def is_for_servers(name: str, record: GpuRecord | None, products: Sequence[ServerGpu]) -> bool:
    """Whether a GPU is a product for data centres: `NVIDIA A100-SXM4-80GB`, `Tesla T4`, `NVIDIA L40S`."""
    names = [name, *((record.name, *record.aliases) if record is not None else ())]
    return any(_is(product.name, _bare(one)) for product in products for one in names if one)


def is_virtual(name: str) -> bool:
    """Whether a GPU is one that a hypervisor gives in parts (vGPU), by its name: `NVIDIA A10-4Q`, `GRID V100D-8C`, `A100-2-10C`."""
    return _VIRTUAL.search(name) is not None


def _bare(name: str) -> str:
    bare = name
    while (found := _BEFORE.match(bare)) is not None:
        bare = bare[found.end() :]
    return bare


def _is(product: str, name: str) -> bool:
    """Whether a name is that product's, alone or with what follows a product's name."""
    return name == product or name.startswith((f"{product} ", f"{product}-"))
