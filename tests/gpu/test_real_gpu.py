"""The Qt-free half on a real GPU: what is detected agrees with the driver's own tool, and torch proves every device."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import Any

import pytest


def _gpuassist(*arguments: str, seconds: float = 300) -> Any:
    command = [sys.executable, "-m", "gpuassist", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return json.loads(done.stdout)


def _nvidia_smi(query: str) -> list[str]:
    if shutil.which("nvidia-smi") is None:
        pytest.skip("NOT RUN: needs nvidia-smi")
    command = ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits"]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout.split("\n")[:-1]


def test_every_gpu_is_found_by_its_uuid() -> None:
    found = [gpu["uuid"]["value"] for gpu in _gpuassist("detect", "--json")["gpus"]["value"]]
    assert sorted(found) == sorted(uuid.strip() for uuid in _nvidia_smi("uuid"))


def test_driver_version_is_that_of_the_tool() -> None:
    assert _gpuassist("detect", "--json")["driver"]["version"]["value"] == _nvidia_smi("driver_version")[0].strip()


def test_capabilities_are_those_of_the_tool() -> None:
    gpus = _gpuassist("detect", "--json")["gpus"]["value"]
    assert sorted(gpu["compute_capability"]["value"] for gpu in gpus) == sorted(one.strip() for one in _nvidia_smi("compute_cap"))


def test_sample_adds_up() -> None:
    for gpu in _gpuassist("monitor", "--headless", "--count", "1")["gpus"]:
        assert 0 < gpu["memory_used_bytes"] + gpu["memory_free_bytes"] <= gpu["memory_total_bytes"]


def test_every_device_is_proved(cuda_python: str) -> None:
    document = _gpuassist("verify", "--json", "--python", cuda_python)
    if not any(device["device"] != "cpu" for device in document["devices"]):
        pytest.skip(f"NOT RUN: the torch of {cuda_python} sees no GPU; name another in GPUASSIST_CUDA_PYTHON")
    assert document["accelerator_verified"], document
