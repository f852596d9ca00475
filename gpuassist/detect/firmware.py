"""What the firmware's tables (DMI) say of the machine: whose cloud it is rented from, its model, and whether it is a laptop."""

from __future__ import annotations

from gpuassist.detect.small_files import made, read
from gpuassist.model.fact import Fact, Known, Unknown, value_or
from gpuassist.model.text import text
from gpuassist.system.files import Files

_TABLES = "/sys/class/dmi/id"
_DEVICES = "/sys/bus/pci/devices"
# What a provider writes into its machines' tables, by the file that it stands in: those that cloud-init looks for (ds-identify).
_TAGS = {
    "7783-7084-3265-9085-8269-3286-77": "azure",
    "OracleCloud.com": "oci",
    "ibmcloud": "ibm",
    "OpenTelekomCloud": "openstack",
}
_PRODUCTS = {
    "Google Compute Engine": "gcp",
    "Alibaba Cloud ECS": "alibaba",
    "OpenStack Nova": "openstack",
    "OpenStack Compute": "openstack",
}
_VENDORS = {
    "Amazon EC2": "aws",
    "Google": "gcp",
    "DigitalOcean": "digitalocean",
    "Hetzner": "hetzner",
    "Vultr": "vultr",
    "Scaleway": "scaleway",
    "UpCloud": "upcloud",
    "Akamai": "akamai",
    "Linode": "akamai",
    "Tencent Cloud": "tencent",
}
_AMAZON = "amazon"  # in the firmware's version on the instances that run under Xen: 4.11.amazon
_LAMBDA = "/var/lib/dpkg/info/lambda-stack-cuda.list"  # Lambda's machines have the tables of plain QEMU, and its own packages
_PORTABLE = frozenset({"8", "9", "10", "14", "31", "32"})  # SMBIOS, types of a chassis: portable, laptop, notebook, ..., detachable
_DISPLAYS = ("0x0300", "0x0380")
_PROCESSORS = frozenset({"0x8086", "0x1002"})  # Intel, AMD


def provider(files: Files) -> Fact[str]:
    """The cloud that the machine is rented from; empty where the tables name none that is known."""
    if files.exists(_LAMBDA):
        return Known("lambda", _LAMBDA)
    if not files.is_directory(_TABLES):
        return Unknown(text("{path} is not there, so the firmware does not tell whose machine this is", path=_TABLES))
    for name, known in (("chassis_asset_tag", _TAGS), ("product_name", _PRODUCTS), ("sys_vendor", _VENDORS)):
        path = f"{_TABLES}/{name}"
        found = known.get(value_or(read(files, path), ""), "")
        if found:
            return Known(found, path)
    version = f"{_TABLES}/bios_version"
    return Known("aws" if _AMAZON in value_or(read(files, version), "").lower() else "", version)


def product(files: Files) -> Fact[str]:
    """What the firmware calls the machine: a workstation's model, the type of a cloud's instance."""
    return read(files, f"{_TABLES}/product_name")


def hybrid(files: Files) -> Fact[bool]:
    """Whether it is a laptop whose processor has graphics of its own that are in use."""
    portable = made(read(files, f"{_TABLES}/chassis_type"), lambda words: words in _PORTABLE)
    if isinstance(portable, Unknown) or not portable.value:
        return portable
    return Known(any(_is_processors(files, f"{_DEVICES}/{one}") for one in files.names(_DEVICES)), portable.source)


def _is_processors(files: Files, device: str) -> bool:
    kind = value_or(read(files, f"{device}/class"), "")
    return kind.startswith(_DISPLAYS) and value_or(read(files, f"{device}/vendor"), "") in _PROCESSORS
