"""`gpuassist use devices 0,2 | UUID,… | all`: which GPUs the programs of new shells see."""

from __future__ import annotations

import argparse
import os

from gpuassist.cli.context import Context, Exit, UsageError
from gpuassist.cli.shell_change import Change, Proved, carry_out, refuse
from gpuassist.model.codec import Json
from gpuassist.model.text import text
from gpuassist.session import fix
from gpuassist.session.devices_plan import DevicesPlan, UseDevices, look_at_gpus, plan_use_devices, prove_devices


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Plans, shows, asks, applies and proves."""
    if options.retire is not None or options.rewrite is not None or options.also_login:
        raise UsageError(text("--retire, --rewrite and --also-login go with `use cuda`"))
    wish = UseDevices(options.which, os.path.abspath(options.rc) if options.rc else "")
    try:
        plan = plan_use_devices(context.session, look_at_gpus(context.session), wish)
    except fix.WishError as error:
        raise UsageError(error.reason) from error
    except fix.RepairError as error:
        return refuse(options, context, error.reason)
    members: dict[str, Json] = {"devices": list(plan.devices.values), "hidden": list(plan.devices.hidden)}
    return carry_out(options, context, Change(plan.shell, lambda: _proved(context, plan), members))


def _proved(context: Context, plan: DevicesPlan) -> Proved:
    proof = prove_devices(context.session.world, plan)
    return Proved(proof.holds, proof.words)
