"""WSL2: the driver is that of Windows, and Linux needs none."""

from __future__ import annotations

from gpuassist.install.drivers.packages import DistributionPackages
from gpuassist.install.place import InstallPlace, step
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import Commands, use
from gpuassist.model.plan import Proves, Step, StepProof
from gpuassist.model.text import text


class Wsl(DistributionPackages):
    """Windows' driver serves every distribution under it."""

    def elsewhere(self, move: DriverMove, place: InstallPlace, commands: Commands) -> Step:
        version = str(move.version)
        does = text(
            "In Windows, install NVIDIA's driver {version} or newer; then bring WSL up to date. Linux needs no driver",
            version=version,
        )
        check = text("`nvidia-smi` in a new WSL window shows driver {version} or newer", version=version)
        proof = StepProof(Proves.DRIVER, wanted=f"{version}+")
        return step((use("wsl-update"),), place, commands, (does, check), proof=proof)


PACKAGES = Wsl()
