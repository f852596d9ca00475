"""How each stage of a GPU's set-up stands on a machine: pure, from its facts, what was found, and what is remembered of it.

Nothing is counted on that the machine itself tells. Of what was found the worst leads: the stage that is now is the one where it
is mended, so that the course never says something else than the diagnosis.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from gpuassist.diagnose.case import InstalledTorch, RuleInput
from gpuassist.install.configuration import torch_of, waiting_module
from gpuassist.install.drivers.cloud import provider_name
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.chain import Chain, Part, Status
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.finding import Action, Answer, Severity
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.plan import Proves, Step, StepKind
from gpuassist.model.text import Text
from gpuassist.model.version import Version
from gpuassist.session import setup_words as say
from gpuassist.session.navigation import GoTo, SideTool, ToInstall, WizardStep
from gpuassist.session.plan import ANY, InstallWish
from gpuassist.session.setup_findings import beyond_restart, first_words, is_restart_alone, led_by, stage_of
from gpuassist.session.setup_values import Setup, SetupProof, SetupRecord, SetupStage, SetupStageId, SetupStageState

Plans = Callable[[str], Outlook]


class SetupInput(Struct, frozen=True):
    """What the judgement rests on. `plans` gives what a goal would take (`driver`, `torch`), `boot` names the time since the
    machine was started, empty where that is not known; `reboot` is the command line of a restart.
    """

    machine: Machine
    knowledge: Knowledge
    answers: tuple[Answer, ...]
    chains: tuple[Chain, ...]
    plans: Plans
    record: SetupRecord = SetupRecord()
    proof: SetupProof = SetupProof()
    boot: str = ""
    reboot: str = ""
    recorded: bool = False


def setup_of(about: SetupInput) -> Setup:
    """The stages of this machine, and who comes back."""
    judge = _SetupJudge(about)
    drafts = (judge.driver(), judge.restart(), judge.toolkit(), judge.torch(), judge.verify(), judge.live())
    stages = tuple(judge.finished(one) for one in judge.with_one_now(drafts))
    setup = Setup(stages, len(judge.case.cards), about.recorded)
    return replace(setup, back=judge.welcome(setup))


def restart_asked(about: SetupInput) -> str:
    """What a restart is wanted for before all else; empty where it is not."""
    return _SetupJudge(about).restart_cause


class _SetupJudge:
    """One judgement; a stage that is `now` here is one that is open, of which one stays."""

    def __init__(self, about: SetupInput) -> None:
        self.about = about
        self.case = RuleInput(about.machine, about.knowledge)
        problems = [one for one in about.answers if one.severity is Severity.PROBLEM]
        self.worst = next(iter(problems), None)
        self._problems = {stage: one for one in reversed(problems) for stage in [stage_of(one)] if stage is not None}

    # The driver and its restart.

    @cached_property
    def _broken(self) -> Answer | None:
        """What stands in the driver's way."""
        return self._problems.get(SetupStageId.DRIVER)

    @cached_property
    def _driver_open(self) -> bool:
        joints = [joint for chain in self.about.chains for joint in chain.joints]
        bad = any((one.first, one.second, one.status) == (Part.GPU, Part.DRIVER, Status.PROBLEM) for one in joints)
        unknown = isinstance(self.case.driver, Unknown) and not self.case.running and not self._asleep
        return self._broken is not None or bad or unknown or not self.case.cards

    @cached_property
    def _asleep(self) -> bool:
        return bool(value_or(self.about.machine.driver.libcuda, ())) and self.case.wsl

    @cached_property
    def _elsewhere(self) -> bool:
        """Whether the driver is another system's, whose restart is none of this one."""
        return bool(self.case.wsl or self.case.container)

    @cached_property
    def _driver_steps(self) -> tuple[Step, ...]:
        """What brings the driver to work: the remedy's own steps, or else the plan's."""
        if self._broken is not None:
            return next((remedy.steps for remedy in self._broken.remedies if remedy.steps), ()) or self._planned("driver").steps
        return self._planned("driver").steps if self.case.cards else ()

    def _planned(self, goal: str) -> Outlook:
        return self.about.plans(goal)

    @cached_property
    def restart_cause(self) -> str:
        """What a restart is wanted for before all else: empty where it is not."""
        if self._elsewhere:
            return ""
        if self._driver_open:
            first = next(iter(self._driver_steps), None)
            if self._broken is not None and is_restart_alone(self._broken):
                return self._broken.id
            by_plan = self._broken is None or any(remedy.steps for remedy in self._broken.remedies)
            return (self._broken.id if self._broken else "driver") if by_plan and _is_restart(first) else ""
        waiting = self.case.after_restart
        return f"driver {value_or(waiting.version, '')}" if waiting is not None else ""

    @cached_property
    def tried(self) -> bool:
        """Whether the machine was restarted for this, and it did not help."""
        record, boot = self.about.record, self.about.boot
        return bool(boot and record.restart_boot) and record.restart_boot != boot and record.restart_cause == self.restart_cause

    @cached_property
    def _waits(self) -> bool:
        return bool(self.restart_cause) and not self.tried

    def driver(self) -> SetupStage:
        stage = SetupStage(SetupStageId.DRIVER, SetupStageState.DONE, say.NOTHING, GoTo(WizardStep.FOUND))
        if self._waits:
            return replace(stage, state=SetupStageState.WAITS, why=self._installed_words())
        if not self._driver_open:
            fits = {one.status for chain in self.about.chains for one in chain.joints if one.second is Part.DRIVER}
            version, gpus = str(value_or(self.case.driver, "")), self._gpus
            if Status.UNKNOWN in fits or isinstance(self.case.driver, Unknown):
                return replace(stage, state=SetupStageState.UNKNOWN, why=say.driver_not_judged(version, gpus))
            return replace(stage, why=say.driver_serves(self.case, version, gpus))
        return self._driver_to_mend(replace(stage, state=SetupStageState.NOW))

    def _driver_to_mend(self, stage: SetupStage) -> SetupStage:
        gpus = self.about.machine.gpus
        if isinstance(gpus, Unknown):
            return replace(stage, why=say.gpus_unread(gpus.reason), command="gpuassist doctor")
        if self._broken is not None:
            stage = self._of_who_rents_it(led_by(self._broken, stage))
            if not self.tried:
                return stage
            more = beyond_restart(self._broken, self._driver_steps)
            return replace(stage, why=say.restart_did_not_help(stage.why), does=more or stage.does)
        plan = self._planned("driver")
        joints = (one for chain in self.about.chains for one in chain.joints)
        reason = next((one.reason for one in joints if one.second is Part.DRIVER and one.status is Status.PROBLEM), None)
        why = plan.blocked_by[0] if plan.blocked_by else reason or say.driver_unknown(self.case.driver)
        stage = replace(stage, why=why, does=first_words(plan.steps), command="gpuassist plan driver")
        return replace(stage, destination=_install("driver")) if plan.steps else stage

    def _of_who_rents_it(self, stage: SetupStage) -> SetupStage:
        """With the other way that there is on a rented machine, where a driver is to be installed."""
        provider = value_or(self.about.machine.host.provider, "")
        if not provider or self._elsewhere or stage.does is None or isinstance(self.case.driver, Known) or not self._driver_steps:
            return stage
        return replace(stage, does=say.or_from_an_image(stage.does, provider_name(provider)))

    @cached_property
    def _installed(self) -> str:
        """The version that the restart loads; empty where it is not known."""
        module = self.case.after_restart or waiting_module(self.case)
        return str(value_or(module.version, "")) if module is not None else ""

    def _installed_words(self) -> Text:
        if self._installed and not self._driver_open:
            return say.newer_is_installed(self._installed, str(value_or(self.case.driver, "")))
        return say.installed(self._installed, self._gpus)

    def restart(self) -> SetupStage:
        stage = SetupStage(SetupStageId.RESTART, SetupStageState.NOT_NEEDED, say.NOTHING, GoTo(WizardStep.FOUND))
        if self._waits:
            does = say.enroll_at_restart() if self.about.machine.host.key_pending.is_true else None
            first = next(iter(self._driver_steps), None)
            if does is None and self._driver_open and first is not None and not first.commands:
                does = first.text  # no restart like any other: another kernel is to be chosen in it
            there = any(_is_restart(one) for one in self._driver_steps)
            place = _install("driver") if there else stage.destination
            why = say.restart_loads(self._installed, self._gpus)
            open_stage = replace(stage, state=SetupStageState.NOW, why=why, does=does, destination=place)
            return replace(open_stage, command=self.about.reboot, problem=self._broken.id if self._broken else "")
        version = str(value_or(self.case.driver, ""))
        if not self._driver_open:
            done = dict(self.about.record.done).get(SetupStageId.RESTART.value) or self._just_back
            if done and not self._elsewhere:
                return replace(stage, state=SetupStageState.DONE, why=say.restarted(version))
            return replace(stage, why=say.no_restart(self.case, version))
        if isinstance(self.about.machine.gpus, Unknown):
            return replace(stage, state=SetupStageState.UNKNOWN, why=say.restart_not_known())
        after = next((one for one in self._driver_steps if _is_restart(one)), None)
        by_hand = self._broken is not None and self._broken.remedies[:1] and self._broken.remedies[0].action is Action.REBOOT
        if self._elsewhere or not self.case.cards or (after is None and not by_hand):
            return replace(stage, why=say.takes_no_restart(self.case))
        return replace(stage, state=SetupStageState.LATER, why=after.text if after is not None else say.restart_after_that())

    # The toolkit, only where somebody compiles.

    def toolkit(self) -> SetupStage:
        stage = SetupStage(SetupStageId.TOOLKIT, SetupStageState.NOT_NEEDED, say.toolkit_not_needed(), _install("toolkit"))
        found = next((one for one in self.about.answers if self._is_of_toolkit(one)), None)
        if found is not None:
            return led_by(found, replace(stage, state=SetupStageState.NOW))
        one = self.case.toolkit
        if one is not None and isinstance(one.version, Unknown):
            return replace(stage, state=SetupStageState.UNKNOWN, why=say.nvcc_without_version(one.version.reason))
        if one is not None:
            version = str(value_or(one.version, Version(())).release)
            return replace(stage, state=SetupStageState.DONE, why=say.toolkit_builds(version, self.case))
        if not self.about.record.compiles:
            return stage
        if isinstance(self.case.terminal, Unknown):
            return replace(stage, state=SetupStageState.UNKNOWN, why=say.nvcc_not_known(self.case.terminal.reason))
        return replace(
            stage,
            state=SetupStageState.NOW,
            why=say.toolkit_wanted(say.short(self.about.record.project, self.about.machine)),
            command="gpuassist plan cuda",
        )

    def _is_of_toolkit(self, answer: Answer) -> bool:
        return answer.severity is not Severity.INFO and stage_of(answer) is SetupStageId.TOOLKIT

    # torch, the proof, and what is watched.

    @cached_property
    def meant(self) -> InstalledTorch | None:
        return torch_of(self.case)

    def torch(self) -> SetupStage:
        stage = SetupStage(SetupStageId.TORCH, SetupStageState.NOW, say.NOTHING, _install("torch"), "gpuassist plan torch")
        found, environments = self._problems.get(SetupStageId.TORCH), self.about.machine.environments
        if found is not None:
            return led_by(found, stage)
        if isinstance(environments, Unknown):
            return replace(stage, state=SetupStageState.UNKNOWN, why=say.environments_unread(environments.reason))
        if self.meant is None:
            return self._torch_to_install(stage)
        version, place = self.meant.version, say.short(self.meant.environment.prefix, self.about.machine)
        joints = [one for chain in self.about.chains for one in chain.joints if one.second is Part.TORCH]
        bad = next((one.reason for one in joints if one.status is Status.PROBLEM), None)
        if bad is not None:
            return replace(stage, why=say.torch_does_not_fit(version, place, bad))
        if self._driver_open:  # which GPUs it reaches is seen once they are served; its files tell which it has code for
            capabilities = (card.capability for card in self.case.cards)
            runs = all(isinstance(one, Unknown) or self.meant.runs_on(one.value) for one in capabilities)
            if not runs:
                return replace(stage, why=say.torch_lacks_code(version, place))
            return replace(stage, state=SetupStageState.DONE, why=say.torch_is_there(version, place))
        unknown = any(one.status is Status.UNKNOWN for one in joints) or isinstance(self.meant.torch.targets, Unknown)
        if unknown and not self.case.jetson:
            return replace(stage, state=SetupStageState.UNKNOWN, why=say.torch_not_judged(version, place))
        return replace(stage, state=SetupStageState.DONE, why=say.torch_runs(version, place, self._gpus))

    def _torch_to_install(self, stage: SetupStage) -> SetupStage:
        plan = self._planned("torch") if self.case.cards else None
        if plan is None or (not plan.steps and not plan.blocked_by):
            return replace(stage, why=say.no_torch())
        if plan.blocked_by:
            return replace(stage, why=plan.blocked_by[0], blocked=True)
        made = next((one.run.creates for one in plan.steps if one.run is not None and one.run.creates), "")
        proofs = (one.proof for one in plan.steps if one.proof is not None)
        wanted = next((one.wanted for one in proofs if one.proves is Proves.TORCH), "")
        return replace(stage, why=say.no_torch(), does=say.torch_planned(wanted, say.short(made, self.about.machine)))

    def verify(self) -> SetupStage:
        stage = SetupStage(SetupStageId.VERIFY, SetupStageState.NOW, say.not_verified(), GoTo(WizardStep.VERIFY))
        if self.about.recorded:
            return replace(stage, state=SetupStageState.NOT_NEEDED, why=say.recorded_not_verified())
        wanted, meant = self.about.record.environment, self.meant
        prefix = wanted if meant is not None and meant.environment.prefix == wanted else ""
        stage = replace(stage, command=f"gpuassist verify --python {shlex.quote(prefix)}" if prefix else "gpuassist verify")
        proof = self.about.proof
        failed = [one.name for one in self.case.cards if value_or(one.gpu.uuid, "") in proof.failed - {""}]
        left = [one.name for one in self.case.cards if not self._is_proved(value_or(one.gpu.uuid, ""))]
        if failed:
            return replace(stage, why=say.verification_failed(proof.made_at, failed), failed=True)
        if not left and self.case.cards and self.worst is None and not self._driver_open:
            return replace(stage, state=SetupStageState.DONE, why=say.verified(proof.made_at, self._gpus), at=proof.made_at)
        cut = [one.name for one in self.case.cards if value_or(one.gpu.uuid, "") in proof.incomplete - {""}]
        if cut:
            return replace(stage, why=say.not_verified_whole(proof.made_at, cut))
        if proof.made_at and left:
            return replace(stage, why=say.not_all_verified(left))
        return replace(stage, why=say.verified_before(proof)) if proof.earlier_at and left else stage

    def _is_proved(self, uuid: str) -> bool:
        """One that sleeps does not tell its UUID: then as many must have passed as there are."""
        proof = self.about.proof
        instances = [value_or(one.gpu.mig_uuids, ()) for one in self.case.cards if value_or(one.gpu.uuid, "") == uuid]
        if any(set(some) & proof.passed for some in instances):
            return True
        return uuid in proof.passed if uuid else proof.count >= len(self.case.cards) > 0

    def live(self) -> SetupStage:
        stage = SetupStage(SetupStageId.LIVE, SetupStageState.NOW, say.watch_it(), GoTo(WizardStep.LIVE), "gpuassist monitor")
        if self.about.recorded:
            return replace(stage, state=SetupStageState.NOT_NEEDED, why=say.recorded_not_watched())
        seen = self.about.record.live_at
        return replace(stage, state=SetupStageState.DONE, why=say.watched(seen), at=seen) if seen else stage

    # One of them is now.

    def with_one_now(self, drafts: tuple[SetupStage, ...]) -> tuple[SetupStage, ...]:
        """The stage of the worst finding, or else the first that is open; the other open ones come later."""
        opened = [one.id for one in drafts if one.state is SetupStageState.NOW]
        wanted = stage_of(self.worst) if self.worst is not None else None
        if wanted is SetupStageId.DRIVER and self._waits:
            wanted = SetupStageId.RESTART
        now = wanted if wanted in opened else next(iter(opened), None)
        if now is None and self.worst is not None:  # a recording, which nothing is verified on, with something in the way
            now = SetupStageId.TORCH
        return tuple(self._placed(one, now=one.id is now, anywhere=wanted is None) for one in drafts)

    def _placed(self, stage: SetupStage, *, now: bool, anywhere: bool) -> SetupStage:
        if not now:
            return replace(stage, state=SetupStageState.LATER) if stage.state is SetupStageState.NOW else stage
        if self.worst is not None and anywhere:
            return led_by(self.worst, replace(stage, state=SetupStageState.NOW))
        return stage

    def finished(self, stage: SetupStage) -> SetupStage:
        """With when it was done; on a recording nothing is done by any command."""
        at = stage.at or dict(self.about.record.done).get(stage.id.value, "")
        stage = replace(stage, at=at if stage.state is SetupStageState.DONE else "")
        opened = {SetupStageState.NOW, SetupStageState.LATER}
        if self.about.recorded or stage.state not in opened:
            stage = replace(stage, command="")
        if stage.state is SetupStageState.DONE and stage.id is SetupStageId.TORCH:
            return replace(stage, destination=GoTo(SideTool.INSTALL))
        if stage.state is SetupStageState.DONE and stage.id is SetupStageId.TOOLKIT:
            return replace(stage, destination=GoTo(WizardStep.REPAIR))
        return stage

    # Who comes back.

    @cached_property
    def _just_back(self) -> bool:
        record, boot = self.about.record, self.about.boot
        return bool(boot and record.restart_boot) and record.restart_boot != boot

    def welcome(self, setup: Setup) -> Text | None:
        """As long as it is the same boot and the same stage is now."""
        record, now = self.about.record, setup.now
        here = self._just_back or (record.back_boot != "" and record.back_boot == self.about.boot)
        if not here or self.about.recorded or (record.back_boot == self.about.boot and record.back_now != (now.id if now else "")):
            return None
        if self.tried and not (self._broken is None and not self._driver_open):
            return say.back_in_vain()
        if self._driver_open or now is None:
            return None
        return say.back(str(value_or(self.case.driver, "")), say.TITLES[now.id])

    @cached_property
    def _gpus(self) -> Text:
        return say.gpus(self.case)


def _install(part: str) -> ToInstall:
    return ToInstall(replace(InstallWish(), **{part: ANY}))


def _is_restart(step: Step | None) -> bool:
    return step is not None and step.kind is StepKind.REBOOT
