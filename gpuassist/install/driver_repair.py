"""The steps that bring a driver to work which is there and fits: loaded, built or signed for the kernel that runs, whole."""

from __future__ import annotations

from gpuassist.context import Session
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.catalogue import Catalogue
from gpuassist.diagnose.rules import driver, driver_setup, presence
from gpuassist.diagnose.rules.cards import programs_find_an_instance
from gpuassist.diagnose.rules.driver import libraries_match_module, library_is_there
from gpuassist.diagnose.rules.fabric import fabric_is_ready
from gpuassist.diagnose.rules.presence import best_driver, named_cause
from gpuassist.install.configuration import kernel_version, shelf_of_machine, waiting_module
from gpuassist.install.driver import AT_WORK, LISTED, driver_steps
from gpuassist.install.drivers.baseboard import fabric_check, fabric_steps
from gpuassist.install.drivers.container import libraries_of_host
from gpuassist.install.drivers.packages import packages_of, surroundings_of
from gpuassist.install.next_start import steps_before_restart
from gpuassist.install.place import InstallPlace, step
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import Commands, UsedCommand, use
from gpuassist.knowledge.smallest import on_shelf
from gpuassist.model.chain import Chain, Part, Status
from gpuassist.model.driver import KernelModule
from gpuassist.model.fact import Known, value_or
from gpuassist.model.finding import Action, Finding, Severity
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import text, verbatim
from gpuassist.model.version import Version

_NO_INSTANCE = "mig-without-instance"
_KINDS = {Action.REBOOT: StepKind.REBOOT, Action.HARDWARE: StepKind.HARDWARE, Action.NEW_SHELL: StepKind.NEW_SHELL}


def mending_steps(
    session: Session, case: RuleInput, chains: tuple[Chain, ...], place: InstallPlace, *, whole: bool = False
) -> tuple[Step, ...]:
    """The steps that bring the driver to work which is there; none where it works. `whole` also mends what will break it."""
    commands = session.knowledge.commands
    unjoined = next((one for one in fabric_is_ready(case) if isinstance(one, Finding)), None)
    if unjoined is not None and case.baseboard is not None and isinstance(case.driver, Known):
        starts = text("Start the service, and see what it says")
        branch = case.driver.value.major
        installs = (
            fabric_steps(case.baseboard, branch, place, commands, there=case.driver.value)
            if unjoined.parameter("missing") or unjoined.parameter("other")
            else ()
        )
        return (
            *installs,
            step((use("fabric-manager-start"), use("fabric-manager-log")), place, commands, (starts, None)),
            fabric_check(place, commands),
        )
    findings = (one for one in programs_find_an_instance(case) if isinstance(one, Finding))
    empty = next((one for one in findings if one.problem == _NO_INSTANCE), None)
    if empty is not None:
        return _remedy_of(session, empty, case, place)
    every = (joint for chain in chains for joint in chain.joints if (joint.first, joint.second) == (Part.GPU, Part.DRIVER))
    reason = next((joint.reason for joint in every if joint.status is Status.PROBLEM), None)
    best, shelf = best_driver(case), shelf_of_machine(case)
    if best.best is not None and shelf is not None:
        best = on_shelf(best, case.wishes, shelf, today=case.machine.taken_at[:10])
    anew = (
        driver_steps(DriverMove(Version((best.best.branch,)), best.open_module), place, commands) if best.best is not None else ()
    )
    if place.system.mixed and anew and (whole or reason is not None):
        return anew
    if reason is None:
        return steps_before_restart(case, place, commands) if whole else ()
    waiting = waiting_module(case)
    if waiting is not None and not waiting.path and (anew := _instead_of_building(case, waiting, place, anew)):
        return anew
    if waiting is not None and case.virtual and value_or(case.machine.driver.driver_packages, ()):
        # The distribution's driver, which runs no part of a GPU, is not brought to work but taken out.
        does = text("Take the distribution's driver out: it runs no virtual GPU, and the guest driver does not stand beside it")
        return (step((use("driver-packages-remove"),), place, commands, (does, None)), *anew)
    if waiting is not None:
        cause = next((one for one in named_cause(case) if isinstance(one, Finding)), None)
        return _remedy_of(session, cause, case, place) if cause is not None else _loading(case, waiting, place, commands)
    mismatch = next((one for one in libraries_match_module(case) if isinstance(one, Finding)), None)
    library = next((one for one in library_is_there(case) if isinstance(one, Finding)), None)
    if case.system_container and (mismatch or library) and isinstance(case.driver, Known):
        packages = bool(value_or(case.machine.driver.driver_packages, ()))
        return (libraries_of_host(case.driver.value, place, commands, packages=packages),)
    if mismatch is not None and mismatch.parameter("reboot_is_enough"):
        does = text("Restart the computer: the driver was updated, and the old one is still loaded")
        return (step((use("reboot"),), place, commands, (does, LISTED), proof=AT_WORK),)
    if library is not None and not case.container and commands.record("cuda-library-install", place.families) is not None:
        does = text("Install the driver's library for CUDA, which is missing beside its kernel module")
        uses: tuple[UsedCommand, ...] = (
            packages_of(place.family).library(str(library.parameter("branch"))),
            use("loader-cache-rebuild"),
        )
        return (step(uses, place, commands, (does, text("`gpuassist doctor` no longer says that libcuda is missing"))),)
    rules = (*presence.RULES, *driver_setup.RULES, *driver.RULES)
    found = (one for rule in rules for one in rule(case) if isinstance(one, Finding))
    for finding in found:
        steps = _remedy_of(session, finding, case, place)
        if steps:
            return steps
    does = text("Mend the driver that is there ({reason}): this names the remedy", reason=reason)
    return (step((use("doctor"),), place, commands, (does, None)),)


def _remedy_of(session: Session, finding: Finding, case: RuleInput, place: InstallPlace) -> tuple[Step, ...]:
    """The first remedy of a problem that is mended and not installed, as a step; none of one that is harmless."""
    catalogue = Catalogue(session.world.resources.read, session.knowledge.commands)
    answer = catalogue.answer(finding, families=place.families, words=session.words, surroundings=surroundings_of(case.machine))
    if answer.severity is not Severity.PROBLEM or not answer.remedies:
        return ()
    remedy = answer.remedies[0]
    kind = StepKind.ROOT_COMMAND if remedy.needs_root else _KINDS.get(remedy.action, StepKind.COMMAND)
    lines = tuple(line for one in remedy.commands for line in one.lines)
    check = verbatim(remedy.check) if remedy.check else None
    proof = AT_WORK if remedy.action is Action.REBOOT else None
    return (Step(kind, verbatim(remedy.text), lines, check=check, needs_root=remedy.needs_root, proof=proof),)


def _instead_of_building(case: RuleInput, waiting: KernelModule, place: InstallPlace, anew: tuple[Step, ...]) -> tuple[Step, ...]:
    """Where no module can be built of the driver that is installed: NVIDIA's installer tells nobody of its sources, and a branch is
    not built for every kernel. Then the packages' driver, or what is left where they have none.
    """
    if place.system.uninstaller and anew:
        return anew
    branch = waiting.version.value.major if isinstance(waiting.version, Known) else 0
    rows = [one for one in case.knowledge.driver_packages() if one.branch == branch and one.newest_kernel is not None]
    here = [one for one in rows if (one.distribution, one.release) == place.system.base]
    alike = [one for one in rows if one.distribution == place.system.base[0]]  # its packages of another release
    newest = max((one.newest_kernel for one in here or alike if one.newest_kernel is not None), default=None)
    kernel = kernel_version(case.machine.host)
    if newest is None or kernel is None or kernel.release <= newest.release:
        return ()
    choice = best_driver(case).best
    if choice is not None and choice.branch != branch and anew:
        return anew
    does = text(
        "Start this system with a kernel up to {newest}, from the menu that comes before it, where one is still installed: the "
        "driver that is there is of branch {branch}, whose module is known to be built for kernels up to that one, and {kernel} "
        "runs here. Where there is none, take the driver's packages out, so that nouveau draws the desktop again",
        newest=str(newest),
        branch=str(branch),
        kernel=value_or(case.machine.host.kernel, ""),
    )
    return (Step(StepKind.REBOOT, does, check=LISTED, proof=AT_WORK),)


def _loading(case: RuleInput, waiting: KernelModule, place: InstallPlace, commands: Commands) -> tuple[Step, ...]:
    again = step((use("reboot"),), place, commands, (text("Restart the computer"), LISTED), proof=AT_WORK)
    packages = packages_of(place.family)
    if not waiting.path and place.system.image:
        does = text(
            "Go back to the deployment that started before this one, whose kernel had the driver's module; an update of the image "
            "brings both together again"
        )
        return step((use("deployment-rollback"),), place, commands, (does, None)), again
    if not waiting.path:
        does = text(
            "Bring the driver's module for the running kernel: the driver is installed, and this kernel has no module of it"
        )
        uses = packages.module_anew(place, value_or(case.machine.driver.driver_packages, ()))
        if uses:
            return step(uses, place, commands, (does, None)), again
        does = text("Restart the computer: the driver's module was installed for another kernel than the one that still runs")
        return (step((use("reboot"),), place, commands, (does, LISTED), proof=AT_WORK),)
    if any(case.held_by(card) for card in case.cards):
        if presence.bars(case, "nouveau"):
            does = text("Write the early boot image anew: it is older than the line that forbids nouveau, and still starts it")
            return step((use("initramfs-rebuild"),), place, commands, (does, None)), again
        # The packages of every distribution and NVIDIA's installer forbid it: mostly only the restart is missing.
        first = text("Restart the computer: NVIDIA's driver is installed, and nouveau has the GPU until then")
        does = text("Only where nouveau has the GPU after that as well: keep it from taking it, and restart once more")
        keep = (use("nouveau-blacklist"), use("reboot"))
        return (
            step((use("reboot"),), place, commands, (first, LISTED), proof=AT_WORK),
            step(keep, place, commands, (does, LISTED), proof=AT_WORK),
        )
    secure = case.machine.host.secure_boot.is_true
    other_key = packages.key_step(place, commands) if secure else None
    if other_key is not None:
        return other_key, again
    if secure and commands.record("key-enroll", place.families) is not None:
        does = text("Enroll the key that the module is signed with, because Secure Boot is on; the restart asks for the password")
        return step((use("key-enroll"),), place, commands, (does, None)), again
    does = text("Load the driver's module, which is installed and not loaded")
    return (step((use("module-load"),), place, commands, (does, LISTED), proof=AT_WORK),)
