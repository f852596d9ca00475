"""How the first two steps stand once a machine was read and judged, and what the window itself can repair."""

from __future__ import annotations

from gpuassist.model.fact import Unknown
from gpuassist.model.finding import Action, Answer, Diagnosis, Severity
from gpuassist.model.machine import Machine
from gpuassist.session.navigation import ReadingEnded, StepStatus

USE_CUDA = "use-cuda"  # the command key of the repair that the window itself can do
_WHO_HOLDS = frozenset(("gpu-holders", "gpu-processes", "process-end"))  # those of what its page of holders shows and does


def reading_ended(machine: Machine, diagnosis: Diagnosis, answers: tuple[Answer, ...]) -> ReadingEnded:
    """The event that tells the flow of it."""
    return ReadingEnded(machine_state(machine), found_state(diagnosis, answers), repairable_version(answers))


def machine_state(machine: Machine) -> StepStatus:
    """Whether the machine could be read: a list of GPUs that is unknown leaves everything after it open."""
    return StepStatus.UNKNOWN if isinstance(machine.gpus, Unknown) else StepStatus.RIGHT


def found_state(diagnosis: Diagnosis, answers: tuple[Answer, ...]) -> StepStatus:
    """The worst of what was found; unknown where nothing was found but a problem could hide."""
    severities = {answer.severity for answer in answers}
    if Severity.PROBLEM in severities:
        return StepStatus.PROBLEM
    if Severity.WARNING in severities:
        return StepStatus.WARNING
    return StepStatus.UNKNOWN if diagnosis.undetermined else StepStatus.RIGHT


def repairable_version(answers: tuple[Answer, ...]) -> str:
    """The CUDA version of the first finding that switching toolkits mends; empty where none does."""
    return next((version for answer in answers for version in [switch_version(answer)] if version), "")


def switch_version(answer: Answer) -> str:
    """The installed CUDA version that this finding says new shells should use; empty where it is mended otherwise."""
    for remedy in answer.remedies:
        for command in remedy.commands:
            if remedy.action is Action.EDIT and command.key == USE_CUDA:
                return str(dict(command.parameters).get("version", ""))
    return ""


def holder_wish(answer: Answer) -> str | None:
    """The process that holds a GPU according to this finding, empty where it names none; None where it is not about that."""
    commands = [command for remedy in answer.remedies for command in remedy.commands if command.key in _WHO_HOLDS]
    if not commands:
        return None
    return next((pid for command in commands for pid in [str(dict(command.parameters).get("pid", ""))] if pid.isdigit()), "")


def begins_with_holders(answer: Answer) -> bool:
    """Whether the first thing to do is to see who holds a GPU."""
    return any(command.key in _WHO_HOLDS for remedy in answer.remedies[:1] for command in remedy.commands)
