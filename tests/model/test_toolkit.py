"""Which program runs which toolkit's compiler."""

from __future__ import annotations

from gpuassist.model.fact import Known
from gpuassist.model.toolkit import Toolkit

NVCC = "/usr/local/cuda-12.4/bin/nvcc"


def test_own_compiler_runs_it() -> None:
    assert Toolkit("/usr/local/cuda-12.4", nvcc=Known(NVCC, NVCC)).runs_as(NVCC)


def test_wrapper_elsewhere_runs_it() -> None:
    assert Toolkit("/usr/local/cuda-12.4", nvcc=Known(NVCC, NVCC), wrappers=("/usr/bin/nvcc",)).runs_as("/usr/bin/nvcc")


def test_other_program_does_not() -> None:
    assert not Toolkit("/usr/local/cuda-12.4", nvcc=Known(NVCC, NVCC)).runs_as("/usr/local/cuda-12.4.1/bin/nvcc")


def test_unknown_compiler_is_run_by_nothing() -> None:
    assert not Toolkit("/usr/local/cuda-12.4").runs_as(NVCC)
