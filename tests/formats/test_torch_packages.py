"""What stands around a torch's line counts too: its environment, a removal, a search, a requirements file."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.torch_packages import LineKind, Mention, cpu_alone, read_mentions

CONDA_LIST = """\
# packages in environment at /home/me/miniconda3/envs/pt:
#
# Name                    Version                   Build  Channel
pytorch                   2.1.0           cpu_py310hd11e9c7_0    conda-forge
torch                     2.0.1+cu117              pypi_0    pypi
"""
SEARCH = """\
$ conda search pytorch
Loading channels: done
# Name                       Version           Build  Channel
pytorch                        1.0.0 cuda100py36he554f03_1  pkgs/main
pytorch                        2.5.1  cpu_mkl_py312h1234567_108  conda-forge
"""
CHANGES = """\
The following packages will be REMOVED:

  pytorch-cuda-11.8-h7e8668a_5
  pytorch  pytorch/linux-64::pytorch-2.0.1-py3.10_cuda11.7_cudnn8.5.0_0

The following NEW packages will be INSTALLED:

  pytorch  conda-forge/linux-64::pytorch-2.1.0-cpu_py310h1234567_0
"""
SHOWN = """\
Name: torch
Version: 2.7.0+cpu
Summary: Tensors
Location: /opt/venv/lib/python3.10/site-packages
"""


def mentions(words: str) -> tuple[Mention, ...]:
    return read_mentions(enumerate(words.split("\n"), 1))


def test_list_names_its_environment() -> None:
    found = mentions(CONDA_LIST)

    assert [(one.version, one.prefix) for one in found] == [
        ("2.1.0", "/home/me/miniconda3/envs/pt"),
        ("2.0.1+cu117", "/home/me/miniconda3/envs/pt"),
    ]


def test_next_command_ends_an_environment() -> None:
    found = mentions(CONDA_LIST + "(other) me@host:~$ pip list\ntorch    2.6.0+cu124\n")

    assert found[-1].prefix == ""


def test_plan_names_its_environment() -> None:
    found = mentions("  environment location: /opt/conda\n\n    pytorch-2.1.0   |cpu_py37h14e09b7_1  49.7 MB\n")

    assert found[0].prefix == "/opt/conda"


def test_search_installs_nothing() -> None:
    assert mentions(SEARCH) == ()


def test_plan_below_a_search_counts() -> None:
    found = mentions(SEARCH + CHANGES)

    assert found[-1].standing is LineKind.ANNOUNCED


def test_removed_and_new_are_told_apart() -> None:
    found = mentions(CHANGES)

    assert [(one.version, one.standing) for one in found] == [("2.0.1", LineKind.REMOVED), ("2.1.0", LineKind.ANNOUNCED)]


def test_shown_package_is_installed() -> None:
    found = mentions(SHOWN)

    assert [(one.line, one.version, one.prefix) for one in found] == [(2, "2.7.0+cpu", "/opt/venv")]


def test_shown_package_without_version_is_none() -> None:
    assert mentions("Name: torch\nSummary: Tensors\n") == ()


def test_freeze_is_known_by_its_command() -> None:
    found = mentions("$ pip freeze\nnumpy==1.26.4\ntorch==2.7.0+cpu\n")

    assert [one.version for one in found] == ["2.7.0+cpu"]


def test_freeze_is_known_by_the_wheels_that_come_with_torch() -> None:
    found = mentions("numpy==1.26.4\nnvidia-cublas-cu12==12.4.5.8\ntorch==2.6.0\ntriton==3.2.0\n")

    assert [one.version for one in found] == ["2.6.0"]


def test_requirements_are_not_installed() -> None:
    assert mentions("$ cat requirements.txt\nnumpy==1.26.4\ntorch==1.13.1+cu117\n") == ()


def test_windows_wheel_without_a_tag_is_for_the_cpu() -> None:
    found = mentions("  Downloading torch-2.7.0-cp312-cp312-win_amd64.whl (212 MB)")

    assert cpu_alone(found[0])


def test_tagged_wheel_is_what_its_tag_says() -> None:
    found = mentions("  Downloading torch-2.7.0%2Bcu128-cp312-cp312-win_amd64.whl (3 GB)")

    assert not cpu_alone(found[0])


def test_arm_wheels_have_cuda_since_2_11() -> None:
    older = mentions("  Downloading torch-2.9.1-cp312-cp312-manylinux_2_28_aarch64.whl (104 MB)")
    newer = mentions("  Downloading torch-2.11.0-cp312-cp312-manylinux_2_28_aarch64.whl (400 MB)")

    assert cpu_alone(older[0])
    assert not cpu_alone(newer[0])


def test_jetson_wheel_is_not_judged_by_its_platform() -> None:
    found = mentions("  Downloading torch-2.3.0-cp310-cp310-linux_aarch64.whl (200 MB)")

    assert not cpu_alone(found[0])


@given(st.integers(0, 40), st.integers(0, 40))
def test_lines_that_are_cut_off_name_nothing_new(start: int, end: int) -> None:
    lines = list(enumerate((CONDA_LIST + CHANGES).split("\n"), 1))
    whole = {(one.line, one.version, one.build) for one in read_mentions(lines)}

    assert {(one.line, one.version, one.build) for one in read_mentions(lines[start:end])} <= whole
