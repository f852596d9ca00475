"""A sample as JSON: what `monitor --headless` prints. New keys come, none goes (docs/json.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.model.fact import Fact, Known, value_or
from gpuassist.model.sample import Event, GpuSample, ProcessSample, Sample
from gpuassist.model.words import Words
from gpuassist.system.clock import iso_of

if TYPE_CHECKING:
    from gpuassist.model.codec import Json

SCHEMA = 1
_BASE = (
    *("uuid", "name", "memory_total_bytes", "memory_used_bytes", "memory_free_bytes", "utilization_percent"),
    *("temperature_celsius", "power_watts"),
)
_MORE = (
    *("power_limit_watts", "slowdown_celsius", "thermal_margin_celsius", "memory_celsius", "sm_clock_mhz", "memory_clock_mhz"),
    *("pcie_received_bytes_per_second", "pcie_sent_bytes_per_second", "fan_percent", "throttle_reasons"),
    *("sm_activity_percent", "tensor_activity_percent"),
)


def sample_document(sample: Sample, words: Words) -> dict[str, Json]:
    """All GPUs at one moment; what happened since the one before is in documents of its own."""
    document: dict[str, Json] = {"schema": SCHEMA, "time": iso_of(sample.time), "gpus": [_gpu(gpu, words) for gpu in sample.gpus]}
    if sample.trouble:
        document["trouble"] = [words(reason) for reason in sample.trouble]
    return document


def event_document(event: Event, sample: Sample, words: Words) -> dict[str, Json]:
    """`{"event": …}`, with the time of day at which it was seen by the clock of its sample."""
    told: dict[str, Json] = {"kind": event.kind.value, "text": words(event.text)}
    told.update(
        {name: value for name, value in (("gpu", event.gpu), ("pid", event.pid), ("code", event.code or None)) if value is not None}
    )
    return {"schema": SCHEMA, "time": iso_of(sample.time - (sample.monotonic - event.monotonic)), "event": told}


def _gpu(gpu: GpuSample, words: Words) -> Json:
    document: dict[str, Json] = {"index": gpu.index}
    for name in _BASE:
        document.update(_fact(name, getattr(gpu, name), words))
    if isinstance(gpu.processes, Known):
        document["processes"] = [_process(process, words) for process in gpu.processes.value]
    else:
        document.update({"processes": None, "processes_reason": words(gpu.processes.reason)})
    for name in _MORE:
        document.update(_fact(name, getattr(gpu, name), words))
    document.update({name: value for name in ("host", "workload") if (value := value_or(getattr(gpu, name), None)) is not None})
    if gpu.number:
        document["number"] = gpu.number
    if gpu.parent is not None:
        document["parent"] = gpu.parent
    marks = {"asleep": gpu.asleep, "shares_memory": gpu.shares_memory}
    document.update({name: True for name, holds in marks.items() if holds})
    if gpu.silent_seconds:
        document["silent_seconds"] = round(gpu.silent_seconds, 1)
    return document


def _process(process: ProcessSample, words: Words) -> Json:
    document: dict[str, Json] = {"pid": process.pid}
    for name in ("user", "command", "memory_used_bytes", "container", "gpu_percent", "cpu_percent", "resident_bytes"):
        document.update(_fact(name, getattr(process, name), words))
    if isinstance(process.kind, Known):
        document["kind"] = process.kind.value.value
    document.update(
        {"started": iso_of(process.started.value)}
        if isinstance(process.started, Known)
        else _fact("started", process.started, words)
    )
    if isinstance(process.notebook, Known):  # only of its kernels: of anything else there is none to be known
        document["notebook"] = process.notebook.value
    document.update(_fact("idle_seconds", process.idle_seconds, words))
    if isinstance(process.torch, Known):
        torch = process.torch.value
        document["torch"] = {name: getattr(torch, name) for name in torch.__struct_fields__}
    else:
        document.update({"torch": None, "torch_reason": words(process.torch.reason)})
    return document


def _fact(name: str, fact: Fact[object], words: Words) -> dict[str, Json]:
    if isinstance(fact, Known):
        value = fact.value
        return {name: list(value) if isinstance(value, tuple) else round(value, 3) if isinstance(value, float) else value}  # type: ignore[dict-item]
    return {name: None, f"{name}_reason": words(fact.reason)}
