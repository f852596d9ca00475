"""What gpuassist knows of a distribution's packages: one module a family beside this one, named by the family's value."""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from gpuassist.knowledge.commands import Commands, UsedCommand, use
from gpuassist.knowledge.families import Family, packages_family
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Distribution, Machine
from gpuassist.model.text import Text, text

if TYPE_CHECKING:  # `doctor` asks for a repository's name alone, and reads nothing of what plans
    from gpuassist.install.place import InstallPlace
    from gpuassist.knowledge.change import DriverMove
    from gpuassist.model.plan import Step


class Brings(str, Enum):
    """Which driver packages bring."""

    BRANCH = "the branch that they are asked for"
    NEWEST = "the newest that they hold"
    THEIRS = "the one that their makers chose"


class SigningKey(str, Enum):
    """When the key is made that a module is signed with where Secure Boot is on."""

    BEFORE = "before the module is built"
    BUILDING = "while it is built"
    BY_HAND = "by the user"


class DistributionPackages(Protocol):
    """Each distribution says what is otherwise with it: the defaults are those of one whose packages nobody knows."""

    signing_key: SigningKey = SigningKey.BY_HAND
    providers: frozenset[str] = frozenset()  # the clouds whose own installer of the driver runs on it
    hybrid_command: str = ""  # the key of what lets the processor draw and the NVIDIA GPU compute, where that is to be switched
    venv_apart: bool = False  # whether the module that makes Python environments is a package of its own
    examples: tuple[Distribution, ...] = ()  # what a machine that is imagined may run, each without its release
    releases: tuple[str, ...] = ()  # those of them that are offered: `ubuntu 24.04`

    def install(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """What brings the driver, with its repositories, headers and boot image; empty where no packages hold such a driver."""
        return ()

    def removal(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """What of the packages of the driver that is there has to go first."""
        return ()

    def brings(self, move: DriverMove, uses: tuple[UsedCommand, ...]) -> Brings:
        """Which driver comes with these commands."""
        return Brings.NEWEST if move.open_module and not move.pinned else Brings.BRANCH

    def signed(self, move: DriverMove, place: InstallPlace) -> bool:
        """Whether the modules come signed with a key that the computer knows."""
        return False

    def does(self, uses: tuple[UsedCommand, ...], branch: str, flavour: Text) -> Text:
        """What these commands do, in words."""
        return text("Install NVIDIA's driver, branch {branch}, {flavour}", branch=branch, flavour=flavour)

    def elsewhere(self, move: DriverMove, place: InstallPlace, commands: Commands) -> Step | None:
        """The step where the driver is another system's; None where it is installed here."""
        return None

    def repository(self, distribution: Distribution, *, wsl: int = 0) -> str:
        """NVIDIA's name of its package repository (`ubuntu2404`, `rhel9`), after the directories of
        developer.download.nvidia.com/compute/cuda/repos; empty where it has none.
        """
        return ""

    def compiler(self, major: int) -> str:
        """Where the package of a g++ beside the usual one puts it."""
        return f"/usr/bin/g++-{major}"


class _Unknown(DistributionPackages):
    pass


_UNKNOWN = _Unknown()


def packages_of(family: Family) -> DistributionPackages:
    """What is known of a family's packages; its module is loaded when it is asked for."""
    if family is Family.ANY:
        return _UNKNOWN
    return cast(DistributionPackages, import_module(f"gpuassist.install.drivers.{family.value}").PACKAGES)


def surroundings_of(machine: Machine) -> dict[str, str]:
    """What commands need to know of the machine itself: where NVIDIA's package repository for it is; empty where there is none."""
    host = machine.host
    name = ""
    if isinstance(host.distribution, Known):
        distribution = host.distribution.value
        name = packages_of(packages_family(distribution)).repository(distribution, wsl=value_or(host.wsl, 0))
    # NVIDIA's name for ARM servers, to which the repositories' packages for desktops and Jetson from CUDA 13 on belong as well.
    architecture = {"x86_64": "x86_64", "aarch64": "sbsa"}.get(value_or(host.architecture, ""), "")
    return {"repository": name if architecture else "", "repository_architecture": architecture}


def add_repository(place: InstallPlace) -> UsedCommand:
    return use("cuda-repository-add", repository=place.repository, architecture=place.repository_architecture)


def from_nvidia(move: DriverMove) -> UsedCommand:
    """Installs from NVIDIA's repository, where apt and dnf know the packages by the same names."""
    branch = move.version.major
    if move.open_module:
        return use("driver-install-open-branch" if move.pinned else "driver-install-open-nvidia", branch=branch)
    return use("driver-install-proprietary-nvidia", branch=branch)


def flavour_of(*, open_module: bool) -> Text:
    """The kernel module of a driver, in words."""
    return text("with the open kernel modules") if open_module else text("with the proprietary kernel module")


def by_flavour(move: DriverMove) -> str:
    """The key of the command that installs it."""
    return "driver-install-open" if move.open_module else "driver-install-proprietary"


def is_of_another_flavour(move: DriverMove, place: InstallPlace) -> bool:
    """Whether the driver that is there has the other kernel module."""
    return place.system.open_module is not None and place.system.open_module != move.open_module
