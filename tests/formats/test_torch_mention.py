"""Each line of a package manager that names a torch, in every layout, and lines that look like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.formats.torch_packages import LineKind, Mention, read_mention
from tests.rows import for_each

CONDA_LINES = [
    ("pytorch                   2.1.0           cpu_py310hd11e9c7_0    conda-forge", LineKind.INSTALLED),
    ("pytorch   2.1.0  py3.10_cuda12.1_cudnn8.9.2_0  pytorch", LineKind.INSTALLED),
    ("pytorch   2.1.0  gpu_cuda118py311h5b3aaa5_100", LineKind.INSTALLED),
    ("pytorch   2.1.0  cpu_mkl_py312h1234567_108  24.1 MiB  conda  conda-forge", LineKind.INSTALLED),
    ("  - pytorch=2.1.0=cpu_py37h14e09b7_1", LineKind.INSTALLED),
    ("  - conda-forge/linux-64::pytorch==2.1.0=cpu_py39h714fb45_0", LineKind.INSTALLED),
    ("    pytorch-2.1.0             |cpu_py37h14e09b7_1        49.7 MB  conda-forge", LineKind.ANNOUNCED),
    ("    pytorch-2.1.0             | py3.10_cpu_0", LineKind.ANNOUNCED),
    ("  pytorch            conda-forge/linux-64::pytorch-2.1.0-cpu_py37h14e09b7_1", LineKind.ANNOUNCED),
    ("    pytorch:  2.1.0-py36_cuda9.0.176_cudnn7.1.2_1 pytorch", LineKind.ANNOUNCED),
    ("  pytorch   2.0.1-py3.10_cuda11.7_cudnn8.5.0_0 --> 2.1.0-cpu_py310h1234567_0", LineKind.ANNOUNCED),
    ("  pytorch  pytorch::pytorch-2.0.1-py3.10_cuda11.7_0 --> pkgs/main::pytorch-2.1.0-cpu_py310h1234567_0", LineKind.ANNOUNCED),
    ("  + pytorch                    2.1.0  cpu_mkl_py310h1_102  conda-forge/linux-64       27MB", LineKind.ANNOUNCED),
    ("  + pytorch   2.1.0  cuda112py310h1234567_102  conda-forge     Cached", LineKind.ANNOUNCED),
    ("  - pytorch   2.1.0  cuda112py310h1234567_102  conda-forge     Cached", LineKind.REMOVED),
]
PIP_LINES = [
    ("torch                    2.7.0+cpu", "2.7.0+cpu", LineKind.INSTALLED),
    ("torch         2.8.0        2.9.0    wheel", "2.8.0", LineKind.INSTALLED),
    ("torch         2.5.0a0+gitabcdef0   /home/me/pytorch", "2.5.0a0+gitabcdef0", LineKind.INSTALLED),
    ("torch         2.7.0   Tensors and Dynamic neural networks in Python", "2.7.0", LineKind.INSTALLED),
    ("torch (1.0.1.post2)", "1.0.1.post2", LineKind.INSTALLED),
    ("torch   2.1.0+cu118   pypi_0    pypi", "2.1.0+cu118", LineKind.INSTALLED),
    ("torch                    0.4.1                     <pip>", "0.4.1", LineKind.INSTALLED),
    (" + torch==2.7.0+cpu", "2.7.0+cpu", LineKind.ANNOUNCED),
    (" - torch==2.5.1+cu124", "2.5.1+cu124", LineKind.REMOVED),
    (" ~ torch==2.5.1", "2.5.1", LineKind.ANNOUNCED),
    ("  Downloading torch-2.6.0-cp312-cp312-manylinux1_x86_64.whl (766.6 MB)", "2.6.0", LineKind.ANNOUNCED),
    (
        "  Downloading https://download.pytorch.org/whl/cpu/torch-2.7.0%2Bcpu-cp311-cp311-manylinux_2_28_x86_64.whl (17 MB)",
        "2.7.0+cpu",
        LineKind.ANNOUNCED,
    ),
    ("  Using cached torch-2.7.0-cp312-cp312-win_amd64.whl (212 MB)", "2.7.0", LineKind.ANNOUNCED),
    ("Would install filelock-3.13.1 torch-2.7.0+cpu typing_extensions-4.9.0", "2.7.0+cpu", LineKind.ANNOUNCED),
    ("Successfully installed torch-2.7.0 torchaudio-2.7.0 torchvision-0.22.0", "2.7.0", LineKind.ANNOUNCED),
    ("  Successfully uninstalled torch-2.8.0", "2.8.0", LineKind.REMOVED),
    ("  Attempting uninstall: torch, Found existing installation: torch 2.6.0+cu124", "2.6.0+cu124", LineKind.REMOVED),
    ("    Uninstalling torch-2.6.0:", "2.6.0", LineKind.REMOVED),
    ("Requirement already satisfied: torch>=1.9 in ./v/lib/python3.12/site-packages (from x) (2.7.0)", "2.7.0", LineKind.INSTALLED),
    ("torch @ https://download.pytorch.org/whl/torch-2.1.0%2Bcpu-cp310-cp310-linux_x86_64.whl", "2.1.0+cpu", LineKind.INSTALLED),
    ("  • Installing torch (2.0.1+cpu)", "2.0.1+cpu", LineKind.ANNOUNCED),
    ("  - Updating torch (2.0.0+cu118 -> 2.0.1)", "2.0.1", LineKind.ANNOUNCED),
    ("  ✔ Install torch 2.1.0 successful", "2.1.0", LineKind.ANNOUNCED),
]
OTHER_LINES = [
    "torch 2.1 is too old for this card",
    "torchvision              0.20.1",
    "torch.cuda.OutOfMemoryError: CUDA out of memory.",
    "pip install torch==2.0.1",
    "ERROR: No matching distribution found for torch==1.13.1+cu117",
    "pytorch-cuda              11.8                 h7e8668a_5    pytorch",
    "pytorch-mutex             1.0                        cuda    pytorch",
    "pytorch-lightning         2.1.0              pyhd8ed1ab_0    conda-forge",
    "  + pytorch-triton==3.0.0",
    "Collecting torch==2.0.1",
    "RuntimeError: torch 2.1.0 was expected",
    "import torch",
]


@for_each(("words", "standing"), CONDA_LINES)
def test_conda_line_is_read(words: str, standing: LineKind) -> None:
    mention = read_mention(7, words)

    assert mention is not None
    assert (mention.line, mention.name, mention.version, mention.standing, mention.tool) == (
        7,
        "pytorch",
        "2.1.0",
        standing,
        "conda",
    )
    assert mention.build in words


@for_each(("words", "version", "standing"), PIP_LINES)
def test_pip_line_is_read(words: str, version: str, standing: LineKind) -> None:
    mention = read_mention(7, words)

    assert mention is not None
    assert (mention.name, mention.version, mention.standing) == ("torch", version, standing)
    assert not mention.build


@for_each("words", OTHER_LINES)
def test_other_line_names_no_torch(words: str) -> None:
    assert read_mention(1, words) is None


def test_channel_loses_its_platform() -> None:
    mention = read_mention(1, "  + pytorch  2.1.0  cpu_py310h1234567_0  conda-forge/linux-64  27MB")

    assert mention is not None
    assert mention.channel == "conda-forge"


def test_prefix_comes_from_site_packages() -> None:
    mention = read_mention(1, "Requirement already satisfied: torch in /opt/v/lib/python3.12/site-packages (2.7.0)")

    assert mention is not None
    assert mention.prefix == "/opt/v"


def test_platform_comes_from_the_wheels_name() -> None:
    mention = read_mention(1, "  Downloading torch-2.3.0-cp310-cp310-manylinux2014_aarch64.whl (88 MB)")

    assert mention is not None
    assert mention.platform == "manylinux2014_aarch64"


def test_very_long_list_is_read_at_its_torch() -> None:
    words = "Successfully installed " + " ".join(f"package{number}-1.0" for number in range(2000)) + " torch-2.7.0+cpu zipp-3"

    mention = read_mention(1, words)

    assert mention is not None
    assert mention.version == "2.7.0+cpu"


@given(st.text(alphabet="torchpy -=+|:>.0123456789_()", max_size=300))
def test_any_words_give_a_mention_or_none(words: str) -> None:
    mention = read_mention(1, words)

    assert mention is None or isinstance(mention, Mention)


@pytest.mark.parametrize("words", ["torch " + "1." * 40_000, "pytorch" + " " * 90_000 + "x", "torch @ " + "/torch-" * 20_000])
def test_hostile_line_is_no_torch(words: str) -> None:
    assert read_mention(1, words) is None
