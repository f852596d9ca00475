"""A sample in words: what the live page says of a GPU, a process and a stretch of time."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from gpuassist.detect.gpu_holders import HeldCard
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.sample import EventKind, GpuSample, Sample
from gpuassist.model.text import Text, counted, joined, text, verbatim
from gpuassist.monitor.device import gpu_label as gpu_label
from gpuassist.present.marks import Mark
from gpuassist.present.overview import gibibytes, short_name
from gpuassist.session.watch import Silence
from gpuassist.system.process_names import script_name

if TYPE_CHECKING:  # with SQLite, which costs a start 5 ms
    from gpuassist.session.opened_recording import OpenedRecording

_GIB = 1 << 30
_PROCESSES_TOLD = 3
NO_GPU = text("NVIDIA's driver answers, but it drives no GPU")
TROUBLE_KINDS = frozenset({EventKind.OUT_OF_MEMORY, EventKind.XID, EventKind.LOST, EventKind.SILENT})
"""What is bad where it happens."""

WINDOWS_SECONDS = (30, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 24 * 3600)
RATES_HZ = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def gpu_title(gpu: GpuSample | HeldCard) -> Text:
    """`GPU 0 · RTX 4090`, of another machine's `GPU 0 on node7 · H100 · ml/train-0`, by that machine's own number."""
    label = (isinstance(gpu, GpuSample) and gpu.number) or gpu_label(gpu.index)
    if isinstance(gpu, GpuSample) and isinstance(gpu.host, Known):
        return joined((text("GPU {index} on {host}", index=label, host=gpu.host.value), *gpu_names(gpu)[1:]))
    if isinstance(gpu.name, Known):
        return text("GPU {index} · {name}", index=label, name=short_name(gpu.name.value))
    return text("GPU {index}", index=label)


def row_label(gpu: GpuSample) -> str:
    """At the beginning of a line of its own: `0`, of several machines `node3 1`."""
    if not gpu.number:
        return gpu_label(gpu.index)
    return f"{gpu.host.value} {gpu.number}" if isinstance(gpu.host, Known) else gpu.number


def gpu_names(gpu: GpuSample) -> tuple[Text, ...]:
    """The machine that it is in where a server tells that, its model, and the pod or job that has it; what is known of these."""
    model = (verbatim(short_name(gpu.name.value)),) if isinstance(gpu.name, Known) else ()
    host, workload = (() if not isinstance(one, Known) else (verbatim(one.value),) for one in (gpu.host, gpu.workload))
    return (*host, *model, *workload)


def gpu_figures(gpu: GpuSample, peak_bytes: int = 0) -> Text:
    """`13.1 of 24 GiB · peak 21.2 GiB · 97 % · 71 °C · 412 W`: what is known of it now; the peak is since the watch began."""
    parts = [memory_figures(gpu)] if isinstance(gpu.memory_used_bytes, Known) else []
    if peak_bytes:
        parts.append(text("peak {size}", size=size(peak_bytes)))
    if isinstance(gpu.utilization_percent, Known):
        parts.append(text("{percent} %", percent=gpu.utilization_percent.value))
    if isinstance(gpu.temperature_celsius, Known):
        parts.append(text("{degrees} °C", degrees=gpu.temperature_celsius.value))
    if isinstance(gpu.power_watts, Known):
        parts.append(text("{watts} W", watts=round(gpu.power_watts.value)))
    return joined(tuple(parts))


def lane_figures(gpu: GpuSample, peak_bytes: int = 0) -> tuple[Text, ...]:
    """What is known of it now, each by itself and the most important first: where there is little room the last are left out."""
    parts = [memory_figures(gpu)] if isinstance(gpu.memory_used_bytes, Known) else []
    if isinstance(gpu.utilization_percent, Known):
        parts.append(text("{percent} %", percent=gpu.utilization_percent.value))
    if isinstance(gpu.temperature_celsius, Known):
        parts.append(text("{degrees} °C", degrees=gpu.temperature_celsius.value))
    if isinstance(gpu.power_watts, Known):
        parts.append(text("{watts} W", watts=round(gpu.power_watts.value)))
    if peak_bytes:
        parts.append(text("peak {size}", size=size(peak_bytes)))
    if isinstance(gpu.memory_celsius, Known):
        parts.append(text("memory {degrees} °C", degrees=gpu.memory_celsius.value))
    if isinstance(gpu.thermal_margin_celsius, Known):
        parts.append(text("{degrees} °C below its limit", degrees=gpu.thermal_margin_celsius.value))
    return tuple(parts)


def lane_summary(gpu: GpuSample, peak_bytes: int = 0) -> Text:
    """What the plot of a GPU shows now, for whoever does not see it: its figures, and the processes that use most of its memory."""
    listed = gpu.processes.value if isinstance(gpu.processes, Known) else ()
    known = [(one.memory_used_bytes.value, one) for one in listed if isinstance(one.memory_used_bytes, Known)]
    most = sorted(known, key=lambda pair: (-pair[0], pair[1].pid))[:_PROCESSES_TOLD]
    users = [
        text("{name} {size}", name=process_name(value_or(one.command, ""), one.pid), size=size(used)) for used, one in most if used
    ]
    return joined((*lane_figures(gpu, peak_bytes), *users))


def lane_trouble(gpu: GpuSample, now: float) -> tuple[Mark, Text] | None:
    """Why a lane stands still or is empty, in few words, and how bad that is; `gpu_trouble` says it whole."""
    if gpu.asleep:
        return Mark.INFO, text("asleep")
    if gpu.silent_seconds:
        last = clock(now - gpu.silent_seconds, seconds=True)
        return Mark.WARNING, text("no answer for {seconds} s (last {time})", seconds=round(gpu.silent_seconds), time=last)
    reason = gpu_trouble(gpu)
    return (Mark.WARNING, reason) if reason is not None else None


def silence_words(silence: Silence) -> Text:
    """That the driver, or a server, does not answer, for how long, and of when the figures are that are shown."""
    if silence.server:
        return _silent_server(silence)
    if not silence.last:
        return text("No answer from the driver for {seconds} s", seconds=round(silence.seconds))
    last = clock(silence.last, seconds=True)
    return text("No answer from the driver for {seconds} s (last {time})", seconds=round(silence.seconds), time=last)


def _silent_server(silence: Silence) -> Text:
    server, seconds = silence.server, round(silence.seconds)
    if not silence.last:
        return text("No figures from {server} for {seconds} s", server=server, seconds=seconds)
    last = clock(silence.last, seconds=True)
    return text("No figures from {server} for {seconds} s (last {time})", server=server, seconds=seconds, time=last)


def range_words(low: float, high: float) -> Text:
    """What was in use in a stretch of time: one figure where all of it reads the same."""
    least, most = f"{low / _GIB:.1f}", f"{high / _GIB:.1f}"
    if least == most or high < _GIB:
        return size(int(high))
    return text("{least}–{most} GiB", least=least, most=most)


def memory_figures(gpu: GpuSample) -> Text:
    """`13.1 of 24 GiB`, of a GPU whose used memory is known."""
    used = gpu.memory_used_bytes
    assert isinstance(used, Known)
    if not isinstance(gpu.memory_total_bytes, Known):
        return size(used.value)
    total = f"{gpu.memory_total_bytes.value / _GIB:.3g}"
    return text("{used} of {total} GiB", used=f"{used.value / _GIB:.1f}", total=total)


def gpu_trouble(gpu: GpuSample) -> Text | None:
    """Why nothing is drawn of it now: it is asleep, lost, or does not answer."""
    return gpu.memory_used_bytes.reason if isinstance(gpu.memory_used_bytes, Unknown) else None


def size(count: int) -> Text:
    """Bytes in a table: one decimal, so that its figures can be compared at a glance."""
    return text("{size} GiB", size=f"{count / _GIB:.1f}") if count >= _GIB else gibibytes(count)


def process_name(command: str, pid: int) -> Text:
    """What a process is known by: its script where an interpreter runs one, else its program."""
    name = script_name(command)
    return verbatim(name) if name else text("process {pid}", pid=pid)


def subtitle(sample: Sample, since_epoch: float | None) -> Text:
    """`2 GPUs · 3 processes · history since 13:58`; without the last where there is no history."""
    listed = [gpu.processes.value for gpu in sample.gpus if isinstance(gpu.processes, Known)]
    parts = [counted("{count} GPU", "{count} GPUs", sum(gpu.parent is None for gpu in sample.gpus))]
    if listed:
        # One may be on several GPUs, and is on a MIG instance as well as on its GPU.
        parts.append(counted("{count} process", "{count} processes", len({one.pid for some in listed for one in some})))
    if since_epoch is not None:
        parts.append(text("history since {time}", time=clock(since_epoch)))
    return joined(tuple(parts))


def recording_titles(opened: OpenedRecording) -> tuple[Text, Text]:
    """`Recording night.db`, and below it which run, from when to when."""
    history, run = opened.watch.history, opened.run
    since, until = (datetime.fromtimestamp(history.epoch_of_zero + one) for one in (history.since, history.until))
    ends = f"{until:%H:%M:%S}" if until.date() == since.date() else f"{until:%Y-%m-%d %H:%M:%S}"
    parts = [text("{since} to {until}", since=f"{since:%Y-%m-%d %H:%M:%S}", until=ends)]
    if len(opened.runs) > 1:
        parts.append(text("run {number} of {count}", number=run.number, count=len(opened.runs)))
    if run.ended is None:
        parts.append(text("still being recorded, or cut short"))
    return text("Recording {name}", name=opened.path.rpartition("/")[2]), joined(tuple(parts))


def clock(epoch: float, *, seconds: bool = False) -> str:
    """The time of day, by this machine's zone."""
    return f"{datetime.fromtimestamp(epoch):%H:%M:%S}" if seconds else f"{datetime.fromtimestamp(epoch):%H:%M}"


def rate_words(hz: float) -> Text:
    """How often is sampled."""
    if hz < 1:
        return text("every {seconds} s", seconds=round(1 / hz))
    return text("{rate} Hz", rate=f"{hz:g}")


def window_words(seconds: float) -> Text:
    if seconds < 60:
        return text("{seconds} s", seconds=round(seconds))
    if seconds < 3600:
        return text("{minutes} min", minutes=round(seconds / 60))
    return text("{hours} h", hours=f"{seconds / 3600:.3g}")


def told(fact: Fact[str]) -> Text:
    """A fact's words, or that they are not known."""
    return verbatim(fact.value) if isinstance(fact, Known) else text("not known")
