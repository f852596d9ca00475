"""What is no fault of the GPU is told as that, and nothing else is."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.negatives import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problem, problems


@pytest.mark.parametrize(
    "words",
    [
        "RuntimeError: DataLoader worker (pid 8544) is killed by signal: Killed.",
        "RuntimeError: DataLoader worker (pid 12) is killed by signal: Bus error. It is possible that workers are out of",
        "RuntimeError: DataLoader worker (pid(s) 12, 13) exited unexpectedly",
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
        "RuntimeError: unable to open shared memory object </torch_29919_1396182366> in read-write mode",
        "RuntimeError: received 0 items of ancdata",
        "RuntimeError: unable to write to file </torch_123_456>",
        "RuntimeError: $ Torch: not enough memory: you tried to allocate 0GB. Buy new RAM!",
        "[enforce fail at CPUAllocator.cpp:64] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 2048 bytes.",
        "DefaultCPUAllocator: not enough memory: you tried to allocate 8388608 bytes.",
        "[enforce fail at alloc_cpu.cpp:83] data. DefaultCPUAllocator: not enough memory",
        "numpy.core._exceptions.MemoryError: Unable to allocate 3.2 GiB for an array with shape (1, 2)",
        "Out of memory: Killed process 4242 (python3) total-vm:80GB",
        "python train.py\nKilled\n",
        "torch.distributed: exitcode  : -9 (pid: 12)",
        "python train.py: exited with code 137",
        "mpirun noticed that process rank 3 of python with PID 0 exited on signal 9 (Killed).",
    ],
)
def test_memory_of_the_computer_is_told_from_that_of_the_gpu(words: str) -> None:
    assert problem(SIGNATURES, words) == "dataloader-shm-or-ram"


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.0.0 as it may crash.", "numpy"),
        ("UserWarning: Failed to initialize NumPy: _ARRAY_API not found", "numpy"),
        ("ValueError: numpy.dtype size changed, may indicate binary incompatibility.", "numpy"),
        ("RuntimeError: Numpy is not available", "numpy"),
        ("ImportError: numpy.core.multiarray failed to import", "numpy"),
        ("AttributeError: module 'numpy' has no attribute 'bool'.", "numpy"),
        ("AttributeError: `np.float_` was removed in the NumPy 2.0 release.", "numpy"),
        ("AttributeError: 'NoneType' object has no attribute 'splitlines'", "pip"),
        ("/usr/bin/python: No module named pip", "pip"),
        ("ModuleNotFoundError: No module named 'matplotlib'", "module"),
        ("ImportError: No module named yaml", "module"),
        ("OSError: [Errno 28] No space left on device", "disk"),
        ("HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded with url: /x", "network"),
        ("OSError: We couldn't connect to 'https://huggingface.co' to load this file", "network"),
    ],
)
def test_other_causes_are_named(words: str, cause: str) -> None:
    assert problem(SIGNATURES, words) == "not-a-gpu-problem"
    assert parameters(SIGNATURES, words)["cause_id"] == cause


@pytest.mark.parametrize(
    "words",
    [
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
        "TypeError: can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu()",
        "RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x10 and 20x5)",
        "RuntimeError: Error(s) in loading state_dict for ResNet:",
        "RuntimeError: Trying to backward through the graph a second time",
        "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'epoch'",
        "SyntaxError: invalid syntax",
    ],
)
def test_fault_of_the_program_is_no_gpu_problem(words: str) -> None:
    assert problem(SIGNATURES, words) == "not-a-gpu-problem"
    assert parameters(SIGNATURES, words)["cause"]


def test_missing_package_is_named() -> None:
    told = parameters(SIGNATURES, "ModuleNotFoundError: No module named 'skimage.io'")
    assert told == {"cause_id": "module", "package": "skimage"}


@pytest.mark.parametrize(
    "words",
    [
        "ModuleNotFoundError: No module named 'torch'",
        "ModuleNotFoundError: No module named 'flash_attn_2_cuda'",
        "ModuleNotFoundError: No module named 'tensorrt'",
        "AttributeError: 'NoneType' object has no attribute 'create_execution_context' (tensorrt)",
        "KeyError: 'cuda'",
        "Building wheel for flash-attn\nModuleNotFoundError: No module named 'packaging'",
        "Error while creating shared memory segment /dev/shm/nccl-a: No space left on device",
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
        "CUDA error: device-side assert triggered\nDataLoader worker (pid 3) exited unexpectedly",
        "numpy 1.26.4",
        "ValueError: bad value in driver.py",
    ],
)
def test_what_may_be_the_gpus_is_left_to_others(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


@pytest.mark.parametrize(
    "words",
    [
        "GPU: NVIDIA A100\nValueError: Tokenizer class LlamaTokenizer does not exist or is not currently imported.",
        "FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated.\nKeyError: 'input_ids'",
        "torch 2.4.0+cu121, driver 550\nImportError: cannot import name 'cached_download' from 'huggingface_hub'",
    ],
)
def test_plain_error_beside_the_name_of_a_gpu_is_the_program(words: str) -> None:
    assert problem(SIGNATURES, words) == "not-a-gpu-problem"


@pytest.mark.parametrize(
    "words",
    [
        "CUDA error: unspecified launch failure\nKeyError: 'input_ids'",
        "device cuda:0\nAttributeError: 'NoneType' object has no attribute 'to'",
        "running on the gpu\nTypeError: no GPU kernel takes these",
        "Is CUDA available: False\nValueError: bad device",
    ],
)
def test_plain_error_after_a_failing_gpu_proves_nothing(words: str) -> None:
    assert problem(SIGNATURES, words) == ""


@pytest.mark.parametrize(
    "words",
    [
        "RuntimeError: Expected floating point type for target with class probabilities, got Long",
        "RuntimeError: stack expects each tensor to be equal size, but got [3, 2] at entry 0 and [1, 2] at entry 1",
        "RuntimeError: Given groups=1, weight of size [64, 3, 7, 7], expected input[1, 1, 2, 2] to have 3 channels",
        "RuntimeError: Expected 4-dimensional input for 4-dimensional weight [64, 3, 7, 7]",
        "IndexError: index 5 is out of bounds for dimension 0 with size 5",
        "ValueError: optimizer got an empty parameter list",
        "RuntimeError: shape '[1, 2]' is invalid for input of size 3",
        "ValueError: Expected more than 1 value per channel when training",
        "_pickle.UnpicklingError: Weights only load failed. In PyTorch 2.6, the default changed",
    ],
)
def test_misfit_of_data_is_the_program(words: str) -> None:
    assert problem(SIGNATURES, words + "\ndevice cuda:0") == "not-a-gpu-problem"
