"""What to know beside the steps to another driver: who uses the one that is loaded, Secure Boot, whose machine it is."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.context import Session
from gpuassist.detect.gpu_holders import Role, holding_of, name_of
from gpuassist.diagnose.case import RuleInput
from gpuassist.install.cloud import provider_name
from gpuassist.install.driver_packages import signed
from gpuassist.install.place import InstallPlace
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.families import Family
from gpuassist.model.plan import Step
from gpuassist.model.text import Text, enumerated, text, verbatim

_AT_MOST = 6
_ELSEWHERE = frozenset({Family.WSL, Family.CONTAINER})
_WITHOUT_KEY = frozenset({Family.ARCH, Family.ANY})
_AZURE = "az vm extension set --publisher Microsoft.HpcCompute --name NvidiaGpuDriverLinux --resource-group GROUP --vm-name NAME"


def driver_notes(session: Session, case: RuleInput, move: DriverMove | None, place: InstallPlace) -> tuple[Text, ...]:
    """All of them; none where the driver stays, or is another system's."""
    if move is None or place.family in _ELSEWHERE:
        return ()
    return (*_secure_boot(move, place), *_cloud(place), *_in_use(session, case), *_hybrid(place))


def root_notes(place: InstallPlace, steps: tuple[Step, ...]) -> tuple[Text, ...]:
    """What remains for somebody else where this user may not become root."""
    if place.system.administrator or not any(one.needs_root for one in steps):
        return ()
    return (
        text(
            "some steps need root, and your account is in none of the groups that may become root: the administrator of this "
            "machine can take them"
        ),
    )


def _secure_boot(move: DriverMove, place: InstallPlace) -> Iterator[Text]:
    if not place.system.secure_boot:
        return
    if place.system.part:
        yield text(
            "Secure Boot is on, and this driver is not signed: switch Secure Boot off in the settings of the virtual machine first"
        )
    elif signed(move, place) or (place.family is Family.OPENSUSE and move.open_module):
        yield text("Secure Boot is on; these modules come signed with the distribution's key, which this computer knows")
    elif place.family in _WITHOUT_KEY:
        yield text("Secure Boot is on: the new module must be signed with a key that this computer knows, or it will not be loaded")


def _cloud(place: InstallPlace) -> Iterator[Text]:
    provider = place.system.provider
    if provider == "azure":
        yield text("Azure installs the same from outside, from a shell with its command line: {command}", command=verbatim(_AZURE))
    elif provider == "aws" and place.system.part:
        yield text("the bucket can be read with credentials alone: those of a role of the instance with AmazonS3ReadOnlyAccess")
    elif provider:
        yield text(
            "{provider} has images that bring a driver along: a new machine from one of them needs none of these steps",
            provider=provider_name(provider),
        )


def _in_use(session: Session, case: RuleInput) -> Iterator[Text]:
    """The driver that is loaded works on until the restart, beside libraries that are already the new ones."""
    held = [one for one in holding_of(session, case.machine).held if one.role is not Role.INVISIBLE]
    if not held:
        return
    rest = len(held) - _AT_MOST
    names = [*(f"{name_of(one.holder)} ({one.holder.pid})" for one in held[:_AT_MOST]), *((f"+{rest}",) if rest > 0 else ())]
    yield text(
        "the driver is in use by {names}: let what computes there end first, because the restart ends it, and start nothing new on "
        "the GPUs in between",
        names=enumerated(names),
    )
    if not any(one.role is Role.DESKTOP for one in held):
        lines = session.knowledge.commands.render("module-reload", (), {})
        yield text(
            "no desktop uses the GPUs: once those have ended, {commands} puts the new driver to work without a restart",
            commands=verbatim(" && ".join(f"`{line}`" for line in lines)),
        )


def _hybrid(place: InstallPlace) -> Iterator[Text]:
    if place.system.hybrid and place.family is not Family.UBUNTU:
        yield text(
            "a laptop with two graphics processors: nothing is to be switched for CUDA, which finds the NVIDIA GPU in any mode but "
            "the one that turns it off"
        )
