"""What the packages around torch say that belong to one release of it."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.torch_companions import SIGNATURES
from gpuassist.model.paste import Weight
from tests.diagnose.signatures.reading import parameters, problem, problems, read
from tests.rows import for_each

VISION, XFORMERS, BNB = "torchvision-torch-mismatch", "xformers-torch-mismatch", "bitsandbytes-cuda-setup"


def _built_for(built: str, here: str) -> str:
    return (
        "WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for:\n"
        f"    PyTorch {built} with CUDA 1201 (you have {here})\n    Python  3.10.13 (you have 3.10.12)\n  Please reinstall xformers"
    )


@pytest.mark.parametrize(
    "words",
    [
        "RuntimeError: operator torchvision::nms does not exist",
        "RuntimeError: No such operator torchvision::nms",
        "RuntimeError: Couldn't load custom C++ ops. This can happen if your PyTorch and torchvision versions are incompatible",
        "NotImplementedError: Could not run 'torchvision::nms' with arguments from the 'CUDA' backend.",
        "RuntimeError: Detected that PyTorch and torchvision were compiled with different CUDA versions. "
        "PyTorch has CUDA Version=11.8 "
        "and torchvision has CUDA Version=11.7.",
        "RuntimeError: Detected that PyTorch and torchvision were compiled with different CUDA major versions.",
        "AttributeError: partially initialized module 'torchvision' has no attribute 'extension' (most likely "
        "due to a circular import)",
        "AttributeError: module 'torch.library' has no attribute 'register_fake'",
        "AttributeError: module 'torch.library' has no attribute 'impl_abstract'",
        "torchvision 0.15.2 requires torch==2.0.1, but you have torch 2.1.0 which is incompatible.",
        "UserWarning: Failed to load image Python extension: '/env/torchvision/image.so: undefined symbol: "
        "_ZN3c1017RegisterOperatorsD1Ev'",
    ],
)
def test_torchvision_of_another_torch_is_known_in_every_wording(words: str) -> None:
    assert problem(SIGNATURES, words) == VISION


def test_pair_is_told_with_what_belongs() -> None:
    words = "RuntimeError: operator torchvision::nms does not exist\ntorch 2.3.1+cu121\ntorchvision 0.17.0"
    told = parameters(SIGNATURES, words)
    assert told == {"torchvision": "0.17.0", "torch": "2.3.1", "wanted": "0.18.1", "tag": "cu121"}


@pytest.mark.parametrize(
    ("torch", "torchvision", "expected"),
    [
        ("torch==2.1.0+cu121", "torchvision==0.15.2", VISION),
        ("[pip3] torch==2.1.0", "[pip3] torchvision==0.20.1+cu124", VISION),
        ("torch                    2.6.0", "torchaudio               2.6.0\ntorchvision              0.20.1", VISION),
        ("torch==2.14.0+cu130", "torchvision==0.28.0+cu129", VISION),  # its release asks for a range, too
        ("torch==2.14.0+cu130", "torchvision==0.29.3", ""),
        ("torch==2.1.0+cu121", "torchvision==0.16.2", ""),
        ("torch==2.1.0", "torchvision==0.16.0+cu121", ""),
        ("torch==2.1.0", "torchmetrics==1.0\ntorchvision==0.16.0", ""),
        ("torch==99.1.0", "torchvision==0.16.0", ""),
        ("torch==2.5.0.dev20240720+cu124", "torchvision==0.16.0", ""),
    ],
)
def test_list_with_two_that_are_no_pair_is_noticed(torch: str, torchvision: str, expected: str) -> None:
    found = read(SIGNATURES, f"numpy==1.26\n{torch}\n{torchvision}\n")
    assert [clue.problem for clue in found] == ([expected] if expected else [])
    assert {clue.weight for clue in found} <= {Weight.STATE}


def test_pip_tells_the_pair() -> None:
    words = "torchvision 0.15.2 requires torch==2.0.1, but you have torch 2.1.0 which is incompatible."
    assert parameters(SIGNATURES, words) == {"torchvision": "0.15.2", "torch": "2.1.0", "wanted": "0.16.0"}


@pytest.mark.parametrize(
    "words",
    [
        "OSError: /env/lib/python3.10/site-packages/torchaudio/lib/libtorchaudio.so: undefined symbol: _ZN3c10",
        "RuntimeError: Detected that PyTorch and TorchAudio were compiled with different CUDA versions. "
        "PyTorch has CUDA version 12.4",
    ],
)
def test_torchaudio_of_another_torch_is_known(words: str) -> None:
    assert problem(SIGNATURES, words) == VISION
    assert parameters(SIGNATURES, words)["package"] == "torchaudio"


def test_xformers_of_another_torch_is_told_with_the_one_that_belongs() -> None:
    words = _built_for("2.2.0+cu121", "2.3.0+cu121")
    assert problem(SIGNATURES, words) == XFORMERS
    assert parameters(SIGNATURES, words) == {"built": "2.2.0+cu121", "torch": "2.3.0+cu121", "wanted": "0.0.26.post1"}


def test_xformers_meets_a_torch_without_cuda() -> None:
    assert problem(SIGNATURES, _built_for("2.1.2+cu121", "2.1.2+cpu")) == "torch-cpu-only"


def test_xformers_on_a_mac_misses_the_gpu() -> None:
    assert problem(SIGNATURES, _built_for("2.0.1", "2.0.1") + "\n# Mac M1") == "no-nvidia-gpu"


def test_xformers_of_the_same_torch_is_no_mismatch_for_sure() -> None:
    assert {clue.weight for clue in read(SIGNATURES, _built_for("2.0.1", "2.0.1"))} == {Weight.STATE}


def test_xformers_without_cuda_is_known() -> None:
    words = (
        "NotImplementedError: No operator found for `memory_efficient_attention_forward` with inputs:\n     query : shape=(1, 2)\n"
        "`cutlassF` is not supported because:\n    xFormers wasn't build with CUDA support"
    )
    assert problem(SIGNATURES, words) == XFORMERS


def test_xformers_without_code_for_a_new_gpu_is_known() -> None:
    words = (
        "No operator found for `memory_efficient_attention_forward` with inputs:\n`fa2F` is not supported because:\n"
        "    requires device with capability <= (9, 0) but your GPU has capability (12, 0) (too new)"
    )
    assert parameters(SIGNATURES, words) == {"package": "xformers"}


@for_each(
    "words",
    [
        "CUDA SETUP: CUDA detection failed! Possible reasons:\n1. You need to manually override the PyTorch CUDA version.",
        "CUDA Setup failed despite GPU being available. Please run the following command to get more information:",
        "CUDA_SETUP: WARNING! libcudart.so not found in any environmental path. Searching in backup paths...",
        "CUDA SETUP: Loading binary /env/lib/python3.10/site-packages/bitsandbytes/libbitsandbytes_cpu.so...",
        "UserWarning: The installed version of bitsandbytes was compiled without GPU support. 8-bit optimizers are unavailable.",
        "RuntimeError: Configured CUDA binary not found at /env/bitsandbytes/libbitsandbytes_cuda130.so",
        "Could not find the bitsandbytes CUDA binary at PosixPath('/env/bitsandbytes/libbitsandbytes_cuda126.so')",
        "AttributeError: 'NoneType' object has no attribute 'cget_managed_ptr'",
        "AttributeError: 'NoneType' object has no attribute 'cquantize_blockwise_fp16_nf4'",
        "AttributeError: /env/bitsandbytes/libbitsandbytes_cpu.so: undefined symbol: cget_col_row_stats",
        "CUDA SETUP: Setup Failed!",
        "Could not load bitsandbytes native library: /b/libbitsandbytes_cpu.so: cannot open shared object file: No such file",
        "CUDA SETUP: Defaulting to libbitsandbytes_cpu.so...",
    ],
)
def test_set_up_of_bitsandbytes_is_known_in_every_wording(words: str) -> None:
    assert problem(SIGNATURES, words) == BNB


def test_library_that_is_wanted_is_told() -> None:
    words = (
        "CUDA SETUP: PyTorch settings found: CUDA_VERSION=118, Highest Compute Capability: 8.6.\n"
        "CUDA Setup failed despite GPU being available."
    )
    assert parameters(SIGNATURES, words) == {"torch_cuda": "11.8", "wanted": "118"}
    words = "RuntimeError: Configured CUDA binary not found at /env/bitsandbytes/libbitsandbytes_cuda130.so"
    assert parameters(SIGNATURES, words) == {"cuda": "13.0"}


def test_bitsandbytes_behind_a_torch_without_cuda_only_follows() -> None:
    words = "torch==2.1.0+cpu\nThe installed version of bitsandbytes was compiled without GPU support."
    found = read(SIGNATURES, words)
    assert [(clue.problem, clue.weight) for clue in found] == [("torch-cpu-only", Weight.CAUSE), (BNB, Weight.ASIDE)]


def test_bitsandbytes_on_a_mac_misses_the_gpu() -> None:
    words = "macOS 14\nThe installed version of bitsandbytes was compiled without GPU support."
    assert problem(SIGNATURES, words) == "no-nvidia-gpu"


def test_triton_without_its_old_operations_is_told_with_both_versions() -> None:
    words = "ModuleNotFoundError: No module named 'triton.ops'\nbitsandbytes==0.43.0\ntriton==3.2.0"
    assert problem(SIGNATURES, words) == "bitsandbytes-triton-mismatch"
    assert parameters(SIGNATURES, words) == {"bitsandbytes": "0.43.0", "triton": "3.2.0"}


@pytest.mark.parametrize(
    "words",
    [
        "AssertionError: libcuda.so cannot found!",
        "AssertionError: libcuda.so cannot found!\nPossible files are located at ['/lib/x86_64-linux-gnu/libcuda.so.1']."
        "Please create a symlink of libcuda.so to any of the file.",
        "  File triton/common/build.py, line 30, in libcuda_dirs\n    assert len(dirs), msg\nAssertionError",
    ],
)
def test_triton_without_the_drivers_library_is_known(words: str) -> None:
    assert problem(SIGNATURES, words) == "triton-libcuda-not-found"


def test_two_torches_in_a_description_are_noticed() -> None:
    words = "[pip3] torch==1.2.0\n[pip3] torchvision==0.4.0\n[conda] blas 1.0 mkl\n[conda] pytorch   1.3.0   py3.7_cuda10.1"
    found = read(SIGNATURES, words)
    assert [(clue.problem, clue.weight) for clue in found] == [("duplicate-torch-installs", Weight.STATE)]
    assert parameters(SIGNATURES, words) == {"first": "1.2.0", "second": "1.3.0"}


def test_one_torch_that_both_list_is_no_fault() -> None:
    assert read(SIGNATURES, "[pip3] torch==2.1.0+cu121\n[conda] torch   2.1.0   pypi_0   pypi") == ()


def test_flash_attn_that_python_does_not_load_is_known() -> None:
    words = "ImportError: /env/flash_attn_2_cuda.cpython-310-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEi"
    assert problem(SIGNATURES, words) == "flash-attn-abi-mismatch"


@pytest.mark.parametrize(
    "words",
    [
        "ModuleNotFoundError: No module named 'torchvision'",
        "ModuleNotFoundError: No module named 'flash_attn'",
        "ModuleNotFoundError: No module named 'xformers'",
        "ModuleNotFoundError: No module named 'triton'",
        "torchvision::nms is used here",
        "numpy 1.24 requires python>=3.8, but you have python 3.7 which is incompatible.",
        "transformers 4.30 requires tokenizers<0.14, but you have tokenizers 0.15 which is incompatible.",
        "AttributeError: 'NoneType' object has no attribute 'shape'",
        "pip install bitsandbytes xformers",
        "bitsandbytes==0.45.0",
    ],
)
def test_other_words_about_these_packages_are_no_message(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("WARNING: Ignoring invalid distribution -orch (/x/site-packages)", "duplicate-torch-installs"),
        ("WARNING: Ignoring invalid distribution ~orch (/x/site-packages)", "duplicate-torch-installs"),
        ("ImportError: cannot import name 'flash_attn_2_cuda'", "flash-attn-abi-mismatch"),
        ("RuntimeError: attempt to use bitsandbytes optimizers not compiled with CUDA", "bitsandbytes-cuda-setup"),
        ("Using `bitsandbytes` 8-bit quantization requires a GPU", "bitsandbytes-cuda-setup"),
        ("cannot import name 'blocksparse' from 'triton.ops'", "bitsandbytes-triton-mismatch"),
        ("AssertionError: libcuda.so cannot be found!", "triton-libcuda-not-found"),
    ],
)
def test_other_wording_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "WARNING: Ignoring invalid distribution -umpy (/x)",
        "cannot import name 'flash_attn_func'",
        "bitsandbytes 0.43.1",
        "import triton.ops",
    ],
)
def test_sound_words_beside_it_lead_nowhere(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
