"""What pip, uv, poetry and conda say when they do not get the wheel that is wanted."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.installers_python import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each

PYTHON, INDEX, CPU, NO_PROBLEM = "pip-no-matching-python", "pip-wrong-index", "conda-resolved-cpu-build", "not-a-gpu-problem"


def _not_found(requirement: str, versions: str) -> str:
    return (
        f"ERROR: Could not find a version that satisfies the requirement {requirement} (from versions: {versions})\n"
        f"ERROR: No matching distribution found for {requirement}"
    )


@for_each(
    "words",
    [
        _not_found("torch", "none"),
        _not_found("torch==1.9.1+cu111", "0.1.2, 0.1.2.post1, 0.1.2.post2"),
        _not_found("torch==1.7.1", "1.11.0, 1.12.0, 1.12.1, 1.13.0, 2.0.0"),
        _not_found("torch==1.13.1+cu117", "2.0.0+cu117, 2.0.1+cu117") + "\nhttps://download.pytorch.org/whl/cu117",
        _not_found("tensorflow==1.15", "2.2.0, 2.3.0"),
        _not_found("tensorflow-gpu==1.14.0", "none"),
        _not_found("jaxlib==0.3.0+cuda11.cudnn82", "0.4.13"),
        _not_found("torchvision==0.10.0+cu111", "0.1.6, 0.2.0") + "\n# Python 3.10",
        _not_found("xformers==0.0.16", "0.0.1, 0.0.2") + "\nPython version: 3.12.0",
        _not_found("onnxruntime-gpu==1.10", "1.15"),
        "torch-1.13.1+cu117-cp39-cp39-linux_x86_64.whl is not a supported wheel on this platform.",
        "ERROR: flash_attn-2.5.7+cu122torch2.3cxx11abiFALSE-cp310-cp310-linux_x86_64.whl is not a supported "
        "wheel on this platform.",
        "ERROR: Package 'torchtext' requires a different Python: 3.12.1 not in '>=3.8,<3.12'",
        "Because torch==2.1.0 has no wheels with a matching Python ABI tag (e.g., `cp313`) and you require "
        "torch==2.1.0, we can conclude",
        "  × No solution found when resolving dependencies:\n  ╰─▶ Because torch==2.0.1+cu118 has no wheels "
        "with a matching Python ABI tag",
        "hint: You require CPython 3.13 (`cp313`), but we only found wheels for `torch` (v2.1.0) with the "
        "following Python ABI tags: `cp310`",
        "error: Distribution `torch==2.3.0 @ registry+https://pypi.org/simple` can't be installed because it doesn't have a source "
        "distribution or wheel for the current platform",
        "Unable to find installation candidates for torch (1.12.1)",
        "- package pytorch-1.7.1-py3.6_cuda11.0.221_cudnn8.0.5_0 requires python >=3.6,<3.7.0a0, but none of "
        "the providers can be installed",
        "The following specifications were found\nto be incompatible with the existing python installation in your environment:\n\n"
        "Specifications:\n\n  - pytorch=1.8 -> python[version='>=3.6,<3.7.0a0|>=3.7,<3.8.0a0']\n\nYour python: python=3.11",
        "RuntimeError: Dynamo is not supported on Python 3.12+",
    ],
)
def test_python_without_a_wheel_is_known_in_every_wording(words: str) -> None:
    assert problem(SIGNATURES, words) == PYTHON


@pytest.mark.parametrize(
    "words",
    [
        _not_found("torch==2.1.0+cu121", "1.13.0, 2.0.0, 2.0.1, 2.1.0, 2.2.0"),
        _not_found("torch==2.1.0+cu118", "2.0.1, 2.1.0, 2.1.1") + "\n# python 3.10",
        _not_found("torchvision==0.16.0+cu121", "0.15.0, 0.16.0, 0.17.0"),
        "ERROR: No matching distribution found for torch==2.4.0+cu121\nPython version: 3.10",
        "Because there is no version of torch==2.1.0+cu118 and you require torch==2.1.0+cu118, we can conclude",
        "Because no versions of torch match 2.1.0+cu118 and myproject depends on torch (2.1.0+cu118), version solving failed.",
    ],
)
def test_index_without_the_build_is_known_in_every_wording(words: str) -> None:
    assert problem(SIGNATURES, words) == INDEX


def test_build_for_cuda_is_none_for_a_mac() -> None:
    words = _not_found("torch==2.1.2+cu118", "2.1.1, 2.1.2") + "\nPython 3.10.13\nApple M2"
    assert problem(SIGNATURES, words) == "no-nvidia-gpu"


def test_index_that_pip_looked_at_is_not_missing() -> None:
    words = "Looking in links: https://download.pytorch.org/whl/torch_stable.html\n" + _not_found("torch==1.8.1+cu111", "1.8.1")
    assert problem(SIGNATURES, words) == PYTHON


def test_index_that_is_only_advised_was_not_looked_at() -> None:
    words = _not_found("torch==2.1.0+cu121", "2.1.0") + "\nuse pip install torch --index-url https://download.pytorch.org/whl/cu121"
    assert problem(SIGNATURES, words) == INDEX


def test_build_and_index_are_told() -> None:
    told = parameters(SIGNATURES, _not_found("torch==2.1.0+cu121", "2.0.1, 2.1.0"))
    assert told == {"torch": "2.1.0", "tag": "cu121", "requirement": "torch==2.1.0+cu121"}


def test_pythons_with_a_wheel_are_told() -> None:
    told = parameters(SIGNATURES, _not_found("torch==1.9.1+cu111", "0.1.2") + "\n# python 3.10")
    assert (told["python_version"], told["package"]) == ("3.10", "torch==1.9.1+cu111")
    assert told["wanted_python"] == "3.9"


def test_python_in_the_name_of_a_wheel_is_the_one_that_is_wanted() -> None:
    words = "torch-1.13.1+cu117-cp39-cp39-linux_x86_64.whl is not a supported wheel on this platform.\nPython version: 3.11"
    assert parameters(SIGNATURES, words) == {"package": "torch-1.13.1+cu117", "wanted_python": "3.9", "python_version": "3.11"}


def test_without_a_hint_both_causes_are_possible() -> None:
    found = read(SIGNATURES, "ERROR: No matching distribution found for torch==1.13.1+cu117")
    assert [(clue.problem, clue.weight) for clue in found] == [(INDEX, Weight.STATE), (PYTHON, Weight.ASIDE)]


@pytest.mark.parametrize(
    "line",
    [
        "    pytorch-1.11.0             |cpu_py37h14e09b7_1        49.7 MB  conda-forge",
        "  pytorch            conda-forge/linux-64::pytorch-2.4.0-cpu_generic_py312h1ac9c01_0",
        "  pytorch-mutex      pytorch/noarch::pytorch-mutex-1.0-cpu",
        "pytorch                   2.1.0               py3.10_cpu_0    pytorch",
        "pytorch                   1.13.1           cpu_py310hd11e9c7_1    conda-forge",
        "  + pytorch   2.5.1  cpu_generic_py311_h0a2d1f4_1  conda-forge/linux-64  39MB",
        "pytorch-mutex             1.0                         cpu    pytorch",
        "pytorch                   1.4.0               py3.7_cpu_0  [cpuonly]  pytorch",
        "[conda] pytorch                   1.9.0               py3.8_cpu_0    pytorch",
        "it is pytorch=1.9.0=py3.8_cpu_0",
        "libtorch-2.4.0       |cpu_generic_haf15d4f_0        51.8 MB  conda-forge",
    ],
)
def test_build_of_conda_without_cuda_is_known_in_every_list(line: str) -> None:
    assert problem(SIGNATURES, f"The following packages will be downloaded:\n{line}\n") == CPU


def test_build_without_cuda_that_was_asked_for_is_no_choice_of_conda() -> None:
    words = "$ conda install pytorch cpuonly -c pytorch\npytorch    2.1.0    py3.10_cpu_0    pytorch"
    assert problems(SIGNATURES, words) == {"torch-cpu-only", CPU}
    assert problem(SIGNATURES, words) in {"torch-cpu-only", CPU}


@pytest.mark.parametrize(
    "line",
    [
        "pytorch                   2.1.0           py3.10_cuda12.1_cudnn8.9.2_0    pytorch",
        "    pytorch-2.4.0              |cuda120_py312h26b3cf7_301        25 MB  conda-forge",
        "pytorch-mutex             1.0                         cuda    pytorch",
        "cpuonly                   2.0                           0    pytorch",
        "torchvision               0.16.0                py310_cu121    pytorch",
        "numpy                     1.26.0          py310_0",
    ],
)
def test_other_builds_of_conda_are_no_message(line: str) -> None:
    assert read(SIGNATURES, f"{line}\n") == ()


@pytest.mark.parametrize(
    "words",
    [
        "nothing provides __cuda needed by pytorch-2.4.0-cuda120_py312h26b3cf7_301",
        "- pytorch-gpu =2.4.0 * is not installable because it requires __cuda *, which is missing on the system.",
        "  - feature:/linux-64::__cuda==12.2=0",
    ],
)
def test_conda_that_sees_no_driver_may_take_the_other_build(words: str) -> None:
    assert [(clue.problem, clue.weight) for clue in read(SIGNATURES, words)] == [(CPU, Weight.STATE)]


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        (
            "pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='files', port=443): Read timed out.",
            "network",
        ),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "network"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk"),
        ("error: externally-managed-environment", "pip"),
        (_not_found("torch", "none") + "\nFailed to establish a new connection: [Errno -3] Temporary failure", "network"),
    ],
)
def test_fault_of_network_disk_or_pip_is_no_problem_of_the_gpu(words: str, cause: str) -> None:
    assert problem(SIGNATURES, words) == NO_PROBLEM
    assert parameters(SIGNATURES, words)["cause_id"] == cause


@pytest.mark.parametrize(
    "words",
    [
        _not_found("requests==99.0", "2.31.0"),
        _not_found("my-own-package", "none"),
        "mypackage-1.0-py3-none-any.whl is there",
        "Successfully installed torch-2.5.1",
        "Requirement already satisfied: torch==2.1.0 in /env",
        "Because pandas==3.0 has no wheels",
        "pip install torch==2.1.0+cu121 --index-url https://download.pytorch.org/whl/cu121",
    ],
)
def test_other_words_of_installers_are_no_message(words: str) -> None:
    assert read(SIGNATURES, words) == ()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("torch==2.1.0 only has wheels for the following platforms", "pip-no-matching-python"),
        ("RuntimeError: Python 3.13+ not yet supported for torch.compile", "pip-no-matching-python"),
        ("urllib3: IncompleteRead(100 bytes read)", "not-a-gpu-problem"),
        ("Connection broken: IncompleteRead(0 bytes read)", "not-a-gpu-problem"),
    ],
)
def test_other_wording_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "torch==2.1.0 has wheels for many platforms",
        "Python 3.13 is supported for torch.compile",
        "the read was complete",
    ],
)
def test_sound_words_beside_it_lead_nowhere(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
