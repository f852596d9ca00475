"""The scripted NVML does what its scenario says; what else is tested on it rests on that."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gpuassist.system.nvml import Nvml, Refusal, ask
from tests.nvml_fixture import FakeNvml

Load = Callable[..., FakeNvml]


def first(load_nvml: Load, scenario: str) -> object:
    load_nvml(scenario)
    Nvml().open()
    return ask("nvmlDeviceGetHandleByIndex", 0)


def codes(handle: object, count: int) -> list[int]:
    answers = [ask("nvmlDeviceGetPowerUsage", handle) for _ in range(count)]
    return [answer.code if isinstance(answer, Refusal) else 0 for answer in answers]


def test_every_device_has_defaults_of_its_own(load_nvml: Load) -> None:
    load_nvml("[gpu]\n[gpu]")
    Nvml().open()
    handles = [ask("nvmlDeviceGetHandleByIndex", index) for index in range(2)]
    assert ask("nvmlDeviceGetUUID", handles[0]) != ask("nvmlDeviceGetUUID", handles[1])
    assert [ask("nvmlDeviceGetMinorNumber", handle) for handle in handles] == [0, 1]


def test_swinging_number_stays_between_its_ends(load_nvml: Load) -> None:
    handle = first(load_nvml, "[gpu]\ntemperature = 30..90/0.05")
    seen = {ask("nvmlDeviceGetTemperature", handle, 0) for _ in range(2000)}
    assert len(seen) > 3
    assert min(seen) >= 30
    assert max(seen) <= 90


def test_fault_begins_after_so_many_calls(load_nvml: Load) -> None:
    handle = first(load_nvml, "[gpu]\nfault = nvmlDeviceGetPowerUsage 15 after=2")
    assert codes(handle, 4) == [0, 0, 15, 15]


def test_fault_comes_every_so_many_calls(load_nvml: Load) -> None:
    handle = first(load_nvml, "[gpu]\nfault = nvmlDeviceGetPowerUsage 999 every=3")
    assert codes(handle, 6) == [999, 0, 0, 999, 0, 0]


def test_fault_waits_for_its_second(load_nvml: Load) -> None:
    handle = first(load_nvml, "[gpu]\nfault = nvmlDeviceGetPowerUsage 15 from=3600\nfault = nvmlDeviceGetPowerUsage 4 until=0")
    assert codes(handle, 1) == [0]


def test_value_may_be_a_code(load_nvml: Load) -> None:
    assert codes(first(load_nvml, "[gpu]\npower = !4"), 1) == [4]


def test_fault_of_one_device_spares_the_other(load_nvml: Load) -> None:
    load_nvml("[gpu]\nfault = nvmlDevice* 15\n[gpu]")
    Nvml().open()
    handles = [ask("nvmlDeviceGetHandleByIndex", index) for index in range(2)]
    assert [isinstance(handle, Refusal) for handle in handles] == [True, False]


def test_process_of_later_is_not_there_yet(load_nvml: Load) -> None:
    handle = first(load_nvml, "[gpu]\nprocess = 7 c 1 from=3600\nprocess = 8 c 1 until=0")
    assert Nvml().processes(handle) == ()


def test_comment_and_blank_line_are_passed_over(load_nvml: Load) -> None:
    handle = first(load_nvml, "# a = b\n\n[gpu]  # the only one\nname = A B  # its name\n")
    assert ask("nvmlDeviceGetName", handle) == "A B"


@pytest.mark.parametrize("old", [False, True])
def test_old_library_lacks_what_is_new(fake_nvml: FakeNvml, old: bool) -> None:
    code = "import ctypes; print(hasattr(ctypes.CDLL('libnvidia-ml.so.1'), 'nvmlDeviceGetMemoryInfo_v2'))"
    done = subprocess.run([sys.executable, "-c", code], env=fake_nvml("[gpu]", old=old), capture_output=True, text=True, check=True)
    assert done.stdout == f"{not old}\n"


def test_calls_are_logged_with_thread_and_result(load_nvml: Load, fake_nvml: FakeNvml) -> None:
    codes(first(load_nvml, "[gpu]\npower = !4\nfault = nvmlDeviceGetPowerUsage 15"), 1)
    last = fake_nvml.calls()[-1]
    assert (last.function, last.gpu, last.code) == ("nvmlDeviceGetPowerUsage", 0, 15)
    assert last.thread > 0


def test_library_is_not_left_in_the_process() -> None:
    assert "fake_nvml" not in Path("/proc/self/maps").read_text()
