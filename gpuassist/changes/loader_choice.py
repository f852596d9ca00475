"""Whether a toolkit's libraries go on LD_LIBRARY_PATH, decided by what this machine's programs need and what it would break."""

from __future__ import annotations

from gpuassist.changes.choice import LdLibraryPath, LoaderChoice, choose_loader_path, library_directory
from gpuassist.changes.library_path import look, reason
from gpuassist.model.fact import Unknown
from gpuassist.model.machine import Machine
from gpuassist.model.toolkit import Toolkit
from gpuassist.system.world import World


def choose_loader(world: World, machine: Machine, toolkit: Toolkit, wish: LdLibraryPath) -> LoaderChoice:
    """For a machine whose environments were looked at: `AUTO` turns it on where a program finds a library nowhere else, and never
    where another program would load an older library in place of its own.
    """
    by_rule = choose_loader_path(world.files, toolkit, wish)
    if wish is LdLibraryPath.OFF or isinstance(machine.environments, Unknown):
        return by_rule
    view = look(world, machine.environments, library_directory(world.files, toolkit))
    if not (view.needs or view.hurts) and (by_rule.on or not view.looked_at or by_rule.listed):
        return by_rule
    on = wish is LdLibraryPath.ON or (bool(view.needs) and not view.hurts)
    return LoaderChoice(on=on, reason=reason(view, on=on), harms=bool(view.hurts) and not on)
