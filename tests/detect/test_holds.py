"""What is kept, from the files of every package manager; hostile and unreadable ones are named and stop nothing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.holds import HoldFacts, probe
from gpuassist.formats.holds import apt, pacman, rpm
from gpuassist.knowledge.package_parts import part_of
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.holds import HeldPart, HoldKind, HoldReach, PackageHold
from gpuassist.model.machine import Machine, decode_machine, encode_machine
from gpuassist.model.words import ENGLISH
from tests.fakes import ScriptedProcesses, put, world_under
from tests.holds_cases import CASES, FEDORA_RPM, RPM, STATUS, UBUNTU, HoldCase, Kept, dpkg
from tests.rows import for_each


def machine(root: Path, case: HoldCase) -> HoldFacts:
    for path, words in case.files.items():
        put(root, path, words)
    answers = {}
    if case.rpm:
        put(root, "/usr/lib/sysimage/rpm/rpmdb.sqlite")
        listed = "".join(f"{name}\t{version}\n" for name, version in case.rpm.items())
        answers[RPM.replace("{root}", os.path.realpath(root))] = listed
    return probe(world_under(root, processes=ScriptedProcesses(dict(answers))))


def kept(facts: HoldFacts) -> tuple[PackageHold, ...]:
    assert isinstance(facts.holds, Known)
    return facts.holds.value


def as_expected(one: PackageHold) -> Kept:
    return Kept(one.kind, one.pattern, one.source, one.reach, one.version, one.covers, one.repository, one.owner)


def test_each_distribution_is_there() -> None:
    assert len(CASES) >= 25
    assert {one.kind for case in CASES for one in case.kept} == set(HoldKind)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_the_files_keep(tmp_path: Path, case: HoldCase) -> None:
    facts = machine(tmp_path, case)
    assert tuple(map(as_expected, kept(facts))) == case.kept
    assert value_or(facts.packages.unread_holds, None) == ()


def test_it_goes_to_json_and_back(tmp_path: Path) -> None:
    facts = machine(tmp_path, CASES[4])
    whole = Machine(holds=facts.holds, system_packages=facts.packages)
    back = decode_machine(encode_machine(whole, ENGLISH))
    assert (back.holds, back.system_packages) == (whole.holds, whole.system_packages)


def test_a_system_whose_packages_nobody_knows(tmp_path: Path) -> None:
    facts = probe(world_under(tmp_path))
    assert isinstance(facts.holds, Unknown)
    assert isinstance(facts.packages.installed, Unknown)


def test_locks_are_told_where_rpm_answers_nothing(tmp_path: Path) -> None:
    put(tmp_path, "/var/lib/rpm/Packages")
    put(tmp_path, "/etc/dnf/plugins/versionlock.list", "akmod-nvidia-3:580.95.05-1.fc43.*\n")
    facts = probe(world_under(tmp_path))
    assert isinstance(facts.packages.installed, Unknown)
    assert [(one.pattern, one.covers, one.parts) for one in kept(facts)] == [("akmod-nvidia", (), (HeldPart.DRIVER,))]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    put(tmp_path, STATUS, dpkg(*UBUNTU))
    put(tmp_path, "/etc/apt/preferences.d/secret", "Package: nvidia-*\n", mode=0)
    unread = value_or(probe(world_under(tmp_path)).packages.unread_holds, ())
    assert ["/etc/apt/preferences.d/secret" in ENGLISH(one) for one in unread] == [True]


def test_what_cannot_be_read_is_named_and_the_rest_is_told(tmp_path: Path) -> None:
    put(tmp_path, STATUS, dpkg("=nvidia-driver-580 580.95.05-0ubuntu1"))
    put(
        tmp_path,
        "/etc/apt/preferences.d/large",
        "# much\n" * 200_000 + "Package: nvidia-*\nPin: version 580*\nPin-Priority: 1001\n",
    )
    os.mkfifo(put(tmp_path, "/etc/apt/preferences.d/x").parent / "pipe")
    facts = probe(world_under(tmp_path))
    assert [one.pattern for one in kept(facts)] == ["nvidia-driver-580"]
    assert len(value_or(facts.packages.unread_holds, ())) == 1


def test_the_file_of_the_other_generation_of_dnf_is_passed_over(tmp_path: Path) -> None:
    put(tmp_path, "/usr/bin/dnf5")
    (tmp_path / "usr/bin/dnf").symlink_to("dnf5")
    put(tmp_path, "/etc/dnf/plugins/versionlock.list", "akmod-nvidia-3:580.95.05-1.fc43.*\n")
    assert kept(probe(world_under(tmp_path))) == ()


def test_a_plugin_that_is_switched_off_keeps_nothing(tmp_path: Path) -> None:
    put(tmp_path, "/etc/dnf/plugins/versionlock.conf", "[main]\nenabled = 0\n")
    put(tmp_path, "/etc/dnf/plugins/versionlock.list", "nvidia-driver-3:580.95.05-1.el9.*\n")
    assert kept(probe(world_under(tmp_path))) == ()


def test_nvidias_repositories_by_their_names(tmp_path: Path) -> None:
    put(tmp_path, STATUS, dpkg(*UBUNTU))
    url = "https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64"
    put(tmp_path, "/etc/apt/sources.list.d/cuda.list", f"# deb {url}/ /\ndeb [signed-by=/x.gpg] {url}/ /\n")
    put(
        tmp_path,
        "/etc/apt/sources.list.d/off.sources",
        f"Types: deb\nEnabled: no\nURIs: {url.replace('2404', '2204')}\nSuites: /\n",
    )
    put(
        tmp_path,
        "/etc/yum.repos.d/cuda.repo",
        f"[cuda-rhel9-x86_64]\nname=cuda\nbaseurl={url.replace('ubuntu2404', 'rhel9')}\nenabled=1\n"
        f"[old]\nbaseurl={url.replace('ubuntu2404', 'rhel8')}\nenabled=0\n",
    )
    found = value_or(probe(world_under(tmp_path)).packages.repositories, ())
    assert [(one.name, one.source, one.id) for one in found] == [
        ("ubuntu2404", "/etc/apt/sources.list.d/cuda.list:2", ""),
        ("rhel9", "/etc/yum.repos.d/cuda.repo:3", "cuda-rhel9-x86_64"),
    ]


PARTS = {
    HeldPart.DRIVER: "nvidia-driver-580 nvidia-open libnvidia-compute-580 cuda-drivers akmod-nvidia "
    "linux-modules-nvidia-580-generic nvidia-utils "
    "lib32-nvidia-utils nvidia-580xx-dkms nvidia-fabricmanager libcuda1 linux612-nvidia nvidia-compute-G06 nvidia",
    HeldPart.KERNEL: "linux linux-lts linux-image-6.8.0-45-generic linux-image-nvidia-64k linux-headers-nvidia linux-generic "
    "linux-modules-6.8.0-1025-nvidia kernel kernel-core kernel-default linux612 linux-zen-headers linux-nvidia-64k",
    HeldPart.TOOLKIT: "cuda cuda-toolkit-12-8 nvidia-cuda-toolkit cuda-nvcc-12-8",
    HeldPart.LIBRARIES: "libcudnn9-cuda-12 cudnn libnccl2 nccl nvidia-cudnn libcudnn8",
    HeldPart.CONTAINERS: "nvidia-container-toolkit libnvidia-container1 nvidia-docker2",
}


@for_each(("part", "names"), PARTS.items())
def test_what_a_package_belongs_to(part: HeldPart, names: str) -> None:
    assert {name: part_of(name) for name in names.split()} == dict.fromkeys(names.split(), part)


def test_what_belongs_to_none_of_them() -> None:
    names = "nvidia-prime nvidia-gpu-firmware linux-firmware linux-libc-dev linux-base cuda-keyring kernelshark bash nvidia-detect"
    assert [name for name in names.split() if part_of(name) is not None] == []


@for_each(
    ("reach", "version", "through", "kept_away"),
    [
        (HoldReach.EVERY_UPGRADE, "580.95.05-1", (), (580, 595)),
        (HoldReach.OTHER_BRANCHES, "580.*", (580,), (595, 570)),
        (HoldReach.OTHER_BRANCHES, "3:580", (580,), (595,)),
        (HoldReach.OTHER_BRANCHES, "< 3:590", (580, 570), (590, 610)),
        (HoldReach.ONE_VERSION, "59*.*", (580, 610), (590, 595)),
        (HoldReach.ONE_VERSION, "6*", (595,), (610,)),
        (HoldReach.ONE_VERSION, "> 580", (580,), (590,)),
        (HoldReach.ONE_REPOSITORY, "", (580, 595), ()),
        (HoldReach.AUTOMATIC_UPGRADES, "", (580, 595), ()),
    ],
)
def test_which_branches_a_hold_lets_through(
    reach: HoldReach, version: str, through: tuple[int, ...], kept_away: tuple[int, ...]
) -> None:
    one = PackageHold(HoldKind.APT_PIN, reach, "*nvidia*", "x:1", version=version)
    assert [one.lets_through(branch) for branch in (*through, *kept_away)] == [True] * len(through) + [False] * len(kept_away)


READERS = (
    apt.read_preferences,
    apt.read_blacklist,
    rpm.read_version_lock,
    rpm.read_version_lock_toml,
    rpm.read_excludes,
    rpm.read_module,
    rpm.read_zypper_locks,
    pacman.read_pacman_conf,
    lambda words: rpm.read_origin(words, "x.0"),
    lambda words: apt.read_dpkg_status(words, lambda _name: True),
    pacman.included,
)
PIECES = (
    *(
        "Package: ",
        "Pin: version ",
        "Pin-Priority: ",
        "nvidia-*",
        "-1",
        "\n",
        "\n\n",
        "{",
        "}",
        ";",
        '"',
        "/*",
        "//",
        "[[packages]]",
    ),
    *(
        "name = ",
        "[options]",
        "IgnorePkg = ",
        "Include = /etc/x",
        "stream=580",
        "solvable_name: ",
        "\x00",
        "::",
        "é",
        " ",
        ":",
        "-",
    ),
)
WORDS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


@given(words=WORDS | st.text(max_size=300))
def test_no_reader_fails_on_any_text(words: str) -> None:
    for reader in READERS:
        list(reader(words))


@for_each(
    "words",
    ["/*" * 100_000, '"' * 100_000, "-" * 200_000, "{" * 100_000, "Package: " + "* " * 50_000, "\n " * 70_000, "a:" * 70_000],
)
def test_long_nonsense_is_read_at_once(words: str) -> None:
    begun = time.process_time()
    for reader in READERS:
        list(reader(words))
    assert time.process_time() - begun < 2


def test_a_pattern_that_would_take_for_ever_covers_nothing(tmp_path: Path) -> None:
    put(tmp_path, STATUS, dpkg(*(f"nvidia-{'a' * 60}{number} 580.95.05-1" for number in range(50))))
    bad = "".join(f'"{one}"; ' for one in ("nvidia-(a+)+$", "nvidia-(a|a)*$", "nvidia-" + "a*" * 40, "nvidia-[", "nvidia-(?P<x"))
    put(tmp_path, "/etc/apt/apt.conf.d/50x", f"Unattended-Upgrade::Package-Blacklist {{ {bad} }};\n")
    put(tmp_path, "/etc/apt/preferences.d/x", f"Package: {'*a' * 90}\nPin: version 1*\nPin-Priority: 999\n")
    begun = time.process_time()
    facts = probe(world_under(tmp_path))
    assert time.process_time() - begun < 2
    assert all(one.covers == () for one in kept(facts))
    assert len(kept(facts)) == 5


def test_a_status_file_of_ten_megabytes_takes_a_moment(tmp_path: Path) -> None:
    stanza = dpkg("libsomething{} 1.2-3")
    put(tmp_path, STATUS, "\n".join(stanza.format(number) for number in range(40_000)) + "\n" + dpkg(*UBUNTU))
    begun = time.process_time()
    facts = probe(world_under(tmp_path))
    assert time.process_time() - begun < 1.5
    assert isinstance(facts.packages.installed, Known)
    assert len(facts.packages.installed.value) == 4


def test_fedoras_packages_are_those_that_rpm_lists(tmp_path: Path) -> None:
    facts = machine(tmp_path, HoldCase("", {}, (), FEDORA_RPM))
    found = {one.name: one.version for one in value_or(facts.packages.installed, ())}
    assert found == FEDORA_RPM
