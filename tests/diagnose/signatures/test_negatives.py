"""What is no fault of the GPU is told as that, and nothing else is."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures.negatives import SIGNATURES
from tests.diagnose.signatures.reading import parameters, problem, problems
from tests.rows import for_each


@for_each(
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


@for_each(
    ("words", "cause"),
    [
        ("A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.0.0 as it may crash.", "numpy"),
        ("UserWarning: Failed to initialize NumPy: _ARRAY_API not found", "numpy"),
        ("ValueError: numpy.dtype size changed, may indicate binary incompatibility.", "numpy"),
        ("RuntimeError: Numpy is not available", "numpy"),
        ("ImportError: numpy.core.multiarray failed to import", "numpy"),
        ("AttributeError: module 'numpy' has no attribute 'bool'.", "numpy-alias"),
        ("AttributeError: module 'numpy' has no attribute 'float'. Did you mean: 'float16'?", "numpy-alias"),
        ("AttributeError: module 'numpy' has no attribute 'string_'", "numpy-removed"),
        ("AttributeError: `np.float_` was removed in the NumPy 2.0 release.", "numpy-removed"),
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


@pytest.mark.parametrize(
    "words",
    [
        "RuntimeError: dataloader's workers are out of shared memory. Please try to raise your shared memory limit.",
        "RuntimeError: unable to mmap 104857600 bytes from file </torch_4021_77>: Cannot allocate memory (12)",
        '  File "prepare.py", line 9, in <module>\nMemoryError\n',
        "python3 invoked oom-killer: gfp_mask=0xcc0, order=0",
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=docker-1,mems_allowed=0",
        "python train.py\noom_reaper: reaped process 4242 (python), now anon-rss:0kB",
        "make: *** [train] error: python train.py: exit code 137",
        "docker: python train.py\nExit code: 137",
        "torchrun: traceback : Signal <Signals.SIGKILL> received\nsubprocess.CalledProcessError: died with <Signals.SIGKILL: 9>",
    ],
)
def test_kernel_and_launchers_tell_of_the_computers_memory_too(words: str) -> None:
    assert problem(SIGNATURES, words) == "dataloader-shm-or-ram"


@for_each(
    ("words", "cause"),
    [
        ("ModuleNotFoundError: No module named 'numpy.core._multiarray_umath'", "module"),
        ("AttributeError: `np.unicode_` was removed in the NumPy 2.0 release. Use `np.str_` instead.", "numpy-removed"),
        ("/usr/bin/python3.12: No module named 'pip'", "pip"),
        ("ModuleNotFoundError: No module named 'pip._internal'", "pip"),
        ("IOError: [Errno 28] No space left on device: '/tmp/x'", "disk"),
        ("cp: failed to write checkpoint.pt: No space left on device", "disk"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate", "network"),
        ("ConnectionResetError: [Errno 104] Connection reset by peer", "network"),
        ("urllib.error.HTTPError: HTTP Error 404: Not Found", "network"),
        ("HTTP Error 503: Service Unavailable", "network"),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "network"),
        ("curl: (6) Could not resolve host: github.com", "network"),
        ("ConnectionRefusedError: [Errno 111] Connection refused", "network"),
    ],
)
def test_other_causes_are_named_in_every_wording(words: str, cause: str) -> None:
    assert parameters(SIGNATURES, words)["cause_id"] == cause


@pytest.mark.parametrize(
    "words",
    [
        "RuntimeError: expected scalar type Half but found Float",
        "RuntimeError: Expected object of scalar type Long but got scalar type Float for argument #2 'target'",
        "RuntimeError: mat1 and mat2 must have the same dtype, but got Half and Float",
        "RuntimeError: expected m1 and m2 to have the same dtype, but got: float != c10::Half",
        "RuntimeError: Sizes of tensors must match except in dimension 1. Expected size 32 but got size 31",
        "RuntimeError: The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1",
        "RuntimeError: view size is not compatible with input tensor's size and stride",
        "RuntimeError: The expanded size of the tensor (5) must match the existing size (3)",
        "IndexError: Dimension out of range (expected to be in range of [-1, 0], but got 1)",
        "one of the variables needed for gradient computation has been modified by an inplace operation",
        "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn",
    ],
)
def test_fault_of_the_program_beside_a_gpu_that_works(words: str) -> None:
    assert problem(SIGNATURES, f"device cuda:0, driver 550\n{words}") == "not-a-gpu-problem"


@pytest.mark.parametrize(
    "error",
    ["IndentationError", "ZeroDivisionError", "RecursionError", "NotADirectoryError", "IsADirectoryError", "PermissionError"],
)
def test_pythons_own_error_is_named(error: str) -> None:
    assert problem(SIGNATURES, f"{error}: something") == "not-a-gpu-problem"
    assert problems(SIGNATURES, f"my.{error}: something") == set()


@pytest.mark.parametrize(
    "words",
    [
        "nccl: [Errno 28] No space left on device in /dev/shm",
        "Killed by the administrator",
        "a word of oom-killer settings",
        "read 5 GB in 3 s",
        "exit code 1370",
        "HTTP Error 200",
        "the ids of KeyErrors: none",
        "numpy 2.0 has no attribute problems",
        "Building wheel for x\nsetup.py\nModuleNotFoundError: No module named 'wheel'",
    ],
)
def test_near_miss_of_what_is_no_gpu_problem(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
