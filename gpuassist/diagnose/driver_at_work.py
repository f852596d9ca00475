"""Which driver a machine is judged by: that which the next start loads, by the numbers of Linux, as all that is known counts."""

from __future__ import annotations

from gpuassist.knowledge.driver_numbers import JetPackRecord, branch_of_cuda, jetpack_of, windows_branch
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.driver import KernelModule
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.model.version import Version


def waiting_for_restart(machine: Machine, running: Fact[Version]) -> KernelModule | None:
    """The module of another version than the one that runs, where the libraries on disk are its own: an update was installed. For
    the kernel that runs, or for another which starts next.
    """
    driver = machine.driver
    if not value_or(driver.loaded, ()) or isinstance(running, Unknown):
        return None
    libraries = {one.version.value for one in value_or(driver.libcuda, ()) if isinstance(one.version, Known)}
    for found in (driver.on_disk, machine.next_start.modules):
        modules = {one.version.value: one for one in value_or(found, ()) if isinstance(one.version, Known)}
        if len(modules) == 1 and set(modules) == libraries and running.value not in modules:
            return next(iter(modules.values()))
    return None


def of_windows(machine: Machine, knowledge: Knowledge, driver: Fact[Version]) -> Fact[Version]:
    """Under WSL2: the branch of Windows' driver."""
    if isinstance(driver, Unknown):
        return driver
    cuda = value_or(machine.driver.cuda_version, None)
    branch = windows_branch(driver.value, knowledge.windows_drivers(), knowledge.branches(), cuda=cuda)
    if branch is None:
        return Unknown(text("of which branch Windows' driver {version} is", version=str(driver.value)))
    return Known(Version((branch,)), driver.source)


def of_the_board(machine: Machine, knowledge: Knowledge, driver: Fact[Version]) -> Fact[Version]:
    """On a Jetson: the branch that serves the same CUDA as the board's own driver, which reports it, or whose JetPack is known."""
    cuda, jetpack = machine.driver.cuda_version, jetpack_on(machine, knowledge, driver)
    if isinstance(cuda, Known):
        told: Fact[Version] = cuda
    elif jetpack is not None:
        told = Known(jetpack.cuda, driver.source if isinstance(driver, Known) else f"JetPack {jetpack.release}")
    else:
        return driver
    branch = branch_of_cuda(told.value, knowledge.branches()) if isinstance(told, Known) else None
    return driver if branch is None or isinstance(told, Unknown) else Known(Version((branch,)), told.source)


def jetpack_on(machine: Machine, knowledge: Knowledge, driver: Fact[Version]) -> JetPackRecord | None:
    """The system of a Jetson; None on another computer, and where nothing tells which it is."""
    if not machine.host.jetson.is_true:
        return None
    distribution = machine.host.distribution
    return jetpack_of(
        knowledge.jetpacks(),
        l4t=value_or(machine.host.l4t, ""),
        driver=value_or(driver, None),
        cuda=value_or(machine.driver.cuda_version, None),
        system=distribution.value.version_id if isinstance(distribution, Known) else "",
    )
