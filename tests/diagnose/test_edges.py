"""Machines at the edge of a rule: GPUs that somebody set aside, containers that see the host, drivers that do not answer."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.chain import chains
from gpuassist.diagnose.judge import judge
from gpuassist.model.chain import Status
from gpuassist.model.driver import Driver, NvmlStatus
from gpuassist.model.environment import Manager
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.finding import Diagnosis
from gpuassist.model.machine import Machine
from gpuassist.model.text import Parameter, enumerated, text
from gpuassist.model.toolkit import Origin
from tests.values import GTX_1080_TI, RTX_4090, RTX_5090, Env, knowledge, machine

OPEN_580: dict[str, Any] = {
    "driver": "580.95.05",
    "cuda": "13.0",
    "open_module": True,
    "toolkits": (),
    "nvcc": "",
    "environments": (),
}


def _judged(one: Machine) -> Diagnosis:
    return judge(one, knowledge())


def _ids(one: Machine) -> list[str]:
    return [finding.problem for finding in _judged(one).findings]


def _bound(one: Machine, place: int, driver: str) -> Machine:
    assert isinstance(one.gpus, Known)
    gpus = list(one.gpus.value)
    gpus[place] = replace(gpus[place], kernel_driver=Known(driver, "/sys/bus/pci/devices/0000:01:00.0/driver"))
    return replace(one, gpus=Known(tuple(gpus), one.gpus.source))


def _driver(one: Machine, **facts: object) -> Machine:
    return replace(one, driver=replace(one.driver, **facts))


def _refused(code: int, name: str) -> Known[NvmlStatus]:
    return Known(NvmlStatus(code, name), "NVML nvmlInit")


def test_only_gpu_kept_for_virtual_machine_is_a_finding() -> None:
    one = machine(driver="", bound="vfio-pci", toolkits=(), nvcc="", environments=())
    (found,) = _judged(one).findings
    assert (found.problem, found.parameter("others")) == ("gpu-reserved-for-vm", "")


def test_old_card_given_to_virtual_machine_frees_the_new_one() -> None:
    one = _bound(machine(gpus=(GTX_1080_TI, RTX_5090), dead=(GTX_1080_TI,), **OPEN_580), 0, "vfio-pci")
    (found,) = _judged(one).findings
    assert (found.problem, found.parameter("others")) == ("gpu-reserved-for-vm", "RTX 5090")


def test_chain_leaves_out_the_card_that_is_set_aside() -> None:
    one = _bound(machine(gpus=(GTX_1080_TI, RTX_5090), dead=(GTX_1080_TI,), **OPEN_580), 0, "vfio-pci")
    assert len(chains(one, knowledge())) == 1


def test_card_on_nouveau_beside_nvidias_names_the_others() -> None:
    (found,) = _judged(_bound(machine(gpus=(GTX_1080_TI, RTX_4090)), 0, "nouveau")).findings
    assert (found.problem, found.parameter("others")) == ("nouveau-active", "RTX 4090")


def test_card_on_nouveau_is_not_blamed_on_torch_and_nvcc() -> None:
    one = _bound(machine(gpus=(GTX_1080_TI, RTX_4090), environments=(Env("t", "2.11.0+cu130"),), **_CUDA_13), 0, "nouveau")
    assert _ids(one) == ["nouveau-active"]


_CUDA_13: dict[str, Any] = {"driver": "580.95.05", "cuda": "13.0", "toolkits": ("13.0.88",), "nvcc": "13.0"}


def test_container_that_sees_the_hosts_module_has_no_gpu() -> None:
    one = machine(container="docker", environments=(), toolkits=(), nvcc="")
    assert _ids(_driver(one, device_nodes=Known((), "/dev/nvidia*"), nvml_status=_refused(9, "NVML_ERROR_DRIVER_NOT_LOADED"))) == [
        "container-no-gpu-flag"
    ]


def test_container_in_which_nvml_answers_has_its_gpu() -> None:
    one = _driver(machine(container="docker", environments=()), device_nodes=Known((), "/dev/nvidia*"), loaded=Known((), "/proc"))
    assert "container-no-gpu-flag" not in _ids(one)


def test_container_with_device_nodes_is_sound() -> None:
    assert _ids(machine(container="docker")) == []


def test_driver_that_does_not_answer_is_a_finding() -> None:
    one = _driver(machine(), nvml_status=_refused(999, "NVML_ERROR_UNKNOWN"))
    (found,) = _judged(one).findings
    assert (found.problem, found.parameter("status")) == ("cuda-init-failed-driver-state", "NVML_ERROR_UNKNOWN")


def test_driver_that_refuses_for_a_known_cause_is_named_once() -> None:
    one = _driver(machine(node_mode=0o600), nvml_status=_refused(4, "NVML_ERROR_NO_PERMISSION"))
    assert _ids(one) == ["device-permissions"]


def test_driver_that_hangs_leaves_it_open() -> None:
    told = _judged(_driver(machine(), nvml_status=Unknown(text("NVML did not answer within 5 s"))))
    assert [one.problem for one in told.undetermined] == ["cuda-init-failed-driver-state"]
    assert told.findings == ()


@pytest.mark.parametrize(("fault", "crash"), [("hang", ""), ("SIGBUS", "SIGBUS")])
def test_driver_that_does_not_come_back_is_a_problem(fault: str, crash: str) -> None:
    silent = Unknown(text("NVML did not answer within 5 s"))
    (found,) = _judged(_driver(machine(), nvml_status=silent, nvml_fault=Known(fault, "NVML"))).findings
    assert (found.problem, found.parameter("crash"), found.parameter("gpu")) == ("driver-does-not-answer", crash, "RTX 4090")


def test_fault_of_nvml_follows_from_a_driver_that_is_not_loaded_or_does_not_fit() -> None:
    fault = Known("SIGSEGV", "NVML")
    assert "driver-does-not-answer" not in _ids(
        _driver(machine(driver="", toolkits=(), nvcc="", environments=()), nvml_fault=fault)
    )
    assert _ids(_driver(machine(libcuda="545.23.08"), nvml_fault=fault)) == ["driver-library-mismatch"]


def test_missing_tools_library_alone_is_no_problem() -> None:
    assert _ids(_driver(machine(), nvml_status=_refused(12, "NVML_ERROR_LIBRARY_NOT_FOUND"))) == []


@pytest.mark.parametrize("code", [0, 18])
def test_nvml_tells_of_a_driver_whose_module_was_not_read(code: int) -> None:
    one = _driver(machine(), loaded=Unknown(text("/sys is not there")), nvml_status=_refused(code, "told"))
    assert _ids(one) == (["driver-library-mismatch"] if code else [])


def test_nvml_tells_that_no_driver_is_loaded() -> None:
    unread = Unknown(text("/sys is not there"))
    facts = Driver(loaded=unread, on_disk=Known((), "/lib/modules"), libcuda=Known((), "/usr/lib"), nvml_status=_refused(9, "told"))
    one = replace(machine(toolkits=(), nvcc="", environments=()), driver=facts)
    (found,) = _judged(one).findings
    assert (found.problem, found.evidence[0].source) == ("no-driver", "NVML nvmlInit")


def test_cuda_home_may_name_the_place_of_a_wrapper() -> None:
    one = machine(variables={"CUDA_HOME": "/usr"})
    assert isinstance(one.toolkits, Known)
    toolkit = replace(one.toolkits.value[0], wrappers=("/usr/bin/nvcc",))
    assert _ids(replace(one, toolkits=Known((toolkit,), "/usr"))) == []


def test_nvcc_of_a_python_environment_need_not_be_on_path() -> None:
    one = machine(nvcc="")
    assert isinstance(one.toolkits, Known)
    toolkit = replace(one.toolkits.value[0], origin=Known(Origin.CONDA, "conda-meta"))
    assert _ids(replace(one, toolkits=Known((toolkit,), "/home/you"))) == []


def test_index_beyond_the_usable_gpus_is_bad() -> None:
    one = machine(gpus=(GTX_1080_TI, RTX_5090), dead=(GTX_1080_TI,), variables={"CUDA_VISIBLE_DEVICES": "1"}, **OPEN_580)
    assert _ids(one) == ["open-module-required", "cuda-visible-devices-bad"]


def test_chain_shows_a_driver_in_two_versions() -> None:
    (chain,) = chains(machine(libcuda="550.90.07", on_disk="550.90.07"), knowledge())
    assert [node.part.value for node in chain.nodes if node.status is Status.PROBLEM] == ["driver"]


def test_chain_blames_a_dead_card_on_the_driver_alone() -> None:
    dead, alive = chains(machine(gpus=(GTX_1080_TI, RTX_5090), dead=(GTX_1080_TI,), **OPEN_580), knowledge())
    assert [joint.second.value for joint in dead.joints if joint.status is Status.PROBLEM] == ["driver"]
    assert not [joint for joint in alive.joints if joint.status is Status.PROBLEM]


@pytest.mark.parametrize(
    ("manager", "installer", "tool"),
    [
        (Manager.VENV, "pip", "pip"),
        (Manager.CONDA, "pip", "pip"),
        (Manager.CONDA, "conda", ""),
        (Manager.UV, "uv", "uv"),
        (Manager.SYSTEM, "pip", ""),
    ],
)
def test_torch_is_replaced_in_place_only_where_that_is_safe(manager: Manager, installer: str, tool: str) -> None:
    one = machine(environments=(Env("t", "2.6.0+cpu", manager=manager),))
    assert isinstance(one.environments, Known)
    environment = one.environments.value[0]
    assert isinstance(environment.torch, Known)
    torch = replace(environment.torch.value[0], installer=Known(installer, "INSTALLER"))
    changed = replace(environment, torch=Known((torch,), "site-packages"))
    (found,) = _judged(replace(one, environments=Known((changed,), "/home/you"))).findings
    assert (found.problem, found.parameter("tool")) == ("torch-cpu-only", tool)


def test_nearest_architecture_is_one_that_runs_natively() -> None:
    (found,) = _judged(machine(toolkits=("11.7.99",), nvcc="11.7", environments=())).findings  # lists 8.7 as well: Jetson's
    assert (found.parameter("nearest"), found.parameter("native")) == ("8.6", "yes")


def test_nearest_architecture_of_an_older_major_is_ptx() -> None:
    (found,) = _judged(machine(gpus=(RTX_5090,), environments=(), driver="580.95.05", open_module=True)).findings
    assert (found.parameter("nearest"), found.parameter("native")) == ("9.0", "")


_BOTH = enumerated(("GTX 1080 Ti", "RTX 5090"))


@pytest.mark.parametrize(
    ("open_module", "driver", "dead", "alive"),
    [
        (True, "580.95.05", "GTX 1080 Ti", "RTX 5090"),
        (False, "580.95.05", "RTX 5090", "GTX 1080 Ti"),
        (False, "595.45.04", _BOTH, ""),
        (True, "550.54.14", _BOTH, ""),
    ],
)
def test_of_two_that_never_run_together_the_dead_are_named(open_module: bool, driver: str, dead: Parameter, alive: str) -> None:
    one = machine(gpus=(GTX_1080_TI, RTX_5090), driver=driver, open_module=open_module, toolkits=(), nvcc="", environments=())
    (found,) = _judged(one).findings
    assert (found.problem, found.parameter("dead"), found.parameter("alive")) == ("open-module-required", dead, alive)


def test_driver_that_is_absent_leaves_no_question_about_its_version() -> None:
    told = _judged(machine(wsl=2, driver="", libcuda="", **_BARE))
    assert ([one.problem for one in told.findings], told.undetermined) == (["wsl-driver-or-windows"], ())


_BARE: dict[str, Any] = {"toolkits": (), "nvcc": "", "environments": ()}
