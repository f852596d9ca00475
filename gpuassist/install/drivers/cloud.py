"""How a driver comes onto a machine that is rented, where its provider has a way that goes before the distribution's: an
installer, or, where only a part of a GPU is rented (vGPU), the driver for that.
"""

from __future__ import annotations

from gpuassist.diagnose.case import RuleInput
from gpuassist.install.drivers.packages import packages_of
from gpuassist.install.place import InstallPlace
from gpuassist.knowledge.change import DriverMove
from gpuassist.knowledge.commands import UsedCommand, use
from gpuassist.model.fact import value_or
from gpuassist.model.plan import Proves, Step, StepKind, StepProof
from gpuassist.model.text import Text, text

_PARTS = {"azure": "grid-driver-install-azure", "aws": "grid-driver-install-aws"}
_OWN = {"gcp": "driver-install-gcp", "lambda": "driver-install-lambda"}
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


# The consoles that show what the firmware shows (each provider's documentation: EC2 Serial Console, Azure Serial Console, Compute
# Engine's serial console, OCI's console connections).
_CONSOLES = {
    "aws": "EC2 Serial Console",
    "azure": "Azure Serial Console",
    "gcp": "gcloud compute connect-to-serial-port NAME",
    "oci": "OCI console connection",
}
_AZURE_PARTS = frozenset({"10de:2236"})  # A10: NVadsA10 v5, which Azure says takes GRID drivers in all sizes

_AMAZON_PARTS = ("g6f.", "gr6f.")


def is_part(case: RuleInput) -> bool:
    """Whether the GPU is only a part of one (vGPU): its name says so, or the cloud gives it in such parts alone, as Azure the A10,
    Amazon the L4 in these types of instances.
    """
    host = case.machine.host
    if case.virtual:
        return True
    provider = value_or(host.provider, "")
    if provider == "azure":
        return any(value_or(card.gpu.pci_id, "") in _AZURE_PARTS for card in case.cards)
    return provider == "aws" and value_or(host.product, "").startswith(_AMAZON_PARTS)


def cloud_uses(move: DriverMove, place: InstallPlace) -> tuple[UsedCommand, ...]:
    """The commands of the provider's own way; none where it has none, and the distribution's is taken."""
    system = place.system
    if system.part and system.provider not in _PARTS:
        return ()
    if system.part:
        return (use("nouveau-blacklist"), *packages_of(place.family).headers(place), use(_PARTS[system.provider]))
    # The installers take the newest production driver with the open modules, and sign nothing.
    serves = system.provider in packages_of(place.family).providers
    if serves and move.open_module and not move.pinned and not system.secure_boot:
        return (use(_OWN[system.provider]),)
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


def guest_step(place: InstallPlace) -> Step | None:
    """The driver of a virtual GPU, where no provider that is known gives it; None on any other machine."""
    if not place.system.part or place.system.provider in _PARTS:
        return None
    does = text(
        "Install the guest driver of the vGPU release that this machine's host runs: whoever runs the host has it, and the licence "
        "that goes with it. No other driver runs a virtual GPU, and none of a newer release than the host's"
    )
    check = text("after the restart, `nvidia-smi` lists the GPU, and `nvidia-smi -q` shows its License Status")
    return Step(StepKind.ROOT_COMMAND, does, check=check, needs_root=True, proof=StepProof(Proves.DRIVER))


def console_of(provider: str) -> str:
    """What it calls the console of a machine, on which the questions before the system's start can be answered."""
    return _CONSOLES.get(provider, "serial console, VNC")


def provider_name(provider: str) -> str:
    return _NAMES.get(provider, provider)
