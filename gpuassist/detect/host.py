"""The machine around the GPU: distribution, kernel, glibc, WSL, container, Jetson, Secure Boot, and what its firmware tells."""

from __future__ import annotations

import re
import struct

from msgspec.structs import replace

from gpuassist.detect.accounts import administrator
from gpuassist.detect.small_files import made, read, unreadable
from gpuassist.formats.distribution import distribution_in, read_os_release
from gpuassist.model.fact import NOT_ASKED, Fact, Known, Unknown, value_or
from gpuassist.model.lazy_regex import lazy_regex
from gpuassist.model.machine import Distribution, Host
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.system.files import Files
from gpuassist.system.pci import DEVICES
from gpuassist.system.world import World

_TEGRA_RELEASE = "/etc/nv_tegra_release"
_L4T = lazy_regex(r"R(\d+) \(release\), REVISION: ([\d.]+)")
_KERNEL = "/proc/sys/kernel/osrelease"
_OS_RELEASES = ("/etc/os-release", "/usr/lib/os-release")
_FIRMWARE = "/sys/firmware"
_EFI = f"{_FIRMWARE}/efi"
_SECURE_BOOT = f"{_EFI}/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
_KEY_PENDING = f"{_EFI}/efivars/MokNew-605dab50-e046-4300-abb6-3dd810dd8b23"  # written by mokutil, taken away by the boot loader
_REALTIME = "/sys/kernel/realtime"  # there with PREEMPT_RT alone
_BOOTED_IMAGE = "/run/ostree-booted"
_SLEPT = "/sys/power/suspend_stats/success"
_APT = "/etc/apt/apt.conf.d"
_APT_UPGRADES = lazy_regex(r'^\s*APT::Periodic::Unattended-Upgrade\s+"(\w+)"', re.MULTILINE)
_DNF_UPGRADES = "/etc/systemd/system/timers.target.wants/dnf*-automatic*.timer"
_ARCHITECTURE = "/proc/sys/kernel/arch"  # from Linux 6.1 on
_ELF_MACHINES = {62: "x86_64", 183: "aarch64", 21: "ppc64le", 243: "riscv64", 3: "i686", 40: "armv7l"}
_GLIBCS = (
    "/lib/x86_64-linux-gnu/libc.so.6",
    "/lib/aarch64-linux-gnu/libc.so.6",
    "/lib64/libc.so.6",
    "/usr/lib/libc.so.6",
    "/lib/*/libc.so.6",
)
_GLIBC_VERSION = lazy_regex(rb"GNU C Library [^\n]*?release version (\d+\.\d+)")
_CONTAINER_MARKS = (
    ("/.dockerenv", "docker"),
    ("/run/.containerenv", "podman"),
    ("/.singularity.d", "apptainer"),
    ("/.flatpak-info", "flatpak"),
)
_SYSTEMD_CONTAINER = "/run/systemd/container"
# What the paths of init's control group, and of the layers under /, have in them.
_CONTAINER_WORDS = (
    ("docker", "docker"),
    ("libpod", "podman"),
    ("containers/storage", "podman"),
    ("kubepods", "kubernetes"),
    ("containerd", "containerd"),
    ("lxc", "lxc"),
)


def probe(world: World) -> Host:
    files = world.files
    kernel = read(files, _KERNEL)
    directory = _KEY_PENDING.rpartition("/")[0]
    if not files.names(directory):
        key_pending: Fact[bool] = Unknown(text("{path} is empty or hidden here, as in a container", path=directory))
    else:
        key_pending = Known(files.exists(_KEY_PENDING), _KEY_PENDING)
    return Host(
        distribution=distribution(files),
        kernel=kernel,
        architecture=architecture(files),
        glibc=_glibc(files),
        wsl=_wsl(files, kernel),
        container=_container(files),
        jetson=_jetson(files),
        secure_boot=_secure_boot(files),
        key_pending=key_pending,
        realtime=Known(files.exists(_REALTIME), _REALTIME) if files.is_directory("/sys/kernel") else NOT_ASKED,
        slept=made(read(files, _SLEPT), int) if files.exists(_SLEPT) else NOT_ASKED,
        unattended=_unattended(files),
        provider=provider(files),
        product=product(files),
        hybrid=hybrid(files),
        administrator=administrator(world),
        l4t=_l4t(files),
        board=board(files),
    )


def distribution(files: Files) -> Fact[Distribution]:
    """What the system calls itself."""
    path = next((path for path in _OS_RELEASES if files.exists(path)), _OS_RELEASES[0])
    return _as_image(files, made(read(files, path), _parsed_distribution))


def _parsed_distribution(words: str) -> Distribution:
    found = read_os_release(words)
    name = found.get("PRETTY_NAME") or found.get("NAME") or found.get("ID", "")
    if not name:
        raise ValueError(words)
    return distribution_in(found, name)


def _as_image(files: Files, distribution: Fact[Distribution]) -> Fact[Distribution]:
    """Fedora's own images say nothing of it in os-release; libostree leaves this file at the start (ostree-prepare-root)."""
    if not isinstance(distribution, Known) or not files.exists(_BOOTED_IMAGE):
        return distribution
    return replace(distribution, value=replace(distribution.value, image=True))


def architecture(files: Files) -> Fact[str]:
    told = read(files, _ARCHITECTURE)
    if isinstance(told, Known):
        return told
    shell = "/bin/sh"
    try:
        header = files.read_part(shell, 0, 20)
    except OSError as error:
        return unreadable(shell, error)
    machine = struct.unpack_from("<H", header, 18)[0] if header[:4] == b"\x7fELF" and len(header) == 20 else None
    if machine not in _ELF_MACHINES:
        return Unknown(text("{path} is no program of an architecture known here", path=shell))
    return Known(_ELF_MACHINES[machine], shell)


def _glibc(files: Files) -> Fact[Version]:
    path = next((path for pattern in _GLIBCS for path in files.glob(pattern) if files.is_file(path)), None)
    if path is None:
        return Unknown(text("no {name} was found; this system may use another C library", name="libc.so.6"))
    try:
        found = _GLIBC_VERSION.search(files.read_bytes(path, 8 << 20))
    except OSError as error:
        return unreadable(path, error)
    return Known(Version.parse(found[1].decode()), path) if found else Unknown(text("{path} names no version of itself", path=path))


def _wsl(files: Files, kernel: Fact[str]) -> Fact[int]:
    if files.exists("/dev/dxg"):  # the GPU that Windows passes through; a kernel of one's own need not be named after Microsoft
        return Known(2, "/dev/dxg")
    return made(kernel, _wsl_of)


def _wsl_of(kernel: str) -> int:
    if "microsoft" not in kernel.lower():
        return 0
    # WSL 1 says 4.4.0-19041-Microsoft, WSL 2 says 5.15.167.4-microsoft-standard-WSL2.
    return 1 if kernel.endswith("-Microsoft") else 2


def _container(files: Files) -> Fact[str]:
    for path, kind in _CONTAINER_MARKS:
        if files.exists(path):
            return Known(kind, path)
    named = read(files, _SYSTEMD_CONTAINER)
    if isinstance(named, Known) and named.value and named.value != "wsl":  # systemd counts WSL among containers
        return named
    path = "/proc/1/environ"
    try:
        variables = files.read_text(path).split("\0")
    except OSError:  # another user's process; its control group is open to all
        return _container_of_paths(files)
    told = [word.removeprefix("container=") for word in variables if word.startswith("container=") and word != "container=wsl"]
    return Known(told[0], path) if told else _container_of_paths(files)


def _container_of_paths(files: Files) -> Fact[str]:
    group, mounts = read(files, "/proc/1/cgroup"), read(files, "/proc/self/mountinfo")
    root = made(mounts, lambda words: next((line for line in words.splitlines() if line.split(" ")[4:5] == ["/"]), ""))
    for paths in (group, root):
        if isinstance(paths, Known):
            kind = next((kind for word, kind in _CONTAINER_WORDS if word in paths.value), "")
            if kind:
                return Known(kind, paths.source)
    return made(group, lambda _no_sign: "")


def _jetson(files: Files) -> Fact[bool]:
    if files.exists(_TEGRA_RELEASE):
        return Known(value=True, source=_TEGRA_RELEASE)
    compatible = "/proc/device-tree/compatible"
    if not files.exists(compatible):
        return Known(value=False, source=compatible)
    return made(read(files, compatible), lambda words: "nvidia,tegra" in words)


def _l4t(files: Files) -> Fact[str]:
    if not files.exists(_TEGRA_RELEASE):
        return Known("", _TEGRA_RELEASE)
    return made(read(files, _TEGRA_RELEASE), _l4t_of)


def _l4t_of(words: str) -> str:
    """Of `# R36 (release), REVISION: 4.3, GCID: ...`."""
    found = _L4T.search(words)
    if found is None:
        raise ValueError(words)
    return f"{found[1]}.{found[2]}"


def _secure_boot(files: Files) -> Fact[bool]:
    if not files.names(_FIRMWARE):
        return Unknown(text("{path} is empty or hidden here, as in a container", path=_FIRMWARE))
    if not files.exists(_EFI):
        return Known(value=False, source=_EFI)  # started by a legacy BIOS
    try:
        value = files.read_bytes(_SECURE_BOOT, 5)
    except FileNotFoundError as error:
        variables = _SECURE_BOOT.rpartition("/")[0]
        return Known(value=False, source=variables) if files.names(variables) else unreadable(_SECURE_BOOT, error)
    except OSError as error:
        return unreadable(_SECURE_BOOT, error)
    if len(value) < 5:
        return Unknown(text("{path} is shorter than the five bytes it should have", path=_SECURE_BOOT))
    return Known(value[4] == 1, _SECURE_BOOT)  # the first four bytes are the variable's attributes


def _unattended(files: Files) -> Fact[bool]:
    timers = files.glob(_DNF_UPGRADES)
    if timers:
        return Known(value=True, source=timers[0])
    if not files.is_directory(_APT):
        return NOT_ASKED
    told = [(found, path) for path in files.glob(f"{_APT}/*") for found in _APT_UPGRADES.findall(value_or(read(files, path), ""))]
    return Known(told[-1][0] not in {"0", "false", "no"}, told[-1][1]) if told else Known(value=False, source=_APT)


# What the firmware's tables (DMI) say: whose cloud the machine is rented from, its model, and whether it is a laptop.


_TABLES = "/sys/class/dmi/id"
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
_MODEL = "/proc/device-tree/model"
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


def board(files: Files) -> Fact[str]:
    """The maker and model of the main board. Everybody may read these, and root alone the serial numbers and the machine's own UUID
    (Linux, drivers/firmware/dmi-id.c); without such tables a device tree names the model.
    """
    named = read(files, f"{_TABLES}/board_name")
    if isinstance(named, Unknown) or not named.value:
        model = made(read(files, _MODEL), lambda words: words.strip("\0"))
        return model if isinstance(model, Known) else named
    return made(named, lambda name: f"{value_or(read(files, f'{_TABLES}/board_vendor'), '')} {name}".strip())


def hybrid(files: Files) -> Fact[bool]:
    """Whether it is a laptop whose processor has graphics of its own that are in use."""
    portable = made(read(files, f"{_TABLES}/chassis_type"), lambda words: words in _PORTABLE)
    if isinstance(portable, Unknown) or not portable.value:
        return portable
    return Known(any(_is_processors(files, f"{DEVICES}/{one}") for one in files.names(DEVICES)), portable.source)


def _is_processors(files: Files, device: str) -> bool:
    kind = value_or(read(files, f"{device}/class"), "")
    return kind.startswith(_DISPLAYS) and value_or(read(files, f"{device}/vendor"), "") in _PROCESSORS
