"""What is said of holds and of upgrades that would break the driver; nothing is said of machines that are in order."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.driver_packages import driver_packages, next_driver
from gpuassist.diagnose.judge import judge
from gpuassist.model.fact import Known
from gpuassist.model.finding import Finding
from gpuassist.model.gpu import GpuProcess
from gpuassist.model.holds import HoldReach, PackageHold
from gpuassist.model.machine import Distribution, Machine, decode_machine
from gpuassist.system.resources import Resources
from tests.holds_cases import hold, packages_of
from tests.install.test_hold_plan import CASES, made
from tests.rows import for_each
from tests.values import ARCH, DEBIAN, FEDORA, GTX_1080_TI, RTX_4090, RTX_5090, UBUNTU_24, Env, knowledge, machine

OURS = {"driver-upgrades-by-itself", "driver-held", "driver-upgrade-will-break", "driver-half-held", "driver-hold-in-the-way"}
BARE: dict[str, Any] = {"toolkits": (), "nvcc": "", "environments": (), "driver": "580.95.05", "cuda": "13.0"}
PASCAL: dict[str, Any] = {**BARE, "gpus": (GTX_1080_TI,)}
ADA: dict[str, Any] = {**BARE, "gpus": (RTX_4090,), "open_module": True}
UBUNTU_22 = replace(UBUNTU_24, version_id="22.04")
FEDORA_44, FEDORA_43 = replace(FEDORA, version_id="44"), replace(FEDORA, version_id="43")
ROCKY_9 = Distribution("rocky", ("rhel", "centos", "fedora"), "9.6", "Rocky Linux 9.6")
TUMBLEWEED = Distribution("opensuse-tumbleweed", ("suse", "opensuse"), "", "openSUSE Tumbleweed")
KEPLER = "10de:1180"
CUDA_UBUNTU, CUDA_DEBIAN, CUDA_RHEL = "ubuntu2404", "debian12", "rhel9"


def here(
    distribution: Distribution, installed: str, *holds: PackageHold, repository: str = "", recipe: Mapping[str, Any] = PASCAL
) -> Machine:
    state = packages_of(installed, repository=repository)
    return machine(**{**recipe, "distribution": distribution, "system_packages": state, "holds": Known(holds, "/a/file")})


def ours(one: Machine) -> tuple[Finding, ...]:
    return tuple(found for found in judge(one, knowledge()).findings if found.problem in OURS)


NVIDIA_DEB = "cuda-drivers nvidia-driver nvidia-kernel-dkms libcuda1"
NVIDIA_RPM = "cuda-drivers nvidia-driver nvidia-driver-cuda kmod-nvidia-latest-dkms"
RPM_FUSION = "akmod-nvidia xorg-x11-drv-nvidia xorg-x11-drv-nvidia-cuda"
UBUNTU_DKMS = "nvidia-driver-580 libnvidia-compute-580 nvidia-dkms-580 linux-image-generic=6.8.0-45.45"
UBUNTU_BUILT = "nvidia-driver-580 libnvidia-compute-580 linux-modules-nvidia-580-generic=6.8.0 linux-image-generic=6.8.0"
AWAY = HoldReach.ONE_REPOSITORY

BREAKS: list[tuple[str, Machine, str]] = [
    ("NVIDIA's metapackage on Ubuntu", here(UBUNTU_24, "cuda-drivers nvidia-driver-580", repository=CUDA_UBUNTU), "cuda-drivers"),
    ("NVIDIA's metapackage on Debian", here(DEBIAN, NVIDIA_DEB, repository=CUDA_DEBIAN), "cuda-drivers"),
    (
        "a package with a least branch on Debian",
        here(DEBIAN, "cuda-drivers-580 nvidia-dkms", repository=CUDA_DEBIAN),
        "cuda-drivers-580",
    ),
    (
        "Debian's own beside NVIDIA's repository",
        here(DEBIAN, "nvidia-driver=535.309.01-1", repository=CUDA_DEBIAN),
        "nvidia-driver",
    ),
    ("NVIDIA's on Rocky", here(ROCKY_9, NVIDIA_RPM, repository=CUDA_RHEL), "cuda-drivers"),
    ("RPM Fusion's on Fedora 44", here(FEDORA_44, RPM_FUSION), "akmod-nvidia"),
    ("Arch's own", here(ARCH, "nvidia-utils=580.105.08-1 nvidia-dkms=580.105.08-1"), "nvidia-utils"),
    (
        "Ubuntu led 470 on to 535, which knows no Kepler",
        here(UBUNTU_22, "nvidia-driver-470=470.256.02-0ubuntu1", recipe={**PASCAL, "gpus": (KEPLER,), "driver": "470.256.02"}),
        "nvidia-driver-470",
    ),
    (
        "unattended upgrades alone leave it out: a hand does not",
        here(DEBIAN, NVIDIA_DEB, hold(NVIDIA_DEB, HoldReach.AUTOMATIC_UPGRADES), repository=CUDA_DEBIAN),
        "cuda-drivers",
    ),
    (
        "595 is kept away, and what comes is later",
        here(DEBIAN, NVIDIA_DEB, hold(NVIDIA_DEB, HoldReach.ONE_VERSION, "595*"), repository=CUDA_DEBIAN),
        "cuda-drivers",
    ),
]


@for_each(("name", "one", "package"), BREAKS)
def test_upgrade_that_drops_the_card(name: str, one: Machine, package: str) -> None:
    found = [finding for finding in ours(one) if finding.problem != "driver-held"]
    assert [finding.problem for finding in found] == ["driver-upgrade-will-break"], name
    assert found[0].parameter("package") == package
    assert int(str(found[0].parameter("coming"))) > int(str(found[0].parameter("last")))


STAYS: list[tuple[str, Machine]] = [
    ("Ubuntu's own 580", here(UBUNTU_24, UBUNTU_DKMS)),
    ("Ubuntu's own 580 with NVIDIA's repository for a toolkit", here(UBUNTU_24, UBUNTU_DKMS, repository=CUDA_UBUNTU)),
    ("NVIDIA's, without the repository", here(DEBIAN, NVIDIA_DEB)),
    ("the packages of a branch on Fedora", here(FEDORA_44, "akmod-nvidia-580xx xorg-x11-drv-nvidia-580xx")),
    ("Fedora 43, whose newest is 580", here(FEDORA_43, RPM_FUSION)),
    ("the AUR's", here(ARCH, "nvidia-580xx-utils=580.105.08-1 nvidia-580xx-dkms=580.105.08-1")),
    ("SUSE's G06", here(TUMBLEWEED, "nvidia-compute-G06 nvidia-driver-G06-kmp-default")),
    ("a card that every branch serves", here(DEBIAN, NVIDIA_DEB, repository=CUDA_DEBIAN, recipe=ADA)),
    ("Arch, a card that every branch serves", here(ARCH, "nvidia-utils nvidia-open", recipe=ADA)),
    ("a repository that nobody looked at", here(DEBIAN, NVIDIA_DEB, repository="debian99")),
    (
        "Ubuntu, packages upgrade by themselves",
        here(UBUNTU_24, UBUNTU_DKMS, recipe={**ADA, "host_facts": {"unattended": Known(value=True, source="x")}}),
    ),
    (
        "NVIDIA's repository is kept from the driver",
        here(DEBIAN, NVIDIA_DEB, hold(NVIDIA_DEB, AWAY, repository="developer.download.nvidia.com"), repository=CUDA_DEBIAN),
    ),
    ("no packages at all", here(UBUNTU_24, "bash")),
    ("nobody looked", machine(**PASCAL)),
    ("a driver that came with no package", here(ARCH, "linux")),
]


@for_each(("name", "one"), STAYS)
def test_nothing_is_said_where_nothing_is_known_to_come(name: str, one: Machine) -> None:
    assert ours(one) == (), name


PIN_580 = hold(NVIDIA_DEB, HoldReach.OTHER_BRANCHES, "580.*")
SOUND_HOLDS: list[tuple[str, Machine, dict[str, str]]] = [
    ("all of Ubuntu's", here(UBUNTU_24, UBUNTU_DKMS, hold(UBUNTU_DKMS.rpartition(" ")[0])), {"driver": "580.95.05", "branch": ""}),
    ("the package on which all hangs", here(UBUNTU_24, UBUNTU_DKMS, hold("nvidia-driver-580")), {"branch": ""}),
    ("a branch on Debian", here(DEBIAN, NVIDIA_DEB, PIN_580, repository=CUDA_DEBIAN), {"branch": "580", "gpu": "GTX 1080 Ti"}),
    (
        "driver and kernel",
        here(UBUNTU_24, UBUNTU_BUILT, hold("nvidia-driver-580 linux-modules-nvidia-580-generic linux-image-generic")),
        {},
    ),
    (
        "Arch, both",
        here(ARCH, "nvidia-open nvidia-utils linux=6.17", hold("nvidia-open nvidia-utils linux"), recipe=ADA),
        {"gpu": ""},
    ),
    (
        "Arch with dkms, the kernel goes on",
        here(ARCH, "nvidia-open-dkms nvidia-utils linux=6.17", hold("nvidia-open-dkms nvidia-utils"), recipe=ADA),
        {},
    ),
]


@for_each(("name", "one", "parameters"), SOUND_HOLDS)
def test_a_hold_is_told(name: str, one: Machine, parameters: dict[str, str]) -> None:
    (found,) = ours(one)
    assert found.problem == "driver-held", name
    assert {key: found.parameter(key) for key in parameters} == parameters
    assert [proof.source for proof in found.evidence] == ["/a/file:3"]


HALVES: list[tuple[str, Machine, str]] = [
    ("Ubuntu, the kernel goes on without its module", here(UBUNTU_24, UBUNTU_BUILT, hold("nvidia-driver-580")), "kernel"),
    (
        "Arch, the kernel goes on",
        here(ARCH, "nvidia-open nvidia-utils linux=6.17", hold("nvidia-open nvidia-utils"), recipe=ADA),
        "kernel",
    ),
    ("Arch, the driver goes on", here(ARCH, "nvidia-open nvidia-utils linux=6.17", hold("linux"), recipe=ADA), "module"),
    (
        "Manjaro, the kernel goes on",
        here(
            replace(ARCH, id="manjaro"),
            "linux612-nvidia nvidia-utils linux612=6.12.58",
            hold("linux612-nvidia nvidia-utils"),
            recipe=ADA,
        ),
        "kernel",
    ),
    (
        "libraries alone",
        here(UBUNTU_24, "nvidia-headless-580 libnvidia-compute-580 nvidia-dkms-580", hold("libnvidia-compute-580"), recipe=ADA),
        "",
    ),
    ("Fedora, the module alone", here(FEDORA_43, RPM_FUSION, hold("akmod-nvidia"), recipe=ADA), ""),
]


@for_each(("name", "one", "which"), HALVES)
def test_a_half_that_is_held_alone(name: str, one: Machine, which: str) -> None:
    (found,) = ours(one)
    assert found.problem == "driver-half-held", name
    assert [word for word in ("kernel", "module") if found.parameter(word)] == ([which] if which else [])
    assert found.parameter("held")
    assert found.parameter("free")


def test_a_kernel_that_is_held_alone_is_nobodys_trouble_with_dkms() -> None:
    assert ours(here(ARCH, "nvidia-open-dkms nvidia-utils linux=6.17", hold("linux"), recipe=ADA)) == ()
    assert ours(here(UBUNTU_24, UBUNTU_DKMS, hold("linux-image-generic"))) == ()


@pytest.mark.parametrize(
    ("recipe", "word"),
    [
        ({**BARE, "gpus": (RTX_5090,), "driver": "550.54.14"}, "gpu"),
        ({**PASCAL, "driver": "595.45.04"}, "gpu"),
        ({**BARE, "driver": "550.54.14", "cuda": "12.4", "environments": (Env("t", "2.11.0+cu130", active=True),)}, "torch"),
    ],
)
def test_a_hold_in_the_way_of_the_driver_that_is_needed(recipe: dict[str, Any], word: str) -> None:
    installed = f"nvidia-driver-550={recipe['driver']}-0ubuntu1"
    one = here(UBUNTU_24, installed, hold("nvidia-driver-550"), recipe=recipe)
    assert [(found.problem, bool(found.parameter(word))) for found in ours(one)] == [("driver-hold-in-the-way", True)]
    assert ours(here(UBUNTU_24, installed, recipe=recipe)) == ()


H100 = "10de:2330"
ALONE = {"host_facts": {"unattended": Known(value=True, source="/etc/apt")}}
COMPUTES = {"told": {"processes": ((GpuProcess(7, "compute"),),)}}
DRAWS = {"told": {"processes": ((GpuProcess(7, "graphics"),),)}}


@for_each(
    ("recipe", "holds", "told"),
    [
        ({**ADA, **ALONE, **COMPUTES}, (), True),
        ({**ADA, **ALONE, "gpus": (H100,)}, (), True),
        ({**ADA, **ALONE, **DRAWS}, (), False),
        ({**ADA, **ALONE}, (), False),
        ({**ADA, **COMPUTES}, (), False),
        ({**ADA, **ALONE, **COMPUTES}, (hold("nvidia-driver-580", HoldReach.AUTOMATIC_UPGRADES),), False),
    ],
)
def test_automatic_upgrades_are_told_of_where_gpus_compute(
    recipe: dict[str, Any], holds: tuple[PackageHold, ...], *, told: bool
) -> None:
    found = [one.problem for one in ours(here(UBUNTU_24, UBUNTU_DKMS, *holds, recipe=recipe))]
    assert found == (["driver-upgrades-by-itself"] if told else [])


def test_of_two_drivers_packages_those_that_run_count() -> None:
    one = here(
        UBUNTU_24, "nvidia-driver-580 libnvidia-compute-580 nvidia-settings=610.43-1 libxnvctrl0=610.43-1 nvidia-utils-535=535.1"
    )
    found = driver_packages(RuleInput(one, knowledge()))
    assert found is not None
    assert found.version == "580.95.05"


# No machine that was recorded before, and none that the steps are tried on, is told of a hold that it has not.


def recorded() -> Iterator[tuple[str, Machine]]:
    for place in sorted(Path("tests/cases/machines").glob("*/facts.json")):
        yield place.parent.name, decode_machine(json.loads(place.read_text("utf-8")))
    resources = Resources()
    for name in resources.names("machines"):
        yield name, decode_machine(json.loads(resources.read(f"machines/{name}")))


WITH_HOLDS = {
    *("pascal-whose-next-driver-drops-it", "driver-held-for-years", "arch-driver-held-without-its-kernel"),
    *("rtx-5090-whose-old-driver-is-held", "server-whose-driver-upgrades-by-itself"),
}


def test_recorded_machines_are_told_nothing_new() -> None:
    every = tuple(recorded())
    assert len(every) > 50
    assert {name for name, each in every if ours(each)} == WITH_HOLDS


def test_recorded_machines_with_their_usual_packages_are_told_nothing() -> None:
    for name, each in recorded():
        distribution, driver = each.host.distribution, RuleInput(each, knowledge()).driver
        if name in WITH_HOLDS or not isinstance(distribution, Known) or not isinstance(driver, Known):
            continue
        usual = f"nvidia-driver-{driver.value.major} libnvidia-compute-{driver.value.major} nvidia-dkms-{driver.value.major}"
        names = {
            "fedora": "akmod-nvidia-580xx xorg-x11-drv-nvidia-580xx",
            "arch": "nvidia-580xx-utils nvidia-580xx-dkms linux=6.17",
        }
        state = packages_of(names.get(distribution.value.id, usual), f"{driver.value}-1", repository="ubuntu2404")
        found = [one.problem for one in ours(replace(each, system_packages=state, holds=Known((), "")))]
        # Ubuntu did lead 470 on to 535, which does not know this Kepler.
        assert found == (["driver-upgrade-will-break"] if name == "gtx-780-old-torch" else []), name


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_plans_machines_are_judged_as_they_are(tmp_path: Path, case: Any) -> None:
    one = made(tmp_path, case)
    problems = {found.problem for found in ours(one)}
    assert problems <= {"driver-held", "driver-half-held"}
    assert next_driver(RuleInput(replace(one, holds=Known((), "")), knowledge())) is None or case.distribution.id in {
        "arch",
        "manjaro",
    }
