"""uname, os-release, lsb_release, hostnamectl, ldd, gcc and Python: each in its wordings, and what only looks like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers import host
from gpuassist.model.fact import NOT_ASKED, Known, Unknown, value_or
from gpuassist.model.machine import Distribution, Host, Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version

UNAME = "Linux box 5.15.0-91-generic #101-Ubuntu SMP Tue Nov 14 13:30:08 UTC 2023 x86_64 x86_64 x86_64 GNU/Linux\n"
UBUNTU = Distribution("ubuntu", ("debian",), "22.04", "Ubuntu 22.04.4 LTS")
OS_RELEASE = """\
PRETTY_NAME="Ubuntu 22.04.4 LTS"
NAME="Ubuntu"
VERSION_ID="22.04"
VERSION="22.04.4 LTS (Jammy Jellyfish)"
ID=ubuntu
ID_LIKE=debian
"""
LSB = "Distributor ID:\tUbuntu\nDescription:\tUbuntu 22.04.4 LTS\nRelease:\t22.04\nCodename:\tjammy\n"


def machine(words: str) -> Machine:
    return host.read(Paste(words))


def told(words: str) -> Host:
    return machine(words).host


def python(words: str) -> str:
    environments = value_or(machine(words).environments, ())
    return str(value_or(environments[0].python_version, "")) if environments else ""


def test_uname_tells_kernel_and_architecture() -> None:
    found = told(f"$ uname -a\n{UNAME}")

    assert found.kernel == Known("5.15.0-91-generic", "pasted uname, line 2")
    assert found.architecture == Known("x86_64", "pasted uname, line 2")
    assert found.wsl is NOT_ASKED


@pytest.mark.parametrize(
    ("words", "kernel"),
    [
        ("$ uname -r\n6.8.10-300.fc40.x86_64\n", "6.8.10-300.fc40.x86_64"),
        ("uname -r\n6.4.1-zen1-1-zen\n", "6.4.1-zen1-1-zen"),
        ("          Kernel: Linux 6.1.0-18-amd64\n", "6.1.0-18-amd64"),
        ("Linux tegra-ubuntu 5.10.104-tegra #1 SMP PREEMPT Sun Mar 19 07:55:28 PDT 2023 aarch64 GNU/Linux\n", "5.10.104-tegra"),
    ],
)
def test_kernel_is_read(words: str, kernel: str) -> None:
    assert value_or(told(words).kernel, "") == kernel


@pytest.mark.parametrize("words", ["$ uname -r\nbash: uname: command not found\n", "The Linux kernel 6.8 has it\n", "$ uname -r\n"])
def test_no_kernel_is_invented(words: str) -> None:
    assert told(words).kernel is NOT_ASKED


@pytest.mark.parametrize(
    ("kernel", "wsl"),
    [("5.15.167.4-microsoft-standard-WSL2", 2), ("4.4.0-19041-Microsoft", 1)],
)
def test_windows_kernel_is_wsl(kernel: str, wsl: int) -> None:
    assert value_or(told(f"$ uname -r\n{kernel}\n").wsl, 0) == wsl


@pytest.mark.parametrize("prompt", ["root@3f2a1b4c5d6e:/workspace# ", "(base) root@0a1b2c3d4e5f:~# ", "> root@3f2a1b4c5d6e:/#"])
def test_prompt_of_a_container_is_known(prompt: str) -> None:
    assert value_or(told(f"{prompt}nvidia-smi\n").container, "") == "docker"


@pytest.mark.parametrize("prompt", ["root@gpu-server-12:/# ", "root@deadbeefcafe: said", "me@3f2a1b4c5d6e:~$ ", "root@host:~# "])
def test_other_prompt_says_nothing_of_a_container(prompt: str) -> None:
    assert told(f"{prompt}nvidia-smi\n").container is NOT_ASKED


@pytest.mark.parametrize(
    ("words", "architecture"),
    [
        ("$ uname -m\naarch64\n", "aarch64"),
        ("    Architecture: x86-64\n", "x86_64"),
        ("Architecture:            arm64\n", "aarch64"),
    ],
)
def test_architecture_is_read(words: str, architecture: str) -> None:
    assert value_or(told(words).architecture, "") == architecture


def test_architecture_of_a_gpu_is_another() -> None:
    assert told("Architecture: Ampere\n").architecture is NOT_ASKED


@pytest.mark.parametrize(
    "words", [f"$ cat /etc/os-release\n{OS_RELEASE}", f"$ lsb_release -a\nNo LSB modules are available.\n{LSB}"]
)
def test_distribution_is_read(words: str) -> None:
    assert value_or(told(words).distribution, None) == UBUNTU


@pytest.mark.parametrize(
    ("name", "identity", "version"),
    [
        ("Debian GNU/Linux 12 (bookworm)", "debian", "12"),
        ("Fedora Linux 41 (Workstation Edition)", "fedora", "41"),
        ("Arch Linux", "arch", ""),
        ("openSUSE Tumbleweed", "opensuse-tumbleweed", ""),
        ("openSUSE Leap 15.6", "opensuse-leap", "15.6"),
        ("Rocky Linux 9.4 (Blue Onyx)", "rocky", "9.4"),
        ("Red Hat Enterprise Linux 9.4 (Plow)", "rhel", "9.4"),
        ("Pop!_OS 22.04 LTS", "pop", "22.04"),
    ],
)
def test_hostnamectl_names_a_distribution(name: str, identity: str, version: str) -> None:
    distribution = value_or(told(f"  Operating System: {name}\n").distribution, None)

    assert distribution is not None
    assert (distribution.id, distribution.version_id, distribution.name) == (identity, version, name)


@pytest.mark.parametrize(
    "words",
    [
        "  Operating System: Windows 11 Pro\n",
        "ID=12345\n",
        "VERSION_ID=\n",
        "Description: a tool\nRelease: 2\n",
        "Release: 22.04\n",
    ],
)
def test_no_distribution_is_invented(words: str) -> None:
    assert told(words).distribution is NOT_ASKED


@pytest.mark.parametrize(
    ("words", "glibc"),
    [
        ("ldd (Ubuntu GLIBC 2.35-0ubuntu3.4) 2.35\n", "2.35"),
        ("ldd (GNU libc) 2.41\n", "2.41"),
        ("ldd (Debian GLIBC 2.36-9) 2.36\n", "2.36"),
    ],
)
def test_c_library_is_read(words: str, glibc: str) -> None:
    assert value_or(told(words).glibc, None) == Version.parse(glibc)


@pytest.mark.parametrize(
    ("words", "family", "version"),
    [
        ("gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0\nCopyright (C) 2021\n", "gcc", "11.4.0"),
        ("g++ (GCC) 14.2.1 20240912 (Red Hat 14.2.1-3)\n", "g++", "14.2.1"),
        ("gcc-12 (Debian 12.2.0-14) 12.2.0\n", "gcc", "12.2.0"),
        ("Ubuntu clang version 14.0.0-1ubuntu1.1\n", "clang", "14.0.0"),
    ],
)
def test_compiler_is_read(words: str, family: str, version: str) -> None:
    (compiler,) = value_or(machine(words).compilers, ())

    assert (compiler.family, value_or(compiler.version, None)) == (family, Version.parse(version))


def test_sentence_about_a_compiler_says_nothing() -> None:
    assert isinstance(machine("gcc (any version) 11 fails here\nnvcc needs gcc (GCC) 9.3.0\n").compilers, Unknown)


@pytest.mark.parametrize(
    "words",
    [
        "$ python --version\nPython 3.10.12\n",
        "Python 3.10.12 (main, Nov 20 2023, 15:14:05) [GCC 11.4.0] on linux\n>>> import torch\n",
        "Python 3.10.12 | packaged by conda-forge | (main, Jun 23 2023, 22:40:32) [GCC 12.3.0]\n",
    ],
)
def test_python_is_read(words: str) -> None:
    assert python(words) == "3.10.12"


@pytest.mark.parametrize(
    "words",
    ["Python 3.10.12 is installed\n", "Python 3.10\n", "Python 3.10.12\n...\nPython version: 3.12.1 (main)\n", "Python 4.1.1\n"],
)
def test_no_python_is_told_where_it_is_not_sure(words: str) -> None:
    assert python(words) == ""


@given(st.integers(0, 8))
def test_cut_file_names_no_other_distribution(end: int) -> None:
    cut = "".join(OS_RELEASE.splitlines(keepends=True)[:end])

    distribution = value_or(told(cut).distribution, None)
    assert distribution is None or (distribution.id, distribution.version_id) == ("ubuntu", "22.04")


@given(st.text(max_size=200))
def test_any_text_is_survived(words: str) -> None:
    assert isinstance(machine(f"Linux Python ID= gcc ldd ({words}\n$ uname -r\n{words}"), Machine)


@pytest.mark.parametrize(
    ("words", "jetson"),
    [
        ("# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic", True),
        ("$ cat /etc/nv_tegra_release", True),
        ("Jetson Orin Nano, JetPack 6.1, L4T R36.4", True),
        ("Jetson AGX Orin with L4T 36.3", True),
        ("REVISION: 2.0", None),
        ("I ordered a Jetson as well", None),
        ("jetpack compose 1.7", None),
    ],
)
def test_jetson_is_known_by_its_system(words: str, jetson: bool | None) -> None:
    assert value_or(host.read(Paste(words)).host.jetson, None) is jetson
