"""`gpuassist monitor`: the window on its live page, or with `--headless` one JSON object a line for each sample."""

from __future__ import annotations

import argparse
from queue import SimpleQueue
from typing import TYPE_CHECKING

from gpuassist.cli.context import Context, UsageError
from gpuassist.model.fact import Fact, Known
from gpuassist.model.sample import GpuSample, ProcessSample, Sample
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH, Words
from gpuassist.monitor.sampler import Sampler
from gpuassist.monitor.sources import NvmlSource
from gpuassist.present.marks import Exit
from gpuassist.system.clock import iso_of

if TYPE_CHECKING:
    from gpuassist.model.codec import Json

NAME = "monitor"
HELP = text("watch the memory of the GPUs, in the window or as JSON lines")
SCHEMA = 1
HZ_AT_MOST = 100.0


def arguments(parser: argparse.ArgumentParser, words: Words) -> None:
    parser.add_argument("--headless", action="store_true", help=words(text("without a window: one JSON object a line")))
    parser.add_argument("--count", type=int, metavar="N", help=words(text("end after N samples (needs --headless)")))
    parser.add_argument("--hz", type=float, default=1.0, metavar="N", help=words(text("samples a second (1 unless given)")))


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Samples until it is told to end; 3 where the GPUs cannot be read at all."""
    if context.machine_file:
        raise UsageError(text("a recorded machine has no live memory: leave --machine out"))
    if not 0.0 < options.hz <= HZ_AT_MOST:
        raise UsageError(text("--hz must be above 0 and at most {most}", most=HZ_AT_MOST))
    if options.count is not None and options.count < 1:
        raise UsageError(text("--count must be at least 1"))
    if options.headless:
        # On a thread of its own, so that Ctrl-C is heard while a call of the driver does not return.
        words = context.session.words if options.lang else ENGLISH
        samples: SimpleQueue[Sample] = SimpleQueue()
        world = context.session.world
        sampler = Sampler(NvmlSource(world), world.clock, samples.put, hz=options.hz)
        sampler.start()
        try:
            printed = 0
            while options.count is None or printed < options.count:
                sample = samples.get()
                context.document(_document(sample, words), indent=None)
                printed += 1
                if printed == 1 and not sample.gpus:
                    # What comes after the first is when it would be tried again, which it is not here.
                    context.note(next(iter(sample.trouble), text("NVIDIA's driver answers, but it drives no GPU")))
                    return Exit.UNDETERMINED
            return Exit.HEALTHY
        finally:
            sampler.stop()
    if options.count is not None:
        raise UsageError(text("--count needs --headless"))
    try:
        return context.open_window("live")
    except UsageError as error:
        raise UsageError(text("{reason} Without a window: gpuassist monitor --headless", reason=error.reason)) from error


def _document(sample: Sample, words: Words) -> Json:
    document: dict[str, Json] = {"schema": SCHEMA, "time": iso_of(sample.time), "gpus": [_gpu(gpu, words) for gpu in sample.gpus]}
    if sample.trouble:
        document["trouble"] = [words(reason) for reason in sample.trouble]
    return document


def _gpu(gpu: GpuSample, words: Words) -> Json:
    facts: tuple[tuple[str, Fact[str] | Fact[int] | Fact[float]], ...] = (
        ("uuid", gpu.uuid),
        ("name", gpu.name),
        ("memory_total_bytes", gpu.memory_total_bytes),
        ("memory_used_bytes", gpu.memory_used_bytes),
        ("memory_free_bytes", gpu.memory_free_bytes),
        ("utilization_percent", gpu.utilization_percent),
        ("temperature_celsius", gpu.temperature_celsius),
        ("power_watts", gpu.power_watts),
    )
    document: dict[str, Json] = {"index": gpu.index}
    for name, fact in facts:
        document.update(_fact(name, fact, words))
    if isinstance(gpu.processes, Known):
        return {**document, "processes": [_process(process, words) for process in gpu.processes.value]}
    return {**document, "processes": None, "processes_reason": words(gpu.processes.reason)}


def _process(process: ProcessSample, words: Words) -> Json:
    return {
        "pid": process.pid,
        **_fact("user", process.user, words),
        **_fact("command", process.command, words),
        **_fact("memory_used_bytes", process.memory_used_bytes, words),
    }


def _fact(name: str, fact: Fact[str] | Fact[int] | Fact[float], words: Words) -> dict[str, Json]:
    if isinstance(fact, Known):
        return {name: fact.value}
    return {name: None, f"{name}_reason": words(fact.reason)}
