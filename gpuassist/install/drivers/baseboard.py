"""What a server's baseboard needs beside the driver: the service that sets up the NVSwitches between its GPUs."""

from __future__ import annotations

from gpuassist.install.drivers.packages import add_repository
from gpuassist.install.place import InstallPlace, step
from gpuassist.knowledge.commands import Commands, UsedCommand, use
from gpuassist.knowledge.families import Family
from gpuassist.knowledge.servers import Baseboard
from gpuassist.model.plan import Proves, Step, StepKind, StepProof
from gpuassist.model.text import text
from gpuassist.model.version import Version

_WITHOUT_BRANCH = 580  # from this branch on NVIDIA's own package has no branch in its name (NVIDIA/gpu-driver-container)


def fabric_steps(
    board: Baseboard, branch: int, place: InstallPlace, commands: Commands, *, there: Version | None = None
) -> tuple[Step, ...]:
    """Installing it beside the driver; it starts with the system, once that driver is loaded. `there` is the driver that stays: the
    newest package would be of another version than that one.
    """
    steps = [_installing(board, branch, place, commands, there=there)]
    if board.subnet_manager:
        does = text(
            "Install the NVLink subnet manager from NVIDIA's repository, and load ib_umad at every start: the NVSwitches of "
            "{board} are set up through them",
            board=board.name,
        )
        added = (add_repository(place),) if place.family is Family.UBUNTU and place.repository else ()
        check = text("`lsmod` lists ib_umad, and `ibstat` the switches' devices")
        steps.append(step((*added, use("subnet-manager-install")), place, commands, (does, check)))
    return tuple(steps)


def fabric_check(place: InstallPlace, commands: Commands) -> Step:
    """After the restart: whether the switches are set up."""
    does = text("See that every GPU is registered with the NVSwitches, which takes a minute or two after the start")
    check = text("each GPU's state is Completed and its status Success; else `journalctl -u nvidia-fabricmanager` says why")
    return step((use("fabric-check"),), place, commands, (does, check), proof=StepProof(Proves.FABRIC))


def _installing(board: Baseboard, branch: int, place: InstallPlace, commands: Commands, *, there: Version | None) -> Step:
    does = text(
        "Install NVIDIA's Fabric Manager of exactly the driver's version, and let it start with the system: until it has set up "
        "the NVSwitches of {board}, every program for CUDA ends with error 802",
        board=board.name,
    )
    check = text("after the restart, `systemctl is-active nvidia-fabricmanager` says active")
    if there is not None:
        check = text("`nv-fabricmanager --version` shows {version}", version=str(there))
    package = _package(branch, place, there)
    if package is None or commands.record(package.key, place.families) is None:
        return Step(StepKind.ROOT_COMMAND, does, check=check, needs_root=True)
    return step((package, use("fabric-manager-enable")), place, commands, (does, check))


def _package(branch: int, place: InstallPlace, there: Version | None) -> UsedCommand | None:
    """Ubuntu's belongs to its own drivers; elsewhere it comes from NVIDIA's repository, where the driver comes from."""
    if there is not None and (branch >= _WITHOUT_BRANCH or place.family is Family.UBUNTU):
        name = f"nvidia-fabricmanager-{branch}" if place.family is Family.UBUNTU else "nvidia-fabricmanager"
        return use("package-install-version", package=name, version=str(there))
    if place.family is Family.UBUNTU:
        return use("fabric-manager-package", branch=branch)
    return use("fabric-manager-package-nvidia") if branch >= _WITHOUT_BRANCH else None
