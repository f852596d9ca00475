"""Where what was read leads in the window: how the first two steps stand, and which page does what a finding asks for."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.model.fact import Unknown, value_or
from gpuassist.model.finding import Action, Answer, Diagnosis, Severity
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import GoalKind
from gpuassist.model.text import Text, text
from gpuassist.model.version import whole_number
from gpuassist.present.commands import command_lines, why_not_copied
from gpuassist.session.navigation import (
    SHOW_HOW,
    TITLES,
    Destination,
    ReadingEnded,
    RepairPart,
    StepStatus,
    ToFinding,
    ToGuide,
    ToHolders,
    ToInstall,
    ToRepair,
    ToRepairPart,
    ToWaitingInstall,
    WayOn,
)
from gpuassist.session.own_commands import places_in
from gpuassist.session.plan import ANY, PARTS, InstallWish, toolkit_to_use

_PLANS: dict[tuple[str, ...], Text] = {
    ("driver",): text("Plan the driver…"),
    ("toolkit",): text("Plan the CUDA toolkit…"),
    ("torch",): text("Plan torch…"),
}
_REPAIRS = {
    RepairPart.TOOLKIT: text("Choose a CUDA toolkit…"),
    RepairPart.CLEAN: text("Clean up the search paths…"),
    RepairPart.DEVICES: text("Choose the GPUs…"),
    RepairPart.LINES: text("See the lines of the start-up files"),
}
_CLEANED = frozenset(("ld-library-path-empty-element", "ld-library-path-missing-directory", "ld-library-path-stubs"))
"""What cleaning start-up files takes out of them."""
_WHO_HOLDS = frozenset(("gpu-holders", "gpu-processes", "process-end"))  # those of what the page of holders shows and does


def reading_ended(machine: Machine, diagnosis: Diagnosis, answers: tuple[Answer, ...]) -> ReadingEnded:
    """The event that tells the flow of it. A list of GPUs that is unknown leaves everything after it open."""
    read = StepStatus.UNKNOWN if isinstance(machine.gpus, Unknown) else StepStatus.RIGHT
    return ReadingEnded(read, found_state(diagnosis, answers), repairable_version(answers), mends_worst(answers, machine))


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


def way_to(destination: Destination) -> WayOn:
    """The way there, in the words that every button has that leads there."""
    if isinstance(destination, ToRepair):
        return WayOn(text("Switch to CUDA {version}…", version=destination.version), destination)
    if isinstance(destination, ToInstall):
        return WayOn(_PLANS.get(_parts_of(destination.wish), text("Plan the install…")), destination)
    if isinstance(destination, ToHolders):
        return WayOn(text("Show GPU processes"), destination)
    if isinstance(destination, ToRepairPart):
        return WayOn(_REPAIRS[destination.part], destination)
    if isinstance(destination, ToGuide):
        return WayOn(text("Read the guide"), destination)
    if isinstance(destination, ToFinding):
        return WayOn(SHOW_HOW, destination)
    if isinstance(destination, ToWaitingInstall):
        return WayOn(text("Continue the install…"), destination)
    return WayOn(text("Go to: {page}", page=TITLES[destination.place]), destination)


def mends(answers: tuple[Answer, ...], machine: Machine) -> WayOn | None:
    """What does what the first of the answers asks for: the page of this window that can, or else its first commands, to be typed;
    none where it is done by hand, or what it names is not there. The rule for the blue button of every page that shows findings.
    """
    if not answers:
        return None
    worst = answers[0]
    places = _mending(worst, machine)
    if places:
        return way_to(places[0])
    lines = next((lines for remedy in worst.remedies if (lines := tuple(command_lines(remedy)))), ())
    if not lines or places_in(lines) or why_not_copied("\n".join(lines)) is not None:
        return None
    return WayOn(text("Copy the command") if len(lines) == 1 else text("Copy the commands"), None, lines, worst.id)


def mends_worst(answers: tuple[Answer, ...], machine: Machine) -> WayOn | None:
    """The same of what was found on a machine, where what is good to know asks for nothing; what is done by hand is shown."""
    bad = tuple(answer for answer in answers if answer.severity is not Severity.INFO)
    return mends(bad, machine) or (way_to(ToFinding(bad[0].id)) if bad else None)


def leads_of(answer: Answer, machine: Machine) -> tuple[WayOn, ...]:
    """The pages of this window that do what a finding asks for, the one that mends it first."""
    holders = holders_for(answer)
    beside = (holders,) if holders is not None and not begins_with_holders(answer) else ()
    return tuple(map(way_to, (*_mending(answer, machine), *beside)))


def _mending(answer: Answer, machine: Machine) -> tuple[Destination, ...]:
    version, found = switch_version(answer), list[Destination]()
    if version and _is_installed(version, machine):
        found.append(ToRepair(version))
    holders, install = holders_for(answer), install_for(answer)
    if holders is not None and begins_with_holders(answer):
        found.append(holders)
    if install is not None and not version:
        found.append(install)
    if answer.id in _CLEANED:
        found.append(ToRepairPart(RepairPart.CLEAN))
    return tuple(found)


def _parts_of(wish: InstallWish) -> tuple[str, ...]:
    return tuple(part for part in PARTS.values() if getattr(wish, part))


def _is_installed(version: str, machine: Machine) -> bool:
    wanted = tuple(version.split("."))
    installed = (value_or(toolkit.version, None) for toolkit in value_or(machine.toolkits, ()))
    return any(tuple(str(one).split("."))[: len(wanted)] == wanted for one in installed if one is not None)
