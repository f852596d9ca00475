"""An import that does not find a whole torch: each wording, and the neighbours that mean something else."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.torch_environment import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problem, problems
from tests.rows import for_each

DAMAGED, LOCAL = "torch-install-damaged", "local-file-named-torch"
SITE = "/home/you/.venv/lib/python3.11/site-packages"
NO_CUDA = "AttributeError: module 'torch' has no attribute 'cuda'"


def _traceback(file: str, error: str) -> str:
    return f'Traceback (most recent call last):\n  File "{file}", line 1, in <module>\n    import torch\n{error}'


@for_each(
    ("words", "expected"),
    [
        (NO_CUDA, LOCAL),
        ("AttributeError: module 'torch' has no attribute '__version__'", LOCAL),
        ("AttributeError: module 'torch' has no attribute 'compile'", ""),
        ("AttributeError: module 'torch' has no attribute 'xpu'", ""),
        ("AttributeError: module 'torchvision' has no attribute 'nn'", ""),
        ("AttributeError: module 'torch.nn' has no attribute 'Modul'", ""),
        ("ImportError: cannot import name 'nn' from 'torch' (unknown location)", LOCAL),
        ("ImportError: cannot import name 'foo' from 'torch' (/x/site-packages/torch/__init__.py)", ""),
        (">>> torch\n<module 'torch' (namespace)>", LOCAL),
        (">>> torch\n<module 'torch' from '/x/site-packages/torch/__init__.py'>", ""),
        ("ImportError: Failed to load PyTorch C extensions:\n    It appears that PyTorch has loaded the `torch/_C` folder", LOCAL),
        (f"OSError: {SITE}/torch/lib/libtorch_cuda.so: file too short", DAMAGED),
        (f"ImportError: {SITE}/torch/lib/libtorch_cpu.so: invalid ELF header", DAMAGED),
        (f"OSError: {SITE}/nvidia/cublas/lib/libcublas.so.12: file too short", DAMAGED),
        ("OSError: /usr/lib/x86_64-linux-gnu/libc.so: invalid ELF header", ""),
        (f"OSError: {SITE}/cv2/libfoo.so: file too short", ""),
        ("ERROR: Cannot uninstall torch None, RECORD file not found. You might be able to recover from this via", DAMAGED),
        ("Cannot uninstall torch 2.5.1\nThe package's contents are unknown: no RECORD file was found for torch.", DAMAGED),
        ("no RECORD file was found for distlib.", ""),
        ("ImportError: libtorch_cuda.so: cannot open shared object file: No such file or directory", ""),
        ("import flash_attn\nModuleNotFoundError: No module named 'pkg_resources'", "pkg-resources-missing"),
        ("from torch.utils.cpp_extension import x\nModuleNotFoundError: No module named 'pkg_resources'", "pkg-resources-missing"),
        ("  File app.py\nModuleNotFoundError: No module named 'pkg_resources'", ""),
        ("torch/utils/cpp_extension.py\nImportError: cannot import name 'packaging' from 'pkg_resources'", "known-bad-pair"),
        ("ImportError: cannot import name 'packaging' from 'pkg_resources'", ""),
    ],
)
def test_message_is_told_by_its_words(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


def test_file_of_ones_own_is_named_by_the_traceback() -> None:
    words = _traceback("/home/you/proj/torch.py", "AttributeError: partially initialized module 'torch' has no attribute 'rand'")
    assert parameters(SIGNATURES, words) == {"path": "/home/you/proj/torch.py"}


def test_file_of_ones_own_is_named_by_new_pythons() -> None:
    words = (
        "AttributeError: module 'torch' has no attribute 'nn' (consider renaming '/home/you/torch.py' since it has the same name as"
    )
    assert parameters(SIGNATURES, words) == {"path": "/home/you/torch.py"}


@pytest.mark.parametrize("file", [f"{SITE}/safetensors/torch.py", "/home/you/proj/mytorch.py", "/home/you/proj/train_torch.py"])
def test_file_of_a_package_is_not_ones_own(file: str) -> None:
    assert "path" not in parameters(SIGNATURES, _traceback(file, NO_CUDA))


def test_installed_torch_that_lacks_its_parts_is_damaged() -> None:
    words = _traceback(f"{SITE}/torch/__init__.py", "AttributeError: module 'torch' has no attribute 'UntypedStorage'")
    assert problems(SIGNATURES, words) == {DAMAGED, "duplicate-torch-installs"}


def test_library_that_torch_itself_misses_is_damage() -> None:
    words = _traceback(f"{SITE}/torch/__init__.py", "ImportError: libtorch_cuda.so: cannot open shared object file: No such file")
    assert parameters(SIGNATURES, words) == {"file": "libtorch_cuda.so"}


@for_each(
    "name",
    [
        *("Tensor", "tensor", "device", "dtype", "randn", "zeros", "ones", "arange", "float32", "float16", "int64", "bool"),
        *("no_grad", "load", "save", "optim", "utils", "autograd", "backends", "version", "from_numpy", "manual_seed"),
        *("FloatTensor", "LongTensor", "_C", "jit", "distributed", "set_default_dtype", "set_num_threads"),
    ],
)
def test_what_every_torch_has_is_missing_from_none(name: str) -> None:
    assert problem(SIGNATURES, f"AttributeError: module 'torch' has no attribute '{name}'") == LOCAL
    assert problem(SIGNATURES, f"AttributeError: module 'torch' has no attribute '{name}_of_mine'") == ""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (f"OSError: {SITE}/torch/lib/libtorch_cpu.so: cannot read file data: Is a directory", DAMAGED),
        (f"OSError: {SITE}/torch/lib/libc10.so: ELF load command past end of file", DAMAGED),
        (f"OSError: {SITE}/nvidia/cudnn/lib/libcudnn.so.9: ELF file's phentsize not the expected size", DAMAGED),
        (f"OSError: {SITE}/PIL/libjpeg.so: ELF load command past end of file", ""),
        (">>> torch\n<module 'torch' (<_frozen_importlib_external.NamespaceLoader object at 0x7f>)>", LOCAL),
    ],
)
def test_damaged_file_is_known_in_every_wording(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


def test_helper_library_that_torch_itself_misses_is_damage() -> None:
    words = _traceback(f"{SITE}/torch/__init__.py", "ImportError: libshm.so: cannot open shared object file: No such file")
    assert parameters(SIGNATURES, words) == {"file": "libshm.so"}
