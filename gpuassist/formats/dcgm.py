"""The names, units and labels in which dcgm-exporter tells of GPUs, and what its figures mean.

Names and units: its etc/default-counters.csv; labels: its internal/pkg/rendermetrics; numbers that stand for "not known":
DCGM's dcgm_structs.h (all read on 2026-11-24). Since 4.9 it has other names, some in other units, and since 4.8.3 a machine
stands under `hostname`: its release notes, and the field identifiers of DCGM 4.7 (read on 2026-11-28).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.text import text

FB_USED, FB_FREE, FB_RESERVED = "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_RESERVED"
GPU_UTIL, GPU_TEMP, POWER_USAGE = "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_POWER_USAGE"
XID_ERRORS, MEMORY_TEMP = "DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_MEMORY_TEMP"
SM_CLOCK, MEM_CLOCK = "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_MEM_CLOCK"
SM_ACTIVE, TENSOR_ACTIVE = "DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE"

MEBIBYTE = 1 << 20

METRICS = (
    *(FB_USED, FB_FREE, FB_RESERVED, GPU_UTIL, GPU_TEMP, POWER_USAGE, XID_ERRORS),
    *(MEMORY_TEMP, SM_CLOCK, MEM_CLOCK, SM_ACTIVE, TENSOR_ACTIVE),
)
"""What is known of a GPU; the first is what makes it one."""

_MEMORY, _CLOCK = 1.0 / MEBIBYTE, 1e-6
RENAMED = {
    "DCGM_FI_DEV_FB_USED_BYTES": (FB_USED, _MEMORY),
    "DCGM_FI_DEV_FB_FREE_BYTES": (FB_FREE, _MEMORY),
    "DCGM_FI_DEV_FB_RESERVED_BYTES": (FB_RESERVED, _MEMORY),
    "DCGM_FI_DEV_GPU_UTIL_RATIO": (GPU_UTIL, 100.0),
    "DCGM_FI_DEV_GPU_TEMP_CELSIUS": (GPU_TEMP, 1.0),
    "DCGM_FI_DEV_BOARD_POWER_WATTS": (POWER_USAGE, 1.0),
    "DCGM_FI_DEV_XID_ERROR": (XID_ERRORS, 1.0),
    "DCGM_FI_DEV_MEMORY_TEMP_CELSIUS": (MEMORY_TEMP, 1.0),
    "DCGM_FI_DEV_SM_CLOCK_HERTZ": (SM_CLOCK, _CLOCK),
    "DCGM_FI_DEV_MEMORY_CLOCK_HERTZ": (MEM_CLOCK, _CLOCK),
    "DCGM_FI_PROF_SM_UTIL_RATIO": (SM_ACTIVE, 1.0),
    "DCGM_FI_PROF_TENSOR_UTIL_RATIO": (TENSOR_ACTIVE, 1.0),
}
"""By which name each is known here that has another since 4.9, and what it is to be multiplied with."""

ASKED_FOR = (*METRICS, *RENAMED)
USED_NAMES = (FB_USED, "DCGM_FI_DEV_FB_USED_BYTES")

# Of 64 and 32 bits and of floats; each has three more behind it: not found, not supported, not permitted.
_BLANKS = (float(0x7FFFFFFFFFFFFFF0), float(0x7FFFFFF0), float(1 << 47))
_MEMORY_AT_MOST, _WATTS_AT_MOST, _CELSIUS_AT_MOST, _MEGAHERTZ_AT_MOST = 1 << 24, 100_000.0, 1000.0, 100_000.0

_BLANK = Unknown(text("dcgm-exporter says that the driver does not tell it"))
_CANNOT_BE = Unknown(text("the figure that was told cannot be"))
_NOT_OF_IT = {name: Unknown(text("the server has no {name} of it", name=name)) for name in METRICS}


def is_blank(figure: float) -> bool:
    """Whether a number stands for "not known"."""
    return any(blank <= figure <= blank + 3 for blank in _BLANKS) or figure >= _BLANKS[0]


def as_known(name: str, figures: Iterable[tuple[float, float]]) -> tuple[str, Iterable[tuple[float, float]]]:
    """A series by the name, and its figures in the unit, that `METRICS` have; a number that stands for "not known" stays it."""
    known, times = RENAMED.get(name, (name, 1.0))
    if times == 1.0:
        return known, figures
    return known, ((time, figure if is_blank(figure) else figure * times) for time, figure in figures)


def mebibytes(told: Mapping[str, float], name: str) -> Fact[int]:
    """Bytes of what is told in MiB."""
    fact = _figure(told, name, _MEMORY_AT_MOST)
    return Known(round(fact.value * MEBIBYTE), fact.source) if isinstance(fact, Known) else fact


def percent(told: Mapping[str, float], name: str) -> Fact[int]:
    return _whole(_figure(told, name, 100.0))


def ratio(told: Mapping[str, float], name: str) -> Fact[float]:
    """Percent of what is told as a part of one."""
    fact = _figure(told, name, 1.0)
    return Known(fact.value * 100.0, fact.source) if isinstance(fact, Known) else fact


def celsius(told: Mapping[str, float], name: str) -> Fact[int]:
    return _whole(_figure(told, name, _CELSIUS_AT_MOST))


def watts(told: Mapping[str, float], name: str) -> Fact[float]:
    return _figure(told, name, _WATTS_AT_MOST)


def megahertz(told: Mapping[str, float], name: str) -> Fact[int]:
    return _whole(_figure(told, name, _MEGAHERTZ_AT_MOST))


def total(used: Fact[int], free: Fact[int], reserved: Fact[int]) -> Fact[int]:
    """A GPU's memory: what is used, free and kept by the driver. Exporters before 2022 do not tell the last."""
    if isinstance(used, Known) and isinstance(free, Known):
        kept = reserved.value if isinstance(reserved, Known) else 0
        return Known(used.value + free.value + kept, f"{FB_USED} + {FB_FREE} + {FB_RESERVED}")
    return used if isinstance(used, Unknown) else free


def host_of(labels: Mapping[str, str]) -> str:
    """The machine that a GPU is in: as its exporter calls it, else where it was scraped, without the port."""
    told = labels.get("Hostname") or labels.get("hostname")
    return told or labels.get("instance", "").rpartition(":")[0] or labels.get("instance", "")


def workload_of(labels: Mapping[str, str]) -> str:
    """`namespace/pod` or `job 1234` that has the GPU; empty where nobody has it.

    Where a scrape keeps labels of its own, `pod` is the exporter's and the GPU's stands under `exported_pod`.
    """
    for prefix in ("exported_", ""):
        pod = labels.get(f"{prefix}pod", "")
        if pod and "exporter" not in pod:
            return f"{labels.get(f'{prefix}namespace', '')}/{pod}".removeprefix("/")
    job = labels.get("hpc_job", "")
    return f"job {job}" if job else ""


def _figure(told: Mapping[str, float], name: str, most: float) -> Fact[float]:
    figure = told.get(name)
    if figure is None:
        return _NOT_OF_IT[name]
    if is_blank(figure):
        return _BLANK
    return Known(figure, name) if 0.0 <= figure <= most else _CANNOT_BE


def _whole(fact: Fact[float]) -> Fact[int]:
    return Known(round(fact.value), fact.source) if isinstance(fact, Known) else fact
