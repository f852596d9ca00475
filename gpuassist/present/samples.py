"""A sample in words: what the live page says of a GPU, a process and a stretch of time."""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePosixPath

from gpuassist.detect.gpu_holders import HeldCard
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.sample import GpuSample, Sample
from gpuassist.model.text import Text, counted, joined, text, verbatim
from gpuassist.present.overview import gibibytes, short_name
from gpuassist.session.watch import ProcessChange, ProcessEvent

_GIB = 1 << 30
_INTERPRETERS = ("python", "pypy", "bash", "sh", "node", "java")
WINDOWS_SECONDS = (60, 300, 900, 3600, 4 * 3600, 24 * 3600)


def gpu_title(gpu: GpuSample | HeldCard) -> Text:
    """`GPU 0 · RTX 4090`."""
    if isinstance(gpu.name, Known):
        return text("GPU {index} · {name}", index=gpu.index, name=short_name(gpu.name.value))
    return text("GPU {index}", index=gpu.index)


def gpu_figures(gpu: GpuSample, peak_bytes: int = 0) -> Text:
    """`13.1 of 24 GiB · peak 21.2 GiB · 97 % · 71 °C · 412 W`: what is known of it now; the peak is since the watch began."""
    parts = [_memory(gpu)] if isinstance(gpu.memory_used_bytes, Known) else []
    if peak_bytes:
        parts.append(text("peak {size}", size=size(peak_bytes)))
    if isinstance(gpu.utilization_percent, Known):
        parts.append(text("{percent} %", percent=gpu.utilization_percent.value))
    if isinstance(gpu.temperature_celsius, Known):
        parts.append(text("{degrees} °C", degrees=gpu.temperature_celsius.value))
    if isinstance(gpu.power_watts, Known):
        parts.append(text("{watts} W", watts=round(gpu.power_watts.value)))
    return joined(tuple(parts))


def gpu_trouble(gpu: GpuSample) -> Text | None:
    """Why nothing is drawn of it now: it is asleep, lost, or does not answer."""
    return gpu.memory_used_bytes.reason if isinstance(gpu.memory_used_bytes, Unknown) else None


def size(count: int) -> Text:
    """Bytes in a table: one decimal, so that its figures can be compared at a glance."""
    return text("{size} GiB", size=f"{count / _GIB:.1f}") if count >= _GIB else gibibytes(count)


def process_name(command: str, pid: int) -> Text:
    """What a process is known by: its script where an interpreter runs one, else its program."""
    parts = command.split()
    if not parts:
        return text("process {pid}", pid=pid)
    program = PurePosixPath(parts[0]).name
    if program.startswith(_INTERPRETERS):
        return verbatim(_script(parts[1:]) or program)
    return verbatim(program)


def subtitle(sample: Sample, since_epoch: float) -> Text:
    """`2 GPUs · 3 processes · history since 13:58`."""
    listed = [gpu.processes.value for gpu in sample.gpus if isinstance(gpu.processes, Known)]
    parts = [counted("{count} GPU", "{count} GPUs", len(sample.gpus))]
    if listed:
        parts.append(counted("{count} process", "{count} processes", sum(map(len, listed))))
    return joined((*parts, text("history since {time}", time=clock(since_epoch))))


def clock(epoch: float, *, seconds: bool = False) -> str:
    """The time of day, by this machine's zone."""
    return f"{datetime.fromtimestamp(epoch):%H:%M:%S}" if seconds else f"{datetime.fromtimestamp(epoch):%H:%M}"


def window_words(seconds: float) -> Text:
    if seconds < 3600:
        return text("{minutes} min", minutes=round(seconds / 60))
    return text("{hours} h", hours=round(seconds / 3600))


def change_words(change: ProcessChange) -> Text:
    """A process that came or went."""
    name = process_name(change.command, change.pid)
    return text("{name} starts", name=name) if change.came is ProcessEvent.STARTED else text("{name} ends", name=name)


def told(fact: Fact[str]) -> Text:
    """A fact's words, or that they are not known."""
    return verbatim(fact.value) if isinstance(fact, Known) else text("not known")


def _memory(gpu: GpuSample) -> Text:
    used = gpu.memory_used_bytes
    assert isinstance(used, Known)
    if not isinstance(gpu.memory_total_bytes, Known):
        return size(used.value)
    total = f"{gpu.memory_total_bytes.value / _GIB:.3g}"
    return text("{used} of {total} GiB", used=f"{used.value / _GIB:.1f}", total=total)


def _script(arguments: list[str]) -> str:
    # python -m package.module, python -u train.py, python -c …
    if len(arguments) > 1 and arguments[0] == "-m":
        return arguments[1]
    script = next((argument for argument in arguments if not argument.startswith("-")), "")
    return "" if "-c" in arguments else PurePosixPath(script).name
