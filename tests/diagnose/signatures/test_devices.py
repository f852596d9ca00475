"""What programs say that ask for a GPU which is not there leads to the right problem."""

from __future__ import annotations

import pytest

from gpuassist.diagnose.signatures import devices
from tests.diagnose.signatures.reading import CODES, parameters, problem, problems
from tests.rows import for_each
from tests.values import RTX_3090, RTX_4090, Recipe, machine

SIGNATURES = (*devices.SIGNATURES, *CODES)

ORDINAL = "RuntimeError: CUDA error: invalid device ordinal"


@for_each(
    "words",
    [
        ORDINAL,
        "THCudaCheck FAIL file=Module.cpp line=59 error=101 : invalid device ordinal",
        "cuda runtime error (10) : invalid device ordinal at torch/csrc/cuda/Module.cpp:32",
        "CUDA error: invalid device ordinal (code #101, ERROR_INVALID_DEVICE)",
        "CUDA_ERROR_INVALID_DEVICE: invalid device ordinal",
        "Invalid device ordinal value (1). Valid range is [0, 0].",
        "Attempting to deserialize object on CUDA device 1 but torch.cuda.device_count() is 1.",
        "AssertionError: Invalid device id",
        'RuntimeError: device >= 0 && device < num_gpus INTERNAL ASSERT FAILED at "CUDAContext.cpp":50, device=1, num_gpus=',
        "MisconfigurationException: You requested GPUs: [0, 1]\n But your machine only has: [0]",
        "ValueError: Invalid CUDA 'device=1' requested. Use 'device=cpu' or pass valid CUDA device(s)",
        "ncclInvalidUsage: Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000",
        "CUDA_VISIBLE_DEVICES=-1 python train.py\ntorch.cuda.is_available() False",
        "CUDA_VISIBLE_DEVICES='' python train.py\nno CUDA GPUs",
    ],
)
def test_gpu_that_is_not_there_is_asked_for(words: str) -> None:
    assert problem(SIGNATURES, words) == "cuda-visible-devices-bad"


@pytest.mark.parametrize(
    ("words", "ordinal"),
    [
        (f"{ORDINAL}\n# gpu_idx=5", "5"),
        (f"model.to('cuda:1')\n{ORDINAL}", "1"),
        (f"device!(1) with a single GEFORCE 830M\n{ORDINAL}", "1"),
        (f"torch.cuda.set_device(3)\n{ORDINAL}", "3"),
        (f"python train.py --gpu 2\n{ORDINAL}", "2"),
        ("Attempting to deserialize object on CUDA device 6 but torch.cuda.device_count() is 1.", "6"),
        ("Invalid device ordinal value (1). Valid range is [0, 0].", "1"),
        (f"cuda:1 and cuda:2\n{ORDINAL}", ""),
        (f"device=0\n{ORDINAL}", ""),
        (ORDINAL, ""),
    ],
)
def test_number_that_was_asked_for_is_told(words: str, ordinal: str) -> None:
    assert parameters(SIGNATURES, words).get("ordinal", "") == ordinal


def test_number_beyond_the_machines_gpus_is_told() -> None:
    two = machine(Recipe(gpus=(RTX_4090, RTX_3090)))
    assert parameters(SIGNATURES, f"cuda:1, cuda:2\n{ORDINAL}", two) == {"ordinal": "2"}


def test_value_that_hides_all_is_told() -> None:
    told = parameters(SIGNATURES, "CUDA_VISIBLE_DEVICES=-1 python a.py\nNo CUDA GPUs")
    assert told == {"empty": "yes", "value": "-1"}


LATE = "import torch\nx = torch.zeros(1).cuda()\nos.environ['CUDA_VISIBLE_DEVICES'] = '2'\n"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (f"{LATE}it still runs on GPU 0", "cuda-visible-devices-late"),
        (f"torch.cuda.is_available()\n{LATE}print(torch.cuda.device_count())  # 4", "cuda-visible-devices-late"),
        ("setting CUDA_VISIBLE_DEVICES in the notebook has no effect", "cuda-visible-devices-late"),
        ("代码里设置 CUDA_VISIBLE_DEVICES 不起作用", "cuda-visible-devices-late"),
        ("export CUDA_VISIBLE_DEVICES=0,0\n>>> torch.cuda.is_available()\nFalse", "cuda-visible-devices-bad"),
        ("CUDA_VISIBLE_DEVICES='0,1,1' python a.py\nNo CUDA GPUs are available", "cuda-visible-devices-bad"),
    ],
)
def test_list_that_is_late_or_void_is_told(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


def test_list_is_read_against_the_gpus_that_there_are() -> None:
    two = machine(Recipe(gpus=(RTX_4090, RTX_3090)))
    told = parameters(SIGNATURES, "export CUDA_VISIBLE_DEVICES=2,0\nNo CUDA GPUs are available", two)
    assert (told["element"], told["out_of_range"], told["last"]) == ("2", "yes", "1")
    told = parameters(SIGNATURES, "export CUDA_VISIBLE_DEVICES=GPU-deadbeef\nNo CUDA GPUs are available", two)
    assert (told["element"], told["no_such_uuid"]) == ("GPU-deadbeef", "yes")
    assert problems(SIGNATURES, "export CUDA_VISIBLE_DEVICES=1,0\nNo CUDA GPUs are available", two) == set()


@pytest.mark.parametrize(
    "words",
    [
        "CUDA_VISIBLE_DEVICES=0,1 python train.py",
        "CUDA_VISIBLE_DEVICES=0,0 python train.py",
        "CUDA_VISIBLE_DEVICES=3 python a.py\nNo CUDA GPUs are available",
        "os.environ['CUDA_VISIBLE_DEVICES'] = '2'\nimport torch\nx = torch.zeros(1).cuda()\nit still runs on GPU 0",
        "CUDA unknown error - e.g. changing env variable CUDA_VISIBLE_DEVICES after program start",
        "CUDA_VISIBLE_DEVICES=-1 hides the card",
        "invalid device name",
        "ordinal numbers are first, second, third",
        "the number of GPUs is 4 and processes are 4",
    ],
)
def test_near_miss_is_nothing(words: str) -> None:
    assert problems(devices.SIGNATURES, words) == set()


@for_each(
    ("words", "expected"),
    [
        ("cudaErrorInvalidDevice", "cuda-visible-devices-bad"),
        ("RuntimeError: Invalid device string: 'cuda:7'", "cuda-visible-devices-bad"),
        ("RuntimeError: Invalid device argument : cuda:9", "cuda-visible-devices-bad"),
        ("ValueError: number of processes 8 is greater than the number of GPUs", "cuda-visible-devices-bad"),
        ("torchrun: nproc_per_node=4 exceeds the 2 GPUs", "cuda-visible-devices-bad"),
        ("CUDA_VISIBLE_DEVICES=none python a.py\nno GPU found", "cuda-visible-devices-bad"),
        ("CUDA_VISIBLE_DEVICES=NoDevFiles\nNo CUDA GPUs are available", "cuda-visible-devices-bad"),
        ("os.environ['CUDA_VISIBLE_DEVICES'] = '-1'\ntorch.cuda.is_available()\nFalse", "cuda-visible-devices-bad"),
        ("CUDA_VISIBLE_DEVICES is ignored", "cuda-visible-devices-late"),
        ("CUDA_VISIBLE_DEVICES does not work", "cuda-visible-devices-late"),
        ("Setting CUDA_VISIBLE_DEVICES doesn't take effect", "cuda-visible-devices-late"),
        ("设置 CUDA_VISIBLE_DEVICES 没有效果", "cuda-visible-devices-late"),
        ("CUDA_VISIBLE_DEVICES 不生效", "cuda-visible-devices-late"),
        ("CUDA_VISIBLE_DEVICES 设置无效", "cuda-visible-devices-late"),
    ],
)
def test_message_is_known_in_its_other_wordings(words: str, expected: str) -> None:
    assert problem(SIGNATURES, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        "a valid device ordinal",
        "RuntimeError: Invalid device string: 'gpu'",
        "number of processes: 4, GPUs: 8",
        "CUDA_VISIBLE_DEVICES=none python a.py",
        "CUDA_VISIBLE_DEVICES=0 python a.py\nFalse",
        "CUDA_VISIBLE_DEVICES works",
        "torch.cuda.is_available()\nos.environ.setdefault('CUDA_VISIBLE_DEVICES', '1')",
    ],
)
def test_sound_neighbour_is_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_default_that_is_set_too_late_is_told() -> None:
    words = "x.to('cuda')\nos.environ.setdefault('CUDA_VISIBLE_DEVICES', '1')\nstill on GPU 0"
    assert parameters(SIGNATURES, words) == {"value": "1"}


@pytest.mark.parametrize(
    ("words", "cause"),
    [
        ("$ CUDA_VISIBLE_DEVICES= python train.py\nno CUDA-capable device is detected", "cuda-visible-devices-bad"),
        ("$ CUDA_VISIBLE_DEVICES= OMP_NUM_THREADS=1 ./a\nno CUDA-capable device is detected", "cuda-visible-devices-bad"),
        ("$ export CUDA_VISIBLE_DEVICES=\nno CUDA-capable device is detected", "cuda-visible-devices-bad"),
        ("set CUDA_VISIBLE_DEVICES= to hide them\nloss 0.3", ""),
    ],
)
def test_shell_that_shows_no_gpu_is_read(words: str, cause: str) -> None:
    assert problem(SIGNATURES, words) == cause
