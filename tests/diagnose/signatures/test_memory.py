"""What programs print when memory does not suffice leads to the right cause, and what only speaks of it leads nowhere."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuassist.diagnose.signatures import memory
from gpuassist.model.fact import Known
from gpuassist.model.gpu import Gpu, GpuProcess
from gpuassist.model.machine import Host, Machine
from gpuassist.model.paste import Weight
from tests import memory_messages as messages
from tests.diagnose.signatures.reading import CODES, parameters, problem, problems, read
from tests.rows import for_each

SIGNATURES = (*memory.SIGNATURES, *CODES)

GIB = 1 << 30


@for_each(
    ("words", "expected"),
    [
        (messages.TORCH_0_1, "oom-true"),
        (messages.TORCH_1_1, "oom-true"),
        (messages.TORCH_1_9, "oom-other-process"),
        (messages.TORCH_2_0, "oom-true"),
        (messages.TORCH_2_1, "oom-true"),
        (messages.TORCH_2_5, "oom-fragmentation"),
        (messages.POOLS, "oom-true"),
        (messages.CAPPED, "oom-own-limit"),
        (messages.CONTAINER, "oom-fragmentation"),
        (messages.SHARED, "oom-true"),
        (messages.FULL, "oom-true"),
        (messages.FOREIGN, "oom-other-process"),
        (messages.ABSURD, "oom-absurd-request"),
        (messages.BOUNDLESS, "oom-absurd-request"),
        (messages.ASYNC, "oom-other-process"),
        (messages.HIP, "not-a-gpu-problem"),
        (messages.MPS, "not-a-gpu-problem"),
    ],
)
def test_every_generation_of_torch_leads_to_its_cause(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected
    assert problem(SIGNATURES, messages.folded(words, 78, "> ")) == expected
    assert problem(SIGNATURES, f"$ python train.py\nTraceback (most recent call last):\n{words}\n$ nvidia-smi") == expected


@for_each(
    "words",
    [
        "RuntimeError: CUDA error: out of memory",
        "RuntimeError: CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported at some other API call",
        "RuntimeError: cuda runtime error (2) : out of memory at /opt/conda/conda-bld/pytorch/aten/src/THC/THCGeneral.cpp:405",
        "THCudaCheck FAIL file=/pytorch/aten/src/THC/generic/THCStorage.cu line=58 error=2 : out of memory",
        "E tensorflow/stream_executor/cuda/cuda_driver.cc:1018] failed to synchronize: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        "numba.cuda.cudadrv.driver.CudaAPIError: [2] Call to cuMemAlloc results in CUDA_ERROR_OUT_OF_MEMORY",
        "mxnet.base.MXNetError: cudaMalloc failed: out of memory",
        "mxnet.base.MXNetError: cudaMalloc retry failed: out of memory",
        "CUDA Error: out of memory\ndarknet: ./src/cuda.c:36: check_error: Assertion `0' failed.",
        "RuntimeError: CUDA driver error: out of memory",
        "torch.OutOfMemoryError: Allocation on device ",
        "torch.cuda.OutOfMemoryError: CUDA out of memory.",
        "Error[executionContext.cpp::ExecutionContext]: Error Code 1: Cuda Runtime (out of memory)",
        "MemoryError: std::bad_alloc: out_of_memory: CUDA error at: include/rmm/mr/device/cuda_memory_resource.hpp",
        "cudaErrorMemoryAllocation: out of memory",
        "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4096.00 MiB on device 0: cudaMalloc failed: out of memory",
        "llama_model_load: error loading model: unable to allocate CUDA0 buffer",
        "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes (allocated so far: 0 bytes).",
        "XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4770354232 bytes.",
        "ResourceExhaustedError: OOM when allocating tensor with shape[64,512,512,64] and type float on"
        " /device:GPU:0 by allocator GPU_0_bfc",
        "RuntimeError: Resource exhausted: Failed to allocate request for 32.00MiB (33554432B) on device ordinal 0",
        "W tensorflow/core/common_runtime/bfc_allocator.cc] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.20GiB",
        "failed to allocate 1.50G (1610612736 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        "ResourceExhaustedError: Out of memory error on GPU 0. Cannot allocate 1.0GB memory on GPU 0,"
        " available memory is only 100.0MB.",
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`",
        "The model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (20112).",
        "To serve at least one request 4.00 GiB KV cache is needed, which is larger than the available KV cache memory (1.50 GiB)",
        "训练时报错：显存不足",
        "一跑就爆显存",
        "Failed to allocate memory for requested buffer of size 268435456",
        "Requested amount of GPU memory (1073741824 bytes) could not be allocated.",
        "ncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 'out of memory'",
        "NCCL WARN Cuda failure 2 'out of memory'",
        "UserWarning: CUDA initialization: Unexpected error from cudaGetDeviceCount(). Error 2: out of memory",
        "RuntimeError: Unable to find a valid cuDNN algorithm to run convolution",
        "RuntimeError: GET was unable to find an engine to execute this computation",
    ],
)
def test_messages_of_every_program_mean_that_memory_ran_out(words: str) -> None:
    assert problem(SIGNATURES, words) == "oom-true"


def test_without_figures_nothing_is_sure() -> None:
    assert {clue.weight for clue in read(SIGNATURES, "RuntimeError: CUDA error: out of memory")} == {Weight.STATE}


def test_a_plain_message_beside_figures_means_the_same() -> None:
    assert problems(SIGNATURES, f"CUDA error: out of memory\n{messages.FOREIGN}\nCUDA out of memory, giving up") == {
        "oom-other-process"
    }


@pytest.mark.parametrize(
    ("words", "program"),
    [
        (messages.TORCH_2_0, "torch"),
        ("jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 47 bytes.", "jax"),
        ("tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[6]", "tensorflow"),
        ("ValueError: No available memory for the cache blocks.", "vllm"),
        ("CUDA error: out of memory", "other"),
    ],
)
def test_the_program_is_told_apart(words: str, program: str) -> None:
    assert parameters(SIGNATURES, words)["program"] == program


@pytest.mark.parametrize(
    "words",
    [
        "RuntimeError: Storage size calculation overflowed with sizes=[4294967296, 4294967296]",
        "RuntimeError: numel: integer multiplication overflow",
    ],
)
def test_a_size_that_no_number_holds_is_absurd(words: str) -> None:
    assert problem(SIGNATURES, words) == "oom-absurd-request"


@pytest.mark.parametrize("free", ["10.20/23.99", "19.77/22.05"])
def test_vllm_that_finds_too_little_free_blames_others(free: str) -> None:
    words = (
        f"ValueError: Free memory on device ({free} GiB) on startup is less than desired GPU memory utilization (0.9, 21.59 GiB)."
    )
    assert problem(SIGNATURES, words) == "oom-other-process"
    assert parameters(SIGNATURES, words)["program"] == "vllm"


@pytest.mark.parametrize(
    "words",
    [
        "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "E tensorflow/stream_executor/cuda/cuda_blas.cc:226] failed to create cublas handle: CUBLAS_STATUS_NOT_INITIALIZED",
        "cublas runtime error : resource allocation failed at /pytorch/aten/src/THC/THCGeneral.cpp:228",
        "cublas runtime error : library not initialized at /pytorch/aten/src/THC/THCGeneral.cpp:216",
    ],
)
def test_cublas_that_does_not_start_is_named(words: str) -> None:
    assert problem(SIGNATURES, words) == "cublas-init-failed-oom"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "Allocation was preemptively rejected because it would exceed per_process_memory_fraction"
            " limit. Requested size: 2.00 GiB",
            "oom-own-limit",
        ),
        (
            "Failed to reserve 24.00 GiB of virtual address space for an expandable CUDA segment. This is"
            " virtual-address-space (VSZ)"
            " exhaustion from expandable segments, not physical GPU OOM.",
            "oom-address-space",
        ),
    ],
)
def test_limits_are_told_from_lack(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@for_each(
    "words",
    [
        "If you get CUDA out of memory, reduce the batch size.",
        "Set the batch size to 2 to avoid CUDA out of memory errors.",
        "    except torch.cuda.OutOfMemoryError:",
        "    except torch.cuda.OutOfMemoryError as error:\n        torch.cuda.empty_cache()",
        'if "CUDA out of memory" in str(error):',
        "raise torch.cuda.OutOfMemoryError",
        "This helps to prevent GPU out of memory.",
        "java.lang.OutOfMemoryError: Java heap space",
        "grpc._channel: StatusCode.RESOURCE_EXHAUSTED: Quota exceeded for quota metric",
        messages.PROCESSOR,
        "MemoryError: Unable to allocate 3.00 GiB for an array with shape (20000, 20000)",
        "Out of memory: Killed process 2211 (python) total-vm:53123456kB",
        "CUBLAS_STATUS_SUCCESS",
        "## Troubleshooting\nCUDA out of memory: reduce batch size or use gradient checkpointing.",
        "Q: What to do about 'CUDA out of memory'? A: lower the batch size.",
        "Epoch 3: 8.13 GiB free on /data",
        "total memory: 24 GiB, free memory: 20 GiB",
        "为了避免显存不足，请减小批大小。",
    ],
)
def test_what_only_speaks_of_it_is_no_finding(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_tensorflow_on_the_processor_is_about_the_computers_memory() -> None:
    words = (
        "ResourceExhaustedError: OOM when allocating tensor with shape[99999,99999] and type float on"
        " /device:CPU:0 by allocator cpu"
    )
    assert problem(SIGNATURES, words) == "dataloader-shm-or-ram"


def test_fragments_are_told_with_what_is_set() -> None:
    words = f"export PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:0.8,max_split_size_mb:128\n{messages.TORCH_2_5}"
    told = parameters(SIGNATURES, words)
    assert (told["split"], told["variable"]) == ("yes", "PYTORCH_CUDA_ALLOC_CONF")
    assert told["options"] == "garbage_collection_threshold:0.8,expandable_segments:True"
    assert "expandable" not in told


def test_a_torch_before_2_1_is_given_no_growing_blocks() -> None:
    words = messages.TORCH_1_9.replace("3.06 GiB reserved", "7.80 GiB reserved")
    told = parameters(SIGNATURES, words)
    assert (told["old"], told["options"]) == ("yes", "max_split_size_mb:128")


def test_under_wsl_blocks_are_kept_whole() -> None:
    wsl = replace(Machine(), host=Host(wsl=Known(2, "uname")))
    assert parameters(SIGNATURES, messages.TORCH_2_5, wsl)["options"] == "max_split_size_mb:128"


def test_growing_blocks_that_are_set_are_not_recommended_again() -> None:
    told = parameters(SIGNATURES, f"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python a.py\n{messages.TORCH_2_5}")
    assert told["expandable"] == "yes"


@pytest.mark.parametrize(
    ("before", "windows"),
    [
        (r'File "C:\Users\me\train.py", line 3', True),
        ("OS: Windows 11 Pro", True),
        ("UserWarning: expandable_segments not supported on this platform", True),
        ('File "/home/me/train.py", line 3', False),
    ],
)
def test_windows_is_seen(before: str, windows: bool) -> None:
    assert ("windows" in parameters(SIGNATURES, f"{before}\n{messages.TORCH_2_5}")) is windows


def test_wsl_is_not_windows() -> None:
    wsl = replace(Machine(), host=Host(wsl=Known(2, "uname")))
    assert "windows" not in parameters(SIGNATURES, f"C:\\Users\\me\n{messages.TORCH_2_5}", wsl)


def _card(index: int, used: int) -> Gpu:
    where = "pasted nvidia-smi, line 1"
    return Gpu(
        index=Known(index, where),
        memory_total_bytes=Known(24 * GIB, where),
        memory_used_bytes=Known(used * GIB, where),
        name=Known("RTX 4090", where),
    )


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        ((23,), "oom-other-process"),
        ((16,), "oom-other-process"),
        ((9,), "oom-true"),
        ((23, 0), "oom-other-process"),
        ((0, 23), "oom-true"),
    ],
)
def test_a_table_tells_who_has_the_memory_where_the_message_does_not(used: tuple[int, ...], expected: str) -> None:
    machine = replace(Machine(), gpus=Known(tuple(_card(place, one) for place, one in enumerate(used)), "pasted nvidia-smi"))
    assert problem(SIGNATURES, "RuntimeError: CUDA error: out of memory", machine) == expected


def test_what_the_table_tells_is_passed_on() -> None:
    cards = tuple(_card(place, used) for place, used in enumerate((23, 1)))
    first = replace(cards[0], processes=Known((GpuProcess(4711, "compute"),), "pasted nvidia-smi"))
    machine = replace(Machine(), gpus=Known((first, cards[1]), "pasted nvidia-smi"))
    told = parameters(SIGNATURES, "RuntimeError: CUDA error: out of memory", machine)
    assert told == {"others": "23.00 GiB", "total": "24.00 GiB", "pid": "4711", "index": "1", "program": "other"}


def test_figures_of_the_message_count_more_than_a_table() -> None:
    machine = replace(Machine(), gpus=Known((_card(0, 23),), "pasted nvidia-smi"))
    assert problem(SIGNATURES, messages.TORCH_2_0, machine) == "oom-true"


@pytest.mark.parametrize(("used", "index"), [((23, 1), "1"), ((23, 22), ""), ((1, 23), "")])
def test_another_gpu_with_room_is_named(used: tuple[int, int], index: str) -> None:
    machine = replace(Machine(), gpus=Known(tuple(_card(place, one) for place, one in enumerate(used)), "pasted nvidia-smi"))
    assert parameters(SIGNATURES, messages.FOREIGN, machine).get("index", "") == index


def test_the_only_card_is_named() -> None:
    machine = replace(Machine(), gpus=Known((_card(0, 23),), "pasted nvidia-smi"))
    assert parameters(SIGNATURES, messages.FULL, machine)["gpu"] == "RTX 4090"


def test_a_message_is_quoted_once_and_whole() -> None:
    clues = read(SIGNATURES, messages.folded(messages.FULL, 80))
    assert [clue.passage.line for clue in clues] == [1]
    assert clues[0].passage.words.startswith("CUDA out of memory. Tried to allocate 26.00 MiB. GPU 0 has a total")


def test_the_second_half_of_a_message_is_enough() -> None:
    words = messages.TORCH_2_5[messages.TORCH_2_5.index("GPU 0 has") :]
    assert "oom" in problem(SIGNATURES, words)


@pytest.mark.parametrize(("shows", "told"), [(True, "yes"), (False, "")])
def test_desktop_on_the_same_gpu_is_told(*, shows: bool, told: str) -> None:
    desktop = Machine(gpus=Known((Gpu(index=Known(0, "NVML"), display_active=Known(shows, "NVML")),), "NVML"))
    assert parameters(SIGNATURES, messages.FULL, desktop).get("display", "") == told


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("CUDA_OOM at step 3", "oom-true"),
        ("ran out of GPU memory", "oom-true"),
        ("the GPU is out of memory", "oom-true"),
        ("cuda-out-of-memory", "oom-true"),
        ("CUDA error out of memory", "oom-true"),
        ("显存溢出", "oom-true"),
        ("显存爆了", "oom-true"),
    ],
)
def test_other_wording_leads_to_its_problem(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "out of memory in Java",
        "显存 24 GB",
        "GPU memory: 24 GB",
        "out of GPU hours",
    ],
)
def test_sound_words_beside_it_lead_nowhere(words: str) -> None:
    assert problems(SIGNATURES, words) == set()
