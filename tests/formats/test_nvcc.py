"""What real nvccs print, as they printed it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.toolkit import parse_directory, parse_targets, parse_version

HEAD = "nvcc: NVIDIA (R) Cuda compiler driver\n"
RECORDED = {
    "11.2.152": "Copyright (c) 2005-2021 NVIDIA Corporation\nBuilt on Sun_Feb_14_21:12:58_PST_2021\n"
    "Cuda compilation tools, release 11.2, V11.2.152\nBuild cuda_11.2.r11.2/compiler.29618528_0\n",
    "11.8.89": "Copyright (c) 2005-2022 NVIDIA Corporation\nBuilt on Wed_Sep_21_10:33:58_PDT_2022\n"
    "Cuda compilation tools, release 11.8, V11.8.89\nBuild cuda_11.8.r11.8/compiler.31833905_0\n",
    "12.4.131": "Copyright (c) 2005-2024 NVIDIA Corporation\nBuilt on Thu_Mar_28_02:18:24_PDT_2024\n"
    "Cuda compilation tools, release 12.4, V12.4.131\nBuild cuda_12.4.r12.4/compiler.34097967_0\n",
    "13.0.88": "Copyright (c) 2005-2025 NVIDIA Corporation\nBuilt on Wed_Aug_20_01:58:59_PM_PDT_2025\n"
    "Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0/compiler.36424714_0\n",
    "13.5.37": "Copyright (c) 2005-2026 NVIDIA Corporation\nBuilt on Mon_Oct_12_19:25:48_PDT_2026\n"
    "Cuda compilation tools, release 13.5, V13.5.37\nBuild cuda_13.5.r13.5/compiler.39125733_0\n",
}
LISTED_BY_13_0 = """compute_75
compute_80
compute_86
compute_87
compute_88
compute_89
compute_90
compute_100
compute_110
compute_103
compute_120
compute_121
"""
PTXAS = "ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 11.7, V11.7.99\n"


@pytest.mark.parametrize("version", RECORDED)
def test_version_of_each_recorded_nvcc(version: str) -> None:
    assert str(parse_version(HEAD + RECORDED[version])) == version


@pytest.mark.parametrize(
    "words",
    [
        "",
        "junk",
        "release 12.4",
        "Cuda compilation tools, release 12.4, V",
        "Cuda compilation tools, release 1.9, V1." + "9" * 5000,
    ],
)
def test_other_text_has_no_version(words: str) -> None:
    assert parse_version(words) is None


def test_version_stands_behind_warnings_of_a_wrapper() -> None:
    assert str(parse_version("ccache: warming up\n" + HEAD + RECORDED["12.4.131"])) == "12.4.131"


def test_targets_come_in_ascending_order() -> None:
    assert " ".join(map(str, parse_targets(LISTED_BY_13_0))).split()[-5:] == [
        "compute_100",
        "compute_103",
        "compute_110",
        "compute_120",
        "compute_121",
    ]


def test_text_without_targets_lists_none() -> None:
    assert parse_targets("nvcc fatal   : Unknown option '--list-gpu-arch'\n") == ()


def test_directory_is_that_of_the_nvcc_that_ran() -> None:
    told = "#$ _NVVM_BRANCH_=nvvm\n#$ _SPACE_= \n#$ _HERE_=/usr/local/cuda-13.0/bin\n#$ TOP=/usr/local/cuda-13.0/bin/..\n"
    assert parse_directory(told) == "/usr/local/cuda-13.0/bin"


def test_directory_may_hold_spaces() -> None:
    assert parse_directory("#$ _HERE_=/opt/my tools/cuda/bin\n") == "/opt/my tools/cuda/bin"


def test_directory_is_empty_where_nobody_tells() -> None:
    assert parse_directory("nvcc fatal   : No input files specified\n") == ""


@given(st.text(max_size=300))
def test_any_text_is_survived(words: str) -> None:
    assert isinstance(parse_targets(words), tuple)
    parse_version(words)
    parse_directory(words)
