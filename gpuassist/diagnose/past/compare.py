"""The changes of a machine since it was kept, each once with all that tells of it."""

from __future__ import annotations

from collections.abc import Iterable

from gpuassist.diagnose.past.driver import driver_changes
from gpuassist.diagnose.past.environments import environment_changes
from gpuassist.diagnose.past.hardware import computer_changes, gpu_changes, option_changes, secure_boot_changes
from gpuassist.diagnose.past.looks import Looks
from gpuassist.diagnose.past.moments import SLACK, moment
from gpuassist.diagnose.past.order import ranked
from gpuassist.diagnose.past.shell import setting_changes, startup_changes, terminal_changes
from gpuassist.diagnose.past.system import (
    compiler_changes,
    distribution_changes,
    hold_changes,
    kernel_changes,
    library_changes,
    package_changes,
)
from gpuassist.diagnose.past.toolkits import toolkit_changes
from gpuassist.diagnose.past.transactions import transactions
from gpuassist.model.past import KeptMachine, MachineChange, PackageHistory

_FAMILIES = (
    computer_changes,
    gpu_changes,
    driver_changes,
    kernel_changes,
    secure_boot_changes,
    environment_changes,
    toolkit_changes,
    library_changes,
    compiler_changes,
    distribution_changes,
    package_changes,
    hold_changes,
    option_changes,
    setting_changes,
)


def compare(
    before: KeptMachine | None, now: KeptMachine, history: PackageHistory, blamed: Iterable[str] = ()
) -> tuple[MachineChange, ...]:
    """What changed, what matters most first: `blamed` is what the findings of now point at, as `changed_by` of their problems has
    it, the first finding's first. Where nothing was kept the logs alone tell, all that is in `history`.
    """
    since = moment(before.at) if before is not None else None
    latest = moment(now.at)
    if since is not None and latest is not None and since > latest + SLACK:
        since = None  # kept by a clock that was ahead: nothing can be said of when the logs' entries were
    looks = Looks(before, now, transactions(history.events, since, now.at))
    startup = tuple(startup_changes(looks))
    found = [change for family in _FAMILIES for change in family(looks)]
    return ranked((*found, *startup, *terminal_changes(looks, startup)), tuple(blamed))
