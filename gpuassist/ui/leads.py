"""Where what was read leads in the window: how the first two steps stand, and which page does what a finding asks for."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.model.fact import Unknown, value_or
from gpuassist.model.finding import Action, Answer, Diagnosis, Severity
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import GoalKind
from gpuassist.model.text import Text, text
from gpuassist.model.version import whole_number
from gpuassist.session.navigation import Destination, ReadingEnded, StepStatus, ToHolders, ToInstall, ToRepair
from gpuassist.session.plan import ANY, PARTS, InstallWish, toolkit_to_use

_WHO_HOLDS = frozenset(("gpu-holders", "gpu-processes", "process-end"))  # those of what the page of holders shows and does


def reading_ended(machine: Machine, diagnosis: Diagnosis, answers: tuple[Answer, ...]) -> ReadingEnded:
    """The event that tells the flow of it. A list of GPUs that is unknown leaves everything after it open."""
    read = StepStatus.UNKNOWN if isinstance(machine.gpus, Unknown) else StepStatus.RIGHT
    return ReadingEnded(read, found_state(diagnosis, answers), repairable_version(answers))


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
            if remedy.action is Action.EDIT and command.key == "use-cuda":
                return str(dict(command.parameters).get("version", ""))
        if len(remedy.steps) == 1:
            return toolkit_to_use(remedy.steps[0])
    return ""


def holders_for(answer: Answer) -> ToHolders | None:
    """The page of holders, with the process that this finding names; none where it is not about that."""
    commands = [command for remedy in answer.remedies for command in remedy.commands if command.key in _WHO_HOLDS]
    if not commands:
        return None
    pids = (whole_number(str(dict(command.parameters).get("pid", ""))) for command in commands)
    return ToHolders(next((pid for pid in pids if pid is not None), None))


def install_for(answer: Answer) -> ToInstall | None:
    """The install that mends a finding; none where none does."""
    goal = next((remedy.goal for remedy in answer.remedies if remedy.steps), "")  # those after it are other ways to the same end
    kind, _, version = goal.partition("==")
    part = PARTS.get(GoalKind(kind)) if kind else None  # what holds packages is no part that is chosen there
    return ToInstall(replace(InstallWish(), **{part: version or ANY})) if part is not None else None


def begins_with_holders(answer: Answer) -> bool:
    """Whether the first thing to do is to see who holds a GPU."""
    return any(command.key in _WHO_HOLDS for remedy in answer.remedies[:1] for command in remedy.commands)


class WayOn(Struct, frozen=True):
    """A button's words, and where it leads."""

    title: Text
    destination: Destination


def mends(answers: tuple[Answer, ...], machine: Machine) -> WayOn | None:
    """The page of this window that does what the first of the answers asks for; none where that is typed, or done by hand."""
    version = repairable_version(answers)
    if version and _is_installed(version, machine):
        return WayOn(text("Switch to CUDA {version}…", version=version), ToRepair(version))
    if begins_with_holders(answers[0]):
        return WayOn(text("Show GPU processes"), holders_for(answers[0]) or ToHolders())
    install = install_for(answers[0])
    return WayOn(text("Plan the install…"), install) if install is not None else None


def _is_installed(version: str, machine: Machine) -> bool:
    wanted = tuple(version.split("."))
    installed = (value_or(toolkit.version, None) for toolkit in value_or(machine.toolkits, ()))
    return any(tuple(str(one).split("."))[: len(wanted)] == wanted for one in installed if one is not None)
