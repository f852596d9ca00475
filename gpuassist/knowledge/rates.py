"""How fast a GPU may be: what NVIDIA says of a product, and what its multiprocessors do in a clock where NVIDIA says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from gpuassist.knowledge.records import GpuRecord
from gpuassist.knowledge.rows import Row, RowError, Source, source_of, text_of, whole_of
from gpuassist.model.version import ComputeCapability

FORMATS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8")
_MEMORY_DIFFERS = 0.12  # a card of 24 GB tells of 23.6 to 24.0 GiB, one of 141 GB of 140.4; the next size is a quarter more


class ProductLine(str, Enum):
    """What NVIDIA sells chips of one compute capability as: GeForce sums 16 bits in fp32 at half the rate of its professional
    boards, and the smallest chips of the Turing generation have no tensor cores.
    """

    EVERY = ""
    GEFORCE = "geforce"
    PROFESSIONAL = "professional"
    NO_TENSOR_CORES = "no tensor cores"


class GpuRates(Struct, frozen=True):
    """A product as `gpu` of gpus.json, with a chip and an amount of memory (0 where not known, as everywhere here).

    `rates` are NVIDIA's own peaks in tera-operations a second, dense, 16 bits with fp32 accumulate; 0 of a format says that it is
    not known and must not be computed. `boost_mhz` and `watts` are 0 of laptops, whose makers choose them.
    `pcie` is the generation and the lanes of its slot, empty where it has none; `bandwidth_gb` its memory's, in GB a second.
    """

    gpu: str
    chip: str
    memory_gb: float
    multiprocessors: int
    boost_mhz: int
    bandwidth_gb: float
    pcie: tuple[int, ...]
    watts: int
    rates: tuple[tuple[str, float], ...]
    source: str
    checked: str

    def rate(self, kind: str) -> float | None:
        """NVIDIA's own peak of a format; None where none is given, 0 where none may be computed."""
        return dict(self.rates).get(kind)


class SmRates(Struct, frozen=True):
    """The operations (a multiply-add is two) of a multiprocessor in a clock, by format, of a capability and product line."""

    capability: ComputeCapability
    line: ProductLine
    operations: tuple[tuple[str, int], ...]
    source: str
    checked: str

    def of(self, kind: str) -> int:
        """Those of a format; 0 where they are not known."""
        return dict(self.operations).get(kind, 0)


class ReachedRate(Struct, frozen=True):
    """Which shares of the peak others measured for large products of a format with torch or cuBLAS: `low` and `high`."""

    capability: ComputeCapability
    line: ProductLine
    format: str
    low: float
    high: float
    source: str
    checked: str


def line_of(name: str, chip: str = "") -> ProductLine:
    """The line of a GPU by the name that NVML prints or the list has; EVERY where neither says."""
    words = name.replace("NVIDIA", "").strip().lower()
    if chip in _NO_TENSOR_CORES or words.startswith(("geforce gtx 16", "geforce mx4", "geforce mx5")):
        return ProductLine.NO_TENSOR_CORES
    if words.startswith("geforce"):
        return ProductLine.GEFORCE
    professional = words.startswith(("quadro", "rtx", "tesla", "nvs")) or (
        _DATA_CENTRE.issuperset(words[:1]) and words[1:2].isdigit()
    )
    return ProductLine.PROFESSIONAL if professional else ProductLine.EVERY


def rates_of(gpu: GpuRecord, memory_bytes: int, table: Sequence[GpuRates]) -> GpuRates | None:
    """What is known of a GPU; of several sizes of memory the one that it has. `memory_bytes` is 0 where it is not known."""
    found = [one for one in table if (one.gpu, one.chip) == (gpu.name, gpu.chip)]
    if len(found) < 2:
        return found[0] if found else None
    size = memory_bytes / 2**30
    nearest = min(found, key=lambda one: abs(one.memory_gb - size))
    return nearest if size and abs(nearest.memory_gb - size) <= _MEMORY_DIFFERS * nearest.memory_gb else None


def sm_rates_of(capability: ComputeCapability, line: ProductLine, table: Sequence[SmRates]) -> SmRates | None:
    """What a multiprocessor does in a clock; None where neither its capability nor its line is known."""
    return next((one for one in table if one.capability == capability and one.line in {line, ProductLine.EVERY}), None)


def reached_of(capability: ComputeCapability, line: ProductLine, kind: str, table: Sequence[ReachedRate]) -> ReachedRate | None:
    """What others measured on GPUs of that sort; None where nothing is published."""
    alike = (one for one in table if one.capability == capability and one.format == kind)
    return next((one for one in alike if one.line in {line, ProductLine.EVERY}), None)


_NO_TENSOR_CORES = frozenset({"TU116", "TU117"})
_DATA_CENTRE = frozenset("abghlptv")  # A100, B200, GB200 is `gb`, H100, L40, P100, T4, V100


# The records of the three tables from their rows.


def gpu_rates(row: Row, sources: dict[str, Source]) -> GpuRates:
    source, pcie = source_of(row, sources), row.fields.get("pcie")
    if not isinstance(pcie, list) or len(pcie) not in (0, 2) or not all(type(one) is int for one in pcie):
        raise RowError("pcie")
    return GpuRates(
        gpu=text_of(row, "gpu"),
        chip=text_of(row, "chip"),
        memory_gb=_amount(row, "memory_gb"),
        multiprocessors=whole_of(row, "multiprocessors"),
        boost_mhz=whole_of(row, "boost_mhz"),
        bandwidth_gb=_amount(row, "bandwidth_gb"),
        pcie=tuple(pcie),
        watts=whole_of(row, "watts"),
        rates=tuple((kind, float(rate)) for kind, rate in _by_format(row, "rates")),
        source=source.text,
        checked=source.checked,
    )


def sm_rates(row: Row, sources: dict[str, Source]) -> SmRates:
    source = source_of(row, sources)
    operations = tuple((kind, int(count)) for kind, count in _by_format(row, "operations"))
    return SmRates(_capability(row), ProductLine(text_of(row, "line")), operations, source.text, source.checked)


def reached_rate(row: Row, sources: dict[str, Source]) -> ReachedRate:
    source, line, kind = source_of(row, sources), ProductLine(text_of(row, "line")), text_of(row, "format")
    low, high = _amount(row, "low"), _amount(row, "high")
    if kind not in FORMATS or not 0 < low <= high:
        raise RowError("low")
    return ReachedRate(_capability(row), line, kind, low, high, source.text, source.checked)


def _capability(row: Row) -> ComputeCapability:
    return ComputeCapability.parse(text_of(row, "capability"))


def _by_format(row: Row, name: str) -> tuple[tuple[str, float], ...]:
    values = row.fields.get(name)
    if not isinstance(values, dict) or not all(
        kind in FORMATS and type(one) in (int, float) and one >= 0 for kind, one in values.items()
    ):
        raise RowError(name)
    return tuple(values.items())


def _amount(row: Row, name: str) -> float:
    value = row.fields.get(name)
    if type(value) not in (int, float) or not value >= 0:  # type: ignore[operator]
        raise RowError(name)
    return float(value)  # type: ignore[arg-type]
