"""A GPU in one line: each of its figures by itself, for a face that lays them out in columns."""

from __future__ import annotations

from collections.abc import Mapping

from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.sample import GpuSample, Sample
from gpuassist.model.text import Text, joined, text, verbatim
from gpuassist.present.samples import clock, gpu_names, gpu_trouble, memory_figures, silence_words, size
from gpuassist.session.watch import Silence

# nvml.h, nvmlClocksEventReasons, without the prefix of its names: what people call it.
_HELD_BACK_BY: Mapping[str, Text] = {
    "swpowercap": text("power limit"),
    "powerlimit": text("power limit"),
    "hwslowdown": text("slowed by its hardware"),
    "hardwareslowdown": text("slowed by its hardware"),
    "syncboost": text("sync boost"),
    "swthermalslowdown": text("heat"),
    "heat": text("heat"),
    "hwthermalslowdown": text("heat, by its hardware"),
    "heatbythehardware": text("heat, by its hardware"),
    "hwpowerbrakeslowdown": text("power brake"),
    "hwpowerbrake": text("power brake"),
    "powerbrake": text("power brake"),
}
_PREFIXES = ("nvmlclocksthrottlereason", "nvmlclockseventreason")


def gpu_name(gpu: GpuSample) -> Text:
    """`RTX 4090`, of another machine's with where it is, unless its label tells, and who has it; empty where nothing is known."""
    return joined(gpu_names(gpu)[1 if gpu.number and isinstance(gpu.host, Known) else 0 :])


def gpu_cells(gpu: GpuSample, peak_bytes: int = 0) -> dict[str, Text]:
    """What is known of it by kind: `name`, `memory`, `use`, `temperature`, `power`, `held`, `peak`; `trouble` is why it has no
    figure of its memory.
    """
    cells = {"name": gpu_name(gpu)}
    trouble = gpu_trouble(gpu)
    if trouble is not None:
        cells["trouble"] = text("asleep") if gpu.asleep else trouble
    else:
        cells["memory"] = memory_figures(gpu)
    if isinstance(gpu.utilization_percent, Known):
        cells["use"] = text("{percent} %", percent=gpu.utilization_percent.value)
    if isinstance(gpu.temperature_celsius, Known):
        cells["temperature"] = text("{degrees} °C", degrees=gpu.temperature_celsius.value)
    if isinstance(gpu.power_watts, Known):
        cells["power"] = text("{watts} W", watts=round(gpu.power_watts.value))
    held = value_or(gpu.throttle_reasons, ())
    if held:
        cells["held"] = joined(tuple(map(held_back_by, held)))
    if peak_bytes:
        cells["peak"] = text("peak {size}", size=size(peak_bytes))
    return cells


def held_back_by(reason: str) -> Text:
    """What holds a GPU's clocks back, by nvml.h's name of it."""
    key = "".join(filter(str.isalnum, reason.lower()))
    for prefix in _PREFIXES:
        key = key.removeprefix(prefix)
    return _HELD_BACK_BY.get(key, verbatim(reason))


def share_used(gpu: GpuSample) -> float | None:
    """Which share of its memory is in use; none where either is not known."""
    used, total = gpu.memory_used_bytes, gpu.memory_total_bytes
    if isinstance(used, Unknown) or isinstance(total, Unknown) or total.value <= 0:
        return None
    return min(1.0, used.value / total.value)


def no_answer(seconds: float, last: Sample | None, server: str = "") -> Text:
    """That the driver, or a server, is silent, for how long, and of when the figures are that are shown."""
    if server:
        return silence_words(Silence(seconds, last.time if last is not None else 0.0, server))
    if last is None:
        return text("no answer from the driver for {seconds} s", seconds=round(seconds))
    time = clock(last.time, seconds=True)
    return text("no answer from the driver for {seconds} s (last {time})", seconds=round(seconds), time=time)
