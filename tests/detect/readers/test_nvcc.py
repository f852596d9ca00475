"""nvcc --version, --list-gpu-arch and --list-gpu-code."""

from __future__ import annotations

import pytest

from gpuassist.model.fact import NOT_ASKED
from gpuassist.model.toolkit import Toolkit
from tests.detect.readers.pasted import machine
from tests.facts import value

OF_8 = """
    nvcc: NVIDIA (R) Cuda compiler driver
    Copyright (c) 2005-2016 NVIDIA Corporation
    Built on Tue_Jan_10_13:22:03_CST_2017
    Cuda compilation tools, release 8.0, V8.0.61
"""
OF_12 = """
    $ /usr/local/cuda-12.4/bin/nvcc --version
    nvcc: NVIDIA (R) Cuda compiler driver
    Copyright (c) 2005-2024 NVIDIA Corporation
    Built on Thu_Mar_28_02:18:24_PDT_2024
    Cuda compilation tools, release 12.4, V12.4.131
    Build cuda_12.4.r12.4/compiler.34097967_0
"""
ARCHITECTURES = "$ nvcc --list-gpu-arch\ncompute_75\ncompute_80\ncompute_90\ncompute_110\ncompute_103\n"


def toolkits(words: str) -> tuple[Toolkit, ...]:
    return value(machine(words).toolkits)


@pytest.mark.parametrize(
    ("words", "version"),
    [
        (OF_8, "8.0.61"),
        (OF_12, "12.4.131"),
        ("Cuda compilation tools, release 13.1, V13.1.80", "13.1.80"),
        ("Cuda compilation tools, release 5.5", "5.5"),
        ("# Cuda compilation tools, release 11.8, V11.8.89", "11.8.89"),
    ],
)
def test_version_is_read(words: str, version: str) -> None:
    (toolkit,) = toolkits(words)
    assert (str(value(toolkit.version)), str(value(toolkit.nvcc_version))) == (version, version)


def test_directory_is_that_of_the_command() -> None:
    assert [one.root for one in toolkits(OF_12)] == ["/usr/local/cuda-12.4"]


def test_directory_is_open_where_nvcc_was_found_on_path() -> None:
    assert [one.root for one in toolkits("$ nvcc --version\n" + OF_8)] == [""]


def test_two_versions_are_two_toolkits() -> None:
    assert [str(value(one.version)) for one in toolkits(OF_8 + OF_12)] == ["8.0.61", "12.4.131"]


def test_one_version_twice_is_one_toolkit() -> None:
    assert len(toolkits(OF_8 + OF_8)) == 1


def test_listed_architectures_are_in_ascending_order() -> None:
    (toolkit,) = toolkits(ARCHITECTURES)
    assert [str(one) for one in value(toolkit.targets)] == ["compute_75", "compute_80", "compute_90", "compute_103", "compute_110"]


def test_listed_codes_are_the_same_architectures() -> None:
    (toolkit,) = toolkits(ARCHITECTURES.replace("compute_", "sm_").replace("arch", "code"))
    assert [str(one) for one in value(toolkit.targets)][:2] == ["compute_75", "compute_80"]


def test_version_and_list_are_of_one_toolkit() -> None:
    (toolkit,) = toolkits(OF_12 + ARCHITECTURES)
    assert (toolkit.root, len(value(toolkit.targets))) == ("/usr/local/cuda-12.4", 5)


def test_list_beside_two_versions_is_of_neither() -> None:
    assert [one.targets for one in toolkits(OF_8 + OF_12 + ARCHITECTURES)] == [NOT_ASKED, NOT_ASKED]


def test_list_tells_the_directory_of_its_command() -> None:
    assert [one.root for one in toolkits(ARCHITECTURES.replace("$ nvcc", "$ /opt/cuda/bin/nvcc"))] == ["/opt/cuda"]


@pytest.mark.parametrize(
    "words",
    [
        "nvcc fatal   : Unsupported gpu architecture 'compute_70'",
        "compute_80\n\nsm_90",
        "nvcc: command not found",
        "-gencode arch=compute_80,code=sm_80\n-gencode arch=compute_86,code=sm_86\n-gencode arch=compute_90,code=sm_90",
        "Cuda compilation tools are missing, release the lock",
    ],
)
def test_other_texts_name_no_toolkit(words: str) -> None:
    assert machine(words).toolkits == NOT_ASKED
