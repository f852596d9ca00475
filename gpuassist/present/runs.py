"""What came of a run, in a line."""

from __future__ import annotations

from gpuassist.model.text import Text, counted, text
from gpuassist.present.samples import size
from gpuassist.session.run import RunEnding, RunReport
from gpuassist.session.run_tally import GpuShare

_GIB = 1 << 30
_KILOWATT_HOUR, _WATT_HOUR = 3_600_000.0, 3_600.0
_SEPARATOR = ", "


def run_words(report: RunReport) -> Text:
    """`6 h 12 min, peak 21.3 of 24 GiB, 3 retries, 1.9 kWh`, behind what happened unless it just finished."""
    parts = [duration(report.seconds)]
    greatest = max(report.gpus, key=_fullness, default=None)
    if greatest is not None:
        parts.append(_peak(greatest, several=len(report.gpus) > 1))
    if report.torch.ooms:
        parts.append(counted("{count} out-of-memory error", "{count} out-of-memory errors", report.torch.ooms))
    if report.torch.retries:
        parts.append(counted("{count} retry", "{count} retries", report.torch.retries))
    if report.joules is not None:
        parts.append(energy(report.joules))
    happened = _happened(report)
    return _listed(parts) if happened is None else text("{happened}: {figures}", happened=happened, figures=_listed(parts))


def duration(seconds: float) -> Text:
    """In its two largest units."""
    whole = int(seconds)
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if whole < 60:
        return text("{seconds} s", seconds=whole)
    if hours < 1:
        return text("{minutes} min {seconds} s", minutes=minutes, seconds=whole % 60)
    if days < 1:
        return text("{hours} h {minutes} min", hours=hours, minutes=minutes % 60)
    return text("{days} d {hours} h", days=days, hours=hours % 24)


def energy(joules: float) -> Text:
    if joules >= 0.1 * _KILOWATT_HOUR:
        return text("{energy} kWh", energy=f"{joules / _KILOWATT_HOUR:.1f}")
    return text("{energy} Wh", energy=f"{joules / _WATT_HOUR:.1f}")


def _happened(report: RunReport) -> Text | None:
    if report.outcome is RunEnding.IDLE:
        return text("the GPUs stand idle")
    if report.outcome is RunEnding.OUT_OF_MEMORY:
        return text("out of memory")
    if report.outcome is RunEnding.FAILED and report.end is not None:
        if report.end.signal:
            return text("ended by signal {number}", number=report.end.signal)
        return text("failed with status {status}", status=report.end.status)
    return None


def _fullness(gpu: GpuShare) -> float:
    return gpu.peak_bytes / gpu.total_bytes if gpu.total_bytes else float(gpu.peak_bytes) / (1 << 60)


def _peak(gpu: GpuShare, *, several: bool) -> Text:
    if gpu.total_bytes is None:
        peak = text("peak {size}", size=size(gpu.peak_bytes))
    else:
        used = gpu.peak_bytes / _GIB
        figures = {"used": f"{used:.1f}" if used >= 1 else f"{used:.2f}", "total": f"{gpu.total_bytes / _GIB:.3g}"}
        peak = text("peak {used} of {total} GiB", **figures)
    return text("{peak} on GPU {index}", peak=peak, index=gpu.index) if several and gpu.index is not None else peak


def _listed(parts: list[Text]) -> Text:
    message = _SEPARATOR.join(f"{{part{place}}}" for place in range(len(parts)))
    return Text(message, tuple((f"part{place}", part) for place, part in enumerate(parts)))
