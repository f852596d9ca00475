"""`plan hold` and `plan release` by distribution, and what a driver's plan does about a hold that stands in its way."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.context import Session
from gpuassist.detect.holds import probe
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.holds import SystemPackages
from gpuassist.model.machine import Distribution, Machine
from gpuassist.model.outlook import Goal, GoalKind, Outlook
from gpuassist.model.text import text
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import GoalError, parse_goal, plan_goals
from tests.fakes import ScriptedProcesses, put, world_under
from tests.holds_cases import RPM, STATUS, arch, dpkg
from tests.rows import for_each
from tests.values import ARCH, DEBIAN, FEDORA, GTX_1080_TI, RTX_5090, UBUNTU_24, knowledge, machine

HOLD, RELEASE, DRIVER = Goal(GoalKind.HOLD), Goal(GoalKind.RELEASE), Goal(GoalKind.DRIVER)
BARE: dict[str, Any] = {"toolkits": (), "nvcc": "", "environments": (), "driver": "580.95.05", "cuda": "13.0"}
ROCKY_9 = Distribution("rocky", ("rhel", "centos", "fedora"), "9.6", "Rocky Linux 9.6")
CENTOS_7 = Distribution("centos", ("rhel", "fedora"), "7", "CentOS Linux 7")
LEAP = Distribution("opensuse-leap", ("suse", "opensuse"), "15.6", "openSUSE Leap 15.6")
FEDORA_43 = replace(FEDORA, version_id="43")
SILVERBLUE = replace(FEDORA_43, variant="silverblue", image=True)
MANJARO = Distribution("manjaro", ("arch",), "", "Manjaro Linux")
NIX = Distribution("nixos", (), "25.11", "NixOS 25.11")
U = "580.95.05-0ubuntu0.24.04.2"
UBUNTU_DKMS = (f"nvidia-driver-580 {U}", f"libnvidia-compute-580 {U}", f"nvidia-dkms-580 {U}", "nvidia-settings 510.47.03-0ubuntu4")
UBUNTU_BUILT = (
    *(f"nvidia-driver-580 {U}", f"nvidia-kernel-common-580 {U}", "linux-modules-nvidia-580-generic 6.8.0-45.45"),
    *("linux-modules-nvidia-580-6.8.0-45-generic 6.8.0-45.45", "linux-generic 6.8.0-45.45", "linux-image-generic 6.8.0-45.45"),
    *("linux-image-6.8.0-45-generic 6.8.0-45.45", "linux-headers-generic 6.8.0-45.45", "linux-libc-dev 6.8.0-45.45"),
)
EL = {"nvidia-driver": "3:580.95.05-1.el9", "kmod-nvidia-latest-dkms": "3:580.95.05-1.el9", "kernel-core": "5.14.0-570.el9"}


@dataclass(frozen=True)
class Case:
    """A machine, and the command lines of the plan; `notes` are words that the notes hold."""

    name: str
    distribution: Distribution
    files: Mapping[str, str]
    hold: tuple[str, ...] = ()
    release: tuple[str, ...] = ()
    rpm: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


CASES = (
    Case(
        "Ubuntu, built by dkms",
        UBUNTU_24,
        {STATUS: dpkg(*UBUNTU_DKMS)},
        ("sudo apt-mark hold libnvidia-compute-580 nvidia-dkms-580 nvidia-driver-580",),
        notes=("security holes", "built anew for each", "plan release"),
    ),
    Case(
        "Ubuntu, built by Canonical: the kernel goes with it",
        UBUNTU_24,
        {STATUS: dpkg(*UBUNTU_BUILT)},
        (
            "sudo apt-mark hold linux-modules-nvidia-580-6.8.0-45-generic linux-modules-nvidia-580-generic nvidia-driver-580 "
            "nvidia-kernel-common-580 linux-generic linux-headers-generic linux-image-generic",
        ),
        notes=("the kernel is held with it (linux-generic, linux-headers-generic, linux-image-generic)",),
    ),
    Case(
        "Ubuntu, half of it is held already, and let go of",
        UBUNTU_24,
        {STATUS: dpkg(f"={UBUNTU_DKMS[0]}", *UBUNTU_DKMS[1:])},
        ("sudo apt-mark hold libnvidia-compute-580 nvidia-dkms-580",),
        ("sudo apt-mark unhold nvidia-driver-580",),
    ),
    Case(
        "Ubuntu, all of it is held",
        UBUNTU_24,
        {STATUS: dpkg(*(f"={one}" for one in UBUNTU_DKMS[:3]), UBUNTU_DKMS[3])},
        (),
        ("sudo apt-mark unhold libnvidia-compute-580 nvidia-dkms-580 nvidia-driver-580",),
        notes=("the driver 580.95.05 is on hold already",),
    ),
    Case(
        "Debian, NVIDIA's package that pins, and a record by hand",
        DEBIAN,
        {
            STATUS: dpkg("nvidia-driver 580.95.05-1", "libcuda1 580.95.05-1", "nvidia-kernel-dkms 580.95.05-1"),
            "/etc/apt/preferences.d/nvidia-driver-pinning-580": "Package: *nvidia*\nPin: version 580.*\nPin-Priority: 1001\n",
            "/var/lib/dpkg/info/nvidia-driver-pinning-580.list": "/etc/apt/preferences.d/nvidia-driver-pinning-580\n",
            "/etc/apt/preferences.d/mine": "Package: vim\nPin: version 9*\nPin-Priority: 900\n\n"
            "Package: nvidia-* libcuda1\nPin: version 59*\nPin-Priority: -1\n",
        },
        ("sudo apt-mark hold libcuda1 nvidia-driver nvidia-kernel-dkms",),
        (
            "sudo apt remove nvidia-driver-pinning-580",
            "sudo sed -i -E '5,/^Pin-Priority/s/^/# /' /etc/apt/preferences.d/mine",
        ),
    ),
    Case(
        "Fedora",
        FEDORA_43,
        {
            "/etc/dnf/versionlock.toml": 'version = "1.0"\n[[packages]]\nname = "akmod-nvidia"\n[[packages.conditions]]\n'
            'key = "evr"\ncomparator = "="\nvalue = "3:580.95.05-1.fc43"\n'
        },
        ("sudo dnf versionlock add xorg-x11-drv-nvidia xorg-x11-drv-nvidia-cuda",),
        ("sudo dnf versionlock delete akmod-nvidia",),
        dict.fromkeys(("akmod-nvidia", "xorg-x11-drv-nvidia", "xorg-x11-drv-nvidia-cuda"), "3:580.95.05-1.fc43"),
        ("next release",),
    ),
    Case(
        "Fedora, excluded in dnf's own file",
        FEDORA_43,
        {"/etc/dnf/dnf.conf": "[main]\nexcludepkgs=vim*,*nvidia*,cuda-drivers\n"},
        (),
        (
            r"sudo sed -i -E '2s/(=|,|[[:space:]])\*nvidia\*(,|[[:space:]]|$)/\1/; "
            r"2s/(=|,|[[:space:]])cuda-drivers(,|[[:space:]]|$)/\1/' /etc/dnf/dnf.conf",
        ),
        {"akmod-nvidia": "3:580.95.05-1.fc43"},
    ),
    Case(
        "Silverblue: a deployment and no package",
        SILVERBLUE,
        {"/ostree/deploy/fedora/deploy/8f2c.0.origin": "[libostree-transient]\npinned=true\n"},
        ("sudo ostree admin pin booted",),
        ("rpm-ostree status", "sudo ostree admin pin --unpin 0"),
        {"akmod-nvidia": "3:580.95.05-1.fc43"},
        ("stays in the start menu",),
    ),
    Case(
        "Rocky 9",
        ROCKY_9,
        {
            "/etc/dnf/modules.d/nvidia-driver.module": "[nvidia-driver]\nname=nvidia-driver\nstream=580-dkms\nstate=enabled\n",
            "/etc/dnf/plugins/versionlock.list": "kernel-core-0:5.14.0-570.el9.*\n",
        },
        (
            "sudo dnf install python3-dnf-plugin-versionlock",
            "sudo dnf versionlock add kmod-nvidia-latest-dkms nvidia-driver",
        ),
        ("sudo dnf versionlock delete kernel-core", "sudo dnf module reset nvidia-driver"),
        EL,
    ),
    Case(
        "CentOS 7",
        CENTOS_7,
        {"/etc/yum/pluginconf.d/versionlock.list": "3:nvidia-driver-580.95.05-1.el7.*\n"},
        ("sudo yum install yum-plugin-versionlock", "sudo yum versionlock add kmod-nvidia-latest-dkms"),
        ("sudo yum versionlock delete nvidia-driver",),
        EL,
    ),
    Case(
        "CachyOS, whose modules have the kernel's version",
        ARCH,
        {
            **arch("linux-cachyos-nvidia-open-6.17.9-2", "nvidia-utils-580.105.08-1", "linux-cachyos-6.17.9-2"),
            "/etc/pacman.conf": "[options]\n",
        },
        (r"sudo sed -i '/^\[options\]/a IgnorePkg = linux-cachyos-nvidia-open nvidia-utils linux-cachyos' /etc/pacman.conf",),
    ),
    Case(
        "Arch, built for the kernel: both",
        ARCH,
        {
            **arch("nvidia-open-580.105.08-1", "nvidia-utils-580.105.08-1", "linux-6.17.8.arch1-1"),
            "/etc/pacman.conf": "[options]\n",
        },
        (r"sudo sed -i '/^\[options\]/a IgnorePkg = nvidia-open nvidia-utils linux' /etc/pacman.conf",),
        notes=("the kernel is held with it (linux)", "Arch does not support"),
    ),
    Case(
        "Arch, the AUR's packages, one line of three is ours",
        ARCH,
        {
            **arch("nvidia-580xx-dkms-580.105.08-1", "nvidia-580xx-utils-580.105.08-1", "linux-6.17.8.arch1-1"),
            "/etc/pacman.conf": "[options]\nIgnorePkg = vim nvidia-580xx-utils htop\n",
        },
        (r"sudo sed -i '/^\[options\]/a IgnorePkg = nvidia-580xx-dkms' /etc/pacman.conf",),
        (r"sudo sed -i -E '2s/(=|,|[[:space:]])nvidia-580xx-utils(,|[[:space:]]|$)/\1/' /etc/pacman.conf",),
    ),
    Case(
        "Manjaro: each kernel has a module of its own",
        MANJARO,
        arch("linux612-nvidia-580.105.08-1", "nvidia-utils-580.105.08-1", "linux612-6.12.58-1", "linux617-6.17.8-1"),
        (r"sudo sed -i '/^\[options\]/a IgnorePkg = linux612-nvidia nvidia-utils linux612' /etc/pacman.conf",),
    ),
    Case(
        "openSUSE Leap",
        LEAP,
        {"/etc/zypp/locks": "type: package\nmatch_type: glob\ncase_sensitive: on\nsolvable_name: nvidia-*G06*\n"},
        (),
        ("sudo zypper removelock 'nvidia-*G06*'",),
        {"nvidia-compute-G06": "580.95.05-1.1", "nvidia-driver-G06-kmp-default": "580.95.05_k6.4.0_1-1.1"},
    ),
    Case(
        "openSUSE Leap, nothing kept yet",
        LEAP,
        {},
        ("sudo zypper addlock nvidia-compute-G06 nvidia-driver-G06-kmp-default",),
        (),
        {"nvidia-compute-G06": "580.95.05-1.1", "nvidia-driver-G06-kmp-default": "580.95.05_k6.4.0_1-1.1"},
    ),
)


def made(root: Path, case: Case, **recipe: Any) -> Machine:
    for path, words in case.files.items():
        put(root, path, words)
    answers = {}
    if case.rpm:
        put(root, "/usr/lib/sysimage/rpm/rpmdb.sqlite")
        answers[RPM.replace("{root}", os.path.realpath(root))] = "".join(f"{one}\t{two}\n" for one, two in case.rpm.items())
    facts = probe(world_under(root, processes=ScriptedProcesses(dict(answers))))
    there = machine(**{**BARE, "distribution": case.distribution, **recipe})
    return replace(there, holds=facts.holds, system_packages=facts.packages)


def planned(root: Path, one: Machine, *goals: Goal) -> Outlook:
    return plan_goals(Session(world_under(root), knowledge(), ENGLISH), one, goals)


def lines(outlook: Outlook) -> tuple[str, ...]:
    return tuple(line for step in outlook.steps for line in step.commands)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_hold_and_release(tmp_path: Path, case: Case) -> None:
    one = made(tmp_path, case)
    hold, release = planned(tmp_path, one, HOLD), planned(tmp_path, one, RELEASE)
    assert (lines(hold), lines(release)) == (case.hold, case.release)
    assert not (hold.blocked_by)
    assert not (hold.undetermined)
    assert not (release.blocked_by)
    assert not (release.undetermined)
    assert all(step.needs_root and step.check is not None for step in (*hold.steps, *release.steps))
    notes = "\n".join(map(ENGLISH, hold.notes))
    assert [words for words in case.notes if words not in notes] == []
    assert release.steps or release.notes


@pytest.mark.needs("sed")
@for_each(
    ("words", "edit", "left"),
    [
        ("[options]\nColor\n", 0, "[options]\nIgnorePkg = nvidia-open linux\nColor\n"),
        ("[main]\nexclude=vim*,*nvidia*,cuda\n", 1, "[main]\nexclude=vim*,cuda\n"),
        ("[main]\nexclude=*nvidia*\n", 1, "[main]\nexclude=\n"),
        ("[main]\nexclude = a *nvidia* b\n", 1, "[main]\nexclude = a b\n"),
        ("[main]\nexclude = xnvidiay\n", 1, "[main]\nexclude = xnvidiay\n"),
        ("\nPackage: n\nPin: version 5\nPin-Priority: 9\n\nPackage: v\nPin-Priority: 1\n", 2, None),
    ],
)
def test_what_the_edits_leave(words: str, edit: int, left: str | None) -> None:
    edits = (
        [r"/^\[options\]/a IgnorePkg = nvidia-open linux"],
        ["-E", r"2s/(=|,|[[:space:]])\*nvidia\*(,|[[:space:]]|$)/\1/"],
        ["-E", "2,/^Pin-Priority/s/^/# /"],
    )
    out = subprocess.run(["sed", *edits[edit]], input=words, capture_output=True, text=True, check=True).stdout
    assert out == (left or "\n# Package: n\n# Pin: version 5\n# Pin-Priority: 9\n\nPackage: v\nPin-Priority: 1\n")


# What a driver's plan does about it.


def test_a_held_driver_is_let_go_of_before_another_comes(tmp_path: Path) -> None:
    held = Case("", UBUNTU_24, {STATUS: dpkg(*(f"={one}" for one in UBUNTU_DKMS[:3]))})
    one = made(tmp_path, held, gpus=(RTX_5090,), driver="570.86.16", open_module=False)
    outlook = planned(tmp_path, one, DRIVER)
    assert lines(outlook)[0] == "sudo apt-mark unhold libnvidia-compute-580 nvidia-dkms-580 nvidia-driver-580"
    assert any("on hold" in ENGLISH(note) for note in outlook.notes)
    assert lines(planned(tmp_path, replace(one, holds=Known((), "")), DRIVER)) == lines(outlook)[1:]


PIN = "Package: *nvidia*\nPin: version 580.*\nPin-Priority: 1001\n"


@for_each(("asked", "first"), [(595, "sudo sed -i -E"), (580, "sudo apt install")])
def test_a_branch_that_is_pinned_stands_in_the_way_of_others_alone(asked: int, first: str, tmp_path: Path) -> None:
    case = Case("", UBUNTU_24, {STATUS: dpkg("bash 5.2"), "/etc/apt/preferences.d/pin": PIN})
    one = made(tmp_path, case, driver="", on_disk="", libcuda="", bound="nouveau")
    outlook = planned(tmp_path, one, Goal(GoalKind.DRIVER, Version((asked,))))
    assert lines(outlook)[0].startswith(first)


def test_a_driver_that_stays_needs_no_release(tmp_path: Path) -> None:
    held = Case("", UBUNTU_24, {STATUS: dpkg(*(f"={one}" for one in UBUNTU_DKMS[:3]))})
    assert planned(tmp_path, made(tmp_path, held, open_module=True), DRIVER).steps == ()


def test_ubuntus_last_branch_of_a_card_comes_with_a_word_on_holding_it(tmp_path: Path) -> None:
    case = Case("", UBUNTU_24, {STATUS: dpkg("bash 5.2")})
    outlook = planned(tmp_path, made(tmp_path, case, gpus=(GTX_1080_TI,), driver="", on_disk="", libcuda=""), DRIVER)
    assert any("plan hold" in ENGLISH(note) for note in outlook.notes)


# Where there is nothing to hold.


def test_another_systems_driver_is_held_there(tmp_path: Path) -> None:
    case = CASES[0]
    for recipe in ({"wsl": 2}, {"container": "docker"}):
        one = made(tmp_path, case, **recipe)
        assert all(planned(tmp_path, one, goal).blocked_by for goal in (HOLD, RELEASE))


def test_no_packages_are_no_hold(tmp_path: Path) -> None:
    one = made(tmp_path, Case("", UBUNTU_24, {STATUS: dpkg("bash 5.2")}))
    assert planned(tmp_path, one, HOLD).blocked_by


def test_what_is_not_known_is_said(tmp_path: Path) -> None:
    why = Unknown(text("nobody looked"))
    one = replace(machine(**BARE), holds=why, system_packages=SystemPackages(installed=why))
    assert all(planned(tmp_path, one, goal).undetermined for goal in (HOLD, RELEASE))
    assert all(planned(tmp_path, machine(**BARE), goal).undetermined for goal in (HOLD, RELEASE))


def test_a_system_without_a_command_says_so(tmp_path: Path) -> None:
    one = made(tmp_path, replace_distribution(CASES[0], NIX))
    assert planned(tmp_path, one, HOLD).blocked_by


def replace_distribution(case: Case, distribution: Distribution) -> Case:
    return Case(case.name, distribution, case.files)


@for_each("words", ["hold==580", "release=1"])
def test_a_hold_takes_no_version(words: str) -> None:
    with pytest.raises(GoalError):
        parse_goal(words, knowledge())


def test_images_go_on_coming_while_one_is_kept(tmp_path: Path) -> None:
    case = next(one for one in CASES if one.name.startswith("Silverblue"))
    machine = made(tmp_path, case)
    notes = "\n".join(ENGLISH(note) for note in planned(tmp_path, machine, HOLD).notes)
    assert "security holes" not in notes
    assert "built anew" not in notes


def test_a_hold_is_planned_by_itself(tmp_path: Path) -> None:
    assert planned(tmp_path, made(tmp_path, CASES[0]), HOLD, DRIVER).blocked_by


def test_a_strange_name_of_a_package_never_reaches_a_command(tmp_path: Path) -> None:
    bad = "nvidia-x'; rm -rf ~ #"
    put(tmp_path, "/var/lib/dpkg/status", f"Package: {bad}\nStatus: install ok installed\nVersion: {U}\n\n{dpkg(*UBUNTU_DKMS)}")
    facts = probe(world_under(tmp_path))
    one = replace(machine(**{**BARE, "distribution": UBUNTU_24}), holds=facts.holds, system_packages=facts.packages)
    assert "rm -rf" not in " ".join(lines(planned(tmp_path, one, HOLD)))
