"""NVML in a child, joined with made-up PCI trees."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect import nvml, pci
from gpuassist.detect.nvml import NvmlReading
from gpuassist.diagnose.judge import judge
from gpuassist.knowledge.tables import Knowledge
from gpuassist.model.driver import Driver, NvmlStatus
from gpuassist.model.fact import Fact, Known, Unknown
from gpuassist.model.gpu import Gpu, GpuProcess, PowerState, Recovery
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from gpuassist.model.version import ComputeCapability, Version
from gpuassist.system.resources import Resources
from gpuassist.system.world import RealProcesses
from tests.facts import reason, value
from tests.fakes import ScriptedProcesses, world_under
from tests.machines import pci_gpu
from tests.nvml_fixture import FakeNvml

KNOWLEDGE = Knowledge(Resources().read)
MIB = 1 << 20
SILENT = Unknown(text("silent"))
TWO = "[gpu]\npci = 00000000:01:00.0\n[gpu]\npci = 00000000:41:00.0\nname = NVIDIA GeForce RTX 5090\npci_id = 10de:2b85\n"


def look(root: Path, variables: Mapping[str, str], *, seconds: float = 30) -> tuple[NvmlReading, Fact[tuple[Gpu, ...]]]:
    world = world_under(root, processes=RealProcesses(), variables=variables)
    found = pci.probe(world, KNOWLEDGE)
    reading = nvml.probe(world, found, seconds=seconds)
    return reading, nvml.merge(found, reading, KNOWLEDGE)


def gpus(fact: Fact[tuple[Gpu, ...]]) -> tuple[Gpu, ...]:
    assert isinstance(fact, Known)
    return fact.value


def test_driver_facts_are_read(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path)
    reading, _ = look(tmp_path, fake_nvml("driver = 580.95.05\nnvml = 13.580.95.05\ncuda = 13.0\n[gpu]"))
    assert value(reading.status) == NvmlStatus(0, "NVML_SUCCESS")
    assert value(reading.nvml_version) == "13.580.95.05"
    assert value(reading.version) == Version((580, 95, 5))
    assert value(reading.cuda_version) == Version((13, 0))


def test_gpu_of_both_sources_is_one(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, "0000:01:00.0")
    _, merged = look(
        tmp_path, fake_nvml("[gpu]\nuuid = GPU-1\nminor = 3\ndisplay = 1\ncompute_mode = 3\nused = 5\nprocess = 7 c 2")
    )
    (gpu,) = gpus(merged)
    assert (value(gpu.kernel_driver), value(gpu.uuid), value(gpu.minor)) == ("nvidia", "GPU-1", 3)
    assert (value(gpu.memory_total_bytes), value(gpu.memory_used_bytes)) == (24564 * MIB, 5 * MIB)
    assert (value(gpu.display_active), value(gpu.compute_mode), value(gpu.mig_enabled)) == (True, "exclusive process", False)
    assert value(gpu.processes) == (GpuProcess(7, "compute", Known(2 * MIB, "NVML running processes")),)


def test_state_of_a_gpu_is_read(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, "0000:01:00.0")
    _, merged = look(tmp_path, fake_nvml("[gpu]\npersistence = 1\nthrottle = 0xc1\nrecovery = 2"))
    (gpu,) = gpus(merged)
    assert (value(gpu.persistence), value(gpu.slowdowns), value(gpu.recovery)) == (True, ("heat", "power brake"), Recovery.REBOOT)


def test_action_that_nvml_has_numbered_since_stays_visible(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, "0000:01:00.0")
    _, merged = look(tmp_path, fake_nvml("[gpu]\nrecovery = 7"))
    wanted = value(gpus(merged)[0].recovery)
    assert (type(wanted), wanted.value, wanted in tuple(Recovery)) == (Recovery, "7", False)


@pytest.mark.parametrize(
    ("told", "state"), [("0", ""), ("1", "not started"), ("2", "in progress"), ("3", "completed"), ("!3", ""), ("!13", "")]
)
def test_registration_with_the_switches_is_read(tmp_path: Path, fake_nvml: FakeNvml, told: str, state: str) -> None:
    pci_gpu(tmp_path, "0000:01:00.0")
    _, merged = look(tmp_path, fake_nvml(f"[gpu]\nfabric = {told}"))
    assert value(gpus(merged)[0].fabric) == state


def test_refusal_to_tell_of_the_switches_is_no_answer(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, "0000:01:00.0")
    _, merged = look(tmp_path, fake_nvml("[gpu]\nfabric = !999"))
    assert isinstance(gpus(merged)[0].fabric, Unknown)


def test_idle_gpu_in_order_is_slowed_by_nothing(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, "0000:01:00.0")
    _, merged = look(tmp_path, fake_nvml("[gpu]\nthrottle = 5"))
    (gpu,) = gpus(merged)
    assert (value(gpu.persistence), value(gpu.slowdowns), value(gpu.recovery)) == (False, (), Recovery.NONE)


def test_old_driver_that_knows_no_recovery_leaves_it_open(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, "0000:01:00.0")
    _, merged = look(tmp_path, fake_nvml("[gpu]\nrecovery = !3"))
    assert isinstance(gpus(merged)[0].recovery, Unknown)


def test_name_and_capability_are_those_of_nvml(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, pci_id="10de:fffe")
    _, merged = look(tmp_path, fake_nvml("[gpu]\nname = NVIDIA RTX Something New\ncapability = 12.1"))
    (gpu,) = gpus(merged)
    assert (value(gpu.name), value(gpu.compute_capability)) == ("NVIDIA RTX Something New", ComputeCapability(12, 1))
    assert "10de:fffe" in reason(gpu.architecture)


def test_facts_go_to_the_gpu_of_their_address(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, "0000:41:00.0", "10de:2b85")
    pci_gpu(tmp_path, "0000:01:00.0")
    _, merged = look(tmp_path, fake_nvml(TWO))
    assert [(value(gpu.pci_address), value(gpu.index)) for gpu in gpus(merged)] == [("0000:01:00.0", 0), ("0000:41:00.0", 1)]


def test_gpu_that_nvml_does_not_list_says_so(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, "0000:01:00.0")
    pci_gpu(tmp_path, "0000:05:00.0", "10de:1b06", driver="nouveau")
    _, merged = look(tmp_path, fake_nvml("[gpu]"))
    assert reason(gpus(merged)[1].index) == "NVML does not list this GPU"
    assert isinstance(gpus(merged)[1].name, Known)


def test_lost_gpu_keeps_its_pci_facts(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path)
    _, merged = look(tmp_path, fake_nvml("[gpu]\nfault = nvmlDevice* 15"))
    (gpu,) = gpus(merged)
    assert "NVML_ERROR_GPU_IS_LOST" in reason(gpu.memory_used_bytes)
    assert ("4090" in str(value(gpu.name)), value(gpu.recovery)) == (True, Recovery.POWER_CYCLE)


def test_gpu_that_the_driver_has_and_did_not_start_waits_for_that(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, "0000:01:00.0")
    pci_gpu(tmp_path, "0000:05:00.0", "10de:1b06")
    pci_gpu(tmp_path, "0000:06:00.0", "10de:1b06", driver="")
    _, merged = look(tmp_path, fake_nvml("[gpu]"))
    wanted = [value(gpu.recovery) if isinstance(gpu.recovery, Known) else "?" for gpu in gpus(merged)]
    assert wanted == [Recovery.NONE, Recovery.START, "?"]


def test_gpu_that_nvml_lists_was_started_whatever_it_does_not_tell(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path)
    for code, recovery in ((15, Recovery.POWER_CYCLE), (16, Recovery.RESET), (999, Recovery.NONE)):
        _, merged = look(tmp_path, fake_nvml(f"[gpu]\nfault = nvmlDeviceGetUUID {code}"))
        assert value(gpus(merged)[0].recovery) == recovery


def test_gpus_of_wsl_come_from_nvml_alone(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    (tmp_path / "sys/bus/pci/devices").mkdir(parents=True)
    _, merged = look(tmp_path, fake_nvml("[gpu]\nprocess = 7 c -"))
    (gpu,) = gpus(merged)
    assert (value(gpu.pci_address), value(gpu.name)) == ("0000:01:00.0", "NVIDIA GeForce RTX 4090")
    assert "Ada" in str(value(gpu.architecture))
    assert "PCI tree" in reason(gpu.kernel_driver)


def test_gpu_of_wsl_that_is_not_in_list_has_its_generation(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    _, merged = look(tmp_path, fake_nvml("[gpu]\npci_id = 10de:fffe\ncapability = 8.9"))
    assert "Ada" in str(value(gpus(merged)[0].architecture))


def test_gpu_that_tells_only_its_name_has_its_generation(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    faults = "fault = nvmlDeviceGetPciInfo* 3\nfault = nvmlDeviceGetCudaComputeCapability 3"
    _, merged = look(tmp_path, fake_nvml(f"[gpu]\n{faults}"))
    assert "Ada" in str(value(gpus(merged)[0].architecture))
    assert "NVML_ERROR_NOT_SUPPORTED" in reason(gpus(merged)[0].pci_address)


def test_library_that_was_loaded_is_the_source(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    reading, _ = look(tmp_path, fake_nvml("[gpu]"))
    assert isinstance(reading.nvml_version, Known)
    assert reading.nvml_version.source.endswith("/libnvidia-ml.so.1")


@given(st.sets(st.integers(1, 255), max_size=6), st.sets(st.integers(1, 255), max_size=6))
def test_no_gpu_of_either_source_is_lost(on_pci: set[int], in_nvml: set[int]) -> None:
    sources = [tuple(Gpu(pci_address=Known(f"0000:{bus:02x}:00.0", "x")) for bus in sorted(buses)) for buses in (on_pci, in_nvml)]
    reading = NvmlReading(SILENT, SILENT, SILENT, SILENT, Known(sources[1], "NVML"))
    merged = nvml.merge(Known(sources[0], "PCI"), reading, KNOWLEDGE)
    assert {value(gpu.pci_address) for gpu in gpus(merged)} == {f"0000:{bus:02x}:00.0" for bus in on_pci | in_nvml}


def test_gpu_that_is_missing_in_pci_tree_is_kept(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, "0000:01:00.0")
    _, merged = look(tmp_path, fake_nvml(TWO))
    assert [value(gpu.index) for gpu in gpus(merged)] == [0, 1]


def test_sleeping_gpu_is_not_woken(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, status="suspended", power_state="D3cold")
    reading, merged = look(tmp_path, fake_nvml("[gpu]"))
    assert fake_nvml.calls() == []
    assert "would wake the GPU at 0000:01:00.0" in reason(reading.status)
    assert "would wake" in reason(gpus(merged)[0].memory_used_bytes)
    assert value(gpus(merged)[0].power_state) is PowerState.ASLEEP


def test_one_sleeper_among_many_is_enough(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, "0000:01:00.0")
    pci_gpu(tmp_path, "0000:02:00.0", status="suspended")
    look(tmp_path, fake_nvml("[gpu]\n[gpu]"))
    assert fake_nvml.calls() == []


@pytest.mark.parametrize("driver", ["nouveau", "vfio-pci", ""])
def test_sleeper_that_nvml_does_not_reach_is_no_reason(tmp_path: Path, fake_nvml: FakeNvml, driver: str) -> None:
    pci_gpu(tmp_path, driver=driver, status="suspended")
    reading, _ = look(tmp_path, fake_nvml("[gpu]"))
    assert value(reading.status) == NvmlStatus(0, "NVML_SUCCESS")


def test_sleeper_is_woken_when_asked(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path, status="suspended")
    world = world_under(tmp_path, processes=RealProcesses(), variables=fake_nvml("[gpu]"))
    reading = nvml.probe(world, pci.probe(world, KNOWLEDGE), wake=True)
    assert len(gpus(reading.gpus)) == 1


@pytest.mark.parametrize(
    ("code", "name"), [(9, "NVML_ERROR_DRIVER_NOT_LOADED"), (18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH"), (999, "NVML_ERROR_UNKNOWN")]
)
def test_refused_start_is_the_status(tmp_path: Path, fake_nvml: FakeNvml, code: int, name: str) -> None:
    pci_gpu(tmp_path)
    reading, merged = look(tmp_path, fake_nvml(f"fault = nvmlInit* {code}"))
    assert value(reading.status) == NvmlStatus(code, name)
    assert name in reason(reading.version)
    assert name in reason(gpus(merged)[0].uuid)


def test_hanging_driver_keeps_what_was_read(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    pci_gpu(tmp_path)
    reading, merged = look(tmp_path, fake_nvml("[gpu]\nfault = nvmlDeviceGetUUID 0 delay=60000"), seconds=2)
    assert value(gpus(merged)[0].name) == "NVIDIA GeForce RTX 4090"
    assert "the driver may hang" in reason(gpus(merged)[0].uuid)
    assert isinstance(reading.version, Known)


@pytest.mark.parametrize("code", [3, 4, 15, 999])
def test_errors_at_every_call_leave_reasons_everywhere(tmp_path: Path, fake_nvml: FakeNvml, code: int) -> None:
    pci_gpu(tmp_path)
    reading, merged = look(tmp_path, fake_nvml(f"fault = nvmlDeviceGet[!CH]* {code}\nfault = nvmlSystem* {code}\n[gpu]"))
    (gpu,) = gpus(merged)
    told = [gpu.uuid, gpu.minor, gpu.memory_total_bytes, gpu.display_active, reading.version, reading.cuda_version]
    assert all(f"({code}, " in reason(fact) for fact in told)


def test_child_that_cannot_start_leaves_pci_facts(tmp_path: Path) -> None:
    pci_gpu(tmp_path)
    world = world_under(tmp_path, processes=ScriptedProcesses())
    found = pci.probe(world, KNOWLEDGE)
    reading = nvml.probe(world, found)
    assert "not found" in reason(reading.status)
    assert "4090" in str(value(gpus(nvml.merge(found, reading, KNOWLEDGE))[0].name))


def test_nothing_known_of_gpus_stays_unknown() -> None:
    nothing = NvmlReading(SILENT, SILENT, SILENT, SILENT, SILENT)
    assert nvml.merge(SILENT, nothing, KNOWLEDGE) is SILENT


def test_unknown_pci_tree_and_no_gpu_stays_unknown() -> None:
    none = NvmlReading(SILENT, SILENT, SILENT, SILENT, Known((), "NVML"))
    assert nvml.merge(SILENT, none, KNOWLEDGE) is SILENT


@pytest.mark.parametrize("code", [4, 17, 18, 999])
def test_driver_that_refuses_under_wsl_leaves_gpus_unknown(tmp_path: Path, fake_nvml: FakeNvml, code: int) -> None:
    (tmp_path / "sys/bus/pci/devices").mkdir(parents=True)
    _, merged = look(tmp_path, fake_nvml(f"fault = nvmlInit* {code}"))
    assert f"({code}, " in reason(merged)


def test_driver_that_hangs_under_wsl_leaves_gpus_unknown(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    (tmp_path / "sys/bus/pci/devices").mkdir(parents=True)
    reading, merged = look(tmp_path, fake_nvml("fault = nvmlInit* 0 delay=60000"), seconds=0.7)
    assert value(reading.fault) == "hang"
    assert "may hang" in reason(merged)


@pytest.mark.parametrize("code", [9, 12])
def test_no_driver_and_no_gpu_is_a_known_absence(tmp_path: Path, fake_nvml: FakeNvml, code: int) -> None:
    (tmp_path / "sys/bus/pci/devices").mkdir(parents=True)
    _, merged = look(tmp_path, fake_nvml(f"fault = nvmlInit* {code}"))
    assert gpus(merged) == ()


def test_driver_that_says_no_number_is_unknown(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    reading, _ = look(tmp_path, fake_nvml("driver = beta\n[gpu]"))
    assert "beta" in reason(reading.version)


def test_mig_gpu_lists_its_devices(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    _, merged = look(tmp_path, fake_nvml("[gpu]\nmig = 1\nmig_device = MIG-1\nmig_device = MIG-2"))
    assert (value(gpus(merged)[0].mig_enabled), value(gpus(merged)[0].mig_uuids)) == (True, ("MIG-1", "MIG-2"))


@pytest.mark.parametrize(
    ("lines", "field", "words"),
    [
        ("used_bytes = 18446744073709551615", "memory_used_bytes", "18446744073709551615 of this GPU's"),
        ("memory_bytes = 18446744073709551615", "memory_total_bytes", "18446744073709551615 bytes of memory"),
        ("memory = 0", "memory_total_bytes", "0 bytes of memory"),
        ("process = 4294967295 c 5", "processes", "a process with the number 4294967295"),
        ("fault = nvmlDeviceGetComputeRunningProcesses* 7 count=0", "processes", "has 0 entries"),
    ],
)
def test_answers_that_cannot_be_are_unknown(tmp_path: Path, fake_nvml: FakeNvml, lines: str, field: str, words: str) -> None:
    _, merged = look(tmp_path, fake_nvml(f"[gpu]\n{lines}\n"))
    assert words in reason(getattr(gpus(merged)[0], field))


def test_capability_that_cannot_be_gives_way_to_the_table(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    reading, merged = look(tmp_path, fake_nvml("[gpu]\ncapability = 99.99\n"))
    assert "[99, 99]" in reason(gpus(reading.gpus)[0].compute_capability)
    assert value(gpus(merged)[0].compute_capability) == ComputeCapability(8, 9)


def test_memory_of_a_process_that_cannot_be_is_unknown(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    _, merged = look(tmp_path, fake_nvml("[gpu]\nprocess = 7 c 17592186044415.5\n"))
    (process,) = value(gpus(merged)[0].processes)
    assert "which cannot be" in reason(process.memory_used_bytes)


def test_absurd_count_of_devices_is_told_at_once(tmp_path: Path, fake_nvml: FakeNvml) -> None:
    reading, _ = look(tmp_path, fake_nvml("count = 4294967295\n[gpu]"))
    assert "4294967295 GPUs, which cannot be" in reason(reading.gpus)
    assert value(reading.fault) == ""


@pytest.mark.parametrize(
    ("scenario", "fault"),
    [
        ("fault = nvmlInit* 0 crash=11\n[gpu]", "SIGSEGV"),
        ("fault = nvmlDeviceGetName 0 crash=6\n[gpu]", "SIGABRT"),
        ("fault = nvmlInit* 18\n[gpu]", ""),
        ("fault = nvmlDeviceGetName 0 hangs=1\n[gpu]", "hang"),
    ],
)
def test_fault_of_the_library_is_a_fact(tmp_path: Path, fake_nvml: FakeNvml, scenario: str, fault: str) -> None:
    reading, _ = look(tmp_path, fake_nvml(scenario), seconds=1 if fault == "hang" else 30)
    assert value(reading.fault) == fault


@pytest.mark.parametrize(
    ("scenario", "problem"),
    [
        ("fault = nvmlInit* 18\n[gpu]", "driver-library-mismatch"),
        ("fault = nvmlInit* 0 hangs=1\n[gpu]", "driver-does-not-answer"),
        ("fault = nvmlInit* 0 crash=11\n[gpu]", "driver-does-not-answer"),
    ],
)
def test_fault_is_found_also_where_the_pci_tree_shows_no_gpu(
    tmp_path: Path, fake_nvml: FakeNvml, scenario: str, problem: str
) -> None:
    (tmp_path / "sys/bus/pci/devices").mkdir(parents=True)
    reading, merged = look(tmp_path, fake_nvml(scenario), seconds=1 if "hangs" in scenario else 30)
    driver = Driver(nvml_status=reading.status, nvml_fault=reading.fault)
    findings = judge(Machine("2026-11-21T09:00:00.000+00:00", gpus=merged, driver=driver), KNOWLEDGE).findings
    assert [one.problem for one in findings] == [problem]
