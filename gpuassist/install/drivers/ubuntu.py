"""Ubuntu and what is built on it: Canonical's own packages, whose modules it builds and signs for its own kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpuassist.install.drivers.packages import Brings, DistributionPackages, SigningKey, by_flavour
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.model.machine import Distribution
from gpuassist.model.version import whole_number

if TYPE_CHECKING:
    from gpuassist.install.place import InstallPlace, System
    from gpuassist.knowledge.change import DriverMove

# The kernels that Canonical builds, with which it builds and signs NVIDIA's modules as well (linux-restricted-modules).
_CANONICAL = frozenset({"generic", "lowlatency", "aws", "azure", "gcp", "oracle", "nvidia", "oem"})
# The kernel that a release came with; a newer one is its hardware enablement kernel (Ubuntu kernel lifecycle).
_FIRST_KERNELS = {"20.04": "5.4", "22.04": "5.15", "24.04": "6.8", "26.04": "7.0"}
_WITH_ENABLEMENT = frozenset({"generic", "lowlatency"})
# Canonical keeps packages for servers of these branches (linux-restricted-modules); of the others they lead to one of these.
_FOR_SERVERS = frozenset({535, 580, 595})


class Ubuntu(DistributionPackages):
    """Packages of each branch and flavour, exchanged by apt itself; those for servers on rented machines."""

    signing_key = SigningKey.BUILDING  # dkms makes its key when it builds the first module
    providers = frozenset({"gcp", "lambda"})
    hybrid_command = "prime-on-demand"
    venv_apart = True
    examples = (Distribution("ubuntu", (), "", "Ubuntu"),)
    releases = ("ubuntu 24.04", "ubuntu 22.04")

    def install(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """Those whose modules come signed where Secure Boot may be on."""
        branch, kernel = move.version.major, signed_modules(place.system)
        flavour = "open" if move.open_module else "proprietary"
        if _for_servers(move, place):
            return (use(f"driver-install-server-{flavour}", branch=branch, kernel=kernel),)
        if self.signed(move, place):
            return (use(f"driver-install-signed-{flavour}", branch=branch, kernel=kernel),)
        return (use(by_flavour(move), branch=branch),)

    def brings(self, move: DriverMove, uses: tuple[UsedCommand, ...]) -> Brings:
        """Each branch has packages of its own."""
        return Brings.BRANCH

    def signed(self, move: DriverMove, place: InstallPlace) -> bool:
        """By Canonical, where it built the kernel."""
        asked = place.system.secure_boot is not False or _for_servers(move, place)
        return asked and bool(signed_modules(place.system)) and not place.system.part

    def repository(self, distribution: Distribution, *, wsl: int = 0) -> str:
        """Of the long-term releases alone; what is built on Ubuntu numbers its releases otherwise."""
        release, _, rest = distribution.version_id.partition(".")
        number = whole_number(release)
        if distribution.id != "ubuntu" or number is None or number % 2 or rest != "04":
            return ""
        return "wsl-ubuntu" if wsl else f"ubuntu{release}{rest}"


PACKAGES = Ubuntu()


def signed_modules(system: System) -> str:
    """How the names of the signed modules for this kernel end: `generic-hwe-24.04`; empty where it has none."""
    flavour = system.kernel.rpartition("-")[2]
    if flavour not in _CANONICAL:
        return ""
    first = _FIRST_KERNELS.get(system.release)
    if system.distribution != "ubuntu" or first is None:
        return system.kernel
    newer = flavour in _WITH_ENABLEMENT and not system.kernel.startswith(f"{first}.")
    return f"{flavour}-hwe-{system.release}" if newer else flavour


def _for_servers(move: DriverMove, place: InstallPlace) -> bool:
    server = (bool(place.system.provider) or place.system.servers) and not place.system.part
    return server and bool(signed_modules(place.system)) and move.version.major in _FOR_SERVERS
