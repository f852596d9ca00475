"""The set-up of this machine's GPUs, looked at and remembered: from what was read of it, what stands on record, and the boot."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.install.configuration import torch_of
from gpuassist.install.records import boot_id
from gpuassist.install.resume import waiting
from gpuassist.knowledge.families import families_of
from gpuassist.model.environment import PythonEnvironment
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.project import CheckId
from gpuassist.session import setup_record
from gpuassist.session.inspect import Inspection, inspection_of
from gpuassist.session.navigation import GoTo, ToWaitingInstall, WizardStep
from gpuassist.session.plan import parse_goal, plan_goals
from gpuassist.session.setup_judgement import SetupInput, restart_asked, setup_of
from gpuassist.session.setup_proof import proof_of
from gpuassist.session.setup_values import Setup, SetupRecord, SetupStageId, SetupStageState
from gpuassist.session.verifications import kept
from gpuassist.system.clock import iso

_BY_AN_INSTALL = {
    "driver": frozenset((SetupStageId.DRIVER, SetupStageId.RESTART)),
    "torch": frozenset((SetupStageId.DRIVER, SetupStageId.RESTART, SetupStageId.TORCH)),
    "cuda": frozenset((SetupStageId.DRIVER, SetupStageId.RESTART, SetupStageId.TOOLKIT)),
}


_COMPILING = frozenset((CheckId.TOOLKIT, CheckId.EXTENSION, CheckId.COMPILER))


def look_at_setup(session: Session, inspection: Inspection) -> Setup:
    """The stages as they stand, with nothing written; of a recording nothing is remembered."""
    return _looked(session, inspection)[0]


def note_setup(session: Session, inspection: Inspection) -> Setup:
    """The same, and what has to be known after a restart is remembered: nothing of a recording, nor where all was done before
    anybody began.
    """
    setup, about = _looked(session, inspection)
    if inspection.recorded or not setup.gpus:
        return setup
    record = remembered(about, setup, now=iso(session.world.clock.now()))
    if record != about.record and (record.begun_at or setup.now is not None):
        setup_record.save(session.world, record)
    return setup


def remembered(about: SetupInput, setup: Setup, *, now: str) -> SetupRecord:
    """The record after this look; `now` as ISO 8601."""
    record, stage = about.record, setup.now
    cause, boot = restart_asked(about), about.boot
    returned = bool(boot and record.restart_boot) and record.restart_boot != boot
    if returned:
        record = replace(record, back_boot=boot, back_now=stage.id.value if stage is not None else "")
    if stage is not None and stage.id is SetupStageId.RESTART:
        record = replace(record, restart_boot=boot, restart_cause=cause)
    elif not cause:
        record = replace(record, restart_boot="", restart_cause="")
    seen = {one.id.value for one in setup.stages if one.state is SetupStageState.DONE}
    before = {name: at for name, at in record.done if name in seen}
    done = tuple((one.id.value, before.get(one.id.value, now)) for one in setup.stages if one.id.value in seen)
    begun = record.begun_at or (now if stage is not None else "")
    return replace(record, begun_at=begun, done=done, closed=record.closed and stage is None)


def compiles(session: Session, machine: Machine, directory: str) -> bool:
    """Whether the project in a directory compiles for the GPU; raises `ProjectError`."""
    from gpuassist.session.project import project_outlook

    return any(one.id in _COMPILING for one in project_outlook(session, machine, directory).checks)


def environment_at(machine: Machine, prefix: str) -> PythonEnvironment | None:
    """The environment of this prefix; none where there is none."""
    found = value_or(machine.environments, ())
    return next((one for one in found if one.prefix.rstrip("/") == prefix.rstrip("/")), None)


def _looked(session: Session, inspection: Inspection) -> tuple[Setup, SetupInput]:
    world, recorded = session.world, inspection.recorded
    record, notice = (SetupRecord(), None) if recorded else setup_record.load(world)
    seen = _seen_from(session, inspection, record.environment)
    seen_prefix = record.environment if environment_at(inspection.machine, record.environment) is not None else ""
    made: dict[str, Outlook] = {}

    def plans(goal: str) -> Outlook:
        if goal not in made:
            made[goal] = plan_goals(session, seen.machine, (parse_goal(goal, session.knowledge),))
        return made[goal]

    case = RuleInput(seen.machine, session.knowledge)
    torch, version = torch_of(case), str(value_or(case.driver, ""))
    about = SetupInput(
        seen.machine,
        session.knowledge,
        seen.answers,
        seen.chains,
        plans,
        record,
        proof_of(() if recorded else kept(world), version, torch.version if torch is not None else "", seen_prefix),
        "" if recorded else boot_id(world),
        next(iter(session.knowledge.commands.render("reboot", families_of(seen.machine), {})), ""),
        recorded,
    )
    setup = replace(setup_of(about), notice=notice, hidden=record.hidden, closed=record.closed)
    return (setup if recorded else _with_install(session, setup)), about


def _seen_from(session: Session, inspection: Inspection, prefix: str) -> Inspection:
    """What was read as it is for somebody who works in this environment alone, if it is there."""
    chosen = environment_at(inspection.machine, prefix) if prefix else None
    if chosen is None:
        return inspection
    active = Known(True, chosen.prefix)  # noqa: FBT003 -- the fact's value
    others = (one for one in value_or(inspection.machine.environments, ()) if one is not chosen)
    alone = (replace(chosen, active=active), *(replace(one, torch=Known((), one.prefix)) for one in others))
    machine = replace(inspection.machine, environments=Known(alone, chosen.prefix))
    return replace(inspection_of(session, machine), recorded=inspection.recorded)


def _with_install(session: Session, setup: Setup) -> Setup:
    """An install that waits for what is now goes on; what it waits for it has asked the user already."""
    now = setup.now
    found = waiting(session) if now is not None else None
    if now is None or found is None:
        return setup
    kinds = {goal.partition("=")[0] for goal in found.install.goals}
    if not any(now.id in _BY_AN_INSTALL.get(kind, ()) for kind in kinds) or now.destination == GoTo(WizardStep.FOUND):
        return setup
    on = "" if now.id is SetupStageId.RESTART else "gpuassist plan --resume"
    led = replace(now, destination=ToWaitingInstall(), command=on or now.command)
    return replace(setup, stages=tuple(led if one is now else one for one in setup.stages))
