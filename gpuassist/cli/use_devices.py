"""`gpuassist use devices 0,2 | UUID,… | all`: which GPUs the programs of new shells see."""

from __future__ import annotations

import argparse
import os

from gpuassist.changes.plan_change import plan_change
from gpuassist.changes.wishes import UseDevices, WishError
from gpuassist.cli.context import Context, UsageError
from gpuassist.cli.shell_change import PlannedChange, change_files, refuse
from gpuassist.model.codec import Json
from gpuassist.model.text import text
from gpuassist.present.marks import Exit
from gpuassist.session.use import look_at_gpus
from gpuassist.shellfiles.block import RepairError


def run(options: argparse.Namespace, context: Context) -> Exit:
    """Plans, shows, asks, applies and proves."""
    if options.comment_out is not None or options.replace is not None or options.keep is not None or options.also_login:
        raise UsageError(text("--keep, --comment-out, --replace and --also-login go with `use cuda`"))
    wish = UseDevices(options.which, os.path.abspath(options.rc) if options.rc else "")
    try:
        plan = plan_change(context.session.world, look_at_gpus(context.session), wish)
    except WishError as error:
        raise UsageError(error.reason) from error
    except RepairError as error:
        return refuse(options, context, error.reason)
    chosen = plan.devices.values if plan.devices is not None else ()
    hidden = plan.devices.hidden if plan.devices is not None else ()
    members: dict[str, Json] = {"devices": list(chosen), "hidden": list(hidden)}
    return change_files(options, context, PlannedChange(plan, members))
