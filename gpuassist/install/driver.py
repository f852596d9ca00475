"""The steps to another driver: by the distribution's packages or NVIDIA's, in Windows under WSL2, on the host of a container."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.install.cloud import cloud_words
from gpuassist.install.driver_packages import driver_uses, removal, signed
from gpuassist.install.place import InstallPlace, step
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import Commands, UsedCommand, use
from gpuassist.knowledge.families import Family
from gpuassist.model.plan import OPEN_MODULES, Proves, Step, StepKind, StepProof
from gpuassist.model.text import Text, text


def driver_steps(move: DriverMove, place: InstallPlace, commands: Commands) -> Iterator[Step]:
    """Installing the driver, and the restart that brings it to work."""
    if place.family is Family.WSL:
        version = str(move.version)
        does = text(
            "In Windows, install NVIDIA's driver {version} or newer; then bring WSL up to date. Linux needs no driver",
            version=version,
        )
        check = text("`nvidia-smi` in a new WSL window shows driver {version} or newer", version=version)
        yield step((use("wsl-update"),), place, commands, (does, check), proof=_proof(move))
    elif place.family is Family.CONTAINER:
        yield _on_the_host(move) if place.driver_there else _not_handed_in(move, place, commands)
    else:
        uses = driver_uses(move, place)
        before = tuple(key_before(place, commands)) if uses else ()
        after = tuple(key_after(place, commands, opened=move.open_module, signed=signed(move, place))) if uses else ()
        yield from before
        yield from _removed(move, place, commands)
        yield _installed(move, uses, place, commands)
        yield from after
        if place.system.hybrid and place.family is Family.UBUNTU:
            yield step((use("prime-on-demand"),), place, commands, (_hybrid(), text("`prime-select query` says on-demand")))
        enrolled = bool(before or after) and place.system.secure_boot is True
        yield restart(place, commands, enrolled=enrolled, proof=_proof(move, place, uses))


def _on_the_host(move: DriverMove) -> Step:
    version = str(move.version)
    does = text(
        "On the host, not in this container, install NVIDIA's driver {version} or newer, {flavour}; then start a new container",
        version=version,
        flavour=_flavour(move),
    )
    check = text("`nvidia-smi` in the new container shows driver {version} or newer", version=version)
    return Step(StepKind.ROOT_COMMAND, does, check=check, needs_root=True, proof=_proof(move))


def _not_handed_in(move: DriverMove, place: InstallPlace, commands: Commands) -> Step:
    does = text(
        "On the host, start this container with its GPUs (`--gpus all`); the command tells whether they reach one. Where they do "
        "not, the host needs NVIDIA's driver, {version} for instance, and the NVIDIA Container Toolkit",
        version=str(move.version),
    )
    return step((use("container-check"),), place, commands, (does, text("`nvidia-smi` in the new container lists every GPU")))


def _removed(move: DriverMove, place: InstallPlace, commands: Commands) -> Iterator[Step]:
    uses = removal(move, place)
    if uses:
        does = text(
            "Remove the driver that is there first: its packages and the new ones cannot stand side by side, and until the restart "
            "no GPU computes"
        )
        yield step(uses, place, commands, (does, None))


def _installed(move: DriverMove, uses: tuple[UsedCommand, ...], place: InstallPlace, commands: Commands) -> Step:
    if not _is_newest(move, place, uses):
        branch = str(move.version.major)
        check = text("after the restart, `nvidia-smi` lists every GPU and shows a driver of branch {branch}", branch=branch)
    else:
        check = text("after the restart, `nvidia-smi` lists every GPU; its driver is the newest of these packages")
    words: dict[str, str | Text] = {"branch": str(move.version.major), "flavour": _flavour(move)}
    if not uses:
        does = text("Install NVIDIA's driver, branch {branch}, {flavour}, in the way that your distribution describes", **words)
        return Step(StepKind.ROOT_COMMAND, does, check=check, needs_root=True)
    does = text("Install NVIDIA's driver, branch {branch}, {flavour}", **words)
    if place.family is Family.FEDORA and uses[0].key != "cuda-repository-add":
        does = text("With RPM Fusion's nonfree repository enabled, install NVIDIA's driver, branch {branch}, {flavour}", **words)
    if place.family is Family.ARCH and any(one.key == "driver-install-proprietary" for one in uses):
        does = text(
            "Install NVIDIA's driver, branch {branch}, from the AUR, after the headers that its module is built with", **words
        )
    if _is_debians(place, uses):
        does = text(
            "With Debian's contrib, non-free and non-free-firmware enabled, install Debian's own driver, {flavour}", **words
        )
    return step(uses, place, commands, (cloud_words(place, uses) or does, check))


def _is_newest(move: DriverMove, place: InstallPlace, uses: tuple[UsedCommand, ...]) -> bool:
    """Whether the packages have one driver alone, whichever that is by now."""
    if cloud_words(place, uses) is not None or _is_debians(place, uses):
        return True
    return move.open_module and not move.pinned and place.family is not Family.UBUNTU


def _is_debians(place: InstallPlace, uses: tuple[UsedCommand, ...]) -> bool:
    return place.family is Family.DEBIAN and any(one.key == "driver-install-proprietary" for one in uses)


def _hybrid() -> Text:
    return text(
        "Let the processor's graphics draw and the NVIDIA GPU compute: in this mode it sleeps while nothing uses it, and programs "
        "for CUDA find it all the same"
    )


def _flavour(move: DriverMove) -> Text:
    return text("with the open kernel modules") if move.open_module else text("with the proprietary kernel module")


def _proof(move: DriverMove, place: InstallPlace | None = None, uses: tuple[UsedCommand, ...] = ()) -> StepProof:
    """A driver of the branch; one that is no older where the packages hold only their newest; whichever a provider gives."""
    if place is None:
        return StepProof(Proves.DRIVER, wanted=f"{move.version}+")
    if cloud_words(place, uses) is not None or _is_debians(place, uses):
        return StepProof(Proves.DRIVER)
    modules = OPEN_MODULES if move.open_module and place.system.needs_open else ""
    newest = "+" if _is_newest(move, place, uses) else ""
    return StepProof(Proves.DRIVER, modules, f"{move.version}{newest}")


# The key that a driver's module is signed with, where Secure Boot is on: made and registered, then confirmed at the next start.


# Fedora's akmods signs while it builds, so that its key must be there first; dkms makes its own when it builds the first module.
_BEFORE = frozenset({Family.FEDORA})
_AFTER = frozenset({Family.UBUNTU, Family.DEBIAN, Family.RHEL, Family.OPENSUSE})
_CHECK = text("`mokutil --list-new` names the key")


def key_before(place: InstallPlace, commands: Commands) -> Iterator[Step]:
    """Making and registering the key, where the module is signed while it is built."""
    if place.family in _BEFORE and place.system.secure_boot is not False:
        yield _enroll("key-prepare", place, commands)


def key_after(place: InstallPlace, commands: Commands, *, opened: bool, signed: bool) -> Iterator[Step]:
    """Registering the key that the installation made; `signed` says that the modules come with a key that the computer knows."""
    known = signed or (place.family is Family.OPENSUSE and opened)
    if place.family in _AFTER and place.system.secure_boot is not False and not known:
        yield _enroll("key-enroll", place, commands)


def restart(place: InstallPlace, commands: Commands, *, enrolled: bool, proof: StepProof) -> Step:
    """The restart, at which a registered key is confirmed."""
    if not enrolled:
        return step((use("reboot"),), place, commands, (text("Restart the computer"), None), proof=proof)
    does = text(
        "Restart the computer with its own keyboard and screen at hand: in the blue screen choose Enroll MOK, Continue, Yes, and "
        "type the password"
    )
    return step((use("reboot"),), place, commands, (does, text("`mokutil --list-enrolled` names the key")), proof=proof)


def _enroll(key: str, place: InstallPlace, commands: Commands) -> Step:
    if place.system.secure_boot:
        return step((use(key),), place, commands, (_because(), _CHECK))
    does = text(
        "Only where the first line says that Secure Boot is enabled, which could not be told from here: register the key that the "
        "module is signed with; it asks for a password, which the restart asks for again"
    )
    return step((use("secure-boot-state"), use(key)), place, commands, (does, None))


def _because() -> Text:
    return text(
        "Register the key that the module is signed with, because Secure Boot is on; it asks for a password of your choice, which "
        "the restart asks for again"
    )
