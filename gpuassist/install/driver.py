"""What another driver takes: its steps, by the distribution's packages or in the provider's way, and what to know beside them."""

from __future__ import annotations

from gpuassist.context import Session
from gpuassist.detect.gpu_holders import Role, holding_of, name_of
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.rules.fabric import fabric_is_ready
from gpuassist.install.driver_release import release_step, releases_before
from gpuassist.install.driver_shelf import comes_instead, ended_branch
from gpuassist.install.drivers.baseboard import fabric_check, fabric_steps
from gpuassist.install.drivers.cloud import cloud_uses, cloud_words, console_of, guest_step, provider_name
from gpuassist.install.drivers.packages import (
    Brings,
    DistributionPackages,
    SigningKey,
    flavour_of,
    held,
    packages_of,
)
from gpuassist.install.place import InstallPlace, step
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import Commands, UsedCommand, use
from gpuassist.knowledge.driver_packages import Extent, Reach
from gpuassist.model.fact import Known
from gpuassist.model.finding import Undetermined
from gpuassist.model.plan import OPEN_MODULES, Proves, Step, StepKind, StepProof
from gpuassist.model.text import Text, enumerated, text, verbatim

LISTED = text("`nvidia-smi` lists every GPU")
AT_WORK = StepProof(Proves.DRIVER)


def driver_uses(move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
    """The commands that install it: the provider's where it has a way of its own; none where no packages hold such a driver."""
    packages = packages_of(place.family)
    if place.shelf is not None and not packages.own_way(move, place):
        found = place.shelf.look(move.version.major, open_module=move.open_module, pinned=move.pinned)
        if found.reach is not Reach.HELD:
            return cloud_uses(move, place)
    return cloud_uses(move, place) or packages.install(move, place)


def removal(move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
    """What of the driver that is there has to go first."""
    by_installer = (use("runfile-driver-remove"),) if place.system.uninstaller else ()
    if place.system.mixed:
        return (*by_installer, use("driver-packages-remove"))
    return by_installer or packages_of(place.family).removal(move, place)


def driver_steps(move: DriverMove, place: InstallPlace, commands: Commands) -> tuple[Step, ...]:
    """Installing the driver, and the restart that brings it to work; the one step that there is where it is another system's."""
    packages = packages_of(place.family)
    elsewhere = packages.elsewhere(move, place, commands)
    elsewhere = elsewhere or guest_step(place)
    if elsewhere is not None:
        return (elsewhere,)
    by_hand = packages.by_hand(move, place, commands)
    if by_hand is not None:
        return (by_hand,) if not by_hand.commands else (by_hand, _restart(place, commands, StepProof(Proves.DRIVER)))
    uses = driver_uses(move, place)
    if not uses and (question := packages.ask(move, place)) is not None:
        return (_question(move, question, place, commands),)
    gone, steps = removal(move, place), [*_released(move, place, commands, uses)]
    brings = Brings.THEIRS if cloud_words(place, uses) is not None else packages.brings(move, place)
    may_be_secure = bool(uses) and place.system.secure_boot is not False
    before = may_be_secure and packages.signing_key is SigningKey.BEFORE
    after = may_be_secure and packages.signing_key is SigningKey.BUILDING and not packages.signed(move, place)
    other_key = packages.key_step(place, commands) if may_be_secure else None
    if other_key is not None:
        before = after = False
        steps.append(other_key)
    if before:
        steps.append(_register_key("key-prepare", place, commands))
    if uses and uses[0].key in packages.restart_after:
        does = text("Add the repositories that hold the driver, which the next start brings")
        steps += (step(uses[:1], place, commands, (does, None)), step((use("reboot"),), place, commands, _RESTART))
        uses = uses[1:]
    if gone:
        does = text(
            "Remove the driver that is there first: its packages and the new ones cannot stand side by side, and until the restart "
            "no GPU computes"
        )
        steps.append(step(gone, place, commands, (does, None)))
    steps.append(_installing(move, place, commands, packages=packages, uses=uses, brings=brings))
    board = place.system.baseboard
    if board is not None:
        steps += fabric_steps(board, move.version.major, place, commands)
    if after:
        steps.append(_register_key("key-enroll", place, commands))
    if place.system.hybrid and packages.hybrid_command:
        does = text(
            "Let the processor's graphics draw and the NVIDIA GPU compute: in this mode it sleeps while nothing uses it, and "
            "programs for CUDA find it all the same"
        )
        check = text("`prime-select query` says on-demand")
        steps.append(step((use(packages.hybrid_command),), place, commands, (does, check)))
    # Which driver is loaded then: one of the branch, one that is no older, or whichever the provider or the distribution gives.
    if brings is Brings.THEIRS:
        proof = StepProof(Proves.DRIVER)
    else:
        modules = OPEN_MODULES if move.open_module and place.system.needs_open else ""
        proof = StepProof(Proves.DRIVER, modules, f"{move.version}{'+' if brings is Brings.NEWEST else ''}")
    enrolled = bool((before or after) and place.system.secure_boot)
    restart = _restart(place, commands, proof, enrolled=enrolled)
    kept = _kept_there(place, commands) if place.system.last_branch == move.version.major and moves_on(move, place) else ()
    return (*steps, restart, *((fabric_check(place, commands),) if board is not None else ()), *kept)


def _released(move: DriverMove, place: InstallPlace, commands: Commands, uses: tuple[UsedCommand, ...]) -> tuple[Step, ...]:
    """What keeps this driver from being installed goes first: a package manager refuses to change what is on hold."""
    of_nvidia = any(one.key == "cuda-repository-add" for one in uses)
    holds = releases_before(move.version.major, place, of_nvidia=of_nvidia)
    return (release_step(holds, place, commands),) if holds and uses else ()


def _kept_there(place: InstallPlace, commands: Commands) -> tuple[Step, ...]:
    """After the restart, where the next upgrade of these packages would leave a GPU behind."""
    does = text("Hold this driver: these packages follow the newest branch, which no longer serves every GPU of this machine")
    return (step((use("plan", goal="hold"),), place, commands, (does, None)),)


def moves_on(move: DriverMove, place: InstallPlace) -> bool:
    """Whether an upgrade of what was installed leads to a later branch: the row is of the newest, whichever that is."""
    record = held(move, place)
    return record is not None and record.extent is Extent.ROLLING


_RESTART = (text("Restart the computer"), None)


def _restart(place: InstallPlace, commands: Commands, proof: StepProof, *, enrolled: bool = False) -> Step:
    """Who registered a key answers for it before the system starts."""
    words: tuple[Text, Text | None] = _RESTART
    if enrolled:
        does = text(
            "Restart the computer with its own keyboard and screen at hand: in the blue screen choose Enroll MOK, Continue, Yes, "
            "and type the password"
        )
        if place.system.provider:
            does = text(
                "Restart the machine from a console of {provider} that shows what comes before the system ({console}): there "
                "choose Enroll MOK, Continue, Yes, and type the password. Where there is none, do not register a key: switch "
                "Secure Boot off in the settings of the virtual machine instead",
                provider=provider_name(place.system.provider),
                console=console_of(place.system.provider),
            )
        words = (does, text("`mokutil --list-enrolled` names the key"))
    return step((use("reboot"),), place, commands, words, proof=proof)


def _question(move: DriverMove, question: UsedCommand, place: InstallPlace, commands: Commands) -> Step:
    """What tells whether the packages hold the driver: one that does not serve the GPU would take its picture away."""
    words: dict[str, str | Text] = {"branch": str(move.version.major), "flavour": flavour_of(open_module=move.open_module)}
    does = text(
        "See whether the packages of this release hold a driver of branch {branch}, {flavour}, which is not known here: where "
        "they do, install it in the way that your distribution describes; where they do not, or lead to another branch, leave "
        "nouveau as it is",
        **words,
    )
    if place.system.driver is not None:
        does = text(
            "See whether the packages of this release hold a driver of branch {branch}, {flavour}, which is not known here: where "
            "they do, install it in the way that your distribution describes; where they do not, or lead to another branch, leave "
            "the driver that is there as it is",
            **words,
        )
    return step((question,), place, commands, (does, None))


def _installing(
    move: DriverMove,
    place: InstallPlace,
    commands: Commands,
    *,
    packages: DistributionPackages,
    uses: tuple[UsedCommand, ...],
    brings: Brings,
) -> Step:
    branch, flavour = str(move.version.major), flavour_of(open_module=move.open_module)
    if not uses:
        check = text("after the restart, `nvidia-smi` lists every GPU")
    elif brings is Brings.BRANCH:
        check = text("after the restart, `nvidia-smi` lists every GPU and shows a driver of branch {branch}", branch=branch)
    elif brings is Brings.NEWEST:
        check = text("after the restart, `nvidia-smi` lists every GPU; its driver is the newest of these packages")
    else:
        check = text("after the restart, `nvidia-smi` lists every GPU; its driver is the one that their makers chose")
    if not uses:
        does = text(
            "Install NVIDIA's driver, branch {branch}, {flavour}, in the way that your distribution describes",
            branch=branch,
            flavour=flavour,
        )
        return Step(StepKind.ROOT_COMMAND, does, check=check, needs_root=True)
    does = cloud_words(place, uses) or packages.does(uses, branch, flavour, brings)
    return step(uses, place, commands, (does, check))


def _register_key(key: str, place: InstallPlace, commands: Commands) -> Step:
    """Where Secure Boot is on, or where that could not be told, whoever takes the step sees it first."""
    if place.system.secure_boot:
        does = text(
            "Register the key that the module is signed with, because Secure Boot is on; it asks for a password of your choice, "
            "which the restart asks for again"
        )
        return step((use(key),), place, commands, (does, text("`mokutil --list-new` names the key")))
    does = text(
        "Only where the first line says that Secure Boot is enabled, which could not be told from here: register the key that the "
        "module is signed with; it asks for a password, which the restart asks for again"
    )
    return step((use("secure-boot-state"), use(key)), place, commands, (does, None))


# What to know beside the steps: who uses the driver that is loaded, Secure Boot, whose machine it is.


_AT_MOST = 6
_AZURE = "az vm extension set --publisher Microsoft.HpcCompute --name NvidiaGpuDriverLinux --resource-group GROUP --vm-name NAME"


def driver_notes(session: Session, case: RuleInput, move: DriverMove | None, place: InstallPlace) -> tuple[Text, ...]:
    """All of them; none where the driver stays, or is another system's."""
    packages = packages_of(place.family)
    if move is None or packages.elsewhere(move, place, session.knowledge.commands) is not None:
        return ()
    notes: list[Text] = []
    if _released(move, place, session.knowledge.commands, driver_uses(move, place)):
        notes.append(
            text("the driver's packages are on hold; the first step lets go of that, and `gpuassist plan hold` holds the new ones")
        )
    if move.asked is not None:
        notes.append(comes_instead(move.asked, move.version, case))
    if packages.brings(move, place) is not Brings.NEWEST and (ended := ended_branch(case, move.version.major)) is not None:
        notes.append(ended)
    if place.system.secure_boot and place.system.part:
        notes.append(
            text(
                "Secure Boot is on, and this driver is not signed: switch Secure Boot off in the settings of the virtual machine "
                "first"
            )
        )
    elif place.system.secure_boot and packages.signed(move, place) and driver_uses(move, place):
        notes.append(text("Secure Boot is on; these modules come signed with the distribution's key, which this computer knows"))
    elif place.system.secure_boot and packages.signing_key is SigningKey.BY_HAND:
        notes.append(
            text("Secure Boot is on: the new module must be signed with a key that this computer knows, or it will not be loaded")
        )
    notes += (
        *(packages.remarks(move, place) if driver_uses(move, place) else ()),
        *_of_the_provider(place),
        *_in_use(session, case),
    )
    if place.system.hybrid and not packages.hybrid_command:
        notes.append(
            text(
                "a laptop with two graphics processors: nothing is to be switched for CUDA, which finds the NVIDIA GPU in any "
                "mode but the one that turns it off"
            )
        )
    return tuple(notes)


def fabric_notes(case: RuleInput, place: InstallPlace, commands: Commands) -> tuple[Text, ...]:
    """Where the driver stays, and whether the service beside it runs is not known."""
    unknown = any(isinstance(one, Undetermined) for one in fabric_is_ready(case))
    if not unknown or case.baseboard is None or not isinstance(case.driver, Known):
        return ()
    steps = fabric_steps(case.baseboard, case.driver.value.major, place, commands, there=case.driver.value)
    lines = [line for one in steps for line in one.commands]
    told = text(
        "the NVSwitches of {board} need NVIDIA's Fabric Manager of exactly version {version}, without which every program for CUDA "
        "ends with error 802; whether it runs is not known here, and `systemctl is-active nvidia-fabricmanager` tells. Where it is "
        "missing: {commands}",
        board=case.baseboard.name,
        version=str(case.driver.value),
        commands=verbatim(" && ".join(f"`{line}`" for line in lines)),
    )
    return (told,)


def _of_the_provider(place: InstallPlace) -> tuple[Text, ...]:
    provider = place.system.provider
    if provider == "azure":
        return (
            text("Azure installs the same from outside, from a shell with its command line: {command}", command=verbatim(_AZURE)),
        )
    if provider == "aws" and place.system.part:
        return (text("the bucket can be read with credentials alone: those of a role of the instance with AmazonS3ReadOnlyAccess"),)
    if not provider:
        return ()
    return (
        text(
            "{provider} has images that bring a driver along: a new machine from one of them needs none of these steps",
            provider=provider_name(provider),
        ),
    )


def _in_use(session: Session, case: RuleInput) -> tuple[Text, ...]:
    """The driver that is loaded works on until the restart, beside libraries that are already the new ones."""
    using = [one for one in holding_of(session, case.machine).held if one.role is not Role.INVISIBLE]
    if not using:
        return ()
    rest = len(using) - _AT_MOST
    names = [*(f"{name_of(one.holder)} ({one.holder.pid})" for one in using[:_AT_MOST]), *((f"+{rest}",) if rest > 0 else ())]
    used = text(
        "the driver is in use by {names}: let what computes there end first, because the restart ends it, and start nothing new on "
        "the GPUs in between",
        names=enumerated(names),
    )
    if any(one.role is Role.DESKTOP for one in using):
        return (used,)
    lines = session.knowledge.commands.render("module-reload", (), {})
    reload = text(
        "no desktop uses the GPUs: once those have ended, {commands} puts the new driver to work without a restart",
        commands=verbatim(" && ".join(f"`{line}`" for line in lines)),
    )
    return used, reload
