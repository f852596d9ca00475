"""How a driver comes onto a machine that is rented: the provider's own installer, the distribution's packages for servers, or,
where only a part of a GPU is rented (vGPU), the provider's driver for that.
"""

from __future__ import annotations

from gpuassist.install.place import InstallPlace
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.knowledge.families import Family
from gpuassist.model.text import Text, text

# Canonical keeps packages for servers of these branches (linux-restricted-modules); of the others they lead to one of these.
_FOR_SERVERS = frozenset({535, 580, 595})
_PARTS = {"azure": "grid-driver-install-azure", "aws": "grid-driver-install-aws"}
_OWN = {"gcp": "driver-install-gcp", "lambda": "driver-install-lambda"}
_DISTRIBUTIONS = {
    "gcp": frozenset({Family.UBUNTU, Family.DEBIAN, Family.RHEL}),
    "lambda": frozenset({Family.UBUNTU}),
}
_NAMES = {
    "aws": "Amazon EC2",
    "azure": "Azure",
    "gcp": "Google Cloud",
    "oci": "Oracle Cloud",
    "lambda": "Lambda",
    "alibaba": "Alibaba Cloud",
    "tencent": "Tencent Cloud",
    "digitalocean": "DigitalOcean",
    "hetzner": "Hetzner",
    "vultr": "Vultr",
    "scaleway": "Scaleway",
    "upcloud": "UpCloud",
    "akamai": "Akamai",
    "ibm": "IBM Cloud",
    "openstack": "OpenStack",
}


def cloud_uses(move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
    """The commands that install it there; none where the distribution's own way is the provider's as well."""
    system = place.system
    if not system.provider or place.family in {Family.WSL, Family.CONTAINER}:
        return ()
    if system.part:
        return (use("nouveau-blacklist"), use("kernel-headers-install"), use(_PARTS[system.provider]))
    # The installers take the newest production driver with the open modules, and sign nothing.
    has_own = place.system
    serves = place.family in _DISTRIBUTIONS.get(has_own.provider, frozenset())
    if serves and move.open_module and not move.pinned and not has_own.secure_boot:
        return (use(_OWN[system.provider]),)
    if place.family is Family.UBUNTU and system.signed_modules and move.version.major in _FOR_SERVERS:
        flavour = "open" if move.open_module else "proprietary"
        return (use(f"driver-install-server-{flavour}", branch=move.version.major, kernel=system.signed_modules),)
    return ()


def cloud_words(place: InstallPlace, uses: tuple[UsedCommand, ...]) -> Text | None:
    """What installing it there does, in words; None where it is done as on any machine."""
    keys = {one.key for one in uses}
    provider = provider_name(place.system.provider)
    if keys & set(_PARTS.values()):
        return text(
            "Install the driver that {provider} gives for a part of a GPU (GRID): its release belongs to that of their hosts, and "
            "no other driver runs here",
            provider=provider,
        )
    if "driver-install-gcp" in keys:
        return text(
            "Install NVIDIA's production driver with {provider}'s installer; where it restarts the machine, give the second line "
            "again",
            provider=provider,
        )
    if "driver-install-lambda" in keys:
        return text("Install the driver with {provider}'s own packages (Lambda Stack), which bring torch too", provider=provider)
    return None


def provider_name(provider: str) -> str:
    """The name by which the provider is known."""
    return _NAMES.get(provider, provider)
