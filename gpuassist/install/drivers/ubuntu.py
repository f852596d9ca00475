"""Ubuntu and what is built on it: Canonical's own packages, whose modules it builds and signs for its own kernels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpuassist.install.drivers.packages import Brings, DistributionPackages, SigningKey, by_flavour, headers_elsewhere, held
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.model.machine import Distribution
from gpuassist.model.text import Text, text
from gpuassist.model.version import whole_number

if TYPE_CHECKING:
    from gpuassist.install.place import InstallPlace, System
    from gpuassist.knowledge.change import DriverMove

# The kernels that Canonical builds, with which it builds and signs NVIDIA's modules as well (linux-restricted-modules).
_CANONICAL = frozenset(
    {"generic", "generic-64k", "lowlatency", "aws", "azure", "gcp", "oracle", "nvidia", "nvidia-64k", "nvidia-lowlatency", "oem"}
)
# Canonical's mainline builds (6.19.3-061903-generic) bear its names as well: the archive has no module and no headers for them.
_KERNEL = re.compile(r"\d+\.\d+\.\d+-(?!0\d{5}-)\d+-(?P<flavour>[a-z][a-z0-9-]*)")
_DRIVER = re.compile(r"nvidia-(?:driver|headless|headless-no-dkms|kernel-common)-(?P<kind>\d+(?:-server)?(?:-open)?)")
# What carries the name of the driver's kind even where the packages that were asked for are not known.
_SIGNED = re.compile(r"linux-modules-nvidia-(?P<kind>\d+(?:-server)?(?:-open)?)-(?=\d|[a-z])")
# The kernel that a release came with; a newer one is its hardware enablement kernel (Ubuntu kernel lifecycle).
_FIRST_KERNELS = {"20.04": "5.4", "22.04": "5.15", "24.04": "6.8", "26.04": "7.0"}
_WITH_ENABLEMENT = frozenset({"generic", "generic-64k", "lowlatency", "nvidia", "nvidia-64k", "nvidia-lowlatency"})
# Canonical keeps packages for servers of these branches (linux-restricted-modules); of the others they lead to one of these.
_FOR_SERVERS = frozenset({535, 580, 595})
# Canonical builds no modules of older branches any more: dkms does, on the machine itself.
_FIRST_SIGNED = 535


class Ubuntu(DistributionPackages):
    """Packages of each branch and flavour, exchanged by apt itself; those for servers on rented machines."""

    signing_key = SigningKey.BUILDING  # dkms makes its key when it builds the first module
    providers = frozenset({"gcp", "lambda"})
    hybrid_command = "prime-on-demand"
    venv_apart = True
    examples = (Distribution("ubuntu", (), "", "Ubuntu"),)
    releases = ("ubuntu 24.04", "ubuntu 22.04")

    def install(self, move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
        """Those whose modules come signed where Secure Boot may be on; what dkms builds needs the headers of this kernel."""
        if self.own_way(move, place):
            return (use("driver-install-system76"),)
        branch, kernel, record = move.version.major, signed_modules(place.system), held(move, place)
        flavour = "open" if move.open_module else "proprietary"
        if branch < _FIRST_SIGNED:
            package = record.package if record is not None else f"nvidia-driver-{branch}"
            return (kernel_headers(place.system), use("driver-packages-install", packages=package))
        if _for_servers(move, place):
            return (use(f"driver-install-server-{flavour}", branch=branch, kernel=kernel),)
        if self.signed(move, place):
            return (use(f"driver-install-signed-{flavour}", branch=branch, kernel=kernel),)
        headers = (kernel_headers(place.system),) if foreign_kernel(place.system) else ()
        return (*headers, use(by_flavour(move), branch=branch))

    def remarks(self, move: DriverMove, place: InstallPlace) -> tuple[Text, ...]:
        """Whose headers a kernel has that Canonical did not build; that a branch may be led on, as 470 was to 535."""
        ends = place.system.last_branch == move.version.major
        led_on = text(
            "branch {branch} is the last for a GPU of this computer, and Ubuntu may lead its packages on to a later one when it "
            "ends, as it did with 470: `gpuassist plan hold` keeps the driver whatever comes",
            branch=move.version.major,
        )
        return (*((headers_elsewhere(place.system),) if foreign_kernel(place.system) else ()), *((led_on,) if ends else ()))

    def hold_check(self, place: InstallPlace) -> Text:
        return text("`apt-mark showhold` lists them")

    def headers(self, place: InstallPlace) -> tuple[UsedCommand, ...]:
        return (kernel_headers(place.system),)

    def module_anew(self, place: InstallPlace, packages: tuple[str, ...]) -> tuple[UsedCommand, ...]:
        """Canonical's own for this kernel, where the driver was installed with such; else dkms builds it."""
        ending = signed_modules(place.system)
        named = (*map(_DRIVER.fullmatch, packages), *map(_SIGNED.match, packages))
        found = next((one for one in named if one is not None), None)
        if found is None or not ending or any("-dkms-" in one and "no-dkms" not in one for one in packages):
            return super().module_anew(place, packages)
        return (use("driver-packages-install", packages=f"linux-modules-nvidia-{found['kind']}-{ending}"),)

    def own_way(self, move: DriverMove, place: InstallPlace) -> bool:
        """System76's own package, on Pop!_OS: its newest driver."""
        return place.system.distribution == "pop" and move.open_module and not move.pinned

    def ask(self, move: DriverMove, place: InstallPlace) -> UsedCommand:
        branch = move.version.major
        ending = "-open" if move.open_module else ""
        server = f" nvidia-driver-{branch}-server" if branch < _FIRST_SIGNED else ""
        return use("driver-packages-ask", packages=f"nvidia-driver-{branch}{ending}{server}")

    def brings(self, move: DriverMove, place: InstallPlace) -> Brings:
        """Each branch has packages of its own."""
        return Brings.THEIRS if place.system.distribution == "pop" else Brings.BRANCH

    def signed(self, move: DriverMove, place: InstallPlace) -> bool:
        """By Canonical, where it built the kernel."""
        if move.version.major < _FIRST_SIGNED or place.system.distribution == "pop":
            return False
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


def kernel_flavour(kernel: str) -> str:
    """How Canonical calls a kernel: `nvidia-64k` of `6.8.0-1025-nvidia-64k`; empty where it built none of that name."""
    found = _KERNEL.fullmatch(kernel)
    return found["flavour"] if found is not None and found["flavour"] in _CANONICAL else ""


def foreign_kernel(system: System) -> bool:
    """Whether neither Canonical nor System76 built it, whose kernels bring their headers along."""
    return bool(system.kernel) and not kernel_flavour(system.kernel) and system.distribution != "pop"


def signed_modules(system: System) -> str:
    """How the names of the signed modules for this kernel end: `generic-hwe-24.04`; empty where it has none."""
    flavour = kernel_flavour(system.kernel)
    if not flavour:
        return ""
    based, release = system.base[0] == "ubuntu", system.base[1]
    release = release if based else system.release
    first = _FIRST_KERNELS.get(release)
    # The kernels for new computers (oem) have packages by letters (oem-24.04c); those of the kernel itself are there for all.
    if not (based or system.distribution == "ubuntu") or first is None or flavour == "oem":
        return system.kernel
    newer = flavour in _WITH_ENABLEMENT and not system.kernel.startswith(f"{first}.")
    return f"{flavour}-hwe-{release}" if newer else flavour


def kernel_headers(system: System) -> UsedCommand:
    """The headers of the running kernel, and those that follow its kind."""
    following = signed_modules(system)
    if not following or following == system.kernel:
        return use("kernel-headers-install-running")
    return use("kernel-headers-install-of", package=f"linux-headers-{following}")


def _for_servers(move: DriverMove, place: InstallPlace) -> bool:
    """On a rented machine, and with GPUs for data centres. NVIDIA's own kernel alone tells nothing: a DGX Spark has a desktop."""
    server = (bool(place.system.provider) or place.system.servers) and not place.system.part
    return server and bool(signed_modules(place.system)) and move.version.major in _FOR_SERVERS
