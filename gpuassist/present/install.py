"""What the install page says: of a plan, of a step and what it needs, of what a step would change, and of what came of it."""

from __future__ import annotations

import shlex

from gpuassist.install.records import Install, InstallState, StepRecord, StepState
from gpuassist.install.resume import next_step
from gpuassist.install.rollback import BackStep
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.outlook import Method, Outlook
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.solve import DryRun, PackageChange, Requirer
from gpuassist.model.text import Text, counted, joined, text, verbatim
from gpuassist.present.moments import minute
from gpuassist.session.plan import InstallWish, toolkit_to_use

_RESTART = text("The computer has to be restarted, now or later: gpuassist then continues where it stopped.")
_NEW_TERMINAL = text("Terminals that are open keep their old settings: open a new one.")
_ROOT = text("Needs administrator rights, so gpuassist shows it and never runs it: copy the lines into a terminal.")
_YOURS = text("You have to do this step; confirm when it is done.")
_STATES = {
    StepState.DONE: text("done"),
    StepState.RUNNING: text("under way"),
    StepState.FAILED: text("failed"),
    StepState.CANCELLED: text("cancelled"),
    StepState.TAKEN_BACK: text("undone"),
    StepState.WAITING: text("not started"),
}
_INSTALLS = {
    InstallState.OPEN: text("not finished"),
    InstallState.DONE: text("done"),
    InstallState.GIVEN_UP: text("given up"),
    InstallState.TAKEN_BACK: text("undone"),
}

WAYS = {
    Method.NEW: text("In a new environment"),
    Method.CLEAN: text("Clean out first"),
    Method.IN_PLACE: text("In place"),
    Method.CONTAINER: text("In a container"),
    Method.PACKAGES: text("By NVIDIA's packages"),
    Method.RUNFILE: text("By NVIDIA's installer, into your home"),
    Method.CONDA: text("By conda"),
    Method.WHEELS: text("By the compiler's wheels"),
}
"""What the ways are called where one is chosen."""


def plan_title(outlook: Outlook, wish: InstallWish | None = None) -> Text:
    """Of a `wish` for torch first that: where it is there already, what other steps are for."""
    if outlook.blocked_by:
        return text("This cannot be made to work")
    of_torch = wish is not None and wish.torch and not (wish.toolkit or wish.driver)
    if of_torch and not outlook.undetermined and all(toolkit_to_use(step) for step in outlook.steps):
        if outlook.steps:
            return text("The torch that is there fits; only to build extensions, another CUDA toolkit is needed")
        return text("The torch that is there fits")
    if outlook.steps:
        return counted("Possible in {count} step", "Possible in {count} steps", len(outlook.steps))
    return text("This could not be determined") if outlook.undetermined else text("Nothing has to be done")


def course_title(install: Install) -> Text:
    """How far an install came."""
    if install.state is InstallState.TAKEN_BACK:
        return text("Undone: everything is as it was")
    number = next_step(install)
    if number is None:
        return text("All steps are done")
    if install.state is InstallState.GIVEN_UP:
        return text("Given up; what was done stays")
    return text("Step {number} of {count}", number=number + 1, count=len(install.steps))


def install_in_words(install: Install) -> Text:
    """An install on record, in a line: its goal, its day, how it stands."""
    return text("{goal} · {day} · {state}", goal=install.goal, day=minute(install.made_at)[:10], state=_INSTALLS[install.state])


def remarks(step: Step, home: str) -> tuple[Text, ...]:
    """What a step needs, and who takes it; `home` is where its programs run, empty where nothing can be run."""
    if step.kind is StepKind.REBOOT:
        return (*((_ROOT,) if step.needs_root else ()), _RESTART)
    if step.kind is StepKind.NEW_SHELL:
        return (_NEW_TERMINAL,)
    if step.run is not None and not home:
        return ()
    if step.run is not None:
        return (text("gpuassist can run this for you, in {home}: it first shows what would change, then asks.", home=home),)
    if step.needs_root:
        return (_ROOT,)
    if toolkit_to_use(step):
        return (text("The page Repair shows this change of a start-up file, makes it and tests it."),)
    return (_YOURS,)


def next_action(step: Step, number: int) -> Text:
    if step.run is not None:
        return text("Start step {number}…", number=number + 1)
    if step.kind is StepKind.REBOOT:
        return text("I will restart")
    if toolkit_to_use(step):
        return text("Open Repair")
    return text("Step {number} is done", number=number + 1)


def run_lines(step: Step) -> tuple[str, ...]:
    """Exactly what is run for a step, as lines for a shell."""
    return tuple(shlex.join(program) for program in step.run.programs) if step.run is not None else step.commands


def state_in_words(record: StepRecord) -> Text | None:
    """How a step stands; none while nothing was done."""
    if record.state is StepState.WAITING and not record.words:
        return None
    if not record.words:
        return _STATES[record.state]
    if record.state is StepState.DONE:
        return verbatim(record.words)
    return text("{state}: {words}", state=_STATES[record.state], words=record.words)


def changes_title(looked: DryRun) -> Text:
    if isinstance(looked.solve, Unknown):
        return text("The changes it would make are not known")
    solve = looked.solve.value
    parts = (
        counted("{count} package added", "{count} packages added", len(solve.added)),
        counted("{count} changed", "{count} changed", len(solve.changed)),
        counted("{count} removed", "{count} removed", len(solve.removed)),
    )
    figures = (len(solve.added), len(solve.changed), len(solve.removed))
    shown = tuple(part for part, figure in zip(parts, figures, strict=True) if figure)
    if shown:
        return text("It would change: {parts}", parts=joined(shown))
    return text("No installed package would change")


def before_taking(looked: DryRun, waits: Install | None) -> tuple[Text, ...]:
    """What to know before a step is run; `waits` is an install that beginning this one gives up."""
    gives_up = (text("The unfinished install of {goal} is given up; what it did stays.", goal=waits.goal),) if waits else ()
    return (changes_title(looked), *looked.warnings, *gives_up)


def before_going_back(way: tuple[BackStep, ...]) -> tuple[Text, ...]:
    left = ", ".join(name for one in way for name in one.left)
    stays = (text("These were changed by something else since, so they stay as they are: {names}", names=left),) if left else ()
    return (*(one.text for one in way), *stays)


def change_lines(looked: DryRun) -> tuple[str, ...]:
    """Each package that would be added, changed or removed."""
    return tuple(_change(one) for one in looked.solve.value.changes) if isinstance(looked.solve, Known) else ()


def requirer_in_words(one: Requirer) -> Text:
    """Who asks for which torch, and whether it would have that."""
    about = {"name": one.name, "version": one.version, "wanted": one.wanted}
    if one.met_before and one.met_after:
        return text("{name} {version} requires {wanted}: it has that, and keeps it", **about)
    if one.met_before:
        return text("{name} {version} requires {wanted}: it has that now, and would lose it", **about)
    if one.met_after:
        return text("{name} {version} requires {wanted}: it does not have that now, and would get it", **about)
    return text("{name} {version} requires {wanted}: it does not have that, and would not get it", **about)


def _change(change: PackageChange) -> str:
    before = " ".join(one for one in (change.before, change.build_before) if one)
    after = " ".join(one for one in (change.after, change.build_after) if one)
    if not before:
        return f"+ {change.name} {after}"
    return f"~ {change.name} {before} → {after}" if after else f"- {change.name} {before}"
