"""Every figure of a sample through the real binding, from a scripted NVML and a made-up /proc."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuassist.context import Session
from gpuassist.detect import gpu_holders
from gpuassist.detect.accounts import Accounts
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.gpu import Gpu, GpuProcess
from gpuassist.model.machine import Machine
from gpuassist.model.sample import EventKind, GpuSample, ProcessKind, ProcessSample
from gpuassist.model.words import ENGLISH
from gpuassist.monitor import device
from gpuassist.monitor.board import Board
from gpuassist.monitor.sources import Detail, NvmlSource
from gpuassist.system.files import Files
from gpuassist.system.resources import Resources
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.fakes import FixedClock, link, put
from tests.nvml_fixture import FakeNvml

MIB = 1 << 20
GIB = 1 << 30
Load = Callable[..., FakeNvml]
MEMINFO = "MemTotal:       127600748 kB\nMemFree:        1000 kB\nMemAvailable:   118566368 kB\n"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def world(tmp_path: Path, clock: FixedClock) -> World:
    return World(Surroundings("/home/you", "you", os.geteuid()), Files(str(tmp_path)), clock=clock)


@pytest.fixture
def source(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[NvmlSource]:
    """One for which every figure is due at every reading, and that waits for slow ones."""
    for name in ("BASE_SECONDS", "EXTRA_SECONDS", "LIMITS_SECONDS", "MIG_SECONDS"):
        monkeypatch.setattr(device, name, 0.0)
    source = NvmlSource(world, Board())
    yield source
    source.close()


def value(fact: Fact[object]) -> object:
    assert isinstance(fact, Known), fact
    return fact.value


def reason(fact: Fact[object]) -> str:
    assert isinstance(fact, Unknown), fact
    return ENGLISH(fact.reason)


def process(root: Path, pid: int, command: str = "python train.py", *, ticks: int = 0, started: int = 100) -> None:
    fields = f"S 1 7 7 0 -1 4194304 100 0 0 0 {ticks} 0 0 0 20 0 1 0 {started} 1000 25 0"
    put(root, f"/proc/{pid}/stat", f"{pid} (py thon)) {fields}\n")
    put(root, f"/proc/{pid}/cmdline", command.replace(" ", "\0") + "\0")
    if not (root / f"proc/{pid}/fd").exists():
        link(root, f"/proc/{pid}/fd/3", "/dev/nvidia0")


def only_process(gpu: GpuSample) -> ProcessSample:
    assert isinstance(gpu.processes, Known), gpu.processes
    (one,) = gpu.processes.value
    return one


SOUND = """[gpu]
power_limit = 450
slowdown = 95
memory_temperature = 88
margin = 44
sm_activity = 63.5
tensor_activity = 41
received = 8000000000
sent = 1000000
throttle = 100
"""
FIGURES = {
    "power_limit_watts": 450.0,
    "slowdown_celsius": 95,
    "memory_celsius": 88,
    "thermal_margin_celsius": 44,
    "sm_clock_mhz": 301,
    "memory_clock_mhz": 302,
    "fan_percent": 30,
    "sm_activity_percent": 63.5,
    "tensor_activity_percent": 41.0,
    "throttle_reasons": ("sw_power_cap", "sw_thermal_slowdown", "hw_thermal_slowdown"),
}


def test_every_figure_that_is_offered_is_told(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml(SOUND)
    source.read()
    (gpu,) = source.read().gpus
    assert {name: value(getattr(gpu, name)) for name in FIGURES} == FIGURES
    # By a counter, over the time between two readings of it: as far as this machine keeps time.
    assert 10**9 < int(str(value(gpu.pcie_received_bytes_per_second))) < 10**11
    assert gpu.pcie_sent_bytes_per_second is not None


def test_what_takes_two_looks_is_not_told_at_the_first(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml(SOUND)
    (gpu,) = source.read().gpus
    assert all(isinstance(fact, Unknown) for fact in (gpu.sm_activity_percent, gpu.pcie_sent_bytes_per_second))


def test_without_counters_pcie_is_measured_where_nobody_waits(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("[gpu]\n")
    (gpu,) = source.read().gpus
    while not isinstance(gpu.pcie_sent_bytes_per_second, Known):
        (gpu,) = source.read().gpus
    assert (value(gpu.pcie_sent_bytes_per_second), value(gpu.pcie_received_bytes_per_second)) == (1000 * 1024, 2000 * 1024)


def test_where_there_is_no_threshold_it_follows_from_the_margin(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("[gpu]\nslowdown = -\nmargin = 44\ntemperature = 41\n")
    (gpu,) = source.read().gpus
    assert value(gpu.slowdown_celsius) == 85


ABSURD = {
    "throttle = 1e12": "throttle_reasons",
    "memory_temperature = 4294967295": "memory_celsius",
    "memory_temperature = 0": "memory_celsius",
    "slowdown = 4294967295": "slowdown_celsius",
    "power_limit = 4294967": "power_limit_watts",
    "margin = 100000": "thermal_margin_celsius",
    "sm_activity = 1e30": "sm_activity_percent",
    "tensor_activity = nan": "tensor_activity_percent",
}


def test_no_figure_that_cannot_be_is_told(load_nvml: Load, source: NvmlSource) -> None:
    both = "sm_activity = 1\n"
    load_nvml("".join(f"[gpu]\n{'' if line.startswith('sm_') else both}{line}\n" for line in ABSURD))
    source.read()
    gpus = dict(zip(ABSURD, source.read().gpus, strict=True))
    assert [line for line in ABSURD if not isinstance(getattr(gpus[line], ABSURD[line]), Unknown)] == []


def test_an_old_driver_costs_what_it_lacks_alone(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml(SOUND, old=True)
    (gpu,) = source.read().gpus
    assert value(gpu.sm_clock_mhz) == 301
    assert reason(gpu.sm_activity_percent) == "this driver does not tell it"


def test_what_nobody_wants_is_not_asked(load_nvml: Load, source: NvmlSource) -> None:
    fake = load_nvml(SOUND + "process = 4242 c 5 share=7\n")
    source.wanted = frozenset()
    (gpu,) = source.read().gpus
    assert not isinstance(gpu.sm_clock_mhz, Known)
    asked = {call.function for call in fake.calls()}
    assert not asked & {"nvmlDeviceGetClockInfo", "nvmlDeviceGetFieldValues", "nvmlDeviceGetProcessUtilization", "nvmlGpmSampleGet"}
    source.wanted = frozenset({Detail.CURVES})
    (gpu,) = source.read().gpus
    assert isinstance(gpu.sm_clock_mhz, Known)


def test_a_gpu_that_lacks_something_is_not_asked_for_it_again_and_again(
    load_nvml: Load, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "EXTRA_SECONDS", 0.0)
    fake, source = load_nvml("[gpu]\n"), NvmlSource(world, Board())
    for _ in range(5):
        source.read()
    source.close()
    asked = [call.function for call in fake.calls()]
    assert (asked.count("nvmlDeviceGetMarginTemperature"), asked.count("nvmlDeviceGetFanSpeed")) == (1, 5)


def test_mig_instances_stand_below_their_gpu(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml(
        "[gpu]\n[gpu]\nmig = 1\nmig_device = MIG-a memory=10240 used=512 instance=1\nmig_device = MIG-b memory=20480 instance=5\n"
        "process = 4242 c 64 instance=1\nprocess = 4243 c 32 instance=5\n"
    )
    source.read()
    gpus = {gpu.index: gpu for gpu in source.read().gpus}
    assert {index: gpu.parent for index, gpu in gpus.items()} == {0: None, 1: None, 2000: 1, 2001: 1}
    assert [value(gpus[index].memory_total_bytes) for index in (2000, 2001)] == [10 * GIB, 20 * GIB]
    assert (value(gpus[2000].memory_used_bytes), value(gpus[2000].uuid)) == (512 * MIB, "MIG-a")
    assert [only_process(gpus[index]).pid for index in (2000, 2001)] == [4242, 4243]
    assert "MIG" in reason(gpus[2000].power_watts)


def test_an_xid_is_told_once(load_nvml: Load, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuassist.monitor.board.EVENTS_SECONDS", 0.0)
    load_nvml("[gpu]\n[gpu]\nxid = 79\n")
    source = NvmlSource(world, Board())
    events = [event for _ in range(3) for event in source.read().events]
    source.close()
    assert [(event.kind, event.gpu, event.code) for event in events] == [(EventKind.XID, 1, "79")]


SHARING = {
    "memory = !3\ncapability = 12.1": True,
    "memory = !3\nname = Orin (nvgpu)": True,
    "memory = !3\ncapability = 8.9": False,  # a card that does not tell it, as some virtual ones
    "memory = !4\ncapability = 12.1": False,
}


def test_a_gpu_without_memory_of_its_own_has_the_machines(load_nvml: Load, source: NvmlSource, tmp_path: Path) -> None:
    put(tmp_path, "/proc/meminfo", MEMINFO)
    load_nvml("".join(f"[gpu]\n{lines}\n" for lines in SHARING))
    source.read()
    gpus = dict(zip(SHARING, source.read().gpus, strict=True))
    assert {lines: gpus[lines].shares_memory for lines in SHARING} == SHARING
    shared = next(iter(gpus.values()))
    assert shared.memory_total_bytes == Known(127600748 << 10, "/proc/meminfo")
    assert shared.memory_used_bytes == Known((127600748 - 118566368) << 10, "/proc/meminfo")


def test_a_jetson_without_nvml_has_what_the_kernel_tells(load_nvml: Load, source: NvmlSource, tmp_path: Path) -> None:
    put(tmp_path, "/proc/meminfo", MEMINFO)
    put(tmp_path, "/proc/device-tree/model", "NVIDIA Jetson Xavier NX\0")
    put(tmp_path, "/sys/devices/platform/17000000.gpu/load", "352\n")
    load_nvml("fault = nvmlInit* 12\n")
    (gpu,) = source.read().gpus
    assert (value(gpu.name), value(gpu.utilization_percent), gpu.shares_memory) == ("NVIDIA Jetson Xavier NX", 35, True)
    assert "no NVML" in reason(gpu.power_watts)


def test_under_wsl_an_empty_list_is_not_nobody(load_nvml: Load, tmp_path: Path, clock: FixedClock) -> None:
    put(tmp_path, "/dev/dxg", "")
    load_nvml("[gpu]\n[gpu]\nprocess = 4242 c -\n")
    source = NvmlSource(World(Surroundings("/home/you", "you", 1000), Files(str(tmp_path)), clock=clock), Board())
    first, second = source.read().gpus
    source.close()
    assert "WSL 2" in reason(first.processes)
    assert "WSL 2" in reason(only_process(second).memory_used_bytes)


def test_a_process_is_told_with_what_it_takes(load_nvml: Load, source: NvmlSource, tmp_path: Path, clock: FixedClock) -> None:
    process(tmp_path, 4242)
    put(tmp_path, "/proc/4242/cgroup", f"0::/system.slice/docker-{'ab12' * 16}.scope\n")
    load_nvml("[gpu]\nprocess = 4242 c 64 share=35\nprocess = 4242 g 64\n")
    assert isinstance(only_process(source.read().gpus[0]).cpu_percent, Unknown)
    clock.ticks += 2.0
    process(tmp_path, 4242, ticks=os.sysconf("SC_CLK_TCK"))
    one = only_process(source.read().gpus[0])
    assert (value(one.kind), value(one.gpu_percent), value(one.cpu_percent)) == (ProcessKind.BOTH, 35, 50.0)
    assert (value(one.resident_bytes), value(one.container)) == (25 * os.sysconf("SC_PAGE_SIZE"), "docker ab12ab12ab12")
    assert value(one.started) == clock.epoch() - clock.since_boot() + 100 / os.sysconf("SC_CLK_TCK")
    assert value(one.idle_seconds) == 0.0
    clock.ticks += 60.0
    assert value(only_process(source.read().gpus[0]).idle_seconds) == 60.0


PLACES = {
    "0::/system.slice/ollama.service\n": "ollama.service",
    "0::/user.slice/user-1000.slice/user@1000.service/app.slice/jupyter.service\n": "jupyter.service",
    "0::/user.slice/user-1000.slice/session-2.scope\n": "",
    "0::/user.slice/user-1000.slice/user@1000.service\n": "",
}


def test_a_process_outside_of_containers_is_of_its_service(load_nvml: Load, source: NvmlSource, tmp_path: Path) -> None:
    for place, group in enumerate(PLACES):
        process(tmp_path, 5000 + place)
        put(tmp_path, f"/proc/{5000 + place}/cgroup", group)
    load_nvml("".join(f"[gpu]\nprocess = {5000 + place} c 5\n" for place, _ in enumerate(PLACES)))
    gpus = dict(zip(PLACES, source.read().gpus, strict=True))
    assert {group: value(only_process(gpus[group]).container) for group in PLACES} == PLACES


def test_a_kernel_tells_its_notebook(load_nvml: Load, source: NvmlSource, tmp_path: Path) -> None:
    process(tmp_path, 4242, "python -m ipykernel_launcher -f /run/user/1000/kernel-1.json")
    put(tmp_path, "/proc/4242/environ", b"HOME=/home/you\0JPY_SESSION_NAME=/home/you/runs/Stable diffusion.ipynb\0")
    process(tmp_path, 4243)
    load_nvml("[gpu]\nprocess = 4242 c 5\n[gpu]\nprocess = 4243 c 5\n")
    kernel, other = map(only_process, source.read().gpus)
    assert value(kernel.notebook) == "/home/you/runs/Stable diffusion.ipynb"
    assert isinstance(other.notebook, Unknown)


def test_live_and_gpu_processes_say_the_same_of_a_process(
    load_nvml: Load, source: NvmlSource, world: World, tmp_path: Path
) -> None:
    process(tmp_path, 11)
    put(tmp_path, "/proc/11/cgroup", "0::/system.slice/ollama.service\n")
    process(tmp_path, 12, "python other.py")
    (tmp_path / "proc/12/fd/3").unlink()  # on no GPU: the number means another one, elsewhere
    load_nvml("[gpu]\nprocess = 11 c 5\nprocess = 12 c 5\nprocess = 13 c 5\n")
    listed = source.read().gpus[0].processes
    assert isinstance(listed, Known)
    live = {one.pid: one for one in listed.value}
    named = Known(tuple(GpuProcess(pid, "compute", Known(5 * MIB, "NVML")) for pid in live), "NVML")
    machine = Machine("", gpus=Known((Gpu(index=Known(0, "NVML"), processes=named),), "NVML"), holders=gpu_holders.probe(world))
    found = gpu_holders.holding_of(Session(world, Knowledge(Resources().read), ENGLISH), machine, live=True)
    held = {one.holder.pid: one.holder for one in found.held}
    assert set(held) == set(live)
    commands = {pid: one.command.value if isinstance(one.command, Known) else "" for pid, one in live.items()}
    assert commands == {pid: holder.command for pid, holder in held.items()} == {11: "python train.py", 12: "", 13: ""}
    assert Accounts(world).user(os.geteuid()) == held[11].user
    assert isinstance(live[12].started, Unknown)  # of somebody else
