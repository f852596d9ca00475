"""Is there a GPU and a driver for it: on the bus, under WSL2, in containers, on a Jetson, and where a fact is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.rules.presence import best_driver, driver_runs, gpu_present, wsl_driver_runs
from gpuassist.diagnose.verdicts import Verdict
from gpuassist.model.driver import Library, NvmlStatus
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.finding import Finding, Passed, Undetermined
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.model.words import ENGLISH
from tests.rows import for_each
from tests.values import GTX_1080_TI, RTX_4090, RTX_5090, knowledge, machine, without

Rule = Callable[[RuleInput], Iterator[Verdict]]
UNREAD = Unknown(text("it could not be read"))
WINDOWS = Library("/usr/lib/wsl/lib/libcuda.so.1")
UBUNTUS = Library("/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05")


def _told(rule: Rule, one: Machine) -> list[str]:
    """The verdicts of a rule: a problem's id, `?` before what is open, and what passed in words."""
    return [_short(verdict) for verdict in rule(RuleInput(one, knowledge()))]


def _short(verdict: Verdict) -> str:
    if isinstance(verdict, Finding):
        return verdict.problem
    return f"? {verdict.problem}" if isinstance(verdict, Undetermined) else ENGLISH(verdict.check)


def _found(rule: Rule, one: Machine) -> Finding:
    return next(verdict for verdict in rule(RuleInput(one, knowledge())) if isinstance(verdict, Finding))


def _evidence(finding: Finding) -> list[str]:
    return [f"{ENGLISH(one.fact)}: {ENGLISH(one.value)}" for one in finding.evidence]


def _host(one: Machine, **facts: object) -> Machine:
    return replace(one, host=replace(one.host, **facts))


def _driver(one: Machine, **facts: object) -> Machine:
    return replace(one, driver=replace(one.driver, **facts))


def _bound(one: Machine, *drivers: str | None) -> Machine:
    """The machine whose GPUs these kernel drivers have; None where that cannot be read."""
    assert isinstance(one.gpus, Known)
    facts = [UNREAD if name is None else Known(name, "/sys/driver") for name in drivers]
    gpus = tuple(replace(gpu, kernel_driver=fact) for gpu, fact in zip(one.gpus.value, facts, strict=True))
    return replace(one, gpus=Known(gpus, "/sys"))


def _status(code: int) -> Known[NvmlStatus]:
    return Known(NvmlStatus(code, f"NVML_{code}"), "NVML nvmlInit")


BARE: dict[str, Any] = {"driver": "", "environments": (), "toolkits": (), "nvcc": ""}
JETSON = _host(machine(gpus=(), **BARE), jetson=Known(True, "/proc/device-tree/compatible"))


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (machine(), ["GPU found"]),
        (machine(gpus=(), **BARE), ["no-nvidia-gpu"]),
        (machine(gpus=(), container="docker", **BARE), ["no-nvidia-gpu"]),
        (machine(gpus=(), wsl=2, **BARE), []),
        (JETSON, []),
        (without(machine(), ["gpus"]), ["? no-nvidia-gpu"]),
        (_bound(machine(), "vfio-pci"), ["GPU found", "gpu-reserved-for-vm"]),
        (_bound(machine(), None), ["GPU found"]),
    ],
    ids=["sound", "none", "container", "wsl", "jetson", "unread", "vfio", "binding unread"],
)
def test_gpu_is_looked_for_where_it_can_be(one: Machine, told: list[str]) -> None:
    assert _told(gpu_present, one) == told


def test_absent_gpu_names_the_container() -> None:
    assert _found(gpu_present, machine(gpus=(), container="podman", **BARE)).parameter("container") == "podman"


def test_gpu_for_a_virtual_machine_names_the_one_that_is_left() -> None:
    found = _found(gpu_present, _bound(machine(gpus=(GTX_1080_TI, RTX_4090)), "vfio-pci", "nvidia"))
    assert (found.parameter("gpu"), found.parameter("others")) == ("GTX 1080 Ti", "RTX 4090")
    assert _evidence(found) == ["kernel driver of GTX 1080 Ti: vfio-pci"]


@for_each(
    ("one", "told"),
    [
        (machine(), ["driver"]),
        (machine(gpus=(), **BARE), []),
        (machine(wsl=2), []),
        (_bound(machine(), "vfio-pci"), []),
        (machine(**BARE), ["no-driver"]),
        (machine(**BARE, on_disk="580.95.05"), ["driver-not-loaded"]),
        (machine(**BARE, libcuda="580.95.05"), ["driver-not-loaded"]),
        (machine(bound="nouveau", **BARE), ["nouveau-active"]),
        (machine(bound="nova_core", **BARE), ["nouveau-active"]),
        (machine(container="docker", **BARE), ["container-no-gpu-flag"]),
        (_driver(machine(container="docker"), device_nodes=Known((), "/dev"), nvml_status=_status(9)), ["container-no-gpu-flag"]),
        (_driver(machine(container="docker"), device_nodes=UNREAD), ["driver"]),
        (machine(container="docker"), ["driver"]),
    ],
)
def test_one_cause_is_told_of_a_driver_that_does_not_run(one: Machine, told: list[str]) -> None:
    assert _told(driver_runs, one) == told


@pytest.mark.parametrize(
    ("loaded", "nouveau", "told"),
    [
        (False, Known(True, "/sys/module/nouveau"), ["nouveau-active"]),
        (True, Known(True, "/sys/module/nouveau"), ["driver"]),
        (False, Known(False, "/sys/module/nouveau"), ["no-driver"]),
        (False, UNREAD, ["no-driver"]),
    ],
)
def test_unread_binding_leaves_it_to_nouveaus_module(loaded: bool, nouveau: object, told: list[str]) -> None:
    one = machine() if loaded else machine(**BARE)
    assert _told(driver_runs, _driver(_bound(one, None), nouveau_loaded=nouveau)) == told


def test_nouveau_without_a_read_binding_is_proved_by_its_module() -> None:
    one = _driver(_bound(machine(**BARE), None), nouveau_loaded=Known(True, "/sys/module/nouveau"))
    assert _evidence(_found(driver_runs, one)) == ["nouveau: loaded"]


def test_nouveau_beside_nvidias_driver_leaves_the_driver_sound() -> None:
    one = _bound(machine(gpus=(GTX_1080_TI, RTX_4090)), "nouveau", "nvidia")
    assert _told(driver_runs, one) == ["nouveau-active", "driver"]
    assert _found(driver_runs, one).parameter("others") == "RTX 4090"


@pytest.mark.parametrize(
    ("status", "version", "told"),
    [
        (_status(0), True, ["driver"]),
        (_status(18), False, ["driver"]),
        (_status(9), False, ["no-driver"]),
        (_status(12), True, ["driver"]),
        (_status(12), False, ["? no-driver"]),
        (UNREAD, True, ["driver"]),
        (UNREAD, False, ["? no-driver"]),
    ],
)
def test_unread_modules_leave_it_to_nvml(status: object, version: bool, told: list[str]) -> None:
    one = machine(**BARE)
    said = machine().driver.version if version else UNREAD
    assert _told(driver_runs, _driver(one, loaded=UNREAD, nvml_status=status, version=said)) == told


def test_nvml_is_the_proof_where_modules_are_unread() -> None:
    one = _driver(machine(**BARE), loaded=UNREAD, nvml_status=_status(9))
    assert _evidence(_found(driver_runs, one)) == ["NVML: NVML_9", "NVIDIA module on disk: none"]


@pytest.mark.parametrize(("secure", "said", "shown"), [(True, "yes", True), (False, "", False)])
def test_secure_boot_is_told_where_it_may_be_the_cause(secure: bool, said: str, shown: bool) -> None:
    found = _found(driver_runs, machine(**BARE, on_disk="580.95.05", secure_boot=secure))
    assert found.parameter("secure_boot") == said
    assert ("Secure Boot: on" in _evidence(found)) is shown


def test_unread_secure_boot_is_not_blamed() -> None:
    found = _found(driver_runs, _host(machine(**BARE, on_disk="580.95.05"), secure_boot=UNREAD))
    assert found.parameter("secure_boot") == ""


def test_libraries_without_a_module_name_the_kernel() -> None:
    found = _found(driver_runs, machine(**BARE, libcuda="580.95.05"))
    assert (found.parameter("kernel"), found.parameter("module")) == ("6.8.0-60-generic", "")


@pytest.mark.parametrize(("gpus", "branch", "split"), [((GTX_1080_TI,), "580", ""), ((GTX_1080_TI, RTX_5090), "", "yes")])
def test_branch_that_serves_the_gpus_is_named(gpus: tuple[str, ...], branch: str, split: str) -> None:
    found = _found(driver_runs, machine(gpus=gpus, **BARE))
    assert (found.parameter("branch"), found.parameter("split")) == (branch, split)


def test_pascal_is_given_the_last_branch_that_serves_it() -> None:
    choice = best_driver(RuleInput(machine(gpus=(GTX_1080_TI,), **BARE), knowledge()))
    assert choice.best is not None
    assert choice.best.branch == 580


@pytest.mark.parametrize(
    ("status", "libraries", "told"),
    [
        (_status(0), (WINDOWS,), ["Windows driver"]),
        (_status(0), (WINDOWS, UBUNTUS), ["wsl-linux-driver-installed", "Windows driver"]),
        (_status(12), (), ["wsl-driver-or-windows"]),
        (UNREAD, (), ["wsl-driver-or-windows"]),
        (UNREAD, (WINDOWS,), ["? wsl-driver-or-windows"]),
        (_status(17), (WINDOWS,), ["? wsl-driver-or-windows"]),
        (_status(9), (UBUNTUS,), ["wsl-driver-or-windows"]),
        (_status(9), (WINDOWS, UBUNTUS), ["wsl-linux-driver-installed", "? wsl-driver-or-windows"]),
        (_status(9), None, ["? wsl-driver-or-windows"]),
        (_status(0), None, ["Windows driver"]),
    ],
)
def test_windows_driver_serves_the_gpu_of_wsl(status: object, libraries: tuple[Library, ...] | None, told: list[str]) -> None:
    libcuda = UNREAD if libraries is None else Known(libraries, "/usr/lib")
    assert _told(wsl_driver_runs, _driver(machine(wsl=2), nvml_status=status, libcuda=libcuda)) == told


def test_foreign_library_under_wsl_is_named_alone() -> None:
    one = _driver(machine(wsl=2), libcuda=Known((WINDOWS, UBUNTUS), "/usr/lib"))
    assert _evidence(_found(wsl_driver_runs, one)) == [f"libcuda beside Windows' own: {UBUNTUS.path}"]


def test_refusal_of_nvml_under_wsl_is_the_reason() -> None:
    one = _driver(machine(wsl=2), nvml_status=_status(17), libcuda=Known((WINDOWS,), "/usr/lib"))
    verdict = next(wsl_driver_runs(RuleInput(one, knowledge())))
    assert isinstance(verdict, Undetermined)
    assert ENGLISH(verdict.reason) == "NVML does not start: NVML_17"


def test_windows_is_not_asked_of_outside_wsl() -> None:
    assert _told(wsl_driver_runs, machine(**BARE)) == []


def test_sound_machine_passes_and_finds_nothing() -> None:
    verdicts = [verdict for rule in (gpu_present, driver_runs) for verdict in rule(RuleInput(machine(), knowledge()))]
    assert all(isinstance(verdict, Passed) for verdict in verdicts)
