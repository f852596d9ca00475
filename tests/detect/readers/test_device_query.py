"""What deviceQuery prints of each device, whole or cut, and what looks like it and is not."""

from __future__ import annotations

import pytest

from gpuassist.detect.readers import device_query
from gpuassist.model.fact import NOT_ASKED, Known, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import ComputeCapability, Version

TEXT = """\
./deviceQuery Starting...

 CUDA Device Query (Runtime API) version (CUDART static linking)

Detected 2 CUDA Capable device(s)

Device 0: "NVIDIA GeForce RTX 2070"
  CUDA Driver Version / Runtime Version          12.2 / 12.1
  CUDA Capability Major/Minor version number:    7.5
  Total amount of global memory:                 7974 MBytes (8361213952 bytes)

Device 1: "Tesla K80"
  CUDA Driver Version / Runtime Version          12.2 / 12.1
  CUDA Capability Major/Minor version number:    3.7

Result = PASS
"""


def told(words: str) -> Machine:
    return device_query.read(Paste(words))


def test_each_device_is_a_gpu() -> None:
    first, second = value_or(told(TEXT).gpus, ())

    assert first.name == Known("NVIDIA GeForce RTX 2070", "pasted deviceQuery, line 7")
    assert value_or(first.compute_capability, None) == ComputeCapability(7, 5)
    assert value_or(first.memory_total_bytes, 0) == 7974 << 20
    assert value_or(second.compute_capability, None) == ComputeCapability(3, 7)
    assert second.memory_total_bytes is NOT_ASKED


def test_served_cuda_is_the_driver_s() -> None:
    assert value_or(told(TEXT).driver.cuda_version, None) == Version.parse("12.2")


def test_number_of_a_device_is_not_kept() -> None:
    assert [gpu.index for gpu in value_or(told(TEXT).gpus, ())] == [NOT_ASKED, NOT_ASKED]


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Device 0 is busy",
        "Device manager: started",
        "  CUDA Capability Major/Minor version number:    7.5",
        "cudaGetDeviceCount returned 35\n-> CUDA driver version is insufficient for CUDA runtime version",
    ],
)
def test_other_text_tells_nothing(words: str) -> None:
    assert told(words) == Machine()
