"""The compiler that nvcc calls: too new for it, named by a variable, or not known."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.rules.toolkit import cuda_home_agrees, host_compiler_fits
from gpuassist.diagnose.verdicts import Verdict
from gpuassist.model.fact import Known, Unknown
from gpuassist.model.finding import Finding, Passed
from gpuassist.model.machine import Machine
from gpuassist.model.text import text
from tests.values import knowledge, machine, without

NEW_GCC: dict[str, Any] = {"gcc": ("15.1.0",)}


def _compiler(one: Machine) -> list[Verdict]:
    return list(host_compiler_fits(RuleInput(one, knowledge())))


def _ids(verdicts: list[Verdict]) -> list[str]:
    return ["passed" if isinstance(one, Passed) else one.problem for one in verdicts]


@pytest.mark.parametrize(
    ("recipe", "told"),
    [
        ({"gcc": ("13.3.0",)}, ["passed"]),
        (NEW_GCC, ["nvcc-host-gcc-too-new"]),
        ({**NEW_GCC, "nvcc": ""}, []),
        ({"gcc": ()}, []),
    ],
)
def test_gcc_is_held_against_the_limit_of_nvcc(recipe: dict[str, Any], told: list[str]) -> None:
    assert _ids(_compiler(machine(**recipe))) == told


@pytest.mark.parametrize("name", ["NVCC_CCBIN", "CUDAHOSTCXX", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"])
def test_variable_that_names_a_compiler_takes_gccs_place(name: str) -> None:
    assert _compiler(machine(**NEW_GCC, variables={name: "/usr/bin/g++-12"})) == []


@pytest.mark.parametrize("name", ["CC", "CXX", "CUDACXX"])
def test_variable_that_nvcc_does_not_read_changes_nothing(name: str) -> None:
    assert _ids(_compiler(machine(**NEW_GCC, variables={name: "/usr/bin/g++-12"}))) == ["nvcc-host-gcc-too-new"]


def test_empty_variable_names_no_compiler() -> None:
    assert _ids(_compiler(machine(**NEW_GCC, variables={"NVCC_CCBIN": ""}))) == ["nvcc-host-gcc-too-new"]


def test_c_library_that_clashes_as_well_is_told() -> None:
    finding = _compiler(machine(gcc=("15.1.0",), toolkits=("12.9.86",), nvcc="12.9", glibc="2.41"))[0]
    assert isinstance(finding, Finding)
    assert (finding.parameter("gcc"), finding.parameter("clash")) == ("15.1.0", "yes")


def test_unread_compilers_are_no_finding() -> None:
    verdicts = _compiler(without(machine(), ["compilers"]))
    assert not any(isinstance(one, (Finding, Passed)) for one in verdicts)
    assert _ids(verdicts) == ["nvcc-host-gcc-too-new"]


def test_compiler_of_unread_version_is_no_finding() -> None:
    one = machine()
    assert isinstance(one.compilers, Known)
    gcc = replace(one.compilers.value[0], version=Unknown(text("it printed nothing")))
    verdicts = _compiler(replace(one, compilers=Known((gcc,), "/usr/bin")))
    assert not any(isinstance(verdict, (Finding, Passed)) for verdict in verdicts)


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({}, []),
        ({"CUDA_HOME": "/usr/local/cuda-12.4"}, ["passed"]),
        ({"CUDA_HOME": "/usr/local/cuda-11.7/"}, ["cuda-home-disagrees"]),
        ({"CUDA_PATH": "/nowhere"}, ["cuda-home-disagrees"]),
        ({"CUDA_HOME": "/usr/local/cuda-12.4", "CUDA_PATH": "/nowhere"}, ["passed"]),
    ],
)
def test_cuda_home_wins_over_cuda_path(variables: dict[str, str], told: list[str]) -> None:
    one = machine(toolkits=("11.7.99", "12.4.131"), variables=variables)
    assert _ids(list(cuda_home_agrees(RuleInput(one, knowledge())))) == told
