"""nvidia-smi -q, -L, --version, --query-gpu, and its refusals."""

from __future__ import annotations

import pytest

from gpuassist.model.fact import NOT_ASKED, value_or
from gpuassist.model.version import ComputeCapability
from tests.detect.readers.pasted import MIB, driver, gpus, machine, names
from tests.facts import value

QUERY = """
    ==============NVSMI LOG==============

    Timestamp                                              : Tue Mar  4 10:11:12 2025
    Driver Version                                         : 550.127.05
    CUDA Version                                           : 12.4

    Attached GPUs                                          : 2
    GPU 00000000:3B:00.0
        Product Name                                       : NVIDIA A100-PCIE-40GB
        Display Active                                     : Disabled
        MIG Mode
            Current                                        : Enabled
            Pending                                        : Enabled
        GPU UUID                                           : GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77
        Minor Number                                       : 0
        PCI
            Bus                                            : 0x3B
            Device Id                                      : 0x20F110DE
        FB Memory Usage
            Total                                          : 40960 MiB
            Reserved                                       : 600 MiB
            Used                                           : 87 MiB
        BAR1 Memory Usage
            Total                                          : 65536 MiB
            Used                                           : 1 MiB
        Compute Mode                                       : Exclusive_Process
    GPU 00000000:AF:00.0
        Product Name                                       : NVIDIA A100-PCIE-40GB
        FB Memory Usage
            Total                                          : 40960 MiB
            Used                                           : N/A
        Compute Mode                                       : Default
"""
QUERY_610 = """
    ==============NVSMI LOG==============
    Driver Version                                         : [Deprecated; will be removed in CUDA 14.0. Use KMD Version instead]
    KMD Version                                            : 610.43.02
    CUDA Version                                      : [Deprecated; will be removed in CUDA 14.0. Use CUDA UMD Version instead]
    CUDA UMD Version                                       : 13.3
    Attached GPUs                                          : 1
    GPU 00000000:01:00.0
        Product Name                                       : NVIDIA GeForce RTX 5090
"""
LISTED = """
    GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)
      MIG 1g.5gb      Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)
      MIG 3g.20gb     Device  1: (UUID: MIG-GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77/1/0)
    GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-a230e637-c9e1-1b61-3830-a437b874d88d)
"""


def test_query_tells_driver_and_cuda() -> None:
    told = machine(QUERY).driver
    assert (str(value(told.version)), str(value(told.cuda_version)), value(told.nvml_status).code) == ("550.127.05", "12.4", 0)


def test_query_of_610_tells_them_under_their_new_names() -> None:
    told = machine(QUERY_610).driver
    assert (str(value(told.version)), str(value(told.cuda_version))) == ("610.43.02", "13.3")


def test_query_tells_every_gpu() -> None:
    assert names(QUERY) == ["NVIDIA A100-PCIE-40GB"] * 2
    assert [value(gpu.pci_address) for gpu in gpus(QUERY)] == ["0000:3b:00.0", "0000:af:00.0"]


def test_query_tells_the_pci_id_uuid_and_minor() -> None:
    gpu = gpus(QUERY)[0]
    assert (value(gpu.pci_id), value(gpu.minor)) == ("10de:20f1", 0)
    assert value(gpu.uuid) == "GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77"


def test_memory_is_that_of_the_frame_buffer() -> None:
    first, second = gpus(QUERY)
    assert (value(first.memory_total_bytes), value(first.memory_used_bytes)) == (40960 * MIB, 87 * MIB)
    assert (value(second.memory_total_bytes), second.memory_used_bytes) == (40960 * MIB, NOT_ASKED)


def test_modes_of_query_are_read() -> None:
    first, second = gpus(QUERY)
    assert (value(first.compute_mode), value(second.compute_mode)) == ("exclusive process", "default")
    assert (value(first.mig_enabled), second.mig_enabled, value(first.display_active)) == (True, NOT_ASKED, False)


def test_processes_of_query_are_read() -> None:
    words = QUERY.replace(
        "    GPU 00000000:AF",
        """    Processes
            GPU instance ID                                : N/A
            Process ID                                     : 2936
                Type                                       : C
                Name                                       : python3
                Used GPU Memory                            : 300 MiB
            Process ID                                     : 2964
                Type                                       : C+G
                Used GPU Memory                            : Not available in WDDM driver model
    GPU 00000000:AF""",
    )
    first, second = gpus(words)
    assert [(one.pid, one.kind) for one in value(first.processes)] == [(2936, "compute"), (2964, "compute+graphics")]
    assert [value_or(one.memory_used_bytes, None) for one in value(first.processes)] == [300 * MIB, None]
    assert second.processes == NOT_ASKED


def test_no_process_of_query_is_a_known_absence() -> None:
    assert value(gpus(QUERY_610 + "        Processes                             : None\n")[0].processes) == ()


def test_query_that_lost_its_indentation_is_read() -> None:
    words = "\n".join(" ".join(line.split()) for line in QUERY.splitlines())
    assert value(gpus(words)[0].memory_used_bytes) == 87 * MIB


def test_query_that_starts_below_the_address_is_read() -> None:
    words = QUERY[QUERY.index("    Product Name") : QUERY.index("    GPU 00000000:AF")]
    (gpu,) = gpus(words)
    assert (gpu.pci_address, value(gpu.name)) == (NOT_ASKED, "NVIDIA A100-PCIE-40GB")


def test_version_option_tells_the_driver() -> None:
    words = """
        NVIDIA-SMI version  : 550.54.15
        NVML version        : 550.54
        DRIVER version      : 550.54.15
        CUDA Version        : 12.4
    """
    assert (driver(words), str(value(machine(words).driver.cuda_version))) == ("550.54.15", "12.4")


def test_list_tells_gpus_with_their_uuids() -> None:
    first, second = gpus(LISTED)
    assert (value(first.index), value(second.index)) == (0, 1)
    assert value(second.uuid) == "GPU-a230e637-c9e1-1b61-3830-a437b874d88d"


def test_mig_devices_belong_to_the_gpu_above_them() -> None:
    first, second = gpus(LISTED)
    assert value(first.mig_uuids) == (
        "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f",
        "MIG-GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77/1/0",
    )
    assert (value(first.mig_enabled), second.mig_enabled) == (True, NOT_ASKED)


def test_gpus_listed_in_one_line_are_read() -> None:
    assert names(" ".join(LISTED.replace("MIG", "mig").split())) == ["NVIDIA A100-SXM4-40GB"] * 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("GPU 0: Tesla C2075 (S/N: 0324711033698)", ["Tesla C2075"]),
        ("GPU 0: NVIDIA L4 (UUID: GPU-xxxxxxxx-xxxx)", ["NVIDIA L4"]),
        ("GPU 0: NVIDIA A100-PCIE-40GB\nGPU 0: NVIDIA A100-PCIE-40GB", ["NVIDIA A100-PCIE-40GB"]),
        ("GPU 0: out of memory", []),
        ("GPU 0: 13.45 GiB used", []),
        ("[rank0]: GPU 1: Loading (shard 3 of 8)", []),
    ],
)
def test_list_without_uuids_is_told_from_other_lines(words: str, expected: list[str]) -> None:
    assert names(words) == expected


def test_selected_columns_are_read_by_their_heading() -> None:
    words = """
        index, name, driver_version, memory.total [MiB], memory.used [MiB], compute_cap
        0, NVIDIA H100 80GB HBM3, 550.54.15, 81559 MiB, 12 MiB, 9.0
        1, NVIDIA H100 80GB HBM3, 550.54.15, 81559 MiB, [N/A], 9.0
        $ echo done
    """
    first, second = gpus(words)
    assert (driver(words), value(first.memory_used_bytes), second.memory_used_bytes) == ("550.54.15", 12 * MIB, NOT_ASKED)
    assert value(second.compute_capability) == ComputeCapability(9, 0)


def test_selected_columns_are_read_by_the_command() -> None:
    words = """
        $ nvidia-smi --query-gpu=name,memory.total --format=csv,noheader,nounits
        Tesla V100-SXM2-16GB, 16160
    """
    (gpu,) = gpus(words)
    assert (value(gpu.name), value(gpu.memory_total_bytes)) == ("Tesla V100-SXM2-16GB", 16160 * MIB)


def test_single_column_is_read() -> None:
    assert driver("$ nvidia-smi --query-gpu=driver_version --format=csv,noheader\n535.183.01") == "535.183.01"
    assert names("nvidia-smi --query-gpu=name --format=csv\nname\nNVIDIA RTX A4000\nNVIDIA L4") == ["NVIDIA RTX A4000", "NVIDIA L4"]


@pytest.mark.parametrize(
    "words",
    ["name, price, colour\nchair, 40, red", "name\nAlice\nBob, Carol", "name, uuid\nAlice, 12", "name, index\n0, 1\n\nA, B"],
)
def test_other_lists_name_no_gpu(words: str) -> None:
    assert (driver(words), names(words)) == ("", [])


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("Failed to initialize NVML: Driver/library version mismatch", 18),
        ("Failed to initialize NVML: Insufficient Permissions", 4),
        ("Failed to initialize NVML: Unknown Error", 999),
        ("Failed to initialize NVML: GPU is lost", 15),
        ("Failed to initialize NVML: Something new", None),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", None),
        ("No devices were found", None),
    ],
)
def test_refusals_of_nvml_are_read(words: str, code: int | None) -> None:
    status = value_or(machine(words).driver.nvml_status, None)
    assert (status.code if status else None) == code


def test_refusal_stands_before_a_table_that_worked() -> None:
    table = "| NVIDIA-SMI 550.54.14      Driver Version: 550.54.14      CUDA Version: 12.4      |\n"
    assert value(machine(table + "Failed to initialize NVML: Driver/library version mismatch").driver.nvml_status).code == 18


def test_library_names_its_version_beside_the_mismatch() -> None:
    words = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.124"
    assert value(machine(words).driver.nvml_version) == "570.124"
