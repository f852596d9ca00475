"""A build for the CPU that a package manager lists or announces is told; one that was asked for, or is replaced, is not."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.detect.readers import read_all
from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.judge import families
from gpuassist.diagnose.signature import SignatureInput, clues
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Clue, Paste, Weight
from tests.rows import for_each
from tests.values import Recipe, knowledge, machine

CONDA_WORDINGS = [
    "    pytorch-1.11.0             |cpu_py37h14e09b7_1        49.7 MB  conda-forge",
    "  pytorch            conda-forge/linux-64::pytorch-1.11.0-cpu_py37h14e09b7_1",
    "  pytorch   1.10.0-py3.10_cuda11.3_cudnn8.2.0_0 --> 1.11.0-py3.10_cpu_0",
    "  + pytorch                    1.11.0  cpu_mkl_py310h1111111_102  conda-forge/linux-64       27MB",
    "pytorch                   1.11.0           cpu_py310hd11e9c7_0    conda-forge",
    "pytorch                   1.11.0           py3.9_cpu_0    pytorch",
    "> pytorch                   1.11.0           cpu_generic_py310h1234567_0    conda-forge",
    "    defaults/linux-64::pytorch-1.11.0-cpu_py311h6d93b4c_0",
    "  - pytorch=1.11.0=cpu_py37h14e09b7_1",
]
PIP_WORDINGS = [
    "Successfully installed filelock-3.13.1 torch-2.7.0+cpu",
    "Would install torch-2.7.0+cpu",
    " + torch==2.7.0+cpu",
    "  Downloading https://download.pytorch.org/whl/torch-2.7.0%2Bcpu-cp311-cp311-linux_x86_64.whl (175 MB)",
    "  • Installing torch (2.7.0+cpu)",
    "  Downloading torch-2.7.0-cp312-cp312-win_amd64.whl (212 MB)",
    "  Downloading torch-2.7.0-cp312-cp312-manylinux_2_28_aarch64.whl (102 MB)",
    "torch                    2.7.0+cpu",
]
HARMLESS = [
    "  + pytorch   2.1.0  cuda112py310h1234567_102  conda-forge     Cached",
    "  - pytorch   2.1.0  cpu_py310h1234567_102  conda-forge     Cached",
    "  pytorch   1.10.0-cpu_py310h1111111_0 --> 1.11.0-py3.10_cuda11.3_cudnn8.2.0_0",
    " - torch==2.5.1+cpu",
    "  Successfully uninstalled torch-2.7.0+cpu",
    "  Downloading torch-2.7.0-cp312-cp312-manylinux_2_28_x86_64.whl (865.2 MB)",
    "conda install pytorch=2.1=cpu_py310h1234567_0  # do not do this",
    "$ conda search pytorch\nLoading channels: done\npytorch   2.5.1  cpu_mkl_py312h1234567_108  conda-forge",
    "pytorch-lightning   2.1.0   cpu_test_0",
    "$ conda install pytorch cpuonly -c pytorch\n  pytorch   pytorch/linux-64::pytorch-2.1.0-py3.10_cpu_0",
    "  added / updated specs:\n    - cpuonly\n    - pytorch\n    pytorch-2.1.0   |  py3.10_cpu_0   84 MB  pytorch",
    "$ pip install torch --index-url https://download.pytorch.org/whl/cpu\nSuccessfully installed torch-2.7.0+cpu",
    "$ uv pip install torch --torch-backend=cpu\n + torch==2.7.0+cpu",
    "macOS 14.5, Apple M2\npytorch   2.1.0   cpu_py310hd11e9c7_0   conda-forge",
]


def told(words: str, host: Machine | None = None) -> list[Clue]:
    setting = SignatureInput(Paste(words), RuleInput(host or Machine(), knowledge()))
    return [clue for signature in families()["announcements"] for clue in clues(signature, setting)]


@pytest.mark.parametrize("words", CONDA_WORDINGS)
def test_condas_cpu_build_is_told(words: str) -> None:
    first, second = told(f"$ conda install pytorch\n{words}\n")

    assert (first.problem, first.weight) == ("conda-resolved-cpu-build", Weight.CAUSE)
    parameters = dict(first.parameters)
    # conda-forge built 1.11.0 for CUDA up to 11.2, which cudatoolkit chooses.
    assert (parameters["torch"], parameters["cuda"]) == ("1.11.0", "11.2")
    assert parameters["arguments"] == "-c conda-forge pytorch=1.11.0=cuda* cudatoolkit=11.2"
    assert (second.problem, second.weight) == ("torch-cpu-only", Weight.ASIDE)
    assert first.passage.line == 2


@pytest.mark.parametrize("words", PIP_WORDINGS)
def test_cpu_wheel_beside_a_usable_gpu_is_the_cause(words: str) -> None:
    (clue,) = told(f"$ pip install torch\n{words}\n", machine(Recipe()))

    assert (clue.problem, clue.weight) == ("torch-cpu-only", Weight.CAUSE)
    assert str(dict(clue.parameters)["torch"]).startswith("2.7.0")


@pytest.mark.parametrize("words", PIP_WORDINGS)
def test_cpu_wheel_by_itself_is_a_hint(words: str) -> None:
    assert [(clue.problem, clue.weight) for clue in told(words)] == [("torch-cpu-only", Weight.STATE)]


@for_each("words", HARMLESS)
def test_other_line_is_no_fault(words: str) -> None:
    assert told(words) == []


@pytest.mark.parametrize("words", [CONDA_WORDINGS[0], PIP_WORDINGS[0]])
def test_text_that_fails_for_another_reason_is_left_alone(words: str) -> None:
    assert told(f"{words}\n$ pytest\nModuleNotFoundError: No module named 'yaml'\n") == []


@pytest.mark.parametrize("words", [CONDA_WORDINGS[0], PIP_WORDINGS[0]])
def test_text_that_fails_for_want_of_a_gpu_is_told(words: str) -> None:
    assert told(f"{words}\n$ python train.py\nRuntimeError: no GPU found\n") != []


def test_cpuonly_that_the_solver_drags_in_was_not_asked_for() -> None:
    found = told(
        "  added / updated specs:\n    - pyg\n"
        "  cpuonly            pytorch/noarch::cpuonly-1.0-0\n"
        "  pytorch            defaults/linux-64::pytorch-2.2.0-cpu_py311h6d93b4c_0\n"
    )

    assert found[0].problem == "conda-resolved-cpu-build"


def test_asked_for_beside_a_usable_gpu_is_told_all_the_same() -> None:
    words = "$ pip install torch --index-url https://download.pytorch.org/whl/cpu\nSuccessfully installed torch-2.7.0+cpu\n"

    assert [clue.problem for clue in told(words, machine(Recipe()))] == ["torch-cpu-only"]


def test_build_that_is_replaced_further_down_is_no_fault() -> None:
    words = "Successfully installed torch-2.7.0+cpu\n$ pip install torch -U\nSuccessfully installed torch-2.7.0+cu128\n"

    assert told(words, machine(Recipe())) == []


def test_machine_whose_gpus_are_none_leaves_a_hint() -> None:
    bare = replace(machine(Recipe()), gpus=machine(Recipe(gpus=())).gpus)

    assert [clue.weight for clue in told(" + torch==2.7.0+cpu\n", bare)] == [Weight.STATE]


def test_collect_envs_conda_line_counts_beside_a_gpu() -> None:
    words = "[conda] pytorch                   2.1.0              cpu_py310hd11e9c7_0    conda-forge\n"

    assert told(words) == []
    assert told(words, machine(Recipe()))[0].problem == "conda-resolved-cpu-build"


@pytest.mark.parametrize(
    "words",
    [
        "    libtorch-2.5.1   |  cpu_mkl_h1234567_108   50 MB  conda-forge",
        "  + libtorch     2.5.1  cpu_mkl_h1234567_108  conda-forge     Cached",
        "  tensorflow     conda-forge/linux-64::tensorflow-2.15.0-cpu_py310h1234567_0",
        "tensorflow-base           2.15.0          cpu_py310h1234567_0    conda-forge",
    ],
)
def test_other_packages_cpu_build_is_told(words: str) -> None:
    assert [clue.problem for clue in told(words)] == ["conda-resolved-cpu-build"]


def test_torch_of_conda_and_of_pip_are_told_as_two() -> None:
    words = "pytorch  2.1.0  py3.10_cuda12.1_cudnn8.9.2_0  pytorch\ntorch   2.0.1+cu117   pypi_0   pypi\n"

    (clue,) = told(words, read_all(Paste(words), knowledge()))
    assert (clue.problem, dict(clue.parameters)) == ("duplicate-torch-installs", {"first": "2.1.0", "second": "2.0.1+cu117"})


def test_torch_of_pip_alone_is_one() -> None:
    words = "torch   2.0.1+cu117   pypi_0   pypi\n"

    assert told(words, read_all(Paste(words), knowledge())) == []


def test_jaxlib_for_the_cpu_is_told() -> None:
    assert [clue.problem for clue in told("jaxlib      0.4.23     cpu_py310h1234567_0    conda-forge")] == ["jax-cpu-only"]


@pytest.mark.parametrize("words", [words for words in HARMLESS if "pytorch" in words and "cpuonly" not in words])
def test_no_other_family_takes_it_for_an_announcement(words: str) -> None:
    setting = SignatureInput(Paste(words), RuleInput(Machine(), knowledge()))

    every = [clue.problem for family in families().values() for signature in family for clue in clues(signature, setting)]
    assert "conda-resolved-cpu-build" not in every
