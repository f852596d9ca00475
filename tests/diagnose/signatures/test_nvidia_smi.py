"""What nvidia-smi and NVML say leads to the right problem."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures import nvidia_smi
from tests.diagnose.signatures.reading import CODES, parameters, problem, problems
from tests.rows import for_each
from tests.values import Recipe, machine

SIGNATURES = (*nvidia_smi.SIGNATURES, *CODES)

NO_CONTACT = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is"
    " installed and running."
)


@pytest.mark.parametrize(
    "words",
    [
        "Failed to initialize NVML: Driver/library version mismatch",
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.124",
        "docker: nvidia-container-cli: initialization error: nvml error: driver/library version mismatch: unknown.",
        "pynvml.NVMLError_LibRmVersionMismatch: RM has detected an NVML/RM version mismatch.",
        "kernel version 470.57.2 does not match DSO version 470.63.1 -- cannot find working devices in this configuration",
        "kernel driver version 470.57.2 does not match DSO version 470.63.1 -- cannot find working devices",
        "Error: API mismatch: the NVIDIA kernel module has version 384.111, but this NVIDIA driver component has version 384.130.",
    ],
)
def test_two_versions_of_the_driver_are_a_mismatch(words: str) -> None:
    assert problem(SIGNATURES, words) == "driver-library-mismatch"


@pytest.mark.parametrize(
    "words",
    [
        "NVRM: API mismatch: the client 'nvidia-smi' (pid 2113) has the version 535.183.01, but this kernel module has the version"
        " 535.171.04.",
        "[  812.1] NVRM: API mismatch: the client 'nvidia-smi' (pid 2113)\n[  812.1] NVRM: has the version 535.183.01, but\n"
        "[  812.1] NVRM: this kernel module has the version 535.171.04.  Please",
        "NVRM: API mismatch: the client has the version 535.183.01, but\n               NVRM: this kernel module has the version"
        " 535.171.04.  Please\n",
        "NVRM: API mismatch: the client 'nvidia-smi' (pid 10204)\nNVRM: has the version 535.183.01, but this kernel module has\n"
        "NVRM: the version 535.171.04.  Please make sure that this",
        "kernel version 535.171.04 does not match DSO version 535.183.01",
        "API mismatch: the NVIDIA kernel module has version 535.171.04,\nbut this NVIDIA driver component has version\n535.183.01.",
    ],
)
def test_mismatch_names_the_loaded_version_and_that_of_the_libraries(words: str) -> None:
    assert parameters(SIGNATURES, words) == {"loaded": "535.171.04", "libraries": "535.183.01"}


def test_loaded_version_of_a_mismatch_is_that_of_the_module() -> None:
    words = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.124"
    told = parameters(SIGNATURES, words, machine(Recipe(driver="570.86.10")))
    assert told == {"loaded": "570.86.10", "libraries": "570.124"}


def test_mismatch_in_wsl_is_a_second_driver() -> None:
    words = "WSL2 Ubuntu\nFailed to initialize NVML: Driver/library version mismatch"
    assert problem(SIGNATURES, words) == "wsl-linux-driver-installed"


@for_each(
    ("words", "expected"),
    [
        (NO_CONTACT, "driver-not-loaded"),
        ("NVIDIA-SMI has failed because it couldn't communicate with NVIDIA driver.", "driver-not-loaded"),
        ("RTX 2080 Ti, 100, 37, 56, 228.82, [Unknown Error]", "gpu-sensor-error"),
        ("| ERR!   42C    P8    N/A /  N/A |", "gpu-sensor-error"),
        ("NVIDIA-SMI has failed because it couldn’t communicate with the NVIDIA driver.", "driver-not-loaded"),
        (f"{NO_CONTACT}\nLinux version 5.10.16.3-microsoft-standard-WSL2", "wsl-driver-or-windows"),
        ("Failed to initialize NVML: Driver Not Loaded", "driver-not-loaded"),
        ("pynvml.nvml.NVMLError_DriverNotLoaded: Driver Not Loaded", "driver-not-loaded"),
        ("wsl: Failed to properly shut down NVML: Driver Not Loaded", "wsl-driver-or-windows"),
        ("bash: nvidia-smi: command not found", "no-driver"),
        ("zsh: command not found: nvidia-smi", "no-driver"),
        ("Command 'nvidia-smi' not found, but can be installed with:\nsudo apt install nvidia-utils-535", "no-driver"),
        ("bash: nvidia-smi: 未找到命令", "no-driver"),
        ("root@abc:/# nvidia-smi\nbash: nvidia-smi: command not found\n(inside the docker container)", "container-no-gpu-flag"),
        ('exec: "nvidia-smi": executable file not found in $PATH: unknown.', "container-no-gpu-flag"),
        ("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", "no-driver"),
        ("pynvml.NVMLError_LibraryNotFound: NVML Shared Library Not Found", "no-driver"),
        ("in docker: NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", "container-no-gpu-flag"),
        ("Failed to initialize NVML: Unknown Error", "container-lost-gpu-after-daemon-reload"),
        ("Failed to initialize NVML: Insufficient Permissions", "device-permissions"),
        ("Failed to initialize NVML: GPU access blocked by the operating system", "wsl-driver-or-windows"),
        ("lxc: Failed to initialize NVML: GPU access blocked by the operating system", "device-permissions"),
        ("$ nvidia-smi\nNo devices were found", "nvidia-smi-no-devices"),
        ("No devices were found\n# RTX 5090, driver 570.144", "open-module-required"),
        ("No devices were found\n# RTX 5090, nvidia-driver-570-open is installed", "nvidia-smi-no-devices"),
        ("Unable to determine the device handle for GPU 0000:02:00.0: Unknown Error", "xid-79-gpu-fell-off-bus"),
        ("Unable to determine the device handle for GPU0: 0000:01:00.0: Unknown Error", "xid-79-gpu-fell-off-bus"),
        ("GPU is lost.  Reboot the system to recover this GPU", "xid-79-gpu-fell-off-bus"),
        ("|ERR!   64C    P2   ERR! / 250W |", "gpu-sensor-error"),
        ("| NVIDIA-SMI 535.129.03   Driver Version: 535.129.03   CUDA Version: N/A      |", "libcuda-missing"),
        ("| NVIDIA-SMI 580.65.06    KMD Version: 580.65.06   CUDA UMD Version: N/A      |", "libcuda-missing"),
        ("  MIG devices:\n  No MIG devices found", "mig-mode"),
        ("CUDA_VISIBLE_DEVICES=MIG-feee0c61-26ec-5616-bb59-b6d777cc4f34 ipython", "mig-mode"),
        ("$ nvidia-smi -L\nNo devices found.", "nvidia-smi-no-devices"),
    ],
)
def test_message_leads_to_its_cause(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "| NVIDIA-SMI 550.54.14    Driver Version: 550.54.14    CUDA Version: 12.4     |",
        "Make sure that NVML is installed before you start the exporter",
        "the driver was not loaded by us",
        "|   0  GeForce RTX 3090    Off  | 00000000:01:00.0  On |                  N/A |",
        "run nvidia-smi to see which processes use the GPU",
        "error! nothing was found",
        "adb: list of devices\nNo devices found.",
    ],
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_tool_that_is_not_in_the_path_of_a_running_driver_proves_nothing() -> None:
    assert problem(SIGNATURES, "bash: nvidia-smi: command not found", machine(Recipe())) == ""


def test_blackwell_card_in_the_machine_needs_the_open_module() -> None:
    assert problem(SIGNATURES, "No devices were found", machine(Recipe(gpus=("10de:2b85",)))) == "open-module-required"


def test_lost_device_in_a_container_is_surer_than_on_a_host() -> None:
    words = "Failed to initialize NVML: Unknown Error\nsudo systemctl daemon-reload was run on the host"
    assert problems(SIGNATURES, words) == {"container-lost-gpu-after-daemon-reload"}
    assert "cuda-init-failed-driver-state" in problems(SIGNATURES, "Failed to initialize NVML: Unknown Error")


INSTANCES = "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6)\n  MIG 1g.5gb     Device  0: (UUID: MIG-c6d4f1ef)\n"


def test_instances_matter_to_who_misses_devices() -> None:
    assert problem(SIGNATURES, f"{INSTANCES}>>> torch.cuda.device_count()\n1") == "mig-mode"


def test_instances_are_no_fault_by_themselves() -> None:
    assert problems(SIGNATURES, INSTANCES) == set()


def test_loaded_open_module_is_not_missing() -> None:
    one = machine(gpus=("10de:2b85",), driver="570.124.06", open_module=True, cuda="12.8")
    assert problem(SIGNATURES, "$ nvidia-smi\nNo devices were found\n# RTX 5090", one) == "nvidia-smi-no-devices"


@for_each(
    ("words", "expected"),
    [
        ("NVML_ERROR_LIB_RM_VERSION_MISMATCH", "driver-library-mismatch"),
        ("SYSTEM_DRIVER_LIBRARY_VERSION_MISMATCH", "driver-library-mismatch"),
        ("could not communicate with NVIDIA driver", "driver-not-loaded"),
        ("NVML_ERROR_DRIVER_NOT_LOADED", "driver-not-loaded"),
        ("fish: Unknown command: nvidia-smi", "no-driver"),
        ("'nvidia-smi' is not recognized as an internal or external command", "no-driver"),
        ('OCI runtime exec failed: exec: \\"nvidia-smi\\": executable file not found in $PATH', "container-no-gpu-flag"),
        ('exec: "nvidia-smi": stat nvidia-smi: no such file', "container-no-gpu-flag"),
        ("pynvml.NVMLError_Unknown: Unknown Error", "container-lost-gpu-after-daemon-reload"),
        ("Failed to initialize NVML: NVML_ERROR_NO_PERMISSION", "device-permissions"),
        ("NVML_ERROR_GPU_IS_LOST", "xid-79-gpu-fell-off-bus"),
        ("pynvml.NVMLError_GpuIsLost: GPU is lost", "xid-79-gpu-fell-off-bus"),
        ("| NVIDIA-SMI 550.90.07    Driver Version: 550.90.07    CUDA Version: ERR!  |", "libcuda-missing"),
        ("| NVIDIA-SMI 590.10       KMD Version: 590.10       CUDA UMD Version: N/A  |", "libcuda-missing"),
    ],
)
def test_message_is_known_in_its_other_wordings(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "the driver and the library have one version",
        "we communicate with the NVIDIA driver",
        "nvidia-smi: 550.90.07",
        'exec: "nvidia-smi -L": done',
        "NVML: Success",
        "npm ERR! code 1",
        "| NVIDIA-SMI 550.90.07    Driver Version: 550.90.07    CUDA Version: 12.4  |",
        "no devices found on the list",
    ],
)
def test_neighbour_of_a_message_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
