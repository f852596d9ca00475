"""A driver is judged as what it is, whoever numbers it: Windows' under WSL2, a Jetson's own, and one that waits for a restart."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.judge import judge
from gpuassist.knowledge.driver_numbers import jetpack_of, windows_branch
from gpuassist.model.driver import KernelModule
from gpuassist.model.fact import Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.version import Version
from tests.rows import for_each
from tests.values import GTX_1080_TI, RTX_4090, RTX_5090, Env, knowledge, machine

BARE: dict[str, Any] = {"toolkits": (), "nvcc": "", "environments": ()}
VOLTA = "10de:1d81"
KEPLER = "10de:1004"


def found(one: Machine) -> list[str]:
    """But for what two GPUs of different speed are told everywhere."""
    return [each.problem for each in judge(one, knowledge()).findings if each.problem != "device-order-differs"]


def windows(driver: str, cuda: str, *gpus: str, torch: str = "") -> Machine:
    environments = (Env("train", torch, active=True),) if torch else ()
    return machine(wsl=2, gpus=gpus or (RTX_4090,), driver=driver, cuda=cuda, toolkits=(), nvcc="", environments=environments)


@for_each(
    "case",
    [  # number, CUDA that it reports ("": none), branch
        ("474.64", "11.4", 470),
        ("512.15", "11.6", 510),
        ("517.48", "11.7", 515),
        ("522.06", "11.8", 520),
        ("529.08", "12.0", 525),
        ("537.13", "12.2", 535),
        ("546.12", "12.3", 545),
        ("552.22", "12.4", 550),
        ("556.12", "12.5", 555),
        ("561.09", "12.6", 560),
        ("566.36", "12.7", 565),
        ("572.83", "12.8", 570),
        ("573.48", "", 570),
        ("577.00", "12.9", 575),
        ("580.88", "13.0", 580),
        ("581.80", "", 580),
        ("582.28", "13.0", 580),
        ("591.86", "13.1", 590),
        ("596.49", "13.2", 595),
        ("610.62", "13.3", 610),
        ("616.56", "13.4", 615),
        ("599.99", "13.2", 595),  # not listed: the CUDA that it reports
        ("622.10", "13.5", 620),
        ("640.10", "", None),
        ("640.10", "14.7", None),
        ("580", "", 580),  # a branch that somebody names
        ("570", "", 570),
        ("530", "", 530),
    ],
)
def test_number_of_windows_is_of_its_branch(case: tuple[str, str, int | None]) -> None:
    number, cuda, branch = case
    told = Version.parse(cuda) if cuda else None
    assert windows_branch(Version.parse(number), knowledge().windows_drivers(), knowledge().branches(), cuda=told) == branch


def test_no_number_of_windows_is_of_two_branches() -> None:
    numbers = [major for one in knowledge().windows_drivers() for major in one.majors]
    assert len(numbers) == len(set(numbers))
    assert {one.branch for one in knowledge().windows_drivers()} <= {one.branch for one in knowledge().branches()}


@for_each(
    "case",
    [
        (windows("582.28", "13.0", GTX_1080_TI), []),
        (windows("582.78", "13.0", GTX_1080_TI, torch="2.7.1+cu126"), []),
        (windows("581.80", "13.0", GTX_1080_TI, RTX_5090), []),
        (windows("581.29", "13.0", VOLTA), []),
        (windows("591.74", "13.1", GTX_1080_TI), ["legacy-driver-branch-needed"]),
        (windows("596.36", "13.2", VOLTA, RTX_5090), ["legacy-driver-branch-needed"]),
        (windows("474.82", "11.4", KEPLER), []),
        (windows("537.13", "12.2", KEPLER), ["legacy-driver-branch-needed"]),
        (windows("566.36", "12.7", torch="2.9.1+cu130"), ["driver-too-old-for-cuda"]),
        (windows("580.88", "13.0", torch="2.9.1+cu130"), []),
        (windows("528.49", "12.0", torch="2.5.1+cu124"), []),
        (windows("566.36", "12.7", RTX_5090), ["driver-too-old-for-gpu"]),
        (windows("572.83", "12.8", RTX_5090), []),
        (windows("622.10", "13.5", RTX_5090), []),
    ],
)
def test_machine_under_wsl_is_judged_as_windows_drives_it(case: tuple[Machine, list[str]]) -> None:
    one, problems = case
    assert found(one) == problems


def test_windows_driver_of_no_known_branch_is_not_judged() -> None:
    one = windows("640.10", "13.0", GTX_1080_TI)
    one = replace(one, driver=replace(one.driver, cuda_version=one.driver.bars))
    report = judge(one, knowledge())
    assert [each.problem for each in report.findings] == []
    assert "driver-too-old-for-gpu" in [each.problem for each in report.undetermined]


def restarted(running: str, waiting: str, *, gpus: tuple[str, ...] = (RTX_4090,), torch: str = "", opened: bool = False) -> Machine:
    environments = (Env("train", torch, active=True),) if torch else ()
    one = machine(
        driver=running, on_disk=waiting, libcuda=waiting, gpus=gpus, toolkits=(), nvcc="", environments=environments, cuda="12.4"
    )
    modules = tuple(replace(each, open_flavour=Known(opened, "modinfo")) for each in value_or(one.driver.on_disk, ()))
    return replace(one, driver=replace(one.driver, on_disk=Known(modules, "/lib/modules")))


@for_each(
    "one",
    [
        restarted("550.54.14", "580.95.05", torch="2.9.1+cu130"),
        restarted("565.57.01", "580.95.05", gpus=(RTX_5090,), opened=True),
        restarted("550.54.14", "580.95.05", gpus=(RTX_4090, RTX_5090), torch="2.9.1+cu130", opened=True),
        restarted("595.45.04", "580.95.05", gpus=(GTX_1080_TI,), torch="2.7.1+cu126"),
        restarted("580.95.05", "580.105.08"),
    ],
)
def test_driver_that_lacks_the_restart_alone_gets_that(one: Machine) -> None:
    (finding,) = (each for each in judge(one, knowledge()).findings if each.problem != "device-order-differs")
    assert (finding.problem, finding.parameter("reboot_is_enough")) == ("driver-library-mismatch", "yes")


def test_driver_that_would_not_do_after_the_restart_either_is_told() -> None:
    assert found(restarted("535.54.03", "550.54.14", torch="2.9.1+cu130")) == ["driver-library-mismatch", "driver-too-old-for-cuda"]


@pytest.mark.parametrize("on_disk", [("580.95.05", "595.45.04"), ()])
def test_module_that_is_not_sure_to_be_loaded_waits_for_nothing(on_disk: tuple[str, ...]) -> None:
    one = restarted("550.54.14", "580.95.05")
    modules = tuple(KernelModule(f"/lib/{each}", Known(Version.parse(each), "modinfo")) for each in on_disk)
    one = replace(one, driver=replace(one.driver, on_disk=Known(modules, "/lib/modules")))
    assert RuleInput(one, knowledge()).after_restart is None


@for_each(
    "case",
    [
        ({"l4t": "35.4.1"}, "5"),
        ({"l4t": "R36.4.3", "driver": "540.4.0"}, "6"),
        ({"l4t": "38.2"}, "7"),
        ({"l4t": "39.2", "cuda": "13.2"}, "7"),
        ({"l4t": "31.1", "driver": "580.00"}, ""),  # JetPack 4.1: nothing is known of it
        ({"l4t": "32.7.1"}, "4"),
        ({"driver": "35.4.1"}, "5"),
        ({"driver": "540.4.0", "cuda": "12.6"}, "6"),
        ({"driver": "580.00", "cuda": "13.0"}, "7"),
        ({"driver": "595.21", "cuda": "13.2"}, "7"),
        ({"cuda": "11.4"}, "5"),
        ({"cuda": "12.6"}, "6"),
        ({"system": "22.04"}, "6"),
        ({"system": "24.04"}, "7"),
        ({"system": "26.04"}, ""),
        ({}, ""),
    ],
)
def test_jetpack_is_told_by_what_is_known(case: tuple[dict[str, str], str]) -> None:
    told, release = case
    versions = {name: Version.parse(told[name]) for name in ("driver", "cuda") if name in told}
    words = {name: told[name] for name in ("l4t", "system") if name in told}
    one = jetpack_of(knowledge().jetpacks(), **versions, **words)  # type: ignore[arg-type]
    assert (str(one.release) if one else "") == release


def test_unknown_driver_is_no_windows_driver() -> None:
    one = windows("581.80", "13.0")
    one = replace(one, driver=replace(one.driver, version=one.driver.bars))
    assert isinstance(RuleInput(one, knowledge()).serving, Unknown)
