"""Where an explanation leads in the window: the one obvious way on."""

from __future__ import annotations

from msgspec import Struct

from gpuassist.model.fact import value_or
from gpuassist.model.machine import Machine
from gpuassist.model.text import Text, text
from gpuassist.session.explain import Explanation, Ground, about_memory
from gpuassist.session.navigation import Destination, GoTo, ToHolders, ToRepair, WizardStep
from gpuassist.ui.leads import begins_with_holders, holders_for, install_for, repairable_version


class WayOn(Struct, frozen=True):
    """A button's words, and where it leads."""

    title: Text
    destination: Destination


def way_on(explanation: Explanation, machine: Machine | None, *, recorded: bool) -> WayOn | None:
    """What to do next in this window, for a text that was joined with the machine that it shows; none where nothing is obvious."""
    if machine is None or explanation.basis.ground is not Ground.JOINED or not explanation.answers:
        return None
    first = explanation.answers[0]
    version = repairable_version(explanation.answers)
    if version and _is_installed(version, machine):
        return WayOn(text("Switch to CUDA {version}…", version=version), ToRepair(version))
    if begins_with_holders(first):
        return WayOn(text("See who holds the GPU"), holders_for(first) or ToHolders())
    if about_memory(first) and not recorded and value_or(machine.gpus, ()):
        return WayOn(text("Watch memory live"), GoTo(WizardStep.LIVE))
    install = install_for(first)
    return WayOn(text("Plan the install…"), install) if install is not None else None


def _is_installed(version: str, machine: Machine) -> bool:
    wanted = tuple(version.split("."))
    installed = (value_or(toolkit.version, None) for toolkit in value_or(machine.toolkits, ()))
    return any(tuple(str(one).split("."))[: len(wanted)] == wanted for one in installed if one is not None)
