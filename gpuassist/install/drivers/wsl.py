"""WSL2: the driver is that of Windows, and Linux needs none."""

from __future__ import annotations

from gpuassist.install.drivers.packages import DistributionPackages
from gpuassist.install.place import InstallPlace, step
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import Commands, use
from gpuassist.model.plan import Proves, Step, StepProof
from gpuassist.model.text import enumerated, text


class Wsl(DistributionPackages):
    """Windows' driver serves every distribution under it."""

    def elsewhere(self, move: DriverMove, place: InstallPlace, commands: Commands) -> Step:
        version = str(move.version)
        if place.system.windows:
            # A newer branch has left one of the GPUs behind: which numbers are still of this one, only a list tells.
            numbers = enumerated(f"{one}.xx" for one in place.system.windows)
            does = text(
                "In Windows, install the newest of NVIDIA's drivers that Windows numbers {numbers}: later ones do not serve every "
                "GPU here; then bring WSL up to date. Linux needs no driver",
                numbers=numbers,
            )
            check = text("`nvidia-smi` in a new WSL window shows one of these numbers, and every GPU")
            return step((use("wsl-update"),), place, commands, (does, check), proof=StepProof(Proves.DRIVER, wanted=f"{version}+"))
        does = text(
            "In Windows, install NVIDIA's driver {version} or newer; then bring WSL up to date. Linux needs no driver",
            version=version,
        )
        check = text("`nvidia-smi` in a new WSL window shows driver {version} or newer", version=version)
        proof = StepProof(Proves.DRIVER, wanted=f"{version}+")
        return step((use("wsl-update"),), place, commands, (does, check), proof=proof)


PACKAGES = Wsl()


def linux_driver_removal(place: InstallPlace, commands: Commands) -> Step:
    """Taking out a driver of Linux, whose libraries are found before those of Windows."""
    does = text(
        "Remove the Linux driver that is installed inside WSL: its libraries are found before those that Windows provides. The "
        "CUDA toolkit and the container toolkit stay; look at the list before you agree"
    )
    check = text("`ldconfig -p | grep libcuda.so` names only /usr/lib/wsl/lib, and `nvidia-smi` lists the GPU")
    return step((use("wsl-linux-driver-remove"), use("loader-cache-rebuild")), place, commands, (does, check))
