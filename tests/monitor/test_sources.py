"""Samples through the real binding from a scripted NVML."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.sample import GpuSample, Sample
from gpuassist.model.words import ENGLISH
from gpuassist.monitor.board import Board
from gpuassist.monitor.readings import NO_FACTS
from gpuassist.monitor.sources import TRY_AGAIN_SECONDS, NvmlSource
from gpuassist.system.files import Files
from gpuassist.system.surroundings import Surroundings
from gpuassist.system.world import World
from tests.fakes import FixedClock, link, put
from tests.machines import pci_gpu
from tests.nvml_fixture import FakeNvml

MIB = 1 << 20
CALLS_AT_MOST = 8
BASE = (
    *("uuid", "name", "memory_total_bytes", "memory_used_bytes", "memory_free_bytes", "utilization_percent"),
    *("temperature_celsius", "power_watts", "processes"),
)
FIRST, SECOND = "0000:01:00.0", "0000:02:00.0"
TWO = "[gpu]\nname = A\n[gpu]\nname = B\n"

Load = Callable[..., FakeNvml]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def source(tmp_path: Path, clock: FixedClock) -> Iterator[NvmlSource]:
    """A source whose /sys and /proc lie under a directory of the test's."""
    source = NvmlSource(World(Surroundings("/home/you", "you", os.geteuid()), Files(str(tmp_path)), clock=clock), Board())
    yield source
    source.close()


def value(fact: Fact[object]) -> object:
    assert isinstance(fact, Known)
    return fact.value


def reason(fact: Fact[object]) -> str:
    assert isinstance(fact, Unknown)
    return ENGLISH(fact.reason)


def trouble(sample: Sample) -> str:
    return " ".join(map(ENGLISH, sample.trouble))


def only(sample: Sample) -> GpuSample:
    assert sample.trouble == ()
    (gpu,) = sample.gpus
    return gpu


def test_a_gpu_is_read(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml(
        "[gpu]\nname = NVIDIA GeForce RTX 4090\nmemory = 24564\nused = 900\nutilization = 35\ntemperature = 71\npower = 412\n"
    )
    gpu = only(source.read())
    assert value(gpu.name) == "NVIDIA GeForce RTX 4090"
    assert (value(gpu.memory_total_bytes), value(gpu.memory_used_bytes)) == (24564 * MIB, 900 * MIB)
    assert (value(gpu.utilization_percent), value(gpu.temperature_celsius), value(gpu.power_watts)) == (35, 71, 412.0)
    assert str(value(gpu.uuid)).startswith("GPU-")


def test_a_sample_has_both_times(load_nvml: Load, source: NvmlSource, clock: FixedClock) -> None:
    load_nvml("[gpu]\n")
    sample = source.read()
    assert (sample.time, sample.monotonic) == (clock.epoch(), clock.since_boot())


def test_processes_have_user_and_command(load_nvml: Load, source: NvmlSource, tmp_path: Path) -> None:
    put(tmp_path, "/proc/4242/stat", "4242 (python) S 1 1 1 0 -1 0 0 0 0 0 5 3 0 0 20 0 1 0 99 0 0\n")
    put(tmp_path, "/proc/4242/cmdline", b"python\0train.py\0")
    link(tmp_path, "/proc/4242/fd/7", "/dev/nvidia0")
    load_nvml("[gpu]\nprocess = 4242 c 512\n")
    processes = only(source.read()).processes
    assert isinstance(processes, Known)
    (process,) = processes.value
    assert (process.pid, value(process.command), value(process.memory_used_bytes)) == (4242, "python train.py", 512 * MIB)
    assert isinstance(process.user, Known)


def test_a_process_elsewhere_is_still_counted(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("[gpu]\nprocess = 4242 c -\n")
    processes = only(source.read()).processes
    assert isinstance(processes, Known)
    (process,) = processes.value
    assert "not visible from here" in reason(process.command)
    assert isinstance(process.memory_used_bytes, Unknown)


def test_no_process_is_an_empty_list(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("[gpu]\n")
    assert value(only(source.read()).processes) == ()


def test_every_gpu_has_its_index(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml(TWO)
    assert [(gpu.index, value(gpu.name)) for gpu in source.read().gpus] == [(0, "A"), (1, "B")]


def test_names_are_asked_once_and_little_else(load_nvml: Load, source: NvmlSource) -> None:
    fake = load_nvml("[gpu]\nprocess = 4242 c 512\n[gpu]\n")
    source.read()
    before = len(fake.calls())
    for _ in range(10):
        source.read()
    later = Counter(call.function for call in fake.calls()[before:] if call.gpu == 0)
    assert not {function for function in later if "Name" in function or "UUID" in function or "Handle" in function}
    assert sum(later.values()) <= 10 * CALLS_AT_MOST


def test_old_drivers_are_read_too(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("[gpu]\nused = 900\nreserved = 0\nprocess = 4242 c 512\n", old=True)
    source.read()
    gpu = only(source.read())
    assert value(gpu.memory_used_bytes) == 900 * MIB
    assert [process.pid for process in gpu.processes.value] == [4242] if isinstance(gpu.processes, Known) else False


@pytest.mark.parametrize(
    ("function", "field"),
    [
        ("nvmlDeviceGetMemoryInfo*", "memory_used_bytes"),
        ("nvmlDeviceGetUtilizationRates", "utilization_percent"),
        ("nvmlDeviceGetTemperature*", "temperature_celsius"),
        ("nvmlDeviceGetPowerUsage", "power_watts"),
        ("nvmlDeviceGetComputeRunningProcesses*", "processes"),
        ("nvmlDeviceGetName", "name"),
        ("nvmlDeviceGetUUID", "uuid"),
    ],
)
def test_each_refusal_is_one_unknown_fact(load_nvml: Load, source: NvmlSource, function: str, field: str) -> None:
    load_nvml(f"fault = {function} 999\n[gpu]\n")
    gpu = only(source.read())
    unknown = {name for name in BASE if isinstance(getattr(gpu, name), Unknown)}
    assert field in unknown
    assert all(name.startswith(field[:6]) for name in unknown)


@pytest.mark.parametrize(
    ("code", "words"), [(3, "does not tell"), (4, "may not read"), (15, "is lost"), (999, "NVML refused it: NVML_ERROR_UNKNOWN")]
)
def test_a_refusal_has_its_reason(load_nvml: Load, source: NvmlSource, code: int, words: str) -> None:
    load_nvml(f"fault = nvmlDeviceGetPowerUsage {code}\n[gpu]\n")
    assert words in reason(only(source.read()).power_watts)


def test_nvml_that_refuses_everything_is_survived(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("fault = nvmlDeviceGet[!CH]* 999\n[gpu]\n")
    gpu = only(source.read())
    clocks = {"sm_clock_mhz", "memory_clock_mhz", "throttle_reasons"}  # whose calls begin as those do that are let through
    facts = [getattr(gpu, name) for name in GpuSample.__struct_fields__ if name not in NO_FACTS | clocks]
    assert all(isinstance(fact, Unknown) for fact in facts)


def test_a_lost_gpu_leaves_the_others(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("[gpu]\n[gpu]\nfault = nvmlDevice* 15 after=12\n")
    for _ in range(3):
        source.read()
    first, second = source.read().gpus
    assert isinstance(first.memory_used_bytes, Known)
    assert "lost" in reason(second.memory_used_bytes)
    assert second.index == 1


def test_a_gpu_without_a_handle_is_still_there(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("[gpu]\n[gpu]\nfault = nvmlDeviceGetHandle* 15\n")
    first, second = source.read().gpus
    assert isinstance(first.name, Known)
    assert "lost" in reason(second.name)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (9, "driver is not loaded"),
        (18, "a reboot makes them the same"),
        (4, "no permission"),
        (12, "is NVIDIA's driver installed"),
        (999, "NVML_ERROR_UNKNOWN"),
    ],
)
def test_nvml_that_does_not_start_is_trouble(load_nvml: Load, source: NvmlSource, code: int, words: str) -> None:
    load_nvml(f"fault = nvmlInit* {code}\n[gpu]\n")
    sample = source.read()
    assert sample.gpus == ()
    assert words in trouble(sample)


def test_a_machine_without_a_driver_is_trouble(source: NvmlSource, monkeypatch: pytest.MonkeyPatch) -> None:
    import pynvml

    monkeypatch.setattr(pynvml, "nvmlLib", None)
    monkeypatch.setattr(pynvml, "CDLL", _no_library)
    sample = source.read()
    assert sample.gpus == ()
    assert "libnvidia-ml.so.1" in trouble(sample)


def _no_library(name: str) -> None:
    raise OSError(f"{name}: cannot open shared object file: No such file or directory")


def test_a_count_that_is_refused_is_trouble(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("fault = nvmlDeviceGetCount* 999\n[gpu]\n")
    assert "NVML_ERROR_UNKNOWN" in trouble(source.read())


def test_a_driver_without_a_gpu_is_no_trouble(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("driver = 580.95.05\n")
    sample = source.read()
    assert (sample.gpus, sample.trouble) == ((), ())


def test_a_driver_that_comes_later_is_found(load_nvml: Load, source: NvmlSource, clock: FixedClock) -> None:
    load_nvml("fault = nvmlInit* 9\n[gpu]\n")
    assert source.read().trouble
    load_nvml("[gpu]\n")
    assert source.read().trouble  # not tried at every tick
    clock.ticks += TRY_AGAIN_SECONDS
    assert isinstance(only(source.read()).name, Known)


def test_nvml_shut_down_by_others_is_opened_again(load_nvml: Load, source: NvmlSource) -> None:
    import pynvml

    load_nvml("[gpu]\n")
    source.read()
    pynvml.nvmlShutdown()
    source.read()
    assert isinstance(only(source.read()).memory_used_bytes, Known)


def test_closing_lets_go_of_the_driver(load_nvml: Load, source: NvmlSource) -> None:
    fake = load_nvml("[gpu]\n")
    source.read()
    source.close()
    source.close()
    assert [call.function for call in fake.calls()].count("nvmlShutdown") == 1


def test_after_closing_it_opens_again(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("[gpu]\n")
    source.read()
    source.close()
    assert isinstance(only(source.read()).name, Known)


def test_gpus_that_all_sleep_are_not_woken(load_nvml: Load, source: NvmlSource, tmp_path: Path) -> None:
    fake = load_nvml("[gpu]\n")
    pci_gpu(tmp_path, FIRST, status="suspended")
    gpu = only(source.read())
    assert "asleep" in reason(gpu.memory_used_bytes)
    assert fake.calls() == []


def test_one_that_sleeps_is_left_alone(load_nvml: Load, source: NvmlSource, tmp_path: Path) -> None:
    fake = load_nvml(TWO)
    pci_gpu(tmp_path, FIRST, status="suspended")
    pci_gpu(tmp_path, SECOND)
    first, second = source.read().gpus
    assert "asleep" in reason(first.memory_used_bytes)
    assert (second.index, value(second.name)) == (1, "B")
    assert not [call for call in fake.calls() if call.gpu == 0]


def test_one_that_wakes_is_read_from_then_on(load_nvml: Load, source: NvmlSource, tmp_path: Path) -> None:
    load_nvml(TWO)
    pci_gpu(tmp_path, FIRST, status="suspended")
    pci_gpu(tmp_path, SECOND)
    source.read()
    put(tmp_path, f"/sys/devices/pci0000:00/{FIRST}/power/runtime_status", "active\n")
    first, _ = source.read().gpus
    assert (first.index, value(first.name)) == (0, "A")
    assert isinstance(first.memory_used_bytes, Known)


def test_names_of_this_very_process_are_real(load_nvml: Load) -> None:
    load_nvml("[gpu]\nprocess = self c 100\n")
    source = NvmlSource(World(Surroundings.current()), Board())
    processes = source.read().gpus[0].processes
    source.close()
    assert isinstance(processes, Known)
    assert [process.pid for process in processes.value] == [os.getpid()]


def test_a_gpu_keeps_its_capacity_while_it_is_lost(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("[gpu]\nmemory = 1000\nfault = nvmlDeviceGetMemoryInfo* 15 after=1\n")
    (first,), (second,) = source.read().gpus, source.read().gpus
    assert isinstance(second.memory_used_bytes, Unknown)
    assert second.memory_total_bytes == first.memory_total_bytes == Known(1000 << 20, "NVML")


def test_gpus_of_one_name_keep_their_places(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("[gpu]\nuuid = GPU-same\n[gpu]\nuuid = GPU-same\n")
    assert [[gpu.index for gpu in source.read().gpus] for _ in range(3)] == [[0, 1]] * 3


def test_no_power_at_all_is_no_figure(load_nvml: Load, source: NvmlSource) -> None:
    load_nvml("[gpu]\npower = 0\npower_limit = 0\n")
    (gpu,) = source.read().gpus
    assert isinstance(gpu.power_watts, Unknown)
    assert isinstance(gpu.power_limit_watts, Unknown)
