"""What CUDA programs say of the driver leads to the right problem."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.signatures import driver
from gpuassist.model.machine import Machine
from tests.diagnose.signatures.reading import CODES, parameters, problem, problems
from tests.rows import for_each
from tests.values import Env, Recipe, machine

SIGNATURES = (*driver.SIGNATURES, *CODES)

INSUFFICIENT = "CUDA driver version is insufficient for CUDA runtime version"
FORWARD = "Error 804: forward compatibility was attempted on non supported HW"
NO_DEVICE = "cudaGetDeviceCount returned 100\n-> no CUDA-capable device is detected"
UNKNOWN = "CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable"


def _too_old(found: int) -> str:
    return f"RuntimeError: The NVIDIA driver on your system is too old (found version {found}). Please update your GPU driver"


@pytest.mark.parametrize(
    ("found", "served"),
    [
        (11040, "11.4"),
        (9010, "9.1"),
        (9000, "9.0"),
        (12080, "12.8"),
        (11060, "11.6"),
        (8000, "8.0"),
        (10020, "10.2"),
        (13000, "13.0"),
    ],
)
def test_found_version_is_decoded(found: int, served: str) -> None:
    assert problem(SIGNATURES, _too_old(found)) == "driver-too-old-for-cuda"
    assert parameters(SIGNATURES, _too_old(found))["served"] == served


TORCH = {"torch": "2.5.1+cu124", "python": "/home/you/train/bin/python"}  # the one of these machines


def test_old_driver_names_the_cuda_of_torch() -> None:
    told = parameters(SIGNATURES, _too_old(11040), machine(Recipe(driver="470.82.01", cuda="11.4")))
    assert told == {"served": "11.4", "cuda": "12.4", "driver": "470.82.01", **TORCH}


def test_library_newer_than_the_driver_is_that_of_cuda_compat() -> None:
    assert problem(SIGNATURES, _too_old(12080), machine(Recipe(driver="535.54.03", cuda="12.2"))) == "cuda-compat-conflict"


@for_each(
    ("words", "expected"),
    [
        (f"cudaGetDeviceCount returned 35\n-> {INSUFFICIENT}\n$ nvidia-smi\nbash: nvidia-smi: command not found", "no-driver"),
        (f"RuntimeError: cuda runtime error (35) : {INSUFFICIENT} at torch/csrc/cuda/Module.cpp:51", "driver-too-old-for-cuda"),
        ("cudaErrorInsufficientDriver", "driver-too-old-for-cuda"),
        (f"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n{INSUFFICIENT}", "driver-not-loaded"),
        (f"WSL2: {INSUFFICIENT}", "wsl-driver-or-windows"),
        ("WSL2: libcuda.so.1: cannot open shared object file", "wsl-driver-or-windows"),
        ("ls /usr/lib/wsl/lib\nlibcuda.so.1: cannot open shared object file", "wsl-stub-lib"),
        (FORWARD, "cuda-compat-conflict"),
        ("CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "cuda-compat-conflict"),
        (f"after apt upgrade:\n{FORWARD}", "driver-library-mismatch"),
        (f"# docker image for CUDA 12.4\n{FORWARD}", "cuda-compat-conflict"),
        ("Error 803: system has unsupported display driver / cuda driver combination", "driver-library-mismatch"),
        (
            "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: system has unsupported display driver / cuda driver combination",
            "driver-library-mismatch",
        ),
        (
            "LD_LIBRARY_PATH=/usr/local/cuda-12.4/compat\nError 803: system has unsupported display driver / cuda driver"
            " combination",
            "cuda-compat-conflict",
        ),
        ("RuntimeError: cuda runtime error (802) : system not yet initialized", "fabric-manager-not-running"),
        ("code=802(cudaErrorSystemNotReady)", "fabric-manager-not-running"),
        (NO_DEVICE, "nvidia-smi-no-devices"),
        ("failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected", "nvidia-smi-no-devices"),
        ("cuda runtime error (38) : no CUDA-capable device is detected at /THC/THCGeneral.cpp:51", "nvidia-smi-no-devices"),
        (f"microsoft-standard-WSL2\n{NO_DEVICE}", "wsl-driver-or-windows"),
        (f"# WSL2, numba_cuda/cudadrv/driver.py\n{NO_DEVICE}", "wsl-linux-driver-installed"),
        (f'os.environ["CUDA_VISIBLE_DEVICES"] = "2"\n{NO_DEVICE}', "cuda-visible-devices-bad"),
        (f"docker run --rm app\n{NO_DEVICE}", "container-no-gpu-flag"),
        ("RuntimeError: No CUDA GPUs are available", "cuda-visible-devices-bad"),
        ("Google Colab\nRuntimeError: No CUDA GPUs are available", "no-nvidia-gpu"),
        (UNKNOWN, "uvm-broken-after-suspend"),
        ("ggml_cuda_init: failed to initialize CUDA: unknown error", "uvm-broken-after-suspend"),
        ("numba: [802] Call to cuInit results in UNKNOWN_CUDA_ERROR", "fabric-manager-not-running"),
        ("[999] Call to cuInit results in CUDA_ERROR_UNKNOWN", "uvm-broken-after-suspend"),
        ("failed call to cuInit: UNKNOWN ERROR (303)", "no-driver"),
        ("failed call to cuInit: UNKNOWN ERROR (34)", "ld-library-path-stubs"),
        ("docker run tensorflow\nfailed call to cuInit: UNKNOWN ERROR (34)", "container-no-gpu-flag"),
        ("nvml vram init failure: 999", "uvm-broken-after-suspend"),
        ("cuda driver library init failure: 804", "cuda-compat-conflict"),
        ("cuInit err: 803", "driver-library-mismatch"),
        ("cudaGetDeviceProperties returned 802", "fabric-manager-not-running"),
        ("kernel driver does not appear to be running on this host (abc)", "no-driver"),
        ("Could not find cuda drivers on your machine, GPU will not be used.", "no-driver"),
        ("ProcessGroupNCCL is only supported with GPUs, no GPUs found!", "cuda-visible-devices-bad"),
        ("sudo nvidia-smi -mig 1\nCUDA error: initialization error", "mig-mode"),
        ("MIG devices:\nRuntimeError: No CUDA GPUs are available", "mig-mode"),
        ("nvidia-docker: Error: Could not load UVM kernel module", "uvm-device-missing"),
        ('stat("/dev/nvidia-uvm", 0x7ffc23ea4730) = -1 ENOENT (No such file or directory)', "uvm-device-missing"),
        (f"{UNKNOWN}\n# after suspend", "uvm-broken-after-suspend"),
        (f"ls: cannot access '/dev/nvidia-uvm': No such file or directory\n{UNKNOWN}", "uvm-device-missing"),
        (f"docker run --gpus all app\n{UNKNOWN}", "uvm-device-missing"),
        (f"/dev/nvidia0  /dev/nvidiactl  /dev/nvidia-modeset\n{UNKNOWN}", "uvm-device-missing"),
        (f"DGX with A100\n{UNKNOWN}", "cuda-init-failed-driver-state"),
        ("RuntimeError: cuda runtime error (30) : unknown error at THCGeneral.cpp:50", "uvm-broken-after-suspend"),
        ("THCudaCheck FAIL file=THCGeneral.cpp line=50 error=30 : unknown error", "uvm-broken-after-suspend"),
        ("failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error", "uvm-broken-after-suspend"),
        ("CUDA driver initialization failed, you might not have a CUDA gpu.", "cuda-init-failed-driver-state"),
        ("CUDA error: all CUDA-capable devices are busy or unavailable", "cuda-init-failed-driver-state"),
        ("CUDA error: CUDA-capable device(s) is/are busy or unavailable", "cuda-init-failed-driver-state"),
        ("OSError: libcuda.so.1: cannot open shared object file: No such file or directory", "no-driver"),
        ("Could not load dynamic library 'libcuda.so.1'; dlerror: libcuda.so.1: cannot open shared object file", "no-driver"),
        ("could not open device file /dev/nvidiactl (Permission denied)", "device-permissions"),
        ("NVIDIA: could not open the device file /dev/nvidiactl (Permission denied).", "device-permissions"),
        ("/dev/nvidia0: Permission denied", "device-permissions"),
        ("You do not appear to have an NVIDIA GPU supported by the 535.129.03 NVIDIA Linux graphics driver", "no-nvidia-gpu"),
    ],
)
def test_message_leads_to_its_cause(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "CUDA kernel errors might be asynchronously reported at some other API call",
        "DataLoader: CUDA error: initialization error (multiprocess worker)",
        "export CUDA_VISIBLE_DEVICES=0",
        "your driver is up to date",
        "cuInit returned 0",
        "cudaGetDeviceCount returned 2 devices",
        "found version 11040 of the package",
        "an unknown error happened while reading the file",
        "libcuda.so.1 => /usr/lib/x86_64-linux-gnu/libcuda.so.1",
        "crw-rw-rw- 1 root root 195, 0 /dev/nvidia0",
        "The system is not yet ready",
    ],
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_error_35_without_facts_is_not_sure() -> None:
    assert parameters(SIGNATURES, INSUFFICIENT)["unsure"] == "yes"
    assert problems(SIGNATURES, INSUFFICIENT) == {"driver-too-old-for-cuda", "no-driver"}


def test_error_35_with_a_running_driver_is_an_old_driver() -> None:
    told = parameters(SIGNATURES, INSUFFICIENT, machine(Recipe(driver="470.82.01", cuda="11.4")))
    assert told == {"driver": "470.82.01", "cuda": "12.4", **TORCH}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"driver": ""}, "no-driver"),
        ({"driver": "", "container": "docker"}, "container-no-gpu-flag"),
        ({"driver": "", "wsl": 2}, "wsl-driver-or-windows"),
        ({}, "container-no-gpu-flag"),
        ({"libcuda": ""}, "libcuda-missing"),
        ({"container": "docker"}, "container-no-gpu-flag"),
    ],
)
def test_facts_decide_why_no_driver_is_found(changes: dict[str, str], expected: str) -> None:
    words = "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU"
    assert problem(SIGNATURES, words, machine(Recipe(), **changes)) == expected


def test_gpu_that_is_there_and_not_seen_is_hidden() -> None:
    assert problem(SIGNATURES, NO_DEVICE, machine(Recipe())) == "cuda-visible-devices-bad"


def test_torch_of_several_environments_names_no_cuda() -> None:
    both = (Env("a", "2.5.1+cu124", active=True), Env("b", "2.3.1+cu118", active=True))
    assert "cuda" not in parameters(SIGNATURES, _too_old(11010), machine(Recipe(driver="455.32.00", environments=both)))


def test_empty_machine_changes_nothing() -> None:
    assert problem(SIGNATURES, _too_old(11040), replace(Machine(), note="pasted")) == "driver-too-old-for-cuda"


def test_refused_node_is_named() -> None:
    words = "could not open the device file /dev/nvidia0 (Permission denied)"
    assert parameters(SIGNATURES, words) == {"node": "/dev/nvidia0"}


def test_error_35_of_a_driver_that_serves_the_image_is_not_its_age() -> None:
    words = f"docker run nvidia/cuda:9.0-base\n{INSUFFICIENT}"
    assert problem(SIGNATURES, words, machine(Recipe(driver="550.54.14", environments=()))) == "container-no-gpu-flag"


def test_error_35_of_a_driver_that_is_older_than_the_image_names_both() -> None:
    words = f"docker run --gpus all nvidia/cuda:12.4.1-base\n{INSUFFICIENT}"
    told = parameters(SIGNATURES, words, machine(Recipe(driver="470.82.01", cuda="11.4", environments=())))
    assert told == {"driver": "470.82.01", "cuda": "12.4"}


@for_each(
    ("words", "expected"),
    [
        ("kernel version file /proc/driver/nvidia/version does not exist", "no-driver"),
        ("cudaErrorCompatNotSupportedOnDevice", "cuda-compat-conflict"),
        ("CUDA_ERROR_SYSTEM_NOT_READY", "fabric-manager-not-running"),
        ("CUDA error: system not yet initialized", "fabric-manager-not-running"),
        ("cudaErrorNoDevice", "nvidia-smi-no-devices"),
        ("cudaErrorUnknown", "cuda-init-failed-driver-state"),
        ("cudaGetDeviceCount returned 999\n-> unknown error", "cuda-init-failed-driver-state"),
        ("cudaGetDeviceCount returned 30\n-> unknown error", "cuda-init-failed-driver-state"),
        ("cuda runtime error (3) : initialization error", "cuda-init-failed-driver-state"),
        ("CUDA_ERROR_NOT_INITIALIZED", "cuda-init-failed-driver-state"),
        ("cudaGetDeviceCount returned 3\n-> initialization error", "cuda-init-failed-driver-state"),
        ("libcuda.so.1 library could not be found", "no-driver"),
    ],
)
def test_name_of_an_error_means_what_its_words_mean(words: str, expected: str) -> None:
    assert expected in problems(SIGNATURES, words)


@pytest.mark.parametrize("words", ["CUDA_ERROR_DEVICE_UNAVAILABLE", "cudaErrorDevicesUnavailable"])
def test_busy_card_is_the_same_by_its_name(words: str) -> None:
    told = problems(SIGNATURES, "RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable")
    assert told
    assert problems(SIGNATURES, words) == told


@pytest.mark.parametrize(
    "words",
    [
        "/proc/driver/nvidia/version exists",
        "HTTP returned 999",
        "cudaGetDeviceCount returned 0",
        "the system is not ready yet",
        "libcuda.so.1 library was found",
        "an unknown error of the disk",
        "initialization error of the logger",
    ],
)
def test_neighbour_of_an_error_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
