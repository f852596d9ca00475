"""Bad pairs are found among what is installed, and only where both parties are there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuassist.knowledge.companions import COMPUTE_CAPABILITY, bad_pairs_among
from gpuassist.model.version import Version
from tests.knowledge.shipped import KNOWLEDGE, capability, version
from tests.rows import for_each

PAIRS = KNOWLEDGE.bad_pairs()


def among(*packages: str, gpus: tuple[str, ...] = ()) -> list[str]:
    named = {name: version(words) for name, _, words in (package.partition("==") for package in packages)}
    return [pair.key for pair in bad_pairs_among(PAIRS, named, map(capability, gpus))]


@for_each(
    ("packages", "keys"),
    [
        (("torch==2.2.2+cu121", "numpy==2.0.0"), ["torch-numpy2"]),
        (("torch==2.3.0", "numpy==2.4.6"), []),
        (("torch==2.2.2", "numpy==1.26.4"), []),
        (("bitsandbytes==0.44.1", "triton==3.2.0"), ["bitsandbytes-triton"]),
        (("bitsandbytes==0.45.1", "triton==3.2.0"), []),
        (("nvidia-cusparse-cu12==12.3.1.170", "nvidia-nvjitlink-cu12==12.1.105"), ["cusparse-nvjitlink-124"]),
        (("nvidia_cusparse_cu12==12.3.1.170", "NVIDIA.nvjitlink-cu12==12.1.105"), ["cusparse-nvjitlink-124"]),
        (("nvidia-cusparse-cu12==12.3.1.170", "nvidia-nvjitlink-cu12==12.4.127"), []),
        (("nvidia-nccl-cu11==2.14.3", "nvidia-nccl-cu12==2.27.3"), ["nccl-of-two-majors"]),
        (("torch==2.12.1", "setuptools==82.0.1"), ["torch-setuptools82"]),
        (("torch==2.13.0", "setuptools==82.0.1"), []),
        (("torch==2.1.0", "setuptools==82.0.1"), ["torch-setuptools70"]),
        (("torch==2.9.1", "nvidia-cudnn-cu12==9.10.2.21"), ["conv3d-cudnn"]),
        (("pytorch==2.2.2", "mkl==2024.1.0"), ["torch-mkl-2024"]),
        (("torch==2.2.2",), []),
        ((), []),
    ],
)
def test_pair_is_found_where_both_are_installed(packages: tuple[str, ...], keys: list[str]) -> None:
    assert among(*packages) == keys


@pytest.mark.parametrize(
    ("triton", "gpus", "keys"),
    [
        ("3.2.0", ("12.0",), ["triton-blackwell"]),
        ("3.2.0", ("8.9", "12.0"), ["triton-blackwell"]),
        ("3.2.0", ("8.9", "9.0"), []),
        ("3.3.1", ("12.0",), []),
        ("3.5.1", ("12.1",), ["triton-gb10"]),
        ("3.6.0", ("12.1",), []),
        ("3.2.0", (), []),
    ],
)
def test_gpu_can_be_a_party(triton: str, gpus: tuple[str, ...], keys: list[str]) -> None:
    assert among(f"triton=={triton}", gpus=gpus) == keys


def test_package_cannot_pass_for_the_gpu() -> None:
    assert among("triton==3.2.0", f"{COMPUTE_CAPABILITY}==12.0") == []


@given(st.dictionaries(st.sampled_from(["torch", "numpy", "triton", "mkl"]), st.integers(0, 9).map(lambda n: Version((n,)))))
def test_more_packages_never_hide_a_pair(packages: dict[str, Version]) -> None:
    fewer = dict(list(packages.items())[:-1])
    assert set(bad_pairs_among(PAIRS, fewer)) <= set(bad_pairs_among(PAIRS, packages))
