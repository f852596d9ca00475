"""The NVML child: a real process, the real binding, the scripted library."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gpuassist.model.fact import Known
from gpuassist.system import child, nvml_probe, nvml_report
from gpuassist.system.nvml_probe import Report
from gpuassist.system.processes import Ending, ProcessResult
from gpuassist.system.world import RealProcesses
from tests.facts import reason, value
from tests.fakes import ScriptedProcesses, TimeThatRunsOut
from tests.nvml_fixture import FakeNvml

MIB = 1 << 20


def report(variables: dict[str, str], *, seconds: float = 30) -> Report:
    return nvml_probe.report(RealProcesses(), variables, seconds)


def scripted(outcome: ProcessResult | str) -> Report:
    return nvml_probe.report(ScriptedProcesses({" ".join(nvml_probe.command()): outcome}), {}, 5)


def test_system_facts_come_with_their_question(fake_nvml: FakeNvml) -> None:
    found = report(fake_nvml("driver = 580.95.05\ncuda = 13.0\n[gpu]"))
    assert found.started == Known(0, "NVML nvmlInit")
    assert found.fact("nvmlSystemGetDriverVersion") == Known("580.95.05", "NVML nvmlSystemGetDriverVersion")
    assert found.fact("nvmlSystemGetCudaDriverVersion_v2") == Known(13000, "NVML nvmlSystemGetCudaDriverVersion_v2")


def test_every_question_is_answered_for_every_gpu(fake_nvml: FakeNvml) -> None:
    found = report(fake_nvml("[gpu]\n" * 8))
    questions = (*nvml_report.PLAIN, nvml_report.PCI, nvml_report.MEMORY, nvml_report.MIG_MODE, nvml_report.PROCESSES)
    assert all(isinstance(found.fact(question, gpu), Known) for question in questions for gpu in range(8))


def test_device_facts_are_the_devices_own(fake_nvml: FakeNvml) -> None:
    found = report(fake_nvml("[gpu]\nname = A\n[gpu]\nname = B\npci_id = 10de:2b85\nprocess = 7 c 3\nused = 9"))
    assert found.fact("nvmlDeviceGetName", 1) == Known("B", "NVML nvmlDeviceGetName")
    assert value(found.fact(nvml_report.PCI, 1)) == {"address": "00000000:02:00.0", "id": "10de:2b85"}
    assert value(found.fact(nvml_report.MEMORY, 1)) == {"total": 24564 * MIB, "used": 9 * MIB, "free": (24564 - 9 - 349) * MIB}
    assert value(found.fact(nvml_report.PROCESSES, 1)) == [[7, "compute", 3 * MIB]]


def test_mig_devices_are_listed_by_uuid(fake_nvml: FakeNvml) -> None:
    found = report(fake_nvml("[gpu]\nmig = 1\nmig_device = MIG-1\nmig_device = MIG-2"))
    assert value(found.fact(nvml_report.MIG_DEVICES, 0)) == ["MIG-1", "MIG-2"]


@pytest.mark.parametrize("mode", ["mig = -", "mig = 0"])
def test_gpu_without_mig_has_it_off(fake_nvml: FakeNvml, mode: str) -> None:
    found = report(fake_nvml(f"[gpu]\n{mode}"))
    assert value(found.fact(nvml_report.MIG_MODE, 0)) is False
    assert value(found.fact(nvml_report.MIG_DEVICES, 0)) == []


def test_refused_mig_mode_leaves_devices_unknown(fake_nvml: FakeNvml) -> None:
    found = report(fake_nvml("[gpu]\nfault = nvmlDeviceGetMigMode 4"))
    assert "NVML_ERROR_NO_PERMISSION" in reason(found.fact(nvml_report.MIG_DEVICES, 0))


def test_driver_of_2020_answers_what_it_can(fake_nvml: FakeNvml) -> None:
    found = report(fake_nvml("driver = 390.157\n[gpu]\nused = 100\nprocess = 7 c 3", old=True))
    assert value(found.fact(nvml_report.MEMORY, 0)) == {"total": 24564 * MIB, "used": 449 * MIB, "free": (24564 - 449) * MIB}
    assert value(found.fact(nvml_report.PROCESSES, 0)) == [[7, "compute", 3 * MIB]]


def test_mismatch_is_told_with_library_version(fake_nvml: FakeNvml) -> None:
    found = report(fake_nvml("nvml = 12.550.90.07\nfault = nvmlInit* 18"))
    assert found.started == Known(18, "NVML nvmlInit")
    assert found.fact(nvml_report.LIBRARY_VERSION) == Known("12.550.90.07", f"NVML {nvml_report.LIBRARY_VERSION}")
    assert "NVML_ERROR_LIB_RM_VERSION_MISMATCH (18" in reason(found.fact(nvml_report.COUNT))


def test_missing_library_is_code_12(tmp_path: Path) -> None:
    (tmp_path / "libnvidia-ml.so.1").write_bytes(b"no library")
    assert report({"LD_LIBRARY_PATH": str(tmp_path)}).started == Known(12, "NVML nvmlInit")


@pytest.mark.parametrize("code", [1, 4, 9, 15, 17, 999])
def test_error_at_every_call_is_told_everywhere(fake_nvml: FakeNvml, code: int) -> None:
    found = report(fake_nvml(f"fault = nvmlDevice* {code} after=0\nfault = nvmlSystem* {code}\n[gpu]\n[gpu]"))
    assert found.started == Known(0, "NVML nvmlInit")
    assert f"({code}, " in reason(found.fact(nvml_report.COUNT))
    assert f"({code}, " in reason(found.fact(nvml_report.LIBRARY_VERSION))


def test_every_single_refusal_loses_itself_alone(fake_nvml: FakeNvml) -> None:
    for question in (*nvml_report.PLAIN, nvml_report.PCI):
        found = report(fake_nvml(f"[gpu]\nfault = {question}* 15"))
        others = {*nvml_report.PLAIN, nvml_report.PCI, nvml_report.MEMORY} - {question}
        assert "NVML_ERROR_GPU_IS_LOST" in reason(found.fact(question, 0))
        assert all(isinstance(found.fact(other, 0), Known) for other in others)


def test_lost_gpu_does_not_hide_the_other(fake_nvml: FakeNvml) -> None:
    found = report(fake_nvml("[gpu]\nfault = nvmlDevice* 15\n[gpu]"))
    assert "NVML_ERROR_GPU_IS_LOST" in reason(found.fact("nvmlDeviceGetName", 0))
    assert isinstance(found.fact("nvmlDeviceGetName", 1), Known)


def test_hanging_call_keeps_what_came_before(fake_nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = "[gpu]\nfault = nvmlDeviceGetMemoryInfo* 0 delay=600000\n[gpu]"
    variables = fake_nvml(scenario)

    def both_are_as_far_as_they_come() -> bool:
        asked = [one.function for one in fake_nvml.calls()]
        memory = sum("MemoryInfo" in one for one in asked)  # the first GPU hangs in it, and had told its name before
        return memory >= 2 and any("FieldValues" in one for one in asked)  # of the second GPU they are asked for last

    monkeypatch.setattr(child, "time", TimeThatRunsOut(both_are_as_far_as_they_come))
    found = report(variables, seconds=600)
    assert isinstance(found.fact("nvmlDeviceGetName", 0), Known)
    assert isinstance(found.fact(nvml_report.PROCESSES, 1), Known)
    assert "within 600 s" in reason(found.fact(nvml_report.MEMORY, 0))


def test_hanging_start_is_told_as_such(fake_nvml: FakeNvml) -> None:
    found = report(fake_nvml("fault = nvmlInit* 0 delay=60000"), seconds=1)
    assert "within 1 s" in reason(found.started)


def test_name_that_is_no_utf8_is_refused(fake_nvml: FakeNvml) -> None:
    variables = fake_nvml("[gpu]")
    Path(variables["FAKE_NVML"]).write_bytes(b"[gpu]\nname = \xff\xfe\n")
    found = report(variables)
    assert "NVML_ERROR_UNKNOWN" in reason(found.fact("nvmlDeviceGetName", 0))
    assert isinstance(found.fact("nvmlDeviceGetUUID", 0), Known)


def test_library_that_prints_does_not_spoil_the_report() -> None:
    line = '{"gpu": null, "fact": "nvmlInit", "value": 0}'
    found = scripted(f'NVIDIA says hello\n[1, 2]\n{line}\n{{"gpu": 0, "fa')
    assert found.started == Known(0, "NVML nvmlInit")


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (ProcessResult(Ending.KILLED, 11, b"", b"", 0.1), "signal 11"),
        (ProcessResult(Ending.NOT_FOUND, 0, b"", b"", 0.0, "no such program"), "no such program"),
        (ProcessResult(Ending.EXITED, 1, b"", b"Traceback\nModuleNotFoundError: x\n", 0.1), "ModuleNotFoundError: x"),
        (ProcessResult(Ending.EXITED, 3, b"", b"", 0.1), "failed (3)"),
        (ProcessResult(Ending.EXITED, 0, b"", b"", 0.1), "it was not asked"),
    ],
)
def test_child_that_failed_is_the_reason(outcome: ProcessResult, words: str) -> None:
    assert words in reason(scripted(outcome).started)


def test_frozen_program_starts_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert nvml_probe.command() == (sys.executable, "--nvml-report")


def test_child_does_not_look_into_users_directory(tmp_path: Path, fake_nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    found = report({**fake_nvml("[gpu]"), "PYTHONPATH": str(tmp_path)})
    assert found.started == Known(0, "NVML nvmlInit")


def test_child_runs_from_a_directory_that_is_gone(tmp_path: Path, fake_nvml: FakeNvml, monkeypatch: pytest.MonkeyPatch) -> None:
    variables = fake_nvml("[gpu]")
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert report(variables).started == Known(0, "NVML nvmlInit")


def test_report_asks_from_its_own_process_alone(fake_nvml: FakeNvml) -> None:
    report(fake_nvml("[gpu]"))
    assert os.getpid() not in {call.thread for call in fake_nvml.calls()}


def test_report_shuts_nvml_down(fake_nvml: FakeNvml) -> None:
    report(fake_nvml("[gpu]"))
    assert fake_nvml.calls()[-1].function == "nvmlShutdown"
