"""A container: the driver is its host's, and has to be handed in."""

from __future__ import annotations

from gpuassist.install.drivers.packages import DistributionPackages, flavour_of
from gpuassist.install.place import InstallPlace, step
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import Commands, use
from gpuassist.model.plan import Proves, Step, StepKind, StepProof
from gpuassist.model.text import text


class Container(DistributionPackages):
    """The host's driver serves every container that is started with its GPUs."""

    def elsewhere(self, move: DriverMove, place: InstallPlace, commands: Commands) -> Step:
        """On the host: another driver, or the GPUs that this container was started without."""
        version = str(move.version)
        if not place.driver_there:
            does = text(
                "On the host, start this container with its GPUs (`--gpus all`); the command tells whether they reach one. Where "
                "they do not, the host needs NVIDIA's driver, {version} for instance, and the NVIDIA Container Toolkit",
                version=version,
            )
            check = text("`nvidia-smi` in the new container lists every GPU")
            return step((use("container-check"),), place, commands, (does, check))
        does = text(
            "On the host, not in this container, install NVIDIA's driver {version} or newer, {flavour}; then start a new container",
            version=version,
            flavour=flavour_of(open_module=move.open_module),
        )
        check = text("`nvidia-smi` in the new container shows driver {version} or newer", version=version)
        proof = StepProof(Proves.DRIVER, wanted=f"{version}+")
        return Step(StepKind.ROOT_COMMAND, does, check=check, needs_root=True, proof=proof)


PACKAGES = Container()
