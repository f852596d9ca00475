"""What of a machine decides how a driver comes onto it: distribution, kernel, Secure Boot, what is installed, whose it is."""

from __future__ import annotations

from dataclasses import dataclass

from gpuassist.model.digits import whole_number
from gpuassist.model.version import Version

# The kernels that Canonical builds, with which it builds and signs NVIDIA's modules as well (linux-restricted-modules).
_CANONICAL = frozenset({"generic", "lowlatency", "aws", "azure", "gcp", "oracle", "nvidia", "oem"})
# The kernel that an Ubuntu release came with; a newer one is its hardware enablement kernel (Ubuntu kernel lifecycle).
_FIRST_KERNELS = {"20.04": "5.4", "22.04": "5.15", "24.04": "6.8", "26.04": "7.0"}
_WITH_ENABLEMENT = frozenset({"generic", "lowlatency"})
_ARCH_KERNELS = {"lts": "linux-lts", "zen": "linux-zen", "hardened": "linux-hardened", "rt": "linux-rt", "cachyos": "linux-cachyos"}


@dataclass(frozen=True, slots=True)
class System:
    """`distribution` and `release` are os-release's ID and VERSION_ID, `kernel` is `uname -r`; `secure_boot` is None where that is
    not known. `driver` is the version that is installed, loaded or not, `open_module` its flavour, both None where not there or not
    known; `uninstaller` is that of NVIDIA's own installer, empty where it was not used. `needs_open`: a GPU runs with the open
    modules alone. `nouveau` has a GPU; `hybrid`: a laptop whose processor draws as well. `provider` is the cloud it is rented from,
    `part` that only a part of a GPU is rented (vGPU). `repositories` is openSUSE's package that adds NVIDIA's,
    `administrator` whether this user may become root.
    """

    distribution: str = ""
    release: str = ""
    kernel: str = ""
    secure_boot: bool | None = False
    driver: Version | None = None
    open_module: bool | None = None
    uninstaller: str = ""
    needs_open: bool = False
    nouveau: bool = False
    hybrid: bool = False
    provider: str = ""
    part: bool = False
    home: str = ""
    administrator: bool = True
    jetson: bool = False
    conda: bool = False
    repositories: str = "openSUSE-repos-Tumbleweed-NVIDIA"

    @property
    def major(self) -> int:
        """The distribution's major release; 0 where it has none, or says none."""
        return whole_number(self.release.partition(".")[0]) or 0

    @property
    def signed_modules(self) -> str:
        """How the names of Ubuntu's signed modules for this kernel end: `generic-hwe-24.04`; empty where it has none."""
        flavour = self.kernel.rpartition("-")[2]
        if flavour not in _CANONICAL:
            return ""
        first = _FIRST_KERNELS.get(self.release)
        if self.distribution != "ubuntu" or first is None:
            return self.kernel
        newer = flavour in _WITH_ENABLEMENT and not self.kernel.startswith(f"{first}.")
        return f"{flavour}-hwe-{self.release}" if newer else flavour

    @property
    def enterprise_suse(self) -> str:
        """NVIDIA's name for a release of SUSE Linux Enterprise: `sle15sp7`, `sle16`; empty on any other system."""
        if self.distribution not in {"sles", "sled"}:
            return ""
        major, _, pack = self.release.partition(".")
        later = f".{pack}" if pack.strip("0") else ""
        return f"sle{major}sp{pack}" if major == "15" else f"sle{major}{later}"

    @property
    def arch_kernel(self) -> str:
        """The package of an Arch kernel by the end of its name: `linux-lts` of `6.12.58-1-lts`, `linux` of `6.17.8-arch1-1`."""
        ending = self.kernel.rpartition("-")[2]
        return _ARCH_KERNELS.get(ending, f"linux-{ending}" if ending.isalpha() and ending != "generic" else "linux")
