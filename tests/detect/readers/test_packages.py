"""A pasted list or log of packages becomes environments with their torch: what is there once all is done."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.detect.readers import packages, read_all
from gpuassist.model.environment import Accelerator, Manager, PythonEnvironment, Torch
from gpuassist.model.fact import NOT_ASKED, Known, Unknown, value_or
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste
from gpuassist.model.version import Version
from tests.values import knowledge

CONDA_LIST = """\
(pt) me@host:~$ conda list
# packages in environment at /home/me/miniconda3/envs/pt:
#
# Name                    Version                   Build  Channel
python                    3.10.13              h955ad1f_0
pytorch                   2.1.0           cpu_py310hd11e9c7_0    conda-forge
"""
PIP_LIST = """\
$ pip list
Package                  Version
------------------------ ----------
nvidia-cuda-runtime-cu12 12.8.90
torch                    2.8.0
"""
UV = """\
Resolved 10 packages in 312ms
Installed 1 package in 100ms
 - torch==2.5.1+cu124
 + torch==2.7.0+cpu
"""
PIP_LOG = """\
Collecting torch
  Downloading torch-2.7.0-cp312-cp312-manylinux_2_28_x86_64.whl (865.2 MB)
Installing collected packages: torch
  Attempting uninstall: torch
    Found existing installation: torch 2.6.0+cu124
    Uninstalling torch-2.6.0+cu124:
      Successfully uninstalled torch-2.6.0+cu124
Successfully installed torch-2.7.0
"""


def environments(words: str) -> tuple[PythonEnvironment, ...]:
    return value_or(packages.read(Paste(words)).environments, ())


def torches(words: str) -> tuple[Torch, ...]:
    return tuple(torch for one in environments(words) for torch in value_or(one.torch, ()))


def versions(words: str) -> list[str]:
    return [value_or(torch.version, "") for torch in torches(words)]


def test_text_without_torch_says_nothing() -> None:
    assert packages.read(Paste("numpy 1.26.4\n")) == Machine()


def test_conda_list_tells_of_its_environment() -> None:
    (one,) = environments(CONDA_LIST)

    assert (one.prefix, one.name) == ("/home/me/miniconda3/envs/pt", "pt")
    assert one.manager == Known(Manager.CONDA, "pasted conda list, line 6")
    assert value_or(one.python_version, None) == Version((3, 10))


def test_conda_build_tells_the_accelerator() -> None:
    (torch,) = torches(CONDA_LIST)

    assert torch.accelerator == Known(Accelerator.CPU, "pasted conda list, line 6")
    assert torch.version == Known("2.1.0", "pasted conda list, line 6")


@pytest.mark.parametrize(
    ("build", "cuda"),
    [("py3.10_cuda12.1_cudnn8.9.2_0", "12.1"), ("cuda118py310h1234567_0", "11.8"), ("cuda126_mkl_py310_h1234567_0", "12.6")],
)
def test_conda_build_tells_its_cuda(build: str, cuda: str) -> None:
    (torch,) = torches(f"pytorch  2.1.0  {build}  pytorch\n")

    assert value_or(torch.accelerator, None) is Accelerator.CUDA
    assert value_or(torch.cuda, None) == Version.parse(cuda)


@pytest.mark.parametrize("build", ["mkl_py311hba3b2f8_0", "py310h1234567_0"])
def test_build_that_does_not_say_leaves_it_open(build: str) -> None:
    (torch,) = torches(f"pytorch  2.1.0  {build}  pkgs/main\n")

    assert isinstance(torch.accelerator, Unknown)


@pytest.mark.parametrize(
    ("prefix", "name"),
    [("/home/me/miniconda3", "base"), ("/opt/conda", "base"), ("/srv/envs/train", "train"), ("/srv/somewhere", "")],
)
def test_environment_is_called_as_conda_calls_it(prefix: str, name: str) -> None:
    (one,) = environments(f"# packages in environment at {prefix}:\npytorch  2.1.0  cpu_py310hd11e9c7_0\n")

    assert one.name == name


def test_torch_of_conda_and_of_pip_are_two() -> None:
    assert versions(CONDA_LIST + "torch   2.0.1+cu117   pypi_0   pypi\n") == ["2.1.0", "2.0.1+cu117"]


def test_pip_lists_condas_torch_once_more() -> None:
    found = torches("pytorch  2.1.0  cpu_py310hd11e9c7_0  conda-forge\n$ pip list\ntorch   2.1.0\n")

    assert [value_or(one.accelerator, None) for one in found] == [Accelerator.CPU]


def test_runtime_wheel_tells_pypis_cuda() -> None:
    (torch,) = torches(PIP_LIST)

    assert torch.cuda == Known(Version((12, 8)), "pasted list of packages, line 4")
    assert value_or(torch.accelerator, None) is Accelerator.CUDA


def test_runtime_wheel_says_nothing_of_a_tagged_torch() -> None:
    (torch,) = torches(PIP_LIST.replace("2.8.0", "2.8.0+cpu"))

    assert torch.cuda is NOT_ASKED


def test_uv_changes_one_build_for_another() -> None:
    (torch,) = torches(UV)

    assert torch.version == Known("2.7.0+cpu", "pasted uv install, line 4")
    assert value_or(torch.installer, "") == "uv"


def test_pip_replaces_what_was_there() -> None:
    assert versions(PIP_LOG) == ["2.7.0"]


def test_torch_that_is_taken_away_is_gone() -> None:
    assert versions("Found existing installation: torch 2.6.0\n  Successfully uninstalled torch-2.6.0\n") == []


def test_windows_wheel_is_a_cpu_build() -> None:
    (torch,) = torches("  Downloading torch-2.7.0-cp312-cp312-win_amd64.whl (212 MB)\n")

    assert value_or(torch.accelerator, None) is Accelerator.CPU


def test_quoted_list_in_chinese_prose_is_read() -> None:
    found = torches("大家好，我的环境如下，求助：\n> $ pip list | grep torch\n> torch   2.7.0+cpu\n谢谢！\n")

    assert found[0].version == Known("2.7.0+cpu", "pasted pip list, line 3")


def test_tag_is_completed_to_an_accelerator() -> None:
    machine = read_all(Paste("torch   2.5.1+cu124\n"), knowledge())

    (torch,) = value_or(value_or(machine.environments, ())[0].torch, ())
    assert value_or(torch.accelerator, None) is Accelerator.CUDA
    assert value_or(torch.cuda, None) == Version((12, 4))


@given(st.integers(0, 600))
def test_cut_text_never_names_another_torch(end: int) -> None:
    whole = PIP_LOG + UV
    lines = whole[:end].rpartition("\n")[0]

    known = {"2.7.0", "2.6.0+cu124", "2.7.0+cpu", "2.5.1+cu124"}
    assert set(versions(lines)) <= known


@given(st.text(max_size=400))
def test_any_text_is_survived(words: str) -> None:
    assert isinstance(packages.read(Paste("torch " + words)), Machine)
