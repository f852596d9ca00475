"""Distributions that have no commands of a family: NixOS, whose driver is lines of its configuration, and those of which gpuassist
knows what their driver is called and who describes it. No command of another distribution is given for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.install.drivers.packages import DistributionPackages, flavour_of
from gpuassist.install.place import step
from gpuassist.knowledge.commands import Commands, UsedCommand, use
from gpuassist.model.machine import Distribution
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import Text, text

if TYPE_CHECKING:
    from gpuassist.install.place import InstallPlace
    from gpuassist.knowledge.change import DriverMove

# nixpkgs, pkgs/os-specific/linux/nvidia-x11 (legacy_390, legacy_470) and configurations of 2026 that build legacy_580.
_NIX_LEGACY = frozenset({390, 470, 580})
# The package that brings the driver, by the distribution's own name for it, and where it says how: Gentoo Wiki, Void Handbook,
# SlackBuilds.org, Solus Help Center.
_NAMED = {
    "gentoo": ("x11-drivers/nvidia-drivers", "https://wiki.gentoo.org/wiki/NVIDIA/nvidia-drivers"),
    "void": ("nvidia", "https://docs.voidlinux.org/config/graphical-session/graphics-drivers/nvidia.html"),
    "slackware": ("nvidia-driver", "https://slackbuilds.org"),
    "solus": ("nvidia-glx-driver", "https://help.getsol.us/docs/user/hardware/graphics/nvidia"),
}
_NONE = {
    "alpine": text("Alpine is built on musl, for which NVIDIA makes no driver: another distribution can take this GPU"),
    "guix": text(
        "Guix System has no driver of NVIDIA's itself; the channel nonguix describes one: https://gitlab.com/nonguix/nonguix"
    ),
    "steamos": text(
        "SteamOS is an image that is exchanged as a whole, and Valve's has no driver of NVIDIA's: Bazzite is a system of its kind "
        "that has"
    ),
}
# Images that do not say so in a file that is read.
_IMAGES = frozenset({"chimeraos", "vanilla", "endless", "blendos"})


class Others(DistributionPackages):
    """Words in place of commands."""

    examples = (Distribution("nixos", (), "", "NixOS"),)

    def hold(self, packages: tuple[str, ...], place: InstallPlace) -> tuple[UsedCommand, ...]:
        return ()

    def by_hand(self, move: DriverMove, place: InstallPlace, commands: Commands) -> Step | None:
        name = place.system.distribution
        if name == "nixos":
            return _nixos(move, place, commands)
        branch = str(move.version.major)
        does: Text | None = _NONE.get(name)
        if does is None and (place.system.image or name in _IMAGES):
            does = text(
                "This system is an image that is exchanged as a whole, and no command of its packages adds a driver to it: take an "
                "image of its makers' that brings NVIDIA's driver along, where they have one"
            )
        if does is None and name in _NAMED:
            package, page = _NAMED[name]
            does = text(
                "Install NVIDIA's driver, branch {branch}, {flavour}: it is the package {package} of this distribution, which "
                "describes the way at {page}",
                branch=branch,
                flavour=flavour_of(open_module=move.open_module),
                package=package,
                page=page,
            )
            return Step(StepKind.ROOT_COMMAND, does, needs_root=True)
        return None if does is None else Step(StepKind.HARDWARE, does)


PACKAGES = Others()


def _nixos(move: DriverMove, place: InstallPlace, commands: Commands) -> Step:
    """The lines of /etc/nixos/configuration.nix (NixOS Wiki, NVIDIA), and the command that builds the system from it."""
    lines = [
        "nixpkgs.config.allowUnfree = true;",
        'services.xserver.videoDrivers = [ "nvidia" ];',
        f"hardware.nvidia.open = {'true' if move.open_module else 'false'};",
    ]
    if move.version.major in _NIX_LEGACY:
        lines.append(f"hardware.nvidia.package = config.boot.kernelPackages.nvidiaPackages.legacy_{move.version.major};")
    does = text(
        "In /etc/nixos/configuration.nix set {lines}; then build the system from it. Where nixpkgs says that this driver is broken "
        "for your kernel, choose an older one with boot.kernelPackages first",
        lines=" ".join(lines),
    )
    return step((use("nixos-rebuild"),), place, commands, (does, text("after the restart, `nvidia-smi` lists every GPU")))
