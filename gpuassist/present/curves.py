"""What is drawn below the memory of a GPU where it is asked for: which figures belong together, and what they are called."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from msgspec import Struct

from gpuassist.model.fact import Fact, value_or
from gpuassist.model.sample import GpuSample
from gpuassist.model.text import Text, text
from gpuassist.monitor.history import Series
from gpuassist.monitor.sources import Detail

_MIB = 1 << 20


class CurveKind(str, Enum):
    """Figures that share a scale."""

    USE = "use"
    POWER = "power"
    TEMPERATURE = "temperature"
    CLOCKS = "clocks"
    PCIE = "pcie"
    FAN = "fan"


class Curves(Struct, frozen=True):
    """Figures on one scale: what they are together, which they are, and with which detail the driver has to be asked for them.

    `top` is the least that the scale goes up to, and `limit` what is worth a line across.
    """

    title: Text
    series: tuple[Series, ...]
    top: float
    detail: Detail | None = None
    limit: Callable[[GpuSample], Fact[float] | Fact[int]] | None = None


CURVES: dict[CurveKind, Curves] = {
    CurveKind.USE: Curves(
        text("GPU use"), (Series.UTILIZATION, Series.SM_ACTIVITY, Series.TENSOR_ACTIVITY), 100.0, Detail.ACTIVITY
    ),
    CurveKind.POWER: Curves(text("Power"), (Series.POWER,), 1.0, limit=lambda gpu: gpu.power_limit_watts),
    CurveKind.TEMPERATURE: Curves(
        text("Temperature"),
        (Series.TEMPERATURE, Series.MEMORY_TEMPERATURE),
        100.0,
        Detail.CURVES,
        limit=lambda gpu: gpu.slowdown_celsius,
    ),
    CurveKind.CLOCKS: Curves(text("Clocks"), (Series.SM_CLOCK, Series.MEMORY_CLOCK), 1.0, Detail.CURVES),
    CurveKind.PCIE: Curves(text("PCIe"), (Series.PCIE_RECEIVED, Series.PCIE_SENT), float(_MIB), Detail.CURVES),
    CurveKind.FAN: Curves(text("Fan"), (Series.FAN,), 100.0, Detail.CURVES),
}

_SHORT: dict[Series, Text] = {
    Series.UTILIZATION: text("use"),
    Series.SM_ACTIVITY: text("SM"),
    Series.TENSOR_ACTIVITY: text("tensor"),
    Series.POWER: text("power"),
    Series.TEMPERATURE: text("GPU"),
    Series.MEMORY_TEMPERATURE: text("memory"),
    Series.SM_CLOCK: text("SM"),
    Series.MEMORY_CLOCK: text("memory"),
    Series.PCIE_RECEIVED: text("received"),
    Series.PCIE_SENT: text("sent"),
    Series.FAN: text("fan"),
}


_WHOLE: dict[Series, Text] = {
    Series.UTILIZATION: text("GPU use"),
    Series.SM_ACTIVITY: text("SM activity"),
    Series.TENSOR_ACTIVITY: text("tensor activity"),
    Series.TEMPERATURE: text("temperature"),
    Series.MEMORY_TEMPERATURE: text("memory temperature"),
    Series.SM_CLOCK: text("SM clock"),
    Series.MEMORY_CLOCK: text("memory clock"),
    Series.PCIE_RECEIVED: text("PCIe, received"),
    Series.PCIE_SENT: text("PCIe, sent"),
    Series.TORCH_ALLOCATED: text("torch, allocated"),
    Series.TORCH_RESERVED: text("torch, reserved"),
}


def series_name(series: Series, *, alone: bool = False) -> Text:
    """What a figure is called beside others of its scale, or alone."""
    return _WHOLE.get(series, _SHORT.get(series, text("memory"))) if alone else _SHORT[series]


def series_value(series: Series, value: float) -> Text:
    """`412 W`, `71 °C`, `1,410 MHz`, `1.2 GiB/s`."""
    if series is Series.POWER:
        return text("{watts} W", watts=round(value))
    if series in {Series.TEMPERATURE, Series.MEMORY_TEMPERATURE}:
        return text("{degrees} °C", degrees=round(value))
    if series in {Series.SM_CLOCK, Series.MEMORY_CLOCK}:
        return text("{frequency} MHz", frequency=round(value))
    if series in {Series.PCIE_RECEIVED, Series.PCIE_SENT}:
        mebibytes = value / _MIB
        if mebibytes >= 1024:
            return text("{size} GiB/s", size=f"{mebibytes / 1024:.1f}")
        return text("{size} MiB/s", size=round(mebibytes))
    return text("{percent} %", percent=round(value))


def limit_of(kind: CurveKind, gpu: GpuSample) -> float:
    """What is worth a line across the scale; 0 where there is none, or it is not known."""
    limit = CURVES[kind].limit
    return 0.0 if limit is None else float(value_or(limit(gpu), 0))
