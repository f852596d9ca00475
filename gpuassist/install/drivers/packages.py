"""What gpuassist knows of a distribution's packages: one module a family beside this one, named by the family's value."""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from gpuassist.knowledge.commands import Commands, UsedCommand, use
from gpuassist.knowledge.driver_packages import DriverPackage, Extent, Keeper, Reach
from gpuassist.knowledge.families import Family, packages_family
from gpuassist.model.fact import Known, value_or
from gpuassist.model.machine import Distribution, Machine
from gpuassist.model.text import Text, text

if TYPE_CHECKING:  # `doctor` asks for a repository's name alone, and reads nothing of what plans
    from gpuassist.install.place import InstallPlace, System
    from gpuassist.knowledge.change import DriverMove
    from gpuassist.model.holds import PackageHold
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
    restart_after: frozenset[str] = frozenset()  # the keys of commands whose outcome the next start brings
    hybrid_command: str = ""  # the key of what lets the processor draw and the NVIDIA GPU compute, where that is to be switched
    venv_apart: bool = False  # whether the module that makes Python environments is a package of its own
    holders: tuple[Keeper, ...] = (Keeper.OWN,)  # whose packages bring the driver, the preferred first
    examples: tuple[Distribution, ...] = ()  # what a machine that is imagined may run, each without its release
    releases: tuple[str, ...] = ()  # those of them that are offered: `ubuntu 24.04`

    def install(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """What brings the driver, with its repositories, headers and boot image; empty where no packages hold such a driver."""
        return ()

    def own_way(self, move: DriverMove, place: InstallPlace) -> bool:
        """Whether its makers bring whichever driver serves the GPU, so that no table need say which branches there are."""
        return False

    def ask(self, move: DriverMove, place: InstallPlace) -> UsedCommand | None:
        """What tells whether the packages hold such a driver, where nobody looked; None where no command does."""
        return None

    def removal(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """What of the packages of the driver that is there has to go first."""
        return ()

    def brings(self, move: DriverMove, place: InstallPlace) -> Brings:
        """Which driver comes with its commands."""
        record = held(move, place)
        if record is not None and record.extent is Extent.BRANCH:
            return Brings.BRANCH
        return Brings.NEWEST if move.open_module and not move.pinned else Brings.BRANCH

    def headers(self, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """What brings the headers of the kernel that runs, with which a module is built."""
        return (use("kernel-headers-install"),)

    def module_anew(self, place: InstallPlace, packages: tuple[str, ...]) -> tuple[UsedCommand, ...]:
        """What brings the module for the running kernel, of a driver whose packages are these, as far as they are known; empty
        where the next start does.
        """
        return (*self.headers(place), use("module-rebuild"))

    def library(self, branch: str) -> UsedCommand:
        """What brings libcuda, of a driver of that branch."""
        return use("cuda-library-install", branch=branch)

    def remarks(self, move: DriverMove, place: InstallPlace) -> tuple[Text, ...]:
        """What to know beside the commands."""
        return ()

    def hold(self, packages: tuple[str, ...], place: InstallPlace) -> tuple[UsedCommand, ...]:
        """What keeps these installed packages at their versions; empty where no command does."""
        return (use("packages-hold", packages=" ".join(packages)),)

    def hold_check(self, place: InstallPlace) -> Text:
        """How to see that they are kept."""
        return text("`gpuassist plan hold` says that the driver is on hold already")

    def hold_remarks(self, packages: tuple[str, ...], place: InstallPlace) -> tuple[Text, ...]:
        """What to know of that beside what is so everywhere."""
        return ()

    def release(self, holds: tuple[PackageHold, ...], place: InstallPlace) -> tuple[UsedCommand, ...]:
        """What lets go of holds, whoever set them."""
        from gpuassist.install.drivers.release import release_uses

        return release_uses(holds)

    def key_step(self, place: InstallPlace, commands: Commands) -> Step | None:
        """What stands in place of registering a key where Secure Boot may be on; None where a key is registered as usual."""
        return None

    def signed(self, move: DriverMove, place: InstallPlace) -> bool:
        """Whether the modules come signed with a key that the computer knows."""
        return False

    def does(self, uses: tuple[UsedCommand, ...], branch: str, flavour: Text, brings: Brings = Brings.BRANCH) -> Text:
        """What these commands do, in words."""
        if brings is Brings.NEWEST:
            return text(
                "Install NVIDIA's driver, the newest of these packages ({branch} or a later branch), {flavour}",
                branch=branch,
                flavour=flavour,
            )
        return text("Install NVIDIA's driver, branch {branch}, {flavour}", branch=branch, flavour=flavour)

    def by_hand(self, move: DriverMove, place: InstallPlace, commands: Commands) -> Step | None:
        """The step where the driver is no package that a command installs: what its owner has to do, in words; None elsewhere."""
        return None

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


def packages_of(family: Family) -> DistributionPackages:
    """What is known of a family's packages; its module is loaded when it is asked for."""
    name = "others" if family is Family.ANY else family.value
    return cast(DistributionPackages, import_module(f"gpuassist.install.drivers.{name}").PACKAGES)


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


def held(move: DriverMove, place: InstallPlace) -> DriverPackage | None:
    """The packages that hold such a driver here; None where they hold none, or nobody looked."""
    if place.shelf is None:
        return None
    found = place.shelf.look(move.version.major, open_module=move.open_module, pinned=move.pinned)
    return found.record if found.reach is Reach.HELD else None


def is_from(move: DriverMove, place: InstallPlace, holder: Keeper) -> bool:
    record = held(move, place)
    return record is not None and record.holder is holder


def add_repository(place: InstallPlace) -> UsedCommand:
    return use("cuda-repository-add", repository=place.repository, architecture=place.repository_architecture)


def from_nvidia(move: DriverMove) -> UsedCommand:
    """Installs from NVIDIA's repository, where apt and dnf know the packages by the same names."""
    branch = move.version.major
    if move.open_module:
        return use("driver-install-open-branch" if move.pinned else "driver-install-open-nvidia", branch=branch)
    return use("driver-install-proprietary-nvidia", branch=branch)


def headers_elsewhere(system: System) -> Text:
    """Where the headers of a kernel are that is none of the distribution's."""
    return text(
        "the kernel {kernel} is none of this distribution's: where its packages have no headers for it, they come from whoever "
        "built that kernel, and without them no module is built",
        kernel=system.kernel,
    )


def flavour_of(*, open_module: bool) -> Text:
    """The kernel module of a driver, in words."""
    return text("with the open kernel modules") if open_module else text("with the proprietary kernel module")


def by_flavour(move: DriverMove) -> str:
    """The key of the command that installs it."""
    return "driver-install-open" if move.open_module else "driver-install-proprietary"


def is_of_another_flavour(move: DriverMove, place: InstallPlace) -> bool:
    """Whether the driver that is there has the other kernel module."""
    return place.system.open_module is not None and place.system.open_module != move.open_module
