"""Which package a compiled file belongs to, and which version of a companion belongs to a torch."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.case import RuleInput
from gpuassist.diagnose.compiled_packages import companion, package_of, torchvision_pair, undefined_in
from gpuassist.diagnose.signature import SignatureInput
from gpuassist.model.machine import Machine
from gpuassist.model.paste import Paste, Weight
from tests.values import knowledge


def _setting(words: str) -> SignatureInput:
    return SignatureInput(Paste(words), RuleInput(Machine(), knowledge()))


@pytest.mark.parametrize(
    ("words", "package"),
    [
        ("flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so", "flash-attn"),
        ("/env/site-packages/bitsandbytes/functional.py", "bitsandbytes"),
        ("torch_scatter/_scatter_cuda.so", "torch-scatter"),
        ("error in ms_deformable_im2col_cuda", "MultiScaleDeformableAttention"),
        ("diff_gaussian_rasterization/_C.so", "diff-gaussian-rasterization"),
        ("ggml_cuda_compute_forward", "llama.cpp"),
        ("simple_knn/_C.so", "simple-knn"),
        ("import spconv.pytorch", "spconv"),
        ("causal_conv1d_cuda", "causal-conv1d"),
        ("/env/site-packages/torch/nn/functional.py", ""),
        ("train.py", ""),
    ],
)
def test_package_is_known_by_its_marks(words: str, package: str) -> None:
    assert package_of(words) == package


def test_last_package_that_is_named_counts() -> None:
    assert package_of("mmcv calls flash_attn") == "flash-attn"


@pytest.mark.parametrize(
    ("file", "problem", "package"),
    [
        ("/env/site-packages/my_ops/_impl.so", "extension-build-mismatch", "my_ops"),
        ("my_ext.cpython-310-x86_64-linux-gnu.so", "extension-build-mismatch", "my_ext"),
        ("/tmp/fused.so", "extension-build-mismatch", "fused"),
        ("/tmp/libfused.so", "extension-build-mismatch", ""),
        ("/tmp/_C.so", "extension-build-mismatch", ""),
        ("/env/site-packages/mmcv/_ext.so", "extension-build-mismatch", "mmcv"),
    ],
)
def test_unknown_package_is_named_by_its_file(file: str, problem: str, package: str) -> None:
    found = list(undefined_in(file, _setting("")))
    assert (found[0].problem, dict(found[0].parameters)["package"]) == (problem, package)


def test_library_of_bitsandbytes_is_left_to_its_own_messages() -> None:
    assert list(undefined_in("/env/site-packages/bitsandbytes/libbitsandbytes_cpu.so", _setting(""))) == []


@pytest.mark.parametrize(
    ("torch", "name", "version"),
    [
        ("2.3.0", "torchvision", "0.18.0"),
        ("2.3.1+cu121", "torchvision", "0.18.1"),
        ("2.3.0", "xformers", "0.0.26.post1"),
        ("99.0.0", "torchvision", ""),
        ("2.3.0", "nothing", ""),
    ],
)
def test_companion_of_a_torch_is_known(torch: str, name: str, version: str) -> None:
    assert companion(_setting(f"torch=={torch}"), name) == version


def test_companion_of_no_torch_is_not_known() -> None:
    assert companion(_setting("nothing"), "torchvision") == ""


@pytest.mark.parametrize("weight", [Weight.CAUSE, Weight.STATE])
def test_pair_is_told_with_the_weight_that_is_given(weight: Weight) -> None:
    found = list(torchvision_pair(_setting("torch==2.3.0+cu121"), weight))
    assert [one.weight for one in found] == [weight]
    assert dict(found[0].parameters)["tag"] == "cu121"
