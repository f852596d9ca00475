"""nvtop's screen, one device or several beside each other, and its snapshot; GPUs of other makers are left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers import nvtop
from gpuassist.model.fact import NOT_ASKED, Known, value_or
from gpuassist.model.gpu import Gpu
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste

GIB = 1 << 30
ONE = """\
 Device 0 [NVIDIA GeForce RTX 3080] PCIe GEN 4@16x RX: 2.930 MiB/s TX: 1.953 MiB/s
 GPU 1785MHz MEM 9251MHz TEMP  59°C FAN  40% POW 102 / 320 W
 GPU[||||||                 12%] MEM[|||||||||||      2.500Gi/10.000Gi]
"""
BESIDE = """\
 Device 0 [NVIDIA GeForce RTX 3060 Laptop GPU] PCIe GEN 1@ 8x RX: 7.812 MiB/s Device 1 [AMD Radeon Graphics]  Integrated GPU RX: N/A
 GPU 210MHz  MEM 405MHz  TEMP  47°C FAN N/A% POW  15 /  80 W                  GPU 400MHz  MEM 1600MHz TEMP  52°C CPU-FAN  POW  10 W
 GPU[           0%] MEM[||||||||||||||||         2.500Gi/6.000Gi] GPU[         0%] MEM[|||||||||||||||||||||||||3.721Gi/4.000Gi]
"""


def gpus(words: str) -> tuple[Gpu, ...]:
    return value_or(nvtop.read(Paste(words)).gpus, ())


def test_device_is_a_gpu_with_its_memory() -> None:
    (gpu,) = gpus(ONE)

    assert gpu.name == Known("NVIDIA GeForce RTX 3080", "pasted nvtop, line 1")
    assert value_or(gpu.index, -1) == 0
    assert (value_or(gpu.memory_used_bytes, 0), value_or(gpu.memory_total_bytes, 0)) == (5 * GIB // 2, 10 * GIB)


def test_bars_beside_each_other_belong_to_their_devices() -> None:
    (gpu,) = gpus(BESIDE)

    assert value_or(gpu.name, "") == "NVIDIA GeForce RTX 3060 Laptop GPU"
    assert value_or(gpu.memory_total_bytes, 0) == 6 * GIB


def test_several_devices_are_several_gpus() -> None:
    found = gpus(ONE + ONE.replace("Device 0", "Device 1"))

    assert [value_or(gpu.index, -1) for gpu in found] == [0, 1]


def test_screen_that_is_drawn_again_is_one() -> None:
    assert len(gpus(ONE + ONE)) == 1


def test_bars_that_are_cut_off_leave_the_memory_open() -> None:
    (gpu,) = gpus(ONE.splitlines()[0])

    assert gpu.memory_total_bytes is NOT_ASKED


def test_mebibytes_are_counted() -> None:
    (gpu,) = gpus(ONE.replace("2.500Gi", "512.000Mi"))

    assert value_or(gpu.memory_used_bytes, 0) == 512 << 20


def test_snapshot_names_its_devices() -> None:
    found = gpus('[\n  {\n    "device_name": "NVIDIA GeForce RTX 4090",\n  },\n  {\n   "device_name": "AMD Radeon"\n  }\n]\n')

    assert [value_or(gpu.name, "") for gpu in found] == ["NVIDIA GeForce RTX 4090"]


@pytest.mark.parametrize("words", [" Device 0 [Intel Arc A770] PCIe GEN 4@16x\n", "Device 0 is busy\n", "cuda device [0]\n", ""])
def test_other_text_names_no_gpu(words: str) -> None:
    assert gpus(words) == ()


@given(st.integers(0, 4))
def test_cut_screen_names_no_other_gpu(end: int) -> None:
    cut = "".join(BESIDE.splitlines(keepends=True)[:end])

    assert {value_or(gpu.name, "") for gpu in gpus(cut)} <= {"NVIDIA GeForce RTX 3060 Laptop GPU"}


@given(st.text(alphabet="Device 0[]GPUM|Gi/.1\n", max_size=200))
def test_any_text_is_survived(words: str) -> None:
    assert isinstance(nvtop.read(Paste(f"Device 0 [T4]\n{words}")), Machine)
