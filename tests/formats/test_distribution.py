"""Pretty names of distributions, as reports spell them."""

from __future__ import annotations

import pytest

from gpuassist.formats.distribution import read_distribution, read_processor
from gpuassist.knowledge.families import Family, packages_family
from tests.rows import for_each


@for_each(
    ("words", "id_", "version", "family"),
    [
        ("Ubuntu 22.04.3 LTS (x86_64)", "ubuntu", "22.04", Family.UBUNTU),
        ("Ubuntu18.04", "ubuntu", "18.04", Family.UBUNTU),
        ("Ubuntu 24.10", "ubuntu", "24.10", Family.UBUNTU),
        ("Linux Mint 21.1", "linuxmint", "21.1", Family.UBUNTU),
        ("Pop!_OS 22.04 LTS (x86_64)", "pop", "22.04", Family.UBUNTU),
        ("Zorin OS 17.1", "zorin", "17.1", Family.UBUNTU),
        ("Debian GNU/Linux 12 (bookworm) (x86_64)", "debian", "12", Family.DEBIAN),
        ("Debian GNU/Linux 9.11 (stretch)", "debian", "9.11", Family.DEBIAN),
        ("Kali GNU/Linux Rolling", "kali", "", Family.DEBIAN),
        ("Fedora release 30 (Thirty)", "fedora", "30", Family.FEDORA),
        ("Fedora Linux 41 (Workstation Edition) (x86_64)", "fedora", "41", Family.FEDORA),
        ("CentOS Linux release 7.6.1810 (Core)", "centos", "7.6.1810", Family.RHEL),
        ("CentOS Stream 9", "centos", "9", Family.RHEL),
        ("Red Hat Enterprise Linux release 8.3 (Ootpa) (x86_64)", "rhel", "8.3", Family.RHEL),
        ("Rocky Linux 9.2 (Blue Onyx) (x86_64)", "rocky", "9.2", Family.RHEL),
        ("AlmaLinux 8.10 (Cerulean Leopard) (x86_64)", "almalinux", "8.10", Family.RHEL),
        ("Oracle Linux Server 8.8", "ol", "8.8", Family.RHEL),
        ("Amazon Linux 2", "amzn", "2", Family.RHEL),
        ("Arch Linux (x86_64)", "arch", "", Family.ARCH),
        ("Manjaro Linux", "manjaro", "", Family.ARCH),
        ("CachyOS Linux (x86_64)", "cachyos", "", Family.ARCH),
        ("openSUSE Leap 15.5 (x86_64)", "opensuse-leap", "15.5", Family.OPENSUSE),
        ("openSUSE Tumbleweed (x86_64)", "opensuse-tumbleweed", "", Family.OPENSUSE),
        ("SUSE Linux Enterprise Server 15 SP4", "sles", "15.4", Family.OPENSUSE),
        ("Gentoo/Linux", "gentoo", "", Family.ANY),
        ("Microsoft Windows 11 Enterprise (10.0.22631 64-bit)", "windows", "11", Family.ANY),
        ("Mac OSX 10.13.6", "macos", "10.13.6", Family.ANY),
        ("macOS 13.2.1 (arm64)", "macos", "13.2.1", Family.ANY),
    ],
)
def test_distribution_is_taken_apart(words: str, id_: str, version: str, family: Family) -> None:
    found = read_distribution(words)
    assert found is not None
    assert (found.id, found.version_id, packages_family(found)) == (id_, version, family)


@pytest.mark.parametrize("words", ["", "Linux", "Could not collect", "GNU/Linux", "my own system 4.2", "x" * 5000])
def test_other_words_name_no_distribution(words: str) -> None:
    assert read_distribution(words) is None


def test_the_name_is_shown_without_the_processor() -> None:
    found = read_distribution("Ubuntu 22.04.3 LTS (x86_64)")
    assert found is not None
    assert found.name == "Ubuntu 22.04.3 LTS"


@pytest.mark.parametrize(
    ("words", "processor"),
    [
        ("Ubuntu 22.04.3 LTS (x86_64)", "x86_64"),
        ("Ubuntu 22.04.3 LTS (AMD64)", "x86_64"),
        ("macOS 13.2.1 (arm64)", "aarch64"),
        ("Ubuntu 20.04 LTS aarch64", "aarch64"),
        ("Red Hat Enterprise Linux 8.6 (Ootpa)", ""),
    ],
)
def test_processor_is_told_as_uname_does(words: str, processor: str) -> None:
    assert read_processor(words) == processor
