"""Everything that the repair page and `gpuassist use` can be asked for as one wish, and the plan of it."""

from __future__ import annotations

from msgspec import Struct, field

from gpuassist.changes.clean_plan import CleanShell, plan_clean
from gpuassist.changes.devices_plan import UseDevices, plan_use_devices
from gpuassist.changes.plan import Aim, ChangePlan, UseCuda
from gpuassist.changes.scope_plan import plan_cuda_in, plan_devices_in
from gpuassist.changes.scopes.kinds import Kind
from gpuassist.changes.use_toolkit import plan_use_cuda
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.shellfiles.block import RepairError
from gpuassist.system.world import World

SHELL = Kind.SHELL.value
_RECORDED = text("this is a recorded machine: what stands in its files, environments and projects is not here")


class ChangeWish(Struct, frozen=True):
    """What the user wishes: `cuda`, `clean` or `devices` as the aim says; `scope` says where a toolkit or GPUs are chosen."""

    aim: Aim
    cuda: UseCuda = field(default_factory=lambda: UseCuda(""))
    clean: CleanShell = field(default_factory=CleanShell)
    devices: UseDevices = field(default_factory=lambda: UseDevices("all"))
    scope: str = SHELL


def plan_change(world: World, machine: Machine, wish: ChangeWish, *, recorded: bool = False) -> ChangePlan:
    """Plans it without changing anything; raises `RepairError` with what to say where there is nothing to plan."""
    if recorded and (wish.aim is not Aim.TOOLKIT or wish.scope != SHELL):
        raise RepairError(_RECORDED)
    if wish.aim is Aim.CLEAN:
        return plan_clean(world, machine, wish.clean)
    if wish.aim is Aim.DEVICES:
        if wish.scope == SHELL:
            return plan_use_devices(world, machine, wish.devices)
        return plan_devices_in(world, machine, wish.devices.devices, scope=wish.scope)
    if wish.scope == SHELL:
        return plan_use_cuda(world, machine, wish.cuda, recorded=recorded)
    return plan_cuda_in(world, machine, wish.cuda.version, scope=wish.scope, ld_library_path=wish.cuda.ld_library_path)
