"""Where there is no GPU these tests skip, unless whoever runs them says that there must be one."""

from __future__ import annotations

import os
import shutil

import pytest

WHY = "NOT RUN: needs an NVIDIA GPU with its driver (no /dev/nvidiactl here)"


@pytest.fixture(autouse=True)
def real_gpu() -> None:
    """Skips, or fails where `GPUASSIST_GPU` is `required`."""
    if os.path.exists("/dev/nvidiactl"):
        return
    if os.environ.get("GPUASSIST_GPU") == "required":
        pytest.fail(WHY)
    pytest.skip(WHY)


@pytest.fixture
def cuda_python() -> str:
    """An interpreter whose torch is a CUDA build: `GPUASSIST_CUDA_PYTHON`, else python3."""
    python = os.environ.get("GPUASSIST_CUDA_PYTHON") or shutil.which("python3")
    if python is None:
        pytest.skip("NOT RUN: needs a Python with a CUDA torch; name it in GPUASSIST_CUDA_PYTHON")
    return python
