"""Products, convolutions, transforms, solvers and sparse matrices: right on the CPU, and no wrong element passes."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpuassist.verify.child import products
from gpuassist.verify.child.bench import Bench, Skipped
from gpuassist.verify.child.exact import EXACT, greatest, worst
from gpuassist.verify.child.spectral import stages
from tests.rows import for_each
from tests.torch_environment import CHILD, ReadyTorch
from tests.verify.conftest import PROJECT, Corrupted


@pytest.mark.slow
def test_no_wrong_element_passes(corrupted: Corrupted) -> None:
    found = corrupted("products", "convolution", "linear_algebra", "spectral", "sparse", size=64, drawn=3)
    assert {name: came for name, came in found["clean"].items() if came != "passed"} == {}
    assert (found["let_pass"], found["unread"]) == ([], [])
    assert found["tried"] == 3 * len(found["clean"])


@for_each(("kind", "count"), [(kind, count) for kind in EXACT for count in (1, 9, 32, 216, 1000, 1024)])
def test_sums_of_whole_numbers_are_exact_as_far_as_the_format_reaches(kind: str, count: int) -> None:
    most = greatest(kind, count)
    assert most >= 1
    assert most == 1 or count * most * most <= EXACT[kind]


def test_a_transform_passes_a_stage_for_each_prime() -> None:
    assert stages(1) == 0
    assert stages(4096) == 12 * stages(2)
    assert stages(2310) == pytest.approx(sum(stages(prime) for prime in (2, 3, 5, 7, 11)))
    assert all(stages(prime) > stages(2) for prime in (3, 5, 7, 11))


def test_what_is_not_a_number_is_the_worst() -> None:
    assert worst([(1.0, 10.0), (2.0, 3.0), (0.0, 1.0)], 7)[:2] == (2.0, 3.0)
    assert math.isnan(worst([(1e30, 1.0), (math.nan, 1.0)]).error)
    assert worst([(1e30, 1.0), (math.inf, 2.0)]).error == math.inf


def skipped(check: Any, version: str, cuda: str, capability: tuple[int, int]) -> bool:
    """Whether a check says that a format is not there, of a torch that has nothing but its release and its GPU."""
    names = {"float8_e4m3fn": "", "_scaled_mm": "", "_int_mm": ""} if version >= "2.1" else {}
    gpu = SimpleNamespace(get_device_capability=lambda device: capability)
    torch = SimpleNamespace(__version__=version, version=SimpleNamespace(cuda=cuda, hip=None), cuda=gpu, **names)
    try:
        check(Bench(torch, "cuda:0", 64, 1), "fp8")
    except Skipped as reason:
        return reason.cause == "format"
    except AttributeError:  # it went on to compute, with what this torch has not
        return False
    raise AssertionError("nothing was computed")


@for_each(
    ("check", "version", "cuda", "capability", "wanted"),
    [
        (products.fp8_matmul, "2.10.0+cu128", "12.8", (8, 6), True),
        (products.fp8_matmul, "2.10.0+cu128", "12.8", (8, 9), False),
        (products.fp8_matmul, "2.10.0a0+b4e4ee8.nv25.12", "13.1", (12, 0), False),
        (products.fp8_matmul, "2.6.0+cu118", "11.8", (8, 9), True),
        (products.fp8_matmul, "2.6.0+cu118", "11.8", (9, 0), False),
        (products.fp8_matmul, "2.2.2+cu121", "12.1", (8, 9), True),
        (products.fp8_matmul, "2.2.2+cu121", "12.1", (9, 0), False),
        (products.fp8_matmul, "2.3.0+cu121", "12.1", (8, 9), False),
        (products.fp8_matmul, "1.13.1+cu117", "11.7", (9, 0), True),
        (products.int8_matmul, "2.6.0+cu124", "12.4", (7, 0), True),
        (products.int8_matmul, "2.6.0+cu124", "12.4", (7, 5), False),
        (products.int8_matmul, "1.13.1+cu117", "11.7", (8, 0), True),
    ],
)
def test_formats_that_a_gpu_or_a_release_lacks_are_skipped(
    check: Any, version: str, cuda: str, capability: tuple[int, int], wanted: bool
) -> None:
    assert skipped(check, version, cuda, capability) == wanted


def asked(ready_torch: ReadyTorch, tmp_path: Path, code: str) -> Any:
    head = f"""
sys.path.insert(0, {PROJECT!r})
import torch
from gpuassist.verify.child import exact, products
from gpuassist.verify.child.bench import Bench
bench = Bench(torch, torch.device("cpu"), 192, 1)
"""
    python = ready_torch.runs(tmp_path, head + code)
    return json.loads(subprocess.run([python, CHILD, "1"], capture_output=True, text=True, check=True, timeout=100).stdout)


@pytest.mark.slow
def test_products_in_tf32_break_the_bound_of_fp32(ready_torch: ReadyTorch, tmp_path: Path) -> None:
    # tensor cores take 10 bits of fraction: the other 13 of both sides are cut off
    code = """
real, bits = torch.Tensor.__matmul__, torch.int32
def shortened(left, right):
    if left.dtype == torch.float32:
        left, right = ((one.contiguous().view(bits) & ~8191).view(torch.float32) for one in (left, right))
    return real(left, right)
torch.Tensor.__matmul__ = shortened
print(json.dumps([products.matmul(bench._replace(size=size), "fp32")[:2] for size in (192, 512)]))
"""
    for error, tolerance in asked(ready_torch, tmp_path, code):
        assert error > tolerance


@pytest.mark.slow
def test_a_large_tensor_has_every_slice_of_the_small_one_and_its_signs(ready_torch: ReadyTorch, tmp_path: Path) -> None:
    code = """
small = torch.arange(1, 8).double()
large = exact.spread(bench, small, 0, 50)
again = exact.spread(bench, small * 2, 0, 50)
print(json.dumps([large.tolist(), torch.equal(large * 2, again)]))
"""
    large, alike = asked(ready_torch, tmp_path, code)
    assert alike
    assert {abs(one) for one in large} == set(range(1, 8))
    assert min(large) < 0 < max(large)


@pytest.mark.slow
def test_a_run_that_writes_nothing_into_memory_used_before_is_seen(ready_torch: ReadyTorch, tmp_path: Path) -> None:
    code = """
from gpuassist.verify.child.bench import Wrong, repeated
def seen(dtype):
    right = torch.tensor([3, 5]).to(dtype)
    memory, written = torch.zeros(2, dtype=dtype), iter((True, True, False))
    def action():
        return memory.copy_(right) if next(written) else memory
    try:
        repeated(bench._replace(repeats=2), action, right)
    except Wrong as words:
        return str(words)[:8]
print(json.dumps([seen(dtype) for dtype in (torch.float32, torch.bfloat16, torch.complex64, torch.int32)]))
"""
    assert asked(ready_torch, tmp_path, code) == ["in run 3"] * 4
