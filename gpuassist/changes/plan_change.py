"""The plan of whatever is wished: the one way in for the window and the command line."""

from __future__ import annotations

from gpuassist.changes.plan import ChangePlan
from gpuassist.changes.wishes import SHELL, ChangeWish, CleanShell, FitProject, UseCuda
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.world import World


def plan_change(world: World, machine: Machine, wish: ChangeWish, *, recorded: bool = False) -> ChangePlan:
    """Plans it without changing anything; raises `RepairError` with what to say where there is nothing to plan.

    Each maker is imported where it is wished for: a start of the command line makes one plan.
    """
    if recorded and not (isinstance(wish, UseCuda) and wish.scope == SHELL):
        raise RepairError(text("this is a recorded machine: what stands in its files, environments and projects is not here"))
    if isinstance(wish, CleanShell):
        from gpuassist.changes.clean_plan import plan_clean

        return plan_clean(world, machine, wish)
    if isinstance(wish, FitProject):
        from gpuassist.changes.project_plan import plan_fit_project

        return plan_fit_project(world, wish)
    if wish.scope != SHELL:
        from gpuassist.changes.scope_plan import plan_in_scope

        return plan_in_scope(world, machine, wish)
    if isinstance(wish, UseCuda):
        from gpuassist.changes.use_toolkit import plan_use_cuda

        return plan_use_cuda(world, machine, wish, recorded=recorded)
    from gpuassist.changes.devices_plan import plan_use_devices

    return plan_use_devices(world, machine, wish)
