"""Fedora: RPM Fusion's packages, whose module akmods builds and signs; NVIDIA's for a branch that RPM Fusion does not have. On
Fedora's images (Silverblue, Kinoite) they are layered by rpm-ostree; Universal Blue has images that bring the driver along.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.install.drivers.packages import (
    Brings,
    DistributionPackages,
    SigningKey,
    add_repository,
    by_flavour,
    from_nvidia,
    held,
)
from gpuassist.install.place import step
from gpuassist.knowledge.commands import Commands, UsedCommand, use
from gpuassist.knowledge.driver_packages import DriverPackage, Keeper
from gpuassist.model.machine import Distribution
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import Text, text
from gpuassist.model.version import whole_number

if TYPE_CHECKING:
    from gpuassist.install.place import InstallPlace, System
    from gpuassist.knowledge.change import DriverMove

_UNIVERSAL_BLUE = ("bazzite", "aurora", "bluefin")  # each has an image with the driver (docs.bazzite.gg, docs.getaurora.dev)
_FIRST_OF_THEIRS = 580  # their images with the proprietary module have the last branch that there is one of
_MAIN = "akmod-nvidia"


class Fedora(DistributionPackages):
    """RPM Fusion has the newest driver, and those that older cards ended with."""

    signing_key = SigningKey.BEFORE  # akmods signs while it builds (RPM Fusion, Howto/Secure Boot)
    holders = (Keeper.RPMFUSION, Keeper.NVIDIA)
    restart_after = frozenset({"rpmfusion-add-layered"})
    examples = (Distribution("fedora", (), "", "Fedora"),)
    releases = ("fedora 42",)

    def install(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """RPM Fusion's where they hold it, its repositories first."""
        if image_of(place.system):
            return (use("image-rebase", image=image_of(place.system, open_module=move.open_module)),)
        if place.shelf is None and move.pinned and move.open_module:
            return (add_repository(place), from_nvidia(move)) if place.repository else ()
        record, branch = held(move, place), move.version.major
        layered = "-layered" if place.system.image else ""
        added = use(f"rpmfusion-add{layered}")
        if record is None:
            return (added, use(by_flavour(move), branch=branch))
        if record.holder is Keeper.NVIDIA:
            return (add_repository(place), from_nvidia(move)) if place.repository and not place.system.image else ()
        # A card that ends with a branch takes the package of that branch, where there is one: an update of the newest drops it.
        kept = any(
            one.holder is Keeper.RPMFUSION and one.branch == branch and one.package == f"{_MAIN}-{branch}xx" for one in _rows(place)
        )
        if record.package != _MAIN or (kept and place.system.last_branch == branch and not move.open_module):
            opened = (use("driver-module-open"),) if move.open_module else ()
            return (added, *opened, use(f"driver-install-proprietary{layered}", branch=branch))
        return (added, use(f"driver-install-{'open' if move.open_module else 'akmod'}{layered}"))

    def own_way(self, move: DriverMove, place: InstallPlace) -> bool:
        """Universal Blue's images."""
        return bool(image_of(place.system)) and not move.pinned and move.version.major >= _FIRST_OF_THEIRS

    def ask(self, move: DriverMove, place: InstallPlace) -> UsedCommand:
        branch = move.version.major
        return use("driver-packages-ask", packages=f"akmod-nvidia akmod-nvidia-{branch}xx nvidia-driver")

    def hold(self, packages: tuple[str, ...], place: InstallPlace) -> tuple[UsedCommand, ...]:
        """An image has no package that is held by itself: the whole deployment is kept, to be started again."""
        return (use("deployment-keep"),) if place.system.image else super().hold(packages, place)

    def hold_check(self, place: InstallPlace) -> Text:
        return text("`rpm-ostree status` shows the deployment as pinned") if place.system.image else super().hold_check(place)

    def hold_remarks(self, packages: tuple[str, ...], place: InstallPlace) -> tuple[Text, ...]:
        if place.system.image:
            return (
                text(
                    "an update still makes a new deployment with a newer kernel and driver, which starts by itself: the kept one "
                    "stays in the start menu beside it"
                ),
            )
        return (text("an upgrade to the next release of the distribution needs the lock released first"),)

    def brings(self, move: DriverMove, place: InstallPlace) -> Brings:
        return Brings.THEIRS if image_of(place.system) else super().brings(move, place)

    def key_step(self, place: InstallPlace, commands: Commands) -> Step | None:
        """Universal Blue signs its modules with a key of its own; those that rpm-ostree builds are signed with none."""
        if image_of(place.system):
            does = text(
                "Register the key of Universal Blue, which signed the modules of its images: its password is universalblue, and "
                "the restart asks for it"
            )
            return step((use("image-key-enroll"),), place, commands, (does, None))
        if not place.system.image:
            return None
        does = text(
            "Where Secure Boot is on, switch it off in the firmware's settings first: modules that rpm-ostree builds are signed "
            "with no key of yours, and would not be loaded"
        )
        return Step(StepKind.HARDWARE, does, check=text("`mokutil --sb-state` says that it is disabled"))

    def removal(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """NVIDIA's packages and RPM Fusion's cannot stand side by side, nor two of RPM Fusion's branches."""
        there = place.system.driver
        other = there is not None and (move.pinned or (not move.open_module and there.major != move.version.major))
        if not other or image_of(place.system):
            return ()
        return (use("driver-packages-remove-layered" if place.system.image else "driver-packages-remove"),)

    def does(self, uses: tuple[UsedCommand, ...], branch: str, flavour: Text, brings: Brings = Brings.BRANCH) -> Text:
        """An image is exchanged as a whole."""
        if uses[0].key != "image-rebase":
            return super().does(uses, branch, flavour, brings)
        return text("Change to the image of this system that brings NVIDIA's driver along, {flavour}", flavour=flavour)

    def repository(self, distribution: Distribution, *, wsl: int = 0) -> str:
        """What is built on Fedora numbers its releases otherwise."""
        release = distribution.version_id.partition(".")[0]
        return f"fedora{release}" if distribution.id == "fedora" and whole_number(release) is not None else ""


PACKAGES = Fedora()


def _rows(place: InstallPlace) -> tuple[DriverPackage, ...]:
    return place.shelf.rows if place.shelf is not None else ()


def image_of(system: System, *, open_module: bool = False) -> str:
    """Universal Blue's image with NVIDIA's driver for the edition that runs: `bazzite-gnome-nvidia-open`; empty elsewhere.

    Those with the mode of a Steam Deck have it before the desktop's name, and the open modules alone: `bazzite-deck-nvidia-gnome`.
    """
    if not system.image:
        return ""
    edition = system.variant or system.distribution
    name = next((one for one in (edition, system.distribution) if one.startswith(_UNIVERSAL_BLUE)), "")
    plain = name.partition("-nvidia")[0]
    if not name:
        return ""
    head, deck, desktop = plain.partition("-deck")
    if deck and open_module:
        return f"{head}-deck-nvidia{desktop}"
    return f"{head}{desktop}-nvidia{'-open' if open_module else ''}"
