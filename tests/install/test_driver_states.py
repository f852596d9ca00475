"""Drivers in a state of their own: in two installations or two branches, half updated, of a virtual GPU, and GPUs cut by MIG."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.judge import judge
from gpuassist.knowledge.servers import is_for_servers, is_virtual
from gpuassist.model.fact import Known, value_or
from gpuassist.model.finding import Finding
from gpuassist.model.machine import Distribution, Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from tests.cli.made_session import live_session
from tests.rows import for_each
from tests.values import ARCH, DEBIAN, FEDORA, RTX_4090, UBUNTU_24, Env, knowledge, machine

SESSION = live_session({})
BARE: dict[str, Any] = {"toolkits": (), "nvcc": "", "environments": (), "open_module": True}
A100, A10, L4 = "10de:20b2", "10de:2236", "10de:27b8"


def planned(one: Machine, *goals: str) -> Outlook:
    return plan_goals(SESSION, one, tuple(parse_goal(words, knowledge()) for words in goals))


def lines(outlook: Outlook) -> list[str]:
    return [line for step in outlook.steps for line in step.commands]


def found(one: Machine) -> tuple[Finding, ...]:
    return judge(one, knowledge()).findings


def told_of(one: Machine, **facts: Any) -> Machine:
    return replace(one, driver=replace(one.driver, **{name: Known(value, "a file") for name, value in facts.items()}))


# Two installations, and two branches.

PACKAGES = ("libnvidia-compute-580", "nvidia-utils-580")
BY_INSTALLER = {"uninstaller": "/usr/bin/nvidia-uninstall", "driver_packages": PACKAGES}
TWO_BRANCHES = ("linux-modules-nvidia-580-open-6.8.0-60-generic", "libnvidia-compute-595", "nvidia-utils-595")


def twice(system: Distribution, **recipe: Any) -> Machine:
    driver = {"driver": "595.45.04", "cuda": "13.2", **recipe}
    return told_of(machine(**driver, distribution=system, **BARE), **BY_INSTALLER)


@for_each(
    "case",
    [
        (UBUNTU_24, ["sudo nvidia-uninstall", "sudo apt purge", "sudo apt install", "sudo systemctl reboot"]),
        (DEBIAN, ["sudo nvidia-uninstall", "sudo apt purge", "sudo apt install", "sudo systemctl reboot"]),
        (ARCH, ["sudo nvidia-uninstall", "sudo pacman -Rs", "sudo pacman -Syu nvidia-open", "sudo systemctl reboot"]),
        (FEDORA, ["sudo nvidia-uninstall", "sudo dnf remove", "sudo dnf install akmod-nvidia", "sudo systemctl reboot"]),
    ],
)
@for_each("recipe", [{}, {"libcuda": "580.95.05", "on_disk": "580.95.05"}])
def test_two_installations_are_both_removed_before_one_is_made(
    case: tuple[Distribution, list[str]], recipe: dict[str, str]
) -> None:
    system, order = case
    one = twice(system, **recipe)
    assert "driver-installed-twice" in [each.problem for each in found(one)]
    told = "\n".join(lines(planned(one, "driver")))
    places = [told.find(words) for words in order]
    assert -1 not in places
    assert places == sorted(places)


def test_torch_is_no_reason_to_change_a_driver_that_works() -> None:
    assert not [line for line in lines(planned(twice(UBUNTU_24), "torch")) if "nvidia-uninstall" in line]


def of_two_branches() -> Machine:
    one = machine(driver="580.95.05", libcuda="595.45.04", cuda="13.0", distribution=UBUNTU_24, **BARE)
    return told_of(one, driver_packages=TWO_BRANCHES)


def test_packages_of_two_branches_are_named() -> None:
    (one,) = found(of_two_branches())
    assert (one.problem, one.parameter("reboot_is_enough")) == ("driver-library-mismatch", "")
    assert one.parameter("module_packages") == TWO_BRANCHES[0]
    assert one.parameter("library_packages") == ", ".join(TWO_BRANCHES[1:])


def test_halves_of_two_branches_are_made_one() -> None:
    told = lines(planned(of_two_branches(), "driver"))
    assert told[0].startswith("sudo apt purge")
    assert told[-1] == "sudo systemctl reboot"
    assert any(line.startswith("sudo apt install") for line in told)


@for_each(
    "packages",
    [
        ("linux-modules-nvidia-595-open-generic", "libnvidia-compute-595"),
        ("linux-modules-nvidia-580-open-6.8.0-50-generic", "linux-modules-nvidia-595-open-6.8.0-60-generic", "nvidia-utils-595"),
        ("libnvidia-compute-595",),
        (),
    ],
)
def test_packages_of_one_branch_are_no_two(packages: tuple[str, ...]) -> None:
    one = told_of(machine(driver="580.95.05", on_disk="595.45.04", libcuda="595.45.04", **BARE), driver_packages=packages)
    (finding,) = found(one)
    assert (finding.parameter("reboot_is_enough"), finding.parameter("module_packages")) == ("yes", "")
    assert lines(planned(one, "driver")) == ["sudo systemctl reboot"]


# An update that waits for its restart.


@for_each("goal", ["driver", "torch"])
def test_restart_is_all_that_a_half_updated_driver_takes(goal: str) -> None:
    one = machine(
        driver="550.54.14",
        on_disk="580.95.05",
        libcuda="580.95.05",
        open_module=True,
        environments=(Env("train", "2.9.1+cu130", active=True),),
        toolkits=(),
        nvcc="",
    )
    assert [each.problem for each in found(one)] == ["driver-library-mismatch"]
    assert lines(planned(one, goal)) == ["sudo systemctl reboot"]


# Virtual GPUs.


def virtual(name: str, driver: str = "550.90.07", pci_id: str = A10, **host: str) -> Machine:
    environments = (Env("train", "2.5.1+cu124", active=True),)
    one = machine(
        gpus=(pci_id,),
        driver=driver,
        cuda="12.4" if driver else "",
        libcuda=driver,
        environments=environments,
        toolkits=(),
        nvcc="",
    )
    gpus = tuple(replace(each, name=Known(name, "NVML")) for each in value_or(one.gpus, ()))
    told = {key: Known(value, "/sys/class/dmi/id") for key, value in host.items()}
    return replace(one, gpus=Known(gpus, "NVML"), host=replace(one.host, **told))


@for_each(
    "case",
    [
        ("NVIDIA A10-24Q", True),
        ("NVIDIA A10-4C", True),
        ("GRID V100D-8Q", True),
        ("GRID T4-1B4", True),
        ("NVIDIA A100-2-10C", True),
        ("NVIDIA H100L-1-12CME", True),
        ("NVIDIA RTX6000-Ada-48Q", True),
        ("NVIDIA L40S-16A", True),
        ("NVIDIA A100-SXM4-80GB", False),
        ("NVIDIA A100-PCIE-40GB", False),
        ("Tesla V100-SXM2-16GB", False),
        ("NVIDIA H100 80GB HBM3", False),
        ("NVIDIA GeForce RTX 4090", False),
        ("NVIDIA A10", False),
        ("", False),
    ],
)
def test_virtual_gpu_is_known_by_its_name(case: tuple[str, bool]) -> None:
    name, is_one = case
    assert is_virtual(name) is is_one


@for_each("goal", ["driver==580", "driver==595.45.04", "torch==2.13.0+cu130"])
def test_guest_driver_is_not_replaced_by_a_desktops(goal: str) -> None:
    outlook = planned(virtual("NVIDIA A10-24Q"), goal)
    assert not [line for line in lines(outlook) if "nvidia-driver" in line or "nvidia-open" in line or "server" in line]
    assert outlook.blocked_by
    if goal.startswith("driver"):
        assert "host" in " ".join(map(ENGLISH, outlook.blocked_by))


def test_torch_under_a_guest_driver_is_one_that_it_serves() -> None:
    assert lines(planned(virtual("NVIDIA A10-24Q"), "torch")) == []
    stays = planned(virtual("NVIDIA A10-24Q"), "driver")
    assert (lines(stays), stays.notes) == ([], ())
    assert [each.problem for each in found(virtual("NVIDIA A10-24Q", "470.256.02"))] != ["driver-branch-end-of-life"]


@for_each("goal", ["driver", "torch"])
def test_virtual_gpu_without_a_driver_gets_its_hosts(goal: str) -> None:
    outlook = planned(virtual("NVIDIA A10-24Q", driver=""), goal)
    assert not [line for line in lines(outlook) if "apt" in line]
    assert "guest driver" in ENGLISH(outlook.steps[0].text)
    assert outlook.steps[0].needs_root


@for_each("host", [{"provider": "azure"}, {"provider": "aws", "product": "g6f.large"}])
def test_torch_is_not_sure_before_the_driver_of_a_virtual_gpu(host: dict[str, str]) -> None:
    one = virtual("NVIDIA A10", driver="", **host)
    one = replace(one, environments=Known((), "a file"))
    assert any("not sure" in ENGLISH(note) for note in planned(one, "torch").notes)
    assert any("GRID" in ENGLISH(step.text) for step in planned(one, "torch").steps)


@for_each(
    "case",
    [
        ("NVIDIA A100-SXM4-80GB", True),
        ("Tesla T4", True),
        ("Tesla V100-SXM2-16GB", True),
        ("NVIDIA L40S", True),
        ("NVIDIA H100 80GB HBM3", True),
        ("NVIDIA GH200 480GB", True),
        ("NVIDIA RTX A4000", False),
        ("NVIDIA GeForce RTX 4090", False),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", False),
        ("Quadro P4000", False),
        ("NVIDIA GB10", False),
        ("NVIDIA TITAN V", False),
    ],
)
def test_product_for_data_centres_is_known_by_its_name(case: tuple[str, bool]) -> None:
    name, is_one = case
    assert is_for_servers(name, None, knowledge().server_gpus()) is is_one


# MIG.


def cut(*uuids: tuple[str, ...], on: tuple[bool, ...] = (), variables: dict[str, str] | None = None) -> Machine:
    count = len(uuids)
    told = {"mig_enabled": on or (True,) * count, "mig_uuids": uuids}
    return machine(gpus=(A100,) * count, driver="580.95.05", cuda="13.0", told=told, variables=variables or {}, **BARE)


ONE = "MIG-5c89852c-d268-5b5c-8f5c-0e1a4b4b0001"
TWO = "MIG-5c89852c-d268-5b5c-8f5c-0e1a4b4b0002"


@pytest.mark.parametrize(
    ("one", "problems"),
    [
        (cut(()), ["mig-without-instance"]),
        (cut((), ()), ["mig-without-instance"]),
        (cut((ONE, TWO)), ["mig-one-instance-a-process"]),
        (cut((ONE,), ()), ["mig-without-instance", "mig-one-instance-a-process"]),
        (cut((ONE, TWO), variables={"CUDA_VISIBLE_DEVICES": TWO}), []),
        (cut((), on=(False,)), []),
    ],
)
def test_gpu_in_mig_mode_is_not_simply_ready(one: Machine, problems: list[str]) -> None:
    assert [each.problem for each in found(one) if each.problem.startswith("mig")] == problems


def test_all_gpus_without_an_instance_are_one_finding() -> None:
    (one,) = found(cut((), ()))
    assert one.parameter("index") == "0,1"


# A newer CUDA without another driver, for data-centre GPUs alone.


def with_torch_for(cuda_tag: str, gpu: str, driver: str, cuda: str) -> Machine:
    environments = (Env("train", f"2.11.0+{cuda_tag}", "3.12", active=True),)
    return machine(gpus=(gpu,), driver=driver, cuda=cuda, open_module=True, environments=environments, toolkits=(), nvcc="")


@for_each(
    "case",
    [  # GPU, driver, the package
        (L4, "570.172.08", "12.8", "cuda-compat-13-0"),
        (A100, "535.247.01", "12.2", "cuda-compat-13-0"),
        (L4, "550.54.14", "12.4", ""),  # no package is for this branch
        (RTX_4090, "570.172.08", "12.8", ""),  # nor for this GPU
        (L4, "580.95.05", "13.0", ""),  # nor is one needed
    ],
)
def test_compatibility_package_is_a_way_for_data_centre_gpus(case: tuple[str, str, str, str]) -> None:
    gpu, driver, cuda, package = case
    one = with_torch_for("cu130", gpu, driver, cuda)
    told = {each.problem: each for each in found(one)}
    finding = told.get("driver-too-old-for-cuda")
    assert (finding.parameter("compat") if finding else "") == package
    notes = " ".join(map(ENGLISH, planned(one, "torch==2.11.0+cu130").notes))
    assert ("cuda-compat" in notes) is bool(package)
    assert package in notes


def test_computer_of_one_chip_takes_no_card() -> None:
    one = machine(gpus=("10de:2e12",), driver="580.95.05", cuda="13.0", **BARE)
    assert planned(one, 'gpu="RTX 5090"').blocked_by
    assert not planned(machine(gpus=(RTX_4090,), driver="580.95.05", cuda="13.0", **BARE), 'gpu="RTX 5090"').blocked_by
