"""What stands around torch and wants another one: each wording, and the neighbours that mean something else."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.torch_around import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problem
from tests.rows import for_each
from tests.values import RTX_4090, machine

TRITON, FLASH, ONNX, CHANNEL = (
    "triton-torch-mismatch",
    "flash-attention-needs-ampere",
    "onnxruntime-cpu-build",
    "conda-channel-frozen",
)
RTX_2080 = "10de:1e82"
NOT_FOUND = "PackagesNotFoundError: The following packages are not available from current channels:\n\n"
CHANNELS = "\n\nCurrent channels:\n\n  - https://conda.anaconda.org/{}/linux-64\n"
WARNED = "UserWarning: Specified provider '{}' is not in available provider names.Available providers: '{}'"


@for_each(
    ("words", "expected"),
    [
        ("ImportError: cannot import name 'AttrsDescriptor' from 'triton.compiler.compiler' (/x/compiler.py)", TRITON),
        ("ImportError: cannot import name 'triton_key' from 'triton.compiler.compiler'", TRITON),
        ("torch/_inductor/x.py\nImportError: cannot import name 'get_cuda_stream' from 'triton.runtime.jit'", TRITON),
        ("ImportError: cannot import name 'softmax' from 'tritonclient.grpc'", ""),
        ("ModuleNotFoundError: No module named 'triton'", ""),
        ("RuntimeError: FlashAttention only supports Ampere GPUs or newer.", FLASH),
        ("RuntimeError: FlashAttention-2 only supports Ampere GPUs or newer.", FLASH),
        ("Flash Attention 2 requires a GPU with compute capability >= 8.0", FLASH),
        ("Flash attention only supports gpu architectures in the range [sm80, sm90]. Attempting to run on a sm 7.5 gpu.", FLASH),
        ("FlashAttention-3 only supports Hopper GPUs", ""),
        ("Flash Attention 2.0 only supports torch.float16 and torch.bfloat16 dtypes", ""),
        (WARNED.format("CUDAExecutionProvider", "AzureExecutionProvider, CPUExecutionProvider"), ONNX),
        (WARNED.format("TensorrtExecutionProvider", "CUDAExecutionProvider, CPUExecutionProvider"), ""),
        (WARNED.format("CoreMLExecutionProvider", "CPUExecutionProvider"), ""),
        (">>> ort.get_available_providers()\n['AzureExecutionProvider', 'CPUExecutionProvider']", ONNX),
        (">>> ort.get_available_providers()\n['CUDAExecutionProvider', 'CPUExecutionProvider']", ""),
        (f"{NOT_FOUND}  - pytorch-cuda=12.8{CHANNELS.format('nvidia')}", CHANNEL),
        (f"{NOT_FOUND}  - pytorch==2.7.0{CHANNELS.format('pytorch')}", CHANNEL),
        (f"{NOT_FOUND}  - pytorch==2.7.0{CHANNELS.format('other')}", ""),
        (f"{NOT_FOUND}  - pytorch==1.9.0{CHANNELS.format('pytorch')}", ""),
        (f"{NOT_FOUND}  - somepackage=1.0{CHANNELS.format('pytorch')}", ""),
        (
            "LibMambaUnsatisfiableError: Encountered problems while solving:\n  - nothing provides requested pytorch-cuda 12.6**",
            CHANNEL,
        ),
        ("└─ pytorch-cuda =12.8 * does not exist (perhaps a typo or a missing channel).", CHANNEL),
        ("conda install pytorch pytorch-cuda=12.4 -c pytorch -c nvidia", ""),
    ],
)
def test_message_is_told_by_its_words(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


def test_triton_is_told_with_the_one_that_belongs() -> None:
    words = "ImportError: cannot import name 'AttrsDescriptor' from 'triton.compiler.compiler'\ntorch==2.6.0\ntriton==3.3.1"
    assert parameters(SIGNATURES, words) == {"triton": "3.3.1", "torch": "2.6.0", "wanted": "3.2.0"}


@pytest.mark.parametrize("verb", ["requires", "has requirement"])
def test_pip_tells_the_pinned_triton(verb: str) -> None:
    words = f'torch 2.6.0+cu124 {verb} triton==3.2.0; platform_system == "Linux", but you have triton 3.3.1 which is incompatible.'
    assert parameters(SIGNATURES, words) == {"triton": "3.3.1", "torch": "2.6.0", "wanted": "3.2.0"}


def test_pip_tells_the_pinned_setuptools() -> None:
    words = "torch 2.11.0 requires setuptools<82, but you have setuptools 82.0.0 which is incompatible."
    assert parameters(SIGNATURES, words)["pair"] == "torch-setuptools82"


@pytest.mark.parametrize(
    ("gpu", "told"), [(RTX_2080, {"gpu": "RTX 2080", "capability": "7.5"}), (RTX_4090, {})], ids=["turing", "ada"]
)
def test_card_is_named_where_it_is_the_reason(gpu: str, told: dict[str, str]) -> None:
    assert parameters(SIGNATURES, "FlashAttention only supports Ampere GPUs or newer.", machine(gpus=(gpu,))) == told


def test_missing_metapackage_is_named() -> None:
    assert parameters(SIGNATURES, f"{NOT_FOUND}  - pytorch-cuda=12.8{CHANNELS.format('x')}") == {"wanted": "pytorch-cuda=12.8"}


REVERTED = " - torch==2.7.1+cu128\n - torchvision==0.22.1+cu128\n + torch=={}\n + torchvision==0.22.1\n"


@pytest.mark.parametrize(
    ("command", "now", "told"),
    [
        ("uv sync", "2.7.1", {"was": "2.7.1+cu128", "now": "2.7.1"}),
        ("uv run train.py", "2.7.1+cpu", {"was": "2.7.1+cu128", "now": "2.7.1+cpu", "cpu": "yes"}),
    ],
)
def test_torch_that_uv_puts_back_is_told(command: str, now: str, told: dict[str, str]) -> None:
    assert parameters(SIGNATURES, f"$ {command}\nInstalled 2 packages in 2s\n{REVERTED.format(now)}") == told


@pytest.mark.parametrize(("command", "now"), [("uv pip install torch", "2.7.1"), ("uv sync", "2.7.1+cu128"), ("ls", "2.7.1")])
def test_torch_that_is_exchanged_on_purpose_is_no_fault(command: str, now: str) -> None:
    assert problem(SIGNATURES, f"$ {command}\n{REVERTED.format(now)}") == ""
