"""Where an explanation leads in the window: the one obvious way on."""

from __future__ import annotations

from gpuassist.model.fact import value_or
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.session.explain import Explanation, Ground, about_memory
from gpuassist.session.navigation import GoTo, ToInstall, WayOn, WizardStep
from gpuassist.ui.leads import mends


def way_on(explanation: Explanation, machine: Machine | None, *, recorded: bool) -> WayOn | None:
    """What to do next in this window, for a text that was joined with the machine that it shows; none where nothing is obvious."""
    if machine is None or explanation.basis.ground is not Ground.JOINED or not explanation.answers:
        return None
    found = mends(explanation.answers, machine)
    watchable = about_memory(explanation.answers[0]) and not recorded and value_or(machine.gpus, ())
    if watchable and (found is None or found.destination is None or isinstance(found.destination, ToInstall)):
        return WayOn(text("Watch memory live"), GoTo(WizardStep.LIVE))
    return found
