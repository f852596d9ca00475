"""The steps to another driver: by the distribution's packages or NVIDIA's, in Windows under WSL2, on the host of a container."""

from __future__ import annotations

from collections.abc import Iterator

from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import Commands
from gpuassist.knowledge.records import Family
from gpuassist.model.plan import Step, StepKind
from gpuassist.model.text import Text, text
from gpuassist.repair.install_place import Place, Use, step, use

# Whose packages come from NVIDIA's own repository, because their distribution has none, or older ones.
_FROM_NVIDIA = frozenset({Family.DEBIAN, Family.RHEL})
# Whose packages hold one driver with the open modules, the newest that the distribution has.
_ONE_DRIVER = frozenset({Family.ARCH, Family.OPENSUSE, Family.ANY})


def driver_steps(move: DriverMove, place: Place, commands: Commands) -> Iterator[Step]:
    """Installing the driver, and the restart that brings it to work."""
    if place.family is Family.WSL:
        yield _in_windows(move, place, commands)
    elif place.family is Family.CONTAINER:
        yield _on_the_host(move) if place.driver_there else _not_handed_in(move, place, commands)
    else:
        yield _here(move, place, commands)
        yield step((use("reboot"),), place, commands, (text("Restart the computer"), None))


def _in_windows(move: DriverMove, place: Place, commands: Commands) -> Step:
    version = str(move.version)
    does = text(
        "In Windows, install NVIDIA's driver {version} or newer; then bring WSL up to date. Linux needs no driver", version=version
    )
    check = text("`nvidia-smi` in a new WSL window shows driver {version} or newer", version=version)
    return step((use("wsl-update"),), place, commands, (does, check))


def _on_the_host(move: DriverMove) -> Step:
    version = str(move.version)
    does = text(
        "On the host, not in this container, install NVIDIA's driver {version} or newer, {flavour}; then start a new container",
        version=version,
        flavour=_flavour(move),
    )
    check = text("`nvidia-smi` in the new container shows driver {version} or newer", version=version)
    return Step(StepKind.ROOT_COMMAND, does, check=check, needs_root=True)


def _not_handed_in(move: DriverMove, place: Place, commands: Commands) -> Step:
    does = text(
        "On the host, start this container with its GPUs (`--gpus all`); the command tells whether they reach one. Where they do "
        "not, the host needs NVIDIA's driver, {version} for instance, and the NVIDIA Container Toolkit",
        version=str(move.version),
    )
    return step((use("container-check"),), place, commands, (does, text("`nvidia-smi` in the new container lists every GPU")))


def _here(move: DriverMove, place: Place, commands: Commands) -> Step:
    branch = str(move.version.major)
    uses = tuple(_uses(move, place))
    check = (
        text("after the restart, `nvidia-smi` lists every GPU and shows a driver of branch {branch}", branch=branch)
        if move.pinned or not move.open_module or place.family is Family.UBUNTU
        else text("after the restart, `nvidia-smi` lists every GPU; its driver is the newest of these packages")
    )
    if uses and all(commands.record(one.key, place.families) is not None for one in uses):
        does = text("Install NVIDIA's driver, branch {branch}, {flavour}", branch=branch, flavour=_flavour(move))
        if place.family is Family.FEDORA and uses[0].key != "cuda-repository-add":
            does = text(
                "With RPM Fusion's nonfree repository enabled, install NVIDIA's driver, branch {branch}, {flavour}",
                branch=branch,
                flavour=_flavour(move),
            )
        return step(uses, place, commands, (does, check))
    does = text(
        "Install NVIDIA's driver, branch {branch}, {flavour}, in the way that your distribution describes",
        branch=branch,
        flavour=_flavour(move),
    )
    return Step(StepKind.ROOT_COMMAND, does, check=check, needs_root=True)


def _uses(move: DriverMove, place: Place) -> Iterator[Use]:
    """The commands; none where the family's packages hold no such driver."""
    branch, family = move.version.major, place.family
    exact = move.pinned and move.open_module and family is not Family.UBUNTU
    if exact and (family in _ONE_DRIVER or not place.repository):
        return
    if exact or (family in _FROM_NVIDIA and place.repository):
        yield use("cuda-repository-add", repository=place.repository, architecture=place.repository_architecture)
    if exact:
        yield use("driver-install-open-branch", branch=branch)
    elif family not in _FROM_NVIDIA or place.repository:
        suffix = "-nvidia" if family is Family.DEBIAN else ""
        yield use(f"driver-install-{'open' if move.open_module else 'proprietary'}{suffix}", branch=branch)


def _flavour(move: DriverMove) -> Text:
    return text("with the open kernel modules") if move.open_module else text("with the proprietary kernel module")
