"""The tables of nvidia-smi, of every generation."""

from __future__ import annotations

import pytest

from gpuassist.model.fact import NOT_ASKED, Unknown, value_or
from gpuassist.model.gpu import GpuProcess
from gpuassist.model.version import ComputeCapability
from tests.detect.readers.pasted import MIB, driver, gpus, machine, names
from tests.facts import value

OF_340 = """
    +------------------------------------------------------+
    | NVIDIA-SMI 340.29     Driver Version: 340.29         |
    |-------------------------------+----------------------+----------------------+
    | GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
    | Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
    |===============================+======================+======================|
    |   0  Tesla K40m          Off  | 0000:02:00.0     Off |                    0 |
    | N/A   37C    P0    63W / 235W |     22MiB / 11519MiB |      0%   E. Process |
    +-------------------------------+----------------------+----------------------+
    |   1  GeForce GTX 970     Off  | 0000:03:00.0     N/A |                  N/A |
    |  0%   41C    P8    N/A /  N/A |     12MiB /  4095MiB |     N/A      Default |
    +-------------------------------+----------------------+----------------------+

    +-----------------------------------------------------------------------------+
    | Compute processes:                                               GPU Memory |
    |  GPU       PID  Process name                                     Usage      |
    |=============================================================================|
    |    0      2138  /usr/bin/trainer                                     1000MiB |
    |    1            Not Supported                                               |
    +-----------------------------------------------------------------------------+
"""
OF_285 = """
    +------------------------------------------------------+
    | NVIDIA-SMI 2.285.05   Driver Version: 285.05.33      |
    |-------------------------------+----------------------+----------------------+
    | Nb.  Name                     | Bus Id        Disp.  | Volatile ECC SB / DB |
    | Fan   Temp   Power Usage /Cap | Memory Usage         | GPU Util. Compute M. |
    |===============================+======================+======================|
    | 0.  Tesla C2075               | 0000:02:00.0  Off    |         0          0 |
    |  30%   60 C  P0    N/A /  N/A |   1%   79MB / 5375MB |    0%     Default    |
    |-------------------------------+----------------------+----------------------|
"""
OF_418 = """
    +-----------------------------------------------------------------------------+
    | NVIDIA-SMI 418.87.01    Driver Version: 418.87.01    CUDA Version: 10.1     |
    |-------------------------------+----------------------+----------------------+
    | GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
    | Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
    |===============================+======================+======================|
    |   0  GeForce RTX 208...  Off  | 00000000:0A:00.0  On |                  N/A |
    | 41%   71C    P2   230W / 250W |  10781MiB / 10989MiB |     98%      Default |
    +-------------------------------+----------------------+----------------------+

    +-----------------------------------------------------------------------------+
    | Processes:                                                       GPU Memory |
    |  GPU       PID   Type   Process name                             Usage      |
    |=============================================================================|
    |    0      1190      G   /usr/lib/xorg/Xorg                            64MiB |
    |    0     22018      C   python3 train.py --lr 0.1                  10705MiB |
    +-----------------------------------------------------------------------------+
"""
OF_535 = """
    +---------------------------------------------------------------------------------------+
    | NVIDIA-SMI 535.183.01             Driver Version: 535.183.01   CUDA Version: 12.2     |
    |-----------------------------------------+----------------------+----------------------+
    | GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
    | Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |
    |                                         |                      |               MIG M. |
    |=========================================+======================+======================|
    |   0  NVIDIA A100-SXM4-40GB          On  | 00000000:17:00.0 Off |                   On |
    | N/A   34C    P0              43W / 400W |     87MiB / 40960MiB |     N/A      Default |
    |                                         |                      |              Enabled |
    +-----------------------------------------+----------------------+----------------------+
    |   1  NVIDIA RTX 6000 Ada Gene...    Off | 00000000:65:00.0 Off |                  Off |
    | 30%   40C    P8              24W / 300W |      3MiB / 49140MiB |      0%   Prohibited |
    |                                         |                      |                  N/A |
    +-----------------------------------------+----------------------+----------------------+

    +---------------------------------------------------------------------------------------+
    | MIG devices:                                                                          |
    +------------------+--------------------------------+-----------+-----------------------+
    | GPU  GI  CI  MIG |                   Memory-Usage |        Vol|      Shared           |
    |      ID  ID  Dev |                     BAR1-Usage | SM     Unc| CE ENC DEC OFA JPG    |
    |==================+================================+===========+=======================|
    |  0    3   0   0  |              37MiB / 19968MiB  | 28      0 |  2   0    1    0    0 |
    |                  |               0MiB / 32767MiB  |           |                       |
    +------------------+--------------------------------+-----------+-----------------------+

    +---------------------------------------------------------------------------------------+
    | Processes:                                                                            |
    |  GPU   GI   CI        PID   Type   Process name                            GPU Memory |
    |        ID   ID                                                             Usage      |
    |=======================================================================================|
    |    0    3    0      41210      C   /opt/conda/bin/python                     19000MiB |
    +---------------------------------------------------------------------------------------+
"""
OF_610 = """
    Sun Jun  7 08:16:57 2026
    +-----------------------------------------------------------------------------------------+
    | NVIDIA-SMI 610.43.02              KMD Version: 610.43.02     CUDA UMD Version: 13.3     |
    +-----------------------------------------+------------------------+----------------------+
    | GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
    | Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
    |                                         |                        |               MIG M. |
    |=========================================+========================+======================|
    |   0  NVIDIA GeForce RTX 5090        Off |   00000000:01:00.0 Off |                  N/A |
    |  0%   31C    P8             12W /  575W |       2MiB /  32607MiB |      0%      Default |
    |                                         |                        |                  N/A |
    +-----------------------------------------+------------------------+----------------------+

    +-----------------------------------------------------------------------------------------+
    | Processes:                                                                              |
    |  GPU   GI   CI              PID   Type   Process name                        GPU Memory |
    |        ID   ID                                                               Usage      |
    |=========================================================================================|
    |  No running processes found                                                             |
    +-----------------------------------------------------------------------------------------+
"""
UNDER_WINDOWS = """
    +-----------------------------------------------------------------------------+
    | NVIDIA-SMI 460.15       Driver Version: 460.15       CUDA Version: 11.1     |
    |-------------------------------+----------------------+----------------------+
    | GPU  Name            TCC/WDDM | Bus-Id        Disp.A | Volatile Uncorr. ECC |
    |===============================+======================+======================|
    |   0  GeForce RTX 207... WDDM  | 00000000:01:00.0 Off |                  N/A |
    | N/A   45C    P5    12W /  N/A |    176MiB /  8192MiB |      0%      Default |
    +-------------------------------+----------------------+----------------------+
    | Processes:                                                                  |
    |    0   N/A  N/A      1752    C+G   Insufficient Permissions        N/A      |
    +-----------------------------------------------------------------------------+
"""
UNDER_WSL = """
    | NVIDIA-SMI 545.46                 Driver Version: 546.80       CUDA Version: ERR!     |
    |   0  NVIDIA GeForce RTX 3060 ...    On  | 00000000:01:00.0  On |                  N/A |
    | N/A   54C    P8              16W /  80W |    816MiB /  6144MiB |      3%      Default |
"""
EVERY = (OF_285, OF_340, OF_418, OF_535, OF_610, UNDER_WINDOWS, UNDER_WSL)


@pytest.mark.parametrize(
    ("table", "version", "cuda"),
    [
        (OF_285, "285.05.33", ""),
        (OF_340, "340.29", ""),
        (OF_418, "418.87.01", "10.1"),
        (OF_535, "535.183.01", "12.2"),
        (OF_610, "610.43.02", "13.3"),
        (UNDER_WINDOWS, "460.15", "11.1"),
        (UNDER_WSL, "546.80", ""),
    ],
)
def test_driver_and_its_cuda_are_read(table: str, version: str, cuda: str) -> None:
    found = machine(table).driver
    assert (str(value_or(found.version, "")), str(value_or(found.cuda_version, ""))) == (version, cuda)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (OF_285, ["Tesla C2075"]),
        (OF_340, ["Tesla K40m", "GeForce GTX 970"]),
        (OF_418, ["GeForce RTX 208..."]),
        (OF_535, ["NVIDIA A100-SXM4-40GB", "NVIDIA RTX 6000 Ada Gene..."]),
        (OF_610, ["NVIDIA GeForce RTX 5090"]),
        (UNDER_WINDOWS, ["GeForce RTX 207..."]),
        (UNDER_WSL, ["NVIDIA GeForce RTX 3060 ..."]),
    ],
)
def test_every_gpu_is_read(table: str, expected: list[str]) -> None:
    assert names(table) == expected


@pytest.mark.parametrize(
    ("table", "place", "used", "total"),
    [(OF_285, 0, 79, 5375), (OF_340, 1, 12, 4095), (OF_418, 0, 10781, 10989), (OF_535, 0, 87, 40960), (OF_610, 0, 2, 32607)],
)
def test_memory_is_that_of_the_gpu_itself(table: str, place: int, used: int, total: int) -> None:
    gpu = gpus(table)[place]
    assert (value(gpu.memory_used_bytes), value(gpu.memory_total_bytes)) == (used * MIB, total * MIB)


@pytest.mark.parametrize(
    ("table", "place", "capability"), [(OF_418, 0, (7, 5)), (OF_535, 1, (8, 9)), (OF_610, 0, (12, 0)), (UNDER_WSL, 0, (8, 6))]
)
def test_a_cut_name_still_tells_the_capability(table: str, place: int, capability: tuple[int, int]) -> None:
    assert value(gpus(table)[place].compute_capability) == ComputeCapability(*capability)


def test_address_is_written_as_the_system_does() -> None:
    assert value(gpus(OF_418)[0].pci_address) == "0000:0a:00.0"


def test_index_display_and_mode_are_read() -> None:
    first, second = gpus(OF_340)
    assert (value(first.index), value(second.index)) == (0, 1)
    assert (value(first.display_active), second.display_active) == (False, NOT_ASKED)
    assert (value(first.compute_mode), value(second.compute_mode)) == ("exclusive process", "default")


def test_mig_mode_is_read_where_the_gpu_has_it() -> None:
    first, second = gpus(OF_535)
    assert value(first.mig_enabled)
    assert second.mig_enabled == NOT_ASKED


def test_processes_belong_to_their_gpu() -> None:
    first, second = gpus(OF_535)
    assert [(one.pid, one.kind, value(one.memory_used_bytes)) for one in value(first.processes)] == [
        (41210, "compute", 19000 * MIB)
    ]
    assert value(second.processes) == ()


def test_processes_without_instance_columns_are_read() -> None:
    told = value(gpus(OF_418)[0].processes)
    assert [(one.pid, one.kind) for one in told] == [(1190, "graphics"), (22018, "compute")]


def test_processes_without_a_type_are_read() -> None:
    assert [one.pid for one in value(gpus(OF_340)[0].processes)] == [2138]


def test_memory_that_windows_does_not_tell_is_unknown() -> None:
    assert value(gpus(UNDER_WINDOWS)[0].processes) == (GpuProcess(1752, "compute+graphics"),)


def test_no_running_process_is_a_known_absence() -> None:
    assert value(gpus(OF_610)[0].processes) == ()


def test_a_table_without_processes_says_nothing_of_them() -> None:
    assert gpus(OF_285)[0].processes == NOT_ASKED


def test_a_list_of_processes_that_is_cut_is_not_complete() -> None:
    first, second = gpus(OF_535[: OF_535.rindex("19000MiB |") + 10])
    assert len(value(first.processes)) == 1
    assert second.processes == NOT_ASKED


def test_program_and_driver_of_two_versions_are_wsl() -> None:
    assert value(machine(UNDER_WSL).host.wsl) == 2


@pytest.mark.parametrize("table", [OF_285, OF_340, OF_418, OF_535, OF_610, UNDER_WINDOWS])
def test_program_and_driver_of_one_version_say_nothing_of_wsl(table: str) -> None:
    assert machine(table).host.wsl == NOT_ASKED


def test_a_table_shows_that_nvml_answers() -> None:
    assert value(machine(OF_418).driver.nvml_status).code == 0


def test_cuda_version_not_available_means_no_libcuda() -> None:
    told = machine("| NVIDIA-SMI 550.54.14      Driver Version: 550.54.14      CUDA Version: N/A      |").driver
    assert value(told.libcuda) == ()
    assert told.cuda_version == NOT_ASKED


def test_cuda_version_in_error_says_nothing_of_libcuda() -> None:
    assert machine(UNDER_WSL).driver.libcuda == NOT_ASKED


def test_marked_words_of_a_heading_are_read() -> None:
    told = machine("| NVIDIA-SMI 450.36.06    Driver Version: 450.36.06    **CUDA Version: N/A**      |").driver
    assert (value(told.libcuda), str(value(told.version))) == ((), "450.36.06")


@pytest.mark.parametrize(
    "words",
    [
        "nvidia-smi:NVIDIA-SMI 450.51.05    Driver Version: 450.51.05    CUDA Version: 11.0",
        "my card: Driver Version: 450.51.05    CUDA Version: 11.0\nnvcc -V: 10.2",
        "Driver Version: 450.51.05   |   CUDA Version: 11.0 |",
    ],
)
def test_heading_in_prose_is_read(words: str) -> None:
    told = machine(words)
    assert (str(value(told.driver.version)), str(value(told.driver.cuda_version))) == ("450.51.05", "11.0")
    assert told.host.wsl == NOT_ASKED


def test_gpu_of_a_jetson_has_no_address() -> None:
    told = machine("""
        | NVIDIA-SMI 540.4.0                Driver Version: 540.4.0      CUDA Version: 12.6     |
        |   0  Orin (nvgpu)                  N/A  | N/A              N/A |                  N/A |
        | N/A   N/A  N/A               N/A /  N/A | Not Supported        |     N/A          N/A |
    """)
    (gpu,) = value(told.gpus)
    assert (value(gpu.name), gpu.pci_address, value(told.host.jetson)) == ("Orin", NOT_ASKED, True)


def test_the_last_of_two_tables_counts() -> None:
    earlier = OF_418.replace("418.87.01", "410.48")
    assert driver(earlier + OF_418) == "418.87.01"


def test_a_table_in_one_line_is_read() -> None:
    words = " ".join(OF_535.split())
    assert names(words) == ["NVIDIA A100-SXM4-40GB", "NVIDIA RTX 6000 Ada Gene..."]
    assert value(gpus(words)[0].memory_total_bytes) == 40960 * MIB


def test_a_table_broken_at_eighty_columns_is_read() -> None:
    broken = "\n".join(piece for line in OF_610.splitlines() for piece in (line.strip()[:80], line.strip()[80:]) if piece)
    assert names(broken) == ["NVIDIA GeForce RTX 5090"]
    assert value(gpus(broken)[0].memory_total_bytes) == 32607 * MIB


def test_a_quoted_table_is_read() -> None:
    quoted = "\n".join("> " + line.strip() for line in OF_535.splitlines())
    assert names(quoted) == names(OF_535)


def test_a_gpu_in_error_has_no_name_and_no_memory() -> None:
    row = "|   1  ERR!                    ERR! | 00000000:03:00.0 ERR! |                 ERR! |\n| ERR!  ERR! ERR!  | ERR! |"
    gpu = gpus("| NVIDIA-SMI 470.57.02    Driver Version: 470.57.02    CUDA Version: 11.4     |\n" + row)[0]
    assert (gpu.name, gpu.memory_total_bytes, value(gpu.index)) == (NOT_ASKED, NOT_ASKED, 1)


def test_sensors_in_error_leave_the_rest() -> None:
    table = OF_418.replace("41%   71C    P2   230W / 250W", "ERR!  ERR! ERR!   ERR! / 250W")
    assert value(gpus(table)[0].memory_used_bytes) == 10781 * MIB


def test_rows_without_a_heading_are_read() -> None:
    rows = OF_535[OF_535.index("|   0  NVIDIA A100") : OF_535.index("| MIG devices")]
    assert names(rows) == ["NVIDIA A100-SXM4-40GB", "NVIDIA RTX 6000 Ada Gene..."]
    assert driver(rows) == ""


def test_a_fact_says_its_line() -> None:
    told = machine(OF_610).driver.version
    assert not isinstance(told, Unknown)
    assert told.source == "pasted nvidia-smi, line 3"


@pytest.mark.parametrize(
    "words",
    [
        "Driver Version: 550.54 is what I need for CUDA",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        "No devices were found",
        "| 0 | apples | 12MiB / 40MiB |",
        "My driver version: see below",
        "step 100 | 512MiB / 1024MiB | loss 0.1",
    ],
)
def test_other_texts_name_no_gpu_and_no_driver(words: str) -> None:
    assert names(words) == []
    assert driver(words) == ""
