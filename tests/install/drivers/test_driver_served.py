"""On every known distribution, for every generation of GPUs: no command brings a driver that does not serve them all, nouveau is
switched off for none, and no distribution is given another one's commands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from msgspec.structs import replace

from gpuassist.knowledge.compatibility import DriverFit, driver_serves_gpu
from gpuassist.knowledge.driver_packages import Extent
from gpuassist.knowledge.families import packages_base
from gpuassist.model.fact import Known
from gpuassist.model.machine import Distribution, Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from tests.cli.made_session import live_session
from tests.plans import machine_of
from tests.rows import for_each
from tests.values import knowledge

SESSION = live_session({})
DEB, RED, SUSE = ("debian",), ("rhel", "centos", "fedora"), ("suse", "opensuse")
# (distribution, its kernel, the program that installs its packages)
SYSTEMS: tuple[tuple[Distribution, str, str], ...] = (
    (Distribution("ubuntu", DEB, "20.04", "Ubuntu 20.04.6 LTS", "focal"), "5.15.0-130-generic", "apt"),
    (Distribution("ubuntu", DEB, "22.04", "Ubuntu 22.04.5 LTS", "jammy"), "6.8.0-60-generic", "apt"),
    (Distribution("ubuntu", DEB, "24.04", "Ubuntu 24.04.2 LTS", "noble"), "6.8.0-60-generic", "apt"),
    (Distribution("ubuntu", DEB, "24.04", "Ubuntu 24.04.3 LTS", "noble"), "6.14.0-24-generic", "apt"),
    (Distribution("ubuntu", DEB, "24.04", "Ubuntu 24.04.3 LTS", "noble"), "6.8.0-1025-nvidia-64k", "apt"),
    (Distribution("ubuntu", DEB, "25.10", "Ubuntu 25.10", "questing"), "6.17.0-5-generic", "apt"),
    (Distribution("ubuntu", DEB, "26.04", "Ubuntu 26.04 LTS", "resolute"), "7.0.0-10-generic", "apt"),
    (Distribution("linuxmint", ("ubuntu", "debian"), "22.1", "Linux Mint 22.1", "noble"), "6.8.0-60-generic", "apt"),
    (Distribution("linuxmint", DEB, "6", "LMDE 6 (faye)", "bookworm"), "6.1.0-37-amd64", "apt"),
    (Distribution("pop", ("ubuntu", "debian"), "22.04", "Pop!_OS 22.04 LTS", "jammy"), "6.9.3-76060903-generic", "apt"),
    (Distribution("elementary", ("ubuntu", "debian"), "8", "elementary OS 8", "noble"), "6.8.0-60-generic", "apt"),
    (Distribution("zorin", ("ubuntu", "debian"), "17", "Zorin OS 17.3", "jammy"), "6.8.0-60-generic", "apt"),
    (Distribution("debian", (), "11", "Debian GNU/Linux 11 (bullseye)", "bullseye"), "5.10.0-30-amd64", "apt"),
    (Distribution("debian", (), "12", "Debian GNU/Linux 12 (bookworm)", "bookworm"), "6.1.0-37-cloud-amd64", "apt"),
    (Distribution("debian", (), "12", "Debian GNU/Linux 12 (bookworm)", "bookworm"), "6.8.12-9-pve", "apt"),
    (Distribution("debian", (), "13", "Debian GNU/Linux 13 (trixie)", "trixie"), "6.12.48+deb13-amd64", "apt"),
    (Distribution("debian", (), "", "Debian GNU/Linux forky/sid", "forky"), "7.2.12-amd64", "apt"),
    (Distribution("kali", DEB, "2026.3", "Kali GNU/Linux Rolling"), "6.16.8+kali-amd64", "apt"),
    (Distribution("devuan", DEB, "5", "Devuan GNU/Linux 5 (daedalus)"), "6.1.0-37-amd64", "apt"),
    (Distribution("fedora", (), "41", "Fedora Linux 41"), "6.16.8-100.fc41.x86_64", "dnf"),
    (Distribution("fedora", (), "42", "Fedora Linux 42"), "6.17.8-200.fc42.x86_64", "dnf"),
    (Distribution("fedora", (), "43", "Fedora Linux 43"), "6.17.8-300.fc43.x86_64", "dnf"),
    (Distribution("fedora", (), "44", "Fedora Linux 44"), "7.2.6-200.fc44.x86_64", "dnf"),
    (Distribution("fedora", (), "43", "Fedora Linux 43 (Silverblue)", "", "silverblue"), "6.17.8-300.fc43.x86_64", "rpm-ostree"),
    (Distribution("bazzite", (), "43", "Bazzite", "", "bazzite-gnome"), "6.17.7-ba14.fc43.x86_64", "rpm-ostree"),
    (Distribution("nobara", ("fedora",), "42", "Nobara Linux 42"), "6.17.5-200.nobara.fc42.x86_64", "dnf"),
    (Distribution("rhel", ("fedora",), "8.10", "Red Hat Enterprise Linux 8.10"), "4.18.0-553.el8_10.x86_64", "dnf"),
    (Distribution("rocky", RED, "9.6", "Rocky Linux 9.6"), "5.14.0-570.el9_6.x86_64", "dnf"),
    (Distribution("almalinux", RED, "10.0", "AlmaLinux 10.0"), "6.12.0-55.el10_0.x86_64", "dnf"),
    (Distribution("centos", RED, "9", "CentOS Stream 9"), "5.14.0-600.el9.x86_64", "dnf"),
    (Distribution("ol", ("fedora",), "9.6", "Oracle Linux Server 9.6"), "5.15.0-312.187.5.1.el9uek.x86_64", "dnf"),
    (Distribution("amzn", ("fedora",), "2023", "Amazon Linux 2023"), "6.12.40-64.114.amzn2023.x86_64", "dnf"),
    (Distribution("opensuse-leap", SUSE, "15.6", "openSUSE Leap 15.6"), "6.4.0-150600.23.73-default", "zypper"),
    (Distribution("opensuse-leap", SUSE, "16.0", "openSUSE Leap 16.0"), "6.12.0-160000.5-default", "zypper"),
    (Distribution("opensuse-tumbleweed", SUSE, "20261101", "openSUSE Tumbleweed"), "7.2.1-1-default", "zypper"),
    (Distribution("opensuse-microos", SUSE, "20261101", "openSUSE MicroOS"), "7.2.1-1-default", "transactional-update"),
    (Distribution("sles", ("suse",), "15.7", "SUSE Linux Enterprise Server 15 SP7"), "6.4.0-150700.53-default", "zypper"),
    (Distribution("arch", (), "", "Arch Linux"), "7.2.6-arch2-1", "pacman"),
    (Distribution("arch", (), "", "Arch Linux"), "6.12.58-1-lts", "pacman"),
    (Distribution("cachyos", ("arch",), "", "CachyOS"), "7.2.8-1-cachyos", "pacman"),
    (Distribution("manjaro", ("arch",), "", "Manjaro Linux"), "6.12.109-1-MANJARO", "mhwd"),
    (Distribution("endeavouros", ("arch",), "", "EndeavourOS"), "7.2.6-zen1-1-zen", "pacman"),
    (Distribution("nixos", (), "25.11", "NixOS 25.11"), "6.12.58", "nixos-rebuild"),
    (Distribution("gentoo", (), "2.18", "Gentoo Linux"), "6.12.58-gentoo", ""),
    (Distribution("void", (), "", "Void Linux"), "6.12.58_1", ""),
    (Distribution("alpine", (), "3.22", "Alpine Linux v3.22"), "6.12.58-0-lts", ""),
    (Distribution("steamos", ("arch",), "3.7", "SteamOS"), "6.11.11-valve20-1-neptune-611", ""),
)  # fmt: skip
GENERATIONS = (
    ("GTX 580",), ("Tesla K80",), ("GTX 980",), ("GTX 1080 Ti",), ("Tesla V100-PCIE-16GB",), ("RTX 2080 Ti",), ("RTX 3090",),
    ("RTX 4090",), ("H100 PCIe",), ("RTX 5090",), ("GTX 1080 Ti", "RTX 3090"), ("GTX 680", "RTX 4090"),
)  # fmt: skip
# What is asked for, with Secure Boot, on the driver that is there.
ASKED: tuple[tuple[str, bool | None, str], ...] = (
    ("driver", False, ""), ("driver", True, "550.54.14"), ("torch", None, ""),
)  # fmt: skip
PINNED = tuple((f"driver=={branch}", False, "") for branch in (470, 570, 580, 590, 595))
FEW = (("Tesla K80",), ("GTX 1080 Ti",), ("RTX 4090",), ("RTX 5090",))
PROGRAMS = re.compile(r"\bsudo (apt|dnf|rpm-ostree|zypper|transactional-update|pacman|mhwd|nixos-rebuild|rpm)\b|^(yay)\b")
OWN = {"apt": {"apt"}, "dnf": {"dnf"}, "zypper": {"zypper", "rpm"}, "pacman": {"pacman", "yay"}, "mhwd": {"mhwd"}}
NOUVEAU_OFF = re.compile(r"blacklist[ =]nouveau|blacklist=nouveau")


def machine(system: tuple[Distribution, str, str], gpus: tuple[str, ...], secure: bool | None, driver: str) -> Machine:
    words: dict[str, object] = {"driver": driver, "cuda": "12.4" if driver else "", "toolkits": [], "nvcc": "", "environments": []}
    bound = {"bound": "nvidia" if driver else "nouveau", "gpus": list(gpus), "kernel": system[1], "secure_boot": secure}
    made = machine_of({"machine": {**words, **bound}})
    return replace(made, host=replace(made.host, distribution=Known(system[0], "/etc/os-release")))


def plans(system: tuple[Distribution, str, str], gpus: tuple[str, ...]) -> Iterator[Outlook]:
    for goal, secure, driver in (*ASKED, *(PINNED if gpus in FEW else ())):
        yield plan_goals(SESSION, machine(system, gpus, secure, driver), (parse_goal(goal, knowledge()),))


def lines(outlook: Outlook) -> list[str]:
    return [line for step in outlook.steps for line in step.commands]


INSTALLS = re.compile(r"\b(install|rebase)\b|-Syu\b|yay -S\b|mhwd -i\b")
NAMED = re.compile(r"(?:tesla-|legacy-|akmod-nvidia-|video-nvidia-|nvidia-)(\d{3})(?:xx)?(?:-driver|-dkms)?(?![\d.])")
UBUNTUS = re.compile(r"nvidia-driver-(\d{3})(-server)?|nvidia-utils-(\d{3})-server")
PLAIN = re.compile(r"(?<= )(nvidia-driver|akmod-nvidia)(?= |$)|-Syu (nvidia-open)|(G0[67])")
LOCKED = re.compile(r"(?:pinning-|nvidia\*'|nvidia-driver:)(\d{3})")


def branches_brought(every: list[str], distribution: Distribution) -> Iterator[int]:
    """The branches of the drivers that commands install, read from the names of the packages and from the table alone."""
    base = packages_base(distribution)
    rows = [one for one in knowledge().driver_packages() if (one.distribution, one.release) == base]
    brought = {one.package: one.brings for one in rows if one.package}
    locked = LOCKED.search(" ".join(every))
    for line in filter(INSTALLS.search, every):
        for branch, server, of_servers in UBUNTUS.findall(line):
            yield int(of_servers) if of_servers else brought[f"nvidia-driver-{branch}{server}"]
        if "nvidia-driver-" not in line and "server" not in line:
            yield from (int(branch) for branch in NAMED.findall(line))
        for one in PLAIN.findall(line):
            yield brought[next(filter(None, one))]
        if line.endswith(("install nvidia-open", "install cuda-drivers")):
            newest = [knowledge().branches()[-1].branch if one.extent is not Extent.BRANCH else one.branch for one in rows]
            yield int(locked[1]) if locked else max(newest)


# Each system meets every other generation, and each generation every other system.
EVERY_OTHER = [
    (system, gpus) for (place, system), (age, gpus) in product(enumerate(SYSTEMS), enumerate(GENERATIONS)) if (place + age) % 2
]


@for_each(("system", "gpus"), EVERY_OTHER, every=5)  # prime to the generations: every system and every generation is met
def test_what_is_installed_serves_every_gpu(system: tuple[Distribution, str, str], gpus: tuple[str, ...]) -> None:
    distribution, _, program = system
    for outlook in plans(system, gpus):
        every = lines(outlook)
        for branch in branches_brought(every, distribution):
            assert unserved(branch, gpus) == [], (branch, every)
        off = next((place for place, line in enumerate(every) if NOUVEAU_OFF.search(line)), None)
        assert off is None or any(branches_brought(every[:off], distribution)), ("nouveau", every)
        used = {found[1] or found[2] for line in every if (found := PROGRAMS.search(line))}
        assert used <= OWN.get(program, {program} - {""}), ("another distribution's", every)
        said = (*outlook.blocked_by, *outlook.notes, *(step.text for step in outlook.steps))
        assert [words for words in map(ENGLISH, said) if "{" in words.replace("rpm -qa", "")] == []


def unserved(branch: int, gpus: tuple[str, ...]) -> list[str]:
    """Those of the GPUs that a branch does not serve."""
    records = [(name, knowledge().gpu_named(name)) for name in gpus]
    fits = [
        (name, driver_serves_gpu(Version((branch,)), architecture, record.chip))
        for name, record in records
        if record is not None and (architecture := knowledge().architecture(record.architecture)) is not None
    ]
    assert len(fits) == len(gpus)
    return [name for name, fit in fits if fit is not DriverFit.FINE]


@for_each(("system", "gpus"), tuple(product(SYSTEMS, (("GTX 580",), ("GTX 680",)))))
def test_cards_that_nothing_serves_keep_nouveau(system: tuple[Distribution, str, str], gpus: tuple[str, ...]) -> None:
    outlook = next(plans(system, gpus))
    assert outlook.steps or outlook.blocked_by
    if outlook.blocked_by:
        told = " / ".join(ENGLISH(one) for one in outlook.blocked_by)
        assert "leave nouveau as it is" in told
        assert "NVIDIA-Linux-x86_64-" in told
        assert "gets no updates any more" in told
        assert lines(outlook) == []


def test_the_search_knows_what_commands_bring() -> None:
    """That the two tests above can fail: names of packages are read as the branches that they bring."""
    noble, trixie = SYSTEMS[2][0], SYSTEMS[15][0]
    assert list(branches_brought(["sudo apt install nvidia-driver-470"], noble)) == [535]
    assert list(branches_brought(["sudo apt install nvidia-driver-470-server"], noble)) == [470]
    assert list(branches_brought(["sudo apt install nvidia-driver firmware-misc-nonfree"], trixie)) == [550]
    assert unserved(535, ("Tesla K80",)) == ["Tesla K80"]
