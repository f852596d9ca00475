"""The NVML port against the scripted library, through the real binding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gpuassist.system import nvml
from gpuassist.system.nvml import Listed, Memory, Nvml, Refusal, ask
from tests.nvml_fixture import FakeNvml

Load = Callable[..., FakeNvml]
MIB = 1 << 20


@pytest.fixture
def opened(load_nvml: Load) -> Callable[..., tuple[Nvml, Any]]:
    """Opens NVML on a scenario and gives it with the handle of its first device."""

    def open_on(scenario: str, *, old: bool = False) -> tuple[Nvml, Any]:
        load_nvml(scenario, old=old)
        port = Nvml()
        assert port.open() is None
        handles = port.handles()
        assert not isinstance(handles, Refusal)
        return port, handles[0]

    return open_on


def test_every_code_of_header_is_named() -> None:
    import pynvml

    codes = {value: name for name, value in vars(pynvml).items() if name.startswith("NVML_ERROR_")}
    assert {code: nvml.refusal(code, "").name for code in codes} == codes


def test_code_that_nobody_named_keeps_its_number() -> None:
    assert nvml.refusal(4711, "").name == "NVML_ERROR_4711"


@pytest.mark.parametrize(
    ("code", "name"),
    [(9, "NVML_ERROR_DRIVER_NOT_LOADED"), (18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH"), (12, "NVML_ERROR_LIBRARY_NOT_FOUND")],
)
def test_refused_start_carries_code_and_name(load_nvml: Load, code: int, name: str) -> None:
    load_nvml(f"fault = nvmlInit* {code}")
    refused = Nvml().open()
    assert refused is not None
    assert (refused.code, refused.name) == (code, name)


def test_library_version_is_told_despite_mismatch(load_nvml: Load) -> None:
    load_nvml("driver = 550.54.14\nnvml = 12.550.90.07\nfault = nvmlInit* 18")
    Nvml().open()
    assert ask("nvmlSystemGetNVMLVersion") == "12.550.90.07"


def test_text_that_binding_leaves_as_bytes_is_decoded() -> None:
    import pynvml

    pynvml.answer_in_bytes = lambda: b"580.95"
    try:
        assert ask("answer_in_bytes") == "580.95"
    finally:
        del pynvml.answer_in_bytes


def test_function_that_binding_lacks_is_refused() -> None:
    refused = ask("nvmlOfTheFuture")
    assert (refused.code, refused.name) == (13, "NVML_ERROR_FUNCTION_NOT_FOUND")


def test_mismatch_that_is_no_nvml_error_is_refused(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    _port, handle = opened("[gpu]", old=True)
    assert ask("nvmlDeviceGetComputeRunningProcesses", handle).code == 13


def test_wrong_arguments_are_refused_not_raised() -> None:
    assert ask("nvmlDeviceGetHandleByIndex", "first").code == 999


def test_error_that_says_success_is_no_data(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    import pynvml

    def answer() -> None:
        raise pynvml.NVMLError(0)

    pynvml.answer_success = answer
    try:
        assert ask("answer_success").name == "NVML_ERROR_NO_DATA"
    finally:
        del pynvml.answer_success


def test_memory_leaves_out_what_is_reserved(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    port, handle = opened("[gpu]\nmemory = 1000\nused = 100\nreserved = 50")
    assert port.memory(handle) == Memory(1000 * MIB, 100 * MIB, 850 * MIB)


def test_old_driver_counts_reserved_memory_as_used(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    port, handle = opened("[gpu]\nmemory = 1000\nused = 100\nreserved = 50", old=True)
    assert port.memory(handle) == Memory(1000 * MIB, 150 * MIB, 850 * MIB)


def test_memory_of_lost_gpu_is_refused(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    port, handle = opened("[gpu]\nfault = nvmlDeviceGetMemory* 15")
    assert port.memory(handle) == Refusal(15, "NVML_ERROR_GPU_IS_LOST", "GPU is lost")


def test_old_layout_is_not_asked_for_twice(opened: Callable[..., tuple[Nvml, Any]], fake_nvml: FakeNvml) -> None:
    port, handle = opened("[gpu]\nfault = nvmlDeviceGetMemoryInfo_v2 25")
    for _ in range(3):
        port.memory(handle)
    assert [call.function for call in fake_nvml.calls()].count("nvmlDeviceGetMemoryInfo_v2") == 1


def test_process_in_two_lists_is_counted_once(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    port, handle = opened("[gpu]\nprocess = 7 c 512\nprocess = 7 g 512\nprocess = 8 m 64")
    assert port.processes(handle) == (
        Listed(7, "compute+graphics", 512 * MIB),
        Listed(8, "mps", 64 * MIB),
    )


def test_process_in_two_mig_instances_has_the_sum(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    port, handle = opened("[gpu]\nmig = 1\nprocess = 7 c 512 instance=1\nprocess = 7 c 256 instance=2")
    assert port.processes(handle) == (Listed(7, "compute", 768 * MIB),)


def test_process_memory_told_by_one_list_is_known(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    port, handle = opened("[gpu]\nprocess = 7 c -\nprocess = 7 g 64")
    assert port.processes(handle) == (Listed(7, "compute+graphics", 64 * MIB),)


def test_process_memory_not_told_is_unknown(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    port, handle = opened("[gpu]\nprocess = 7 c -")
    assert port.processes(handle) == (Listed(7, "compute", None),)


@pytest.mark.parametrize("old", [False, True])
def test_thousand_processes_are_all_read(opened: Callable[..., tuple[Nvml, Any]], old: bool) -> None:
    lines = "\n".join(f"process = {5000 + number} c 20" for number in range(1000))
    port, handle = opened(f"[gpu]\n{lines}", old=old)
    processes = port.processes(handle)
    assert [process.pid for process in processes] == list(range(5000, 6000))  # type: ignore[union-attr]


def test_odd_layout_of_driver_535_is_read_right(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    port, handle = opened("driver = 535.54.03\nwide_processes = 1\n[gpu]\nprocess = 7 c 1\nprocess = 8 c 2\nprocess = 9 c 3")
    processes = port.processes(handle)
    assert [process.pid for process in processes] == [7, 8, 9]  # type: ignore[union-attr]


def test_refused_compute_list_refuses_processes(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    port, handle = opened("[gpu]\nfault = nvmlDeviceGetComputeRunningProcesses* 4\nprocess = 7 g 1")
    assert getattr(port.processes(handle), "name", "") == "NVML_ERROR_NO_PERMISSION"


def test_missing_graphics_list_is_passed_over(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    port, handle = opened("[gpu]\nfault = nvmlDeviceGetGraphicsRunningProcesses* 3\nprocess = 7 c 1")
    assert len(port.processes(handle)) == 1  # type: ignore[arg-type]


def test_lost_graphics_list_refuses_processes(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    port, handle = opened("[gpu]\nfault = nvmlDeviceGetGraphicsRunningProcesses* 15\nprocess = 7 c 1")
    assert isinstance(port.processes(handle), Refusal)


def test_device_that_gives_no_handle_does_not_hide_others(load_nvml: Load) -> None:
    load_nvml("[gpu]\nfault = nvmlDeviceGetHandleByIndex* 15\n[gpu]")
    port = Nvml()
    port.open()
    handles = port.handles()
    assert isinstance(handles, tuple)
    assert [isinstance(handle, Refusal) for handle in handles] == [True, False]


def test_refused_count_refuses_handles(load_nvml: Load) -> None:
    load_nvml("fault = nvmlDeviceGetCount* 999\n[gpu]")
    port = Nvml()
    port.open()
    assert isinstance(port.handles(), Refusal)


def test_one_sample_takes_at_most_eight_calls(opened: Callable[..., tuple[Nvml, Any]], fake_nvml: FakeNvml) -> None:
    port, handle = opened("[gpu]\nprocess = 7 c 1\nprocess = 8 g 1")
    before = len(fake_nvml.calls())
    port.memory(handle)
    port.processes(handle)
    for function in ("nvmlDeviceGetUtilizationRates", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetCurrentClocksEventReasons"):
        ask(function, handle)
    ask("nvmlDeviceGetTemperature", handle, 0)
    assert len(fake_nvml.calls()) - before <= 8


def test_close_shuts_the_library_down(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    port, _handle = opened("[gpu]")
    port.close()
    assert ask("nvmlDeviceGetCount").name == "NVML_ERROR_UNINITIALIZED"


@pytest.mark.parametrize("count", [0, 3, 256])
def test_list_that_does_not_fit_and_wants_no_more_room_is_refused(opened: Callable[..., tuple[Nvml, Any]], count: int) -> None:
    port, handle = opened(f"[gpu]\nfault = nvmlDeviceGetComputeRunningProcesses* 7 count={count}")
    assert port.processes(handle) == nvml.nonsense("processes", count)


@pytest.mark.parametrize("code", [0, 7])
def test_list_of_absurd_length_costs_no_memory(opened: Callable[..., tuple[Nvml, Any]], code: int) -> None:
    port, handle = opened(f"[gpu]\nfault = nvmlDeviceGetComputeRunningProcesses* {code} count=4294967295")
    assert port.processes(handle) == nvml.nonsense("processes", 4294967295)


def test_list_that_always_grows_is_not_asked_for_ever(opened: Callable[..., tuple[Nvml, Any]], fake_nvml: FakeNvml) -> None:
    growing = "\n".join(
        f"fault = nvmlDeviceGetComputeRunningProcesses* 7 after={turn} every=1000 count={count}"
        for turn, count in enumerate((300, 1000, 3000, 9000, 20000, 45000, 65000, 65000, 65000))
    )
    port, handle = opened(f"[gpu]\n{growing}")
    assert isinstance(port.processes(handle), Refusal)
    assert [call.function for call in fake_nvml.calls()].count("nvmlDeviceGetComputeRunningProcesses_v3") <= 8


def test_process_number_that_cannot_be_refuses_the_list(opened: Callable[..., tuple[Nvml, Any]]) -> None:
    port, handle = opened("[gpu]\nprocess = 7 c 1\nprocess = 4294967295 c 1")
    assert port.processes(handle) == nvml.nonsense("process number", 4294967295)


@pytest.mark.parametrize("count", [129, 4294967295])
def test_absurd_count_of_devices_gives_no_handles(load_nvml: Load, fake_nvml: FakeNvml, count: int) -> None:
    load_nvml(f"count = {count}\n[gpu]")
    port = Nvml()
    port.open()
    assert port.handles() == nvml.nonsense("devices", count)
    assert not [call for call in fake_nvml.calls() if "Handle" in call.function]
