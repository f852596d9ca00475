"""Properties of devices and the configuration of a build are read wherever they stand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers.oneliners import built_with, properties
from gpuassist.model.environment import Accelerator
from gpuassist.model.fact import NOT_ASKED, value_or
from gpuassist.model.paste import Paste
from gpuassist.model.version import ComputeCapability, Version

OLD = "_CudaDeviceProperties(name='Tesla K80', major=3, minor=7, total_memory=11441MB, multi_processor_count=13)"
NEW = (
    "_CudaDeviceProperties(name='NVIDIA GeForce RTX 5090', major=12, minor=0, total_memory=32109MB, multi_processor_count=170,"
    " uuid=e18afb8d-1627-f8ff-2ba3-c05c5a8e9e67, L2_cache_size=96MB)"
)
CONFIGURATION = """\
PyTorch built with:
  - GCC 9.3
  - C++ Version: 201703
  - CUDA Runtime 12.1
  - NVCC architecture flags: -gencode;arch=compute_50,code=sm_50;-gencode;arch=compute_90,code=sm_90
  - CuDNN 8.9.2
"""


@pytest.mark.parametrize(
    ("words", "name", "capability", "mebibytes"),
    [
        (OLD, "Tesla K80", ComputeCapability(3, 7), 11441),
        (NEW, "NVIDIA GeForce RTX 5090", ComputeCapability(12, 0), 32109),
        (f">>> print(torch.cuda.get_device_properties(0))\n{OLD}", "Tesla K80", ComputeCapability(3, 7), 11441),
        (f"Out[3]: {NEW}", "NVIDIA GeForce RTX 5090", ComputeCapability(12, 0), 32109),
    ],
)
def test_properties_tell_name_capability_and_memory(words: str, name: str, capability: ComputeCapability, mebibytes: int) -> None:
    (gpu,) = properties(Paste(words))

    assert value_or(gpu.name, "") == name
    assert value_or(gpu.compute_capability, None) == capability
    assert value_or(gpu.memory_total_bytes, 0) == mebibytes << 20


def test_properties_in_a_list_are_several_gpus() -> None:
    found = properties(Paste(f"[{OLD}, {NEW}]\n"))

    assert [value_or(gpu.name, "") for gpu in found] == ["Tesla K80", "NVIDIA GeForce RTX 5090"]


def test_same_properties_twice_on_a_line_are_one() -> None:
    assert len(properties(Paste(f"{OLD} {OLD}\n"))) == 1


def test_properties_without_memory_leave_it_open() -> None:
    (gpu,) = properties(Paste("_CudaDeviceProperties(name='Tesla T4', major=7, minor=5\n"))

    assert gpu.memory_total_bytes is NOT_ASKED


def test_cut_properties_are_none() -> None:
    assert properties(Paste("_CudaDeviceProperties(name='Tesla T4', maj\n")) == ()


def test_configuration_tells_its_cuda() -> None:
    torch = built_with(Paste(CONFIGURATION))

    assert torch is not None
    assert value_or(torch.cuda, None) == Version((12, 1))
    assert value_or(torch.accelerator, None) is Accelerator.CUDA
    assert [str(one) for one in value_or(torch.targets, ())] == ["sm_50", "sm_90"]


def test_configuration_without_flags_leaves_targets_open() -> None:
    torch = built_with(Paste(CONFIGURATION.replace("NVCC architecture", "other")))

    assert torch is not None
    assert torch.targets is NOT_ASKED


@pytest.mark.parametrize("words", ["  - NVCC architecture flags: -gencode;arch=compute_50,code=sm_50\n", "CUDA Runtime 12.1\n", ""])
def test_other_text_is_no_configuration(words: str) -> None:
    assert built_with(Paste(words)) is None


@given(st.text(max_size=120))
def test_any_text_is_survived(words: str) -> None:
    paste = Paste(f"_CudaDeviceProperties(name='{words}', major=1, minor=2\n  - CUDA Runtime {words}\n")

    assert isinstance(properties(paste), tuple)
    assert built_with(paste) is None or words[:1].isdigit()
