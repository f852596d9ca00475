"""Failures that have nothing to do with the GPU are told so, and never before a fault of it."""

from __future__ import annotations

import pytest

from gpuassist.app import compose
from gpuassist.diagnose.signatures import negatives, other_software
from gpuassist.session.explain import explain
from tests.diagnose.signatures.reading import problems
from tests.rows import for_each

SESSION = compose("en")
SIGNATURES = other_software.SIGNATURES
SHAPES = (*SIGNATURES, *negatives.SIGNATURES)


@for_each(
    "words",
    [
        "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory",
        "_pickle.UnpicklingError: invalid load key, 'v'.",
        "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge",
        "RuntimeError: Given groups=1, weight of size [64, 3, 7, 7], expected input[1, 1, 224, 224] to have 3 channels, but got 1",
        "ValueError: Expected more than 1 value per channel when training, got input size torch.Size([1, 512])",
        "RuntimeError: Trying to resize storage that is not resizable",
        "RuntimeError: stack expects each tensor to be equal size, but got [3, 224] at entry 0",
        "huggingface_hub.utils._errors.RepositoryNotFoundError: 404 Client Error",
        "OSError: meta/foo is not a local folder and is not a valid model identifier listed on 'https://huggingface.co/models'",
        "cv2.error: OpenCV(4.5.5) /io/opencv/color.cpp:182: error: (-215:Assertion failed) !_src.empty() in function 'cvtColor'",
        "ImportError: libGL.so.1: cannot open shared object file: No such file or directory",
        'qt.qpa.plugin: Could not load the Qt platform plugin "xcb" in "" even though it was found.',
        "fatal error: Python.h: No such file or directory",
        "error: Microsoft Visual C++ 14.0 or greater is required.",
        "java.lang.OutOfMemoryError: Java heap space",
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
        "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
        "docker: Error response from daemon: pull access denied for foo/bar, repository does not exist",
        "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1234",
        "CondaHTTPError: HTTP 000 CONNECTION FAILED for url <https://conda.anaconda.org/pytorch/linux-64/repodata.json>",
        "bash: conda: command not found",
        "step 100: loss=nan",
    ],
)
def test_failure_of_other_software_is_none_of_the_gpu(words: str) -> None:
    assert problems(SHAPES, words) == {"not-a-gpu-problem"}
    explanation = explain(SESSION, words)
    assert [answer.id for answer in explanation.answers] == ["not-a-gpu-problem"]
    assert not explanation.convicts


@pytest.mark.parametrize(
    "words",
    [
        "loss: 0.25, nano batch",
        "no problem with Python.h here: found",
        "docker daemon is running",
        "weight of size 3",
        "invalid load, key",
        "conda activate env",
    ],
)
def test_near_misses_are_nothing(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


def test_fault_of_the_gpu_counts_before_them() -> None:
    words = "step 100: loss=nan\nRuntimeError: CUDA error: device-side assert triggered\n"
    assert explain(SESSION, words).answers[0].id == "device-side-assert"


@for_each(
    "words",
    [
        "zipfile.BadZipFile: File is not a zip file",
        "huggingface_hub.utils.GatedRepoError: 401",
        "huggingface_hub.errors.EntryNotFoundError: 404",
        "ImportError: libgthread-2.0.so.0: cannot open shared object file: No such file or directory",
        "cannot connect to X server :0",
        "_tkinter.TclError: no display name and no $DISPLAY environment variable",
        "configure: error: no acceptable C compiler found in $PATH",
        "error: command 'gcc' failed: No such file or directory",
        "error: command 'x86_64-linux-gnu-gcc' failed: No such file or directory",
        "java.lang.OutOfMemoryError: GC overhead limit exceeded",
        "manifest for foo/bar:latest not found: manifest unknown",
        "E: dpkg was interrupted, you must manually run 'sudo dpkg --configure -a'",
        "E: Failed to fetch http://archive.ubuntu.com/ubuntu/dists/jammy/InRelease",
        "bash: pip: command not found",
        "bash: pip3: command not found",
        "bash: python: command not found",
        "bash: python3: command not found",
        "bash: git: command not found",
        "bash: cmake: command not found",
        "bash: make: command not found",
        "bash: ninja: command not found",
        "epoch 3: loss is nan",
        "step 100 loss: nan",
        "step 100 loss is inf, stopping",
    ],
)
def test_fault_of_something_else_is_known(words: str) -> None:
    assert problems(SIGNATURES, words) == {"not-a-gpu-problem"}


@pytest.mark.parametrize(
    "words",
    [
        "a zip file",
        "error: command 'gcc' failed with exit status 1",
        "error: command '/usr/local/cuda/bin/nvcc' failed: No such file or directory",
        "bash: nvcc: command not found",
        "bash: mypython: command not foundry",
        "loss: 0.1 nano",
        "Fetched http://archive.ubuntu.com",
    ],
)
def test_neighbour_of_it_is_left(words: str) -> None:
    assert problems(SIGNATURES, words) == set()


@for_each(
    "words",
    [
        "RuntimeError: HIP error: invalid device function\nHIP kernel errors might be reported at another API call",
        "torch.__version__  = 2.7.0+rocm6.3\nOSError: CUDA_HOME environment variable is not set.",
        "$ rocminfo\nUnable to open /dev/kfd read-write: Permission denied",
        "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB.",
        ">>> import torch_npu\n>>> torch.__version__\n'1.8.1+ascend.rc2'\nRuntimeError: Couldn't load custom C++ ops.",
        "xpu_worker.py, line 98\nValueError: Free memory on device xpu:0 (0.22/30.3 GiB) on startup is less than desired GPU memory"
        " utilization (0.7, 21.21 GiB).",
    ],
)
def test_text_of_another_makers_gpu_is_no_fault_of_nvidias(words: str) -> None:
    assert [answer.id for answer in explain(SESSION, words).answers] == ["not-a-gpu-problem"]


def test_amd_beside_an_nvidia_gpu_is_no_excuse() -> None:
    words = "ROCM used to build PyTorch: N/A\n/dev/kfd\nNVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x25:0x65:1457)"
    assert explain(SESSION, words).answers[0].id == "rm-init-adapter-failed"
