"""Text that shows no problem of the GPU gets none: logs, lists, questions, faults of other programs."""

from __future__ import annotations

import pytest

from gpuassist.app import compose
from gpuassist.context import Session
from gpuassist.model.finding import Severity
from gpuassist.session.explain import explain
from tests.rows import for_each

NO_PROBLEM = (
    "If you get `Failed to initialize NVML: Driver/library version mismatch`, reboot the machine.",
    "docker: Error response from daemon: pull access denied for foo, repository does not exist or may require 'docker login'.",
    "[  100.0] i915 0000:00:02.0: [drm] GPU HANG: ecode 12:1:85dffffb, in chrome [2345]",
    "E: Unable to locate package foo",
    'Exception in thread "main" java.lang.NullPointerException\n\tat com.example.Main.main(Main.java:5)',
    "Collecting torch\n"
    "  Downloading torch-2.5.1-cp311-cp311-manylinux1_x86_64.whl (906.4 MB)\n"
    "Collecting nvidia-cublas-cu12==12.4.5.8\n"
    "Successfully installed torch-2.5.1 nvidia-cublas-cu12-12.4.5.8",
    "node1:100:150 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n"
    "node1:100:150 [0] NCCL INFO NET/Plugin : No plugin found (libnccl-net.so), using internal "
    "implementation\n"
    "node1:100:150 [0] NCCL INFO comm 0x7f rank 0 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE",
    "Epoch 1/10: loss 0.53\nEpoch 2/10: loss 0.41",
    "error: failed to push some refs to 'github.com:foo/bar.git'",
    "make: *** No rule to make target 'all'.  Stop.",
    "nvidia: module verification failed: signature and/or required key missing - tainting kernel\n"
    "nvidia-nvlink: Nvlink Core is being initialized, major device number 510\n"
    "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\n"
    "[drm] Initialized nvidia-drm 0.0.0 20160202 for 0000:01:00.0 on minor 0",
    "$ nvidia-smi -L\nGPU 0: NVIDIA GeForce RTX 3090 (UUID: GPU-aaaa)\nGPU 1: NVIDIA GeForce RTX 3090 (UUID: GPU-bbbb)",
    "$ lsmod | grep nvidia\n"
    "nvidia_uvm           1540096  2\n"
    "nvidia_drm             77824  4\n"
    "nvidia_modeset       1306624  6 nvidia_drm\n"
    "nvidia              56717312  221 nvidia_uvm,nvidia_modeset",
    "WARNING: CPU: 3 PID: 1 at kernel/foo.c:12\nsystemd[1]: Started Session 3 of user me.",
    "KeyError: 'model_state'",
    "I want to install CUDA 12.4 on Ubuntu 22.04, which driver do I need?",
    "$ git status\nOn branch main\nnothing to commit, working tree clean",
    "RuntimeError: The size of tensor a (128) must match the size of tensor b (64) at non-singleton dimension 1",
    "torch.cuda.is_available() -> True\ntorch.version.cuda -> '12.1'\ntorch.cuda.get_device_name(0) -> 'NVIDIA A100-SXM4-40GB'",
    "Loss is nan, stopping training\n{'loss': nan}",
    "UserWarning: 'has_cuda' is deprecated, please use 'torch.backends.cuda.is_built()'",
    "FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)` instead.",
    "Some weights of the model checkpoint were not used when initializing BertModel\n"
    "You should probably TRAIN this model on a down-stream task",
    "W0000 00:00:1700000000 gpu_timer.cc:114] Skipping the delay kernel, measurement accuracy will be "
    "reduced\n"
    "I0000 service.cc:152] StreamExecutor device (0): NVIDIA GeForce RTX 4070, Compute Capability 8.9",
    "2024-01-01 successful NUMA node read from SysFS had negative value (-1), but there must be at least "
    "one NUMA node, so returning NUMA node zero\n"
    "Created device /job:localhost/replica:0/task:0/device:GPU:0 with 22000 MB memory:  -> device: 0, "
    "name: NVIDIA GeForce RTX 3090",
)


@pytest.fixture(scope="module")
def session() -> Session:
    """gpuassist as it is started, in English."""
    return compose("en")


@for_each("words", NO_PROBLEM)
def test_text_without_a_gpu_problem_gets_none(session: Session, words: str) -> None:
    claims = [answer.id for answer in explain(session, words).answers if answer.severity is not Severity.INFO]
    assert claims == []
