"""Drivers that were set up wrongly, and the neighbours that are in order."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.chain import chains
from gpuassist.diagnose.judge import judge
from gpuassist.model.chain import Status
from gpuassist.model.driver import ModuleBlock, NvmlStatus, Option
from gpuassist.model.fact import Fact, Known
from gpuassist.model.finding import Finding
from gpuassist.model.gpu import Holder, Recovery
from tests.rows import for_each
from tests.values import GTX_1080_TI, RTX_3090, RTX_4090, Env, knowledge, machine

BARE: dict[str, Any] = {"toolkits": (), "nvcc": "", "environments": ()}
OPEN_580: dict[str, Any] = {"driver": "580.95.05", "cuda": "13.0", "open_module": True, **BARE}
NOT_LOADED: dict[str, Any] = {"driver": "", "on_disk": "580.95.05", "libcuda": "580.95.05", **BARE}
MONITOR = Holder(2210, "you", "/usr/bin/nvtop", ("/dev/nvidia0",))
TRAINING = Holder(2211, "you", "python train.py", ("/dev/nvidia0",))


def _known(value: object) -> Fact[Any]:
    return Known(value, "a file")


def _bar(module: str, place: str = "/etc/modprobe.d/a.conf:1") -> dict[str, Fact[Any]]:
    return {"bars": _known((ModuleBlock(module, place, f"blacklist {module}"),))}


def _found(**recipe: Any) -> tuple[Finding, ...]:
    return judge(machine(**recipe), knowledge()).findings


def _ids(**recipe: Any) -> list[str]:
    return [one.problem for one in _found(**recipe)]


NO_FIRMWARE: dict[str, Any] = {"dead": (RTX_4090,), "driver_facts": {"firmware": _known(())}}
TWICE = {"uninstaller": _known("/usr/bin/nvidia-uninstall"), "driver_packages": _known(("libnvidia-compute-580",))}
NO_TOOL = {"nvidia_smi": _known("")}
FORGETS = {"options": _known((Option("PreserveVideoMemoryAllocations", "0"),))}
SLEPT = {"slept": _known(2)}


@pytest.mark.parametrize(
    ("recipe", "problem"),
    [
        ({**NOT_LOADED, "driver_facts": _bar("nvidia")}, "driver-module-blacklisted"),
        ({**NOT_LOADED, "secure_boot": True, "host_facts": {"key_pending": _known(True)}}, "secure-boot-mok-pending"),
        ({**NOT_LOADED, "on_disk": "", "host_facts": {"realtime": _known(True)}}, "dkms-build-failed"),
        ({**OPEN_580, **NO_FIRMWARE}, "rm-init-adapter-failed"),
        ({**OPEN_580, "dead": (RTX_4090,), "told": {"addressed": (False,)}}, "rm-init-adapter-failed"),
        ({**OPEN_580, "dead": (RTX_4090,), "told": {"kernel_driver": ("",)}}, "nvidia-smi-no-devices"),
        ({**OPEN_580, "dead": (RTX_4090,), "told": {"recovery": (Recovery.START,)}}, "nvidia-smi-no-devices"),
        ({**OPEN_580, "dead": (RTX_4090,), "told": {"recovery": (Recovery.POWER_CYCLE,)}}, "xid-79-gpu-fell-off-bus"),
        ({**OPEN_580, "told": {"excluded": (True,)}}, "gpu-excluded-by-option"),
        ({**OPEN_580, "driver_facts": TWICE}, "driver-installed-twice"),
        ({**OPEN_580, "driver_facts": NO_TOOL}, "nvidia-smi-missing"),
        ({**OPEN_580, "driver_facts": FORGETS, "host_facts": SLEPT}, "video-memory-lost-over-sleep"),
        ({**OPEN_580, "told": {"sleeps": (True,)}, "holders": (MONITOR,)}, "gpu-kept-awake"),
    ],
)
def test_problem_is_the_only_finding(recipe: dict[str, Any], problem: str) -> None:
    assert _ids(**recipe) == [problem]


def test_module_that_left_the_gpu_behind_is_not_to_be_loaded() -> None:
    """An update brings it: Arch and RPM Fusion, whose newest driver has no Pascal any more."""
    (found,) = _found(**{**NOT_LOADED, "on_disk": "610.43.02", "libcuda": "610.43.02", "gpus": (GTX_1080_TI,)})
    assert (found.problem, found.parameter("branch")) == ("legacy-driver-branch-needed", "580")
    assert _ids(**{**NOT_LOADED, "gpus": (GTX_1080_TI,)}) == ["driver-not-loaded"]


def test_gpu_that_the_driver_leaves_alone_is_told_apart_from_those_that_it_takes() -> None:
    two: dict[str, Any] = {**OPEN_580, "gpus": (RTX_4090, RTX_4090), "dead": (RTX_4090,)}
    (found,) = _found(**two, told={"kernel_driver": ("", "")})
    assert found.problem == "nvidia-smi-no-devices"
    assert _ids(**two, told={"kernel_driver": ("nvidia", "nvidia")}) == []


def test_one_of_several_that_is_not_listed_may_be_kept_from_a_job() -> None:
    two = machine(
        **{**OPEN_580, "gpus": (RTX_4090, RTX_3090), "dead": (RTX_3090,), "told": {"recovery": (Recovery.NONE, Recovery.START)}}
    )
    diagnosis = judge(two, knowledge())
    assert (diagnosis.findings, [one.problem for one in diagnosis.undetermined]) == ((), ["nvidia-smi-no-devices"])
    assert [one.joints[0].status for one in chains(two, knowledge())] == [Status.RIGHT, Status.UNKNOWN]


@for_each(
    ("more", "problems"),
    [
        ({"host_facts": {"container": _known("docker")}}, []),
        ({"host_facts": {"wsl": _known(2)}}, []),
        ({"told": {"recovery": (Recovery.NONE, Recovery.START), "excluded": (False, True)}}, ["gpu-excluded-by-option"]),
    ],
)
def test_one_that_was_not_given_or_is_left_out_needs_no_reset(more: dict[str, Any], problems: list[str]) -> None:
    two = {**OPEN_580, "gpus": (RTX_4090, RTX_3090), "dead": (RTX_3090,), "told": {"recovery": (Recovery.NONE, Recovery.START)}}
    assert _ids(**{**two, **more}) == problems


@for_each(
    "recipe",
    [
        {**OPEN_580, "driver_facts": _bar("nvidia")},
        {**OPEN_580, "driver_facts": _bar("nouveau")},
        {**OPEN_580, "secure_boot": True, "host_facts": {"key_pending": _known(True)}},
        {**OPEN_580, "host_facts": {"realtime": _known(True)}},
        {**OPEN_580, "driver_facts": {"firmware": _known(())}},
        {**OPEN_580, "told": {"addressed": (False,)}},
        {**OPEN_580, "driver_facts": {"uninstaller": _known("/usr/bin/nvidia-uninstall"), "driver_packages": _known(())}},
        {**OPEN_580, "driver_facts": {**TWICE, "uninstaller": _known("")}},
        {**OPEN_580, "driver_facts": {"nvidia_smi": _known("/usr/bin/nvidia-smi")}},
        {**OPEN_580, "driver_facts": FORGETS, "host_facts": {"slept": _known(0)}},
        {**OPEN_580, "driver_facts": {"options": _known((Option("PreserveVideoMemoryAllocations", "1"),))}, "host_facts": SLEPT},
        {**OPEN_580, "told": {"sleeps": (True,)}, "holders": (MONITOR, TRAINING)},
        {**OPEN_580, "told": {"sleeps": (True,)}},
        {**OPEN_580, "told": {"sleeps": (False,)}, "holders": (MONITOR,)},
    ],
)
def test_neighbour_is_in_order(recipe: dict[str, Any]) -> None:
    assert _ids(**recipe) == []


def test_driver_of_another_version_is_not_blamed_on_its_firmware() -> None:
    """An update takes the old version's firmware away, while that version still runs."""
    assert _ids(**{**OPEN_580, "libcuda": "580.105.08", "driver_facts": {"firmware": _known(())}}) == ["driver-library-mismatch"]


def test_gpu_of_the_wrong_module_is_not_blamed_on_its_firmware() -> None:
    recipe = {**OPEN_580, **NO_FIRMWARE, "gpus": (GTX_1080_TI,), "dead": (GTX_1080_TI,)}
    assert _ids(**recipe) == ["open-module-unsupported-gpu"]


def test_firmware_is_not_missed_where_nvml_does_not_start() -> None:
    driver = {"firmware": _known(()), "nvml_status": _known(NvmlStatus(3, "NVML_ERROR_NOT_SUPPORTED"))}
    assert "rm-init-adapter-failed" not in _ids(**{**OPEN_580, "dead": (RTX_4090,), "driver_facts": driver})


def test_argument_of_the_kernel_is_told_apart_from_a_file() -> None:
    (found,) = _found(**NOT_LOADED, driver_facts=_bar("nvidia", "/proc/cmdline"))
    assert (found.parameter("place"), found.parameter("command_line")) == ("/proc/cmdline", "yes")


def test_nouveau_that_is_forbidden_and_runs_says_where() -> None:
    (found,) = _found(driver="", bound="nouveau", libcuda="", driver_facts=_bar("nouveau"), **BARE)
    assert (found.problem, found.parameter("blacklisted")) == ("nouveau-active", "/etc/modprobe.d/a.conf:1")


def test_script_is_named_and_not_its_interpreter() -> None:
    watching = Holder(1, "you", "/usr/bin/python3 /usr/bin/gpustat -i", ("/dev/nvidia0",))
    (found,) = _found(**OPEN_580, told={"sleeps": (True,)}, holders=(watching,))
    assert found.parameter("program") == "gpustat"


@pytest.mark.parametrize("recipe", [{"wsl": 2}, {"container": "docker"}])
def test_installers_and_places_are_the_hosts_affair(recipe: dict[str, Any]) -> None:
    found = _ids(**{**OPEN_580, **recipe, "driver_facts": TWICE, "told": {"addressed": (False,)}, "dead": (RTX_4090,)})
    assert not {"driver-installed-twice", "rm-init-adapter-failed"} & set(found)


OLD: dict[str, Any] = {"driver": "525.147.05", "cuda": "12.0", **BARE}


def test_branch_without_fixes_is_told_with_one_that_gets_some() -> None:
    (found,) = _found(**OLD)
    assert (found.problem, found.parameter("branch"), found.parameter("instead")) == ("driver-branch-end-of-life", "525", "595")


@pytest.mark.parametrize(
    "recipe",
    [
        {"driver": "550.54.14", **BARE},  # ended less than two years ago
        {"driver": "470.256.02", "gpus": ("10de:1004",), **BARE},  # a card that has no newer branch
        {**OLD, "container": "docker"},
    ],
)
def test_branch_is_not_told_where_nothing_is_gained(recipe: dict[str, Any]) -> None:
    assert "driver-branch-end-of-life" not in _ids(**recipe)


def test_old_branch_is_no_news_where_an_update_is_asked_for_already() -> None:
    assert _ids(**{**OLD, "environments": (Env("t", "2.11.0+cu130", active=True),)}) == ["driver-too-old-for-cuda"]


@pytest.mark.parametrize(("unattended", "told"), [(True, "yes"), (False, "")])
def test_driver_that_was_replaced_says_whether_nobody_asked(unattended: bool, told: str) -> None:
    (found,) = _found(**{**OPEN_580, "libcuda": "580.105.08", "host_facts": {"unattended": _known(unattended)}})
    assert (found.problem, found.parameter("unattended")) == ("driver-library-mismatch", told)


@pytest.mark.parametrize("day", ["", "/proc/stat", "yesterday", "²026-01-01", "-999-01-01"])
def test_a_recording_of_a_day_that_is_none_is_judged(day: str) -> None:
    told = judge(replace(machine(**OLD), taken_at=day), knowledge())
    assert "own-check-failed" not in {one.problem for one in told.undetermined}
