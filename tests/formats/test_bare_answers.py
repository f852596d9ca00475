"""Bare answers of Python's one-line questions: read where the text is nothing else."""

from __future__ import annotations

from gpuassist.formats.bare_answers import BareAnswers, bare_answers
from tests.rows import for_each


@for_each(
    "words, expected",
    (
        ("2.0.1+cu117\nNo CUDA", BareAnswers(1, release="2.0.1+cu117", available=False)),
        ("2.0.1+cu117 / No CUDA", BareAnswers(1, release="2.0.1+cu117", available=False)),
        ("True\n8", BareAnswers(1, available=True, count=8)),
        ("2.4.1+cu121 12.1 False", BareAnswers(1, release="2.4.1+cu121", cuda="12.1", available=False)),
        ("('2.1.0', '12.1', True)", BareAnswers(1, release="2.1.0", cuda="12.1", available=True)),
        ("\ncuda:0", BareAnswers(2, device="cuda:0")),
        ("device(type='cuda', index=1)", BareAnswers(1, device="cuda:1")),
        ("NVIDIA H100 PCIe\n(9, 0)", BareAnswers(1, names=("NVIDIA H100 PCIe",), capabilities=("9.0",))),
        ("8.9", BareAnswers(1, capabilities=("8.9",))),
        ("['sm_80', 'sm_90']", BareAnswers(1, targets=("sm_80", "sm_90"))),
        ("[CudaDevice(id=0), CudaDevice(id=1)]", BareAnswers(1, jax=("Cuda", "Cuda"))),
        ("[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]", BareAnswers(1, tensorflow=("GPU",))),
        ("['CUDAExecutionProvider']", BareAnswers(1, providers=("CUDAExecutionProvider",))),
        ("OrderedDict([('is_cuda_build', False)])", BareAnswers(1, build=(("is_cuda_build", "False"),))),
        (">>> torch.cuda.is_available()\nFalse", BareAnswers(2, available=False)),
    ),
)
def test_answers_are_read(words: str, expected: BareAnswers) -> None:
    assert bare_answers(words) == expected


@for_each(
    "words",
    (
        "",
        "42",
        "3.11.4",
        "12.1",
        "[]",
        "hello",
        "False positives are rare",
        "foo False\nbar",
        "{'a': False}",
        "A1 sauce",
        "[['[" * 400,
    ),
)
def test_other_texts_are_none(words: str) -> None:
    assert bare_answers(words) is None
