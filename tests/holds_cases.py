"""Machines on which something is kept, as the files of each distribution have it, and what is kept there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpuassist.knowledge.package_parts import part_of
from gpuassist.model.fact import Known
from gpuassist.model.holds import GpuRepository, HoldKind, HoldReach, PackageHold, SystemPackage, SystemPackages

EVERY, BRANCHES, ONE = HoldReach.EVERY_UPGRADE, HoldReach.OTHER_BRANCHES, HoldReach.ONE_VERSION
REPOSITORY, AUTOMATIC, NOTHING = HoldReach.ONE_REPOSITORY, HoldReach.AUTOMATIC_UPGRADES, HoldReach.NOTHING
STATUS = "/var/lib/dpkg/status"
RPM = "rpm --dbpath {root}/usr/lib/sysimage/rpm -qa --qf %{NAME}\\t%|EPOCH?{%{EPOCH}:}|%{VERSION}-%{RELEASE}\\n"


@dataclass(frozen=True)
class Kept:
    """A hold as it is expected: by kind, pattern, the line of its file, reach, version, what it covers, and the repository."""

    kind: HoldKind
    pattern: str
    source: str
    reach: HoldReach = EVERY
    version: str = ""
    covers: tuple[str, ...] = ()
    repository: str = ""
    owner: str = ""


@dataclass(frozen=True)
class HoldCase:
    """`files` are the machine's, `rpm` what rpm lists."""

    name: str
    files: Mapping[str, str]
    kept: tuple[Kept, ...]
    rpm: Mapping[str, str] = field(default_factory=dict)


def dpkg(*packages: str) -> str:
    """A status file: each `name version`, or `=name version` for one that is on hold; the Status is the second line of each."""
    stanzas = []
    for one in packages:
        name, version = one.lstrip("=").split()
        want = "hold" if one.startswith("=") else "install"
        stanzas.append(
            f"Package: {name}\nStatus: {want} ok installed\nPriority: optional\nSection: restricted/libs\nInstalled-Size: 1\n"
            f"Maintainer: Somebody <a@example.org>\nArchitecture: amd64\nVersion: {version}\n"
            "Description: something\n with a line more\n"
        )
    return "\n".join(stanzas)


PINNING = """\
Package: *nvidia* cuda-drivers* libcuda1* libnvcuvid1* libxnvctrl*
Pin: version 580.*
Pin-Priority: 1001
"""
UBUNTU = (
    *("bash 5.2.21-2ubuntu4", "nvidia-driver-580 580.95.05-0ubuntu0.24.04.2", "libnvidia-compute-580 580.95.05-0ubuntu0.24.04.2"),
    *("nvidia-dkms-580 580.95.05-0ubuntu0.24.04.2", "linux-image-generic 6.8.0-45.45", "nvidia-prime 0.8.17.2"),
)
DRIVER_OF_UBUNTU = ("libnvidia-compute-580", "nvidia-dkms-580", "nvidia-driver-580")
FEDORA_RPM = {"akmod-nvidia": "3:580.95.05-1.fc43", "xorg-x11-drv-nvidia": "3:580.95.05-1.fc43", "kernel-core": "6.17.8-300.fc43"}
EL_RPM = {"nvidia-driver": "3:575.51.03-1.el9", "kmod-nvidia-latest-dkms": "3:575.51.03-1.el9", "kernel": "5.14.0-570.el9"}
SUSE_RPM = {
    "nvidia-compute-G06": "580.95.05-1.1",
    "nvidia-driver-G06-kmp-default": "580.95.05_k6.4.0-1.1",
    "kernel-default": "6.4.0-1",
}


def arch(*packages: str) -> dict[str, str]:
    return {f"/var/lib/pacman/local/{one}/desc": "%NAME%\n" for one in packages}


PACMAN_ALL = ("nvidia-open-580.105.08-1", "nvidia-utils-580.105.08-1", "linux-6.17.8.arch1-1", "bash-5.3-1")

CASES = (
    HoldCase("Ubuntu, nothing is kept", {STATUS: dpkg(*UBUNTU)}, ()),
    HoldCase(
        "Ubuntu, apt-mark hold of the driver's package",
        {STATUS: dpkg("bash 5.2", "=nvidia-driver-580 580.95.05-0ubuntu0.24.04.2", "vim 9.1")},
        (
            Kept(
                HoldKind.DPKG,
                "nvidia-driver-580",
                f"{STATUS}:13",
                version="580.95.05-0ubuntu0.24.04.2",
                covers=("nvidia-driver-580",),
            ),
        ),
    ),
    HoldCase(
        "Ubuntu, the kernel is on hold",
        {STATUS: dpkg("=linux-image-generic 6.8.0-45.45", "=bash 5.2")},
        (Kept(HoldKind.DPKG, "linux-image-generic", f"{STATUS}:2", version="6.8.0-45.45", covers=("linux-image-generic",)),),
    ),
    HoldCase(
        "Ubuntu, a hold on a package that was removed since",
        {STATUS: "Package: nvidia-driver-535\nStatus: hold ok config-files\nVersion: 535.1\n"},
        (),
    ),
    HoldCase(
        "Ubuntu, NVIDIA's package that pins a branch",
        {
            STATUS: dpkg(*UBUNTU, "nvidia-driver-pinning-580 580-2ubuntu1"),
            "/etc/apt/preferences.d/nvidia-driver-pinning-580": PINNING,
            "/var/lib/dpkg/info/nvidia-driver-pinning-580.list": "/.\n/etc/apt/preferences.d/nvidia-driver-pinning-580\n",
        },
        tuple(
            Kept(
                HoldKind.APT_PIN,
                pattern,
                "/etc/apt/preferences.d/nvidia-driver-pinning-580:1",
                BRANCHES,
                "580.*",
                covers,
                owner="nvidia-driver-pinning-580",
            )
            for pattern, covers in (
                ("*nvidia*", DRIVER_OF_UBUNTU),
                ("cuda-drivers*", ()),
                ("libcuda1*", ()),
                ("libnvcuvid1*", ()),
                ("libxnvctrl*", ()),
            )
        ),
    ),
    HoldCase(
        "Ubuntu, branches that are kept away",
        {
            STATUS: dpkg(*UBUNTU),
            "/etc/apt/preferences.d/nvidia-580-pin": (
                "Package: nvidia-*\nPin: version 580.*\nPin-Priority: 900\n"
                "Package: nvidia-*\nPin: version 59*.*\nPin-Priority: -1\n"
            ),
        },
        (
            Kept(
                HoldKind.APT_PIN,
                "nvidia-*",
                "/etc/apt/preferences.d/nvidia-580-pin:1",
                BRANCHES,
                "580.*",
                ("nvidia-dkms-580", "nvidia-driver-580"),
            ),
            Kept(
                HoldKind.APT_PIN,
                "nvidia-*",
                "/etc/apt/preferences.d/nvidia-580-pin:4",
                ONE,
                "59*.*",
                ("nvidia-dkms-580", "nvidia-driver-580"),
            ),
        ),
    ),
    HoldCase(
        "Ubuntu, NVIDIA's own preference goes first and holds nothing",
        {
            STATUS: dpkg(*UBUNTU),
            "/etc/apt/preferences.d/cuda-repository-pin-600": (
                "Package: nsight-compute\nPin: origin *ubuntu.com*\nPin-Priority: -1\n\n"
                "Package: *\nPin: release l=NVIDIA CUDA\nPin-Priority: 600\n"
            ),
        },
        (),
    ),
    HoldCase(
        "Ubuntu, NVIDIA's repository is kept from the driver",
        {
            STATUS: dpkg(*UBUNTU),
            "/etc/apt/preferences.d/00-nvidia-driver-stays": (
                "Package: *nvidia* libcuda1*\nPin: origin developer.download.nvidia.com\nPin-Priority: 90\n"
            ),
        },
        (
            Kept(
                HoldKind.APT_PIN,
                "*nvidia*",
                "/etc/apt/preferences.d/00-nvidia-driver-stays:1",
                REPOSITORY,
                covers=DRIVER_OF_UBUNTU,
                repository="developer.download.nvidia.com",
            ),
            Kept(
                HoldKind.APT_PIN,
                "libcuda1*",
                "/etc/apt/preferences.d/00-nvidia-driver-stays:1",
                REPOSITORY,
                repository="developer.download.nvidia.com",
            ),
        ),
    ),
    HoldCase(
        "Debian, the whole of NVIDIA's repository is kept away",
        {
            STATUS: dpkg("nvidia-driver 550.163.01-2", "linux-image-amd64 6.12.48-1"),
            "/etc/apt/preferences": (
                'Explanation: only by name\nPackage: *\nPin: origin "developer.download.nvidia.com"\nPin-Priority: -10\n'
            ),
        },
        (
            Kept(
                HoldKind.APT_PIN,
                "*",
                "/etc/apt/preferences:2",
                REPOSITORY,
                covers=("nvidia-driver",),
                repository="developer.download.nvidia.com",
            ),
        ),
    ),
    HoldCase(
        "Debian, testing is kept away, which is no hold of a driver",
        {
            STATUS: dpkg("nvidia-driver 550.163.01-2"),
            "/etc/apt/preferences.d/testing": "Package: *\nPin: release a=testing\nPin-Priority: -10\n",
            "/etc/apt/preferences.d/nvidia.save": "Package: nvidia-*\nPin: release *\nPin-Priority: -1\n",
        },
        (),
    ),
    HoldCase(
        "Debian, a regular expression and no version at all",
        {
            STATUS: dpkg("nvidia-driver 550.163.01-2", "cuda-toolkit-12-8 12.8.1-1"),
            "/etc/apt/preferences.d/frozen.pref": "Package: /^(nvidia|cuda)-/\nPin: release *\nPin-Priority: -1\n",
        },
        (
            Kept(
                HoldKind.APT_PIN,
                "^(nvidia|cuda)-",
                "/etc/apt/preferences.d/frozen.pref:1",
                covers=("cuda-toolkit-12-8", "nvidia-driver"),
            ),
        ),
    ),
    HoldCase(
        "Ubuntu, unattended-upgrades leaves the driver out",
        {
            STATUS: dpkg(*UBUNTU),
            "/etc/apt/apt.conf.d/50unattended-upgrades": (
                'Unattended-Upgrade::Allowed-Origins {\n\t"${distro_id}:${distro_codename}";\n};\n'
                "// Python regular expressions\nUnattended-Upgrade::Package-Blacklist {\n"
                '    // "linux-";\n    "nvidia";  # the driver\n    "libnvidia";\n};\n'
            ),
        },
        (
            Kept(
                HoldKind.UNATTENDED,
                "nvidia",
                "/etc/apt/apt.conf.d/50unattended-upgrades:7",
                AUTOMATIC,
                covers=("nvidia-dkms-580", "nvidia-driver-580"),
            ),
            Kept(
                HoldKind.UNATTENDED,
                "libnvidia",
                "/etc/apt/apt.conf.d/50unattended-upgrades:8",
                AUTOMATIC,
                covers=("libnvidia-compute-580",),
            ),
        ),
    ),
    HoldCase(
        "Ubuntu, the same as one line and nested",
        {
            STATUS: dpkg(*UBUNTU),
            "/etc/apt/apt.conf.d/51nvidia-by-hand": 'Unattended-Upgrade::Package-Blacklist { "nvidia"; };\n',
            "/etc/apt/apt.conf.d/52more": 'Unattended-Upgrade { Package-Blacklist:: "linux-image"; };\n',
        },
        (
            Kept(
                HoldKind.UNATTENDED,
                "nvidia",
                "/etc/apt/apt.conf.d/51nvidia-by-hand:1",
                AUTOMATIC,
                covers=("nvidia-dkms-580", "nvidia-driver-580"),
            ),
            Kept(
                HoldKind.UNATTENDED,
                "linux-image",
                "/etc/apt/apt.conf.d/52more:1",
                AUTOMATIC,
                covers=("linux-image-generic",),
            ),
        ),
    ),
    HoldCase(
        "Fedora, dnf 5's list of a version",
        {
            "/etc/dnf/versionlock.toml": (
                'version = "1.0"\n\n[[packages]]\nname = "akmod-nvidia"\ncomment = "Added by \'versionlock add\' command"\n'
                '[[packages.conditions]]\nkey = "evr"\ncomparator = "="\nvalue = "3:580.95.05-1.fc43"\n'
            )
        },
        (
            Kept(
                HoldKind.VERSION_LOCK,
                "akmod-nvidia",
                "/etc/dnf/versionlock.toml:4",
                version="3:580.95.05-1.fc43",
                covers=("akmod-nvidia",),
            ),
        ),
        FEDORA_RPM,
    ),
    HoldCase(
        "Fedora, dnf 5's list of a branch",
        {
            "/etc/dnf/versionlock.toml": (
                'version = "1.0"\n[[packages]]\nname = "*nvidia*"\n[[packages.conditions]]\nkey = "evr"\ncomparator = ">="\n'
                'value = "3:580"\n[[packages.conditions]]\nkey = "evr"\ncomparator = "<"\nvalue = "3:581"\n'
            )
        },
        (
            Kept(
                HoldKind.VERSION_LOCK,
                "*nvidia*",
                "/etc/dnf/versionlock.toml:3",
                BRANCHES,
                "3:580",
                ("akmod-nvidia", "xorg-x11-drv-nvidia"),
            ),
        ),
        FEDORA_RPM,
    ),
    HoldCase(
        "Fedora, a list that dnf 5 applies nothing of, for it names no version of its form",
        {
            "/etc/dnf/versionlock.toml": (
                '[[packages]]\nname = "akmod-nvidia"\n[[packages.conditions]]\n'
                'key = "evr"\ncomparator = "="\nvalue = "3:580.95.05-1"\n'
            )
        },
        (),
        FEDORA_RPM,
    ),
    HoldCase(
        "Fedora, NVIDIA's repository without its driver, and a kernel that is kept",
        {
            "/etc/dnf/repos.override.d/99-config_manager.repo": (
                "# Generated by dnf5 config-manager.\n[cuda-fedora43-x86_64]\nexcludepkgs=nvidia-*,kmod-nvidia-*\n"
            ),
            "/etc/dnf/dnf.conf": "[main]\ngpgcheck=True\nexcludepkgs=kernel*\n",
        },
        (
            Kept(HoldKind.EXCLUDE, "kernel*", "/etc/dnf/dnf.conf:3", covers=("kernel-core",)),
            Kept(
                HoldKind.EXCLUDE,
                "nvidia-*",
                "/etc/dnf/repos.override.d/99-config_manager.repo:3",
                REPOSITORY,
                repository="cuda-fedora43-x86_64",
            ),
            Kept(
                HoldKind.EXCLUDE,
                "kmod-nvidia-*",
                "/etc/dnf/repos.override.d/99-config_manager.repo:3",
                REPOSITORY,
                repository="cuda-fedora43-x86_64",
            ),
        ),
        FEDORA_RPM,
    ),
    HoldCase(
        "RHEL 9, dnf 4's list",
        {
            "/etc/dnf/plugins/versionlock.list": (
                "# Added lock on Mon Nov  2 10:00:00 2026\nnvidia-driver-3:575.51.03-1.el9.*\n!kernel-0:5.14.0-600.el9.*\n"
            )
        },
        (
            Kept(
                HoldKind.VERSION_LOCK,
                "nvidia-driver",
                "/etc/dnf/plugins/versionlock.list:2",
                version="575.51.03-1.el9",
                covers=("nvidia-driver",),
            ),
            Kept(
                HoldKind.VERSION_LOCK,
                "kernel",
                "/etc/dnf/plugins/versionlock.list:3",
                ONE,
                "5.14.0-600.el9",
                ("kernel",),
            ),
        ),
        EL_RPM,
    ),
    HoldCase(
        "RHEL 10, a pattern with a branch, as NVIDIA's guide has it",
        {"/etc/dnf/plugins/versionlock.list": "*nvidia*575*\n"},
        (
            Kept(
                HoldKind.VERSION_LOCK,
                "*nvidia*575*",
                "/etc/dnf/plugins/versionlock.list:1",
                BRANCHES,
                "575*",
                ("kmod-nvidia-latest-dkms", "nvidia-driver"),
            ),
        ),
        EL_RPM,
    ),
    HoldCase(
        "Rocky 9, the module's stream of a branch",
        {
            "/etc/dnf/modules.d/nvidia-driver.module": (
                "[nvidia-driver]\nname=nvidia-driver\nstream=575-dkms\nprofiles=default\nstate=enabled\n"
            )
        },
        (
            Kept(
                HoldKind.MODULE_STREAM,
                "nvidia-driver:575-dkms",
                "/etc/dnf/modules.d/nvidia-driver.module:3",
                BRANCHES,
                "575*",
                ("kmod-nvidia-latest-dkms", "nvidia-driver"),
            ),
        ),
        EL_RPM,
    ),
    HoldCase(
        "Rocky 9, the stream of the newest holds nothing",
        {
            "/etc/dnf/modules.d/nvidia-driver.module": (
                "[nvidia-driver]\nname=nvidia-driver\nstream=open-dkms\nprofiles=\nstate=enabled\n"
            )
        },
        (),
        EL_RPM,
    ),
    HoldCase(
        "CentOS 7, yum's list and its exclude",
        {
            "/etc/yum/pluginconf.d/versionlock.list": "0:kernel-3.10.0-1160.el7.*\n",
            "/etc/yum.conf": "[main]\nplugins=1\nexclude=kmod-nvidia* nvidia-driver*\n  cuda*\n",
        },
        (
            Kept(
                HoldKind.VERSION_LOCK,
                "kernel",
                "/etc/yum/pluginconf.d/versionlock.list:1",
                version="3.10.0-1160.el7",
                covers=("kernel",),
            ),
            Kept(HoldKind.EXCLUDE, "kmod-nvidia*", "/etc/yum.conf:3", covers=("kmod-nvidia-latest-dkms",)),
            Kept(HoldKind.EXCLUDE, "nvidia-driver*", "/etc/yum.conf:3", covers=("nvidia-driver",)),
            Kept(HoldKind.EXCLUDE, "cuda*", "/etc/yum.conf:4"),
        ),
        EL_RPM,
    ),
    HoldCase(
        "Arch, IgnorePkg on two lines, one with a pattern",
        {
            **arch(*PACMAN_ALL),
            "/etc/pacman.conf": (
                "[options]\nHoldPkg     = pacman glibc\n#IgnorePkg   =\nIgnorePkg = nvidia-open nvidia-utils\nIgnorePkg = linux*\n"
                "[extra]\nInclude = /etc/pacman.d/mirrorlist\nIgnorePkg = cuda\n"
            ),
        },
        (
            Kept(HoldKind.PACMAN, "nvidia-open", "/etc/pacman.conf:4", covers=("nvidia-open",)),
            Kept(HoldKind.PACMAN, "nvidia-utils", "/etc/pacman.conf:4", covers=("nvidia-utils",)),
            Kept(HoldKind.PACMAN, "linux*", "/etc/pacman.conf:5", covers=("linux",)),
        ),
    ),
    HoldCase(
        "Arch, in a file that is included, and a group",
        {
            **arch(*PACMAN_ALL),
            "/etc/pacman.conf": "[options]\nInclude = /etc/pacman.d/*.conf\n[core]\nServer = file:///x\n",
            "/etc/pacman.d/held.conf": "IgnorePkg = nvidia*\nIgnoreGroup = gnome nvidia\n",
        },
        (
            Kept(HoldKind.PACMAN, "nvidia*", "/etc/pacman.d/held.conf:1", covers=("nvidia-open", "nvidia-utils")),
            Kept(HoldKind.PACMAN_GROUP, "nvidia", "/etc/pacman.d/held.conf:2"),
        ),
    ),
    HoldCase(
        "openSUSE, zypper's locks: one for all repositories, one for NVIDIA's, and one that is no package's",
        {
            "/etc/zypp/locks": (
                "\ntype: package\nmatch_type: glob\ncase_sensitive: on\nsolvable_name: nvidia-*G06*\n\n"
                "type: package\nrepo: cuda-suse16-x86_64\nmatch_type: glob\ncase_sensitive: on\nsolvable_name: nvidia-*\n\n"
                "type: pattern\nmatch_type: glob\nsolvable_name: nvidia*\n"
            )
        },
        (
            Kept(
                HoldKind.ZYPPER,
                "nvidia-*G06*",
                "/etc/zypp/locks:5",
                covers=("nvidia-compute-G06", "nvidia-driver-G06-kmp-default"),
            ),
            Kept(
                HoldKind.ZYPPER,
                "nvidia-*",
                "/etc/zypp/locks:11",
                REPOSITORY,
                covers=("nvidia-compute-G06", "nvidia-driver-G06-kmp-default"),
                repository="cuda-suse16-x86_64",
            ),
        ),
        SUSE_RPM,
    ),
    HoldCase(
        "openSUSE, a lock without a kind of matching is for parts of names, in any case",
        {"/etc/zypp/locks": "type: package\nsolvable_name: g06\n"},
        (Kept(HoldKind.ZYPPER, "g06", "/etc/zypp/locks:2", covers=("nvidia-compute-G06", "nvidia-driver-G06-kmp-default")),),
        SUSE_RPM,
    ),
    HoldCase(
        "Silverblue, a deployment that is kept and a kernel in the image's place",
        {
            "/ostree/deploy/fedora/deploy/8f2c.0.origin": (
                "[origin]\nbaserefspec=fedora:fedora/43/x86_64/silverblue\n\n[packages]\nrequested=akmod-nvidia;\n\n[overrides]\n"
                f"replace-local={'0' * 64}:kernel-core-6.16.3-200.fc42.x86_64;\n\n[libostree-transient]\npinned=true\n"
            )
        },
        (
            Kept(
                HoldKind.OSTREE_OVERRIDE,
                "kernel-core",
                "/ostree/deploy/fedora/deploy/8f2c.0.origin:8",
                version="6.16.3-200.fc42.x86_64",
                covers=("kernel-core",),
            ),
            Kept(HoldKind.OSTREE_PIN, "8f2c.0", "/ostree/deploy/fedora/deploy/8f2c.0.origin:11", NOTHING),
        ),
        FEDORA_RPM,
    ),
)


# Machines as values, where no file need be read.


def packages_of(text: str, version: str = "580.95.05-1", *, repository: str = "", source: str = STATUS) -> SystemPackages:
    """The packages of `name` or `name=version` that have to do with a GPU, and NVIDIA's repository by its name."""
    every = (one.partition("=") for one in text.split())
    found = tuple(SystemPackage(name, told or version, part) for name, _, told in every if (part := part_of(name)) is not None)
    there = (GpuRepository(repository, "/a/list:1"),) if repository else ()
    return SystemPackages(Known(found, source), Known(there, "/a/list"), Known((), "/a/list"))


def hold(
    text: str, reach: HoldReach = HoldReach.EVERY_UPGRADE, version: str = "", repository: str = "", source: str = "/a/file:3"
) -> PackageHold:
    """One that covers these packages."""
    names = tuple(text.split())
    parts = tuple(dict.fromkeys(part for name in names if (part := part_of(name)) is not None))
    return PackageHold(HoldKind.DPKG, reach, names[0], source, version, names, parts, repository)
