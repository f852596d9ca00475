"""The packages around a torch that a pasted list names, and the rules over them."""

from __future__ import annotations

import pytest

from gpuassist.detect.readers.packages import read
from gpuassist.diagnose.judge import judge
from gpuassist.model.environment import Package
from gpuassist.model.fact import Fact, Known
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from tests.values import knowledge

LIST = "$ pip list\nPackage            Version\n------------------ -------\ntorch              2.5.1+cu124\n"


def _packages(machine: Machine) -> Fact[tuple[Package, ...]]:
    assert isinstance(machine.environments, Known)
    return machine.environments.value[0].packages


@pytest.mark.parametrize(
    ("row", "package"),
    [
        ("torchvision        0.20.1", Package("torchvision", "0.20.1")),
        ("nvidia-cublas-cu12==12.4.5.8", Package("nvidia-cublas-cu12", "12.4.5.8")),
        ("[pip3] onnxruntime==1.20.1", Package("onnxruntime", "1.20.1")),
        ("flash_attn         2.7.4.post1", Package("flash-attn", "2.7.4.post1")),
        ("torchmetrics       1.0.0", None),
        ("triton 3.1.0 is what I have", None),
        ("Collecting triton==3.1.0", None),
        ("[conda] numpy      1.26.4    py311_0", Package("numpy", "1.26.4", "py311_0")),
        ("├── nvidia-nccl-cu12 v2.21.5 (extra: cuda)", Package("nvidia-nccl-cu12", "2.21.5")),
        ("├── nvidia-nccl-cu12 [required: ==2.21.5, installed: 2.23.4]", Package("nvidia-nccl-cu12", "2.23.4")),
        ("│ nvidia-nccl-cu12 │ 2.21.5 │ │", Package("nvidia-nccl-cu12", "2.21.5")),
        ("nvidia-nccl-cu12 2.21.5 NVIDIA Collective Communication Library Runtime", Package("nvidia-nccl-cu12", "2.21.5")),
        ('{"name": "nvidia-nccl-cu12", "version": "2.21.5"},', Package("nvidia-nccl-cu12", "2.21.5")),
        ("Name: nvidia-nccl-cu12\nVersion: 2.21.5", Package("nvidia-nccl-cu12", "2.21.5")),
        ("nvidia-nccl-cu12==2.21.5 ; sys_platform == 'linux'", Package("nvidia-nccl-cu12", "2.21.5")),
    ],
)
def test_row_of_a_list_is_a_package(row: str, package: Package | None) -> None:
    found = _packages(read(Paste(f"{LIST}{row}\n")))
    assert isinstance(found, Known)
    assert found.value == (Package("torch", "2.5.1+cu124"), *([package] if package else []))


def test_package_in_two_versions_does_not_count() -> None:
    found = _packages(read(Paste(f"{LIST}triton 3.1.0\ntriton 3.3.0\n")))
    assert isinstance(found, Known)
    assert [one.name for one in found.value] == ["torch"]


def test_list_names_the_line_that_it_is_from() -> None:
    found = _packages(read(Paste(LIST)))
    assert isinstance(found, Known)
    assert found.source == "pasted list of packages, line 4"


@pytest.mark.parametrize(
    ("rows", "problems"),
    [
        ("triton 3.1.0\ntorchvision 0.20.1\nnvidia-cublas-cu12 12.4.5.8\n", []),
        ("triton 3.3.0\n", ["triton-torch-mismatch"]),
        ("torchvision 0.19.1\n", ["torchvision-torch-mismatch"]),
        ("onnxruntime 1.20.1\nonnxruntime-gpu 1.20.1\n", ["onnxruntime-cpu-build"]),
    ],
)
def test_list_is_judged_like_an_environment(rows: str, problems: list[str]) -> None:
    found = judge(read(Paste(f"{LIST}{rows}")), knowledge())
    assert [finding.problem for finding in found.findings] == problems
