"""The branches for GPUs, on the cpu under another name: what an emulation can show without proving anything of a real GPU."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpuassist.model.verdict import Check, Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.verify.runner import CHILD
from tests.torch_environment import ReadyTorch
from tests.verify.conftest import Run

pytestmark = pytest.mark.slow

# torch takes "cpu:0" for the cpu, but it is another name: the child sees a device that is not "cpu".
EMULATED = """
real_device, cuda = torch.device, torch.cuda
torch.device = lambda name: real_device(name if name == "cpu" else "cpu:0")
class Properties:
    uuid = "5090aaaa-0000-4000-8000-000000000000"
cuda.is_available = lambda: True
cuda.device_count = lambda: 1
cuda.get_device_properties = lambda index: Properties
cuda.get_device_name = lambda device: "Emulated GPU"
cuda.get_device_capability = lambda device: (8, 9)
cuda.mem_get_info = lambda device: (4 << 20, 8 << 20)
cuda.synchronize = lambda device: None
cuda.memory_allocated = lambda device: 8519680
"""
OPERATIONS = str(Path(CHILD).with_name("operations.py"))


def checks(result: Verification) -> dict[str, Check]:
    return {f"{check.name} {check.dtype}": check for device in result.devices for check in device.checks}


def test_every_visible_gpu_is_verified(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    result = verified(ready_torch.doctored(tmp_path, EMULATED))
    assert {name: check.verdict for name, check in checks(result).items() if check.verdict is not Verdict.PASS} == {}
    assert [device.name for device in result.devices] == ["Emulated GPU"]
    assert (result.visible, result.accelerator_verified) == (1, True)


def test_an_old_gpu_skips_what_it_lacks(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    old = """
cuda.get_device_capability, seen = (lambda device: (7, 5)), []
cuda.memory_allocated = lambda device: seen.append(1) or len(seen)
"""
    found = checks(verified(ready_torch.doctored(tmp_path, EMULATED + old)))
    assert found["matmul bf16"].verdict is Verdict.SKIPPED
    assert found["matmul bf16"].error is not None
    assert "below 8.0" in ENGLISH(found["matmul bf16"].error)
    assert found["memory-returned fp32"].verdict is Verdict.FAIL  # memory that stays allocated


def test_a_kernel_that_fails_late_fails_its_check(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    late = """
def fail(device):
    raise RuntimeError("CUDA error: an illegal memory access was encountered")
cuda.synchronize = fail
"""
    found = checks(verified(ready_torch.doctored(tmp_path, EMULATED + late)))
    assert {check.verdict for check in found.values()} == {Verdict.FAIL}


def pattern(ready_torch: ReadyTorch, tmp_path: Path, code: str) -> dict[str, Any]:
    """What `memory_pattern` measures of the cpu under another name, in small blocks."""
    head = f"""
import runpy, torch
operations = runpy.run_path({OPERATIONS!r})
torch.cuda.mem_get_info = lambda device: (10 << 20, 16 << 20)
operations["memory_pattern"].__globals__["BLOCK_BYTES"] = 1 << 20
bench = operations["Bench"](torch, torch.device("cpu:0"), 512, 1)
"""
    tail = "\nmeasured = operations['memory_pattern'](bench, 'int64')\nprint(json.dumps(measured._asdict()))"
    python = ready_torch.runs(tmp_path, head + code + tail)
    done = subprocess.run([python, CHILD, "1"], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_sound_memory_reads_back_as_written(ready_torch: ReadyTorch, tmp_path: Path) -> None:
    measured = pattern(ready_torch, tmp_path, "")
    assert (measured["error"], measured["tolerance"], measured["unit"]) == (0.0, 0.0, "GB/s")
    assert measured["rate"] > 0


def test_a_stuck_bit_is_counted(ready_torch: ReadyTorch, tmp_path: Path) -> None:
    stuck = """
real = torch.Tensor.copy_
def stick(x, source):
    real(x, source)
    x[1000] |= 4
    return x
torch.Tensor.copy_ = stick
"""
    measured = pattern(ready_torch, tmp_path, stuck)
    assert measured["error"] >= 1
