"""What a measured rate means for the GPU that it was measured on: the tables and what was seen, put together."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.knowledge import names
from gpuassist.knowledge.rates import line_of, rates_of, reached_of, sm_rates_of
from gpuassist.knowledge.records import GpuRecord
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known
from gpuassist.model.version import ComputeCapability
from gpuassist.verify.expectation import Expectation, GpuMeant, MeasuredRate, expect
from gpuassist.verify.load import DeviceLoad


class GpuSeen(Struct, frozen=True):
    """A GPU as torch's process saw it (`verify/child/devices.py`), each empty, 0 or false where not known."""

    name: str
    pci_id: str = ""
    capability: tuple[int, ...] = ()
    memory_bytes: int = 0
    multiprocessors: int = 0
    mig: bool = False


def expectation_of(knowledge: Knowledge, measured: MeasuredRate, seen: GpuSeen, load: DeviceLoad | None = None) -> Expectation:
    """What the rate means; `load` is what NVML saw of that GPU while it was measured."""
    record = _record(knowledge, seen, load)
    line = line_of(record.name if record is not None else seen.name, record.chip if record is not None else "")
    capability = _capability(seen, record)
    published = knowledge.reached_rates()
    gpu = GpuMeant(
        seen.name.removeprefix("NVIDIA ").strip() or seen.name,
        rates_of(record, _whole_memory(seen, load), knowledge.gpu_rates()) if record is not None else None,
        sm_rates_of(capability, line, knowledge.sm_rates()) if capability is not None else None,
        seen.multiprocessors,
        load,
        seen.mig,
        "mobile" in names.key(seen.name) or (record is not None and "mobile" in names.key(record.name)),
    )
    usual = reached_of(capability, line, measured.kind, published) if capability is not None else None
    return expect(measured, gpu, usual, published)


def _whole_memory(seen: GpuSeen, load: DeviceLoad | None) -> int:
    """The GPU's, by which products of one name differ; a part of a GPU has a part of it."""
    if not seen.mig:
        return seen.memory_bytes
    memory = load.device.memory_bytes if load is not None else None
    return memory.value if isinstance(memory, Known) else 0


def _record(knowledge: Knowledge, seen: GpuSeen, load: DeviceLoad | None) -> GpuRecord | None:
    """By the PCI id, which is one product's; by the name where nobody tells the id."""
    pci_id = seen.pci_id or (load.device.pci_id if load is not None else "")
    return knowledge.gpu(pci_id) or knowledge.gpu_named(seen.name)


def _capability(seen: GpuSeen, record: GpuRecord | None) -> ComputeCapability | None:
    if len(seen.capability) == len(("major", "minor")):
        return ComputeCapability(*seen.capability)
    return record.compute_capability if record is not None else None
