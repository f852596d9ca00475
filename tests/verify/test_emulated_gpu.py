"""The branches for GPUs, on the cpu under another name: what an emulation can show without proving anything of a real GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuassist.model.verdict import Cause, Check, Verdict, Verification
from gpuassist.model.words import ENGLISH
from gpuassist.verify.runner import Limits
from tests.torch_environment import ReadyTorch
from tests.verify.conftest import Run

pytestmark = pytest.mark.slow

PATIENT = Limits(start=600.0, checks=600.0, gpu=600.0)

# torch takes "cpu:0" for the cpu, but it is another name: the child sees a device that is not "cpu".
EMULATED = """
real_device, cuda = torch.device, torch.cuda
torch.device = lambda name: real_device(name if name == "cpu" else "cpu:0")
class Properties:
    uuid, name, major, minor, total_memory = "5090aaaa-0000-4000-8000-000000000000", "Emulated GPU", 8, 9, 8 << 20
torch.version.cuda = "12.4"
cuda.init = lambda: None
cuda.is_available = lambda: True
cuda.device_count = lambda: 1
cuda.get_device_properties = lambda index: Properties
cuda.get_device_name = lambda device: "Emulated GPU"
cuda.get_device_capability = lambda device: (8, 9)
cuda.get_arch_list = lambda: ["sm_80"]
cuda.mem_get_info = lambda device: (4 << 20, 8 << 20)
cuda.memory_reserved = lambda device: 0
cuda.synchronize = lambda device: None
cuda.empty_cache = lambda: None
"""


def checks(result: Verification) -> dict[str, Check]:
    return {f"{check.name} {check.dtype}": check for device in result.devices for check in device.checks}


def words_of(check: Check) -> str:
    assert check.error is not None
    return ENGLISH(check.error)


def test_a_visible_gpu_is_known_by_name_and_uuid(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    result = verified(ready_torch.doctored(tmp_path, EMULATED), limits=PATIENT)
    (device,) = result.devices
    assert (device.name, device.uuid) == ("Emulated GPU", "GPU-5090aaaa-0000-4000-8000-000000000000")
    assert (device.capability, device.code) == ("8.9", "binary")
    assert result.visible == 1
    assert checks(result)["matmul fp32"].verdict is Verdict.PASS


def test_an_old_gpu_skips_what_it_lacks(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    found = checks(
        verified(ready_torch.doctored(tmp_path, EMULATED + "cuda.get_device_capability = lambda device: (7, 5)"), limits=PATIENT)
    )
    assert (found["matmul bf16"].verdict, found["matmul bf16"].cause) == (Verdict.SKIPPED, Cause.FORMAT)
    assert "below 8.0" in words_of(found["matmul bf16"])


def test_a_gpu_on_which_nothing_runs_says_so_once(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    late = """
def fail(device):
    raise RuntimeError("CUDA error: an illegal memory access was encountered")
cuda.synchronize = fail
"""
    result = verified(ready_torch.doctored(tmp_path, EMULATED + late), limits=PATIENT)
    first, *others = result.devices[0].checks
    assert (first.name, first.verdict) == ("first-kernel", Verdict.ERROR)
    assert {check.cause for check in others} == {Cause.LOST}
    assert result.verdict is Verdict.ERROR


# After the product in fp16 every call fails in this process, as it does on a GPU whose context is lost.
LOST = """
real_product, real_zeros, dead = torch.Tensor.__matmul__, torch.zeros, []
def product(a, b):
    if a.dtype is torch.float16: dead.append(1)
    if dead: raise RuntimeError("CUDA error: unspecified launch failure")
    return real_product(a, b)
def zeros(*shape, **named):
    if dead: raise RuntimeError("CUDA error: unspecified launch failure")
    return real_zeros(*shape, **named)
torch.Tensor.__matmul__, torch.zeros = product, zeros
"""


def test_a_lost_context_is_lost_for_its_check_alone(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    result = verified(ready_torch.doctored(tmp_path, EMULATED + LOST), limits=PATIENT)
    found = checks(result)
    assert found["matmul fp16"].verdict is Verdict.ERROR
    assert (found["matmul fp32"].verdict, found["matmul bf16"].verdict) == (Verdict.PASS, Verdict.PASS)


FULL_CARD = """
real_product = torch.Tensor.__matmul__
def product(a, b):
    if a.dtype is torch.float16: raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB.\\nSee documentation")
    return real_product(a, b)
torch.Tensor.__matmul__ = product
cuda.mem_get_info = lambda device: ({free}, 4 << 30)
"""


def test_memory_that_others_hold_leaves_the_gpu_undecided(verified: Run, ready_torch: ReadyTorch, tmp_path: Path) -> None:
    result = verified(ready_torch.doctored(tmp_path, EMULATED + FULL_CARD.format(free=0)), limits=PATIENT)
    check = checks(result)["matmul fp16"]
    assert (check.verdict, check.cause) == (Verdict.SKIPPED, Cause.MEMORY)
    assert words_of(check) == "not enough free memory: others hold 3.5 GiB"
