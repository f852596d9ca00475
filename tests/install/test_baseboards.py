"""Servers whose GPUs are joined by NVSwitches get the service that sets these up, beside the driver, in its version, and proved."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from gpuassist.diagnose.judge import judge
from gpuassist.model.fact import Known, value_or
from gpuassist.model.finding import Finding
from gpuassist.model.machine import Distribution, Machine
from gpuassist.model.outlook import Outlook
from gpuassist.model.plan import Proves
from gpuassist.model.version import Version
from gpuassist.model.words import ENGLISH
from gpuassist.session.plan import parse_goal, plan_goals
from tests.cli.made_session import live_session
from tests.rows import for_each
from tests.values import UBUNTU_22, UBUNTU_24, knowledge, machine

SESSION = live_session({})
A100, A100_PCIE, H100, H200, B200, B300, V100_SXM2, V100_SXM3, L40S = (
    "10de:20b2",
    "10de:20b5",
    "10de:2330",
    "10de:2335",
    "10de:2901",
    "10de:3182",
    "10de:1db1",
    "10de:1db8",
    "10de:26b9",
)
ROCKY = Distribution("rocky", ("rhel", "centos", "fedora"), "9.6", "Rocky Linux 9")
SLES = Distribution("sles", ("suse",), "15.6", "SLES 15 SP6")
DEBIAN = Distribution("debian", (), "12", "Debian 12")
BARE: dict[str, Any] = {"toolkits": (), "nvcc": "", "environments": (), "open_module": True}


def server(gpu: str, count: int = 8, *, driver: str = "595.71.05", system: Distribution = UBUNTU_24, **facts: Any) -> Machine:
    one = machine(gpus=(gpu,) * count, driver=driver, cuda="13.2", distribution=system, libcuda=driver or "", **BARE)
    gpus = tuple(
        replace(each, fabric=Known(facts["fabric"], "NVML")) if "fabric" in facts else each for each in value_or(one.gpus, ())
    )
    told = {name: Known(value, "a file") for name, value in facts.items() if name != "fabric"}
    return replace(one, gpus=Known(gpus, "NVML"), driver=replace(one.driver, **told))


def planned(one: Machine, goal: str = "driver") -> Outlook:
    return plan_goals(SESSION, one, (parse_goal(goal, knowledge()),))


def lines(outlook: Outlook) -> str:
    return "\n".join(line for step in outlook.steps for line in step.commands)


@for_each("gpu", [A100, H100, H200])
@for_each(
    "case",
    [
        (UBUNTU_22, "nvidia-headless-no-dkms-595-server-open", "apt install nvidia-fabricmanager-595"),
        (UBUNTU_24, "nvidia-headless-no-dkms-595-server-open", "apt install nvidia-fabricmanager-595"),
        (DEBIAN, "nvidia-open", "apt install nvidia-fabricmanager"),
        (ROCKY, "nvidia-open", "dnf install nvidia-fabricmanager"),
        (SLES, "nvidia-open-driver-G07", "zypper install nvidia-fabricmanager"),
    ],
)
def test_driver_of_a_baseboard_comes_with_its_service(gpu: str, case: tuple[Distribution, str, str]) -> None:
    system, driver, manager = case
    outlook = planned(server(gpu, driver="", system=system))
    told = lines(outlook)
    assert told.index(driver) < told.index(manager) < told.index("systemctl enable nvidia-fabricmanager") < told.index("reboot")
    assert outlook.steps[-1].proof is not None
    assert outlook.steps[-1].proof.proves is Proves.FABRIC
    assert "nvlsm" not in told


@for_each("gpu", [B200, B300])
@for_each("case", [(UBUNTU_24, "apt"), (DEBIAN, "apt"), (ROCKY, "dnf")])
def test_switches_of_the_fourth_generation_need_their_subnet_manager(gpu: str, case: tuple[Distribution, str]) -> None:
    system, tool = case
    told = lines(planned(server(gpu, driver="", system=system)))
    assert f"sudo {tool} install nvlsm infiniband-diags" in told
    assert "ib_umad" in told


@for_each(
    "one",
    [
        server(A100, 4, driver=""),  # HGX A100 with four GPUs has no switch, nor has a part of eight
        server(A100_PCIE, 8, driver=""),
        server(V100_SXM2, 8, driver=""),  # DGX-1
        server(L40S, 8, driver=""),
        server(H100, 1, driver=""),
        server(A100, 8, driver="", switches=0),  # the host keeps the switches
    ],
)
def test_machine_without_switches_needs_none_of_it(one: Machine) -> None:
    assert "fabric" not in lines(planned(one))


def test_sixteen_of_the_first_generation_have_switches() -> None:
    assert "fabricmanager" in lines(planned(server(V100_SXM3, 16, driver="")))
    assert "fabric" not in lines(planned(server(V100_SXM3, 8, driver="")))


STOPPED: dict[str, Any] = {"fabric_manager": "/usr/bin/nv-fabricmanager", "fabric_running": False}
MISSING: dict[str, Any] = {"fabric_manager": "", "fabric_running": False}
OTHER: dict[str, Any] = {
    "fabric_manager": "/usr/bin/nv-fabricmanager",
    "fabric_running": True,
    "fabric_version": Version.parse("580.95.05"),
}
RUNS: dict[str, Any] = {**OTHER, "fabric_version": Version.parse("595.71.05")}


def found(one: Machine) -> tuple[Finding, ...]:
    return judge(one, knowledge()).findings


@for_each(
    "case",
    [
        (server(A100, **STOPPED), ["fabric-manager-not-running"], ["systemctl enable --now nvidia-fabricmanager"]),
        (server(H100, **MISSING), ["fabric-manager-not-running"], ["apt install nvidia-fabricmanager-595"]),
        (server(H200, **OTHER), ["fabric-manager-not-running"], ["apt install nvidia-fabricmanager-595"]),
        (server(B200, **MISSING), ["fabric-manager-not-running"], ["nvlsm", "nvidia-fabricmanager-595"]),
        (server(B200, fabric="in progress"), ["fabric-manager-not-running"], ["systemctl enable --now nvidia-fabricmanager"]),
        (server(H100, fabric="not started", **RUNS), ["fabric-manager-not-running"], ["journalctl"]),
        (server(H100, fabric="completed", **MISSING), [], []),  # a host's, or one in a container
        (server(H100, **RUNS), [], []),
        (server(A100, 4, **MISSING), [], []),
        (server(A100_PCIE, **MISSING), [], []),
    ],
)
def test_doctor_and_plan_say_whether_the_switches_are_set_up(case: tuple[Machine, list[str], list[str]]) -> None:
    one, problems, words = case
    assert [each.problem for each in found(one)] == problems
    told = lines(planned(one))
    assert [each for each in words if each not in told] == []
    assert bool(told) is bool(problems)


def test_where_it_is_not_known_the_question_and_the_commands_are_told() -> None:
    one = server(A100)
    assert "fabric-manager-not-running" in [each.problem for each in judge(one, knowledge()).undetermined]
    notes = " ".join(map(ENGLISH, planned(one).notes))
    assert "sudo apt install nvidia-fabricmanager-595" in notes
    assert "802" in notes


def test_torch_of_a_server_without_its_driver_comes_after_all_of_that() -> None:
    told = lines(planned(server(H100, driver=""), "torch"))
    assert told.index("nvidia-fabricmanager-595") < told.index("reboot") < told.index("torch==")
