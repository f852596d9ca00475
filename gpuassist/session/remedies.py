"""The remedies that install or remove a driver, a toolkit or torch: the steps of the plan for it, and no command of their own."""

from __future__ import annotations

from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.finding import Action, CommandUse, Finding, Remedy
from gpuassist.model.machine import Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import text

_ACTIONS = {
    StepKind.EDIT: Action.EDIT,
    StepKind.NEW_SHELL: Action.NEW_SHELL,
    StepKind.REBOOT: Action.REBOOT,
    StepKind.HARDWARE: Action.HARDWARE,
}


class PlannedRemedies:
    """The plans for one machine, each made once: several findings may ask for the same."""

    def __init__(self, session: Session, machine: Machine) -> None:
        self._session = session
        self._machine = machine
        self._made: dict[tuple[str, str], Outlook] = {}

    def __call__(self, finding: Finding, goal: str, does: str) -> Remedy | None:
        """The steps of the plan for a goal, or what stands in their way; None where that is not known, and where the plan finds
        nothing to install: what was found is then mended by what the catalogue says.
        """
        outlook = self._outlook(goal, str(finding.parameter("python")))
        if outlook is None or (outlook.undetermined and not outlook.steps):
            return None
        if outlook.steps:
            return self._remedy(goal, does, outlook)
        if not outlook.blocked_by:
            return None
        reasons = "; ".join(map(self._session.words, outlook.blocked_by))
        told = self._session.words(text("{does} No change makes that possible: {reasons}.", does=does, reasons=reasons))
        return Remedy(told, (), needs_root=False, action=Action.NONE, check="", goal=goal, notes=outlook.notes)

    def _outlook(self, goal: str, python: str) -> Outlook | None:
        """The plan; none where the GPUs are not known, or for a version that is no release's, as a torch of one's own has."""
        if isinstance(self._machine.gpus, Unknown):
            return None
        from gpuassist.session.plan import GoalError, parse_goal, plan_goals  # what finds nothing to install starts without

        if (goal, python) not in self._made:
            try:
                wanted = parse_goal(goal, self._session.knowledge)
            except GoalError:
                return None
            machine = _seen_from(self._machine, python, self._session.knowledge)
            self._made[goal, python] = plan_goals(self._session, machine, (wanted,))
        return self._made[goal, python]

    def _remedy(self, goal: str, does: str, outlook: Outlook) -> Remedy:
        steps, words = outlook.steps, self._session.words
        check = next((step.check for step in reversed(steps) if step.check is not None), None)
        return Remedy(
            text=does if len(steps) > 1 else words(steps[0].text),
            commands=tuple(CommandUse("", (), step.commands) for step in steps if step.commands),
            needs_root=any(step.needs_root for step in steps),
            action=_action(steps),
            check=words(check) if check is not None else "",
            goal=goal,
            steps=steps,
            notes=(*outlook.notes, *(note for way in outlook.ways[:1] for note in way.notes)),
        )


def action_of(step: Step) -> Action:
    """What kind of act a plan's step asks for."""
    from gpuassist.session.plan import toolkit_to_use

    if toolkit_to_use(step):
        return Action.EDIT
    return _ACTIONS.get(step.kind, Action.COMMAND)


def _action(steps: tuple[Step, ...]) -> Action:
    """What the last of several that is more than a command or a choice asks for."""
    if len(steps) == 1:
        return action_of(steps[0])
    return next((_ACTIONS[step.kind] for step in reversed(steps) if step.kind in _ACTIONS), Action.COMMAND)


def _seen_from(machine: Machine, python: str, knowledge: Knowledge) -> Machine:
    """The machine as it is for somebody who works with this interpreter: what is planned there is planned for its torch."""
    from gpuassist.install.configuration import torch_of

    environments = value_or(machine.environments, ())
    one = next((one for one in environments if python and value_or(one.interpreter, "") == python), None)
    meant = torch_of(RuleInput(machine, knowledge))
    if one is None or (meant is not None and meant.environment == one):
        return machine
    chosen = Known(True, value_or(one.interpreter, ""))  # noqa: FBT003 -- the fact's value
    others = (replace(other, torch=Known((), other.prefix)) for other in environments if other is not one)
    return replace(machine, environments=Known((replace(one, active=chosen), *others), one.prefix))
