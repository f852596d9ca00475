"""What was found, in one sentence and one line of figures: the title of the second page."""

from __future__ import annotations

from gpuassist.model.fact import Known, value_or
from gpuassist.model.finding import Answer, Diagnosis, Severity
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, counted, text
from gpuassist.present.overview import short_name

_SHOWN_FROM_SECONDS = 0.05  # less would be shown as 0.0


def found_title(machine: Machine, diagnosis: Diagnosis, answers: tuple[Answer, ...]) -> Text:
    """The answer in a sentence."""
    problems, warnings = (_count(answers, severity) for severity in (Severity.PROBLEM, Severity.WARNING))
    if problems:
        names = gpu_names(machine)
        if len(names) == 1:
            return counted(
                "One thing stands between you and your {gpu}",
                "{count} things stand between you and your {gpu}",
                problems,
                gpu=names[0],
            )
        if names:
            return counted("One thing stands between you and your GPUs", "{count} things stand between you and your GPUs", problems)
        return counted("One problem was found", "{count} problems were found", problems)
    if warnings:
        return counted(
            "Nothing stands in the way; one thing may cause trouble later",
            "Nothing stands in the way; {count} things may cause trouble later",
            warnings,
        )
    if isinstance(machine.gpus, Known) and not machine.gpus.value:
        return text("There is no NVIDIA GPU in this machine")
    if diagnosis.undetermined:
        return text("No problem found, but not everything could be checked")
    names = gpu_names(machine)
    if len(names) == 1:
        return text("Your {gpu} is ready", gpu=names[0])
    return text("Your GPUs are ready")


def gpu_names(machine: Machine) -> tuple[str, ...]:
    """Short names of the GPUs; that of one without a name is empty."""
    return tuple(short_name(value_or(gpu.name, "")) or "GPU" for gpu in value_or(machine.gpus, ()))


def found_figures(diagnosis: Diagnosis, answers: tuple[Answer, ...], seconds: float) -> tuple[Text, ...]:
    """How many of what; the checks are those that found nothing, something, or could not tell."""
    problems, warnings, notes = (_count(answers, severity) for severity in Severity)
    checks = len(diagnosis.passed) + len(diagnosis.findings) + len(diagnosis.undetermined)
    parts = [
        counted("1 problem", "{count} problems", problems) if problems else None,
        counted("1 warning", "{count} warnings", warnings) if warnings else None,
        counted("1 note", "{count} notes", notes) if notes else None,
        _checks(checks, seconds),
    ]
    return tuple(part for part in parts if part is not None)


def _checks(count: int, seconds: float) -> Text:
    if seconds < _SHOWN_FROM_SECONDS:
        return counted("1 check", "{count} checks", count)
    return counted("1 check in {seconds} s", "{count} checks in {seconds} s", count, seconds=f"{seconds:.1f}")


def machine_figures(seconds: float, *, recorded: bool, title: str, host: str = "") -> Text:
    """How the machine was read."""
    if host:
        return text("Read over SSH from {host} (no root needed, nothing changed there)", host=host)
    if recorded:
        return text("Recorded machine: {title}", title=title) if title else text("A recorded machine")
    return text("Read in {seconds} s (no root needed, sleeping GPUs untouched)", seconds=f"{seconds:.1f}")


def _count(answers: tuple[Answer, ...], severity: Severity) -> int:
    return sum(answer.severity is severity for answer in answers)
