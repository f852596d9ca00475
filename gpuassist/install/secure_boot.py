"""The key that a driver's module is signed with, where Secure Boot is on: made and registered, then confirmed at the next start."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.install.place import Place, step, use
from gpuassist.knowledge.commands import Commands
from gpuassist.knowledge.records import Family
from gpuassist.model.plan import Step, StepProof
from gpuassist.model.text import Text, text

# Fedora's akmods signs while it builds, so that its key must be there first; dkms makes its own when it builds the first module.
_BEFORE = frozenset({Family.FEDORA})
_AFTER = frozenset({Family.UBUNTU, Family.DEBIAN, Family.RHEL, Family.OPENSUSE})
_CHECK = text("`mokutil --list-new` names the key")


def key_before(place: Place, commands: Commands) -> Iterator[Step]:
    """Making and registering the key, where the module is signed while it is built."""
    if place.family in _BEFORE and place.system.secure_boot is not False:
        yield _enroll("key-prepare", place, commands)


def key_after(place: Place, commands: Commands, *, opened: bool, signed: bool) -> Iterator[Step]:
    """Registering the key that the installation made; `signed` says that the modules come with a key that the computer knows."""
    known = signed or (place.family is Family.OPENSUSE and opened)
    if place.family in _AFTER and place.system.secure_boot is not False and not known:
        yield _enroll("key-enroll", place, commands)


def restart(place: Place, commands: Commands, *, enrolled: bool, proof: StepProof) -> Step:
    """The restart, at which a registered key is confirmed."""
    if not enrolled:
        return step((use("reboot"),), place, commands, (text("Restart the computer"), None), proof=proof)
    does = text(
        "Restart the computer with its own keyboard and screen at hand: in the blue screen choose Enroll MOK, Continue, Yes, and "
        "type the password"
    )
    return step((use("reboot"),), place, commands, (does, text("`mokutil --list-enrolled` names the key")), proof=proof)


def _enroll(key: str, place: Place, commands: Commands) -> Step:
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
