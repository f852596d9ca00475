"""A container: the driver is its host's, and has to be handed in."""

from __future__ import annotations

from gpuassist.install.drivers.packages import DistributionPackages, flavour_of
from gpuassist.install.place import InstallPlace, step
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import Commands, use
from gpuassist.model.plan import Proves, Step, StepKind, StepProof
from gpuassist.model.text import text, verbatim
from gpuassist.model.version import Version


class Container(DistributionPackages):
    """The host's driver serves every container that is started with its GPUs."""

    def elsewhere(self, move: DriverMove, place: InstallPlace, commands: Commands) -> Step:
        """On the host: another driver, or the GPUs that this container was started without."""
        version = str(move.version)
        if not place.driver_there:
            return _handed_in(version, place, commands)
        does = text(
            "On the host, not in this container, install NVIDIA's driver {version} or newer, {flavour}; then start a new container",
            version=version,
            flavour=flavour_of(open_module=move.open_module),
        )
        check = text("`nvidia-smi` in the new container shows driver {version} or newer", version=version)
        proof = StepProof(Proves.DRIVER, wanted=f"{version}+")
        return Step(StepKind.ROOT_COMMAND, does, check=check, needs_root=True, proof=proof)


def _handed_in(version: str, place: InstallPlace, commands: Commands) -> Step:
    """Starting it anew with the GPUs, in the way of what started it."""
    kind = place.system.container
    if kind == "kubernetes":
        does = text(
            "Ask for a GPU in the pod's manifest, `nvidia.com/gpu: 1` under the container's `resources` and `limits`, and create "
            "the pod anew; the command tells which nodes of the cluster offer any. Where none does, whoever runs the cluster "
            "installs NVIDIA's driver there, {version} for instance, and NVIDIA's device plugin",
            version=version,
        )
        check = text("`nvidia-smi` in the new pod lists every GPU")
        return step((use("cluster-gpus-list"),), place, commands, (does, check))
    option, test = _OPTIONS.get(kind, _OF_DOCKER)
    does = text(
        "On the host, start this container with its GPUs ({option}); the command tells whether they reach one. Where they do not, "
        "the host needs NVIDIA's driver, {version} for instance, and the NVIDIA Container Toolkit",
        option=verbatim(f"`{option}`"),
        version=version,
    )
    check = text("`nvidia-smi` in the new container lists every GPU")
    return step((use(test),), place, commands, (does, check))


_OF_DOCKER = ("--gpus all", "container-check")
_OPTIONS = {"podman": ("--device nvidia.com/gpu=all", "container-check-podman")}

PACKAGES = Container()


def libraries_of_host(version: Version, place: InstallPlace, commands: Commands, *, packages: bool) -> Step:
    """In a container of a whole system: the libraries of exactly the host's driver, whose module is the one that is loaded.
    `packages`: some of another version are installed, which go first.
    """
    machine = "aarch64" if place.repository_architecture == "sbsa" else "x86_64"
    gone = (use("driver-packages-remove"),) if packages else ()
    does = text(
        "Install the driver's libraries in this container, of exactly the host's version {version}, by NVIDIA's installer without "
        "its kernel module; do it again whenever the host's driver is updated",
        version=str(version),
    )
    check = text("`nvidia-smi` in the container lists the GPU and shows driver {version}", version=str(version))
    proof = StepProof(Proves.DRIVER, wanted=str(version))
    uses = (*gone, use("driver-libraries-of-host", architecture=machine, version=str(version)))
    return step(uses, place, commands, (does, check), proof=proof)
