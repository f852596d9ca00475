"""What a container was given of the host's driver."""

from __future__ import annotations

from typing import Any

import pytest

from gpuassist.diagnose.judge import judge
from gpuassist.diagnose.rules import driver, presence
from gpuassist.model.driver import DeviceNode, NvmlStatus
from gpuassist.model.fact import Known
from gpuassist.model.finding import Finding
from tests.values import knowledge, machine

UNKNOWN = Known(NvmlStatus(999, "NVML_ERROR_UNKNOWN"), "NVML nvmlInit")
NO_NODES: Known[tuple[DeviceNode, ...]] = Known((), "/dev/nvidia*")
NOTHING_GIVEN = {"device_nodes": NO_NODES, "nvml_status": Known(NvmlStatus(9, "NVML_ERROR_DRIVER_NOT_LOADED"), "NVML nvmlInit")}
RULES = (*presence.RULES, *driver.RULES)
BARE: dict[str, Any] = {"toolkits": (), "nvcc": "", "environments": ()}


def _found(**recipe: Any) -> list[Finding]:
    return list(judge(machine(**{**BARE, **recipe}), knowledge(), RULES).findings)


@pytest.mark.parametrize(("kind", "name"), [("lxc", "LXC"), ("systemd-nspawn", "systemd-nspawn")])
@pytest.mark.parametrize("facts", [{"nvml_status": UNKNOWN}, {"device_nodes": NO_NODES}])
def test_system_container_is_told_how_it_gets_its_devices(kind: str, name: str, facts: dict[str, Any]) -> None:
    (found,) = _found(container=kind, driver_facts=facts)
    assert (found.problem, found.parameter("kind"), found.parameter("gpu")) == ("container-lxc-devices", name, "RTX 4090")


@pytest.mark.parametrize(
    ("container", "facts", "problem"),
    [
        ("docker", {"nvml_status": UNKNOWN}, "cuda-init-failed-driver-state"),
        ("docker", NOTHING_GIVEN, "container-no-gpu-flag"),
        ("", {"nvml_status": UNKNOWN}, "cuda-init-failed-driver-state"),
    ],
)
def test_other_containers_keep_their_own_findings(container: str, facts: dict[str, Any], problem: str) -> None:
    assert [found.problem for found in _found(container=container, driver_facts=facts)] == [problem]


def test_system_container_that_works_has_no_finding() -> None:
    assert _found(container="lxc") == []


def test_nodes_that_nobody_may_open_are_a_matter_of_permissions() -> None:
    assert [found.problem for found in _found(container="lxc", node_mode=0o600)] == ["device-permissions"]


@pytest.mark.parametrize(("container", "told"), [("docker", "utility"), ("", "")])
def test_container_without_the_compute_part_says_what_it_asked_for(container: str, told: str) -> None:
    (found,) = _found(container=container, libcuda="", variables={"NVIDIA_DRIVER_CAPABILITIES": "utility"})
    assert (found.problem, found.parameter("capabilities")) == ("libcuda-missing", told)


def test_library_is_not_missed_where_the_container_was_given_nothing() -> None:
    assert [found.problem for found in _found(container="docker", libcuda="", driver_facts=NOTHING_GIVEN)] == [
        "container-no-gpu-flag"
    ]
